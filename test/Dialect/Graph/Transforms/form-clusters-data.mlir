// RUN: aopt %s --graph-form-clusters --split-input-file | FileCheck %s

#n = affine_map<()[s0] -> (s0)>

// A data-dependent symbol has its value before any op with it in a type, although it is
// not an operand; regions are clustered separately.
// CHECK-LABEL: func.func @order(
// CHECK: %[[COUNT:.*]] = graph.cluster
// CHECK: graph.bind %[[COUNT]] {symbols = array<i64: 0>}
// CHECK: graph.cluster
// CHECK: graph.broadcast_to
// CHECK: graph.if
// CHECK-NEXT: graph.cluster
func.func @order(%x: tensor<4xi64>, %v: tensor<f32>, %c: tensor<i1>) -> tensor<?xf32, #n> attributes {graph.symbols = [""]} {
  %sum = graph.reduce_sum %x {axes = array<i64: 0>, keepdims = true} : (tensor<4xi64>) -> tensor<1xi64>
  graph.bind %sum {symbols = array<i64: 0>} : tensor<1xi64>
  %y = graph.broadcast_to %v : (tensor<f32>) -> tensor<?xf32, #n>
  %r = graph.if %c : (tensor<i1>) -> tensor<?xf32, #n> {
    %e = graph.exp %y : (tensor<?xf32, #n>) -> tensor<?xf32, #n>
    graph.yield %e : tensor<?xf32, #n>
  } else {
    graph.yield %y : tensor<?xf32, #n>
  }
  return %r : tensor<?xf32, #n>
}

// -----

#n = affine_map<()[s0] -> (s0)>

// A size that only an intermediate value has: the kernel gets all symbols.
// CHECK-LABEL: func.func @sizes(
// CHECK: graph.bind
// CHECK: graph.cluster
// CHECK: graph.broadcast_to
// CHECK-NEXT: graph.add
func.func @sizes(%n: tensor<2xi64>, %v: tensor<f32>, %x: tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>) -> tensor<?xf32, affine_map<()[s0, s1] -> (s1)>> attributes {graph.symbols = ["", ""]} {
  graph.bind %n {symbols = array<i64: 0, 1>} : tensor<2xi64>
  %y = graph.broadcast_to %v : (tensor<f32>) -> tensor<?xf32, #n>
  %r = graph.add %x, %y : (tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>, tensor<?xf32, #n>) -> tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>
  return %r : tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>
}

// -----

#n = affine_map<()[s0] -> (s0)>
#t = affine_map<()[s0, s1, s2] -> (s2)>

// An insertion waits for the symbols of its offsets, which are not in the types; its
// sources are computed in the kernel.
// CHECK-LABEL: func.func @offsets(
// CHECK: graph.bind
// CHECK-NEXT: graph.assign {symbols = array<i64: 1>
// CHECK-NEXT: graph.bind
// CHECK: graph.empty
// CHECK: graph.cluster(%{{.*}}) anchor "insert_slice"
// CHECK: graph.exp
// CHECK: graph.broadcast_to
// CHECK: graph.insert_slice
func.func @offsets(%k: tensor<1xi64>, %m: tensor<1xi64>, %v: tensor<f32>, %x: tensor<?xf32, #n>) -> tensor<?xf32, #t> attributes {graph.symbols = ["", "", ""]} {
  %e = graph.exp %x : (tensor<?xf32, #n>) -> tensor<?xf32, #n>
  %b = graph.broadcast_to %v : (tensor<f32>) -> tensor<?xf32, #n>
  graph.bind %k {symbols = array<i64: 0>} : tensor<1xi64>
  graph.assign {symbols = array<i64: 1>, values = affine_map<()[s0] -> (s0 + 1)>}
  graph.bind %m {symbols = array<i64: 2>} : tensor<1xi64>
  %d = graph.empty : () -> tensor<?xf32, #t>
  %r = graph.insert_slice %e, %b, %d {axis = 0 : i64, offsets = affine_map<()[s0, s1] -> (0, s1)>} : (tensor<?xf32, #n>, tensor<?xf32, #n>, tensor<?xf32, #t>) -> tensor<?xf32, #t>
  return %r : tensor<?xf32, #t>
}

// -----

#n = affine_map<()[s0] -> (s0)>

// The destination of an insertion is not computed in the kernel.
// CHECK-LABEL: func.func @replaced(
// CHECK: graph.cluster(%{{.*}}) anchor "pointwise"
// CHECK: graph.relu
// CHECK: graph.cluster(%{{.*}}) anchor "insert_slice"
// CHECK-NEXT: graph.insert_slice
func.func @replaced(%x: tensor<2xf32>, %y: tensor<?xf32, #n>) -> tensor<?xf32, #n> attributes {graph.symbols = [""]} {
  %d = graph.relu %y : (tensor<?xf32, #n>) -> tensor<?xf32, #n>
  %r = graph.insert_slice %x, %x, %d {axis = 0 : i64, offsets = affine_map<() -> (0, 2)>} : (tensor<2xf32>, tensor<2xf32>, tensor<?xf32, #n>) -> tensor<?xf32, #n>
  return %r : tensor<?xf32, #n>
}

// -----

#n = affine_map<()[s0, s1, s2] -> (s0)>
#a = affine_map<()[s0, s1, s2] -> (s1)>
#b = affine_map<()[s0, s1, s2] -> (s2)>

// A check of sizes comes before ops that rely on it; these are not fused with ops that
// the check needs. Other ops may be, and then come before it.
// CHECK-LABEL: func.func @checked
// CHECK: graph.bind %{{.*}} {symbols = array<i64: 1>}
// CHECK: graph.cluster
// CHECK-NEXT: graph.exp
// CHECK-NEXT: graph.tanh
// CHECK: graph.bind %{{.*}} {symbols = array<i64: 2>}
// CHECK-NEXT: graph.assume {equalities = [#{{.*}}]}
// CHECK-NEXT: graph.cluster
// CHECK: graph.add
// CHECK-NEXT: graph.yield
func.func @checked(%x: tensor<?xf32, #n>, %s: tensor<1xi64>) -> (tensor<?xf32, #a>, tensor<?xf32, #n>) attributes {graph.symbols = ["n", "", ""]} {
  graph.bind %s {symbols = array<i64: 1>} : tensor<1xi64>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.exp %x : (tensor<?xf32, #n>) -> tensor<?xf32, #n>
  %1 = graph.reduce_max %0 {axes = array<i64: 0>, keepdims = true} : (tensor<?xf32, #n>) -> tensor<1xf32>
  %2 = graph.cast %1 : (tensor<1xf32>) -> tensor<1xi64>
  graph.bind %2 {symbols = array<i64: 2>} : tensor<1xi64>
  graph.assume {equalities = [affine_map<()[s0, s1, s2] -> (s1, s2)>]}
  %3 = graph.tanh %0 : (tensor<?xf32, #n>) -> tensor<?xf32, #n>
  %4 = graph.broadcast_to %zero : (tensor<f32>) -> tensor<?xf32, #a>
  %5 = graph.broadcast_to %1 : (tensor<1xf32>) -> tensor<?xf32, #b>
  %6 = graph.add %4, %5 : (tensor<?xf32, #a>, tensor<?xf32, #b>) -> tensor<?xf32, #a>
  return %6, %3 : tensor<?xf32, #a>, tensor<?xf32, #n>
}

// -----

// Neighbours beyond the ends do not exist, whatever value all others have.
// CHECK-LABEL: func.func @ends
// CHECK: %[[X:.*]] = graph.constant
// CHECK: graph.cluster(%{{.*}} = %[[X]]) anchor "lrn"
// CHECK-NOT: graph.constant
// CHECK: graph.lrn
func.func @ends() -> tensor<1x8x3x3xf32> {
  %x = graph.constant dense<1.5> : tensor<1x8x3x3xf32>
  %0 = graph.lrn %x {size = 5 : i64} : (tensor<1x8x3x3xf32>) -> tensor<1x8x3x3xf32>
  return %0 : tensor<1x8x3x3xf32>
}

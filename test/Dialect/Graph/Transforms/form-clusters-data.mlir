// RUN: aopt %s --graph-form-clusters --split-input-file | FileCheck %s

#n = affine_map<()[s0] -> (s0)>

// A symbol that the data binds has its value before any op whose types mention
// it, though no operand says so; regions are clustered by themselves.
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

// A size that only a value in between has keeps the two apart: the kernel could
// not tell it from its operands and results.
// CHECK-LABEL: func.func @sizes(
// CHECK: graph.cluster
// CHECK: graph.broadcast_to
// CHECK: graph.yield
// CHECK: graph.cluster
// CHECK: graph.add
func.func @sizes(%n: tensor<2xi64>, %v: tensor<f32>, %x: tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>) -> tensor<?xf32, affine_map<()[s0, s1] -> (s1)>> attributes {graph.symbols = ["", ""]} {
  graph.bind %n {symbols = array<i64: 0, 1>} : tensor<2xi64>
  %y = graph.broadcast_to %v : (tensor<f32>) -> tensor<?xf32, #n>
  %r = graph.add %x, %y : (tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>, tensor<?xf32, #n>) -> tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>
  return %r : tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>
}

// RUN: aopt %s --graph-simplify-control-flow --split-input-file | FileCheck %s

// Symbols are >= 0: the shape determines the condition.
#x = affine_map<()[s0] -> (s0)>
// CHECK-LABEL: func.func @decided
// CHECK: %[[E:.*]] = graph.exp %arg0
// CHECK-NOT: graph.if
// CHECK: return %[[E]]
func.func @decided(%x: tensor<?xf32, #x>) -> tensor<?xf32, #x> {
  %zero = graph.constant dense<0> : tensor<1xi64>
  %shape = graph.shape %x : (tensor<?xf32, #x>) -> tensor<1xi64>
  %c = graph.greater_equal %shape, %zero : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %0 = graph.if %c : (tensor<1xi1>) -> tensor<?xf32, #x> {
    %1 = graph.exp %x : (tensor<?xf32, #x>) -> tensor<?xf32, #x>
    graph.yield %1 : tensor<?xf32, #x>
  } else {
    graph.yield %x : tensor<?xf32, #x>
  }
  return %0 : tensor<?xf32, #x>
}

// -----

// CHECK-LABEL: func.func @open
// CHECK: graph.if
func.func @open(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.if %c : (tensor<i1>) -> tensor<4xf32> {
    %1 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  } else {
    graph.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @unrolled
// CHECK-NOT: graph.loop
// CHECK: %[[A:.*]] = graph.add %arg0, %arg0
// CHECK: %[[B:.*]] = graph.add %[[A]], %[[A]]
// CHECK: %[[P:.*]] = graph.reshape %[[A]]
// CHECK: %[[Q:.*]] = graph.reshape %[[B]]
// CHECK: %[[C:.*]] = graph.concat %[[P]], %[[Q]] {axis = 0 : i64}
// CHECK: return %[[B]], %[[C]]
func.func @unrolled(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x4xf32>) {
  %n = graph.constant dense<2> : tensor<i64>
  %true = graph.constant dense<true> : tensor<i1>
  %r:2 = "graph.loop"(%n, %true, %x) <{count = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 1>, symbols = array<i64: 0>}> ({
  ^bb0(%i: tensor<i64>, %a: tensor<4xf32>):
    %b = graph.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %true, %b, %b : tensor<i1>, tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i64>, tensor<i1>, tensor<4xf32>) -> (tensor<4xf32>, tensor<2x4xf32>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<2x4xf32>
}

// -----

// Too long, a data-dependent trip count, and a size that each iteration changes.
#s = affine_map<()[s0] -> (s0)>
// CHECK-LABEL: func.func @stays
// CHECK-COUNT-3: "graph.loop"
func.func @stays(%m: tensor<i64>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<?xf32, #s>) {
  %n = graph.constant dense<1000> : tensor<i64>
  %two = graph.constant dense<2> : tensor<i64>
  %0 = "graph.loop"(%n, %x) <{operandSegmentSizes = array<i32: 1, 0, 1>, symbols = array<i64>}> ({
  ^bb0(%i: tensor<i64>, %a: tensor<4xf32>):
    %b = graph.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %b : tensor<4xf32>
  }) : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "graph.loop"(%m, %x) <{operandSegmentSizes = array<i32: 1, 0, 1>, symbols = array<i64>}> ({
  ^bb0(%i: tensor<i64>, %a: tensor<4xf32>):
    %b = graph.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %b : tensor<4xf32>
  }) : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32>
  %2 = "graph.loop"(%two, %x) <{operandSegmentSizes = array<i32: 1, 0, 1>, symbols = array<i64: 0>}> ({
  ^bb0(%i: tensor<i64>, %a: tensor<?xf32, #s>):
    %b = graph.concat %a, %a {axis = 0 : i64} : (tensor<?xf32, #s>, tensor<?xf32, #s>) -> tensor<?xf32, affine_map<()[s0] -> (s0 * 2)>>
    graph.yield %b : tensor<?xf32, affine_map<()[s0] -> (s0 * 2)>>
  }) : (tensor<i64>, tensor<4xf32>) -> tensor<?xf32, #s>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<?xf32, #s>
}

// -----

// Values that are equal in both branches, or in each iteration, are read from outside.
// CHECK-LABEL: func.func @forwarded
// CHECK: graph.if
// CHECK: "graph.loop"
// CHECK: ^bb0(%{{.*}}: tensor<i64>, %[[A:.*]]: tensor<4xf32>, %{{.*}}: tensor<4xf32>):
// CHECK: graph.add %[[A]], %arg2
// CHECK: return %arg1, %{{.*}}, %arg2
func.func @forwarded(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>, %n: tensor<i64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0:2 = graph.if %c : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
    %1 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %x, %1 : tensor<4xf32>, tensor<4xf32>
  } else {
    graph.yield %x, %y : tensor<4xf32>, tensor<4xf32>
  }
  %2:2 = "graph.loop"(%n, %0#1, %y) <{operandSegmentSizes = array<i32: 1, 0, 2>, symbols = array<i64>}> ({
  ^bb0(%i: tensor<i64>, %a: tensor<4xf32>, %b: tensor<4xf32>):
    %3 = graph.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %3, %b : tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i64>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %2#0, %2#1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A check of a region is moved before all ops that may depend on it, in each inlined
// copy.
#x = affine_map<()[s0] -> (s0)>
#y = affine_map<()[s0, s1] -> (s1)>
// CHECK-LABEL: func.func @checks
// CHECK-NEXT: graph.assume {equalities = [#{{.*}}]}
// CHECK-NEXT: graph.assume {equalities = [#{{.*}}]}
// CHECK: graph.bind
// CHECK-NEXT: graph.assume {broadcasts = [#{{.*}}]}
// CHECK: graph.exp
// CHECK-NOT: graph.if
// CHECK-NOT: graph.loop
// CHECK-NOT: graph.assume
// CHECK: return
func.func @checks(%x: tensor<?xf32, #x>, %s: tensor<1xi64>) -> (tensor<?xf32, #y>, tensor<?xf32, #x>) {
  graph.bind %s {symbols = array<i64: 1>} : tensor<1xi64>
  %0 = graph.exp %x : (tensor<?xf32, #x>) -> tensor<?xf32, #x>
  %c = graph.constant dense<true> : tensor<i1>
  %1 = graph.if %c : (tensor<i1>) -> tensor<?xf32, #y> {
    graph.assume {broadcasts = [affine_map<()[s0, s1] -> (s0, s1)>]}
    %2 = graph.broadcast_to %0 : (tensor<?xf32, #x>) -> tensor<?xf32, #y>
    graph.yield %2 : tensor<?xf32, #y>
  } else {
    %zero = graph.constant dense<0.0> : tensor<f32>
    %2 = graph.broadcast_to %zero : (tensor<f32>) -> tensor<?xf32, #y>
    graph.yield %2 : tensor<?xf32, #y>
  }
  %n = graph.constant dense<2> : tensor<i64>
  %3 = "graph.loop"(%n, %0) <{operandSegmentSizes = array<i32: 1, 0, 1>}> ({
  ^bb0(%i: tensor<i64>, %a: tensor<?xf32, #x>):
    graph.assume {equalities = [affine_map<()[s0] -> (s0, 7)>]}
    %b = graph.add %a, %a : (tensor<?xf32, #x>, tensor<?xf32, #x>) -> tensor<?xf32, #x>
    graph.yield %b : tensor<?xf32, #x>
  }) : (tensor<i64>, tensor<?xf32, #x>) -> tensor<?xf32, #x>
  return %1, %3 : tensor<?xf32, #y>, tensor<?xf32, #x>
}

// -----

// The size in a check changes with each iteration.
// CHECK-LABEL: func.func @own_size
// CHECK: "graph.loop"
#s = affine_map<()[s0] -> (s0)>
func.func @own_size(%x: tensor<4xf32>, %y: tensor<1xf32>) -> tensor<1xf32> {
  %n = graph.constant dense<2> : tensor<i64>
  %3 = "graph.loop"(%n, %y) <{operandSegmentSizes = array<i32: 1, 0, 1>, count = 0 : i64, symbols = array<i64: 0>}> ({
  ^bb0(%i: tensor<i64>, %a: tensor<1xf32>):
    graph.assume {bounds = [affine_map<()[s0] -> (-s0 + 9)>]}
    %b = graph.add %a, %a : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    graph.yield %b : tensor<1xf32>
  }) : (tensor<i64>, tensor<1xf32>) -> tensor<1xf32>
  return %3 : tensor<1xf32>
}

// RUN: aopt %s --graph-fold-constants --split-input-file | FileCheck %s

// Data movement is done on the bytes.
// CHECK-LABEL: func @movement
// CHECK-DAG: graph.constant dense<{{\[\[}}1.000000e+00, 4.000000e+00], [2.000000e+00, 5.000000e+00], [3.000000e+00, 6.000000e+00]]>
// CHECK-DAG: graph.constant dense<[3.000000e+00, 1.000000e+00]>
// CHECK-DAG: graph.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00, 3.000000e+00, 1.000000e+00], [4.000000e+00, 5.000000e+00, 6.000000e+00, 2.000000e+00]]>
// CHECK-NOT: graph.{{transpose|slice|concat}}
func.func @movement() -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2x4xf32>) {
  %w = graph.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %v = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %c = graph.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %0 = graph.transpose %w {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = graph.slice %v {starts = array<i64: 2>, steps = array<i64: -2>} : (tensor<4xf32>) -> tensor<2xf32>
  %2 = graph.concat %w, %c {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %0, %1, %2 : tensor<3x2xf32>, tensor<2xf32>, tensor<2x4xf32>
}

// -----

// A selection by known sizes is decided.
// CHECK-LABEL: func @choice
// CHECK-NEXT: %[[R:.*]] = graph.relu
// CHECK-NEXT: return %[[R]]
func.func @choice(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %no = graph.constant dense<false> : tensor<2x1xi1>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = graph.select %no, %zero, %0 : (tensor<2x1xi1>, tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// Values that depend on an input stay, for any shape.
#n = affine_map<()[s0] -> (s0)>
#m = affine_map<()[s0] -> (4, s0)>
// CHECK-LABEL: func @dynamic
// CHECK: graph.broadcast_to
func.func @dynamic(%x: tensor<?xf32, #n>) -> tensor<4x?xf32, #m> attributes {graph.symbols = ["n"]} {
  %0 = graph.broadcast_to %x : (tensor<?xf32, #n>) -> tensor<4x?xf32, #m>
  return %0 : tensor<4x?xf32, #m>
}

// -----

// The size of a dynamic operand is not used.
#x = affine_map<()[s0] -> (s0, 4)>
// CHECK-LABEL: func @shape
// CHECK: graph.shape
func.func @shape(%x: tensor<?x4xf32, #x>) -> tensor<2xi64> attributes {graph.symbols = ["n"]} {
  %0 = graph.shape %x : (tensor<?x4xf32, #x>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// -----

// A value that is equal for all sizes is known, besides one that is not.
#x = affine_map<()[s0] -> (s0, 4)>
// CHECK-LABEL: func @part_of_shape
// CHECK-DAG: %[[FOUR:.*]] = graph.constant dense<4> : tensor<1xi64>
// CHECK-DAG: %[[ROWS:.*]] = graph.slice
// CHECK: return %[[FOUR]], %[[ROWS]]
func.func @part_of_shape(%x: tensor<?x4xf32, #x>) -> (tensor<1xi64>, tensor<1xi64>) attributes {graph.symbols = ["n"]} {
  %0 = graph.shape %x : (tensor<?x4xf32, #x>) -> tensor<2xi64>
  %1 = graph.slice %0 {starts = array<i64: 1>, steps = array<i64: 1>} : (tensor<2xi64>) -> tensor<1xi64>
  %2 = graph.slice %0 {starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<2xi64>) -> tensor<1xi64>
  return %1, %2 : tensor<1xi64>, tensor<1xi64>
}

// RUN: aopt %s --graph-simplify-movement --split-input-file | FileCheck %s

// A scatter broadcasts its indices, unless a size may be 1 at run time only.
#n = affine_map<()[s0] -> (s0, 4)>
#r = affine_map<()[s0] -> (s0, 1)>
// CHECK-LABEL: func.func @scatter
// CHECK: graph.scatter_elements %arg0, %arg1, %arg2 : (tensor<8x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>)
// CHECK: %[[I:.*]] = graph.broadcast_to %arg3
// CHECK: graph.scatter_elements %{{.*}}, %[[I]], %arg2
func.func @scatter(%x: tensor<8x4xf32>, %i: tensor<3x1xi64>, %u: tensor<3x4xf32>, %j: tensor<?x1xi64, #r>) -> tensor<8x4xf32> {
  %0 = graph.broadcast_to %i : (tensor<3x1xi64>) -> tensor<3x4xi64>
  %1 = graph.scatter_elements %x, %0, %u {axis = 0 : i64} : (tensor<8x4xf32>, tensor<3x4xi64>, tensor<3x4xf32>) -> tensor<8x4xf32>
  %2 = graph.broadcast_to %j : (tensor<?x1xi64, #r>) -> tensor<3x4xi64>
  %3 = graph.scatter_elements %1, %2, %u {axis = 0 : i64} : (tensor<8x4xf32>, tensor<3x4xi64>, tensor<3x4xf32>) -> tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// -----

// Rows of which each operand has a part are permuted by operand; a concatenation of
// whole rows, and columns that become rows, stay.
// CHECK-LABEL: func.func @rows
// CHECK: %[[A:.*]] = graph.transpose %arg1 {perm = array<i64: 1, 0, 2>}
// CHECK: %[[B:.*]] = graph.transpose %arg2 {perm = array<i64: 1, 0, 2>}
// CHECK: %[[U:.*]] = graph.concat %[[A]], %[[B]] {axis = 2 : i64}
// CHECK: graph.scatter_elements %arg0, %arg4, %[[U]]
// CHECK: %[[C:.*]] = graph.concat %arg1, %arg2 {axis = 1 : i64}
// CHECK: graph.transpose %[[C]]
// CHECK: %[[D:.*]] = graph.concat %arg3, %arg3 {axis = 2 : i64}
// CHECK: graph.transpose %[[D]] {perm = array<i64: 1, 2, 0>}
func.func @rows(%x: tensor<2x8x4xf32>, %a: tensor<3x2x2xf32>, %b: tensor<3x2x2xf32>, %w: tensor<4x2x2xf32>, %i: tensor<1x3x1xi64>, %j: tensor<1x4x1xi64>, %z: tensor<4x8x2xf32>) -> (tensor<2x8x4xf32>, tensor<4x8x2xf32>, tensor<2x8x4xf32>) {
  %0 = graph.concat %a, %b {axis = 2 : i64} : (tensor<3x2x2xf32>, tensor<3x2x2xf32>) -> tensor<3x2x4xf32>
  %1 = graph.transpose %0 {perm = array<i64: 1, 0, 2>} : (tensor<3x2x4xf32>) -> tensor<2x3x4xf32>
  %2 = graph.scatter_elements %x, %i, %1 {axis = 1 : i64} : (tensor<2x8x4xf32>, tensor<1x3x1xi64>, tensor<2x3x4xf32>) -> tensor<2x8x4xf32>
  %3 = graph.concat %a, %b {axis = 1 : i64} : (tensor<3x2x2xf32>, tensor<3x2x2xf32>) -> tensor<3x4x2xf32>
  %4 = graph.transpose %3 {perm = array<i64: 1, 0, 2>} : (tensor<3x4x2xf32>) -> tensor<4x3x2xf32>
  %5 = graph.scatter_elements %z, %i, %4 {axis = 1 : i64} : (tensor<4x8x2xf32>, tensor<1x3x1xi64>, tensor<4x3x2xf32>) -> tensor<4x8x2xf32>
  %6 = graph.concat %w, %w {axis = 2 : i64} : (tensor<4x2x2xf32>, tensor<4x2x2xf32>) -> tensor<4x2x4xf32>
  %7 = graph.transpose %6 {perm = array<i64: 1, 2, 0>} : (tensor<4x2x4xf32>) -> tensor<2x4x4xf32>
  %8 = graph.scatter_elements %x, %j, %7 {axis = 1 : i64} : (tensor<2x8x4xf32>, tensor<1x4x1xi64>, tensor<2x4x4xf32>) -> tensor<2x8x4xf32>
  return %2, %5, %8 : tensor<2x8x4xf32>, tensor<4x8x2xf32>, tensor<2x8x4xf32>
}

// Values that a scatter of rows stores are computed by its kernel.
// RUN: aopt %s --graph-form-clusters --split-input-file | FileCheck %s

// The rotated and the plain rows of a cache, of a dynamic number.
#x = affine_map<()[s0] -> (s0, 2, 8)>
#h = affine_map<()[s0] -> (s0, 2, 4)>
#u = affine_map<()[s0] -> (2, s0, 4)>
#w = affine_map<()[s0] -> (2, s0, 8)>
#i = affine_map<()[s0] -> (1, s0, 1)>
#s = affine_map<()[s0, s1] -> (2, s1, 8)>
// CHECK-LABEL: func.func @rows(
// CHECK: graph.cluster({{.*}}) anchor "scatter_elements"
// CHECK: graph.mul
// CHECK: graph.concat
// CHECK: graph.scatter_elements
// CHECK: graph.cluster({{.*}}) anchor "scatter_elements"
// CHECK-NEXT: graph.transpose
// CHECK-NEXT: graph.scatter_elements
// CHECK-NOT: graph.cluster
// CHECK: return
func.func @rows(%c: tensor<2x?x8xf32, #s>, %d: tensor<2x?x8xf32, #s>, %x: tensor<?x2x8xf32, #x>, %r: tensor<4xf32>, %i: tensor<1x?x1xi64, #i>) -> (tensor<2x?x8xf32, #s>, tensor<2x?x8xf32, #s>) {
  %0 = graph.open_state %c {state = 0 : i64} : (tensor<2x?x8xf32, #s>) -> tensor<2x?x8xf32, #s>
  %1 = graph.open_state %d {state = 1 : i64} : (tensor<2x?x8xf32, #s>) -> tensor<2x?x8xf32, #s>
  %2 = graph.slice %x {starts = array<i64: 0, 0, 0>, steps = array<i64: 1, 1, 1>} : (tensor<?x2x8xf32, #x>) -> tensor<?x2x4xf32, #h>
  %3 = graph.slice %x {starts = array<i64: 0, 0, 4>, steps = array<i64: 1, 1, 1>} : (tensor<?x2x8xf32, #x>) -> tensor<?x2x4xf32, #h>
  %4 = graph.mul %2, %r : (tensor<?x2x4xf32, #h>, tensor<4xf32>) -> tensor<?x2x4xf32, #h>
  %5 = graph.mul %3, %r : (tensor<?x2x4xf32, #h>, tensor<4xf32>) -> tensor<?x2x4xf32, #h>
  %6 = graph.transpose %4 {perm = array<i64: 1, 0, 2>} : (tensor<?x2x4xf32, #h>) -> tensor<2x?x4xf32, #u>
  %7 = graph.transpose %5 {perm = array<i64: 1, 0, 2>} : (tensor<?x2x4xf32, #h>) -> tensor<2x?x4xf32, #u>
  %8 = graph.concat %6, %7 {axis = 2 : i64} : (tensor<2x?x4xf32, #u>, tensor<2x?x4xf32, #u>) -> tensor<2x?x8xf32, #w>
  %9 = graph.scatter_elements %0, %i, %8 {axis = 1 : i64} : (tensor<2x?x8xf32, #s>, tensor<1x?x1xi64, #i>, tensor<2x?x8xf32, #w>) -> tensor<2x?x8xf32, #s>
  %10 = graph.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<?x2x8xf32, #x>) -> tensor<2x?x8xf32, #w>
  %11 = graph.scatter_elements %1, %i, %10 {axis = 1 : i64} : (tensor<2x?x8xf32, #s>, tensor<1x?x1xi64, #i>, tensor<2x?x8xf32, #w>) -> tensor<2x?x8xf32, #s>
  %12 = graph.close_state %9 {state = 0 : i64} : (tensor<2x?x8xf32, #s>) -> tensor<2x?x8xf32, #s>
  %13 = graph.close_state %11 {state = 1 : i64} : (tensor<2x?x8xf32, #s>) -> tensor<2x?x8xf32, #s>
  return %12, %13 : tensor<2x?x8xf32, #s>, tensor<2x?x8xf32, #s>
}

// -----

// Elements along a row have places of their own, and an argument is copied.
// CHECK-LABEL: func.func @separate(
// CHECK: graph.cluster({{.*}}) anchor "pointwise"
// CHECK: graph.cluster({{.*}}) anchor "scatter_elements"
// CHECK-NEXT: graph.scatter_elements
// CHECK: graph.cluster({{.*}}) anchor "scatter_elements"
// CHECK-NEXT: graph.scatter_elements
func.func @separate(%x: tensor<8x4xf32>, %u: tensor<2x4xf32>, %i: tensor<2x4xi64>, %j: tensor<2x1xi64>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = graph.exp %u : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = graph.open_state %x {state = 0 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = graph.scatter_elements %1, %i, %0 {axis = 0 : i64} : (tensor<8x4xf32>, tensor<2x4xi64>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %3 = graph.sqrt %u : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = graph.scatter_elements %x, %j, %3 {axis = 0 : i64} : (tensor<8x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<8x4xf32>
  return %2, %4 : tensor<8x4xf32>, tensor<8x4xf32>
}

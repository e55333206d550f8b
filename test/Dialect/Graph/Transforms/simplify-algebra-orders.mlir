// Reductions between transposes that cancel.
// RUN: aopt %s --graph-simplify-algebra --canonicalize --split-input-file | FileCheck %s

// The squares of a spectrum, whose real and imaginary parts are rows after a transpose.
#x = affine_map<()[s0, s1] -> (s0, s1, 514)>
#t = affine_map<()[s0, s1] -> (s0, 514, s1)>
#v = affine_map<()[s0, s1] -> (s0, 2, 257, s1)>
#r = affine_map<()[s0, s1] -> (s0, 257, s1)>
#y = affine_map<()[s0, s1] -> (s0, s1, 257)>
// CHECK-LABEL: func.func @spectrum
// CHECK-NEXT: %[[V:.*]] = graph.reshape %arg0 : {{.*}} -> tensor<?x?x2x257xf32, #{{.*}}>
// CHECK-NEXT: %[[R:.*]] = graph.reduce_sum_square %[[V]] {axes = array<i64: 2>, keepdims = false} : {{.*}} -> tensor<?x?x257xf32
// CHECK-NEXT: return %[[R]]
func.func @spectrum(%x: tensor<?x?x514xf32, #x>) -> tensor<?x?x257xf32, #y> {
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<?x?x514xf32, #x>) -> tensor<?x514x?xf32, #t>
  %1 = graph.reshape %0 : (tensor<?x514x?xf32, #t>) -> tensor<?x2x257x?xf32, #v>
  %2 = graph.reduce_sum_square %1 {axes = array<i64: 1>, keepdims = false} : (tensor<?x2x257x?xf32, #v>) -> tensor<?x257x?xf32, #r>
  %3 = graph.transpose %2 {perm = array<i64: 0, 2, 1>} : (tensor<?x257x?xf32, #r>) -> tensor<?x?x257xf32, #y>
  return %3 : tensor<?x?x257xf32, #y>
}

// -----

// Reduced dims may stay, and several dims may be split.
// CHECK-LABEL: func.func @kept
// CHECK-NEXT: %[[V:.*]] = graph.reshape %arg0 : (tensor<6x8x5xf32>) -> tensor<3x2x2x4x5xf32>
// CHECK-NEXT: %[[R:.*]] = graph.reduce_max %[[V]] {axes = array<i64: 1, 2>} : (tensor<3x2x2x4x5xf32>) -> tensor<3x1x1x4x5xf32>
// CHECK-NEXT: return %[[R]]
func.func @kept(%x: tensor<6x8x5xf32>) -> tensor<3x1x1x4x5xf32> {
  %0 = graph.transpose %x {perm = array<i64: 2, 0, 1>} : (tensor<6x8x5xf32>) -> tensor<5x6x8xf32>
  %1 = graph.reshape %0 : (tensor<5x6x8xf32>) -> tensor<5x3x2x2x4xf32>
  %2 = graph.reduce_max %1 {axes = array<i64: 2, 3>} : (tensor<5x3x2x2x4xf32>) -> tensor<5x3x1x1x4xf32>
  %3 = graph.transpose %2 {perm = array<i64: 1, 2, 3, 4, 0>} : (tensor<5x3x1x1x4xf32>) -> tensor<3x1x1x4x5xf32>
  return %3 : tensor<3x1x1x4x5xf32>
}

// -----

// The transposes do not cancel, the reshape does not only split, or the reduction is read
// otherwise, too.
// CHECK-LABEL: func.func @stays
// CHECK-COUNT-6: graph.transpose
func.func @stays(%x: tensor<4x5x6xf32>) -> (tensor<3x4x5xf32>, tensor<4x3xf32>, tensor<4x5x3xf32>, tensor<4x3x5xf32>) {
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<4x5x6xf32>) -> tensor<4x6x5xf32>
  %1 = graph.reshape %0 : (tensor<4x6x5xf32>) -> tensor<4x2x3x5xf32>
  %2 = graph.reduce_sum %1 {axes = array<i64: 1>, keepdims = false} : (tensor<4x2x3x5xf32>) -> tensor<4x3x5xf32>
  %3 = graph.transpose %2 {perm = array<i64: 1, 0, 2>} : (tensor<4x3x5xf32>) -> tensor<3x4x5xf32>
  %4 = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<4x5x6xf32>) -> tensor<4x6x5xf32>
  %5 = graph.reshape %4 : (tensor<4x6x5xf32>) -> tensor<3x10x4xf32>
  %6 = graph.reduce_max %5 {axes = array<i64: 1>, keepdims = false} : (tensor<3x10x4xf32>) -> tensor<3x4xf32>
  %7 = graph.transpose %6 {perm = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %8 = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<4x5x6xf32>) -> tensor<4x6x5xf32>
  %9 = graph.reshape %8 : (tensor<4x6x5xf32>) -> tensor<4x2x3x5xf32>
  %10 = graph.reduce_min %9 {axes = array<i64: 1>, keepdims = false} : (tensor<4x2x3x5xf32>) -> tensor<4x3x5xf32>
  %11 = graph.transpose %10 {perm = array<i64: 0, 2, 1>} : (tensor<4x3x5xf32>) -> tensor<4x5x3xf32>
  return %3, %7, %11, %10 : tensor<3x4x5xf32>, tensor<4x3xf32>, tensor<4x5x3xf32>, tensor<4x3x5xf32>
}

// RUN: aopt %s --graph-convert-layout --split-input-file | FileCheck %s

// Two convolutions with an activation and a residual sum between: one transpose at each
// border.
// CHECK-LABEL: func.func @residual
// CHECK-SAME: %[[X:.*]]: tensor<1x4x8x8xf32>
func.func @residual(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK: %[[L:.*]] = graph.transpose %[[X]] {perm = array<i64: 0, 2, 3, 1>}
  // CHECK: %[[A:.*]] = graph.conv %[[L]]
  // CHECK-SAME: layout = #graph.layout<nhwc>
  // CHECK: %[[R:.*]] = graph.relu %[[A]]
  // CHECK: %[[B:.*]] = graph.conv %[[R]]
  // CHECK: %[[S:.*]] = graph.add %[[B]], %[[R]]
  // CHECK: %[[F:.*]] = graph.transpose %[[S]] {perm = array<i64: 0, 3, 1, 2>}
  // CHECK: return %[[F]]
  %a = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  %r = graph.relu %a : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %b = graph.conv %r, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  %s = graph.add %b, %r : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  return %s : tensor<1x4x8x8xf32>
}

// -----

// The axis of a concatenation and of a reduction follow; a transpose that moves
// only dims of size 1 is a reshape.
// CHECK-LABEL: func.func @head
func.func @head(%x: tensor<1x4x8x8xf32>) -> tensor<1x8xf32> {
  // CHECK: graph.conv
  // CHECK: graph.concat {{.*}} {axis = 3 : i64}
  // CHECK: graph.reduce_mean {{.*}} {axes = array<i64: 1, 2>}
  // CHECK-NOT: graph.transpose
  // CHECK: graph.reshape
  // CHECK-NOT: graph.transpose
  // CHECK: return
  %filter = graph.constant dense<0.5> : tensor<4x4x3x3xf32>
  %p = graph.conv %x, %filter {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  %c = graph.concat %p, %p {axis = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x8x8x8xf32>
  %m = graph.reduce_mean %c {axes = array<i64: 2, 3>} : (tensor<1x8x8x8xf32>) -> tensor<1x8x1x1xf32>
  %f = graph.reshape %m : (tensor<1x8x1x1xf32>) -> tensor<1x8xf32>
  return %f : tensor<1x8xf32>
}

// -----

// A symbolic batch.
// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%x: tensor<?x4x8x8xf32, affine_map<()[s0] -> (s0, 4, 8, 8)>>) -> tensor<?x4x4x4xf32, affine_map<()[s0] -> (s0, 4, 4, 4)>> attributes {graph.symbols = ["batch"]} {
  // CHECK: graph.conv {{.*}} -> tensor<?x4x4x4xf32, #map{{.*}}>
  // CHECK: graph.relu
  // CHECK: graph.transpose
  %filter = graph.constant dense<0.5> : tensor<4x4x2x2xf32>
  %p = graph.conv %x, %filter {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x4x8x8xf32, affine_map<()[s0] -> (s0, 4, 8, 8)>>, tensor<4x4x2x2xf32>) -> tensor<?x4x4x4xf32, affine_map<()[s0] -> (s0, 4, 4, 4)>>
  %r = graph.relu %p : (tensor<?x4x4x4xf32, affine_map<()[s0] -> (s0, 4, 4, 4)>>) -> tensor<?x4x4x4xf32, affine_map<()[s0] -> (s0, 4, 4, 4)>>
  return %r : tensor<?x4x4x4xf32, affine_map<()[s0] -> (s0, 4, 4, 4)>>
}

// -----

// Without an op that has a layout nothing changes.
// CHECK-LABEL: func.func @none
func.func @none(%x: tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32> {
  // CHECK-NEXT: graph.relu
  // CHECK-NEXT: graph.transpose
  // CHECK-NEXT: graph.exp
  // CHECK-NEXT: return
  %r = graph.relu %x : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %t = graph.transpose %r {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x8x8x4xf32>
  %e = graph.exp %t : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  return %e : tensor<1x8x8x4xf32>
}

// -----

// In rank 3 the transpose is its own inverse: with one operand transposed and one not,
// nothing is saved, and the pass must end.
// CHECK-LABEL: func.func @self_inverse
func.func @self_inverse(%x: tensor<1x4x8x8xf32>, %y: tensor<1x4x64xf32>) -> tensor<1x4x64xf32> {
  // CHECK: graph.conv
  // CHECK: graph.reshape %{{.*}} -> tensor<1x64x4xf32>
  // CHECK: graph.transpose %{{.*}} {perm = array<i64: 0, 2, 1>}
  // CHECK: graph.add
  // CHECK-NEXT: return
  %filter = graph.constant dense<0.5> : tensor<4x4x3x3xf32>
  %p = graph.conv %x, %filter {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  %r = graph.reshape %p : (tensor<1x4x8x8xf32>) -> tensor<1x4x64xf32>
  %a = graph.add %r, %y : (tensor<1x4x64xf32>, tensor<1x4x64xf32>) -> tensor<1x4x64xf32>
  return %a : tensor<1x4x64xf32>
}

// -----

// Pools alone are unchanged: their pixels are along the vectors. With a convolution, they
// have its layout.
// CHECK-LABEL: func.func @pools_alone
func.func @pools_alone(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK-NOT: graph.transpose
  // CHECK-NOT: nhwc
  // CHECK: return
  %p = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %a = graph.avg_pool %p {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  return %a : tensor<1x4x8x8xf32>
}

// -----

// CHECK-LABEL: func.func @pool_of_convolution
func.func @pool_of_convolution(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32> {
  // CHECK: graph.transpose
  // CHECK-NEXT: graph.max_pool {{.*}} layout = #graph.layout<nhwc>
  // CHECK-NEXT: graph.conv
  // CHECK-NEXT: graph.transpose
  %p = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %c = graph.conv %p, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<4x4x1x1xf32>) -> tensor<1x4x8x8xf32>
  return %c : tensor<1x4x8x8xf32>
}

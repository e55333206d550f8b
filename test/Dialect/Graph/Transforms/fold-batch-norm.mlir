// RUN: aopt %s --graph-fold-batch-norm --remarks-filter-failed=.* --split-input-file 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t

// Into the convolution before: the filter is scaled along its outputs.
// CHECK-LABEL: func.func @before
func.func @before(%x: tensor<1x2x4x4xf32>) -> tensor<1x3x2x2xf32> {
  %w = graph.constant dense<1.0> : tensor<3x2x3x3xf32>
  %s = graph.constant dense<2.0> : tensor<3xf32>
  // CHECK: %[[V:.*]] = graph.add
  // CHECK: %[[D:.*]] = graph.sqrt %[[V]]
  // CHECK: %[[S:.*]] = graph.div %{{.*}}, %[[D]]
  // CHECK: %[[R:.*]] = graph.reshape %[[S]] : (tensor<3xf32>) -> tensor<3x1x1x1xf32>
  // CHECK: %[[W:.*]] = graph.mul %[[R]], %{{.*}}
  // CHECK: graph.conv %{{.*}}, %[[W]], %
  // CHECK-NOT: graph.batch_norm
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x2x2xf32>
  %n = graph.batch_norm %c, %s, %s, %s, %s : (tensor<1x3x2x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x2x2xf32>
  return %n : tensor<1x3x2x2xf32>
}

// -----

// Into the convolution after it, if there is no padding.
// CHECK-LABEL: func.func @after
func.func @after(%x: tensor<1x2x4x4xf32>) -> tensor<1x3x2x2xf32> {
  %w = graph.constant dense<1.0> : tensor<3x2x3x3xf32>
  %s = graph.constant dense<2.0> : tensor<2xf32>
  // CHECK: graph.reduce_sum
  // CHECK: graph.conv %arg0, %{{[^,]*}}, %
  %n = graph.batch_norm %x, %s, %s, %s, %s : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %c = graph.conv %n, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x2x2xf32>
  return %c : tensor<1x3x2x2xf32>
}

// -----

// With padding it does not fold: it becomes a multiplication and a sum.
// CHECK-LABEL: func.func @padded
func.func @padded(%x: tensor<1x2x4x4xf32>) -> tensor<1x3x4x4xf32> {
  %w = graph.constant dense<1.0> : tensor<3x2x3x3xf32>
  %s = graph.constant dense<2.0> : tensor<2xf32>
  // CHECK: %[[M:.*]] = graph.mul %arg0
  // CHECK: %[[A:.*]] = graph.add %[[M]]
  // CHECK: graph.conv %[[A]],
  %n = graph.batch_norm %x, %s, %s, %s, %s : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %c = graph.conv %n, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x4x4xf32>
  return %c : tensor<1x3x4x4xf32>
}

// -----

// A convolution with another user keeps its result; the batch is symbolic.
// CHECK-LABEL: func.func @shared
func.func @shared(%x: tensor<?x2x4x4xf32, affine_map<()[s0] -> (s0, 2, 4, 4)>>) -> (tensor<?x2x4x4xf32, affine_map<()[s0] -> (s0, 2, 4, 4)>>, tensor<?x2x4x4xf32, affine_map<()[s0] -> (s0, 2, 4, 4)>>) attributes {graph.symbols = ["batch"]} {
  %w = graph.constant dense<1.0> : tensor<2x2x1x1xf32>
  %s = graph.constant dense<2.0> : tensor<2xf32>
  // CHECK: %[[C:.*]] = graph.conv
  // CHECK: %[[M:.*]] = graph.mul %[[C]]
  // CHECK: %[[A:.*]] = graph.add %[[M]]
  // CHECK: return %[[C]], %[[A]]
  %c = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<?x2x4x4xf32, affine_map<()[s0] -> (s0, 2, 4, 4)>>, tensor<2x2x1x1xf32>) -> tensor<?x2x4x4xf32, affine_map<()[s0] -> (s0, 2, 4, 4)>>
  %n = graph.batch_norm %c, %s, %s, %s, %s : (tensor<?x2x4x4xf32, affine_map<()[s0] -> (s0, 2, 4, 4)>>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2x4x4xf32, affine_map<()[s0] -> (s0, 2, 4, 4)>>
  return %c, %n : tensor<?x2x4x4xf32, affine_map<()[s0] -> (s0, 2, 4, 4)>>, tensor<?x2x4x4xf32, affine_map<()[s0] -> (s0, 2, 4, 4)>>
}

// -----

// Before a transposed convolution: factors are folded into the filter's inputs; the
// result for the shifts of one image is added, as it differs at the border.
#x = affine_map<()[s0] -> (s0, 2, 4, 4)>
#y = affine_map<()[s0] -> (s0, 3, 3, 3)>
// CHECK-LABEL: func.func @before_transposed
// CHECK-DAG: %[[W:.*]] = graph.constant dense<1.000000e+00> : tensor<2x3x2x2xf32>
// CHECK-DAG: %[[S:.*]] = graph.broadcast_to %{{.*}} : (tensor<1x2x1x1xf32>) -> tensor<1x2x4x4xf32>
// CHECK-DAG: %[[C:.*]] = graph.conv_transpose %[[S]], %[[W]] {{.*}} -> tensor<1x3x3x3xf32>
// CHECK-DAG: %[[M:.*]] = graph.mul %{{.*}}, %[[W]] : (tensor<2x1x1x1xf32>, tensor<2x3x2x2xf32>)
// CHECK-DAG: %[[Y:.*]] = graph.conv_transpose %arg0, %[[M]], %{{.*}} -> tensor<?x3x3x3xf32
// CHECK: graph.add %[[Y]], %[[C]]
func.func @before_transposed(%x: tensor<?x2x4x4xf32, #x>) -> tensor<?x3x3x3xf32, #y> attributes {graph.symbols = ["batch"]} {
  %w = graph.constant dense<1.0> : tensor<2x3x2x2xf32>
  %b = graph.constant dense<0.5> : tensor<3xf32>
  %s = graph.constant dense<2.0> : tensor<2xf32>
  %n = graph.batch_norm %x, %s, %s, %s, %s : (tensor<?x2x4x4xf32, #x>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2x4x4xf32, #x>
  %c = graph.conv_transpose %n, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<?x2x4x4xf32, #x>, tensor<2x3x2x2xf32>, tensor<3xf32>) -> tensor<?x3x3x3xf32, #y>
  return %c : tensor<?x3x3x3xf32, #y>
}

// -----

// After a kernel with an epilogue, the normalisation stays there; an image of dynamic
// size has no constant; that of a far larger image costs more than the normalisation.
#x = affine_map<()[s0] -> (1, 2, s0, 4)>
#y = affine_map<()[s0] -> (1, 3, s0 + 1, 5)>
// WHY-DAG: FoldIntoTransposeAfter {{.*}}the normalisation is fused into the kernel of its producer
// WHY-DAG: FoldIntoTransposeAfter {{.*}}the image has a dynamic size
// WHY-DAG: FoldIntoTransposeAfter {{.*}}the shifts have more elements than twice the input
// CHECK-LABEL: func.func @stays
// CHECK: %[[R:.*]] = graph.relu %arg0
// CHECK: %[[M:.*]] = graph.mul %[[R]]
// CHECK: %[[A:.*]] = graph.add %[[M]]
// CHECK: graph.conv_transpose %[[A]],
// CHECK: %[[N:.*]] = graph.mul %arg1
// CHECK: %[[B:.*]] = graph.add %[[N]]
// CHECK: graph.conv_transpose %[[B]],
// CHECK: %[[O:.*]] = graph.mul %arg2
// CHECK: %[[C:.*]] = graph.add %[[O]]
// CHECK: graph.conv_transpose %[[C]],
func.func @stays(%x: tensor<1x2x4x4xf32>, %z: tensor<1x2x?x4xf32, #x>, %u: tensor<1x2x4x4xf32>) -> (tensor<1x3x5x5xf32>, tensor<1x3x?x5xf32, #y>, tensor<1x3x8x8xf32>) attributes {graph.symbols = ["height"]} {
  %w = graph.constant dense<1.0> : tensor<2x3x2x2xf32>
  %s = graph.constant dense<2.0> : tensor<2xf32>
  %r = graph.relu %x : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %n = graph.batch_norm %r, %s, %s, %s, %s : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %c = graph.conv_transpose %n, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x2x4x4xf32>, tensor<2x3x2x2xf32>) -> tensor<1x3x5x5xf32>
  %m = graph.batch_norm %z, %s, %s, %s, %s : (tensor<1x2x?x4xf32, #x>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x?x4xf32, #x>
  %d = graph.conv_transpose %m, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x2x?x4xf32, #x>, tensor<2x3x2x2xf32>) -> tensor<1x3x?x5xf32, #y>
  %o = graph.batch_norm %u, %s, %s, %s, %s : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %e = graph.conv_transpose %o, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x2x4x4xf32>, tensor<2x3x2x2xf32>) -> tensor<1x3x8x8xf32>
  return %c, %d, %e : tensor<1x3x5x5xf32>, tensor<1x3x?x5xf32, #y>, tensor<1x3x8x8xf32>
}

// -----

// Factors alone are folded into the filter for any producer.
// CHECK-LABEL: func.func @factors
// CHECK-DAG: %[[W:.*]] = graph.mul %{{.*}}, %{{.*}} : (tensor<2x1x1x1xf32>, tensor<2x3x2x2xf32>)
// CHECK-DAG: %[[R:.*]] = graph.relu %arg0
// CHECK: graph.conv_transpose %[[R]], %[[W]]
func.func @factors(%x: tensor<1x2x4x4xf32>) -> tensor<1x3x5x5xf32> {
  %w = graph.constant dense<1.0> : tensor<2x3x2x2xf32>
  %s = graph.constant dense<2.0> : tensor<2x1x1xf32>
  %r = graph.relu %x : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %n = graph.mul %r, %s : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %c = graph.conv_transpose %n, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x2x4x4xf32>, tensor<2x3x2x2xf32>) -> tensor<1x3x5x5xf32>
  return %c : tensor<1x3x5x5xf32>
}

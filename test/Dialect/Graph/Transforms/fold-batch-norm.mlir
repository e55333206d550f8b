// RUN: aopt %s --graph-fold-batch-norm --split-input-file | FileCheck %s

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

// Into the convolution after, where there is no padding.
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

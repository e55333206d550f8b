// RUN: aopt %s --graph-fold-batch-norm --canonicalize --split-input-file | FileCheck %s

// Branches of one input: 3x3, 1x1 within it and another 3x3, in any order of additions
// and with another summand between them.
// CHECK-LABEL: func.func @branches(
// CHECK-DAG: %[[W1:.*]] = graph.constant dense<1.000000e+00> : tensor<4x4x3x3xf32>
// CHECK-DAG: %[[W2:.*]] = graph.constant dense<2.000000e+00> : tensor<4x4x1x1xf32>
// CHECK-DAG: %[[W3:.*]] = graph.constant dense<3.000000e+00> : tensor<4x4x3x3xf32>
// CHECK: %[[V:.*]] = graph.add %[[W3]], %[[W1]]
// CHECK: %[[P:.*]] = graph.pad %[[W2]] {high = array<i64: 0, 0, 1, 1>, low = array<i64: 0, 0, 1, 1>}
// CHECK: %[[W:.*]] = graph.add %[[V]], %[[P]]
// CHECK: %[[C:.*]] = graph.conv %arg0, %[[W]], %{{.*}} {{{.*}}pads = array<i64: 1, 1, 1, 1>
// CHECK-NOT: graph.conv
// CHECK: graph.add %{{.*}} : (tensor<?x4x8x8xf32
#x = affine_map<()[s0] -> (s0, 4, 8, 8)>
func.func @branches(%x: tensor<?x4x8x8xf32, #x>, %y: tensor<?x4x8x8xf32, #x>) -> tensor<?x4x8x8xf32, #x> attributes {graph.symbols = ["batch"]} {
  %w1 = graph.constant dense<1.0> : tensor<4x4x3x3xf32>
  %w2 = graph.constant dense<2.0> : tensor<4x4x1x1xf32>
  %w3 = graph.constant dense<3.0> : tensor<4x4x3x3xf32>
  %b = graph.constant dense<4.0> : tensor<4xf32>
  %0 = graph.conv %x, %w1 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x4x8x8xf32, #x>, tensor<4x4x3x3xf32>) -> tensor<?x4x8x8xf32, #x>
  %1 = graph.conv %x, %w2, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x4x8x8xf32, #x>, tensor<4x4x1x1xf32>, tensor<4xf32>) -> tensor<?x4x8x8xf32, #x>
  %2 = graph.conv %x, %w3 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x4x8x8xf32, #x>, tensor<4x4x3x3xf32>) -> tensor<?x4x8x8xf32, #x>
  %3 = graph.add %0, %y : (tensor<?x4x8x8xf32, #x>, tensor<?x4x8x8xf32, #x>) -> tensor<?x4x8x8xf32, #x>
  %4 = graph.add %3, %1 : (tensor<?x4x8x8xf32, #x>, tensor<?x4x8x8xf32, #x>) -> tensor<?x4x8x8xf32, #x>
  %5 = graph.add %2, %4 : (tensor<?x4x8x8xf32, #x>, tensor<?x4x8x8xf32, #x>) -> tensor<?x4x8x8xf32, #x>
  return %5 : tensor<?x4x8x8xf32, #x>
}

// -----

// A filter of two taps and one of dilated three: neither contains the other.
// CHECK-LABEL: func.func @outside(
// CHECK-COUNT-2: graph.conv
func.func @outside(%x: tensor<1x4x9xf32>) -> tensor<1x4x9xf32> {
  %w1 = graph.constant dense<1.0> : tensor<4x4x2xf32>
  %w2 = graph.constant dense<2.0> : tensor<4x4x3xf32>
  %0 = graph.conv %x, %w1 {strides = array<i64: 1>, pads = array<i64: 0, 1>, dilations = array<i64: 1>} : (tensor<1x4x9xf32>, tensor<4x4x2xf32>) -> tensor<1x4x9xf32>
  %1 = graph.conv %x, %w2 {strides = array<i64: 1>, pads = array<i64: 2, 2>, dilations = array<i64: 2>} : (tensor<1x4x9xf32>, tensor<4x4x3xf32>) -> tensor<1x4x9xf32>
  %2 = graph.add %0, %1 : (tensor<1x4x9xf32>, tensor<1x4x9xf32>) -> tensor<1x4x9xf32>
  return %2 : tensor<1x4x9xf32>
}

// -----

// Another input, another user, or another group each.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-4: graph.conv
func.func @others(%x: tensor<1x4x9xf32>, %y: tensor<1x4x9xf32>) -> (tensor<1x4x9xf32>, tensor<1x4x9xf32>) {
  %w1 = graph.constant dense<1.0> : tensor<4x4x1xf32>
  %w2 = graph.constant dense<2.0> : tensor<4x2x1xf32>
  %0 = graph.conv %x, %w1 {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x4x9xf32>, tensor<4x4x1xf32>) -> tensor<1x4x9xf32>
  %1 = graph.conv %y, %w1 {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x4x9xf32>, tensor<4x4x1xf32>) -> tensor<1x4x9xf32>
  %2 = graph.conv %x, %w2 {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 2 : i64} : (tensor<1x4x9xf32>, tensor<4x2x1xf32>) -> tensor<1x4x9xf32>
  %w3 = graph.constant dense<3.0> : tensor<4x4x1xf32>
  %3 = graph.conv %x, %w3 {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<1x4x9xf32>, tensor<4x4x1xf32>) -> tensor<1x4x9xf32>
  %4 = graph.add %0, %1 : (tensor<1x4x9xf32>, tensor<1x4x9xf32>) -> tensor<1x4x9xf32>
  %5 = graph.add %4, %2 : (tensor<1x4x9xf32>, tensor<1x4x9xf32>) -> tensor<1x4x9xf32>
  %6 = graph.add %5, %3 : (tensor<1x4x9xf32>, tensor<1x4x9xf32>) -> tensor<1x4x9xf32>
  return %6, %3 : tensor<1x4x9xf32>, tensor<1x4x9xf32>
}

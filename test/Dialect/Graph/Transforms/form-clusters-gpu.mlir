// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --graph-form-clusters --split-input-file | FileCheck %s

// Kernels of GPUs copy 16 bytes of the channels at once: a transposed image is stored
// first. The result is stored transposed.
// CHECK-LABEL: func.func @conv(
// CHECK: graph.cluster
// CHECK: graph.transpose
// CHECK-NEXT: graph.yield
// CHECK: graph.cluster
// CHECK-SAME: anchor "conv"
// CHECK-NOT: graph.transpose
// CHECK: graph.conv
// CHECK-NEXT: graph.transpose
// CHECK-NEXT: graph.yield
func.func @conv(%x: tensor<2x8x14x14xf16>) -> tensor<2x16x14x14xf16> {
  %w = graph.constant dense<1.0> : tensor<16x8x3x3xf16>
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x8x14x14xf16>) -> tensor<2x14x14x8xf16>
  %1 = graph.conv %0, %w {dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<2x14x14x8xf16>, tensor<16x8x3x3xf16>) -> tensor<2x14x14x16xf16>
  %2 = graph.transpose %1 {perm = array<i64: 0, 3, 1, 2>} : (tensor<2x14x14x16xf16>) -> tensor<2x16x14x14xf16>
  return %2 : tensor<2x16x14x14xf16>
}

// -----

// Three channels, and groups of channels, are read in the layout of the input.
// CHECK-LABEL: func.func @few(
// CHECK: graph.cluster(%{{.*}}) anchor "conv"
// CHECK-NEXT: graph.transpose
// CHECK: graph.conv
// CHECK: graph.cluster(%{{.*}}) anchor "conv"
// CHECK-NEXT: graph.transpose
// CHECK: graph.conv
func.func @few(%x: tensor<2x3x14x14xf32>, %y: tensor<2x8x14x14xf32>) -> (tensor<2x14x14x16xf32>, tensor<2x14x14x8xf32>) {
  %w = graph.constant dense<1.0> : tensor<16x3x3x3xf32>
  %v = graph.constant dense<1.0> : tensor<8x4x3x3xf32>
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x3x14x14xf32>) -> tensor<2x14x14x3xf32>
  %1 = graph.conv %0, %w {dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<2x14x14x3xf32>, tensor<16x3x3x3xf32>) -> tensor<2x14x14x16xf32>
  %2 = graph.transpose %y {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x8x14x14xf32>) -> tensor<2x14x14x8xf32>
  %3 = graph.conv %2, %v {dilations = array<i64: 1, 1>, group = 2 : i64, layout = #graph.layout<nhwc>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<2x14x14x8xf32>, tensor<8x4x3x3xf32>) -> tensor<2x14x14x8xf32>
  return %1, %3 : tensor<2x14x14x16xf32>, tensor<2x14x14x8xf32>
}

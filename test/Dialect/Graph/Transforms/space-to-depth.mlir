// RUN: aopt %s -tile-attach-targets="cuda=sm_90a" --graph-space-to-depth --split-input-file | FileCheck %s
// RUN: aopt %s -tile-attach-targets="cpu=znver4" --graph-space-to-depth --split-input-file | FileCheck %s --check-prefix=CPU

// CPU-NOT: graph.pad
// CPU-NOT: nhwc

// A stride of 2: four pixels of 3 + 1 channels are one of 16; 7 taps are 4 blocks. The
// batch may be dynamic.
// CHECK-LABEL: func.func @stem(
// CHECK: graph.pad {{.*}} {high = array<i64: 0, 1, 3, 3>, low = array<i64: 0, 0, 3, 3>} {{.*}} -> tensor<?x4x230x230xf16
// CHECK: graph.reshape {{.*}} -> tensor<?x4x115x2x115x2xf16
// CHECK: graph.transpose {{.*}} -> tensor<?x115x115x2x2x4xf16
// CHECK: %[[X:.*]] = graph.reshape {{.*}} -> tensor<?x115x115x16xf16
// CHECK: graph.pad {{.*}} {high = array<i64: 0, 1, 1, 1>, low = array<i64: 0, 0, 0, 0>} {{.*}} -> tensor<64x4x8x8xf16>
// CHECK: %[[W:.*]] = graph.reshape {{.*}} -> tensor<64x16x4x4xf16>
// CHECK: graph.conv %[[X]], %[[W]], %{{.*}} {{{.*}}layout = #graph.layout<nhwc>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} {{.*}} -> tensor<?x112x112x64xf16
// CHECK: graph.transpose {{.*}} {perm = array<i64: 0, 3, 1, 2>} {{.*}} -> tensor<?x64x112x112xf16
func.func @stem(%x: tensor<?x3x224x224xf16, affine_map<()[s0] -> (s0, 3, 224, 224)>>, %w: tensor<64x3x7x7xf16>, %b: tensor<64xf16>) -> tensor<?x64x112x112xf16, affine_map<()[s0] -> (s0, 64, 112, 112)>> {
  %0 = graph.conv %x, %w, %b {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>} : (tensor<?x3x224x224xf16, affine_map<()[s0] -> (s0, 3, 224, 224)>>, tensor<64x3x7x7xf16>, tensor<64xf16>) -> tensor<?x64x112x112xf16, affine_map<()[s0] -> (s0, 64, 112, 112)>>
  return %0 : tensor<?x64x112x112xf16, affine_map<()[s0] -> (s0, 64, 112, 112)>>
}

// -----

// Patches are pixels with all their elements.
// CHECK-LABEL: func.func @patches(
// CHECK: graph.conv {{.*}} : (tensor<1x14x14x768xf16>, tensor<192x768x1x1xf16>) -> tensor<1x14x14x192xf16>
func.func @patches(%x: tensor<1x3x224x224xf16>, %w: tensor<192x3x16x16xf16>) -> tensor<1x192x14x14xf16> {
  %0 = graph.conv %x, %w {strides = array<i64: 16, 16>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x224x224xf16>, tensor<192x3x16x16xf16>) -> tensor<1x192x14x14xf16>
  return %0 : tensor<1x192x14x14xf16>
}

// -----

// Not: enough channels; f32; groups; a dynamic height; windows of more than 64 channels.
// CHECK-LABEL: func.func @kept(
// CHECK-NOT: nhwc
// CHECK-NOT: graph.pad
func.func @kept(%a: tensor<1x16x8x8xf16>, %v: tensor<4x16x3x3xf16>, %b: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %c: tensor<1x4x8x8xf16>, %u: tensor<4x2x3x3xf16>, %d: tensor<1x3x?x8xf16, affine_map<()[s0] -> (1, 3, s0, 8)>>, %t: tensor<4x3x3x3xf16>, %e: tensor<1x3x32x32xf16>, %s: tensor<4x3x9x9xf16>) -> (tensor<1x4x8x8xf16>, tensor<1x4x8x8xf32>, tensor<1x4x8x8xf16>, tensor<1x4x?x8xf16, affine_map<()[s0] -> (1, 4, s0, 8)>>, tensor<1x4x6x6xf16>) {
  %0 = graph.conv %a, %v {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x16x8x8xf16>, tensor<4x16x3x3xf16>) -> tensor<1x4x8x8xf16>
  %1 = graph.conv %b, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  %2 = graph.conv %c, %u {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 2 : i64} : (tensor<1x4x8x8xf16>, tensor<4x2x3x3xf16>) -> tensor<1x4x8x8xf16>
  %3 = graph.conv %d, %t {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x3x?x8xf16, affine_map<()[s0] -> (1, 3, s0, 8)>>, tensor<4x3x3x3xf16>) -> tensor<1x4x?x8xf16, affine_map<()[s0] -> (1, 4, s0, 8)>>
  %4 = graph.conv %e, %s {strides = array<i64: 5, 5>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x3x32x32xf16>, tensor<4x3x9x9xf16>) -> tensor<1x4x6x6xf16>
  return %0, %1, %2, %3, %4 : tensor<1x4x8x8xf16>, tensor<1x4x8x8xf32>, tensor<1x4x8x8xf16>, tensor<1x4x?x8xf16, affine_map<()[s0] -> (1, 4, s0, 8)>>, tensor<1x4x6x6xf16>
}

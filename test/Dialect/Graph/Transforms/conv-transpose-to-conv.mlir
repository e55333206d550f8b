// RUN: aopt %s --graph-conv-transpose-to-conv --split-input-file | FileCheck %s

// Four phases of 3 channels are 12 channels of one convolution; its results are moved to
// their pixels, and those outside of the pads are dropped. The bias occurs 4 times.
// CHECK-LABEL: func.func @phases
// CHECK: %[[A:.*]] = graph.reshape %{{.*}} : (tensor<64x3x4x4xf32>) -> tensor<1x64x3x2x2x2x2xf32>
// CHECK: %[[T:.*]] = graph.reverse %[[A]] {axes = array<i64: 3, 5>}
// CHECK: %[[O:.*]] = graph.transpose %[[T]] {perm = array<i64: 0, 4, 6, 2, 1, 3, 5>}
// CHECK: %[[W:.*]] = graph.reshape %[[O]] : {{.*}} -> tensor<12x64x2x2xf32>
// CHECK: graph.broadcast_to %{{.*}} : (tensor<3xf32>) -> tensor<4x3xf32>
// CHECK: %[[C:.*]] = graph.conv %arg0, %[[W]], %{{.*}} {dilations = array<i64: 1, 1>, {{.*}}pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : {{.*}} -> tensor<1x12x33x33xf32>
// CHECK: %[[S:.*]] = graph.reshape %[[C]] : {{.*}} -> tensor<1x2x2x3x33x33xf32>
// CHECK: %[[P:.*]] = graph.transpose %[[S]] {perm = array<i64: 0, 3, 4, 1, 5, 2>}
// CHECK: %[[M:.*]] = graph.reshape %[[P]] : {{.*}} -> tensor<1x3x66x66xf32>
// CHECK: graph.pad %[[M]] {high = array<i64: 0, 0, -1, -1>, low = array<i64: 0, 0, -1, -1>} : {{.*}} -> tensor<1x3x64x64xf32>
func.func @phases(%x: tensor<1x64x32x32xf32>) -> tensor<1x3x64x64xf32> {
  %w = graph.constant dense<0.5> : tensor<64x3x4x4xf32>
  %b = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = graph.conv_transpose %x, %w, %b {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x64x32x32xf32>, tensor<64x3x4x4xf32>, tensor<3xf32>) -> tensor<1x3x64x64xf32>
  return %0 : tensor<1x3x64x64xf32>
}

// -----

// Without a stride: the pads are the remaining extent of the window. Groups stay.
// CHECK-LABEL: func.func @turned
// CHECK: graph.reverse %{{.*}} {axes = array<i64: 3, 5>} : (tensor<2x4x3x5x1x3x1xf32>)
// CHECK: graph.conv %arg0, %{{.*}} {dilations = array<i64: 1, 2>, group = 2 : i64, pads = array<i64: 3, 4, 2, 3>, strides = array<i64: 1, 1>} : (tensor<1x8x9x9xf32>, tensor<6x4x5x3xf32>) -> tensor<1x6x10x12xf32>
// CHECK-NEXT: return
func.func @turned(%x: tensor<1x8x9x9xf32>) -> tensor<1x6x10x12xf32> {
  %w = graph.constant dense<0.5> : tensor<8x3x5x3xf32>
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 0, 2, 1>, dilations = array<i64: 1, 2>, output_padding = array<i64: 0, 0>, group = 2 : i64} : (tensor<1x8x9x9xf32>, tensor<8x3x5x3xf32>) -> tensor<1x6x10x12xf32>
  return %0 : tensor<1x6x10x12xf32>
}

// -----

// Dynamic sizes.
// CHECK-DAG: #[[Y:.*]] = affine_map<()[s0, s1] -> (s0, 2, s1 * 8)>
// CHECK-DAG: #[[C:.*]] = affine_map<()[s0, s1] -> (s0, 16, s1)>
// CHECK-LABEL: func.func @dynamic
// CHECK: graph.conv {{.*}} -> tensor<?x16x?xf32, #[[C]]>
// CHECK: graph.reshape {{.*}} -> tensor<?x2x?xf32, #[[Y]]>
// CHECK-NOT: conv_transpose
#x = affine_map<()[s0, s1] -> (s0, 32, s1)>
#y = affine_map<()[s0, s1] -> (s0, 2, s1 * 8)>
func.func @dynamic(%x: tensor<?x32x?xf32, #x>) -> tensor<?x2x?xf32, #y> attributes {graph.symbols = ["n", "length"]} {
  %w = graph.constant dense<0.5> : tensor<32x2x8xf32>
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 8>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>} : (tensor<?x32x?xf32, #x>, tensor<32x2x8xf32>) -> tensor<?x2x?xf32, #y>
  return %0 : tensor<?x2x?xf32, #y>
}

// -----

// Enough channels for the lanes; taps of some phases only (others would multiply by
// zeros, and infinity times 0 is NaN); results of the bias alone; a filter of unknown
// values.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-4: graph.conv_transpose
func.func @kept(%x: tensor<1x64x8x8xf32>, %w3: tensor<64x3x4x4xf32>) -> (tensor<1x32x16x16xf32>, tensor<1x3x17x17xf32>, tensor<1x3x19x19xf32>, tensor<1x3x18x18xf32>) {
  %w0 = graph.constant dense<0.5> : tensor<64x32x2x2xf32>
  %w1 = graph.constant dense<0.5> : tensor<64x3x3x3xf32>
  %w2 = graph.constant dense<0.5> : tensor<64x3x4x4xf32>
  %0 = graph.conv_transpose %x, %w0 {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x64x8x8xf32>, tensor<64x32x2x2xf32>) -> tensor<1x32x16x16xf32>
  %1 = graph.conv_transpose %x, %w1 {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x64x8x8xf32>, tensor<64x3x3x3xf32>) -> tensor<1x3x17x17xf32>
  %2 = graph.conv_transpose %x, %w2 {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 1, 1>} : (tensor<1x64x8x8xf32>, tensor<64x3x4x4xf32>) -> tensor<1x3x19x19xf32>
  %3 = graph.conv_transpose %x, %w3 {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x64x8x8xf32>, tensor<64x3x4x4xf32>) -> tensor<1x3x18x18xf32>
  return %0, %1, %2, %3 : tensor<1x32x16x16xf32>, tensor<1x3x17x17xf32>, tensor<1x3x19x19xf32>, tensor<1x3x18x18xf32>
}

// -----

// A kernel larger than the image: most of the windows would be padding. An empty image,
// an empty result.
// CHECK-LABEL: func.func @small
// CHECK-COUNT-3: graph.conv_transpose
func.func @small(%x: tensor<1x100x1x1xf32>, %z: tensor<1x100x8x0xf32>) -> (tensor<1x8x4x4xf32>, tensor<1x8x11x0xf32>, tensor<1x8x2x0xf32>) {
  %w = graph.constant dense<0.5> : tensor<100x8x4x4xf32>
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x100x1x1xf32>, tensor<100x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %1 = graph.conv_transpose %z, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 1, 0, 2>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x100x8x0xf32>, tensor<100x8x4x4xf32>) -> tensor<1x8x11x0xf32>
  %2 = graph.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 2, 1, 2>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x100x1x1xf32>, tensor<100x8x4x4xf32>) -> tensor<1x8x2x0xf32>
  return %0, %1, %2 : tensor<1x8x4x4xf32>, tensor<1x8x11x0xf32>, tensor<1x8x2x0xf32>
}

// RUN: aopt %s -tile-attach-targets="cpu=sapphirerapids" --graph-space-to-depth | FileCheck %s
// RUN: aopt %s -tile-attach-targets="cpu=znver4" --graph-space-to-depth | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: graph.pad

// On CPUs with a matrix unit (AMX), if there are many taps.
// CHECK-LABEL: func.func @bf16_stem(
// CHECK: graph.pad {{.*}} -> tensor<1x4x230x230xbf16>
// The channels of a pixel are moved together, and then the lines of blocks.
// CHECK: graph.transpose {{.*}} {perm = array<i64: 0, 2, 3, 1>} {{.*}} -> tensor<1x230x230x4xbf16>
// CHECK: graph.reshape {{.*}} -> tensor<1x115x2x115x8xbf16>
// CHECK: graph.transpose {{.*}} {perm = array<i64: 0, 1, 3, 2, 4>} {{.*}} -> tensor<1x115x115x2x8xbf16>
// The four taps of a row are channels of one pixel.
// CHECK-COUNT-4: graph.slice {{.*}} (tensor<1x115x115x16xbf16>) -> tensor<1x115x112x16xbf16>
// CHECK: graph.concat {{.*}} -> tensor<1x115x112x64xbf16>
// CHECK: graph.conv {{.*}}nhwc{{.*}} : (tensor<1x115x112x64xbf16>, tensor<64x64x4x1xbf16>) -> tensor<1x112x112x64xf32>
// CHECK-LABEL: func.func @few_taps(
// CHECK-NOT: graph.pad
// CHECK-LABEL: func.func @bytes(
// CHECK: graph.concat {{.*}} -> tensor<2x115x112x64xui8>
// CHECK: graph.conv {{.*}} : (tensor<2x115x112x64xui8>, tensor<64x64x4x1xi8>) -> tensor<2x112x112x64xi32>
// Rows of taps with more channels than fill the unit twice stay separate.
// CHECK-LABEL: func.func @long_rows(
// CHECK-NOT: graph.concat
// CHECK: graph.conv {{.*}} : (tensor<1x35x35x16xbf16>, tensor<64x16x6x6xbf16>) -> tensor<1x30x30x64xf32>
// Signed bytes, and a dynamic height.
// CHECK-LABEL: func.func @signed_bytes(
// CHECK-NOT: graph.concat
// CHECK-LABEL: func.func @dynamic(
// CHECK-NOT: graph.concat
func.func @bf16_stem(%x: tensor<1x3x224x224xbf16>, %w: tensor<64x3x7x7xbf16>) -> tensor<1x64x112x112xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>, wide_result} : (tensor<1x3x224x224xbf16>, tensor<64x3x7x7xbf16>) -> tensor<1x64x112x112xf32>
  return %0 : tensor<1x64x112x112xf32>
}
func.func @few_taps(%x: tensor<1x3x224x224xbf16>, %w: tensor<64x3x3x3xbf16>) -> tensor<1x64x112x112xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, wide_result} : (tensor<1x3x224x224xbf16>, tensor<64x3x3x3xbf16>) -> tensor<1x64x112x112xf32>
  return %0 : tensor<1x64x112x112xf32>
}
func.func @bytes(%x: tensor<2x4x230x230xui8>, %w: tensor<64x4x7x7xi8>) -> tensor<2x64x112x112xi32> {
  %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x4x230x230xui8>, tensor<64x4x7x7xi8>) -> tensor<2x64x112x112xi32>
  return %0 : tensor<2x64x112x112xi32>
}
func.func @long_rows(%x: tensor<1x3x70x70xbf16>, %w: tensor<64x3x11x11xbf16>) -> tensor<1x64x30x30xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, wide_result} : (tensor<1x3x70x70xbf16>, tensor<64x3x11x11xbf16>) -> tensor<1x64x30x30xf32>
  return %0 : tensor<1x64x30x30xf32>
}
func.func @signed_bytes(%x: tensor<1x4x230x230xi8>, %w: tensor<64x4x7x7xi8>) -> tensor<1x64x112x112xi8> {
  %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x230x230xi8>, tensor<64x4x7x7xi8>) -> tensor<1x64x112x112xi8>
  return %0 : tensor<1x64x112x112xi8>
}
#n = affine_map<()[s0] -> (1, 4, 2 * s0, 230)>
#m = affine_map<()[s0] -> (1, 64, s0 - 3, 112)>
func.func @dynamic(%x: tensor<1x4x?x230xui8, #n>, %w: tensor<64x4x7x7xi8>) -> tensor<1x64x?x112xi32, #m> attributes {graph.symbols = ["h"]} {
  %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x?x230xui8, #n>, tensor<64x4x7x7xi8>) -> tensor<1x64x?x112xi32, #m>
  return %0 : tensor<1x64x?x112xi32, #m>
}

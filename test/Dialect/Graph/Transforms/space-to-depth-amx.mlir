// RUN: aopt %s -tile-attach-targets="cpu=sapphirerapids" --graph-space-to-depth | FileCheck %s
// RUN: aopt %s -tile-attach-targets="cpu=znver4" --graph-space-to-depth | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: graph.pad

// On CPUs by the unit that multiplies matrices (AMX), if there are many taps.
// CHECK-LABEL: func.func @bf16_stem(
// CHECK: graph.pad {{.*}} -> tensor<1x4x230x230xbf16>
// CHECK: graph.conv {{.*}}nhwc{{.*}} : (tensor<1x115x115x16xbf16>, tensor<64x16x4x4xbf16>) -> tensor<1x112x112x64xf32>
// CHECK-LABEL: func.func @few_taps(
// CHECK-NOT: graph.pad
func.func @bf16_stem(%x: tensor<1x3x224x224xbf16>, %w: tensor<64x3x7x7xbf16>) -> tensor<1x64x112x112xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>, wide_result} : (tensor<1x3x224x224xbf16>, tensor<64x3x7x7xbf16>) -> tensor<1x64x112x112xf32>
  return %0 : tensor<1x64x112x112xf32>
}
func.func @few_taps(%x: tensor<1x3x224x224xbf16>, %w: tensor<64x3x3x3xbf16>) -> tensor<1x64x112x112xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, wide_result} : (tensor<1x3x224x224xbf16>, tensor<64x3x3x3xbf16>) -> tensor<1x64x112x112xf32>
  return %0 : tensor<1x64x112x112xf32>
}

// Scheduled convolutions against the interpreter: boxes of pixels with strides and zeros
// beyond the image, in the forms of a stage with 64, 16 and 24 channels, and in tf32.
// DEFINE: %{channels} =
// DEFINE: %{emulate} = sed -e '%{channels}' %s | aopt --convert-graph-to-tile --tile-choose-schedule | cuda-emulate - --tolerance=1e-3 | FileCheck %s
// CHECK: conv: {{.*}} programs of 256 threads agree

// RUN: %{emulate}
// REDEFINE: %{channels} = s/18x64xf16/18x16xf16/g; s/64x64x3x3/64x16x3x3/g
// RUN: %{emulate}
// REDEFINE: %{channels} = s/18x64xf16/18x24xf16/g; s/64x64x3x3/64x24x3x3/g
// RUN: %{emulate}
// REDEFINE: %{channels} = s/xf16>/xf32>/g; s/f16 [*] f16 + f32, .64, 256, 16./tf32 * tf32 + f32, [64, 256, 8]/; s/{strides/{graph.precision = tf32, strides/
// RUN: %{emulate}
// REDEFINE: %{channels} = s/2, 2>, pads/1, 1>, pads/; s/8x9x64/15x18x64/g
// RUN: %{emulate}

module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
    units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>]} {
  func.func @main(%x: tensor<2x15x18x64xf16>) -> tensor<2x8x9x64xf16> {
    %w = graph.constant dense<1.0> : tensor<64x64x3x3xf16>
    %0 = host.launch @conv(%x, %w) : (tensor<2x15x18x64xf16>, tensor<64x64x3x3xf16>) -> tensor<2x8x9x64xf16>
    return %0 : tensor<2x8x9x64xf16>
  }
  func.func private @conv(%x: tensor<2x15x18x64xf16>, %w: tensor<64x64x3x3xf16>) -> tensor<2x8x9x64xf16> attributes {adze.kernel} {
    %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x15x18x64xf16>, tensor<64x64x3x3xf16>) -> tensor<2x8x9x64xf16>
    return %0 : tensor<2x8x9x64xf16>
  }
}

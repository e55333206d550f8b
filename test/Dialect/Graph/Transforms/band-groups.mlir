// RUN: split-file %s %t
// RUN: aopt %t/cases.mlir -tile-attach-targets="cuda=sm_90a" --graph-band-groups | FileCheck %t/cases.mlir
// RUN: aopt %t/cases.mlir -tile-attach-targets="cpu=znver4" --graph-band-groups | FileCheck %t/cases.mlir --check-prefix=CPU
// The groups of an f32 convolution are multiplied in the type of --precision.
// RUN: aopt %t/wide.mlir -tile-attach-targets="cuda=sm_80" --graph-set-precision="type=bf16" --graph-band-groups | FileCheck %t/wide.mlir
// RUN: aopt %t/wide.mlir -tile-attach-targets="cuda=sm_80" --graph-set-precision="type=tf32" --graph-band-groups | FileCheck %t/wide.mlir --check-prefix=TF32

// Both forms of a convolution are run on the CPU.
// RUN: aopt %t/run.mlir -tile-attach-targets="cuda=sm_90a" --graph-band-groups | sed 's/^module attributes.*/module {/' > %t/band.mlir
// RUN: FileCheck %t/run.mlir < %t/band.mlir
// RUN: atranslate %t/run.mlir -O0 -o %t/run.so && atranslate %t/band.mlir -O0 -o %t/band.so && atranslate %t/band.mlir -O2 -o %t/band2.so
// RUN: arun %t/run.so --random --output-dir %t
// RUN: for m in band band2; do arun %t/$m.so --random --range-tol 1e-3 --expect y=%t/y.npy || exit 1; done

//--- cases.mlir
// CPU-NOT: band
// 8 groups of 8 channels fill 64 columns. The batch may be dynamic.
// CHECK-LABEL: func.func @whole(
// CHECK: graph.concat {{.*}} -> tensor<256x64x3x3xf16>
// CHECK: graph.select {{.*}} : (tensor<256x64x1x1xi1>, tensor<256x64x3x3xf16>, tensor<f16>)
// CHECK: graph.conv {{.*}}band = 64 : i64{{.*}}group = 32
// 64 outputs are those of up to 4 groups of 24 channels.
// CHECK-LABEL: func.func @across(
// CHECK: graph.slice {{.*}} -> tensor<168x96x3x3xf16>
// CHECK: graph.conv {{.*}}band = 64 : i64{{.*}} tensor<168x96x3x3xf16>
// Wide groups have their own channels, and their filter remains.
// CHECK-LABEL: func.func @wide(
// CHECK-NOT: graph.select
// CHECK: graph.conv {{.*}}band = 256 : i64{{.*}} tensor<512x256x3x3xf16>
// Depthwise convolutions, and groups that begin within 16 bytes.
// CHECK-LABEL: func.func @depthwise(
// CHECK-NOT: band
// CHECK-LABEL: func.func @unaligned(
// CHECK-NOT: band
func.func @whole(%x: tensor<?x256x14x14xf16, affine_map<()[s0] -> (s0, 256, 14, 14)>>) -> tensor<?x256x14x14xf16, affine_map<()[s0] -> (s0, 256, 14, 14)>> {
  %w = graph.constant dense<1.0> : tensor<256x8x3x3xf16>
  %y = graph.conv %x, %w {dilations = array<i64: 1, 1>, group = 32 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<?x256x14x14xf16, affine_map<()[s0] -> (s0, 256, 14, 14)>>, tensor<256x8x3x3xf16>) -> tensor<?x256x14x14xf16, affine_map<()[s0] -> (s0, 256, 14, 14)>>
  return %y : tensor<?x256x14x14xf16, affine_map<()[s0] -> (s0, 256, 14, 14)>>
}
func.func @across(%x: tensor<1x168x14x14xf16>) -> tensor<1x168x14x14xf16> {
  %w = graph.constant dense<1.0> : tensor<168x24x3x3xf16>
  %y = graph.conv %x, %w {dilations = array<i64: 1, 1>, group = 7 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x168x14x14xf16>, tensor<168x24x3x3xf16>) -> tensor<1x168x14x14xf16>
  return %y : tensor<1x168x14x14xf16>
}
func.func @wide(%x: tensor<1x512x14x14xf16>) -> tensor<1x512x14x14xf16> {
  %w = graph.constant dense<1.0> : tensor<512x256x3x3xf16>
  %y = graph.conv %x, %w {dilations = array<i64: 1, 1>, group = 2 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x512x14x14xf16>, tensor<512x256x3x3xf16>) -> tensor<1x512x14x14xf16>
  return %y : tensor<1x512x14x14xf16>
}
func.func @depthwise(%x: tensor<1x128x14x14xf16>) -> tensor<1x128x14x14xf16> {
  %w = graph.constant dense<1.0> : tensor<128x1x3x3xf16>
  %y = graph.conv %x, %w {dilations = array<i64: 1, 1>, group = 128 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x128x14x14xf16>, tensor<128x1x3x3xf16>) -> tensor<1x128x14x14xf16>
  return %y : tensor<1x128x14x14xf16>
}
func.func @unaligned(%x: tensor<1x72x14x14xf16>) -> tensor<1x72x14x14xf16> {
  %w = graph.constant dense<1.0> : tensor<72x36x3x3xf16>
  %y = graph.conv %x, %w {dilations = array<i64: 1, 1>, group = 2 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x72x14x14xf16>, tensor<72x36x3x3xf16>) -> tensor<1x72x14x14xf16>
  return %y : tensor<1x72x14x14xf16>
}

//--- wide.mlir
// CHECK: graph.conv {{.*}}band = 64 : i64{{.*}} (tensor<1x256x14x14xbf16>, tensor<256x64x3x3xbf16>) -> tensor<1x256x14x14xf32>
// TF32: graph.conv {{.*}}band = 64 : i64{{.*}} (tensor<1x256x14x14xf32>, tensor<256x64x3x3xf32>) -> tensor<1x256x14x14xf32>
func.func @main(%x: tensor<1x256x14x14xf32>) -> tensor<1x256x14x14xf32> {
  %w = graph.constant dense<1.0> : tensor<256x8x3x3xf32>
  %y = graph.conv %x, %w {dilations = array<i64: 1, 1>, group = 32 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x256x14x14xf32>, tensor<256x8x3x3xf32>) -> tensor<1x256x14x14xf32>
  return %y : tensor<1x256x14x14xf32>
}

//--- run.mlir
// CHECK: graph.conv {{.*}}band = 64 : i64{{.*}} tensor<144x128x3x3xf16>
func.func @main(%x: tensor<2x192x5x5xf16> {graph.name = "x"}) -> (tensor<2x144x5x5xf16> {graph.name = "y"}) {
  %o = graph.constant dense<"0x00BF00BE00BE003A00BA0034000000B800BF00BA003D003C0040003A003E0040000000BF00C0003A003E0038003C003D004000BA00BA00B400B400C000BA003800BA00BC00400040003A004000BA003E003D0040003A003A003A003E00BA003C003E004000B4003F0000003F00400040003A003E003E003A003E003F00B4003800BA0000003F00340034004000400040003D003400B8003F0040003A00BE003800C000B800BD00BF00BF000000B400BD004000BC000000B400B800BF003D00BF00BF003A003A00BA00B400C000BE00BD00BE00C000BF00C0003A000000BC00BA00BA004000C0003C00BF00B400BC00BF00C0003A00BD00340038003F00C00034003E00BF0000003C00BC003F00B400BE003800BD00C0003E00BC0040003C003F"> : tensor<144x1x1x1xf16>
  %i = graph.constant dense<"0x003F00BF0034003C00BA00BA004000B400C000B800B4003C0040003A003A003E000000C0003C004000BC004000B8003D00BF003F003A00B80040003D003F003A"> : tensor<1x32x1x1xf16>
  %k = graph.constant dense<"0x003D003A00C00038003E00C000B400BA00BA"> : tensor<1x1x3x3xf16>
  %0 = graph.add %o, %i : (tensor<144x1x1x1xf16>, tensor<1x32x1x1xf16>) -> tensor<144x32x1x1xf16>
  %w = graph.mul %0, %k : (tensor<144x32x1x1xf16>, tensor<1x1x3x3xf16>) -> tensor<144x32x3x3xf16>
  %y = graph.conv %x, %w {dilations = array<i64: 1, 1>, group = 6 : i64, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<2x192x5x5xf16>, tensor<144x32x3x3xf16>) -> tensor<2x144x5x5xf16>
  return %y : tensor<2x144x5x5xf16>
}

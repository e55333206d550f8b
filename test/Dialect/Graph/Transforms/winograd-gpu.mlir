// RUN: split-file %s %t
// RUN: aopt %t/cases.mlir -tile-attach-targets="cuda=sm_90a" --graph-winograd | FileCheck %t/cases.mlir
// RUN: aopt %t/cases.mlir -tile-attach-targets="cuda=sm_90a" --graph-set-precision="type=tf32" --graph-winograd | FileCheck %t/cases.mlir --check-prefix=TF32
// RUN: aopt %t/run.mlir -tile-attach-targets="cuda=sm_90a" --graph-winograd="tile=2" | FileCheck %t/run.mlir --check-prefix=SMALL

// The ops are run on the CPU, by loops and as tiles, and compared with the convolution.
// RUN: for t in 2 4; do aopt %t/run.mlir -tile-attach-targets="cuda=sm_90a" --graph-winograd="tile=$t" | sed 's/^module attributes.*/module {/' > %t/$t.mlir && atranslate %t/$t.mlir -O0 -o %t/$t.0.so && atranslate %t/$t.mlir -O2 -o %t/$t.2.so || exit 1; done
// RUN: atranslate %t/run.mlir -O0 -o %t/run.so && arun %t/run.so --random --output-dir %t
// RUN: for m in 2.0 2.2 4.0 4.2; do arun %t/$m.so --random --range-tol 2e-6 --expect y=%t/y.npy || exit 1; done

//--- cases.mlir
// TF32-NOT: winograd
// Patches of all images are rows of one product. The number of images may be dynamic.
// CHECK-LABEL: func.func @images(
// CHECK: graph.winograd_input {{.*}} {pads = array<i64: 1, 1, 1, 1>, tile = 4 : i64} : (tensor<32x14x14x256xf32>) -> tensor<36x32x4x4x256xf32>
// CHECK: graph.winograd_filter {{.*}} -> tensor<36x256x128xf32>
// CHECK: graph.reshape {{.*}} -> tensor<36x512x256xf32>
// CHECK: graph.matmul {{.*}} -> tensor<36x512x128xf32>
// CHECK: graph.reshape {{.*}} -> tensor<36x32x4x4x128xf32>
// CHECK: graph.winograd_output {{.*}} {size = array<i64: 14, 14>, tile = 4 : i64} : {{.*}} -> tensor<32x14x14x128xf32>
// CHECK-LABEL: func.func @batch(
// CHECK: graph.winograd_output {{.*}} -> tensor<?x14x14x128xf32
// Few pixels, images of dynamic size, units for narrow elements, and patches that would take
// more than a GiB.
// CHECK-LABEL: func.func @few(
// CHECK-NOT: winograd
// CHECK-LABEL: func.func @dynamic(
// CHECK-NOT: winograd
// CHECK-LABEL: func.func @narrow(
// CHECK-NOT: winograd
// CHECK-LABEL: func.func @large(
// CHECK-NOT: winograd
func.func @images(%x: tensor<32x14x14x256xf32>) -> tensor<32x14x14x128xf32> {
  %w = graph.constant dense<0.5> : tensor<128x256x3x3xf32>
  %y = graph.conv %x, %w {dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<32x14x14x256xf32>, tensor<128x256x3x3xf32>) -> tensor<32x14x14x128xf32>
  return %y : tensor<32x14x14x128xf32>
}
func.func @batch(%x: tensor<?x14x14x256xf32, affine_map<()[s0] -> (s0, 14, 14, 256)>>) -> tensor<?x14x14x128xf32, affine_map<()[s0] -> (s0, 14, 14, 128)>> {
  %w = graph.constant dense<0.5> : tensor<128x256x3x3xf32>
  %y = graph.conv %x, %w {dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<?x14x14x256xf32, affine_map<()[s0] -> (s0, 14, 14, 256)>>, tensor<128x256x3x3xf32>) -> tensor<?x14x14x128xf32, affine_map<()[s0] -> (s0, 14, 14, 128)>>
  return %y : tensor<?x14x14x128xf32, affine_map<()[s0] -> (s0, 14, 14, 128)>>
}
func.func @few(%x: tensor<1x14x14x64xf32>) -> tensor<1x14x14x64xf32> {
  %w = graph.constant dense<0.5> : tensor<64x64x3x3xf32>
  %y = graph.conv %x, %w {dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x14x14x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x14x14x64xf32>
  return %y : tensor<1x14x14x64xf32>
}
func.func @dynamic(%x: tensor<32x?x14x256xf32, affine_map<()[s0] -> (32, s0, 14, 256)>>) -> tensor<32x?x14x128xf32, affine_map<()[s0] -> (32, s0, 14, 128)>> {
  %w = graph.constant dense<0.5> : tensor<128x256x3x3xf32>
  %y = graph.conv %x, %w {dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<32x?x14x256xf32, affine_map<()[s0] -> (32, s0, 14, 256)>>, tensor<128x256x3x3xf32>) -> tensor<32x?x14x128xf32, affine_map<()[s0] -> (32, s0, 14, 128)>>
  return %y : tensor<32x?x14x128xf32, affine_map<()[s0] -> (32, s0, 14, 128)>>
}
func.func @narrow(%x: tensor<32x14x14x256xf16>) -> tensor<32x14x14x128xf16> {
  %w = graph.constant dense<0.5> : tensor<128x256x3x3xf16>
  %y = graph.conv %x, %w {dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<32x14x14x256xf16>, tensor<128x256x3x3xf16>) -> tensor<32x14x14x128xf16>
  return %y : tensor<32x14x14x128xf16>
}
func.func @large(%x: tensor<64x512x512x64xf32>) -> tensor<64x512x512x64xf32> {
  %w = graph.constant dense<0.5> : tensor<64x64x3x3xf32>
  %y = graph.conv %x, %w {dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<64x512x512x64xf32>, tensor<64x64x3x3xf32>) -> tensor<64x512x512x64xf32>
  return %y : tensor<64x512x512x64xf32>
}

//--- run.mlir
// Pads differ, and the last patches have pixels out of bounds.
// SMALL: graph.winograd_input {{.*}} -> tensor<16x2x3x4x5xf32>
// SMALL: graph.winograd_output {{.*}} {size = array<i64: 5, 8>, tile = 2 : i64}
func.func @main(%x: tensor<2x6x9x5xf32> {graph.name = "x"}) -> (tensor<2x5x8x6xf32> {graph.name = "y"}) {
  %o = graph.constant dense<"0x000080BE000080BF0000403F0000E03F0000C0BF000000C0"> : tensor<6x1x1x1xf32>
  %i = graph.constant dense<"0x0000E03F00000000000080BE000000BF0000E03F"> : tensor<1x5x1x1xf32>
  %k = graph.constant dense<"0x0000E03F0000803F000080BF000080BE000080BF000000400000803F000000C00000C0BF"> : tensor<1x1x3x3xf32>
  %b = graph.constant dense<"0x000040BF0000E0BF0000803E000000C0000000000000E03F"> : tensor<6xf32>
  %0 = graph.add %o, %i : (tensor<6x1x1x1xf32>, tensor<1x5x1x1xf32>) -> tensor<6x5x1x1xf32>
  %w = graph.mul %0, %k : (tensor<6x5x1x1xf32>, tensor<1x1x3x3xf32>) -> tensor<6x5x3x3xf32>
  %y = graph.conv %x, %w, %b {dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>, pads = array<i64: 1, 0, 0, 1>, strides = array<i64: 1, 1>} : (tensor<2x6x9x5xf32>, tensor<6x5x3x3xf32>, tensor<6xf32>) -> tensor<2x5x8x6xf32>
  return %y : tensor<2x5x8x6xf32>
}

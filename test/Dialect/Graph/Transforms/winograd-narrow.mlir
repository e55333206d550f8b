// Convolutions of bf16 and f16 by tiles of 2. A filter of f32 that is rounded to bf16 is
// transformed before, when the model is compiled: the result is no larger. If a vector unit multiplies them, the channels fill its groups. A matrix unit needs
// less time than the transforms.
// RUN: aopt %s --tile-attach-targets="cpu=znver4" --graph-winograd --split-input-file | FileCheck %s
// RUN: aopt %s --tile-attach-targets="cpu=x86-64-v4" --graph-winograd --split-input-file | FileCheck %s --check-prefix=V4
// RUN: aopt %s --tile-attach-targets="cpu=sapphirerapids" --graph-winograd --split-input-file | FileCheck %s --check-prefix=AMX
// RUN: aopt %s --tile-attach-targets="cpu=znver4" --graph-winograd=tile=4 --split-input-file | FileCheck %s --check-prefix=FOUR
// AMX-NOT: winograd_conv {{.*}}bf16
// FOUR-NOT: winograd_conv

// CHECK-LABEL: func.func @wide
// CHECK-DAG: %[[W:.*]] = graph.constant dense<5.000000e-01> : tensor<64x64x3x3xf32>
// CHECK: %[[FLAT:.*]] = graph.reshape %[[W]] : (tensor<64x64x3x3xf32>) -> tensor<4096x9xf32>
// CHECK: graph.matmul %[[FLAT]], %{{.*}} {transpose_b = true} : (tensor<4096x9xf32>, tensor<16x9xf32>)
// CHECK: %[[U:.*]] = graph.transpose {{.*}} -> tensor<16x64x64xf32>
// CHECK: %[[N:.*]] = graph.cast %[[U]] : (tensor<16x64x64xf32>) -> tensor<16x64x64xbf16>
// CHECK: %[[Y:.*]] = graph.winograd_conv %arg0, %[[N]] {pads = array<i64: 1, 1, 1, 1>, tile = 2 : i64, wide_result} {{.*}} -> tensor<1x28x28x64xf32>
// CHECK: graph.add %[[Y]], %arg1
func.func @wide(%x: tensor<1x28x28x64xbf16>, %b: tensor<64xf32>) -> tensor<1x28x28x64xf32> {
  %w = graph.constant dense<0.5> : tensor<64x64x3x3xf32>
  %n = graph.cast %w : (tensor<64x64x3x3xf32>) -> tensor<64x64x3x3xbf16>
  %0 = graph.conv %x, %n, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>, wide_result} : (tensor<1x28x28x64xbf16>, tensor<64x64x3x3xbf16>, tensor<64xf32>) -> tensor<1x28x28x64xf32>
  return %0 : tensor<1x28x28x64xf32>
}

// -----

// A model of bf16 has results of bf16. The size of the image is dynamic: the taps follow.
#x = affine_map<()[s0, s1] -> (1, s0, s1, 64)>
// CHECK-LABEL: func.func @dynamic
// CHECK: graph.transform_filter %{{.*}} {matrix = dense<{{.*}}> : tensor<25x9xf32>} : (tensor<64x64x3x3xbf16>) -> tensor<25x64x64xbf16>
// CHECK: graph.winograd_conv {{.*}}tile = 2 : i64} {{.*}} -> tensor<1x?x?x64xbf16, #{{.*}}>
func.func @dynamic(%x: tensor<1x?x?x64xbf16, #x>) -> tensor<1x?x?x64xbf16, #x> {
  %w = graph.constant dense<0.5> : tensor<64x64x3x3xbf16>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x?x?x64xbf16, #x>, tensor<64x64x3x3xbf16>) -> tensor<1x?x?x64xbf16, #x>
  return %0 : tensor<1x?x?x64xbf16, #x>
}

// -----

// A unit multiplies groups of two channels of bf16, none multiplies f16.
// CHECK-LABEL: func.func @others
// CHECK-NOT: winograd_conv {{.*}}bf16
// CHECK: graph.winograd_conv {{.*}}tile = 2 : i64} : (tensor<1x28x28x64xf16>, tensor<16x64x64xf16>) -> tensor<1x28x28x64xf16>
// V4-LABEL: func.func @others
// V4: graph.winograd_conv {{.*}}tile = 2 : i64} : (tensor<1x28x28x63xbf16>, tensor<16x63x64xbf16>) -> tensor<1x28x28x64xbf16>
// V4: graph.winograd_conv {{.*}}tile = 2 : i64} : (tensor<1x28x28x64xf16>
// AMX-LABEL: func.func @others
// AMX: graph.winograd_conv {{.*}}tile = 2 : i64} : (tensor<1x28x28x64xf16>
// AMX-NOT: winograd_conv {{.*}}bf16
func.func @others(%x: tensor<1x28x28x63xbf16>, %h: tensor<1x28x28x64xf16>) -> (tensor<1x28x28x64xbf16>, tensor<1x28x28x64xf16>) {
  %w = graph.constant dense<0.5> : tensor<64x63x3x3xbf16>
  %v = graph.constant dense<0.5> : tensor<64x64x3x3xf16>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x28x28x63xbf16>, tensor<64x63x3x3xbf16>) -> tensor<1x28x28x64xbf16>
  %1 = graph.conv %h, %v {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x28x28x64xf16>, tensor<64x64x3x3xf16>) -> tensor<1x28x28x64xf16>
  return %0, %1 : tensor<1x28x28x64xbf16>, tensor<1x28x28x64xf16>
}

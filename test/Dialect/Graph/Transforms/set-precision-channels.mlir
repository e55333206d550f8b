// RUN: aopt %s -tile-attach-targets="cpu=znver4" --graph-set-precision --split-input-file | FileCheck %s
// RUN: aopt %s -tile-attach-targets="cpu=sapphirerapids" --graph-set-precision --split-input-file | FileCheck %s --check-prefix=AMX

// Channels of an image that are padded to whole groups, where products of groups
// remain faster. The pads of the convolution become part of the copy. Matrix
// units would mostly multiply padding.
// CHECK-LABEL: func.func @stem(
// CHECK-SAME: %[[X:.*]]: tensor<1x3x9x10xf32>
// CHECK-DAG: %[[W:.*]] = graph.pad %{{.*}} {high = array<i64: 0, 1, 0, 0>, low = array<i64: 0, 0, 0, 0>} : (tensor<6x3x3x3xf32>) -> tensor<6x4x3x3xf32>
// CHECK-DAG: %[[P:.*]] = graph.pad %[[X]] {high = array<i64: 0, 1, 2, 3>, low = array<i64: 0, 0, 1, 0>} : (tensor<1x3x9x10xf32>) -> tensor<1x4x12x13xf32>
// CHECK-DAG: graph.cast %[[P]]
// CHECK-DAG: graph.cast %[[W]]
// CHECK: graph.conv {{.*}}pads = array<i64: 0, 0, 0, 0>{{.*}}wide_result{{.*}} : (tensor<1x4x12x13xbf16>, tensor<6x4x3x3xbf16>) -> tensor<1x6x5x6xf32>
// AMX-LABEL: func.func @stem(
// AMX-NOT: graph.pad
// AMX: graph.conv {{.*}} : (tensor<1x3x9x10xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x5x6xf32>
func.func @stem(%x: tensor<1x3x9x10xf32>) -> tensor<1x6x5x6xf32> {
  %w = graph.constant dense<0.5> : tensor<6x3x3x3xf32>
  %y = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 0, 2, 3>, dilations = array<i64: 1, 1>} : (tensor<1x3x9x10xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x5x6xf32>
  return %y : tensor<1x6x5x6xf32>
}

// -----

// CHECK-LABEL: func.func @dynamic(
// CHECK: graph.conv {{.*}}pads = array<i64: 0, 0, 0, 0>{{.*}}wide_result{{.*}} : (tensor<?x4x?x13xbf16, {{.*}}>, tensor<6x4x3x3xbf16>) -> tensor<?x6x?x11xf32
#x = affine_map<()[s0, s1] -> (s0, 3, s1, 10)>
#y = affine_map<()[s0, s1] -> (s0, 6, s1 + 1, 11)>
func.func @dynamic(%x: tensor<?x3x?x10xf32, #x>) -> tensor<?x6x?x11xf32, #y> {
  %w = graph.constant dense<0.5> : tensor<6x3x3x3xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 0, 2, 3>, dilations = array<i64: 1, 1>} : (tensor<?x3x?x10xf32, #x>, tensor<6x3x3x3xf32>) -> tensor<?x6x?x11xf32, #y>
  return %y : tensor<?x6x?x11xf32, #y>
}

// -----

// One channel: twice the products at twice the rate.
// CHECK-LABEL: func.func @one_channel(
// CHECK-NOT: graph.pad
// CHECK: graph.conv {{.*}} : (tensor<1x1x9x9xf32>, tensor<6x1x3x3xf32>) -> tensor<1x6x7x7xf32>
func.func @one_channel(%x: tensor<1x1x9x9xf32>) -> tensor<1x6x7x7xf32> {
  %w = graph.constant dense<0.5> : tensor<6x1x3x3xf32>
  %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x9x9xf32>, tensor<6x1x3x3xf32>) -> tensor<1x6x7x7xf32>
  return %y : tensor<1x6x7x7xf32>
}

// For GPUs, the first convolution of an image model has 4 channels, of which blocks of
// 2 x 2 pixels make 16.
// RUN: aopt %s -tile-attach-targets=cuda=sm_90a -graph-form-integer-products -graph-fold-constants -canonicalize | FileCheck %s
// RUN: aopt %s -tile-attach-targets=cuda=sm_90a -graph-form-integer-products -graph-space-to-depth | FileCheck %s --check-prefix=DEEP
// RUN: sed -e 's/strides = array<i64: 2, 2>/strides = array<i64: 1, 1>/; s/1x8x8x8xf32/1x8x16x16xf32/g' %s | aopt -tile-attach-targets=cuda=sm_90a -graph-form-integer-products | FileCheck %s --check-prefix=STEP1

// CHECK: %[[X:.*]] = graph.pad %arg0, %{{.*}} {high = array<i64: 0, 1, 1, 1>, low = array<i64: 0, 0, 1, 1>}
// CHECK: graph.conv %[[X]], %{{.*}} : (tensor<1x4x18x18xui8>, tensor<8x4x3x3xi8>, tensor<8xi32>) -> tensor<1x8x8x8xi32>
// DEEP: graph.transpose {{.*}} -> tensor<1x9x9x2x2x4xui8>
// DEEP: graph.conv {{.*}}nhwc{{.*}} : (tensor<1x9x9x16xui8>, tensor<8x16x2x2xi8>, tensor<8xi32>) -> tensor<1x8x8x8xi32>
// STEP1: graph.conv {{.*}} : (tensor<1x16x18x18xui8>, tensor<8x16x3x3xi8>, tensor<8xi32>)
func.func @stem(%p: tensor<1x3x16x16xui8>) -> tensor<1x8x8x8xf32> {
  %w = graph.constant dense<1> : tensor<8x3x3x3xi8>
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3.0> : tensor<f32>
  %0 = graph.cast %p : (tensor<1x3x16x16xui8>) -> tensor<1x3x16x16xf32>
  %1 = graph.sub %0, %z : (tensor<1x3x16x16xf32>, tensor<f32>) -> tensor<1x3x16x16xf32>
  %2 = graph.mul %1, %s : (tensor<1x3x16x16xf32>, tensor<f32>) -> tensor<1x3x16x16xf32>
  %3 = graph.cast %w : (tensor<8x3x3x3xi8>) -> tensor<8x3x3x3xf32>
  %4 = graph.mul %3, %s : (tensor<8x3x3x3xf32>, tensor<f32>) -> tensor<8x3x3x3xf32>
  %5 = graph.conv %2, %4 {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x3x16x16xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x8x8xf32>
  return %5 : tensor<1x8x8x8xf32>
}

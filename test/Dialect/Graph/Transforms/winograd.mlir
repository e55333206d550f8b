// RUN: aopt %s --graph-winograd --split-input-file | FileCheck %s
// RUN: aopt %s --graph-winograd=tile=2 --split-input-file | FileCheck %s --check-prefix=TWO
// RUN: aopt %s --graph-winograd=tile=0 --split-input-file | FileCheck %s --check-prefix=NONE
// NONE-NOT: winograd

// The batch may be a symbol; the run time transforms the weights.
// CHECK-LABEL: func.func @symbolic
// CHECK-DAG: %[[W:.*]] = graph.constant dense<5.000000e-01> : tensor<64x64x3x3xf32>
// CHECK: %[[U:.*]] = graph.transform_filter %[[W]] {matrix = dense<{{.*}}> : tensor<36x9xf32>} : (tensor<64x64x3x3xf32>) -> tensor<36x64x64xf32>
// CHECK: %[[Y:.*]] = graph.winograd_conv %arg0, %[[U]] {pads = array<i64: 1, 1, 1, 1>, tile = 4 : i64} {{.*}} -> tensor<?x55x56x64xf32, #{{.*}}>
// CHECK: graph.add %[[Y]], %arg1
// TWO-LABEL: func.func @symbolic
// TWO: graph.winograd_conv {{.*}}tensor<16x64x64xf32>
func.func @symbolic(%x: tensor<?x55x56x64xf32, affine_map<()[s0] -> (s0, 55, 56, 64)>>, %b: tensor<64xf32>) -> tensor<?x55x56x64xf32, affine_map<()[s0] -> (s0, 55, 56, 64)>> {
  %w = graph.constant dense<0.5> : tensor<64x64x3x3xf32>
  %0 = graph.conv %x, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<?x55x56x64xf32, affine_map<()[s0] -> (s0, 55, 56, 64)>>, tensor<64x64x3x3xf32>, tensor<64xf32>) -> tensor<?x55x56x64xf32, affine_map<()[s0] -> (s0, 55, 56, 64)>>
  return %0 : tensor<?x55x56x64xf32, affine_map<()[s0] -> (s0, 55, 56, 64)>>
}

// -----

// Rows and columns may be symbols, which are assumed to be a large image with few
// channels, and a small one with many. A small number of pixels is detected at run time:
// the taps follow the transformed filter, by rows of the identity.
#image = affine_map<()[s0, s1] -> (1, s0, s1, 64)>
// CHECK-LABEL: func.func @image
// CHECK-DAG: %[[W:.*]] = graph.constant dense<5.000000e-01> : tensor<64x64x3x3xf32>
// CHECK: %[[BOTH:.*]] = graph.transform_filter %[[W]] {matrix = dense<{{.*}}> : tensor<45x9xf32>} : {{.*}} -> tensor<45x64x64xf32>
// CHECK: graph.winograd_conv %arg0, %[[BOTH]] {{.*}}tile = 4 : i64
func.func @image(%x: tensor<1x?x?x64xf32, #image>) -> tensor<1x?x?x64xf32, #image> {
  %w = graph.constant dense<0.5> : tensor<64x64x3x3xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x?x?x64xf32, #image>, tensor<64x64x3x3xf32>) -> tensor<1x?x?x64xf32, #image>
  return %0 : tensor<1x?x?x64xf32, #image>
}

// -----

#deep = affine_map<()[s0, s1] -> (1, s0, s1, 512)>
// CHECK-LABEL: func.func @deepImage
// CHECK: graph.winograd_conv {{.*}}tile = 2 : i64
func.func @deepImage(%x: tensor<1x?x?x512xf32, #deep>) -> tensor<1x?x?x512xf32, #deep> {
  %w = graph.constant dense<0.5> : tensor<512x512x3x3xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x?x?x512xf32, #deep>, tensor<512x512x3x3xf32>) -> tensor<1x?x?x512xf32, #deep>
  return %0 : tensor<1x?x?x512xf32, #deep>
}

// -----

// Few channels: data movement would cost more than the multiplications.
// CHECK-LABEL: func.func @first
// CHECK-NOT: winograd
// TWO-LABEL: func.func @first
// TWO: winograd
func.func @first(%x: tensor<1x64x64x3xf32>) -> tensor<1x64x64x16xf32> {
  %w = graph.constant dense<0.5> : tensor<16x3x3x3xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x64x64x3xf32>, tensor<16x3x3x3xf32>) -> tensor<1x64x64x16xf32>
  return %0 : tensor<1x64x64x16xf32>
}

// -----

// Few pixels: small tiles, because large ones read more weights.
// CHECK-LABEL: func.func @deep
// CHECK: graph.winograd_conv {{.*}}tile = 2
func.func @deep(%x: tensor<1x14x14x256xf32>) -> tensor<1x14x14x256xf32> {
  %w = graph.constant dense<0.5> : tensor<256x256x3x3xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x14x14x256xf32>, tensor<256x256x3x3xf32>) -> tensor<1x14x14x256xf32>
  return %0 : tensor<1x14x14x256xf32>
}

// -----

// Strides, dilations, groups, other windows, weights that are not constants.
// TWO-LABEL: func.func @others
// TWO-NOT: winograd
func.func @others(%x: tensor<1x32x32x64xf32>, %v: tensor<64x64x3x3xf32>) -> (tensor<1x16x16x64xf32>, tensor<1x32x32x64xf32>, tensor<1x32x32x64xf32>, tensor<1x32x32x64xf32>, tensor<1x32x32x64xf32>) {
  %w = graph.constant dense<0.5> : tensor<64x64x3x3xf32>
  %d = graph.constant dense<0.5> : tensor<64x1x3x3xf32>
  %f = graph.constant dense<0.5> : tensor<64x64x5x5xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x32x32x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x16x16x64xf32>
  %1 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 2, 2>, layout = #graph.layout<nhwc>} : (tensor<1x32x32x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x32x32x64xf32>
  %2 = graph.conv %x, %d {group = 64 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x32x32x64xf32>, tensor<64x1x3x3xf32>) -> tensor<1x32x32x64xf32>
  %3 = graph.conv %x, %f {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x32x32x64xf32>, tensor<64x64x5x5xf32>) -> tensor<1x32x32x64xf32>
  %4 = graph.conv %x, %v {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x32x32x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x32x32x64xf32>
  return %0, %1, %2, %3, %4 : tensor<1x16x16x64xf32>, tensor<1x32x32x64xf32>, tensor<1x32x32x64xf32>, tensor<1x32x32x64xf32>, tensor<1x32x32x64xf32>
}

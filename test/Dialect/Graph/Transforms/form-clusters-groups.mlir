// RUN: aopt %s -tile-attach-targets="cpu=znver4" --graph-form-clusters --split-input-file | FileCheck %s
// RUN: aopt %s -tile-attach-targets="cpu=x86-64-v4" --graph-form-clusters --split-input-file | FileCheck %s --check-prefix=OTHER

// Elements that a unit multiplies in groups of channels are transposed by another
// kernel, also with dynamic sizes.
// CHECK-LABEL: func.func @transposed(
// CHECK: graph.cluster{{.*}} -> tensor<?x9x9x4xbf16
// CHECK-NEXT: graph.transpose
// CHECK: graph.cluster{{.*}} anchor "conv"
// CHECK-NEXT: graph.conv
// OTHER-LABEL: func.func @transposed(
// OTHER: graph.cluster{{.*}} anchor "conv"
// OTHER-NEXT: graph.transpose
// OTHER-NEXT: graph.conv
#x = affine_map<()[s0] -> (s0, 4, 9, 9)>
#t = affine_map<()[s0] -> (s0, 9, 9, 4)>
#y = affine_map<()[s0] -> (s0, 7, 7, 6)>
func.func @transposed(%x: tensor<?x4x9x9xbf16, #x>, %w: tensor<6x4x3x3xbf16>) -> tensor<?x7x7x6xf32, #y> {
  %t = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x4x9x9xbf16, #x>) -> tensor<?x9x9x4xbf16, #t>
  %y = graph.conv %t, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>, wide_result} : (tensor<?x9x9x4xbf16, #t>, tensor<6x4x3x3xbf16>) -> tensor<?x7x7x6xf32, #y>
  return %y : tensor<?x7x7x6xf32, #y>
}

// -----

// Slices of channels remain contiguous, and elements of f32 are read one by one.
// CHECK-LABEL: func.func @others(
// CHECK: graph.cluster{{.*}} anchor "conv"
// CHECK-NEXT: graph.slice
// CHECK-NEXT: graph.conv
// CHECK: graph.cluster{{.*}} anchor "conv"
// CHECK-NEXT: graph.transpose
// CHECK-NEXT: graph.conv
func.func @others(%x: tensor<1x9x9x8xbf16>, %w: tensor<6x4x3x3xbf16>, %f: tensor<1x4x9x9xf32>, %v: tensor<6x4x3x3xf32>) -> (tensor<1x7x7x6xf32>, tensor<1x7x7x6xf32>) {
  %s = graph.slice %x {starts = array<i64: 0, 0, 0, 4>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x9x9x8xbf16>) -> tensor<1x9x9x4xbf16>
  %y = graph.conv %s, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>, wide_result} : (tensor<1x9x9x4xbf16>, tensor<6x4x3x3xbf16>) -> tensor<1x7x7x6xf32>
  %t = graph.transpose %f {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x4x9x9xf32>) -> tensor<1x9x9x4xf32>
  %z = graph.conv %t, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x9x9x4xf32>, tensor<6x4x3x3xf32>) -> tensor<1x7x7x6xf32>
  return %y, %z : tensor<1x7x7x6xf32>, tensor<1x7x7x6xf32>
}

// -----

// A CPU transposes an image first whose elements are read often, or by groups of a few
// channels, also with a dynamic batch. A window of the size of its stride reads each once.
// CHECK-LABEL: func.func @often(
// CHECK: graph.cluster{{.*}} anchor "pointwise"
// CHECK-NEXT: graph.transpose
// CHECK: graph.cluster{{.*}} anchor "conv"
// CHECK-NEXT: graph.conv
// CHECK: graph.cluster{{.*}} anchor "pointwise"
// CHECK-NEXT: graph.transpose
// CHECK: graph.cluster{{.*}} anchor "conv"
// CHECK-NEXT: graph.conv
// CHECK: graph.cluster{{.*}} anchor "conv"
// CHECK-NEXT: graph.transpose
// CHECK-NEXT: graph.conv
#x = affine_map<()[s0] -> (s0, 16, 9, 9)>
#t = affine_map<()[s0] -> (s0, 9, 9, 16)>
#y = affine_map<()[s0] -> (s0, 7, 7, 32)>
func.func @often(%x: tensor<?x16x9x9xf32, #x>, %w: tensor<32x16x3x3xf32>, %g: tensor<1x16x9x9xf32>, %v: tensor<16x4x3x3xf32>, %o: tensor<1x16x8x8xf32>, %u: tensor<64x16x2x2xf32>) -> (tensor<?x7x7x32xf32, #y>, tensor<1x7x7x16xf32>, tensor<1x4x4x64xf32>) {
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x16x9x9xf32, #x>) -> tensor<?x9x9x16xf32, #t>
  %1 = graph.conv %0, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<?x9x9x16xf32, #t>, tensor<32x16x3x3xf32>) -> tensor<?x7x7x32xf32, #y>
  %2 = graph.transpose %g {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x16x9x9xf32>) -> tensor<1x9x9x16xf32>
  %3 = graph.conv %2, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 4 : i64, layout = #graph.layout<nhwc>} : (tensor<1x9x9x16xf32>, tensor<16x4x3x3xf32>) -> tensor<1x7x7x16xf32>
  %4 = graph.transpose %o {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x16x8x8xf32>) -> tensor<1x8x8x16xf32>
  %5 = graph.conv %4, %u {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x8x8x16xf32>, tensor<64x16x2x2xf32>) -> tensor<1x4x4x64xf32>
  return %1, %3, %5 : tensor<?x7x7x32xf32, #y>, tensor<1x7x7x16xf32>, tensor<1x4x4x64xf32>
}

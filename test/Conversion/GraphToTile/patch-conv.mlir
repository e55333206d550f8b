// Convolutions on a matrix unit: a program copies the input of its windows with padding,
// multiplies it tap by tap as a matrix whose rows have a fixed pitch, and stores the
// pixels of its lines.
// RUN: aopt %s -tile-attach-targets="cpu=sapphirerapids" -convert-graph-to-tile -split-input-file | FileCheck %s
// RUN: aopt %s -tile-attach-targets="cpu=znver4" -convert-graph-to-tile -split-input-file | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: tile.scratch

// CHECK-LABEL: tile.kernel @conv(
// CHECK-DAG: %[[PATCH:.*]] = tile.scratch [1, 10, 9, 64] : memref<1x10x9x64xbf16>
// CHECK-DAG: %[[SUMS:.*]] = tile.scratch [1, 7, 9, 64] : memref<1x7x9x64xf32>
// CHECK-DAG: memref.collapse_shape %[[PATCH]] {{\[}}[0, 1, 2], [3]] : memref<1x10x9x64xbf16> into memref<90x64xbf16>
// Nine lines of nine pixels, the first of each out of bounds.
// CHECK: tile.phase
// CHECK: tile.load %{{.*}}[%{{.*}}, -1, -1, 0] sizes [9, 64, 9] dims [2, 3, 1] : memref<2x7x7x64xbf16>
// CHECK: tile.store %{{.*}}, %[[PATCH]]
// All pixels of seven lines, and two more after each.
// CHECK: tile.phase
// CHECK: tile.dot {{.*}} : tensor<63x64xbf16>, tensor<64x64xbf16>, tensor<63x64xf32>
// CHECK: tile.phase
// CHECK: tile.load %[[SUMS]][0, 0, 0, 0] sizes [7, 64, 7] dims [2, 3, 1]
// CHECK: tile.store {{.*}} : tensor<7x64x7xf32>, memref<2x7x7x64xf32>
func.func @main(%x: tensor<2x7x7x64xbf16>) -> tensor<2x7x7x64xf32> {
  %w = graph.constant dense<1.0> : tensor<64x64x3x3xbf16>
  %0 = host.launch @conv(%x, %w) : (tensor<2x7x7x64xbf16>, tensor<64x64x3x3xbf16>) -> tensor<2x7x7x64xf32>
  return %0 : tensor<2x7x7x64xf32>
}
func.func private @conv(%x: tensor<2x7x7x64xbf16>, %w: tensor<64x64x3x3xbf16>) -> tensor<2x7x7x64xf32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {layout = #graph.layout<nhwc>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, wide_result} : (tensor<2x7x7x64xbf16>, tensor<64x64x3x3xbf16>) -> tensor<2x7x7x64xf32>
  return %0 : tensor<2x7x7x64xf32>
}

// -----

// Windows with strides: a patch for each phase of the strides, in one matrix.
// CHECK-LABEL: tile.kernel @strided(
// CHECK-DAG: %[[PATCHES:.*]] = tile.scratch [4, 9, 8, 64] : memref<4x9x8x64xi8>
// CHECK-DAG: memref.collapse_shape %[[PATCHES]] {{\[}}[0, 1, 2], [3]] : memref<4x9x8x64xi8> into memref<288x64xi8>
// CHECK: tile.load %{{.*}}[%{{.*}}, -1, -1, 0] sizes [8, 64, 8] dims [2, 3, 1] strides [2, 1, 2]
// CHECK: tile.store %{{.*}}, %[[PATCHES]][0, 0, 0, 0]
// CHECK: tile.load %{{.*}}[%{{.*}}, -1, 0, 0]
// CHECK: tile.store %{{.*}}, %[[PATCHES]][1, 0, 0, 0]
// CHECK: tile.load %{{.*}}[%{{.*}}, 0, -1, 0]
// CHECK: tile.store %{{.*}}, %[[PATCHES]][2, 0, 0, 0]
// CHECK: tile.load %{{.*}}[%{{.*}}, 0, 0, 0]
// CHECK: tile.store %{{.*}}, %[[PATCHES]][3, 0, 0, 0]
// CHECK: tile.dot {{.*}} : tensor<56x64xi8>, tensor<64x64xi8>, tensor<56x64xi32>
func.func @main(%x: tensor<2x14x14x64xui8>) -> tensor<2x7x7x64xi32> {
  %w = graph.constant dense<1> : tensor<64x64x3x3xi8>
  %0 = host.launch @strided(%x, %w) : (tensor<2x14x14x64xui8>, tensor<64x64x3x3xi8>) -> tensor<2x7x7x64xi32>
  return %0 : tensor<2x7x7x64xi32>
}
func.func private @strided(%x: tensor<2x14x14x64xui8>, %w: tensor<64x64x3x3xi8>) -> tensor<2x7x7x64xi32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {layout = #graph.layout<nhwc>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<2x14x14x64xui8>, tensor<64x64x3x3xi8>) -> tensor<2x7x7x64xi32>
  return %0 : tensor<2x7x7x64xi32>
}

// -----

// Windows of one tap with strides: the pixels of seven lines are one matrix, by all 256
// channels, so that the image is copied once.
// CHECK-LABEL: tile.kernel @subsampled(
// CHECK: %[[PATCH:.*]] = tile.scratch [1, 8, 7, 64] : memref<1x8x7x64xbf16>
// CHECK: tile.program_id(%c1) : index
// CHECK: tile.load %{{.*}} sizes [7, 64, 7] dims [2, 3, 1] strides [2, 1, 2]
// CHECK: tile.dot {{.*}} : tensor<49x64xbf16>, tensor<64x256xbf16>, tensor<49x256xf32>
func.func @main(%x: tensor<1x14x14x64xbf16>) -> tensor<1x7x7x256xf32> {
  %w = graph.constant dense<1.0> : tensor<256x64x1x1xbf16>
  %0 = host.launch @subsampled(%x, %w) : (tensor<1x14x14x64xbf16>, tensor<256x64x1x1xbf16>) -> tensor<1x7x7x256xf32>
  return %0 : tensor<1x7x7x256xf32>
}
func.func private @subsampled(%x: tensor<1x14x14x64xbf16>, %w: tensor<256x64x1x1xbf16>) -> tensor<1x7x7x256xf32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {layout = #graph.layout<nhwc>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, wide_result} : (tensor<1x14x14x64xbf16>, tensor<256x64x1x1xbf16>) -> tensor<1x7x7x256xf32>
  return %0 : tensor<1x7x7x256xf32>
}

// -----

// Not if the pixels of a line fill the rows of the unit unpadded: long lines with a
// single tap per row, lines of windows with strides.
// CHECK-LABEL: tile.kernel @lines(
// CHECK-NOT: tile.scratch
// CHECK-LABEL: tile.kernel @skipping(
// CHECK-NOT: tile.scratch
func.func @main(%x: tensor<1x35x32x64xbf16>) -> (tensor<1x32x32x64xf32>, tensor<1x18x16x64xf32>) {
  %w = graph.constant dense<1.0> : tensor<64x64x4x1xbf16>
  %v = graph.constant dense<1.0> : tensor<64x64x3x3xbf16>
  %0 = host.launch @lines(%x, %w) : (tensor<1x35x32x64xbf16>, tensor<64x64x4x1xbf16>) -> tensor<1x32x32x64xf32>
  %1 = host.launch @skipping(%x, %v) : (tensor<1x35x32x64xbf16>, tensor<64x64x3x3xbf16>) -> tensor<1x18x16x64xf32>
  return %0, %1 : tensor<1x32x32x64xf32>, tensor<1x18x16x64xf32>
}
func.func private @lines(%x: tensor<1x35x32x64xbf16>, %w: tensor<64x64x4x1xbf16>) -> tensor<1x32x32x64xf32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {layout = #graph.layout<nhwc>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, wide_result} : (tensor<1x35x32x64xbf16>, tensor<64x64x4x1xbf16>) -> tensor<1x32x32x64xf32>
  return %0 : tensor<1x32x32x64xf32>
}
func.func private @skipping(%x: tensor<1x35x32x64xbf16>, %w: tensor<64x64x3x3xbf16>) -> tensor<1x18x16x64xf32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {layout = #graph.layout<nhwc>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, wide_result} : (tensor<1x35x32x64xbf16>, tensor<64x64x3x3xbf16>) -> tensor<1x18x16x64xf32>
  return %0 : tensor<1x18x16x64xf32>
}

// -----

// With 20 bytes, a third of the depth of the unit, columns have the layout of vectors.
// CHECK-LABEL: tile.kernel @shallow(
// CHECK-SAME: BLOCK_K = 20
// CHECK-NOT: tile.scratch
func.func @main(%x: tensor<1x40x40x20xui8>) -> tensor<1x40x40x32xi32> {
  %w = graph.constant dense<1> : tensor<32x20x1x1xi8>
  %0 = host.launch @shallow(%x, %w) : (tensor<1x40x40x20xui8>, tensor<32x20x1x1xi8>) -> tensor<1x40x40x32xi32>
  return %0 : tensor<1x40x40x32xi32>
}
func.func private @shallow(%x: tensor<1x40x40x20xui8>, %w: tensor<32x20x1x1xi8>) -> tensor<1x40x40x32xi32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {layout = #graph.layout<nhwc>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x40x40x20xui8>, tensor<32x20x1x1xi8>) -> tensor<1x40x40x32xi32>
  return %0 : tensor<1x40x40x32xi32>
}

// -----

// Neither few channels nor images of dynamic size.
// CHECK-LABEL: tile.kernel @conv(
// CHECK-NOT: tile.scratch
func.func @main(%x: tensor<1x7x7x8xbf16>) -> tensor<1x7x7x64xf32> {
  %w = graph.constant dense<1.0> : tensor<64x8x3x3xbf16>
  %0 = host.launch @conv(%x, %w) : (tensor<1x7x7x8xbf16>, tensor<64x8x3x3xbf16>) -> tensor<1x7x7x64xf32>
  return %0 : tensor<1x7x7x64xf32>
}
func.func private @conv(%x: tensor<1x7x7x8xbf16>, %w: tensor<64x8x3x3xbf16>) -> tensor<1x7x7x64xf32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {layout = #graph.layout<nhwc>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, wide_result} : (tensor<1x7x7x8xbf16>, tensor<64x8x3x3xbf16>) -> tensor<1x7x7x64xf32>
  return %0 : tensor<1x7x7x64xf32>
}

// -----

#n = affine_map<()[s0] -> (1, s0, 7, 64)>
// CHECK-LABEL: tile.kernel @conv(
// CHECK-NOT: tile.scratch
func.func @main(%x: tensor<1x?x7x64xbf16, #n>) -> tensor<1x?x7x64xf32, #n> attributes {graph.symbols = ["h"]} {
  %w = graph.constant dense<1.0> : tensor<64x64x3x3xbf16>
  %0 = host.launch @conv(%x, %w) : (tensor<1x?x7x64xbf16, #n>, tensor<64x64x3x3xbf16>) -> tensor<1x?x7x64xf32, #n>
  return %0 : tensor<1x?x7x64xf32, #n>
}
func.func private @conv(%x: tensor<1x?x7x64xbf16, #n>, %w: tensor<64x64x3x3xbf16>) -> tensor<1x?x7x64xf32, #n> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {layout = #graph.layout<nhwc>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, wide_result} : (tensor<1x?x7x64xbf16, #n>, tensor<64x64x3x3xbf16>) -> tensor<1x?x7x64xf32, #n>
  return %0 : tensor<1x?x7x64xf32, #n>
}

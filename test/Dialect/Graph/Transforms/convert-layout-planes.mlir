// Convolutions of few outputs keep their layout if requested.
// RUN: aopt %s --graph-convert-layout --split-input-file | FileCheck %s
// RUN: aopt %s --graph-convert-layout --split-input-file | FileCheck %s --check-prefix=LAST

// Their channels-last producer is transposed back: the last layer of a U-Net. Not for a
// window that is computed by patches.
// CHECK-LABEL: func.func @last
// LAST-LABEL: func.func @last
func.func @last(%x: tensor<1x8x32x32xf32>, %u: tensor<8x8x3x3xf32>, %w: tensor<3x8x5x5xf32>, %v: tensor<3x8x3x3xf32>) -> (tensor<1x3x32x32xf32>, tensor<1x3x32x32xf32>) {
  // CHECK: graph.conv {{.*}} layout = #graph.layout<nhwc>
  // CHECK: %[[R:.*]] = graph.relu
  // CHECK: %[[T:.*]] = graph.transpose %[[R]] {perm = array<i64: 0, 3, 1, 2>}
  // CHECK: %[[Y:.*]] = graph.conv %[[T]], %arg2 {dilations
  // CHECK: %[[L:.*]] = graph.conv %[[R]], %arg3 {{.*}} layout = #graph.layout<nhwc>
  // CHECK: %[[Z:.*]] = graph.transpose %[[L]]
  // CHECK: return %[[Y]], %[[Z]]
  // LAST-COUNT-3: graph.conv {{.*}} layout = #graph.layout<nhwc>
  %0 = graph.conv %x, %u {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x8x32x32xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x32x32xf32>
  %1 = graph.relu %0 : (tensor<1x8x32x32xf32>) -> tensor<1x8x32x32xf32>
  %2 = graph.conv %1, %w {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>} : (tensor<1x8x32x32xf32>, tensor<3x8x5x5xf32>) -> tensor<1x3x32x32xf32>
  %3 = graph.conv %1, %v {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x8x32x32xf32>, tensor<3x8x3x3xf32>) -> tensor<1x3x32x32xf32>
  return %2, %3 : tensor<1x3x32x32xf32>, tensor<1x3x32x32xf32>
}

// -----

// Dynamic height and width, too.
#x = affine_map<()[s0, s1] -> (1, 2, s0, s1)>
#y = affine_map<()[s0, s1] -> (1, 1, s0, s1)>
// CHECK-LABEL: func.func @unknown
// CHECK-NOT: graph.transpose
// CHECK: graph.conv
// CHECK-NOT: graph.transpose
// CHECK: return
func.func @unknown(%x: tensor<1x2x?x?xf32, #x>, %w: tensor<1x2x3x3xf32>) -> tensor<1x1x?x?xf32, #y> attributes {graph.symbols = ["h", "w"]} {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x2x?x?xf32, #x>, tensor<1x2x3x3xf32>) -> tensor<1x1x?x?xf32, #y>
  return %0 : tensor<1x1x?x?xf32, #y>
}

// -----

// More outputs, a stride along the rows, no window, narrow rows, other types and groups
// are channels-last.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-6: graph.conv {{.*}} layout = #graph.layout<nhwc>
// CHECK: return
func.func @others(%x: tensor<1x4x32x32xf32>, %n: tensor<1x4x32x15xf32>, %f: tensor<1x4x32x32xf16>, %a: tensor<5x4x3x3xf32>, %b: tensor<4x4x3x3xf32>, %c: tensor<2x4x1x1xf32>, %d: tensor<2x4x3x3xf16>, %e: tensor<4x2x3x3xf32>)
    -> (tensor<1x5x32x32xf32>, tensor<1x4x32x16xf32>, tensor<1x2x32x32xf32>, tensor<1x4x32x15xf32>, tensor<1x2x32x32xf16>, tensor<1x4x32x32xf32>) {
  %0 = graph.conv %x, %a {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x32x32xf32>, tensor<5x4x3x3xf32>) -> tensor<1x5x32x32xf32>
  %1 = graph.conv %x, %b {strides = array<i64: 1, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x32x32xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x32x16xf32>
  %2 = graph.conv %x, %c {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x32x32xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x32x32xf32>
  %3 = graph.conv %n, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x32x15xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x32x15xf32>
  %4 = graph.conv %f, %d {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x32x32xf16>, tensor<2x4x3x3xf16>) -> tensor<1x2x32x32xf16>
  %5 = graph.conv %x, %e {group = 2 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x32x32xf32>, tensor<4x2x3x3xf32>) -> tensor<1x4x32x32xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<1x5x32x32xf32>, tensor<1x4x32x16xf32>, tensor<1x2x32x32xf32>, tensor<1x4x32x15xf32>, tensor<1x2x32x32xf16>, tensor<1x4x32x32xf32>
}

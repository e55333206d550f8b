// RUN: aopt %s --graph-split-pools --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @spp
// CHECK: %[[A:.*]] = graph.max_pool %arg0 {dilations = array<i64: 1, 1>, kernel = array<i64: 13, 1>, pads = array<i64: 6, 0, 6, 0>, strides = array<i64: 1, 1>}
// CHECK: %[[B:.*]] = graph.max_pool %[[A]] {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 13>, pads = array<i64: 0, 6, 0, 6>, strides = array<i64: 1, 1>}
// CHECK: return %[[B]]
func.func @spp(%x: tensor<1x64x20x20xf32>) -> tensor<1x64x20x20xf32> {
  %0 = graph.max_pool %x {kernel = array<i64: 13, 13>, strides = array<i64: 1, 1>, pads = array<i64: 6, 6, 6, 6>, dilations = array<i64: 1, 1>} : (tensor<1x64x20x20xf32>) -> tensor<1x64x20x20xf32>
  return %0 : tensor<1x64x20x20xf32>
}

// -----

// Few comparisons are saved: the intermediate memory would cost more. With strides, the
// intermediate value still has the rows of the second dim.
// CHECK-LABEL: func.func @small
// CHECK-COUNT-3: graph.max_pool
// CHECK-NOT: graph.max_pool
func.func @small(%x: tensor<1x64x20x20xf32>) -> (tensor<1x64x20x20xf32>, tensor<1x64x3x3xf32>, tensor<1x64x20x8xf32>) {
  %0 = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x20x20xf32>) -> tensor<1x64x20x20xf32>
  %1 = graph.max_pool %x {kernel = array<i64: 10, 10>, strides = array<i64: 5, 5>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x64x20x20xf32>) -> tensor<1x64x3x3xf32>
  %2 = graph.max_pool %x {kernel = array<i64: 1, 13>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x64x20x20xf32>) -> tensor<1x64x20x8xf32>
  return %0, %1, %2 : tensor<1x64x20x20xf32>, tensor<1x64x3x3xf32>, tensor<1x64x20x8xf32>
}

// -----

// Dynamic sizes, dilations and strides belong to their dims, those of a window of one
// element last; three dims are three steps.
#v = affine_map<()[s0] -> (1, 8, s0, s0, 9)>
// CHECK-LABEL: func.func @dynamic
// CHECK: graph.max_pool %arg0 {ceil_mode = true, dilations = array<i64: 2, 1, 1>, kernel = array<i64: 7, 1, 1>, pads = array<i64: 0, 0, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1>}
// CHECK: graph.max_pool {{.*}} {ceil_mode = true, dilations = array<i64: 1, 1, 1>, kernel = array<i64: 1, 7, 1>, pads = array<i64: 0, 3, 0, 0, 3, 0>, strides = array<i64: 1, 1, 3>}
func.func @dynamic(%x: tensor<1x8x?x?x9xf32, #v>) -> tensor<?x?x?x?x?xf32> attributes {graph.symbols = ["n"]} {
  %0 = graph.max_pool %x {kernel = array<i64: 7, 7, 1>, strides = array<i64: 1, 1, 3>, pads = array<i64: 0, 3, 0, 0, 3, 0>, dilations = array<i64: 2, 1, 1>, ceil_mode = true} : (tensor<1x8x?x?x9xf32, #v>) -> tensor<1x8x?x?x3xf32, affine_map<()[s0] -> (1, 8, s0 - 12, s0, 3)>>
  %1 = graph.cast %0 : (tensor<1x8x?x?x3xf32, affine_map<()[s0] -> (1, 8, s0 - 12, s0, 3)>>) -> tensor<?x?x?x?x?xf32>
  return %1 : tensor<?x?x?x?x?xf32>
}

// -----

// Means are split as well; those of 16-bit floats would be rounded between.
// CHECK-LABEL: func.func @means
// CHECK: %[[A:.*]] = graph.avg_pool %arg0 {count_include_pad = true, dilations = array<i64: 1, 1>, kernel = array<i64: 13, 1>, pads = array<i64: 6, 0, 6, 0>, strides = array<i64: 1, 1>}
// CHECK: graph.avg_pool %[[A]] {count_include_pad = true, dilations = array<i64: 1, 1>, kernel = array<i64: 1, 13>, pads = array<i64: 0, 6, 0, 6>, strides = array<i64: 1, 1>}
// CHECK: graph.avg_pool %arg1 {dilations = array<i64: 1, 1>, kernel = array<i64: 13, 13>
func.func @means(%x: tensor<1x64x20x20xf32>, %y: tensor<1x64x20x20xf16>) -> (tensor<1x64x20x20xf32>, tensor<1x64x20x20xf16>) {
  %0 = graph.avg_pool %x {kernel = array<i64: 13, 13>, strides = array<i64: 1, 1>, pads = array<i64: 6, 6, 6, 6>, dilations = array<i64: 1, 1>, count_include_pad = true} : (tensor<1x64x20x20xf32>) -> tensor<1x64x20x20xf32>
  %1 = graph.avg_pool %y {kernel = array<i64: 13, 13>, strides = array<i64: 1, 1>, pads = array<i64: 6, 6, 6, 6>, dilations = array<i64: 1, 1>} : (tensor<1x64x20x20xf16>) -> tensor<1x64x20x20xf16>
  return %0, %1 : tensor<1x64x20x20xf32>, tensor<1x64x20x20xf16>
}

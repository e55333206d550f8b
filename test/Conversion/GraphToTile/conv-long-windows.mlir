// RUN: atranslate %s --emit=tile -o - | FileCheck %s

// Nine taps per row that extend beyond the image: each has separate code with static
// borders. The interior uses a loop.
// CHECK-LABEL: tile.kernel @conv_relu_
// CHECK-COUNT-9: tile.dot
// CHECK-NOT: tile.dot
// CHECK-LABEL: tile.kernel @conv_sigmoid_
// CHECK-COUNT-3: scf.for
// CHECK: tile.dot
// CHECK-NOT: tile.dot
func.func @main(%x: tensor<1x64x64x32xf32> {graph.name = "x"}, %w: tensor<16x32x9x9xf32> {graph.name = "w"})
    -> (tensor<1x64x64x16xf32> {graph.name = "y"}, tensor<1x56x56x16xf32> {graph.name = "z"}) {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 4, 4, 4, 4>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x64x64x32xf32>, tensor<16x32x9x9xf32>) -> tensor<1x64x64x16xf32>
  %y = graph.relu %0 : (tensor<1x64x64x16xf32>) -> tensor<1x64x64x16xf32>
  %1 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x64x64x32xf32>, tensor<16x32x9x9xf32>) -> tensor<1x56x56x16xf32>
  %z = graph.sigmoid %1 : (tensor<1x56x56x16xf32>) -> tensor<1x56x56x16xf32>
  return %y, %z : tensor<1x64x64x16xf32>, tensor<1x56x56x16xf32>
}

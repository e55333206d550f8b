// Windows that are longer than their input: only taps that are in bounds for a pixel of
// the block run. With groups, strides, dilation, several blocks, of static and dynamic
// width: same results as the reference path.
// RUN: rm -rf %t && mkdir -p %t/0
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// RUN: arun %t/0.so --random --shape x=2x25x8 --shape z=1x300x3 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=2x25x8 --shape z=1x300x3 --threads 1 --range-tol 1e-5 --expect y=%t/0/y.npy --expect v=%t/0/v.npy --expect u=%t/0/u.npy
// RUN: arun %t/0.so --random --shape x=2x25x8 --shape z=1x7x3 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=2x25x8 --shape z=1x7x3 --threads 2 --range-tol 1e-5 --expect y=%t/0/y.npy --expect v=%t/0/v.npy --expect u=%t/0/u.npy
// RUN: atranslate %s --emit=tile -o - | FileCheck %s
// The loop over taps ends with the last tap of the block that is in bounds.
// CHECK: tile.kernel
// CHECK: tile.program_id
// CHECK: arith.minsi
// CHECK: scf.for
#z = affine_map<()[s0] -> (1, s0, 3)>
#z2 = affine_map<()[s0] -> (1, s0, 2)>
func.func @main(%x: tensor<2x25x8xf32> {graph.name = "x"}, %xw: tensor<8x4x128xf32> {graph.name = "xw"}, %z: tensor<1x?x3xf32, #z> {graph.name = "z"}, %zw: tensor<2x3x20xf32> {graph.name = "zw"}) -> (tensor<2x26x8xf32> {graph.name = "y"}, tensor<2x12x8xf32> {graph.name = "v"}, tensor<1x?x2xf32, #z2> {graph.name = "u"}) attributes {graph.symbols = ["w"]} {
  %y = graph.conv %x, %xw {group = 2 : i64, strides = array<i64: 1>, pads = array<i64: 64, 64>, dilations = array<i64: 1>, layout = #graph.layout<nhwc>} : (tensor<2x25x8xf32>, tensor<8x4x128xf32>) -> tensor<2x26x8xf32>
  %v = graph.conv %x, %xw {group = 2 : i64, strides = array<i64: 3>, pads = array<i64: 130, 133>, dilations = array<i64: 2>, layout = #graph.layout<nhwc>} : (tensor<2x25x8xf32>, tensor<8x4x128xf32>) -> tensor<2x12x8xf32>
  %u = graph.conv %z, %zw {strides = array<i64: 1>, pads = array<i64: 9, 10>, dilations = array<i64: 1>, layout = #graph.layout<nhwc>} : (tensor<1x?x3xf32, #z>, tensor<2x3x20xf32>) -> tensor<1x?x2xf32, #z2>
  return %y, %v, %u : tensor<2x26x8xf32>, tensor<2x12x8xf32>, tensor<1x?x2xf32, #z2>
}

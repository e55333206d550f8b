// Transposed convolutions that become convolutions have the results of the reference
// path: phases as channels with removed pads, no stride with groups and dilation, three
// dims, dynamic sizes.
// RUN: rm -rf %t && mkdir -p %t/0
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// RUN: atranslate %s --emit=graph -o %t.text.mlir && FileCheck %s < %t.text.mlir
// RUN: arun %t/0.so --random --shape d=2x32x7 --output-dir %t/0
// RUN: arun %t/1.so --random --shape d=2x32x7 --range-tol 1e-5 \
// RUN:   --expect a_y=%t/0/a_y.npy --expect b_y=%t/0/b_y.npy --expect c_y=%t/0/c_y.npy --expect d_y=%t/0/d_y.npy

// CHECK-NOT: graph.conv_transpose
// CHECK: return
#x = affine_map<()[s0, s1] -> (s0, 32, s1)>
#y = affine_map<()[s0, s1] -> (s0, 2, s1 * 8)>
func.func @main(%a: tensor<2x40x9x11xf32> {graph.name = "a"},
                %b: tensor<1x8x9x9xf32> {graph.name = "b"},
                %c: tensor<1x24x3x4x5xf32> {graph.name = "c"},
                %d: tensor<?x32x?xf32, #x> {graph.name = "d"})
    -> (tensor<2x3x18x21xf32> {graph.name = "a_y"},
        tensor<1x6x10x12xf32> {graph.name = "b_y"},
        tensor<1x2x6x12x8xf32> {graph.name = "c_y"},
        tensor<?x2x?xf32, #y> {graph.name = "d_y"}) attributes {graph.symbols = ["n", "length"]} {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %n = graph.constant dense<1920.0> : tensor<f32>
  %r = graph.range %zero, %n, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<1920xf32>
  %s = graph.sin %r : (tensor<1920xf32>) -> tensor<1920xf32>
  %aw = graph.reshape %s : (tensor<1920xf32>) -> tensor<40x3x4x4xf32>
  %ab = graph.constant dense<[1.0, -2.0, 3.0]> : tensor<3xf32>
  %0 = graph.conv_transpose %a, %aw, %ab {strides = array<i64: 2, 2>, pads = array<i64: 1, 2, 1, 1>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<2x40x9x11xf32>, tensor<40x3x4x4xf32>, tensor<3xf32>) -> tensor<2x3x18x21xf32>
  %bs = graph.slice %s {starts = array<i64: 7>, steps = array<i64: 1>} : (tensor<1920xf32>) -> tensor<360xf32>
  %bw = graph.reshape %bs : (tensor<360xf32>) -> tensor<8x3x5x3xf32>
  %1 = graph.conv_transpose %b, %bw {strides = array<i64: 1, 1>, pads = array<i64: 1, 0, 2, 1>, dilations = array<i64: 1, 2>, output_padding = array<i64: 0, 0>, group = 2 : i64} : (tensor<1x8x9x9xf32>, tensor<8x3x5x3xf32>) -> tensor<1x6x10x12xf32>
  %cs = graph.slice %s {starts = array<i64: 100>, steps = array<i64: 1>} : (tensor<1920xf32>) -> tensor<1152xf32>
  %cw = graph.reshape %cs : (tensor<1152xf32>) -> tensor<24x2x2x3x4xf32>
  %2 = graph.conv_transpose %c, %cw {strides = array<i64: 2, 3, 2>, pads = array<i64: 0, 0, 1, 0, 0, 3>, dilations = array<i64: 1, 1, 1>, output_padding = array<i64: 0, 0, 0>} : (tensor<1x24x3x4x5xf32>, tensor<24x2x2x3x4xf32>) -> tensor<1x2x6x12x8xf32>
  %ds = graph.slice %s {starts = array<i64: 500>, steps = array<i64: 1>} : (tensor<1920xf32>) -> tensor<512xf32>
  %dw = graph.reshape %ds : (tensor<512xf32>) -> tensor<32x2x8xf32>
  %3 = graph.conv_transpose %d, %dw {strides = array<i64: 8>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>} : (tensor<?x32x?xf32, #x>, tensor<32x2x8xf32>) -> tensor<?x2x?xf32, #y>
  return %0, %1, %2, %3 : tensor<2x3x18x21xf32>, tensor<1x6x10x12xf32>, tensor<1x2x6x12x8xf32>, tensor<?x2x?xf32, #y>
}

// Transposed convolutions: one tap per phase, several, phases without taps, more phases
// than separate code, depthwise, groups, one and three dims, filters that are not
// constants. Same results as the reference path, and the same bits on one and two
// threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// RUN: atranslate %s --emit=tile -o %t.text.mlir && FileCheck %s < %t.text.mlir
// RUN: arun %t/0.so --random --output-dir %t/0
// RUN: arun %t/1.so --random --threads 1 --output-dir %t/1 --range-tol 1e-5 \
// RUN:   --expect a_y=%t/0/a_y.npy --expect b_y=%t/0/b_y.npy --expect c_y=%t/0/c_y.npy --expect d_y=%t/0/d_y.npy \
// RUN:   --expect e_y=%t/0/e_y.npy --expect f_y=%t/0/f_y.npy --expect g_y=%t/0/g_y.npy --expect h_y=%t/0/h_y.npy \
// RUN:   --expect i_y=%t/0/i_y.npy --expect j_y=%t/0/j_y.npy --expect k_y=%t/0/k_y.npy
// RUN: arun %t/1.so --random --threads 2 --output-dir %t/2
// RUN: diff -r %t/1 %t/2

// CHECK-COUNT-11: tile.kernel
// CHECK-NOT: func.func private
func.func @main(
    %a: tensor<1x9x14x40xf32> {graph.name = "a"},
    %b: tensor<2x7x11x17xf32> {graph.name = "b"},
    %bb: tensor<24xf32> {graph.name = "bb"},
    %c: tensor<1x6x5x8xf32> {graph.name = "c"},
    %cw: tensor<8x5x3x3xf32> {graph.name = "cw"},
    %d: tensor<1x5x7x12xf32> {graph.name = "d"},
    %db: tensor<20xf32> {graph.name = "db"},
    %e: tensor<1x5x7x16xf32> {graph.name = "e"},
    %f: tensor<1x8x9x24xf32> {graph.name = "f"},
    %fb: tensor<24xf32> {graph.name = "fb"},
    %g: tensor<1x6x13x24xf32> {graph.name = "g"},
    %h: tensor<2x70x20xf32> {graph.name = "h"},
    %hb: tensor<36xf32> {graph.name = "hb"},
    %i: tensor<1x3x4x5x6xf32> {graph.name = "i"},
    %j: tensor<1x4x300x8xf32> {graph.name = "j"},
    %jw: tensor<8x16x1x3xf32> {graph.name = "jw"},
    %k: tensor<1x5x6x10xf32> {graph.name = "k"}) -> (
    tensor<1x18x28x33xf32> {graph.name = "a_y"},
    tensor<2x14x22x24xf32> {graph.name = "b_y"},
    tensor<1x12x10x5xf32> {graph.name = "c_y"},
    tensor<1x13x20x20xf32> {graph.name = "d_y"},
    tensor<1x25x59x40xf32> {graph.name = "e_y"},
    tensor<1x16x18x24xf32> {graph.name = "f_y"},
    tensor<1x17x26x48xf32> {graph.name = "g_y"},
    tensor<2x280x36xf32> {graph.name = "h_y"},
    tensor<1x7x8x10x18xf32> {graph.name = "i_y"},
    tensor<1x4x600x16xf32> {graph.name = "j_y"},
    tensor<1x5x8x12xf32> {graph.name = "k_y"}) attributes {graph.symbols = []} {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %an = graph.constant dense<5280.0> : tensor<f32>
  %ar = graph.range %zero, %an, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<5280xf32>
  %aq = graph.sin %ar : (tensor<5280xf32>) -> tensor<5280xf32>
  %aw = graph.reshape %aq : (tensor<5280xf32>) -> tensor<40x33x2x2xf32>
  %ac = graph.conv_transpose %a, %aw {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, group = 1 : i64, layout = #graph.layout<nhwc>} : (tensor<1x9x14x40xf32>, tensor<40x33x2x2xf32>) -> tensor<1x18x28x33xf32>
  %bn = graph.constant dense<6528.0> : tensor<f32>
  %br = graph.range %zero, %bn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<6528xf32>
  %bq = graph.sin %br : (tensor<6528xf32>) -> tensor<6528xf32>
  %bw = graph.reshape %bq : (tensor<6528xf32>) -> tensor<17x24x4x4xf32>
  %bc = graph.conv_transpose %b, %bw, %bb {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, group = 1 : i64, layout = #graph.layout<nhwc>} : (tensor<2x7x11x17xf32>, tensor<17x24x4x4xf32>, tensor<24xf32>) -> tensor<2x14x22x24xf32>
  %by = graph.relu %bc : (tensor<2x14x22x24xf32>) -> tensor<2x14x22x24xf32>
  %cc = graph.conv_transpose %c, %cw {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, output_padding = array<i64: 1, 1>, group = 1 : i64, layout = #graph.layout<nhwc>} : (tensor<1x6x5x8xf32>, tensor<8x5x3x3xf32>) -> tensor<1x12x10x5xf32>
  %dn = graph.constant dense<2880.0> : tensor<f32>
  %dr = graph.range %zero, %dn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2880xf32>
  %dq = graph.sin %dr : (tensor<2880xf32>) -> tensor<2880xf32>
  %dw = graph.reshape %dq : (tensor<2880xf32>) -> tensor<12x20x3x4xf32>
  %dc = graph.conv_transpose %d, %dw, %db {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 2, 2>, output_padding = array<i64: 0, 1>, group = 1 : i64, layout = #graph.layout<nhwc>} : (tensor<1x5x7x12xf32>, tensor<12x20x3x4xf32>, tensor<20xf32>) -> tensor<1x13x20x20xf32>
  %dy = graph.relu %dc : (tensor<1x13x20x20xf32>) -> tensor<1x13x20x20xf32>
  %en = graph.constant dense<57600.0> : tensor<f32>
  %er = graph.range %zero, %en, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<57600xf32>
  %eq = graph.sin %er : (tensor<57600xf32>) -> tensor<57600xf32>
  %ew = graph.reshape %eq : (tensor<57600xf32>) -> tensor<16x40x9x10xf32>
  %ec = graph.conv_transpose %e, %ew {strides = array<i64: 5, 8>, pads = array<i64: 2, 1, 2, 1>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 3>, group = 1 : i64, layout = #graph.layout<nhwc>} : (tensor<1x5x7x16xf32>, tensor<16x40x9x10xf32>) -> tensor<1x25x59x40xf32>
  %fn = graph.constant dense<288.0> : tensor<f32>
  %fr = graph.range %zero, %fn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<288xf32>
  %fq = graph.sin %fr : (tensor<288xf32>) -> tensor<288xf32>
  %fw = graph.reshape %fq : (tensor<288xf32>) -> tensor<24x1x4x3xf32>
  %fc = graph.conv_transpose %f, %fw, %fb {strides = array<i64: 2, 2>, pads = array<i64: 1, 0, 1, 1>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, group = 24 : i64, layout = #graph.layout<nhwc>} : (tensor<1x8x9x24xf32>, tensor<24x1x4x3xf32>, tensor<24xf32>) -> tensor<1x16x18x24xf32>
  %fy = graph.relu %fc : (tensor<1x16x18x24xf32>) -> tensor<1x16x18x24xf32>
  %gn = graph.constant dense<3456.0> : tensor<f32>
  %gr = graph.range %zero, %gn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<3456xf32>
  %gq = graph.sin %gr : (tensor<3456xf32>) -> tensor<3456xf32>
  %gw = graph.reshape %gq : (tensor<3456xf32>) -> tensor<24x16x3x3xf32>
  %gc = graph.conv_transpose %g, %gw {strides = array<i64: 3, 2>, pads = array<i64: 0, 1, 1, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, group = 3 : i64, layout = #graph.layout<nhwc>} : (tensor<1x6x13x24xf32>, tensor<24x16x3x3xf32>) -> tensor<1x17x26x48xf32>
  %hn = graph.constant dense<5760.0> : tensor<f32>
  %hr = graph.range %zero, %hn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<5760xf32>
  %hq = graph.sin %hr : (tensor<5760xf32>) -> tensor<5760xf32>
  %hw = graph.reshape %hq : (tensor<5760xf32>) -> tensor<20x36x8xf32>
  %hc = graph.conv_transpose %h, %hw, %hb {strides = array<i64: 4>, pads = array<i64: 2, 2>, dilations = array<i64: 1>, output_padding = array<i64: 0>, group = 1 : i64, layout = #graph.layout<nhwc>} : (tensor<2x70x20xf32>, tensor<20x36x8xf32>, tensor<36xf32>) -> tensor<2x280x36xf32>
  %hy = graph.relu %hc : (tensor<2x280x36xf32>) -> tensor<2x280x36xf32>
  %in = graph.constant dense<2592.0> : tensor<f32>
  %ir = graph.range %zero, %in, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2592xf32>
  %iq = graph.sin %ir : (tensor<2592xf32>) -> tensor<2592xf32>
  %iw = graph.reshape %iq : (tensor<2592xf32>) -> tensor<6x18x2x3x4xf32>
  %ic = graph.conv_transpose %i, %iw {strides = array<i64: 2, 2, 2>, pads = array<i64: 0, 1, 1, 0, 0, 1>, dilations = array<i64: 1, 1, 1>, output_padding = array<i64: 1, 0, 0>, group = 1 : i64, layout = #graph.layout<nhwc>} : (tensor<1x3x4x5x6xf32>, tensor<6x18x2x3x4xf32>) -> tensor<1x7x8x10x18xf32>
  %jc = graph.conv_transpose %j, %jw {strides = array<i64: 1, 2>, pads = array<i64: 0, 1, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, group = 1 : i64, layout = #graph.layout<nhwc>} : (tensor<1x4x300x8xf32>, tensor<8x16x1x3xf32>) -> tensor<1x4x600x16xf32>
  %kn = graph.constant dense<1080.0> : tensor<f32>
  %kr = graph.range %zero, %kn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<1080xf32>
  %kq = graph.sin %kr : (tensor<1080xf32>) -> tensor<1080xf32>
  %kw = graph.reshape %kq : (tensor<1080xf32>) -> tensor<10x12x3x3xf32>
  %kc = graph.conv_transpose %k, %kw {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 2>, output_padding = array<i64: 0, 0>, group = 1 : i64, layout = #graph.layout<nhwc>} : (tensor<1x5x6x10xf32>, tensor<10x12x3x3xf32>) -> tensor<1x5x8x12xf32>
  return %ac, %by, %cc, %dy, %ec, %fy, %gc, %hy, %ic, %jc, %kc : tensor<1x18x28x33xf32>, tensor<2x14x22x24xf32>, tensor<1x12x10x5xf32>, tensor<1x13x20x20xf32>, tensor<1x25x59x40xf32>, tensor<1x16x18x24xf32>, tensor<1x17x26x48xf32>, tensor<2x280x36xf32>, tensor<1x7x8x10x18xf32>, tensor<1x4x600x16xf32>, tensor<1x5x8x12xf32>
}

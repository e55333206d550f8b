// Convolutions of 2, 4 and 8 channels per group, with channels and widths that are not
// whole blocks, have the same results as the reference path for vectors of 16, 8 and 4
// lanes, and the same bits on one and two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2 %t/3
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so && atranslate --mcpu=x86-64-v3 %s -o %t/2.so && atranslate --mcpu=x86-64 %s -o %t/3.so
// RUN: arun %t/0.so --random --shape g=1x13x21x32 --output-dir %t/0
// RUN: arun %t/1.so --random --shape g=1x13x21x32 --threads 1 --output-dir %t/1 --range-tol 1e-5 \
// RUN:   --expect a_y=%t/0/a_y.npy --expect b_y=%t/0/b_y.npy --expect c_y=%t/0/c_y.npy --expect d_y=%t/0/d_y.npy \
// RUN:   --expect e_y=%t/0/e_y.npy --expect f_y=%t/0/f_y.npy --expect g_y=%t/0/g_y.npy
// RUN: arun %t/2.so --random --shape g=1x13x21x32 --threads 1 --output-dir %t/2 --range-tol 1e-5 \
// RUN:   --expect a_y=%t/0/a_y.npy --expect b_y=%t/0/b_y.npy --expect c_y=%t/0/c_y.npy --expect d_y=%t/0/d_y.npy \
// RUN:   --expect e_y=%t/0/e_y.npy --expect f_y=%t/0/f_y.npy --expect g_y=%t/0/g_y.npy
// RUN: arun %t/3.so --random --shape g=1x13x21x32 --threads 1 --output-dir %t/3 --range-tol 1e-5 \
// RUN:   --expect a_y=%t/0/a_y.npy --expect b_y=%t/0/b_y.npy --expect c_y=%t/0/c_y.npy --expect d_y=%t/0/d_y.npy \
// RUN:   --expect e_y=%t/0/e_y.npy --expect f_y=%t/0/f_y.npy --expect g_y=%t/0/g_y.npy
// RUN: mkdir %t/4 && arun %t/1.so --random --shape g=1x13x21x32 --threads 2 --output-dir %t/4
// RUN: diff -r %t/1 %t/4
#d = affine_map<()[s0, s1] -> (1, s0, s1, 32)>
func.func @main(
    %a: tensor<1x14x14x64xf32> {graph.name = "a"},
    %b: tensor<2x7x9x40xf32> {graph.name = "b"},
    %c: tensor<1x11x13x24xf32> {graph.name = "c"},
    %d: tensor<1x9x20x152xf32> {graph.name = "d"},
    %e: tensor<1x12x33x32xf32> {graph.name = "e"},
    %f: tensor<1x15x21x16xf32> {graph.name = "f"},
    %g: tensor<1x?x?x32xf32, #d> {graph.name = "g"}) -> (
    tensor<1x14x14x64xf32> {graph.name = "a_y"},
    tensor<2x7x9x40xf32> {graph.name = "b_y"},
    tensor<1x11x13x24xf32> {graph.name = "c_y"},
    tensor<1x9x20x152xf32> {graph.name = "d_y"},
    tensor<1x12x33x32xf32> {graph.name = "e_y"},
    tensor<1x8x11x16xf32> {graph.name = "f_y"},
    tensor<1x?x?x32xf32, #d> {graph.name = "g_y"}) attributes {graph.symbols = ["h", "w"]} {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %an = graph.constant dense<2304.0> : tensor<f32>
  %ar = graph.range %zero, %an, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2304xf32>
  %aq = graph.sin %ar : (tensor<2304xf32>) -> tensor<2304xf32>
  %aw = graph.reshape %aq : (tensor<2304xf32>) -> tensor<64x4x3x3xf32>
  %ac = graph.conv %a, %aw {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 16 : i64, layout = #graph.layout<nhwc>} : (tensor<1x14x14x64xf32>, tensor<64x4x3x3xf32>) -> tensor<1x14x14x64xf32>
  %ay = graph.relu %ac : (tensor<1x14x14x64xf32>) -> tensor<1x14x14x64xf32>
  %bn = graph.constant dense<2880.0> : tensor<f32>
  %br = graph.range %zero, %bn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2880xf32>
  %bq = graph.sin %br : (tensor<2880xf32>) -> tensor<2880xf32>
  %bw = graph.reshape %bq : (tensor<2880xf32>) -> tensor<40x8x3x3xf32>
  %bc = graph.conv %b, %bw {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 5 : i64, layout = #graph.layout<nhwc>} : (tensor<2x7x9x40xf32>, tensor<40x8x3x3xf32>) -> tensor<2x7x9x40xf32>
  %by = graph.relu %bc : (tensor<2x7x9x40xf32>) -> tensor<2x7x9x40xf32>
  %cn = graph.constant dense<1200.0> : tensor<f32>
  %cr = graph.range %zero, %cn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<1200xf32>
  %cq = graph.sin %cr : (tensor<1200xf32>) -> tensor<1200xf32>
  %cw = graph.reshape %cq : (tensor<1200xf32>) -> tensor<24x2x5x5xf32>
  %cc = graph.conv %c, %cw {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>, group = 12 : i64, layout = #graph.layout<nhwc>} : (tensor<1x11x13x24xf32>, tensor<24x2x5x5xf32>) -> tensor<1x11x13x24xf32>
  %cy = graph.relu %cc : (tensor<1x11x13x24xf32>) -> tensor<1x11x13x24xf32>
  %dn = graph.constant dense<10944.0> : tensor<f32>
  %dr = graph.range %zero, %dn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<10944xf32>
  %dq = graph.sin %dr : (tensor<10944xf32>) -> tensor<10944xf32>
  %dw = graph.reshape %dq : (tensor<10944xf32>) -> tensor<152x8x3x3xf32>
  %dc = graph.conv %d, %dw {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 2, 2>, group = 19 : i64, layout = #graph.layout<nhwc>} : (tensor<1x9x20x152xf32>, tensor<152x8x3x3xf32>) -> tensor<1x9x20x152xf32>
  %dy = graph.relu %dc : (tensor<1x9x20x152xf32>) -> tensor<1x9x20x152xf32>
  %en = graph.constant dense<128.0> : tensor<f32>
  %er = graph.range %zero, %en, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<128xf32>
  %eq = graph.sin %er : (tensor<128xf32>) -> tensor<128xf32>
  %ew = graph.reshape %eq : (tensor<128xf32>) -> tensor<32x4x1x1xf32>
  %ec = graph.conv %e, %ew {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 8 : i64, layout = #graph.layout<nhwc>} : (tensor<1x12x33x32xf32>, tensor<32x4x1x1xf32>) -> tensor<1x12x33x32xf32>
  %ey = graph.relu %ec : (tensor<1x12x33x32xf32>) -> tensor<1x12x33x32xf32>
  %fn = graph.constant dense<1152.0> : tensor<f32>
  %fr = graph.range %zero, %fn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<1152xf32>
  %fq = graph.sin %fr : (tensor<1152xf32>) -> tensor<1152xf32>
  %fw = graph.reshape %fq : (tensor<1152xf32>) -> tensor<16x8x3x3xf32>
  %fc = graph.conv %f, %fw {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 2 : i64, layout = #graph.layout<nhwc>} : (tensor<1x15x21x16xf32>, tensor<16x8x3x3xf32>) -> tensor<1x8x11x16xf32>
  %fy = graph.relu %fc : (tensor<1x8x11x16xf32>) -> tensor<1x8x11x16xf32>
  %gn = graph.constant dense<1152.0> : tensor<f32>
  %gr = graph.range %zero, %gn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<1152xf32>
  %gq = graph.sin %gr : (tensor<1152xf32>) -> tensor<1152xf32>
  %gw = graph.reshape %gq : (tensor<1152xf32>) -> tensor<32x4x3x3xf32>
  %gc = graph.conv %g, %gw {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 8 : i64, layout = #graph.layout<nhwc>} : (tensor<1x?x?x32xf32, #d>, tensor<32x4x3x3xf32>) -> tensor<1x?x?x32xf32, #d>
  %gy = graph.relu %gc : (tensor<1x?x?x32xf32, #d>) -> tensor<1x?x?x32xf32, #d>
  return %ay, %by, %cy, %dy, %ey, %fy, %gy : tensor<1x14x14x64xf32>, tensor<2x7x9x40xf32>, tensor<1x11x13x24xf32>, tensor<1x9x20x152xf32>, tensor<1x12x33x32xf32>, tensor<1x8x11x16xf32>, tensor<1x?x?x32xf32, #d>
}

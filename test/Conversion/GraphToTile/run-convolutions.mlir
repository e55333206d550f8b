// Convolutions of odd sizes, strides, padding, dilations and groups have the same results
// as the reference path, and the same bits on one and two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// RUN: arun %t/0.so --random --output-dir %t/0
// RUN: arun %t/1.so --random --threads 1 --output-dir %t/1 --range-tol 1e-5 \
// RUN:   --expect a_y=%t/0/a_y.npy --expect b_y=%t/0/b_y.npy --expect c_y=%t/0/c_y.npy --expect d_y=%t/0/d_y.npy \
// RUN:   --expect e_y=%t/0/e_y.npy --expect f_y=%t/0/f_y.npy --expect g_y=%t/0/g_y.npy --expect h_y=%t/0/h_y.npy \
// RUN:   --expect i_y=%t/0/i_y.npy --expect j_y=%t/0/j_y.npy --expect k_y=%t/0/k_y.npy --expect l_y=%t/0/l_y.npy \
// RUN:   --expect m_y=%t/0/m_y.npy --expect n_y=%t/0/n_y.npy --expect o_y=%t/0/o_y.npy
// RUN: arun %t/1.so --random --threads 2 --output-dir %t/2
// RUN: diff -r %t/1 %t/2
func.func @main(
    %a: tensor<1x14x14x32xf32> {graph.name = "a"},
    %b: tensor<2x7x7x40xf32> {graph.name = "b"},
    %c: tensor<1x15x13x16xf32> {graph.name = "c"},
    %d: tensor<1x19x17x12xf32> {graph.name = "d"},
    %e: tensor<1x20x23x16xf32> {graph.name = "e"},
    %f: tensor<1x16x16x3xf32> {graph.name = "f"},
    %g: tensor<1x9x30x24xf32> {graph.name = "g"},
    %h: tensor<1x3x2x20xf32> {graph.name = "h"},
    %i: tensor<1x14x14x40xf32> {graph.name = "i"},
    %j: tensor<2x15x15x24xf32> {graph.name = "j"},
    %k: tensor<1x21x11x33xf32> {graph.name = "k"},
    %l: tensor<1x12x10x16xf32> {graph.name = "l"},
    %m: tensor<1x5x300x8xf32> {graph.name = "m"},
    %n: tensor<1x8x9x10xf32> {graph.name = "n"},
    %o: tensor<1x6x40x32xf32> {graph.name = "o"}) -> (
    tensor<1x14x14x48xf32> {graph.name = "a_y"},
    tensor<2x7x7x33xf32> {graph.name = "b_y"},
    tensor<1x8x7x16xf32> {graph.name = "c_y"},
    tensor<1x19x17x20xf32> {graph.name = "d_y"},
    tensor<1x20x23x24xf32> {graph.name = "e_y"},
    tensor<1x8x8x32xf32> {graph.name = "f_y"},
    tensor<1x9x30x36xf32> {graph.name = "g_y"},
    tensor<1x3x2x10xf32> {graph.name = "h_y"},
    tensor<1x14x14x40xf32> {graph.name = "i_y"},
    tensor<2x8x8x24xf32> {graph.name = "j_y"},
    tensor<1x21x11x33xf32> {graph.name = "k_y"},
    tensor<1x12x10x16xf32> {graph.name = "l_y"},
    tensor<1x5x300x16xf32> {graph.name = "m_y"},
    tensor<1x4x5x12xf32> {graph.name = "n_y"},
    tensor<1x6x40x8xf32> {graph.name = "o_y"}) attributes {graph.symbols = []} {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %an = graph.constant dense<13824.0> : tensor<f32>
  %ar = graph.range %zero, %an, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<13824xf32>
  %aq = graph.sin %ar : (tensor<13824xf32>) -> tensor<13824xf32>
  %aw = graph.reshape %aq : (tensor<13824xf32>) -> tensor<48x32x3x3xf32>
  %ac = graph.conv %a, %aw {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #graph.layout<nhwc>} : (tensor<1x14x14x32xf32>, tensor<48x32x3x3xf32>) -> tensor<1x14x14x48xf32>
  %ay = graph.relu %ac : (tensor<1x14x14x48xf32>) -> tensor<1x14x14x48xf32>
  %bn = graph.constant dense<11880.0> : tensor<f32>
  %br = graph.range %zero, %bn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<11880xf32>
  %bq = graph.sin %br : (tensor<11880xf32>) -> tensor<11880xf32>
  %bw = graph.reshape %bq : (tensor<11880xf32>) -> tensor<33x40x3x3xf32>
  %bc = graph.conv %b, %bw {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #graph.layout<nhwc>} : (tensor<2x7x7x40xf32>, tensor<33x40x3x3xf32>) -> tensor<2x7x7x33xf32>
  %by = graph.relu %bc : (tensor<2x7x7x33xf32>) -> tensor<2x7x7x33xf32>
  %cn = graph.constant dense<2304.0> : tensor<f32>
  %cr = graph.range %zero, %cn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2304xf32>
  %cq = graph.sin %cr : (tensor<2304xf32>) -> tensor<2304xf32>
  %cw = graph.reshape %cq : (tensor<2304xf32>) -> tensor<16x16x3x3xf32>
  %cc = graph.conv %c, %cw {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #graph.layout<nhwc>} : (tensor<1x15x13x16xf32>, tensor<16x16x3x3xf32>) -> tensor<1x8x7x16xf32>
  %cy = graph.relu %cc : (tensor<1x8x7x16xf32>) -> tensor<1x8x7x16xf32>
  %dn = graph.constant dense<6000.0> : tensor<f32>
  %dr = graph.range %zero, %dn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<6000xf32>
  %dq = graph.sin %dr : (tensor<6000xf32>) -> tensor<6000xf32>
  %dw = graph.reshape %dq : (tensor<6000xf32>) -> tensor<20x12x5x5xf32>
  %dc = graph.conv %d, %dw {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #graph.layout<nhwc>} : (tensor<1x19x17x12xf32>, tensor<20x12x5x5xf32>) -> tensor<1x19x17x20xf32>
  %dy = graph.relu %dc : (tensor<1x19x17x20xf32>) -> tensor<1x19x17x20xf32>
  %en = graph.constant dense<3456.0> : tensor<f32>
  %er = graph.range %zero, %en, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<3456xf32>
  %eq = graph.sin %er : (tensor<3456xf32>) -> tensor<3456xf32>
  %ew = graph.reshape %eq : (tensor<3456xf32>) -> tensor<24x16x3x3xf32>
  %ec = graph.conv %e, %ew {strides = array<i64: 1, 1>, pads = array<i64: 4, 4, 4, 4>, dilations = array<i64: 4, 4>, group = 1 : i64, layout = #graph.layout<nhwc>} : (tensor<1x20x23x16xf32>, tensor<24x16x3x3xf32>) -> tensor<1x20x23x24xf32>
  %ey = graph.relu %ec : (tensor<1x20x23x24xf32>) -> tensor<1x20x23x24xf32>
  %fn = graph.constant dense<4704.0> : tensor<f32>
  %fr = graph.range %zero, %fn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<4704xf32>
  %fq = graph.sin %fr : (tensor<4704xf32>) -> tensor<4704xf32>
  %fw = graph.reshape %fq : (tensor<4704xf32>) -> tensor<32x3x7x7xf32>
  %fc = graph.conv %f, %fw {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #graph.layout<nhwc>} : (tensor<1x16x16x3xf32>, tensor<32x3x7x7xf32>) -> tensor<1x8x8x32xf32>
  %fy = graph.relu %fc : (tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32>
  %gn = graph.constant dense<1944.0> : tensor<f32>
  %gr = graph.range %zero, %gn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<1944xf32>
  %gq = graph.sin %gr : (tensor<1944xf32>) -> tensor<1944xf32>
  %gw = graph.reshape %gq : (tensor<1944xf32>) -> tensor<36x6x3x3xf32>
  %gc = graph.conv %g, %gw {strides = array<i64: 1, 1>, pads = array<i64: 1, 0, 1, 2>, dilations = array<i64: 1, 1>, group = 4 : i64, layout = #graph.layout<nhwc>} : (tensor<1x9x30x24xf32>, tensor<36x6x3x3xf32>) -> tensor<1x9x30x36xf32>
  %gy = graph.relu %gc : (tensor<1x9x30x36xf32>) -> tensor<1x9x30x36xf32>
  %hn = graph.constant dense<5000.0> : tensor<f32>
  %hr = graph.range %zero, %hn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<5000xf32>
  %hq = graph.sin %hr : (tensor<5000xf32>) -> tensor<5000xf32>
  %hw = graph.reshape %hq : (tensor<5000xf32>) -> tensor<10x20x5x5xf32>
  %hc = graph.conv %h, %hw {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #graph.layout<nhwc>} : (tensor<1x3x2x20xf32>, tensor<10x20x5x5xf32>) -> tensor<1x3x2x10xf32>
  %hy = graph.relu %hc : (tensor<1x3x2x10xf32>) -> tensor<1x3x2x10xf32>
  %in = graph.constant dense<360.0> : tensor<f32>
  %ir = graph.range %zero, %in, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<360xf32>
  %iq = graph.sin %ir : (tensor<360xf32>) -> tensor<360xf32>
  %iw = graph.reshape %iq : (tensor<360xf32>) -> tensor<40x1x3x3xf32>
  %ic = graph.conv %i, %iw {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 40 : i64, layout = #graph.layout<nhwc>} : (tensor<1x14x14x40xf32>, tensor<40x1x3x3xf32>) -> tensor<1x14x14x40xf32>
  %iy = graph.relu %ic : (tensor<1x14x14x40xf32>) -> tensor<1x14x14x40xf32>
  %jn = graph.constant dense<600.0> : tensor<f32>
  %jr = graph.range %zero, %jn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<600xf32>
  %jq = graph.sin %jr : (tensor<600xf32>) -> tensor<600xf32>
  %jw = graph.reshape %jq : (tensor<600xf32>) -> tensor<24x1x5x5xf32>
  %jc = graph.conv %j, %jw {strides = array<i64: 2, 2>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>, group = 24 : i64, layout = #graph.layout<nhwc>} : (tensor<2x15x15x24xf32>, tensor<24x1x5x5xf32>) -> tensor<2x8x8x24xf32>
  %jy = graph.relu %jc : (tensor<2x8x8x24xf32>) -> tensor<2x8x8x24xf32>
  %kn = graph.constant dense<1617.0> : tensor<f32>
  %kr = graph.range %zero, %kn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<1617xf32>
  %kq = graph.sin %kr : (tensor<1617xf32>) -> tensor<1617xf32>
  %kw = graph.reshape %kq : (tensor<1617xf32>) -> tensor<33x1x7x7xf32>
  %kc = graph.conv %k, %kw {strides = array<i64: 1, 1>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>, group = 33 : i64, layout = #graph.layout<nhwc>} : (tensor<1x21x11x33xf32>, tensor<33x1x7x7xf32>) -> tensor<1x21x11x33xf32>
  %ky = graph.relu %kc : (tensor<1x21x11x33xf32>) -> tensor<1x21x11x33xf32>
  %ln = graph.constant dense<144.0> : tensor<f32>
  %lr = graph.range %zero, %ln, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<144xf32>
  %lq = graph.sin %lr : (tensor<144xf32>) -> tensor<144xf32>
  %lw = graph.reshape %lq : (tensor<144xf32>) -> tensor<16x1x3x3xf32>
  %lc = graph.conv %l, %lw {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 2, 2>, group = 16 : i64, layout = #graph.layout<nhwc>} : (tensor<1x12x10x16xf32>, tensor<16x1x3x3xf32>) -> tensor<1x12x10x16xf32>
  %ly = graph.relu %lc : (tensor<1x12x10x16xf32>) -> tensor<1x12x10x16xf32>
  %mn = graph.constant dense<1152.0> : tensor<f32>
  %mr = graph.range %zero, %mn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<1152xf32>
  %mq = graph.sin %mr : (tensor<1152xf32>) -> tensor<1152xf32>
  %mw = graph.reshape %mq : (tensor<1152xf32>) -> tensor<16x8x3x3xf32>
  %mc = graph.conv %m, %mw {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #graph.layout<nhwc>} : (tensor<1x5x300x8xf32>, tensor<16x8x3x3xf32>) -> tensor<1x5x300x16xf32>
  %my = graph.relu %mc : (tensor<1x5x300x16xf32>) -> tensor<1x5x300x16xf32>
  %nn = graph.constant dense<120.0> : tensor<f32>
  %nr = graph.range %zero, %nn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<120xf32>
  %nq = graph.sin %nr : (tensor<120xf32>) -> tensor<120xf32>
  %nw = graph.reshape %nq : (tensor<120xf32>) -> tensor<12x10x1x1xf32>
  %nc = graph.conv %n, %nw {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #graph.layout<nhwc>} : (tensor<1x8x9x10xf32>, tensor<12x10x1x1xf32>) -> tensor<1x4x5x12xf32>
  %ny = graph.relu %nc : (tensor<1x4x5x12xf32>) -> tensor<1x4x5x12xf32>
  %on = graph.constant dense<2304.0> : tensor<f32>
  %or = graph.range %zero, %on, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2304xf32>
  %oq = graph.sin %or : (tensor<2304xf32>) -> tensor<2304xf32>
  %ow = graph.reshape %oq : (tensor<2304xf32>) -> tensor<8x32x1x9xf32>
  %oc = graph.conv %o, %ow {strides = array<i64: 1, 1>, pads = array<i64: 0, 4, 0, 4>, dilations = array<i64: 1, 1>, group = 1 : i64, layout = #graph.layout<nhwc>} : (tensor<1x6x40x32xf32>, tensor<8x32x1x9xf32>) -> tensor<1x6x40x8xf32>
  %oy = graph.relu %oc : (tensor<1x6x40x8xf32>) -> tensor<1x6x40x8xf32>
  return %ay, %by, %cy, %dy, %ey, %fy, %gy, %hy, %iy, %jy, %ky, %ly, %my, %ny, %oy : tensor<1x14x14x48xf32>, tensor<2x7x7x33xf32>, tensor<1x8x7x16xf32>, tensor<1x19x17x20xf32>, tensor<1x20x23x24xf32>, tensor<1x8x8x32xf32>, tensor<1x9x30x36xf32>, tensor<1x3x2x10xf32>, tensor<1x14x14x40xf32>, tensor<2x8x8x24xf32>, tensor<1x21x11x33xf32>, tensor<1x12x10x16xf32>, tensor<1x5x300x16xf32>, tensor<1x4x5x12xf32>, tensor<1x6x40x8xf32>
}

// Movement that splits dims after an anchor op is fused into its stores: reassembled
// windows (products and normalised rows), pixels of channels in both orders, first and
// last, pixels of a row of a product, shuffled channels of groups. Later arithmetic is
// computed before it. Same results as the reference path; the same bits with two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so
// RUN: atranslate %s -o %t/1.so --stats 2>&1 | FileCheck %s
// RUN: for n in 1 3; do \
// RUN:   shapes="--shape x=${n}x16x49x40 --shape s=${n}x784x40 --shape p=${n}x9x11x24 --shape q=${n}x9x11x24 --shape u=${n}x12x20 --shape g=${n}x5x7x96"; \
// RUN:   arun %t/0.so --random $shapes --output-dir %t/0 >/dev/null && \
// RUN:   arun %t/1.so --random $shapes --threads 1 --output-dir %t/1 --range-tol 1e-5 \
// RUN:     --expect windows=%t/0/windows.npy --expect rows=%t/0/rows.npy --expect crd=%t/0/crd.npy --expect dcr=%t/0/dcr.npy --expect odd=%t/0/odd.npy \
// RUN:     --expect patches=%t/0/patches.npy --expect shuffle=%t/0/shuffle.npy --expect wide=%t/0/wide.npy >/dev/null && \
// RUN:   arun %t/1.so --random $shapes --threads 2 --output-dir %t/2 >/dev/null && diff -r %t/1 %t/2 || exit 1; done

// CHECK: convert-graph-to-tile: refused = 0
// CHECK: convert-host-to-llvm: launches = 8

#w4 = affine_map<()[s0] -> (s0, 16, 49, 40)>
#w = affine_map<()[s0] -> (s0 * 16, 49, 40)>
#w6 = affine_map<()[s0] -> (s0, 4, 4, 7, 7, 40)>
#t6 = affine_map<()[s0] -> (s0, 4, 7, 4, 7, 40)>
#y = affine_map<()[s0] -> (s0, 784, 40)>
#p = affine_map<()[s0] -> (s0, 9, 11, 24)>
#p3 = affine_map<()[s0] -> (s0, 9, 11, 27)>
#pc = affine_map<()[s0] -> (s0, 9, 11, 12)>
#p6 = affine_map<()[s0] -> (s0, 9, 11, 3, 2, 2)>
#f6 = affine_map<()[s0] -> (s0, 3, 9, 2, 11, 2)>
#f = affine_map<()[s0] -> (s0, 3, 18, 22)>
#d6 = affine_map<()[s0] -> (s0, 9, 11, 2, 2, 3)>
#e6 = affine_map<()[s0] -> (s0, 9, 2, 11, 2, 3)>
#e = affine_map<()[s0] -> (s0, 18, 22, 3)>
#o6 = affine_map<()[s0] -> (s0, 9, 11, 3, 3, 3)>
#o = affine_map<()[s0] -> (s0, 27, 33, 3)>
#oo = affine_map<()[s0] -> (s0, 9, 3, 11, 3, 3)>
#q = affine_map<()[s0] -> (s0, 9, 11, 24)>
#qc = affine_map<()[s0] -> (s0, 9, 11, 64)>
#q6 = affine_map<()[s0] -> (s0, 9, 11, 2, 2, 16)>
#qt = affine_map<()[s0] -> (s0, 9, 2, 11, 2, 16)>
#qo = affine_map<()[s0] -> (s0, 18, 22, 16)>
#u = affine_map<()[s0] -> (s0, 12, 20)>
#v = affine_map<()[s0] -> (s0, 12, 128)>
#v6 = affine_map<()[s0] -> (s0, 3, 4, 4, 4, 8)>
#vt = affine_map<()[s0] -> (s0, 8, 3, 4, 4, 4)>
#vo = affine_map<()[s0] -> (s0, 8, 12, 16)>
#g = affine_map<()[s0] -> (s0, 5, 7, 96)>
#g5 = affine_map<()[s0] -> (s0, 5, 7, 3, 32)>
#gt = affine_map<()[s0] -> (s0, 5, 7, 32, 3)>
func.func @main(%x4: tensor<?x16x49x40xf32, #w4> {graph.name = "x"}, %s: tensor<?x784x40xf32, #y> {graph.name = "s"}, %m: tensor<40x40xf32> {graph.name = "m"},
    %p: tensor<?x9x11x24xf32, #p> {graph.name = "p"}, %k: tensor<12x24x3x3xf32> {graph.name = "k"}, %k27: tensor<27x24x1x1xf32> {graph.name = "k27"}, %l: tensor<12x24x3x3xf32> {graph.name = "l"},
    %q: tensor<?x9x11x24xf32, #q> {graph.name = "q"},
    %u: tensor<?x12x20xf32, #u> {graph.name = "u"}, %h: tensor<20x128xf32> {graph.name = "h"}, %hb: tensor<128xf32> {graph.name = "hb"},
    %g: tensor<?x5x7x96xf32, #g> {graph.name = "g"}, %gk: tensor<96x32x1x1xf32> {graph.name = "gk"})
    -> (tensor<?x784x40xf32, #y> {graph.name = "windows"}, tensor<?x784x40xf32, #y> {graph.name = "rows"}, tensor<?x3x18x22xf32, #f> {graph.name = "crd"}, tensor<?x18x22x3xf32, #e> {graph.name = "dcr"},
        tensor<?x27x33x3xf32, #o> {graph.name = "odd"}, tensor<?x8x12x16xf32, #vo> {graph.name = "patches"}, tensor<?x5x7x96xf32, #g> {graph.name = "shuffle"}, tensor<?x18x22x16xf32, #qo> {graph.name = "wide"})
    attributes {graph.symbols = ["n"]} {
  %x = graph.reshape %x4 : (tensor<?x16x49x40xf32, #w4>) -> tensor<?x49x40xf32, #w>
  %0 = graph.matmul %x, %m : (tensor<?x49x40xf32, #w>, tensor<40x40xf32>) -> tensor<?x49x40xf32, #w>
  %1 = graph.reshape %0 : (tensor<?x49x40xf32, #w>) -> tensor<?x4x4x7x7x40xf32, #w6>
  %2 = graph.transpose %1 {perm = array<i64: 0, 1, 3, 2, 4, 5>} : (tensor<?x4x4x7x7x40xf32, #w6>) -> tensor<?x4x7x4x7x40xf32, #t6>
  %3 = graph.reshape %2 : (tensor<?x4x7x4x7x40xf32, #t6>) -> tensor<?x784x40xf32, #y>
  %windows = graph.add %3, %s : (tensor<?x784x40xf32, #y>, tensor<?x784x40xf32, #y>) -> tensor<?x784x40xf32, #y>
  %5 = graph.layer_norm %x {axis = 2 : i64} : (tensor<?x49x40xf32, #w>) -> tensor<?x49x40xf32, #w>
  %6 = graph.reshape %5 : (tensor<?x49x40xf32, #w>) -> tensor<?x4x4x7x7x40xf32, #w6>
  %7 = graph.transpose %6 {perm = array<i64: 0, 1, 3, 2, 4, 5>} : (tensor<?x4x4x7x7x40xf32, #w6>) -> tensor<?x4x7x4x7x40xf32, #t6>
  %rows = graph.reshape %7 : (tensor<?x4x7x4x7x40xf32, #t6>) -> tensor<?x784x40xf32, #y>
  %10 = graph.conv %p, %k {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<?x9x11x24xf32, #p>, tensor<12x24x3x3xf32>) -> tensor<?x9x11x12xf32, #pc>
  %11 = graph.relu %10 : (tensor<?x9x11x12xf32, #pc>) -> tensor<?x9x11x12xf32, #pc>
  %12 = graph.reshape %11 : (tensor<?x9x11x12xf32, #pc>) -> tensor<?x9x11x3x2x2xf32, #p6>
  %13 = graph.transpose %12 {perm = array<i64: 0, 3, 1, 4, 2, 5>} : (tensor<?x9x11x3x2x2xf32, #p6>) -> tensor<?x3x9x2x11x2xf32, #f6>
  %14 = graph.reshape %13 : (tensor<?x3x9x2x11x2xf32, #f6>) -> tensor<?x3x18x22xf32, #f>
  %crd = graph.relu %14 : (tensor<?x3x18x22xf32, #f>) -> tensor<?x3x18x22xf32, #f>
  %20 = graph.conv %p, %l {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<?x9x11x24xf32, #p>, tensor<12x24x3x3xf32>) -> tensor<?x9x11x12xf32, #pc>
  %21 = graph.reshape %20 : (tensor<?x9x11x12xf32, #pc>) -> tensor<?x9x11x2x2x3xf32, #d6>
  %22 = graph.transpose %21 {perm = array<i64: 0, 1, 3, 2, 4, 5>} : (tensor<?x9x11x2x2x3xf32, #d6>) -> tensor<?x9x2x11x2x3xf32, #e6>
  %dcr = graph.reshape %22 : (tensor<?x9x2x11x2x3xf32, #e6>) -> tensor<?x18x22x3xf32, #e>
  %30 = graph.conv %p, %k27 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<?x9x11x24xf32, #p>, tensor<27x24x1x1xf32>) -> tensor<?x9x11x27xf32, #p3>
  %31 = graph.reshape %30 : (tensor<?x9x11x27xf32, #p3>) -> tensor<?x9x11x3x3x3xf32, #o6>
  %32 = graph.transpose %31 {perm = array<i64: 0, 1, 4, 2, 5, 3>} : (tensor<?x9x11x3x3x3xf32, #o6>) -> tensor<?x9x3x11x3x3xf32, #oo>
  %odd = graph.reshape %32 : (tensor<?x9x3x11x3x3xf32, #oo>) -> tensor<?x27x33x3xf32, #o>
  %40 = graph.matmul %u, %h : (tensor<?x12x20xf32, #u>, tensor<20x128xf32>) -> tensor<?x12x128xf32, #v>
  %41 = graph.add %40, %hb : (tensor<?x12x128xf32, #v>, tensor<128xf32>) -> tensor<?x12x128xf32, #v>
  %42 = graph.reshape %41 : (tensor<?x12x128xf32, #v>) -> tensor<?x3x4x4x4x8xf32, #v6>
  %43 = graph.transpose %42 {perm = array<i64: 0, 5, 1, 3, 2, 4>} : (tensor<?x3x4x4x4x8xf32, #v6>) -> tensor<?x8x3x4x4x4xf32, #vt>
  %patches = graph.reshape %43 : (tensor<?x8x3x4x4x4xf32, #vt>) -> tensor<?x8x12x16xf32, #vo>
  %50 = graph.conv %g, %gk {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 3 : i64, layout = #graph.layout<nhwc>} : (tensor<?x5x7x96xf32, #g>, tensor<96x32x1x1xf32>) -> tensor<?x5x7x96xf32, #g>
  %51 = graph.reshape %50 : (tensor<?x5x7x96xf32, #g>) -> tensor<?x5x7x3x32xf32, #g5>
  %52 = graph.transpose %51 {perm = array<i64: 0, 1, 2, 4, 3>} : (tensor<?x5x7x3x32xf32, #g5>) -> tensor<?x5x7x32x3xf32, #gt>
  %shuffle = graph.reshape %52 : (tensor<?x5x7x32x3xf32, #gt>) -> tensor<?x5x7x96xf32, #g>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %count = graph.constant dense<13824.0> : tensor<f32>
  %range = graph.range %zero, %count, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<13824xf32>
  %square = graph.mul %range, %range : (tensor<13824xf32>, tensor<13824xf32>) -> tensor<13824xf32>
  %sin = graph.sin %square : (tensor<13824xf32>) -> tensor<13824xf32>
  %k64 = graph.reshape %sin : (tensor<13824xf32>) -> tensor<64x24x3x3xf32>
  %60 = graph.conv %q, %k64 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<?x9x11x24xf32, #q>, tensor<64x24x3x3xf32>) -> tensor<?x9x11x64xf32, #qc>
  %61 = graph.reshape %60 : (tensor<?x9x11x64xf32, #qc>) -> tensor<?x9x11x2x2x16xf32, #q6>
  %62 = graph.transpose %61 {perm = array<i64: 0, 1, 3, 2, 4, 5>} : (tensor<?x9x11x2x2x16xf32, #q6>) -> tensor<?x9x2x11x2x16xf32, #qt>
  %wide = graph.reshape %62 : (tensor<?x9x2x11x2x16xf32, #qt>) -> tensor<?x18x22x16xf32, #qo>
  return %windows, %rows, %crd, %dcr, %odd, %patches, %shuffle, %wide : tensor<?x784x40xf32, #y>, tensor<?x784x40xf32, #y>, tensor<?x3x18x22xf32, #f>, tensor<?x18x22x3xf32, #e>, tensor<?x27x33x3xf32, #o>, tensor<?x8x12x16xf32, #vo>, tensor<?x5x7x96xf32, #g>, tensor<?x18x22x16xf32, #qo>
}

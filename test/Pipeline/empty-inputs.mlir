// Inputs without elements: nothing is computed, and empty sums are 0. A quotient of sizes
// by a size of 0 is one by 1.
// RUN: rm -rf %t && mkdir %t && atranslate %s -O0 -o %t/0.so && atranslate %s -O2 -o %t/2.so
// RUN: for s in 4x0,0x5,0x3 4x0,0x0,2x3 0x6,6x5,2x3 0x0,0x5,0x3 4x6,6x0,1x3; do a=${s%%%%,*}; rest=${s#*,}; b=${rest%%,*}; c=${rest#*,}; rm -rf %t/e; for o in 0 2; do arun %t/$o.so --random --shape x=$a --shape y=$b --shape i=$c --shape image=${c%%x*}x2x5x5 --output-dir %t/$o || exit 1; done; arun %t/2.so --random --shape x=$a --shape y=$b --shape i=$c --shape image=${c%%x*}x2x5x5 --range-tol 1e-6 --expect sum=%t/0/sum.npy --expect product=%t/0/product.npy --expect soft=%t/0/soft.npy --expect both=%t/0/both.npy --expect rows=%t/0/rows.npy --expect conv=%t/0/conv.npy --expect quotient=%t/0/quotient.npy || exit 1; done
// RUN: for o in 0 2; do arun %t/$o.so --random --shape x=4x0 --shape y=0x5 --shape i=0x3 --shape image=0x2x5x5 --output-dir %t/z | FileCheck %s || exit 1; arun %t/$o.so --random --shape x=4x0 --shape y=0x5 --shape i=0x3 --shape image=0x2x5x5 --expect sum=%t/z/zeros.npy --expect product=%t/z/matrix.npy || exit 1; done
// CHECK: output 'sum': f32 4
// CHECK: output 'product': f32 4x5
// CHECK: output 'soft': f32 4x0
// CHECK: output 'both': f32 8x0
// CHECK: output 'rows': f32 0x3x4
// CHECK: output 'conv': f32 0x3x3x3
// CHECK: output 'quotient': f32 4
#x = affine_map<()[s0, s1, s2, s3, s4] -> (s0, s1)>
#y = affine_map<()[s0, s1, s2, s3, s4] -> (s1, s2)>
#i = affine_map<()[s0, s1, s2, s3, s4] -> (s3, s4)>
#image = affine_map<()[s0, s1, s2, s3, s4] -> (s3, 2, 5, 5)>
#s = affine_map<()[s0] -> (s0)>
#m = affine_map<()[s0, s1, s2] -> (s0, s2)>
#b = affine_map<()[s0, s1] -> (s0 * 2, s1)>
#r = affine_map<()[s0, s1, s2, s3, s4] -> (s3, s4, 4)>
#c = affine_map<()[s0, s1, s2, s3, s4] -> (s3, 3, 3, 3)>
#q = affine_map<()[s0, s1] -> (s0 floordiv s1)>
func.func @main(%x: tensor<?x?xf32, #x> {graph.name = "x"}, %y: tensor<?x?xf32, #y> {graph.name = "y"}, %i: tensor<?x?xi64, #i> {graph.name = "i"}, %image: tensor<?x2x5x5xf32, #image> {graph.name = "image"})
    -> (tensor<?xf32, #s> {graph.name = "sum"}, tensor<?x?xf32, #m> {graph.name = "product"}, tensor<?x?xf32, #x> {graph.name = "soft"}, tensor<?x?xf32, #b> {graph.name = "both"}, tensor<?x?x4xf32, #r> {graph.name = "rows"}, tensor<?x3x3x3xf32, #c> {graph.name = "conv"}, tensor<?xf32, #q> {graph.name = "quotient"}, tensor<?xf32, #s> {graph.name = "zeros"}, tensor<?x?xf32, #m> {graph.name = "matrix"})
    attributes {graph.symbols = ["a", "b", "c", "d", "e"], graph.symbol_ranges = [array<i64: 0, -1, -1>, array<i64: 0, -1, -1>, array<i64: 0, -1, -1>, array<i64: 0, -1, -1>, array<i64: 0, -1, -1>]} {
  %0 = graph.reduce_sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<?x?xf32, #x>) -> tensor<?xf32, #s>
  %1 = graph.matmul %x, %y : (tensor<?x?xf32, #x>, tensor<?x?xf32, #y>) -> tensor<?x?xf32, #m>
  %2 = graph.softmax %x {axis = 1 : i64} : (tensor<?x?xf32, #x>) -> tensor<?x?xf32, #x>
  %3 = graph.concat %x, %2 {axis = 0 : i64} : (tensor<?x?xf32, #x>, tensor<?x?xf32, #x>) -> tensor<?x?xf32, #b>
  %table = graph.constant dense<0.25> : tensor<100x4xf32>
  %4 = graph.gather %table, %i {axis = 0 : i64} : (tensor<100x4xf32>, tensor<?x?xi64, #i>) -> tensor<?x?x4xf32, #r>
  %w = graph.constant dense<0.5> : tensor<3x2x3x3xf32>
  %5 = graph.conv %image, %w {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<?x2x5x5xf32, #image>, tensor<3x2x3x3xf32>) -> tensor<?x3x3x3xf32, #c>
  %one = graph.constant dense<1.0> : tensor<f32>
  %6 = graph.broadcast_to %one : (tensor<f32>) -> tensor<?xf32, #q>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %7 = graph.broadcast_to %zero : (tensor<f32>) -> tensor<?xf32, #s>
  %8 = graph.broadcast_to %zero : (tensor<f32>) -> tensor<?x?xf32, #m>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<?xf32, #s>, tensor<?x?xf32, #m>, tensor<?x?xf32, #x>, tensor<?x?xf32, #b>, tensor<?x?x4xf32, #r>, tensor<?x3x3x3xf32, #c>, tensor<?xf32, #q>, tensor<?xf32, #s>, tensor<?x?xf32, #m>
}

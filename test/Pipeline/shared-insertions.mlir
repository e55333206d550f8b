// Convolutions that insert their results into a concatenation: if they differ only in the
// channels that they replace and in the number of channels of the concatenation, one is
// compiled with both as symbols, for static (o, p) and symbolic (q) sizes of the image. Those
// that differ in the rows that they replace (r) are compiled separately. Same results as the
// reference path for any number of threads.
// RUN: rm -rf %t && mkdir -p %t/0 && cd %t
// RUN: atranslate -O0 %s -o 0.so && atranslate %s -o 2.so
// RUN: arun 0.so --random --shape d=1x32x33x30 --shape e=1x32x33x30 --output-dir 0
// RUN: arun 2.so --random --shape d=1x32x33x30 --shape e=1x32x33x30 --threads 1 --range-tol 1e-5 --expect o=0/o.npy --expect p=0/p.npy --expect q=0/q.npy --expect r=0/r.npy | FileCheck %s --check-prefix=TAKEN
// RUN: arun 2.so --random --shape d=1x32x33x30 --shape e=1x32x33x30 --threads 2 --range-tol 1e-5 --expect o=0/o.npy --expect p=0/p.npy --expect q=0/q.npy --expect r=0/r.npy | FileCheck %s --check-prefix=TAKEN
// RUN: atranslate %s --emit=obj -o 2.o && llvm-nm 2.o | FileCheck %s
// TAKEN: output 'r'
// CHECK-DAG: v0.winograd_conv_insert_slice_0{{$}}
// CHECK-DAG: v0.winograd_conv_insert_slice_6{{$}}
// CHECK-DAG: winograd_conv_insert_slice_0_anywhere.body
// CHECK-DAG: winograd_conv_insert_slice_5_anywhere.body
// CHECK-DAG: winograd_conv_insert_slice_7.body
// CHECK-DAG: winograd_conv_insert_slice_8.body
// CHECK-NOT: winograd_conv_insert_slice_{{[0-6]}}.body
#d = affine_map<()[s0, s1] -> (1, 32, s0, s1)>
#q = affine_map<()[s0, s1] -> (1, 64, s0, s1)>
func.func @main(%a: tensor<1x32x48x46xf32> {graph.name = "a"}, %b: tensor<1x32x48x46xf32> {graph.name = "b"}, %c: tensor<1x32x48x46xf32> {graph.name = "c"}, %d: tensor<1x32x?x?xf32, #d> {graph.name = "d"}, %e: tensor<1x32x?x?xf32, #d> {graph.name = "e"})
    -> (tensor<1x96x48x46xf32> {graph.name = "o"}, tensor<1x64x48x46xf32> {graph.name = "p"}, tensor<1x64x?x?xf32, #q> {graph.name = "q"}, tensor<1x32x96x46xf32> {graph.name = "r"})
    attributes {graph.symbols = ["h", "w"]} {
  %w = graph.constant dense<0.0625> : tensor<32x32x3x3xf32>
  %v = graph.constant dense<-0.125> : tensor<32x32x3x3xf32>
  %u = graph.constant dense<0.25> : tensor<32x32x3x3xf32>
  %1 = graph.conv %a, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x32x48x46xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x48x46xf32>
  %2 = graph.conv %b, %v {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x32x48x46xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x48x46xf32>
  %3 = graph.conv %c, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x32x48x46xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x48x46xf32>
  %o = graph.concat %1, %2, %3 {axis = 1 : i64} : (tensor<1x32x48x46xf32>, tensor<1x32x48x46xf32>, tensor<1x32x48x46xf32>) -> tensor<1x96x48x46xf32>
  %4 = graph.conv %a, %v {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x32x48x46xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x48x46xf32>
  %5 = graph.conv %b, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x32x48x46xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x48x46xf32>
  %p = graph.concat %4, %5 {axis = 1 : i64} : (tensor<1x32x48x46xf32>, tensor<1x32x48x46xf32>) -> tensor<1x64x48x46xf32>
  %6 = graph.conv %d, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x32x?x?xf32, #d>, tensor<32x32x3x3xf32>) -> tensor<1x32x?x?xf32, #d>
  %7 = graph.conv %e, %v {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x32x?x?xf32, #d>, tensor<32x32x3x3xf32>) -> tensor<1x32x?x?xf32, #d>
  %q = graph.concat %6, %7 {axis = 1 : i64} : (tensor<1x32x?x?xf32, #d>, tensor<1x32x?x?xf32, #d>) -> tensor<1x64x?x?xf32, #q>
  %8 = graph.conv %a, %u {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x32x48x46xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x48x46xf32>
  %9 = graph.conv %b, %u {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x32x48x46xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x48x46xf32>
  %r = graph.concat %8, %9 {axis = 2 : i64} : (tensor<1x32x48x46xf32>, tensor<1x32x48x46xf32>) -> tensor<1x32x96x46xf32>
  return %o, %p, %q, %r : tensor<1x96x48x46xf32>, tensor<1x64x48x46xf32>, tensor<1x64x?x?xf32, #q>, tensor<1x32x96x46xf32>
}

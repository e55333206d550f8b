// Products in bf16 compared with those in f32: convolutions, one of every other pixel, and
// matrix products with an epilogue; the same bits on one and two threads, and close to f32.
// REQUIRES: host-bf16
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s --precision=bf16 -o %t/1.so
// RUN: atranslate %s --precision=bf16 --emit=llvm -o - | FileCheck %s
// CHECK: dpbf16ps
// DEFINE: %{expect} = --expect y=%t/0/y.npy --expect z=%t/0/z.npy --expect s=%t/0/s.npy
// RUN: arun %t/0.so --random --shape x=5x70 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=5x70 --threads 1 --output-dir %t/1 --range-tol 3e-2 %{expect}
// RUN: arun %t/1.so --random --shape x=5x70 --threads 2 --output-dir %t/2
// RUN: diff -r %t/1 %t/2
#x = affine_map<()[s0] -> (s0, 70)>
#y = affine_map<()[s0] -> (s0, 33)>
#m = affine_map<()[s0] -> (s0, 48)>
func.func @main(%x: tensor<?x70xf32, #x> {graph.name = "x"}, %i: tensor<1x6x9x11xf32> {graph.name = "i"}) -> (
    tensor<?x33xf32, #y> {graph.name = "y"}, tensor<1x20x9x11xf32> {graph.name = "z"}, tensor<1x32x5x6xf32> {graph.name = "s"})
    attributes {graph.symbols = ["m"]} {
  // Weights that are not a splat.
  %from = graph.constant dense<0.0> : tensor<f32>
  %to = graph.constant dense<2352.0> : tensor<f32>
  %by = graph.constant dense<0.7> : tensor<f32>
  %t0 = graph.range %from, %to, %by : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<3360xf32>
  %t1 = graph.sin %t0 : (tensor<3360xf32>) -> tensor<3360xf32>
  %t = graph.reshape %t1 : (tensor<3360xf32>) -> tensor<70x48xf32>
  %u0 = graph.slice %t1 {starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<3360xf32>) -> tensor<1584xf32>
  %u = graph.reshape %u0 : (tensor<1584xf32>) -> tensor<48x33xf32>
  %r = graph.constant dense<0.11> : tensor<48xf32>
  %f0 = graph.slice %t1 {starts = array<i64: 0>, steps = array<i64: 3>} : (tensor<3360xf32>) -> tensor<1080xf32>
  %f = graph.reshape %f0 : (tensor<1080xf32>) -> tensor<20x6x3x3xf32>
  %0 = graph.matmul %x, %t : (tensor<?x70xf32, #x>, tensor<70x48xf32>) -> tensor<?x48xf32, #m>
  %1 = graph.add %0, %r : (tensor<?x48xf32, #m>, tensor<48xf32>) -> tensor<?x48xf32, #m>
  %2 = graph.relu %1 : (tensor<?x48xf32, #m>) -> tensor<?x48xf32, #m>
  %3 = graph.matmul %2, %u : (tensor<?x48xf32, #m>, tensor<48x33xf32>) -> tensor<?x33xf32, #y>
  %4 = graph.conv %i, %f {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x6x9x11xf32>, tensor<20x6x3x3xf32>) -> tensor<1x20x9x11xf32>
  %g0 = graph.slice %t1 {starts = array<i64: 0>, steps = array<i64: 5>} : (tensor<3360xf32>) -> tensor<640xf32>
  %g = graph.reshape %g0 : (tensor<640xf32>) -> tensor<32x20x1x1xf32>
  %5 = graph.conv %4, %g {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x20x9x11xf32>, tensor<32x20x1x1xf32>) -> tensor<1x32x5x6xf32>
  return %3, %4, %5 : tensor<?x33xf32, #y>, tensor<1x20x9x11xf32>, tensor<1x32x5x6xf32>
}

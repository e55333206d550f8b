// A quantized LSTM of a dynamic number of rows: one row, a register block and several, on
// one thread and two. Same results as the reference path. A kernel for AMX compiles: it has
// a single row next to blocks of rows, whose registers have another shape.
// RUN: rm -rf %t && mkdir -p %t/0
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// RUN: atranslate --mcpu=sapphirerapids %s --emit=obj -o %t/2.o
// RUN: arun %t/0.so --random --shape x=4x1x2048 --shape h=1x512 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=4x1x2048 --shape h=1x512 --threads 1 --range-tol 2e-3 --expect y=%t/0/y.npy --expect z=%t/0/z.npy
// RUN: arun %t/0.so --random --shape x=4x19x2048 --shape h=19x512 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=4x19x2048 --shape h=19x512 --threads 1 --range-tol 2e-3 --expect y=%t/0/y.npy --expect z=%t/0/z.npy
// RUN: arun %t/1.so --random --shape x=4x19x2048 --shape h=19x512 --threads 2 --range-tol 2e-3 --expect y=%t/0/y.npy --expect z=%t/0/z.npy
#x = affine_map<()[s0] -> (4, s0, 2048)>
#y = affine_map<()[s0] -> (4, s0, 512)>
#h = affine_map<()[s0] -> (s0, 512)>
func.func @main(%x: tensor<4x?x2048xf32, #x> {graph.name = "x"}, %h: tensor<?x512xf32, #h> {graph.name = "h"}) -> (tensor<4x?x512xf32, #y> {graph.name = "y"}, tensor<?x512xf32, #h> {graph.name = "z"}) attributes {graph.symbols = ["b"]} {
  %zero = graph.constant dense<0> : tensor<i64>
  %n = graph.constant dense<1048576> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %0 = graph.range %zero, %n, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1048576xi64>
  %1 = graph.cast %0 : (tensor<1048576xi64>) -> tensor<1048576xf32>
  %2 = graph.sin %1 : (tensor<1048576xf32>) -> tensor<1048576xf32>
  %most = graph.constant dense<90.0> : tensor<f32>
  %3 = graph.mul %2, %most : (tensor<1048576xf32>, tensor<f32>) -> tensor<1048576xf32>
  %4 = graph.cast %3 : (tensor<1048576xf32>) -> tensor<1048576xi8>
  %dims = graph.constant dense<[4, 512, 512]> : tensor<3xi64>
  %w = graph.reshape %4, %dims : (tensor<1048576xi8>, tensor<3xi64>) -> tensor<4x512x512xi8>
  %wide = graph.cast %w : (tensor<4x512x512xi8>) -> tensor<4x512x512xi32>
  %t = graph.reduce_sum %wide {axes = array<i64: 1>, keepdims = false} : (tensor<4x512x512xi32>) -> tensor<4x512xi32>
  %s = graph.constant dense<0.003> : tensor<4x512xf32>
  %5:3 = graph.recurrent %x weights %w state %h memory %h scales %s sums %t {cell = #graph.cell<lstm>, activations = ["sigmoid", "tanh", "tanh"], alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>} : (tensor<4x?x2048xf32, #x>, tensor<4x512x512xi8>, tensor<?x512xf32, #h>, tensor<?x512xf32, #h>, tensor<4x512xf32>, tensor<4x512xi32>) -> (tensor<4x?x512xf32, #y>, tensor<?x512xf32, #h>, tensor<?x512xf32, #h>)
  return %5#0, %5#2 : tensor<4x?x512xf32, #y>, tensor<?x512xf32, #h>
}

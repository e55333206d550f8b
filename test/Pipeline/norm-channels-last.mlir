// Normalisations of each channel, of groups of channels and of all of them, between
// channels-last ops: reductions in that layout, with the results of the reference path.
// The values are far from 0.
// RUN: rm -rf %t && mkdir %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so
// RUN: atranslate %s --emit=graph -o - | FileCheck %s
// RUN: arun %t/0.so --random --shape x=3x6x5x7 --output-dir %t
// RUN: for t in 1 2; do arun %t/2.so --random --shape x=3x6x5x7 --threads $t --range-tol 1e-5 --expect y=%t/y.npy || exit 1; done
// CHECK-NOT: graph.layer_norm
// CHECK-COUNT-8: graph.reduce_mean
#x = affine_map<()[s0] -> (s0, 6, 5, 7)>
#g = affine_map<()[s0] -> (s0, 2, 3, 5, 7)>
#r = affine_map<()[s0] -> (s0, 1, 210)>
func.func @main(%x: tensor<?x6x5x7xf32, #x> {graph.name = "x"}) -> (tensor<?x6x5x7xf32, #x> {graph.name = "y"}) attributes {graph.symbols = ["n"]} {
  %far = graph.constant dense<20.0> : tensor<f32>
  %s = graph.constant dense<[[[1.0]], [[2.0]], [[-0.5]], [[0.75]], [[1.5]], [[-1.0]]]> : tensor<6x1x1xf32>
  %t = graph.constant dense<[[[[0.5]], [[-1.0]], [[3.0]]], [[[0.25]], [[0.5]], [[1.0]]]]> : tensor<2x3x1x1xf32>
  %z = graph.add %x, %far : (tensor<?x6x5x7xf32, #x>, tensor<f32>) -> tensor<?x6x5x7xf32, #x>
  %w = graph.constant dense<[[[[-0.50]], [[-0.75]], [[0.25]], [[-0.75]], [[1.00]], [[1.00]]], [[[1.00]], [[0.75]], [[-0.25]], [[-0.75]], [[1.00]], [[-1.00]]], [[[0.75]], [[0.75]], [[-1.00]], [[1.00]], [[0.25]], [[-0.25]]], [[[-0.75]], [[0.50]], [[-1.00]], [[-1.00]], [[-1.00]], [[-1.00]]], [[[0.75]], [[-0.25]], [[0.75]], [[-1.00]], [[-0.25]], [[1.00]]], [[[1.00]], [[-0.25]], [[0.50]], [[-0.25]], [[-0.25]], [[1.00]]]]> : tensor<6x6x1x1xf32>
  %p = graph.conv %z, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x6x5x7xf32, #x>, tensor<6x6x1x1xf32>) -> tensor<?x6x5x7xf32, #x>
  %0 = graph.layer_norm %p scale %s bias %s {axis = 2 : i64} : (tensor<?x6x5x7xf32, #x>, tensor<6x1x1xf32>, tensor<6x1x1xf32>) -> tensor<?x6x5x7xf32, #x>
  %1 = graph.reshape %0 : (tensor<?x6x5x7xf32, #x>) -> tensor<?x2x3x5x7xf32, #g>
  %2 = graph.layer_norm %1 scale %t {axis = 2 : i64} : (tensor<?x2x3x5x7xf32, #g>, tensor<2x3x1x1xf32>) -> tensor<?x2x3x5x7xf32, #g>
  %3 = graph.reshape %2 : (tensor<?x2x3x5x7xf32, #g>) -> tensor<?x1x210xf32, #r>
  %4 = graph.layer_norm %3 {axis = 2 : i64} : (tensor<?x1x210xf32, #r>) -> tensor<?x1x210xf32, #r>
  %5 = graph.reshape %4 : (tensor<?x1x210xf32, #r>) -> tensor<?x6x5x7xf32, #x>
  %y = graph.add %5, %p : (tensor<?x6x5x7xf32, #x>, tensor<?x6x5x7xf32, #x>) -> tensor<?x6x5x7xf32, #x>
  return %y : tensor<?x6x5x7xf32, #x>
}

// A batch normalisation before a transposed convolution with groups, strides, pads and a
// bias: folded into its filter, with the shifts of one image added.
// RUN: rm -rf %t && mkdir %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so
// RUN: atranslate %s --emit=graph -o - | FileCheck %s
// RUN: arun %t/0.so --random --shape x=3x4x5x6 --output-dir %t
// RUN: arun %t/2.so --random --shape x=3x4x5x6 --range-tol 1e-5 --expect y=%t/y.npy
// CHECK: graph.cluster{{.*}} anchor "pointwise"
// CHECK-NEXT: graph.transpose
// CHECK-NEXT: graph.yield
// CHECK: anchor "conv_transpose"
// CHECK-NEXT: graph.conv_transpose
// CHECK-NEXT: graph.add
// CHECK-NEXT: graph.transpose
#x = affine_map<()[s0] -> (s0, 4, 5, 6)>
#y = affine_map<()[s0] -> (s0, 2, 9, 11)>
func.func @main(%x: tensor<?x4x5x6xf32, #x> {graph.name = "x"}) -> (tensor<?x2x9x11xf32, #y> {graph.name = "y"}) attributes {graph.symbols = ["n"]} {
  %w = graph.constant dense<[[[[0.5, 1.0, -0.25], [0.1, 0.2, 0.3], [-1.0, 0.7, 0.0]]], [[[1.5, -1.0, 0.25], [0.4, 0.9, -0.3], [1.0, 0.5, 0.2]]], [[[0.3, 0.1, -0.5], [0.6, -0.2, 0.8], [-0.1, 0.4, 0.7]]], [[[0.9, 1.1, 0.25], [0.1, -0.6, 0.3], [0.2, 0.7, -0.4]]]]> : tensor<4x1x3x3xf32>
  %b = graph.constant dense<[0.5, -0.25]> : tensor<2xf32>
  %s = graph.constant dense<[1.0, 2.0, -0.5, 0.75]> : tensor<4xf32>
  %t = graph.constant dense<[0.5, -1.0, 3.0, 0.25]> : tensor<4xf32>
  %m = graph.constant dense<[0.1, 0.2, -0.3, 0.4]> : tensor<4xf32>
  %v = graph.constant dense<[1.1, 0.7, 2.0, 0.9]> : tensor<4xf32>
  %n = graph.batch_norm %x, %s, %t, %m, %v : (tensor<?x4x5x6xf32, #x>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x5x6xf32, #x>
  %y = graph.conv_transpose %n, %w, %b {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, group = 2 : i64} : (tensor<?x4x5x6xf32, #x>, tensor<4x1x3x3xf32>, tensor<2xf32>) -> tensor<?x2x9x11xf32, #y>
  return %y : tensor<?x2x9x11xf32, #y>
}

// Tokens that a convolution reads as an image, and tokens again: no kernel moves them,
// and the results are those of the reference path.
// RUN: rm -rf %t && mkdir %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so
// RUN: atranslate %s --emit=graph -o - | FileCheck %s
// RUN: arun %t/0.so --random --shape x=2x20x6 --output-dir %t
// RUN: for t in 1 2; do arun %t/2.so --random --shape x=2x20x6 --threads $t --range-tol 1e-5 --expect y=%t/y.npy || exit 1; done
// CHECK-NOT: graph.transpose
// CHECK: graph.conv
// CHECK-NOT: graph.transpose
// CHECK: return
#t = affine_map<()[s0] -> (s0, 20, 6)>
#c = affine_map<()[s0] -> (s0, 6, 20)>
#i = affine_map<()[s0] -> (s0, 6, 4, 5)>
func.func @main(%x: tensor<?x20x6xf32, #t> {graph.name = "x"}) -> (tensor<?x20x6xf32, #t> {graph.name = "y"}) attributes {graph.symbols = ["n"]} {
  %w = graph.constant dense<[[[[0.5, 1.0], [-0.25, 0.1]]], [[[0.2, 0.3], [-1.0, 0.7]]], [[[1.5, -1.0], [0.25, 0.4]]], [[[0.9, -0.3], [1.0, 0.5]]], [[[0.3, 0.1], [-0.5, 0.6]]], [[[-0.2, 0.8], [-0.1, 0.4]]]]> : tensor<6x1x2x2xf32>
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<?x20x6xf32, #t>) -> tensor<?x6x20xf32, #c>
  %1 = graph.reshape %0 : (tensor<?x6x20xf32, #c>) -> tensor<?x6x4x5xf32, #i>
  %2 = graph.conv %1, %w {group = 6 : i64, dilations = array<i64: 1, 1>, pads = array<i64: 0, 1, 1, 0>, strides = array<i64: 1, 1>} : (tensor<?x6x4x5xf32, #i>, tensor<6x1x2x2xf32>) -> tensor<?x6x4x5xf32, #i>
  %3 = graph.add %2, %1 : (tensor<?x6x4x5xf32, #i>, tensor<?x6x4x5xf32, #i>) -> tensor<?x6x4x5xf32, #i>
  %4 = graph.reshape %3 : (tensor<?x6x4x5xf32, #i>) -> tensor<?x6x20xf32, #c>
  %5 = graph.transpose %4 {perm = array<i64: 0, 2, 1>} : (tensor<?x6x20xf32, #c>) -> tensor<?x20x6xf32, #t>
  return %5 : tensor<?x20x6xf32, #t>
}

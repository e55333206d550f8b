// A depthwise convolution that reads planes of channels and stores pixels: all channels
// of a row before the next row, so that threads seldom share cache lines. Same results as
// the reference path, and the same bits on one and two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// RUN: arun %t/0.so --random --shape x=2x24x9x19 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=2x24x9x19 --threads 1 --output-dir %t/1 --range-tol 1e-5 --expect y=%t/0/y.npy
// RUN: arun %t/1.so --random --shape x=2x24x9x19 --threads 2 --output-dir %t/2
// RUN: diff -r %t/1 %t/2
// RUN: atranslate %s --emit=tile -o - | FileCheck %s
// CHECK: tile.kernel
// CHECK-DAG: %[[CHANNELS:.*]] = arith.constant 24 : index
// CHECK: tile.program_id(%[[CHANNELS]], %{{.*}}) : index, index
#x = affine_map<()[s0, s1] -> (s0, 24, s1, 19)>
#y = affine_map<()[s0, s1] -> (s0, s1, 19, 24)>
func.func @main(%x: tensor<?x24x?x19xf32, #x> {graph.name = "x"}) -> (tensor<?x?x19x24xf32, #y> {graph.name = "y"}) attributes {graph.symbols = ["n", "h"]} {
  %w = graph.constant dense<[[[[0.5, 1.0, -0.25], [0.1, 0.2, 0.3], [-1.0, 0.7, 0.0]]]]> : tensor<1x1x3x3xf32>
  %n = graph.constant dense<[24, 1, 3, 3]> : tensor<4xi64>
  %f = graph.broadcast_to %w, %n : (tensor<1x1x3x3xf32>, tensor<4xi64>) -> tensor<24x1x3x3xf32>
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x24x?x19xf32, #x>) -> tensor<?x?x19x24xf32, #y>
  %1 = graph.conv %0, %f {group = 24 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<?x?x19x24xf32, #y>, tensor<24x1x3x3xf32>) -> tensor<?x?x19x24xf32, #y>
  return %1 : tensor<?x?x19x24xf32, #y>
}

// A window that consists of padding, and attention without keys, result in 0 as on the
// reference path.
// RUN: rm -rf %t && mkdir -p %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so --stats 2>&1 | FileCheck %s
// RUN: arun %t/0.so --random --shape k=1x2x0x16 --shape v=1x2x0x16 --output-dir %t
// RUN: arun %t/2.so --random --shape k=1x2x0x16 --shape v=1x2x0x16 --expect y=%t/y.npy --expect a=%t/a.npy
// RUN: arun %t/0.so --random --shape k=1x2x5x16 --shape v=1x2x5x16 --output-dir %t
// RUN: arun %t/2.so --random --shape k=1x2x5x16 --shape v=1x2x5x16 --range-tol 1e-5 --expect y=%t/y.npy --expect a=%t/a.npy
// CHECK: convert-graph-to-tile: refused = 0
// CHECK: graph-recognize-attention: recognized = 1
#k = affine_map<()[s0] -> (1, 2, s0, 16)>
#s = affine_map<()[s0] -> (1, 2, 7, s0)>
func.func @main(%x: tensor<16x7x1x16xf32> {graph.name = "x"}, %w: tensor<3x7x1x1xf32> {graph.name = "w"},
    %q: tensor<1x2x7x16xf32> {graph.name = "q"}, %k: tensor<1x2x?x16xf32, #k> {graph.name = "k"}, %v: tensor<1x2x?x16xf32, #k> {graph.name = "v"})
    -> (tensor<16x3x1x16xf32> {graph.name = "y"}, tensor<1x2x7x16xf32> {graph.name = "a"}) attributes {graph.symbols = ["keys"], graph.symbol_ranges = [array<i64: 0, -1, -1>]} {
  %y = graph.conv %x, %w {dilations = array<i64: 1, 1>, pads = array<i64: 1, 0, 0, 0>, strides = array<i64: 2, 1>} : (tensor<16x7x1x16xf32>, tensor<3x7x1x1xf32>) -> tensor<16x3x1x16xf32>
  %0 = graph.matmul %q, %k {transpose_b = true} : (tensor<1x2x7x16xf32>, tensor<1x2x?x16xf32, #k>) -> tensor<1x2x7x?xf32, #s>
  %1 = graph.softmax %0 {axis = 3 : i64} : (tensor<1x2x7x?xf32, #s>) -> tensor<1x2x7x?xf32, #s>
  %a = graph.matmul %1, %v : (tensor<1x2x7x?xf32, #s>, tensor<1x2x?x16xf32, #k>) -> tensor<1x2x7x16xf32>
  return %y, %a : tensor<16x3x1x16xf32>, tensor<1x2x7x16xf32>
}

// Max pooling over large windows, one dim after the other: bit-equal to the reference
// path, with borders, strides, dilations and NaN.
// RUN: rm -rf %t && mkdir -p %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so
// RUN: arun %t/0.so --random --shape x=2x20x11x17 --output-dir %t
// RUN: arun %t/2.so --random --shape x=2x20x11x17 --rtol 0 --atol 0 --expect a=%t/a.npy --expect b=%t/b.npy --expect c=%t/c.npy --expect d=%t/d.npy | FileCheck %s
// CHECK-COUNT-4: output
#x = affine_map<()[s0, s1] -> (2, 20, s0, s1)>
#d = affine_map<()[s0, s1] -> (2, 20, s0 - 6, s1 - 12)>
func.func @main(%x: tensor<2x20x?x?xf32, #x> {graph.name = "x"}) -> (tensor<2x20x?x?xf32, #x> {graph.name = "a"}, tensor<2x20x?x?xf32, #x> {graph.name = "b"}, tensor<2x20x?x?xf32, #d> {graph.name = "c"}, tensor<2x20x?x?xf32, #x> {graph.name = "d"}) attributes {graph.symbols = ["h", "w"]} {
  %a = graph.max_pool %x {kernel = array<i64: 13, 13>, strides = array<i64: 1, 1>, pads = array<i64: 6, 6, 6, 6>, dilations = array<i64: 1, 1>} : (tensor<2x20x?x?xf32, #x>) -> tensor<2x20x?x?xf32, #x>
  %log = graph.log %x : (tensor<2x20x?x?xf32, #x>) -> tensor<2x20x?x?xf32, #x>
  %b = graph.max_pool %log {kernel = array<i64: 7, 7>, strides = array<i64: 1, 1>, pads = array<i64: 6, 0, 0, 6>, dilations = array<i64: 1, 1>} : (tensor<2x20x?x?xf32, #x>) -> tensor<2x20x?x?xf32, #x>
  %c = graph.max_pool %x {kernel = array<i64: 7, 7>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 2>} : (tensor<2x20x?x?xf32, #x>) -> tensor<2x20x?x?xf32, #d>
  %relu = graph.relu %x : (tensor<2x20x?x?xf32, #x>) -> tensor<2x20x?x?xf32, #x>
  %d = graph.max_pool %relu {kernel = array<i64: 9, 9>, strides = array<i64: 1, 1>, pads = array<i64: 4, 4, 4, 4>, dilations = array<i64: 1, 1>} : (tensor<2x20x?x?xf32, #x>) -> tensor<2x20x?x?xf32, #x>
  return %a, %b, %c, %d : tensor<2x20x?x?xf32, #x>, tensor<2x20x?x?xf32, #x>, tensor<2x20x?x?xf32, #d>, tensor<2x20x?x?xf32, #x>
}

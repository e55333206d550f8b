// Pads of each kind, also negative ones and of computed tensors: bit-equal to the
// reference path.
// RUN: rm -rf %t && mkdir -p %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so
// RUN: arun %t/0.so --random --shape x=3x19x37 --output-dir %t
// RUN: arun %t/2.so --random --shape x=3x19x37 --threads 2 --rtol 0 --atol 0 --expect a=%t/a.npy --expect b=%t/b.npy --expect c=%t/c.npy --expect d=%t/d.npy --expect e=%t/e.npy --expect f=%t/f.npy | FileCheck %s
// CHECK-COUNT-6: output
#x = affine_map<()[s0, s1] -> (3, s0, s1)>
#a = affine_map<()[s0, s1] -> (3, s0 + 4, s1 + 5)>
#c = affine_map<()[s0, s1] -> (3, s0 + 1, s1 - 3)>
func.func @main(%x: tensor<3x?x?xf32, #x> {graph.name = "x"}, %z: tensor<2x5x29x83xf32> {graph.name = "z"}, %i: tensor<7x45xi8> {graph.name = "i"}, %v: tensor<f32> {graph.name = "v"}) -> (tensor<3x?x?xf32, #a> {graph.name = "a"}, tensor<3x?x?xf32, #a> {graph.name = "b"}, tensor<3x?x?xf32, #c> {graph.name = "c"}, tensor<2x5x35x90xf32> {graph.name = "d"}, tensor<2x5x35x90xf32> {graph.name = "e"}, tensor<9x49xi8> {graph.name = "f"}) attributes {graph.symbols = ["h", "w"]} {
  %a = graph.pad %x, %v {low = array<i64: 0, 1, 2>, high = array<i64: 0, 3, 3>} : (tensor<3x?x?xf32, #x>, tensor<f32>) -> tensor<3x?x?xf32, #a>
  %b = graph.pad %x {low = array<i64: 0, 1, 2>, high = array<i64: 0, 3, 3>, mode = #graph.pad_mode<edge>} : (tensor<3x?x?xf32, #x>) -> tensor<3x?x?xf32, #a>
  %n = graph.neg %x : (tensor<3x?x?xf32, #x>) -> tensor<3x?x?xf32, #x>
  %m = graph.pad %n, %v {low = array<i64: 0, 2, -4>, high = array<i64: 0, -1, 1>} : (tensor<3x?x?xf32, #x>, tensor<f32>) -> tensor<3x?x?xf32, #c>
  %c = graph.abs %m : (tensor<3x?x?xf32, #c>) -> tensor<3x?x?xf32, #c>
  %d = graph.pad %z {low = array<i64: 0, 0, 2, 3>, high = array<i64: 0, 0, 4, 4>, mode = #graph.pad_mode<reflect>} : (tensor<2x5x29x83xf32>) -> tensor<2x5x35x90xf32>
  %e = graph.pad %z {low = array<i64: 0, 0, 2, 3>, high = array<i64: 0, 0, 4, 4>, mode = #graph.pad_mode<wrap>} : (tensor<2x5x29x83xf32>) -> tensor<2x5x35x90xf32>
  %f = graph.pad %i {low = array<i64: 1, 2>, high = array<i64: 1, 2>, mode = #graph.pad_mode<reflect>} : (tensor<7x45xi8>) -> tensor<9x49xi8>
  return %a, %b, %c, %d, %e, %f : tensor<3x?x?xf32, #a>, tensor<3x?x?xf32, #a>, tensor<3x?x?xf32, #c>, tensor<2x5x35x90xf32>, tensor<2x5x35x90xf32>, tensor<9x49xi8>
}

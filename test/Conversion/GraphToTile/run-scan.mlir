// Cumulative sums and products along any dim, in both directions, of floats and integers:
// same results as the reference path.
// RUN: rm -rf %t && mkdir -p %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so
// RUN: arun %t/0.so --random --shape x=3x11x70 --output-dir %t
// RUN: arun %t/2.so --random --shape x=3x11x70 --threads 2 --rtol 0 --atol 0 --expect a=%t/a.npy --expect b=%t/b.npy --expect c=%t/c.npy --expect d=%t/d.npy --expect e=%t/e.npy | FileCheck %s
// CHECK-COUNT-5: output
#x = affine_map<()[s0, s1] -> (3, s0, s1)>
func.func @main(%x: tensor<3x?x?xf32, #x> {graph.name = "x"}, %i: tensor<5x9x33xi32> {graph.name = "i"}) -> (tensor<3x?x?xf32, #x> {graph.name = "a"}, tensor<3x?x?xf32, #x> {graph.name = "b"}, tensor<3x?x?xf32, #x> {graph.name = "c"}, tensor<5x9x33xi32> {graph.name = "d"}, tensor<5x9x33xi32> {graph.name = "e"}) attributes {graph.symbols = ["h", "w"]} {
  %a = graph.cumsum %x {axis = 1 : i64} : (tensor<3x?x?xf32, #x>) -> tensor<3x?x?xf32, #x>
  %b = graph.cumsum %x {axis = 0 : i64, exclusive = true, reverse = true} : (tensor<3x?x?xf32, #x>) -> tensor<3x?x?xf32, #x>
  %c = graph.cumprod %x {axis = 2 : i64, reverse = true} : (tensor<3x?x?xf32, #x>) -> tensor<3x?x?xf32, #x>
  %d = graph.cumsum %i {axis = 1 : i64, exclusive = true} : (tensor<5x9x33xi32>) -> tensor<5x9x33xi32>
  %e = graph.cumprod %i {axis = 0 : i64, reverse = true} : (tensor<5x9x33xi32>) -> tensor<5x9x33xi32>
  return %a, %b, %c, %d, %e : tensor<3x?x?xf32, #x>, tensor<3x?x?xf32, #x>, tensor<3x?x?xf32, #x>, tensor<5x9x33xi32>, tensor<5x9x33xi32>
}

// Elements that are stored one by one to a transposed result.
// RUN: rm -rf %t && mkdir -p %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so
// RUN: arun %t/0.so --random --shape x=5x3x13x33 --output-dir %t
// RUN: arun %t/2.so --random --shape x=5x3x13x33 --rtol 0 --atol 0 --expect y=%t/y.npy | FileCheck %s
// CHECK: output 'y'
#x = affine_map<()[s0] -> (s0, 3, 13, 33)>
#z = affine_map<()[s0] -> (s0, 3, 2, 1)>
#v = affine_map<()[s0] -> (s0, 3, 2)>
#y = affine_map<()[s0] -> (s0, 2, 3)>
func.func @main(%x: tensor<?x3x13x33xf32, #x> {graph.name = "x"}) -> (tensor<?x2x3xf32, #y> {graph.name = "y"}) attributes {graph.symbols = ["n"]} {
  %0 = graph.slice %x {starts = array<i64: 0, 0, 6, 1>, steps = array<i64: 1, 1, 1, -2>} : (tensor<?x3x13x33xf32, #x>) -> tensor<?x3x2x1xf32, #z>
  %1 = graph.reshape %0 : (tensor<?x3x2x1xf32, #z>) -> tensor<?x3x2xf32, #v>
  %2 = graph.transpose %1 {perm = array<i64: 0, 2, 1>} : (tensor<?x3x2xf32, #v>) -> tensor<?x2x3xf32, #y>
  return %2 : tensor<?x2x3xf32, #y>
}

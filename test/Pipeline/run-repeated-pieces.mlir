// Concats of concats with operands that occur more than once: same results as the
// reference path.
// RUN: rm -rf %t && mkdir -p %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so
// RUN: arun %t/0.so --random --shape x=9 --output-dir %t
// RUN: arun %t/2.so --random --shape x=9 --rtol 1e-5 --expect y=%t/y.npy --expect z=%t/z.npy | FileCheck %s
// CHECK-COUNT-2: output
#n = affine_map<()[s0] -> (s0)>
#two = affine_map<()[s0] -> (s0 * 2)>
#three = affine_map<()[s0] -> (s0 * 3)>
#six = affine_map<()[s0] -> (s0 * 6)>
func.func @main(%x: tensor<?xf32, #n> {graph.name = "x"}) -> (tensor<?xf32, #six> {graph.name = "y"}, tensor<?xf32, #three> {graph.name = "z"}) attributes {graph.symbols = ["n"]} {
  %0 = graph.tanh %x : (tensor<?xf32, #n>) -> tensor<?xf32, #n>
  %1 = graph.softmax %0 {axis = 0 : i64} : (tensor<?xf32, #n>) -> tensor<?xf32, #n>
  %2 = graph.concat %0, %1, %1 {axis = 0 : i64} : (tensor<?xf32, #n>, tensor<?xf32, #n>, tensor<?xf32, #n>) -> tensor<?xf32, #three>
  %y = graph.concat %2, %2 {axis = 0 : i64} : (tensor<?xf32, #three>, tensor<?xf32, #three>) -> tensor<?xf32, #six>
  %3 = graph.softmax %x {axis = 0 : i64} : (tensor<?xf32, #n>) -> tensor<?xf32, #n>
  %4 = graph.concat %0, %3 {axis = 0 : i64} : (tensor<?xf32, #n>, tensor<?xf32, #n>) -> tensor<?xf32, #two>
  %z = graph.concat %3, %4 {axis = 0 : i64} : (tensor<?xf32, #n>, tensor<?xf32, #two>) -> tensor<?xf32, #three>
  return %y, %z : tensor<?xf32, #six>, tensor<?xf32, #three>
}

// An empty operand at the end of a concatenation: nothing is copied.
// RUN: atranslate %s -o %t.so
// RUN: atranslate -O0 %s -o %t0.so
// RUN: arun %t.so --info | FileCheck %s
// CHECK: output 'y': f32 2 x 8
func.func @main(%x: tensor<2x8xf32> {graph.name = "x"}, %e: tensor<2x0xf32> {graph.name = "e"}) -> (tensor<2x8xf32> {graph.name = "y"}) attributes {graph.symbols = []} {
  %y = graph.concat %x, %e {axis = 1 : i64} : (tensor<2x8xf32>, tensor<2x0xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

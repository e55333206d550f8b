// The report of a recurrent layer: its steps, and the groups of rows that threads keep.
// RUN: atranslate --mcpu=x86-64-v3 --mcache=1M,4M --report=%t.json %s -o %t.so && FileCheck %s < %t.json
// RUN: atranslate --mcpu=x86-64-v3 --mcache=64K,64K --report=%t.json %s -o %t.so && FileCheck %s --check-prefix=SHARED < %t.json
// CHECK: "parameters": {
// CHECK: "STEPS": 5
// CHECK: "GROUPS": 2
// SHARED-NOT: "GROUPS"
// SHARED: "BLOCK_M": 16
// SHARED: "STEPS": 5
// SHARED-NOT: "GROUPS"
func.func @main(%x: tensor<5x16x256xf32> {graph.name = "x"}, %h: tensor<16x256xf32> {graph.name = "h"}) -> (tensor<5x16x256xf32> {graph.name = "y"}) {
  %w = graph.constant dense<0.5> : tensor<1x256x256xf32>
  %0:2 = graph.recurrent %x weights %w state %h {cell = #graph.cell<rnn>, activations = ["tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} : (tensor<5x16x256xf32>, tensor<1x256x256xf32>, tensor<16x256xf32>) -> (tensor<5x16x256xf32>, tensor<16x256xf32>)
  return %0#0 : tensor<5x16x256xf32>
}

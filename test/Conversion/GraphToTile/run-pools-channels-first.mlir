// Pools whose pixels are along the lanes, with several lines at once: borders, strides,
// dilations, counted and uncounted padding, dynamic sizes and 16-bit floats.
// RUN: rm -rf %t && mkdir -p %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so
// RUN: arun %t/0.so --random --shape x=2x3x23x41 --output-dir %t
// RUN: arun %t/2.so --random --shape x=2x3x23x41 --threads 2 --range-tol 1e-6 --expect a=%t/a.npy --expect b=%t/b.npy --expect c=%t/c.npy --expect d=%t/d.npy --expect e=%t/e.npy --expect f=%t/f.npy --expect g=%t/g.npy | FileCheck %s
// CHECK-COUNT-7: output
#x = affine_map<()[s0, s1] -> (2, 3, s0, s1)>
func.func @main(%x: tensor<2x3x?x?xf32, #x> {graph.name = "x"}, %z: tensor<1x4x56x112xf32> {graph.name = "z"}, %h: tensor<1x3x9x20xf16> {graph.name = "h"}) -> (tensor<2x3x?x?xf32, #x> {graph.name = "a"}, tensor<2x3x?x?xf32, #x> {graph.name = "b"}, tensor<1x4x28x56xf32> {graph.name = "c"}, tensor<1x4x56x112xf32> {graph.name = "d"}, tensor<1x4x28x56xf32> {graph.name = "e"}, tensor<1x4x52x108xf32> {graph.name = "f"}, tensor<1x3x9x20xf16> {graph.name = "g"}) attributes {graph.symbols = ["h", "w"]} {
  %a = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<2x3x?x?xf32, #x>) -> tensor<2x3x?x?xf32, #x>
  %b = graph.avg_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<2x3x?x?xf32, #x>) -> tensor<2x3x?x?xf32, #x>
  %c = graph.max_pool %z {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x56x112xf32>) -> tensor<1x4x28x56xf32>
  %d = graph.avg_pool %z {kernel = array<i64: 5, 3>, strides = array<i64: 1, 1>, pads = array<i64: 2, 1, 2, 1>, dilations = array<i64: 1, 1>, count_include_pad = true} : (tensor<1x4x56x112xf32>) -> tensor<1x4x56x112xf32>
  %e = graph.avg_pool %z {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x56x112xf32>) -> tensor<1x4x28x56xf32>
  %f = graph.avg_pool %z {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 2, 2>} : (tensor<1x4x56x112xf32>) -> tensor<1x4x52x108xf32>
  %g = graph.avg_pool %h {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x3x9x20xf16>) -> tensor<1x3x9x20xf16>
  return %a, %b, %c, %d, %e, %f, %g : tensor<2x3x?x?xf32, #x>, tensor<2x3x?x?xf32, #x>, tensor<1x4x28x56xf32>, tensor<1x4x56x112xf32>, tensor<1x4x28x56xf32>, tensor<1x4x52x108xf32>, tensor<1x3x9x20xf16>
}

// The padding of a window begins where a slice ends, and not with the removed elements:
// slices of the width are not read in place. Slices of channels are.
// RUN: rm -rf %t && mkdir -p %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so
// RUN: arun %t/0.so --random --output-dir %t
// RUN: arun %t/2.so --random --range-tol 1e-5 --expect y=%t/y.npy --expect z=%t/z.npy
func.func @main(%x: tensor<8x4x17xf32> {graph.name = "x"}, %f: tensor<3x4x2xf32> {graph.name = "f"}, %g: tensor<3x2x2xf32> {graph.name = "g"})
    -> (tensor<8x3x7xf32> {graph.name = "y"}, tensor<8x3x18xf32> {graph.name = "z"}) {
  %0 = graph.slice %x {starts = array<i64: 0, 0, 8>, steps = array<i64: 1, 1, 1>} : (tensor<8x4x17xf32>) -> tensor<8x4x6xf32>
  %y = graph.conv %0, %f {dilations = array<i64: 1>, pads = array<i64: 1, 1>, strides = array<i64: 1>} : (tensor<8x4x6xf32>, tensor<3x4x2xf32>) -> tensor<8x3x7xf32>
  %1 = graph.slice %x {starts = array<i64: 0, 1, 0>, steps = array<i64: 1, 1, 1>} : (tensor<8x4x17xf32>) -> tensor<8x2x17xf32>
  %z = graph.conv %1, %g {dilations = array<i64: 1>, pads = array<i64: 1, 1>, strides = array<i64: 1>} : (tensor<8x2x17xf32>, tensor<3x2x2xf32>) -> tensor<8x3x18xf32>
  return %y, %z : tensor<8x3x7xf32>, tensor<8x3x18xf32>
}

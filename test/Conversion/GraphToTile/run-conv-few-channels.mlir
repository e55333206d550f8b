// Few output channels whose digits are stored to separate addresses: the vectors are
// wider, and lanes after the last channel are not stored.
// RUN: rm -rf %t && mkdir -p %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so
// RUN: arun %t/0.so --random --output-dir %t
// RUN: arun %t/2.so --random --threads 2 --range-tol 1e-6 --expect a=%t/a.npy --expect b=%t/b.npy | FileCheck %s
// CHECK-COUNT-2: output
func.func @main(%x: tensor<33x1x5xf32> {graph.name = "x"}, %w: tensor<4x1x2xf32> {graph.name = "w"}, %y: tensor<3x8x5x5xf32> {graph.name = "y"}, %v: tensor<12x8x1x1xf32> {graph.name = "v"}) -> (tensor<33x2x3x2xf32> {graph.name = "a"}, tensor<3x5x2x5x2x3xf32> {graph.name = "b"}) {
  %0 = graph.conv %x, %w {dilations = array<i64: 1>, pads = array<i64: 1, 0>, strides = array<i64: 2>} : (tensor<33x1x5xf32>, tensor<4x1x2xf32>) -> tensor<33x4x3xf32>
  %1 = graph.reshape %0 : (tensor<33x4x3xf32>) -> tensor<33x2x2x3xf32>
  %a = graph.transpose %1 {perm = array<i64: 0, 2, 3, 1>} : (tensor<33x2x2x3xf32>) -> tensor<33x2x3x2xf32>
  %2 = graph.conv %y, %v {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<3x8x5x5xf32>, tensor<12x8x1x1xf32>) -> tensor<3x12x5x5xf32>
  %3 = graph.reshape %2 : (tensor<3x12x5x5xf32>) -> tensor<3x3x2x2x5x5xf32>
  %b = graph.transpose %3 {perm = array<i64: 0, 4, 2, 5, 3, 1>} : (tensor<3x3x2x2x5x5xf32>) -> tensor<3x5x2x5x2x3xf32>
  return %a, %b : tensor<33x2x3x2xf32>, tensor<3x5x2x5x2x3xf32>
}

// A splat image is memory, not a number in the kernel: out of bounds there is padding,
// not that value.
// RUN: rm -rf %t && mkdir -p %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// RUN: atranslate %s --emit=tile -o - | FileCheck %s
// RUN: arun %t/0.so --random --output-dir %t
// RUN: arun %t/1.so --random --range-tol 1e-6 --expect y=%t/y.npy --expect z=%t/z.npy

// CHECK-LABEL: tile.kernel @conv_
// CHECK: %[[X:.*]] = tile.load %arg0[0, {{.*}}]
// CHECK: tile.dot %[[X]]
// A splat bias is a number.
// CHECK-LABEL: tile.kernel @conv_transpose_
// CHECK: tile.dot
// CHECK: arith.constant 5.000000e-01 : f32
func.func @main(%b: tensor<3xf32> {graph.name = "b"}, %w: tensor<8x3x3x3xf32> {graph.name = "w"}) -> (tensor<1x3x9x9xf32> {graph.name = "y"}, tensor<1x3x9x9xf32> {graph.name = "z"}) {
  %x = graph.constant dense<1.5> : tensor<1x8x9x9xf32>
  %c = graph.constant dense<0.5> : tensor<3xf32>
  %t = graph.transpose %w {perm = array<i64: 1, 0, 2, 3>} : (tensor<8x3x3x3xf32>) -> tensor<3x8x3x3xf32>
  %y = graph.conv %x, %t, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x8x9x9xf32>, tensor<3x8x3x3xf32>, tensor<3xf32>) -> tensor<1x3x9x9xf32>
  %z = graph.conv_transpose %x, %w, %c {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x8x9x9xf32>, tensor<8x3x3x3xf32>, tensor<3xf32>) -> tensor<1x3x9x9xf32>
  return %y, %z : tensor<1x3x9x9xf32>, tensor<1x3x9x9xf32>
}

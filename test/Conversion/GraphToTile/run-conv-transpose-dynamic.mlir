// A transposed convolution along a dynamic dim, with weights that are data: the panels of
// weights are copied with and without checks, and each copy computes its source indices.
// RUN: rm -rf %t && mkdir -p %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// RUN: atranslate %s --emit=tile -o - | FileCheck %s
// RUN: arun %t/0.so --random --shape x=1x1x1 --output-dir %t
// RUN: arun %t/1.so --random --shape x=1x1x1 --range-tol 1e-6 --expect y=%t/y.npy
// RUN: arun %t/0.so --random --shape x=1x1x200 --output-dir %t
// RUN: arun %t/1.so --random --shape x=1x1x200 --range-tol 1e-6 --expect y=%t/y.npy

// CHECK: tile.kernel
// CHECK-NOT: func.func private
#x = affine_map<()[s0] -> (1, 1, s0)>
#y = affine_map<()[s0] -> (1, 4, s0 + 1)>
func.func @main(%x: tensor<1x1x?xf32, #x> {graph.name = "x"},
                %w: tensor<1x4x3xf32> {graph.name = "w"})
    -> (tensor<1x4x?xf32, #y> {graph.name = "y"}) {
  %0 = graph.conv_transpose %x, %w {dilations = array<i64: 1>, output_padding = array<i64: 0>, pads = array<i64: 1, 0>, strides = array<i64: 1>} : (tensor<1x1x?xf32, #x>, tensor<1x4x3xf32>) -> tensor<1x4x?xf32, #y>
  return %0 : tensor<1x4x?xf32, #y>
}

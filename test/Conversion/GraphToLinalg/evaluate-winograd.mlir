// RUN: aopt %s --graph-fold-constants | FileCheck %s

// The rows of F(2, 3)'s input matrix sum to 0, 2, 0 and 0, so a patch of ones without
// padding has a single element that is not 0, which is 4. Its filter is 1, and it
// contributes once to each pixel.
// CHECK-LABEL: func @inside
// CHECK: dense<4.000000e+00> : tensor<1x2x2x1xf32>
func.func @inside() -> tensor<1x2x2x1xf32> {
  %x = graph.constant dense<1.0> : tensor<1x4x4x1xf32>
  %u = graph.constant dense<1.0> : tensor<16x1x1xf32>
  %0 = graph.winograd_conv %x, %u {tile = 2 : i64, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x4x4x1xf32>, tensor<16x1x1xf32>) -> tensor<1x2x2x1xf32>
  return %0 : tensor<1x2x2x1xf32>
}

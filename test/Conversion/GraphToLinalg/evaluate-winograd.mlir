// RUN: aopt %s --graph-fold-constants | FileCheck %s

// The rows of F(2, 3)'s input matrix add up to 0, 2, 0 and 0; outside are zeros.
// CHECK-LABEL: func @input
// CHECK-DAG: dense<{{\[}}{{\[}}{{\[}}{{\[}}[0.000000e+00]]]], {{.*}}[4.000000e+00]]]], {{.*}}> : tensor<16x1x1x1x1xf32>
func.func @input() -> tensor<16x1x1x1x1xf32> {
  %x = graph.constant dense<1.0> : tensor<1x4x4x1xf32>
  %0 = graph.winograd_input %x {tile = 2 : i64, pads = array<i64: 0, 0, 0, 0>} : (tensor<1x4x4x1xf32>) -> tensor<16x1x1x1x1xf32>
  return %0 : tensor<16x1x1x1x1xf32>
}

// Those of its output matrix to 3 and 1; the second row of pixels is dropped.
// CHECK-LABEL: func @output
// CHECK-DAG: dense<{{\[}}{{\[}}{{\[}}[9.000000e+00], [3.000000e+00]]]]> : tensor<1x1x2x1xf32>
func.func @output() -> tensor<1x1x2x1xf32> {
  %m = graph.constant dense<1.0> : tensor<16x1x1x1x1xf32>
  %0 = graph.winograd_output %m {tile = 2 : i64, size = array<i64: 1, 2>} : (tensor<16x1x1x1x1xf32>) -> tensor<1x1x2x1xf32>
  return %0 : tensor<1x1x2x1xf32>
}

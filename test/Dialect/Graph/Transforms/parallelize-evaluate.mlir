// Sums of scattered floats as integers, evaluated: sums in f32 would lose the 1 beside 1e8,
// and depend on the order. Infinities and NaN, the least number, and f16.
// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --graph-parallelize --graph-fold-constants | FileCheck %s
// CHECK-LABEL: func.func @sums
// CHECK-DAG: dense<[2.000000e+00, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7FC00000, 3.000000e+00, 2.802600e-45]> : tensor<7xf32>
// CHECK-DAG: dense<{{\[\[}}1.500000e+00, -2.000000e+00], [5.000000e-01, 0.000000e+00]]> : tensor<2x2xf16>
func.func @sums() -> (tensor<7xf32>, tensor<2x2xf16>) {
  %x = graph.constant dense<[1.0, 2.0, 2.0, 2.0, 2.0, 3.0, 0.0]> : tensor<7xf32>
  %i = graph.constant dense<[0, 0, 1, 2, 3, 3, 4, 0, 1, -1, -1]> : tensor<11xi64>
  %u = graph.constant dense<[1.0e8, 1.0, 0x7F800000, 0xFF800000, 0x7F800000, 0xFF800000, 0x7FC00000, -1.0e8, -5.0, 0x00000001, 0x00000001]> : tensor<11xf32>
  %y = graph.scatter_elements %x, %i, %u {axis = 0 : i64, reduction = #graph.scatter<add>} : (tensor<7xf32>, tensor<11xi64>, tensor<11xf32>) -> tensor<7xf32>
  %w = graph.constant dense<[[0.5, 1.0], [0.5, 1.0]]> : tensor<2x2xf16>
  %j = graph.constant dense<[[0], [1], [0]]> : tensor<3x1xi64>
  %v = graph.constant dense<[[0.75, -1.0], [0.0, -1.0], [0.25, -2.0]]> : tensor<3x2xf16>
  %z = graph.scatter_nd %w, %j, %v {reduction = #graph.scatter<add>} : (tensor<2x2xf16>, tensor<3x1xi64>, tensor<3x2xf16>) -> tensor<2x2xf16>
  return %y, %z : tensor<7xf32>, tensor<2x2xf16>
}

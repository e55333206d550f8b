// RUN: aopt %s --graph-fold-constants | FileCheck %s

// Two queries, two keys of one element: the scores are 0 and ln 3, so the weights are 1/4
// and 3/4; by the triangle, the first query sees the first key only.
// CHECK-LABEL: func @attention
// CHECK-DAG: dense<3{{2\.4999[0-9]*|\.250000e\+01}}> : tensor<1x2x1xf32>
// CHECK-DAG: dense<{{\[}}{{\[}}[1.000000e+01], [3{{2\.4999[0-9]*|\.250000e\+01}}]]]> : tensor<1x2x1xf32>
func.func @attention() -> (tensor<1x2x1xf32>, tensor<1x2x1xf32>) {
  %q = graph.constant dense<1.0> : tensor<1x2x1xf32>
  %k = graph.constant dense<[[[0.0], [2.19722462]]]> : tensor<1x2x1xf32>
  %v = graph.constant dense<[[[10.0], [40.0]]]> : tensor<1x2x1xf32>
  %0 = graph.attention %q, %k, %v {scale = 0.5 : f64} : (tensor<1x2x1xf32>, tensor<1x2x1xf32>, tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
  %1 = graph.attention %q, %k, %v {scale = 0.5 : f64, causal = #graph.causal<upper_left>} : (tensor<1x2x1xf32>, tensor<1x2x1xf32>, tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
  return %0, %1 : tensor<1x2x1xf32>, tensor<1x2x1xf32>
}

// Queries of which all scores are -infinity have the result 0; NaN is kept.
// CHECK-LABEL: func @masked
// CHECK: dense<{{\[}}{{\[}}[7.000000e+00]], {{\[}}[0.000000e+00]], {{\[}}[0x{{[7F]}}FC00000]]]> : tensor<3x1x1xf32>
func.func @masked() -> tensor<3x1x1xf32> {
  %q = graph.constant dense<[[[1.0]], [[1.0]], [[0x7FC00000]]]> : tensor<3x1x1xf32>
  %k = graph.constant dense<7.0> : tensor<1x1x1xf32>
  %m = graph.constant dense<[[[true]], [[false]], [[true]]]> : tensor<3x1x1xi1>
  %0 = graph.attention %q, %k, %k mask %m {scale = 1.0 : f64, zero_masked = true} : (tensor<3x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<3x1x1xi1>) -> tensor<3x1x1xf32>
  return %0 : tensor<3x1x1xf32>
}

// A query that sees no key: 0 if requested, else NaN. Two heads share one group.
// CHECK-LABEL: func @empty
// CHECK-DAG: dense<{{\[}}{{\[}}[7.000000e+00]], {{\[}}[0.000000e+00]]]> : tensor<2x1x1xf32>
// CHECK-DAG: dense<{{\[}}{{\[}}[7.000000e+00]], {{\[}}[0x{{[7F]}}FC00000]]]> : tensor<2x1x1xf32>
func.func @empty() -> (tensor<2x1x1xf32>, tensor<2x1x1xf32>) {
  %q = graph.constant dense<1.0> : tensor<2x1x1xf32>
  %k = graph.constant dense<7.0> : tensor<1x1x1xf32>
  %m = graph.constant dense<[[[true]], [[false]]]> : tensor<2x1x1xi1>
  %0 = graph.attention %q, %k, %k mask %m {scale = 1.0 : f64, zero_empty = true} : (tensor<2x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<2x1x1xi1>) -> tensor<2x1x1xf32>
  %1 = graph.attention %q, %k, %k mask %m {scale = 1.0 : f64} : (tensor<2x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<2x1x1xi1>) -> tensor<2x1x1xf32>
  return %0, %1 : tensor<2x1x1xf32>, tensor<2x1x1xf32>
}

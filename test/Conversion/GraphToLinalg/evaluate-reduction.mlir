// RUN: aopt %s --graph-fold-constants | FileCheck %s

// CHECK-LABEL: func @reduce
// CHECK-DAG: dense<[3.000000e+00, 7.000000e+00]> : tensor<2xf32>
// CHECK-DAG: dense<{{\[}}[2.000000e+00, 3.000000e+00]]> : tensor<1x2xf32>
// CHECK-DAG: dense<2.400000e+01> : tensor<f32>
// CHECK-DAG: dense<3.000000e+01> : tensor<f32>
func.func @reduce() -> (tensor<2xf32>, tensor<1x2xf32>, tensor<f32>, tensor<f32>) {
  %x = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = graph.reduce_sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<2x2xf32>) -> tensor<2xf32>
  %1 = graph.reduce_mean %x {axes = array<i64: 0>} : (tensor<2x2xf32>) -> tensor<1x2xf32>
  %2 = graph.reduce_prod %x {axes = array<i64: 0, 1>, keepdims = false} : (tensor<2x2xf32>) -> tensor<f32>
  %3 = graph.reduce_sum_square %x {axes = array<i64: 0, 1>, keepdims = false} : (tensor<2x2xf32>) -> tensor<f32>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<1x2xf32>, tensor<f32>, tensor<f32>
}

// NaN passes through; unsigned order; large values do not overflow.
// CHECK-LABEL: func @extremes
// CHECK-DAG: dense<0x7FC00000> : tensor<f32>
// CHECK-DAG: dense<255> : tensor<ui8>
// CHECK-DAG: dense<1.000000e+03> : tensor<f32>
// CHECK-DAG: dense<0xFF800000> : tensor<f32>
func.func @extremes() -> (tensor<f32>, tensor<ui8>, tensor<f32>, tensor<f32>) {
  %x = graph.constant dense<[1.0, 0x7FC00000, 2.0]> : tensor<3xf32>
  %u = graph.constant dense<[1, 255, 2]> : tensor<3xui8>
  %l = graph.constant dense<[1000.0, 0xFF800000]> : tensor<2xf32>
  %m = graph.constant dense<[0xFF800000, 0xFF800000]> : tensor<2xf32>
  %0 = graph.reduce_max %x {axes = array<i64: 0>, keepdims = false} : (tensor<3xf32>) -> tensor<f32>
  %1 = graph.reduce_max %u {axes = array<i64: 0>, keepdims = false} : (tensor<3xui8>) -> tensor<ui8>
  %2 = graph.reduce_log_sum_exp %l {axes = array<i64: 0>, keepdims = false} : (tensor<2xf32>) -> tensor<f32>
  %3 = graph.reduce_log_sum_exp %m {axes = array<i64: 0>, keepdims = false} : (tensor<2xf32>) -> tensor<f32>
  return %0, %1, %2, %3 : tensor<f32>, tensor<ui8>, tensor<f32>, tensor<f32>
}

// CHECK-LABEL: func @arg
// CHECK-DAG: dense<1> : tensor<1xi64>
// CHECK-DAG: dense<3> : tensor<1xi64>
// CHECK-DAG: dense<2> : tensor<1xi64>
func.func @arg() -> (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) {
  %x = graph.constant dense<[1, 5, 0, 5]> : tensor<4xi32>
  %0 = graph.arg_max %x {axis = 0 : i64} : (tensor<4xi32>) -> tensor<1xi64>
  %1 = graph.arg_max %x {axis = 0 : i64, select_last = true} : (tensor<4xi32>) -> tensor<1xi64>
  %2 = graph.arg_min %x {axis = 0 : i64} : (tensor<4xi32>) -> tensor<1xi64>
  return %0, %1, %2 : tensor<1xi64>, tensor<1xi64>, tensor<1xi64>
}

// CHECK-LABEL: func @cumsum
// CHECK-DAG: dense<[1, 3, 6]> : tensor<3xi64>
// CHECK-DAG: dense<[5, 3, 0]> : tensor<3xi64>
func.func @cumsum() -> (tensor<3xi64>, tensor<3xi64>) {
  %x = graph.constant dense<[1, 2, 3]> : tensor<3xi64>
  %0 = graph.cumsum %x {axis = 0 : i64} : (tensor<3xi64>) -> tensor<3xi64>
  %1 = graph.cumsum %x {axis = 0 : i64, exclusive = true, reverse = true} : (tensor<3xi64>) -> tensor<3xi64>
  return %0, %1 : tensor<3xi64>, tensor<3xi64>
}

// CHECK-LABEL: func @softmax
// CHECK: dense<5.000000e-01> : tensor<1x2xf32>
func.func @softmax() -> tensor<1x2xf32> {
  %x = graph.constant dense<[[1000.0, 1000.0]]> : tensor<1x2xf32>
  %0 = graph.softmax %x {axis = 1 : i64} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

// (x - 2) / sqrt(1 + 3) * 2 + 10
// CHECK-LABEL: func @layer_norm
// CHECK: dense<{{\[}}[9.000000e+00, 1.100000e+01]]> : tensor<1x2xf32>
func.func @layer_norm() -> tensor<1x2xf32> {
  %x = graph.constant dense<[[1.0, 3.0]]> : tensor<1x2xf32>
  %s = graph.constant dense<2.0> : tensor<2xf32>
  %b = graph.constant dense<10.0> : tensor<2xf32>
  %0 = graph.layer_norm %x scale %s bias %b {axis = 1 : i64, epsilon = 3.0 : f64} : (tensor<1x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

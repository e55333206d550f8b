// RUN: aopt %s --graph-fold-constants | FileCheck %s

// Evaluates constants on the reference path.

// CHECK-LABEL: func @relu
// CHECK: graph.constant dense<[0.000000e+00, 2.000000e+00, 0x7FC00000, 0x7F800000]>
func.func @relu() -> tensor<4xf32> {
  %x = graph.constant dense<[-1.0, 2.0, 0x7FC00000, 0x7F800000]> : tensor<4xf32>
  %0 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Ties are rounded to even.
// CHECK-LABEL: func @round
// CHECK: graph.constant dense<[0.000000e+00, 2.000000e+00, 2.000000e+00, -2.000000e+00]>
func.func @round() -> tensor<4xf32> {
  %x = graph.constant dense<[0.5, 1.5, 2.5, -1.6]> : tensor<4xf32>
  %0 = graph.round %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Truncates; neither a division by 0 nor of the least number by -1 traps.
// CHECK-LABEL: func @divide
// CHECK: graph.constant dense<[-3, 3, -2147483648]> : tensor<3xi32>
func.func @divide() -> tensor<3xi32> {
  %x = graph.constant dense<[-7, 7, -2147483648]> : tensor<3xi32>
  %y = graph.constant dense<[2, 2, -1]> : tensor<3xi32>
  %0 = graph.div %x, %y : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}

// CHECK-LABEL: func @divide_unsigned
// CHECK: graph.constant dense<[127, 1]> : tensor<2xui8>
func.func @divide_unsigned() -> tensor<2xui8> {
  %x = graph.constant dense<[254, 255]> : tensor<2xui8>
  %y = graph.constant dense<[2, 200]> : tensor<2xui8>
  %0 = graph.div %x, %y : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
  return %0 : tensor<2xui8>
}

// The sign of the divisor, and that of the dividend.
// CHECK-LABEL: func @remainder
// CHECK-DAG: graph.constant dense<[2, -2, 0]> : tensor<3xi64>
// CHECK-DAG: graph.constant dense<[-1, 1, 0]> : tensor<3xi64>
func.func @remainder() -> (tensor<3xi64>, tensor<3xi64>) {
  %x = graph.constant dense<[-7, 7, 6]> : tensor<3xi64>
  %y = graph.constant dense<[3, -3, -3]> : tensor<3xi64>
  %0 = graph.mod %x, %y : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  %1 = graph.fmod %x, %y : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  return %0, %1 : tensor<3xi64>, tensor<3xi64>
}

// CHECK-LABEL: func @shift
// CHECK-DAG: graph.constant dense<[254, 0]> : tensor<2xui8>
// CHECK-DAG: graph.constant dense<[127, 0]> : tensor<2xui8>
func.func @shift() -> (tensor<2xui8>, tensor<2xui8>) {
  %x = graph.constant dense<[255, 255]> : tensor<2xui8>
  %y = graph.constant dense<[1, 8]> : tensor<2xui8>
  %0 = graph.shift_left %x, %y : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
  %1 = graph.shift_right %x, %y : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
  return %0, %1 : tensor<2xui8>, tensor<2xui8>
}

// CHECK-LABEL: func @compare
// CHECK-DAG: graph.constant dense<[true, false, false]> : tensor<3xi1>
// CHECK-DAG: graph.constant dense<[false, true, false]> : tensor<3xi1>
func.func @compare() -> (tensor<3xi1>, tensor<3xi1>) {
  %x = graph.constant dense<[1.0, 2.0, 0x7FC00000]> : tensor<3xf32>
  %y = graph.constant dense<2.0> : tensor<f32>
  %0 = graph.less %x, %y : (tensor<3xf32>, tensor<f32>) -> tensor<3xi1>
  %1 = graph.equal %x, %y : (tensor<3xf32>, tensor<f32>) -> tensor<3xi1>
  return %0, %1 : tensor<3xi1>, tensor<3xi1>
}

// Truncation, wrapping, and NaN is true.
// CHECK-LABEL: func @cast
// CHECK-DAG: graph.constant dense<[1, -1, 300]> : tensor<3xi32>
// CHECK-DAG: graph.constant dense<[1, 255, 44]> : tensor<3xui8>
// CHECK-DAG: graph.constant dense<[false, true, true]> : tensor<3xi1>
func.func @cast() -> (tensor<3xi32>, tensor<3xui8>, tensor<3xi1>) {
  %x = graph.constant dense<[1.9, -1.9, 300.0]> : tensor<3xf32>
  %y = graph.constant dense<[0.0, -1.0, 0x7FC00000]> : tensor<3xf32>
  %0 = graph.cast %x : (tensor<3xf32>) -> tensor<3xi32>
  %1 = graph.cast %x : (tensor<3xf32>) -> tensor<3xui8>
  %2 = graph.cast %y : (tensor<3xf32>) -> tensor<3xi1>
  return %0, %1, %2 : tensor<3xi32>, tensor<3xui8>, tensor<3xi1>
}

// CHECK-LABEL: func @select
// CHECK: dense<{{\[}}[1, 10], [2, 10]]> : tensor<2x2xi32>
func.func @select() -> tensor<2x2xi32> {
  %c = graph.constant dense<[true, false]> : tensor<2xi1>
  %x = graph.constant dense<[[1], [2]]> : tensor<2x1xi32>
  %y = graph.constant dense<10> : tensor<i32>
  %0 = graph.select %c, %x, %y : (tensor<2xi1>, tensor<2x1xi32>, tensor<i32>) -> tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}

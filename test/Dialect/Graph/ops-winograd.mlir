// RUN: aopt %s | aopt | FileCheck %s

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x14x13x8xf32>, %m: tensor<16x2x7x7x8xf32>) -> (tensor<36x2x4x4x8xf32>, tensor<2x14x13x8xf32>) {
  // CHECK: graph.winograd_input %{{.*}} {pads = array<i64: 1, 1, 1, 1>, tile = 4 : i64} : (tensor<2x14x13x8xf32>) -> tensor<36x2x4x4x8xf32>
  %0 = graph.winograd_input %x {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<2x14x13x8xf32>) -> tensor<36x2x4x4x8xf32>
  // CHECK: graph.winograd_output %{{.*}} {size = array<i64: 14, 13>, tile = 2 : i64} : (tensor<16x2x7x7x8xf32>) -> tensor<2x14x13x8xf32>
  %1 = graph.winograd_output %m {tile = 2 : i64, size = array<i64: 14, 13>} : (tensor<16x2x7x7x8xf32>) -> tensor<2x14x13x8xf32>
  return %0, %1 : tensor<36x2x4x4x8xf32>, tensor<2x14x13x8xf32>
}

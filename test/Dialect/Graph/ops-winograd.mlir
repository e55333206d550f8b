// RUN: aopt %s | aopt | FileCheck %s

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x14x13x8xf32>, %u: tensor<36x8x5xf32>, %v: tensor<16x8x5xf32>) -> (tensor<2x14x13x5xf32>, tensor<2x12x11x5xf32>) {
  // CHECK: graph.winograd_conv %{{.*}}, %{{.*}} {pads = array<i64: 1, 1, 1, 1>, tile = 4 : i64} : (tensor<2x14x13x8xf32>, tensor<36x8x5xf32>) -> tensor<2x14x13x5xf32>
  %0 = graph.winograd_conv %x, %u {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<2x14x13x8xf32>, tensor<36x8x5xf32>) -> tensor<2x14x13x5xf32>
  // CHECK: graph.winograd_conv {{.*}} {pads = array<i64: 0, 0, 0, 0>, tile = 2 : i64}
  %1 = graph.winograd_conv %x, %v {tile = 2 : i64, pads = array<i64: 0, 0, 0, 0>} : (tensor<2x14x13x8xf32>, tensor<16x8x5xf32>) -> tensor<2x12x11x5xf32>
  return %0, %1 : tensor<2x14x13x5xf32>, tensor<2x12x11x5xf32>
}

// CHECK-LABEL: func.func @narrow
func.func @narrow(%x: tensor<2x14x13x8xbf16>, %u: tensor<16x8x5xbf16>) -> (tensor<2x14x13x5xbf16>, tensor<2x14x13x5xf32>) {
  // CHECK: graph.winograd_conv {{.*}} tile = 2 : i64} : (tensor<2x14x13x8xbf16>, tensor<16x8x5xbf16>) -> tensor<2x14x13x5xbf16>
  %0 = graph.winograd_conv %x, %u {tile = 2 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<2x14x13x8xbf16>, tensor<16x8x5xbf16>) -> tensor<2x14x13x5xbf16>
  // CHECK: graph.winograd_conv {{.*}} tile = 2 : i64, wide_result} : (tensor<2x14x13x8xbf16>, tensor<16x8x5xbf16>) -> tensor<2x14x13x5xf32>
  %1 = graph.winograd_conv %x, %u {tile = 2 : i64, pads = array<i64: 1, 1, 1, 1>, wide_result} : (tensor<2x14x13x8xbf16>, tensor<16x8x5xbf16>) -> tensor<2x14x13x5xf32>
  return %0, %1 : tensor<2x14x13x5xbf16>, tensor<2x14x13x5xf32>
}

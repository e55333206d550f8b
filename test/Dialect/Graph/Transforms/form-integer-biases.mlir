// RUN: aopt %s -tile-attach-targets=cpu=znver4 -graph-form-integer-products -graph-fold-constants -canonicalize | FileCheck %s

// A bias with the scales of the sums, 0.5 * [0.5, 0.25], is added to these; one with other
// scales, or whose sums may be too large for 32 bits, to the dequantized ones.
// CHECK-LABEL: @biases
// CHECK-DAG: %[[OWN:.*]] = graph.constant dense<[995, -7]> : tensor<2xi32>
// CHECK-DAG: %[[SHIFT:.*]] = graph.constant dense<[-5, 0]> : tensor<2xi32>
// CHECK-DAG: %[[OTHER:.*]] = graph.constant dense<{{.*}}[5.000000e+02]{{.*}}[-3.500000e+00]{{.*}}> : tensor<1x2x1x1xf32>
// CHECK-DAG: %[[LARGE:.*]] = graph.constant dense<{{.*}}[0x4E000000]{{.*}}[-8.750000e-01]{{.*}}> : tensor<1x2x1x1xf32>
// CHECK: %[[X:.*]] = graph.bitwise_xor
// CHECK: %[[FIRST:.*]] = graph.conv %[[X]], %{{.*}}, %[[OWN]] {{.*}}-> tensor<1x2x3x3xi32>
// CHECK: %[[WIDE:.*]] = graph.cast %[[FIRST]]
// CHECK: %[[A:.*]] = graph.mul %[[WIDE]],
// CHECK: graph.conv %[[X]], %{{.*}}, %[[SHIFT]] {{.*}}-> tensor<1x2x3x3xi32>
// CHECK: %[[B:.*]] = graph.add %{{.*}}, %[[OTHER]]
// CHECK: graph.conv %[[X]], %{{.*}}, %[[SHIFT]] {{.*}}-> tensor<1x2x3x3xi32>
// CHECK: %[[C:.*]] = graph.add %{{.*}}, %[[LARGE]]
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @biases(%p: tensor<1x4x3x3xi8>) -> (tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  %w = graph.constant dense<[[[[1]], [[0]], [[0]], [[0]]], [[[1]], [[0]], [[-1]], [[0]]]]> : tensor<2x4x1x1xi8>
  %s = graph.constant dense<0.5> : tensor<f32>
  %t = graph.constant dense<[[[[0.5]]], [[[0.25]]]]> : tensor<2x1x1x1xf32>
  %z = graph.constant dense<-123.0> : tensor<f32>
  %q = graph.constant dense<[1000, -7]> : tensor<2xi32>
  %large = graph.constant dense<[2147483647, -7]> : tensor<2xi32>
  %own = graph.constant dense<[0.25, 0.125]> : tensor<2xf32>
  %0 = graph.cast %p : (tensor<1x4x3x3xi8>) -> tensor<1x4x3x3xf32>
  %1 = graph.sub %0, %z : (tensor<1x4x3x3xf32>, tensor<f32>) -> tensor<1x4x3x3xf32>
  %2 = graph.mul %1, %s : (tensor<1x4x3x3xf32>, tensor<f32>) -> tensor<1x4x3x3xf32>
  %3 = graph.cast %w : (tensor<2x4x1x1xi8>) -> tensor<2x4x1x1xf32>
  %4 = graph.mul %3, %t : (tensor<2x4x1x1xf32>, tensor<2x1x1x1xf32>) -> tensor<2x4x1x1xf32>
  %5 = graph.cast %q : (tensor<2xi32>) -> tensor<2xf32>
  %6 = graph.mul %5, %own : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %7 = graph.mul %5, %s : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %8 = graph.cast %large : (tensor<2xi32>) -> tensor<2xf32>
  %9 = graph.mul %8, %own : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %10 = graph.conv %2, %4, %6 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x3x3xf32>, tensor<2x4x1x1xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %11 = graph.conv %2, %4, %7 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x3x3xf32>, tensor<2x4x1x1xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %12 = graph.conv %2, %4, %9 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x3x3xf32>, tensor<2x4x1x1xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  return %10, %11, %12 : tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}

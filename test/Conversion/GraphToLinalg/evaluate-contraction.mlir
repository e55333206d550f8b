// RUN: aopt %s --graph-fold-constants | FileCheck %s

// CHECK-LABEL: func @matmul
// CHECK-DAG: dense<{{\[}}[1.700000e+01], [3.900000e+01]]> : tensor<2x1xf32>
// CHECK-DAG: dense<{{\[}}[2.300000e+01], [3.400000e+01]]> : tensor<2x1xf16>
func.func @matmul() -> (tensor<2x1xf32>, tensor<2x1xf16>) {
  %x = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = graph.constant dense<[[5.0], [6.0]]> : tensor<2x1xf32>
  %h = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf16>
  %t = graph.constant dense<[[5.0, 6.0]]> : tensor<1x2xf16>
  %0 = graph.matmul %x, %y : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  %1 = graph.matmul %h, %t {transpose_a = true, transpose_b = true} : (tensor<2x2xf16>, tensor<1x2xf16>) -> tensor<2x1xf16>
  return %0, %1 : tensor<2x1xf32>, tensor<2x1xf16>
}

// One batch broadcasts to two.
// CHECK-LABEL: func @batch
// CHECK: dense<{{\[}}{{\[}}[1.100000e+01]], {{\[}}[1.700000e+01]]]> : tensor<2x1x1xf32>
func.func @batch() -> tensor<2x1x1xf32> {
  %x = graph.constant dense<[[[1.0, 2.0]]]> : tensor<1x1x2xf32>
  %y = graph.constant dense<[[[3.0], [4.0]], [[5.0], [6.0]]]> : tensor<2x2x1xf32>
  %0 = graph.matmul %x, %y : (tensor<1x1x2xf32>, tensor<2x2x1xf32>) -> tensor<2x1x1xf32>
  return %0 : tensor<2x1x1xf32>
}

// Padding, stride and dilation: taps at distance 2, zeros out of bounds.
// CHECK-LABEL: func @conv
// CHECK: dense<{{\[}}{{\[}}[1.810000e+02, 1.100000e+01, 3.100000e+01]]]> : tensor<1x1x3xf32>
func.func @conv() -> tensor<1x1x3xf32> {
  %x = graph.constant dense<[[[1.0, 2.0, 3.0, 4.0]]]> : tensor<1x1x4xf32>
  %w = graph.constant dense<[[[10.0, 60.0]]]> : tensor<1x1x2xf32>
  %b = graph.constant dense<[1.0]> : tensor<1xf32>
  %0 = graph.conv %x, %w, %b {strides = array<i64: 2>, pads = array<i64: 2, 3>, dilations = array<i64: 4>} : (tensor<1x1x4xf32>, tensor<1x1x2xf32>, tensor<1xf32>) -> tensor<1x1x3xf32>
  return %0 : tensor<1x1x3xf32>
}

// Both layouts, two groups.
// CHECK-LABEL: func @layouts
// CHECK-DAG: dense<{{\[}}{{\[}}[3.000000e+00, 5.000000e+00], [7.000000e+01, 9.000000e+01]]]> : tensor<1x2x2xf32>
// CHECK-DAG: dense<{{\[}}{{\[}}[3.000000e+00, 7.000000e+01], [5.000000e+00, 9.000000e+01]]]> : tensor<1x2x2xf32>
func.func @layouts() -> (tensor<1x2x2xf32>, tensor<1x2x2xf32>) {
  %x = graph.constant dense<[[[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]]]> : tensor<1x2x3xf32>
  %y = graph.constant dense<[[[1.0, 3.0], [2.0, 4.0], [3.0, 5.0]]]> : tensor<1x3x2xf32>
  %w = graph.constant dense<[[[1.0, 1.0]], [[10.0, 10.0]]]> : tensor<2x1x2xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 2 : i64} : (tensor<1x2x3xf32>, tensor<2x1x2xf32>) -> tensor<1x2x2xf32>
  %1 = graph.conv %y, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 2 : i64, layout = #graph.layout<nhwc>} : (tensor<1x3x2xf32>, tensor<2x1x2xf32>) -> tensor<1x2x2xf32>
  return %0, %1 : tensor<1x2x2xf32>, tensor<1x2x2xf32>
}

// The kernel scatters each input element, with stride 2.
// CHECK-LABEL: func @conv_transpose
// CHECK: dense<{{\[}}{{\[}}[1.000000e+00, 1.000000e+01, 1.020000e+02, 2.000000e+01, 2.000000e+02]]]> : tensor<1x1x5xf32>
func.func @conv_transpose() -> tensor<1x1x5xf32> {
  %x = graph.constant dense<[[[1.0, 2.0]]]> : tensor<1x1x2xf32>
  %w = graph.constant dense<[[[1.0, 10.0, 100.0]]]> : tensor<1x1x3xf32>
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, output_padding = array<i64: 0>} : (tensor<1x1x2xf32>, tensor<1x1x3xf32>) -> tensor<1x1x5xf32>
  return %0 : tensor<1x1x5xf32>
}

// The second window is clipped: padding counts only if requested.
// CHECK-LABEL: func @pool
// CHECK-DAG: dense<{{\[}}{{\[}}[1.000000e+00, 2.500000e+00]]]> : tensor<1x1x2xf32>
// CHECK-DAG: dense<{{\[}}{{\[}}[5.000000e-01, 2.500000e+00]]]> : tensor<1x1x2xf32>
// CHECK-DAG: dense<{{\[}}{{\[}}[-1.000000e+00, -2.000000e+00]]]> : tensor<1x1x2xf32>
func.func @pool() -> (tensor<1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>) {
  %x = graph.constant dense<[[[1.0, 2.0, 3.0]]]> : tensor<1x1x3xf32>
  %n = graph.constant dense<[[[-1.0, -2.0, -3.0]]]> : tensor<1x1x3xf32>
  %0 = graph.avg_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 1, 0>, dilations = array<i64: 1>} : (tensor<1x1x3xf32>) -> tensor<1x1x2xf32>
  %1 = graph.avg_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 1, 0>, dilations = array<i64: 1>, count_include_pad = true} : (tensor<1x1x3xf32>) -> tensor<1x1x2xf32>
  %2 = graph.max_pool %n {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 1, 0>, dilations = array<i64: 1>} : (tensor<1x1x3xf32>) -> tensor<1x1x2xf32>
  return %0, %1, %2 : tensor<1x1x2xf32>, tensor<1x1x2xf32>, tensor<1x1x2xf32>
}

// Elements 1 to 8 of a word, of which adjacent ones are at equal places of its
// halves: with the zero point 8 the sum of k * (k - 8) is -84, with 1 it is 168.
// CHECK-LABEL: func @blocks
// CHECK-DAG: dense<-4.200000e+01> : tensor<1x1xf32>
// CHECK-DAG: dense<8.400000e+01> : tensor<1x1xf16>
func.func @blocks() -> (tensor<1x1xf32>, tensor<1x1xf16>) {
  %x = graph.constant dense<[[[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]]]> : tensor<1x1x1x8xf32>
  %h = graph.constant dense<[[[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]]]> : tensor<1x1x1x8xf16>
  %w = graph.constant dense<0x86427531> : tensor<1x1x1xi32>
  %s = graph.constant dense<0.5> : tensor<1x1xf32>
  %t = graph.constant dense<0.5> : tensor<1x1xf16>
  %z = graph.constant dense<1> : tensor<1x1xui8>
  %0 = graph.block_matmul %x, %w, %s {bits = 4 : i64} : (tensor<1x1x1x8xf32>, tensor<1x1x1xi32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %1 = graph.block_matmul %h, %w, %t, %z {bits = 4 : i64} : (tensor<1x1x1x8xf16>, tensor<1x1x1xi32>, tensor<1x1xf16>, tensor<1x1xui8>) -> tensor<1x1xf16>
  return %0, %1 : tensor<1x1xf32>, tensor<1x1xf16>
}

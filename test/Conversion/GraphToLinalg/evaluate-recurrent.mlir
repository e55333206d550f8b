// RUN: aopt %s --graph-fold-constants | FileCheck %s

// Recurrent layers of one unit, with numbers that can be computed by hand.

// h = x + 2 h, from h = 1: 3, 8, 19; in reverse: 5, 12, 25.
// CHECK-LABEL: func @rnn
// CHECK-DAG: dense<{{\[}}{{\[}}[3.000000e+00]], {{\[}}[8.000000e+00]], {{\[}}[1.900000e+01]]]> : tensor<3x1x1xf32>
// CHECK-DAG: dense<{{\[}}{{\[}}[2.500000e+01]], {{\[}}[1.200000e+01]], {{\[}}[5.000000e+00]]]> : tensor<3x1x1xf32>
func.func @rnn() -> (tensor<3x1x1xf32>, tensor<3x1x1xf32>) {
  %x = graph.constant dense<[[[1.0]], [[2.0]], [[3.0]]]> : tensor<3x1x1xf32>
  %w = graph.constant dense<2.0> : tensor<1x1x1xf32>
  %h = graph.constant dense<1.0> : tensor<1x1xf32>
  %y, %s = graph.recurrent %x weights %w state %h {cell = #graph.cell<rnn>, activations = ["affine"], alphas = array<f64: 1.0>, betas = array<f64: 0.0>} : (tensor<3x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1xf32>) -> (tensor<3x1x1xf32>, tensor<1x1xf32>)
  %z, %t = graph.recurrent %x weights %w state %h {cell = #graph.cell<rnn>, activations = ["relu"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>, reverse = true} : (tensor<3x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1xf32>) -> (tensor<3x1x1xf32>, tensor<1x1xf32>)
  return %y, %z : tensor<3x1x1xf32>, tensor<3x1x1xf32>
}

// The second row has one step: its later results are 0, and its state stays.
// CHECK-LABEL: func @lengths
// CHECK-DAG: dense<{{\[}}{{\[}}[1.000000e+00], [1.000000e+00]], {{\[}}[2.000000e+00], [0.000000e+00]]]> : tensor<2x2x1xf32>
// CHECK-DAG: dense<{{\[}}[2.000000e+00], [1.000000e+00]]> : tensor<2x1xf32>
func.func @lengths() -> (tensor<2x2x1xf32>, tensor<2x1xf32>) {
  %x = graph.constant dense<1.0> : tensor<2x2x1xf32>
  %w = graph.constant dense<1.0> : tensor<1x1x1xf32>
  %h = graph.constant dense<0.0> : tensor<2x1xf32>
  %l = graph.constant dense<[2, 1]> : tensor<2xi32>
  %y, %s = graph.recurrent %x weights %w state %h lengths %l {cell = #graph.cell<rnn>, activations = ["relu"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} : (tensor<2x2x1xf32>, tensor<1x1x1xf32>, tensor<2x1xf32>, tensor<2xi32>) -> (tensor<2x2x1xf32>, tensor<2x1xf32>)
  return %y, %s : tensor<2x2x1xf32>, tensor<2x1xf32>
}

// All gates the identity, x = (i 1, o 2, f 3, c 4), weights 0, c = 5:
// c' = 3 * 5 + 1 * 4 = 19, h = 2 * 19 = 38. Clipped to 2: 2 * 5 + 1 * 2 = 12, 24.
// CHECK-LABEL: func @lstm
// CHECK-DAG: dense<3.800000e+01> : tensor<1x1x1xf32>
// CHECK-DAG: dense<1.900000e+01> : tensor<1x1xf32>
// CHECK-DAG: dense<2.400000e+01> : tensor<1x1x1xf32>
func.func @lstm() -> (tensor<1x1x1xf32>, tensor<1x1xf32>, tensor<1x1x1xf32>) {
  %x = graph.constant dense<[[[1.0, 2.0, 3.0, 4.0]]]> : tensor<1x1x4xf32>
  %w = graph.constant dense<0.0> : tensor<4x1x1xf32>
  %h = graph.constant dense<0.0> : tensor<1x1xf32>
  %c = graph.constant dense<5.0> : tensor<1x1xf32>
  %y, %s, %m = graph.recurrent %x weights %w state %h memory %c {cell = #graph.cell<lstm>, activations = ["affine", "affine", "affine"], alphas = array<f64: 1.0, 1.0, 1.0>, betas = array<f64: 0.0, 0.0, 0.0>} : (tensor<1x1x4xf32>, tensor<4x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) -> (tensor<1x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>)
  %z, %t, %n = graph.recurrent %x weights %w state %h memory %c {cell = #graph.cell<lstm>, activations = ["affine", "affine", "affine"], alphas = array<f64: 1.0, 1.0, 1.0>, betas = array<f64: 0.0, 0.0, 0.0>, clip = 2.0 : f64} : (tensor<1x1x4xf32>, tensor<4x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>) -> (tensor<1x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>)
  return %y, %m, %z : tensor<1x1x1xf32>, tensor<1x1xf32>, tensor<1x1x1xf32>
}

// Identities again, h = 2, weights (0, 0, 3): z = 0.5, r = 4, so
// n = 1 + (4 * 2) * 3 = 25, h = 0.5 * 25 + 0.5 * 2 = 13.5;
// late: n = 1 + 4 * (2 * 3 + 1) = 29, h = 15.5.
// CHECK-LABEL: func @gru
// CHECK-DAG: dense<1.350000e+01> : tensor<1x1x1xf32>
// CHECK-DAG: dense<1.550000e+01> : tensor<1x1x1xf32>
func.func @gru() -> (tensor<1x1x1xf32>, tensor<1x1x1xf32>) {
  %x = graph.constant dense<[[[0.5, 4.0, 1.0]]]> : tensor<1x1x3xf32>
  %w = graph.constant dense<[[[0.0]], [[0.0]], [[3.0]]]> : tensor<3x1x1xf32>
  %h = graph.constant dense<2.0> : tensor<1x1xf32>
  %b = graph.constant dense<1.0> : tensor<1xf32>
  %y, %s = graph.recurrent %x weights %w state %h {cell = #graph.cell<gru>, activations = ["affine", "affine"], alphas = array<f64: 1.0, 1.0>, betas = array<f64: 0.0, 0.0>} : (tensor<1x1x3xf32>, tensor<3x1x1xf32>, tensor<1x1xf32>) -> (tensor<1x1x1xf32>, tensor<1x1xf32>)
  %z, %t = graph.recurrent %x weights %w state %h bias %b {cell = #graph.cell<gru>, activations = ["affine", "affine"], alphas = array<f64: 1.0, 1.0>, betas = array<f64: 0.0, 0.0>, linear_before_reset = true} : (tensor<1x1x3xf32>, tensor<3x1x1xf32>, tensor<1x1xf32>, tensor<1xf32>) -> (tensor<1x1x1xf32>, tensor<1x1xf32>)
  return %y, %z : tensor<1x1x1xf32>, tensor<1x1x1xf32>
}

// The first matrix needs a row swap; the second one is singular.
// CHECK-LABEL: func @det
// CHECK-DAG: dense<[-6.000000e+00, {{-?}}0.000000e+00]> : tensor<2xf32>
// CHECK-DAG: dense<{{\[}}[1, 2, 6], [4, 20, 120]]> : tensor<2x3xi32>
// CHECK-DAG: dense<{{\[}}[6, 3, 1], [30, 6, 1]]> : tensor<2x3xi32>
// CHECK-DAG: dense<[1065353216, -2147483648]> : tensor<2xi32>
func.func @det() -> (tensor<2xf32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2xi32>) {
  %m = graph.constant dense<[[[0.0, 2.0], [3.0, 1.0]], [[1.0, 2.0], [2.0, 4.0]]]> : tensor<2x2x2xf32>
  %0 = graph.det %m : (tensor<2x2x2xf32>) -> tensor<2xf32>
  %x = graph.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %1 = graph.cumprod %x {axis = 1 : i64} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %2 = graph.cumprod %x {axis = 1 : i64, reverse = true, exclusive = true} : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %f = graph.constant dense<[1.0, -0.0]> : tensor<2xf32>
  %3 = graph.bitcast %f : (tensor<2xf32>) -> tensor<2xi32>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2xi32>
}

// The whole image as one bin; a bin of one cell; the first of equal greatest elements, in
// either order.
// CHECK-LABEL: func @windows
// CHECK-DAG: dense<2.500000e+00> : tensor<1x1x1x1xf32>
// CHECK-DAG: dense<4.000000e+00> : tensor<1x1x1x1xf32>
// CHECK-DAG: dense<1> : tensor<1x1x1x1xi64>
// CHECK-DAG: dense<2> : tensor<1x1x1x1xi64>
func.func @windows() -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xi64>, tensor<1x1x1x1xi64>) {
  %x = graph.constant dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>
  %r = graph.constant dense<[[0.0, 0.0, 2.0, 2.0]]> : tensor<1x4xf32>
  %q = graph.constant dense<[[0.0, 1.0, 1.0, 1.0, 1.0]]> : tensor<1x5xf32>
  %b = graph.constant dense<[0]> : tensor<1xi64>
  %0 = graph.roi_align %x, %r, %b {samples = 2 : i64} : (tensor<1x1x2x2xf32>, tensor<1x4xf32>, tensor<1xi64>) -> tensor<1x1x1x1xf32>
  %1 = graph.roi_pool %x, %q : (tensor<1x1x2x2xf32>, tensor<1x5xf32>) -> tensor<1x1x1x1xf32>
  %y = graph.constant dense<[[[[1.0, 4.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>
  %2 = graph.max_pool_index %y {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x2x2xf32>) -> tensor<1x1x1x1xi64>
  %3 = graph.max_pool_index %y {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, column_major = true} : (tensor<1x1x2x2xf32>) -> tensor<1x1x1x1xi64>
  return %0, %1, %2, %3 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xi64>, tensor<1x1x1x1xi64>
}

// Random numbers without a seed, and values that depend on them, are not folded.
// CHECK-LABEL: func @entropy
// CHECK: graph.entropy
// CHECK-NEXT: graph.entropy
// CHECK-NEXT: graph.sub
func.func @entropy() -> tensor<i64> {
  %0 = graph.entropy : tensor<i64>
  %1 = graph.entropy : tensor<i64>
  %2 = graph.sub %0, %1 : (tensor<i64>, tensor<i64>) -> tensor<i64>
  return %2 : tensor<i64>
}

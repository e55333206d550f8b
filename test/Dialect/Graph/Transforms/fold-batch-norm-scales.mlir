// RUN: aopt %s --graph-fold-batch-norm --graph-fold-constants --split-input-file | FileCheck %s

// A factor and a summand per channel are folded into the weights: filter 2 * 3, bias (1 *
// 3) + 4.
#x = affine_map<()[s0] -> (s0, 1, 4, 4)>
#y = affine_map<()[s0] -> (s0, 2, 4, 4)>
// CHECK-LABEL: func.func @scales
// CHECK-DAG: %[[F:.*]] = graph.constant dense<6.000000e+00> : tensor<2x1x1x1xf32>
// CHECK-DAG: %[[B:.*]] = graph.constant dense<7.000000e+00> : tensor<2xf32>
// CHECK: %[[C:.*]] = graph.conv %arg0, %[[F]], %[[B]]
// CHECK-NEXT: return %[[C]]
func.func @scales(%x: tensor<?x1x4x4xf32, #x>) -> tensor<?x2x4x4xf32, #y> {
  %w = graph.constant dense<2.0> : tensor<2x1x1x1xf32>
  %b = graph.constant dense<1.0> : tensor<2xf32>
  %s = graph.constant dense<3.0> : tensor<2x1x1xf32>
  %t = graph.constant dense<4.0> : tensor<f32>
  %0 = graph.conv %x, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x1x4x4xf32, #x>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<?x2x4x4xf32, #y>
  %1 = graph.mul %0, %s : (tensor<?x2x4x4xf32, #y>, tensor<2x1x1xf32>) -> tensor<?x2x4x4xf32, #y>
  %2 = graph.add %t, %1 : (tensor<f32>, tensor<?x2x4x4xf32, #y>) -> tensor<?x2x4x4xf32, #y>
  return %2 : tensor<?x2x4x4xf32, #y>
}

// -----

// A factor per column is not one per channel; an unknown one stays.
// CHECK-LABEL: func.func @others
// CHECK: graph.conv
// CHECK: graph.mul
// CHECK: graph.conv
// CHECK: graph.mul
func.func @others(%x: tensor<1x1x4x4xf32>, %u: tensor<2x1x1xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %w = graph.constant dense<2.0> : tensor<2x1x1x1xf32>
  %s = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.mul %0, %s : (tensor<1x2x4x4xf32>, tensor<4xf32>) -> tensor<1x2x4x4xf32>
  %2 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %3 = graph.mul %2, %u : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %1, %3 : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// -----

// Into a transposed convolution: scale 1 / sqrt(3 + 1) * 2 = 1, shift 2 - 3 * 1.
// CHECK-LABEL: func.func @conv_transpose
// CHECK-DAG: %[[F:.*]] = graph.constant dense<5.000000e+00> : tensor<1x2x1x1xf32>
// CHECK-DAG: %[[B:.*]] = graph.constant dense<-1.000000e+00> : tensor<2xf32>
// CHECK: %[[C:.*]] = graph.conv_transpose %arg0, %[[F]], %[[B]]
// CHECK-NEXT: return %[[C]]
func.func @conv_transpose(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<5.0> : tensor<1x2x1x1xf32>
  %two = graph.constant dense<2.0> : tensor<2xf32>
  %three = graph.constant dense<3.0> : tensor<2xf32>
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x1x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.batch_norm %0, %two, %two, %three, %three {epsilon = 1.0 : f64} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %1 : tensor<1x2x4x4xf32>
}

// -----

// Before a product: weights 1 * 5, and the sum of the shifts -1 times 5.
// CHECK-LABEL: func.func @matmul_after
// CHECK-DAG: %[[W:.*]] = graph.constant dense<5.000000e+00> : tensor<2x3xf32>
// CHECK-DAG: %[[B:.*]] = graph.constant dense<-1.000000e+01> : tensor<3xf32>
// CHECK: %[[M:.*]] = graph.matmul %arg0, %[[W]]
// CHECK: graph.add %[[M]], %[[B]]
func.func @matmul_after(%x: tensor<4x2xf32>) -> tensor<4x3xf32> {
  %w = graph.constant dense<5.0> : tensor<2x3xf32>
  %two = graph.constant dense<2.0> : tensor<2xf32>
  %three = graph.constant dense<3.0> : tensor<2xf32>
  %0 = graph.batch_norm %x, %two, %two, %three, %three {epsilon = 1.0 : f64} : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %1 = graph.matmul %0, %w : (tensor<4x2xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// -----

// Divisors and differences after a convolution, factors and summands before one with
// groups.
// CHECK-LABEL: func.func @around_conv
// CHECK-NOT: graph.div %{{.*}}tensor<1x2x4x4xf32>
// CHECK: graph.conv %arg0, %{{[0-9]+}}, %{{[0-9]+}} {{.*}}group = 2
// CHECK: %[[C:.*]] = graph.conv
// CHECK-NEXT: return %[[C]]
func.func @around_conv(%x: tensor<1x4x4x4xf32>) -> tensor<1x2x2x2xf32> {
  %s = graph.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]> : tensor<4x1x1xf32>
  %t = graph.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %w = graph.constant dense<0.5> : tensor<2x2x1x1xf32>
  %u = graph.constant dense<0.25> : tensor<2x2x3x3xf32>
  %0 = graph.mul %x, %s : (tensor<1x4x4x4xf32>, tensor<4x1x1xf32>) -> tensor<1x4x4x4xf32>
  %1 = graph.add %0, %s : (tensor<1x4x4x4xf32>, tensor<4x1x1xf32>) -> tensor<1x4x4x4xf32>
  %2 = graph.conv %1, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 2 : i64} : (tensor<1x4x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %3 = graph.conv %2, %u {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x2x2xf32>
  %4 = graph.div %3, %t : (tensor<1x2x2x2xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %5 = graph.sub %4, %t : (tensor<1x2x2x2xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2x2xf32>
  return %5 : tensor<1x2x2x2xf32>
}

// -----

// Factors on either side of a matmul with a bias; rows are symbols.
#x = affine_map<()[s0] -> (s0, 2)>
#y = affine_map<()[s0] -> (s0, 3)>
// CHECK-LABEL: func.func @around_matmul
// CHECK: %[[P:.*]] = graph.matmul %arg0, %{{[0-9]+}}
// CHECK: %[[Y:.*]] = graph.add %[[P]]
// CHECK-NEXT: return %[[Y]]
func.func @around_matmul(%x: tensor<?x2xf32, #x>) -> tensor<?x3xf32, #y> {
  %s = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %t = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %four = graph.constant dense<4.0> : tensor<f32>
  %w = graph.constant dense<0.5> : tensor<2x3xf32>
  %0 = graph.mul %s, %x : (tensor<2xf32>, tensor<?x2xf32, #x>) -> tensor<?x2xf32, #x>
  %1 = graph.matmul %0, %w : (tensor<?x2xf32, #x>, tensor<2x3xf32>) -> tensor<?x3xf32, #y>
  %2 = graph.add %1, %t : (tensor<?x3xf32, #y>, tensor<3xf32>) -> tensor<?x3xf32, #y>
  %3 = graph.div %2, %four : (tensor<?x3xf32, #y>, tensor<f32>) -> tensor<?x3xf32, #y>
  return %3 : tensor<?x3xf32, #y>
}

// -----

// Weights with another user, summands before padding, a quotient by a computed value.
// CHECK-LABEL: func.func @stays
// CHECK: graph.add %arg0
// CHECK: graph.conv
// CHECK: graph.div
// CHECK: graph.matmul %arg1
// CHECK: graph.mul
func.func @stays(%x: tensor<1x2x4x4xf32>, %y: tensor<2x2xf32>) -> (tensor<1x2x4x4xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %t = graph.constant dense<[[[1.0]], [[2.0]]]> : tensor<2x1x1xf32>
  %u = graph.constant dense<0.25> : tensor<2x2x3x3xf32>
  %w = graph.constant dense<0.5> : tensor<2x2xf32>
  %s = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = graph.add %x, %t : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = graph.conv %0, %u {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x2x4x4xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x4x4xf32>
  %2 = graph.div %t, %1 : (tensor<2x1x1xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %3 = graph.matmul %y, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = graph.mul %3, %s : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %5 = graph.add %y, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %2, %4, %5 : tensor<1x2x4x4xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// Around a product with a constant left operand: 2 * 3 of the summed dim, and of the rows
// [1, 2] * 5; the summand of the rows times 5.
#x = affine_map<()[s0] -> (s0, 2, 4)>
// CHECK-LABEL: func.func @left
// CHECK: %[[W:.*]] = graph.constant dense<{{\[\[}}3.000000e+01, 3.000000e+01], [6.000000e+01, 6.000000e+01]]> : tensor<2x2xf32>
// CHECK: %[[P:.*]] = graph.matmul %[[W]], %arg0
// CHECK: %[[B:.*]] = graph.constant dense<{{\[\[}}3.500000e+01], [4.000000e+01]]> : tensor<2x1xf32>
// CHECK-NEXT: %[[S:.*]] = graph.add %[[P]], %[[B]]
// CHECK-NEXT: return %[[S]]
func.func @left(%x: tensor<?x2x4xf32, #x>) -> tensor<?x2x4xf32, #x> {
  %w = graph.constant dense<[[2.0, 2.0], [4.0, 4.0]]> : tensor<2x2xf32>
  %s = graph.constant dense<3.0> : tensor<2x1xf32>
  %b = graph.constant dense<[[7.0], [8.0]]> : tensor<2x1xf32>
  %five = graph.constant dense<5.0> : tensor<f32>
  %0 = graph.mul %x, %s : (tensor<?x2x4xf32, #x>, tensor<2x1xf32>) -> tensor<?x2x4xf32, #x>
  %1 = graph.matmul %w, %0 : (tensor<2x2xf32>, tensor<?x2x4xf32, #x>) -> tensor<?x2x4xf32, #x>
  %2 = graph.add %1, %b : (tensor<?x2x4xf32, #x>, tensor<2x1xf32>) -> tensor<?x2x4xf32, #x>
  %3 = graph.mul %2, %five : (tensor<?x2x4xf32, #x>, tensor<f32>) -> tensor<?x2x4xf32, #x>
  return %3 : tensor<?x2x4xf32, #x>
}

// -----

// After a transpose: scale 1 / sqrt(3 + 1) * 2 = 1, shift 2 - 3 * 1, and a factor of 4.
// CHECK-LABEL: func.func @transposed
// CHECK-DAG: %[[B:.*]] = graph.constant dense<-1.000000e+00> : tensor<2xf32>
// CHECK-DAG: %[[V:.*]] = graph.constant dense<5.000000e+00> : tensor<3x2xf32>
// CHECK: %[[P:.*]] = graph.matmul %arg0, %[[V]]
// CHECK-NEXT: %[[S:.*]] = graph.add %[[P]], %[[B]]
// CHECK-NEXT: %[[T:.*]] = graph.transpose %[[S]]
// CHECK: %[[W:.*]] = graph.constant dense<2.000000e+01> : tensor<3x2xf32>
// CHECK: %[[Q:.*]] = graph.matmul %arg0, %[[W]]
// CHECK-NEXT: %[[U:.*]] = graph.transpose %[[Q]]
// CHECK-NEXT: return %[[T]], %[[U]]
func.func @transposed(%x: tensor<6x7x3xf32>) -> (tensor<6x2x7xf32>, tensor<6x2x7xf32>) {
  %w = graph.constant dense<5.0> : tensor<3x2xf32>
  %two = graph.constant dense<2.0> : tensor<2xf32>
  %three = graph.constant dense<3.0> : tensor<2xf32>
  %four = graph.constant dense<4.0> : tensor<2x1xf32>
  %0 = graph.matmul %x, %w : (tensor<6x7x3xf32>, tensor<3x2xf32>) -> tensor<6x7x2xf32>
  %1 = graph.transpose %0 {perm = array<i64: 0, 2, 1>} : (tensor<6x7x2xf32>) -> tensor<6x2x7xf32>
  %2 = graph.batch_norm %1, %two, %two, %three, %three {epsilon = 1.0 : f64} : (tensor<6x2x7xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<6x2x7xf32>
  %v = graph.constant dense<5.0> : tensor<3x2xf32>
  %3 = graph.matmul %x, %v : (tensor<6x7x3xf32>, tensor<3x2xf32>) -> tensor<6x7x2xf32>
  %4 = graph.transpose %3 {perm = array<i64: 0, 2, 1>} : (tensor<6x7x2xf32>) -> tensor<6x2x7xf32>
  %5 = graph.mul %4, %four : (tensor<6x2x7xf32>, tensor<2x1xf32>) -> tensor<6x2x7xf32>
  return %2, %5 : tensor<6x2x7xf32>, tensor<6x2x7xf32>
}

// -----

// The shift of a normalisation before a Gemm and the bias of the Gemm are one summand: 2
// positions * -1 * 5, and 4.
// CHECK-LABEL: func.func @one_sum
// CHECK: %[[P:.*]] = graph.matmul
// CHECK: %[[B:.*]] = graph.constant dense<-6.000000e+00> : tensor<3xf32>
// CHECK-NEXT: %[[S:.*]] = graph.add %[[P]], %[[B]]
// CHECK-NEXT: return %[[S]]
func.func @one_sum(%x: tensor<6x2xf32>) -> tensor<6x3xf32> {
  %w = graph.constant dense<5.0> : tensor<2x3xf32>
  %b = graph.constant dense<4.0> : tensor<3xf32>
  %two = graph.constant dense<2.0> : tensor<2xf32>
  %three = graph.constant dense<3.0> : tensor<2xf32>
  %0 = graph.batch_norm %x, %two, %two, %three, %three {epsilon = 1.0 : f64} : (tensor<6x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<6x2xf32>
  %1 = graph.matmul %0, %w : (tensor<6x2xf32>, tensor<2x3xf32>) -> tensor<6x3xf32>
  %2 = graph.add %1, %b : (tensor<6x3xf32>, tensor<3xf32>) -> tensor<6x3xf32>
  return %2 : tensor<6x3xf32>
}

// -----

// Factors of columns before a left constant, quotients of integers, which are truncated,
// and a constant with other users.
// CHECK-LABEL: func.func @no_factors
// CHECK: graph.mul
// CHECK: graph.matmul
// CHECK: graph.matmul
// CHECK: graph.div
// CHECK: graph.matmul
// CHECK: graph.mul
func.func @no_factors(%x: tensor<2x4xf32>, %i: tensor<4x2xi32>) -> (tensor<2x4xf32>, tensor<4x2xi32>, tensor<2x4xf32>, tensor<2x2xf32>) {
  %w = graph.constant dense<[[2.0, 3.0], [4.0, 5.0]]> : tensor<2x2xf32>
  %u = graph.constant dense<[[2.0, 3.0], [4.0, 6.0]]> : tensor<2x2xf32>
  %s = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %r = graph.constant dense<[[2.0], [3.0]]> : tensor<2x1xf32>
  %v = graph.constant dense<[[2, 3], [4, 5]]> : tensor<2x2xi32>
  %three = graph.constant dense<3> : tensor<i32>
  %0 = graph.mul %x, %s : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = graph.matmul %w, %0 : (tensor<2x2xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = graph.matmul %i, %v : (tensor<4x2xi32>, tensor<2x2xi32>) -> tensor<4x2xi32>
  %3 = graph.div %2, %three : (tensor<4x2xi32>, tensor<i32>) -> tensor<4x2xi32>
  %4 = graph.matmul %u, %x : (tensor<2x2xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = graph.mul %4, %r : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %1, %3, %5, %u : tensor<2x4xf32>, tensor<4x2xi32>, tensor<2x4xf32>, tensor<2x2xf32>
}

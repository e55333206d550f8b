// Products of dequantized bytes are computed in integers on targets that have a unit for
// them, and nowhere else. For GPUs, pixels are padded to multiples of 16 bytes.
// RUN: aopt %s -tile-attach-targets=cpu=znver4 -graph-form-integer-products -graph-fold-constants -canonicalize -split-input-file | FileCheck %s
// RUN: aopt %s -tile-attach-targets="cpu=sandybridge triple=x86_64" -graph-form-integer-products -split-input-file | FileCheck %s --check-prefix=WITHOUT
// RUN: aopt %s -tile-attach-targets=cuda=sm_80 -graph-form-integer-products -split-input-file | FileCheck %s --check-prefix=GPU
// RUN: aopt %s -tile-attach-targets=cuda=sm_90a -graph-form-integer-products -split-input-file | FileCheck %s --check-prefix=GPU
// RUN: aopt %s -graph-form-integer-products -split-input-file | FileCheck %s --check-prefix=WITHOUT

// GPU: graph.conv {{.*}} : (tensor<1x16x6x6xui8>, tensor<1x16x3x3xi8>, tensor<1xi32>) -> tensor<1x1x4x4xi32>
// WITHOUT-NOT: xi32>
// WITHOUT-NOT: xui8>) -> tensor<{{.*}}xi8>

// Two columns with a scale each; the zero point times the sums of the columns is
// subtracted.
// CHECK-LABEL: @matmul
// CHECK-DAG: %[[SHIFT:.*]] = graph.constant dense<[-60, 20]> : tensor<2xi32>
// CHECK-DAG: %[[SCALE:.*]] = graph.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00]]> : tensor<1x2xf32>
// CHECK: %[[SUM:.*]] = graph.matmul %arg0, %{{.*}} : (tensor<?x4xui8, {{.*}}>, tensor<4x2xi8>) -> tensor<?x2xi32
// CHECK: %[[SHIFTED:.*]] = graph.add %[[SUM]], %[[SHIFT]]
// CHECK: %[[WIDE:.*]] = graph.cast %[[SHIFTED]]
// CHECK: graph.mul %[[WIDE]], %[[SCALE]]
func.func @matmul(%p: tensor<?x4xui8, affine_map<()[s0] -> (s0, 4)>>) -> tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>> {
  %w = graph.constant dense<[[1, -2], [2, 0], [3, 0], [0, 0]]> : tensor<4x2xi8>
  %s = graph.constant dense<0.5> : tensor<f32>
  %t = graph.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %z = graph.constant dense<10.0> : tensor<f32>
  %0 = graph.cast %p : (tensor<?x4xui8, affine_map<()[s0] -> (s0, 4)>>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>
  %1 = graph.sub %0, %z : (tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>, tensor<f32>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>
  %2 = graph.mul %1, %s : (tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>, tensor<f32>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>
  %3 = graph.cast %w : (tensor<4x2xi8>) -> tensor<4x2xf32>
  %4 = graph.mul %3, %t : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %5 = graph.matmul %2, %4 : (tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>, tensor<4x2xf32>) -> tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>
  return %5 : tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>
}

// -----

// Signed activations become unsigned, for their other users as well; three channels
// become four; the pads are filled with the zero point.
// CHECK-LABEL: @conv
// CHECK-DAG: %[[FILL:.*]] = graph.constant dense<131> : tensor<ui8>
// CHECK-DAG: %[[BIAS:.*]] = graph.constant dense<-1179> : tensor<1xi32>
// CHECK-DAG: %[[HALF:.*]] = graph.constant dense<128> : tensor<ui8>
// CHECK: %[[CAST:.*]] = graph.cast %arg0 : (tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xui8>
// CHECK: %[[X:.*]] = graph.bitwise_xor %[[CAST]], %[[HALF]]
// CHECK: %[[WIDE:.*]] = graph.cast %[[X]] : (tensor<1x3x4x4xui8>) -> tensor<1x3x4x4xf32>
// CHECK: %[[PADDED:.*]] = graph.pad %[[X]], %[[FILL]] {high = array<i64: 0, 1, 1, 1>, low = array<i64: 0, 0, 1, 1>}
// CHECK: graph.conv %[[PADDED]], %{{.*}}, %[[BIAS]] {{.*}}pads = array<i64: 0, 0, 0, 0>{{.*}} : (tensor<1x4x6x6xui8>, tensor<1x4x3x3xi8>, tensor<1xi32>) -> tensor<1x1x4x4xi32>
func.func @conv(%p: tensor<1x3x4x4xi8>) -> (tensor<1x1x4x4xf32>, tensor<1x3x4x4xf32>) {
  %w = graph.constant dense<[[[[1, 1, 1], [1, 1, 1], [1, 1, 1]], [[0, 0, 0], [0, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0], [0, 0, 0]]]]> : tensor<1x3x3x3xi8>
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3.0> : tensor<f32>
  %0 = graph.cast %p : (tensor<1x3x4x4xi8>) -> tensor<1x3x4x4xf32>
  %1 = graph.sub %0, %z : (tensor<1x3x4x4xf32>, tensor<f32>) -> tensor<1x3x4x4xf32>
  %2 = graph.mul %1, %s : (tensor<1x3x4x4xf32>, tensor<f32>) -> tensor<1x3x4x4xf32>
  %3 = graph.cast %w : (tensor<1x3x3x3xi8>) -> tensor<1x3x3x3xf32>
  %4 = graph.mul %3, %s : (tensor<1x3x3x3xf32>, tensor<f32>) -> tensor<1x3x3x3xf32>
  %5 = graph.conv %2, %4 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>, tensor<1x3x3x3xf32>) -> tensor<1x1x4x4xf32>
  return %5, %2 : tensor<1x1x4x4xf32>, tensor<1x3x4x4xf32>
}

// -----

// Two convolutions of one signed input: it becomes unsigned for the first, and the second
// reads the same bytes, with both zero points.
// CHECK-LABEL: @shared
// CHECK: %[[X:.*]] = graph.bitwise_xor
// CHECK: graph.conv %[[X]], %{{.*}} : (tensor<1x4x4x4xui8>, tensor<1x4x1x1xi8>, tensor<1xi32>) -> tensor<1x1x4x4xi32>
// CHECK: graph.conv %[[X]], %{{.*}} : (tensor<1x4x4x4xui8>, tensor<1x4x1x1xi8>, tensor<1xi32>) -> tensor<1x1x4x4xi32>
func.func @shared(%p: tensor<1x4x4x4xi8>) -> (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %w = graph.constant dense<[[[[1]], [[2]], [[3]], [[4]]]]> : tensor<1x4x1x1xi8>
  %v = graph.constant dense<[[[[1]], [[0]], [[0]], [[9]]]]> : tensor<1x4x1x1xi8>
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3.0> : tensor<f32>
  %0 = graph.cast %p : (tensor<1x4x4x4xi8>) -> tensor<1x4x4x4xf32>
  %1 = graph.sub %0, %z : (tensor<1x4x4x4xf32>, tensor<f32>) -> tensor<1x4x4x4xf32>
  %2 = graph.mul %1, %s : (tensor<1x4x4x4xf32>, tensor<f32>) -> tensor<1x4x4x4xf32>
  %3 = graph.cast %w : (tensor<1x4x1x1xi8>) -> tensor<1x4x1x1xf32>
  %4 = graph.mul %3, %s : (tensor<1x4x1x1xf32>, tensor<f32>) -> tensor<1x4x1x1xf32>
  %5 = graph.cast %v : (tensor<1x4x1x1xi8>) -> tensor<1x4x1x1xf32>
  %6 = graph.mul %5, %s : (tensor<1x4x1x1xf32>, tensor<f32>) -> tensor<1x4x1x1xf32>
  %7 = graph.conv %2, %4 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x4xf32>, tensor<1x4x1x1xf32>) -> tensor<1x1x4x4xf32>
  %8 = graph.conv %2, %6 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x4x4xf32>, tensor<1x4x1x1xf32>) -> tensor<1x1x4x4xf32>
  return %7, %8 : tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// -----

// A depth that is not a multiple of 4, a zero point between two integers, a weight whose
// zero point is not in the middle, an activation with a scale per column, and products of
// two activations stay in f32.
// CHECK-LABEL: @refused
// CHECK-NOT: xi32>
func.func @refused(%p: tensor<2x3xui8>, %q: tensor<2x4xui8>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %w3 = graph.constant dense<1> : tensor<3x2xi8>
  %w4 = graph.constant dense<1> : tensor<4x2xi8>
  %s = graph.constant dense<0.5> : tensor<f32>
  %t = graph.constant dense<[0.5, 1.0, 2.0, 3.0]> : tensor<4xf32>
  %z = graph.constant dense<3.0> : tensor<f32>
  %0 = graph.cast %p : (tensor<2x3xui8>) -> tensor<2x3xf32>
  %1 = graph.mul %0, %s : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = graph.cast %w3 : (tensor<3x2xi8>) -> tensor<3x2xf32>
  %3 = graph.mul %2, %s : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %4 = graph.matmul %1, %3 : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %5 = graph.cast %q : (tensor<2x4xui8>) -> tensor<2x4xf32>
  %6 = graph.mul %5, %s : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %7 = graph.cast %w4 : (tensor<4x2xi8>) -> tensor<4x2xf32>
  %8 = graph.sub %7, %z : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %9 = graph.mul %8, %s : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %10 = graph.matmul %6, %9 : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  %11 = graph.mul %5, %t : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %12 = graph.mul %7, %s : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %13 = graph.matmul %11, %12 : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  %14 = graph.matmul %6, %6 {transpose_b = true} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x2xf32>
  %15 = graph.sub %5, %s : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %16 = graph.mul %15, %s : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %17 = graph.matmul %16, %12 : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
  return %4, %10, %13, %14, %17 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

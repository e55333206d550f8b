// RUN: aopt %s -graph-sink-dequantization -canonicalize -split-input-file | FileCheck %s

// Through a chain of ops, of any size, and a concatenation of equal scales.
// CHECK-LABEL: @chain
// CHECK: %[[T:.*]] = graph.transpose %arg0 {{.*}} -> tensor<4x?xui8
// CHECK: %[[C:.*]] = graph.concat %[[T]], %[[T]] {{.*}} -> tensor<8x?xui8
// CHECK: %[[F:.*]] = graph.cast %[[C]]
// CHECK: %[[S:.*]] = graph.sub %[[F]], %{{.*}}
// CHECK: %[[M:.*]] = graph.mul %[[S]], %{{.*}}
// CHECK: return %[[M]]
func.func @chain(%p: tensor<?x4xui8, affine_map<()[s0] -> (s0, 4)>>) -> tensor<8x?xf32, affine_map<()[s0] -> (8, s0)>> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<3.0> : tensor<f32>
  %0 = graph.cast %p : (tensor<?x4xui8, affine_map<()[s0] -> (s0, 4)>>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>
  %1 = graph.sub %0, %z : (tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>, tensor<f32>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>
  %2 = graph.mul %1, %s : (tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>, tensor<f32>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>
  %3 = graph.transpose %2 {perm = array<i64: 1, 0>} : (tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>) -> tensor<4x?xf32, affine_map<()[s0] -> (4, s0)>>
  %4 = graph.concat %3, %3 {axis = 0 : i64} : (tensor<4x?xf32, affine_map<()[s0] -> (4, s0)>>, tensor<4x?xf32, affine_map<()[s0] -> (4, s0)>>) -> tensor<8x?xf32, affine_map<()[s0] -> (8, s0)>>
  return %4 : tensor<8x?xf32, affine_map<()[s0] -> (8, s0)>>
}

// -----

// CHECK-LABEL: @pool
// CHECK: graph.max_pool %arg0 {{.*}} -> tensor<1x2x4x4xui8>
func.func @pool(%p: tensor<1x2x8x8xui8>) -> tensor<1x2x4x4xf32> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.cast %p : (tensor<1x2x8x8xui8>) -> tensor<1x2x8x8xf32>
  %1 = graph.mul %0, %s : (tensor<1x2x8x8xf32>, tensor<f32>) -> tensor<1x2x8x8xf32>
  %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32>
  return %2 : tensor<1x2x4x4xf32>
}

// -----

// A negative scale reverses the order; a scale per channel moves with its channels;
// different scales stand for different numbers.
// CHECK-LABEL: @refused
// CHECK: graph.max_pool %{{.*}} -> tensor<1x2x4x4xf32>
// CHECK: graph.transpose %{{.*}} -> tensor<1x8x8x2xf32>
// CHECK: graph.concat %{{.*}} -> tensor<2x2x8x8xf32>
func.func @refused(%p: tensor<1x2x8x8xui8>) -> (tensor<1x2x4x4xf32>, tensor<1x8x8x2xf32>, tensor<2x2x8x8xf32>) {
  %s = graph.constant dense<-0.5> : tensor<f32>
  %c = graph.constant dense<[[[[0.5]], [[0.7]]]]> : tensor<1x2x1x1xf32>
  %0 = graph.cast %p : (tensor<1x2x8x8xui8>) -> tensor<1x2x8x8xf32>
  %1 = graph.mul %0, %s : (tensor<1x2x8x8xf32>, tensor<f32>) -> tensor<1x2x8x8xf32>
  %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32>
  %3 = graph.mul %0, %c : (tensor<1x2x8x8xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x8x8xf32>
  %4 = graph.transpose %3 {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x2x8x8xf32>) -> tensor<1x8x8x2xf32>
  %5 = graph.concat %1, %3 {axis = 0 : i64} : (tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) -> tensor<2x2x8x8xf32>
  return %2, %4, %5 : tensor<1x2x4x4xf32>, tensor<1x8x8x2xf32>, tensor<2x2x8x8xf32>
}

// RUN: aopt %s -tile-attach-targets="cuda=sm_90a" --graph-set-precision=type=tf32 --split-input-file | FileCheck %s
// RUN: aopt %s -tile-attach-targets="cuda=sm_80" --graph-set-precision=type=tf32 --split-input-file | FileCheck %s
// RUN: aopt %s -tile-attach-targets="cpu=x86-64-v3" --graph-set-precision=type=tf32 --split-input-file | FileCheck %s --check-prefix=CPU --implicit-check-not=graph.precision

// No tensor changes its type. On CPUs tf32 means f32.
// CHECK-LABEL: func.func @products(
// CHECK-NOT: graph.cast
// CHECK: graph.matmul {{.*}} {graph.precision = tf32} {{.*}} -> tensor<?x4xf32
// CHECK: graph.matmul {{.*}} {graph.precision = tf32{{.*}}transpose_b
// CPU-LABEL: func.func @products(
// CPU-COUNT-2: graph.matmul
func.func @products(%x: tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, %a: tensor<4x4xf32>) -> (tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>, tensor<4x4xf32>) {
  %w = graph.constant dense<0.5> : tensor<8x4xf32>
  %y = graph.matmul %x, %w : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<8x4xf32>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>
  %z = graph.matmul %a, %a {transpose_b = true} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y, %z : tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @convolution(
// CHECK: graph.conv {{.*}}graph.precision = tf32
// CPU-LABEL: func.func @convolution(
func.func @convolution(%x: tensor<1x4x9x9xf32>, %b: tensor<6xf32>) -> tensor<1x6x7x7xf32> {
  %w = graph.constant dense<0.5> : tensor<6x4x3x3xf32>
  %y = graph.conv %x, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x9x9xf32>, tensor<6x4x3x3xf32>, tensor<6xf32>) -> tensor<1x6x7x7xf32>
  return %y : tensor<1x6x7x7xf32>
}

// -----

// Another type, and depthwise channels.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: graph.precision
// CHECK: return
// CPU-LABEL: func.func @others(
func.func @others(%z: tensor<4x4xf64>, %i: tensor<1x4x9x9xf32>) -> (tensor<4x4xf64>, tensor<1x4x7x7xf32>) {
  %v = graph.constant dense<0.5> : tensor<4x4xf64>
  %f = graph.constant dense<0.5> : tensor<4x1x3x3xf32>
  %0 = graph.matmul %z, %v : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
  %1 = graph.conv %i, %f {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 4 : i64} : (tensor<1x4x9x9xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x7x7xf32>
  return %0, %1 : tensor<4x4xf64>, tensor<1x4x7x7xf32>
}

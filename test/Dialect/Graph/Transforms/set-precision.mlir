// RUN: aopt %s -tile-attach-targets="cpu=znver4" --graph-set-precision --split-input-file | FileCheck %s
// RUN: not aopt %s -tile-attach-targets="cpu=znver4,x86-64-v4" --graph-set-precision --split-input-file 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not aopt %s -tile-attach-targets="cpu=znver4" --graph-set-precision=type=f16 --split-input-file 2>&1 | FileCheck %s --check-prefix=F16

// REFUSED: error: unsupported: --precision=bf16: x86-64-v4 has no instruction for products of 'bf16'; leave the flag out, or name another CPU by --mcpu
// F16: error: unsupported: --precision=f16: znver4 has no instruction for products of 'f16'

// CHECK-LABEL: func.func @products(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32
// CHECK: %[[XB:.*]] = graph.cast %[[X]] {{.*}} -> tensor<?x8xbf16
// CHECK: %[[WB:.*]] = graph.cast %{{.*}} : (tensor<8x4xf32>) -> tensor<8x4xbf16>
// CHECK: graph.matmul %[[XB]], %[[WB]] {wide_result} {{.*}} -> tensor<?x4xf32
func.func @products(%x: tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>> {
  %w = graph.constant dense<0.5> : tensor<8x4xf32>
  %y = graph.matmul %x, %w : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<8x4xf32>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>
  return %y : tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>
}

// -----

// CHECK-LABEL: func.func @convolution(
// CHECK-COUNT-2: graph.cast {{.*}}xbf16>
// CHECK: graph.conv {{.*}}wide_result{{.*}} : (tensor<1x4x9x9xbf16>, tensor<6x4x3x3xbf16>, tensor<6xf32>) -> tensor<1x6x7x7xf32>
func.func @convolution(%x: tensor<1x4x9x9xf32>, %b: tensor<6xf32>) -> tensor<1x6x7x7xf32> {
  %w = graph.constant dense<0.5> : tensor<6x4x3x3xf32>
  %y = graph.conv %x, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x9x9xf32>, tensor<6x4x3x3xf32>, tensor<6xf32>) -> tensor<1x6x7x7xf32>
  return %y : tensor<1x6x7x7xf32>
}

// -----

// Two activations, an odd depth, another type, and channels by themselves.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: graph.cast
// CHECK: return
func.func @others(%x: tensor<4x4xf32>, %y: tensor<4x5xf32>, %z: tensor<4x4xf64>, %i: tensor<1x4x9x9xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf64>, tensor<1x4x7x7xf32>) {
  %w = graph.constant dense<0.5> : tensor<5x4xf32>
  %v = graph.constant dense<0.5> : tensor<4x4xf64>
  %f = graph.constant dense<0.5> : tensor<4x1x3x3xf32>
  %0 = graph.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.matmul %y, %w : (tensor<4x5xf32>, tensor<5x4xf32>) -> tensor<4x4xf32>
  %2 = graph.matmul %z, %v : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
  %3 = graph.conv %i, %f {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 4 : i64} : (tensor<1x4x9x9xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x7x7xf32>
  return %0, %1, %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf64>, tensor<1x4x7x7xf32>
}

// RUN: aopt %s -tile-attach-targets="cpu=znver4" --graph-set-precision --split-input-file | FileCheck %s
// RUN: aopt %s -tile-attach-targets="cuda=sm_90a" --graph-set-precision=type=f16 --split-input-file | FileCheck %s --check-prefix=GPU
// RUN: aopt %s -tile-attach-targets="cpu=sapphirerapids" --graph-set-precision --split-input-file | FileCheck %s --check-prefix=AMX
// RUN: aopt %s -tile-attach-targets="cpu=sapphirerapids" --graph-set-precision=wide=9 --split-input-file | FileCheck %s --check-prefix=WIDE
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

// Two activations, an odd depth, another type, and depthwise channels.
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

// -----

// Attention is left alone on CPUs without a unit for matrices, and of values
// that do not fill its registers. For GPUs, what query, keys and values are
// slices of is rounded once, before they are moved about, and the result not
// again for the product that reads it. The bias stays in f32.
// CHECK-LABEL: func.func @attention(
// CHECK: graph.attention {{.*}}{scale = 1.250000e-01 : f64} {{.*}}xf32>) -> tensor<?x2x4x8xf32
// AMX-LABEL: func.func @attention(
// AMX: graph.attention {{.*}}{scale = 1.250000e-01 : f64} {{.*}}xf32>) -> tensor<?x2x4x8xf32
// GPU-LABEL: func.func @attention(
// GPU-SAME: %[[X:.*]]: tensor<?x4x6x8xf32
// GPU-COUNT-1: graph.cast %[[X]] : {{.*}} -> tensor<?x4x6x8xf16
// GPU-NOT: graph.cast %[[X]]
// GPU: graph.attention {{.*}} bias %{{.*}} {{.*}}tensor<1x2x4x4xf32>) -> tensor<?x2x4x8xf16
// GPU-NEXT: graph.transpose {{.*}} -> tensor<?x4x2x8xf16
// GPU: graph.matmul {{.*}} {wide_result} {{.*}} -> tensor<?x4x2x3xf32
#x = affine_map<()[s0] -> (s0, 4, 6, 8)>
#h = affine_map<()[s0] -> (s0, 4, 2, 8)>
#t = affine_map<()[s0] -> (s0, 2, 4, 8)>
#r = affine_map<()[s0] -> (s0, 4, 2, 3)>
func.func @attention(%x: tensor<?x4x6x8xf32, #x>, %b: tensor<1x2x4x4xf32>) -> tensor<?x4x2x3xf32, #r> {
  %w = graph.constant dense<0.5> : tensor<8x3xf32>
  %0 = graph.slice %x {starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<?x4x6x8xf32, #x>) -> tensor<?x4x2x8xf32, #h>
  %1 = graph.slice %x {starts = array<i64: 0, 0, 2, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<?x4x6x8xf32, #x>) -> tensor<?x4x2x8xf32, #h>
  %2 = graph.slice %x {starts = array<i64: 0, 0, 4, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<?x4x6x8xf32, #x>) -> tensor<?x4x2x8xf32, #h>
  %q = graph.transpose %0 {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x4x2x8xf32, #h>) -> tensor<?x2x4x8xf32, #t>
  %k = graph.transpose %1 {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x4x2x8xf32, #h>) -> tensor<?x2x4x8xf32, #t>
  %v = graph.transpose %2 {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x4x2x8xf32, #h>) -> tensor<?x2x4x8xf32, #t>
  %y = graph.attention %q, %k, %v bias %b {scale = 1.250000e-01 : f64} : (tensor<?x2x4x8xf32, #t>, tensor<?x2x4x8xf32, #t>, tensor<?x2x4x8xf32, #t>, tensor<1x2x4x4xf32>) -> tensor<?x2x4x8xf32, #t>
  %z = graph.transpose %y {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x2x4x8xf32, #t>) -> tensor<?x4x2x8xf32, #h>
  %p = graph.matmul %z, %w : (tensor<?x4x2x8xf32, #h>, tensor<8x3xf32>) -> tensor<?x4x2x3xf32, #r>
  return %p : tensor<?x4x2x3xf32, #r>
}

// -----

// A result with other users is widened; attention in f64 is unchanged.
// GPU-LABEL: func.func @read_in_f32(
// GPU: %[[Y:.*]] = graph.attention {{.*}} -> tensor<2x4x8xf16>
// GPU-NEXT: %[[W:.*]] = graph.cast %[[Y]] : (tensor<2x4x8xf16>) -> tensor<2x4x8xf32>
// GPU: graph.attention {{.*}} -> tensor<2x4x8xf64>
// GPU: return %[[W]]
func.func @read_in_f32(%x: tensor<2x4x8xf32>, %d: tensor<2x4x8xf64>) -> (tensor<2x4x8xf32>, tensor<2x4x8xf64>) {
  %y = graph.attention %x, %x, %x {scale = 1.250000e-01 : f64} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %z = graph.attention %d, %d, %d {scale = 1.250000e-01 : f64} : (tensor<2x4x8xf64>, tensor<2x4x8xf64>, tensor<2x4x8xf64>) -> tensor<2x4x8xf64>
  return %y, %z : tensor<2x4x8xf32>, tensor<2x4x8xf64>
}

// -----

// What products compute is stored in the type, also after elementwise ops.
// AMX-LABEL: func.func @computed(
// AMX: %[[P:.*]] = graph.matmul {{.*}} {wide_result}
// AMX: %[[B:.*]] = graph.mul %[[P]]
// AMX: %[[N:.*]] = graph.cast %[[B]] : {{.*}} -> tensor<2x40x16xbf16>
// AMX: graph.attention %[[N]], %[[N]], %[[N]] {{.*}} -> tensor<2x40x16xbf16>
// WIDE-LABEL: func.func @computed(
// WIDE: graph.attention {{.*}} {scale = 1.250000e-01 : f64} {{.*}} -> tensor<2x40x16xf32>
func.func @computed(%x: tensor<2x40x16xf32>, %s: tensor<16xf32>) -> tensor<2x40x16xf32> {
  %w = graph.constant dense<0.5> : tensor<16x16xf32>
  %p = graph.matmul %x, %w : (tensor<2x40x16xf32>, tensor<16x16xf32>) -> tensor<2x40x16xf32>
  %b = graph.mul %p, %s : (tensor<2x40x16xf32>, tensor<16xf32>) -> tensor<2x40x16xf32>
  %y = graph.attention %b, %b, %b {scale = 1.250000e-01 : f64} : (tensor<2x40x16xf32>, tensor<2x40x16xf32>, tensor<2x40x16xf32>) -> tensor<2x40x16xf32>
  return %y : tensor<2x40x16xf32>
}

// -----

// Others are rounded where the unit multiplies, but not for a few queries.
// AMX-LABEL: func.func @cached(
// AMX: graph.attention {{.*}} {graph.precision = bf16, {{.*}} -> tensor<2x40x16xf32>
// AMX: graph.attention {{.*}} {scale = 1.250000e-01 : f64} {{.*}} -> tensor<2x4x16xf32>
func.func @cached(%x: tensor<2x40x16xf32>, %q: tensor<2x4x16xf32>) -> (tensor<2x40x16xf32>, tensor<2x4x16xf32>) {
  %y = graph.attention %x, %x, %x {scale = 1.250000e-01 : f64} : (tensor<2x40x16xf32>, tensor<2x40x16xf32>, tensor<2x40x16xf32>) -> tensor<2x40x16xf32>
  %z = graph.attention %q, %x, %x {scale = 1.250000e-01 : f64} : (tensor<2x4x16xf32>, tensor<2x40x16xf32>, tensor<2x40x16xf32>) -> tensor<2x4x16xf32>
  return %y, %z : tensor<2x40x16xf32>, tensor<2x4x16xf32>
}

// Attention of f32 as in encoders: query, keys and values are slices of one product,
// heads are adjacent, keys are masked. With a narrower precision, one kernel reads the
// product in place and uses the matrix unit.
// RUN: atranslate %s --target=cuda:sm_90a --precision=f16 --emit=tile -o %t.mlir && FileCheck %s --check-prefix=TILE < %t.mlir
// RUN: atranslate %s --target=cuda:sm_90a --precision=f16 -v --emit=ptx -o - 2>&1 | FileCheck %s
// RUN: atranslate %s --target=cuda:sm_90a --precision=bf16 --emit=ptx -o - | FileCheck %s --check-prefix=BF16
// RUN: atranslate %s --target=cuda:sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=F32

// TILE: host.launch @slice{{.*}} : (tensor<2x128x6x64xf16>, tensor<2x1x1x128xi1>) -> tensor<2x128x2x64xf16>
// TILE-NEXT: graph.reshape
// TILE-NEXT: host.launch @matmul{{.*}} : (tensor<2x128x128xf16>,
// TILE-NEXT: return

// CHECK-NOT: no matrix unit
// CHECK: .entry slice_slice_slice_attention
// CHECK: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
// CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// BF16: .entry slice_slice_slice_attention
// BF16: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// F32-NOT: wgmma

func.func @main(%x: tensor<2x128x32xf32>, %m: tensor<2x1x1x128xi1>) -> tensor<2x128x64xf32> {
  %from = graph.constant dense<0.0> : tensor<f32>
  %to = graph.constant dense<12288.0> : tensor<f32>
  %by = graph.constant dense<1.0> : tensor<f32>
  %w0 = graph.range %from, %to, %by : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<12288xf32>
  %w1 = graph.sin %w0 : (tensor<12288xf32>) -> tensor<12288xf32>
  %w = graph.reshape %w1 : (tensor<12288xf32>) -> tensor<32x384xf32>
  %o0 = graph.slice %w1 {starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<12288xf32>) -> tensor<8192xf32>
  %o = graph.reshape %o0 : (tensor<8192xf32>) -> tensor<128x64xf32>
  %p = graph.matmul %x, %w : (tensor<2x128x32xf32>, tensor<32x384xf32>) -> tensor<2x128x384xf32>
  %r = graph.reshape %p : (tensor<2x128x384xf32>) -> tensor<2x128x6x64xf32>
  %0 = graph.slice %r {starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<2x128x6x64xf32>) -> tensor<2x128x2x64xf32>
  %1 = graph.slice %r {starts = array<i64: 0, 0, 2, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<2x128x6x64xf32>) -> tensor<2x128x2x64xf32>
  %2 = graph.slice %r {starts = array<i64: 0, 0, 4, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<2x128x6x64xf32>) -> tensor<2x128x2x64xf32>
  %q = graph.transpose %0 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x128x2x64xf32>) -> tensor<2x2x128x64xf32>
  %k = graph.transpose %1 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x128x2x64xf32>) -> tensor<2x2x128x64xf32>
  %v = graph.transpose %2 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x128x2x64xf32>) -> tensor<2x2x128x64xf32>
  %a = graph.attention %q, %k, %v mask %m {fill = -3.4028234663852886E+38 : f64, scale = 1.250000e-01 : f64} : (tensor<2x2x128x64xf32>, tensor<2x2x128x64xf32>, tensor<2x2x128x64xf32>, tensor<2x1x1x128xi1>) -> tensor<2x2x128x64xf32>
  %t = graph.transpose %a {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x2x128x64xf32>) -> tensor<2x128x2x64xf32>
  %f = graph.reshape %t : (tensor<2x128x2x64xf32>) -> tensor<2x128x128xf32>
  %y = graph.matmul %f, %o : (tensor<2x128x128xf32>, tensor<128x64xf32>) -> tensor<2x128x64xf32>
  return %y : tensor<2x128x64xf32>
}

// Products of f32 in f16 on the matrix unit, with sums and results in f32. The
// bias and the rounding for the next product are part of the kernel.
// RUN: atranslate %s --target=cuda:sm_90a --precision=f16 --emit=ptx -o - | FileCheck %s
// RUN: atranslate %s --target=cuda:sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=F32
// RUN: atranslate %s --target=cuda:sm_80 --precision=f16 --emit=ptx -o - | FileCheck %s --check-prefix=WARP
// RUN: atranslate %s --target=cuda:sm_80 --precision=tf32 --emit=ptx -o - | FileCheck %s --check-prefix=TF32

// CHECK: .entry
// CHECK: wgmma.mma_async.sync.aligned.m64n{{[0-9]+}}k16.f32.f16.f16
// F32-NOT: wgmma
// WARP: .target sm_80
// WARP: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// TF32: cvt.rna.tf32.f32
// TF32: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
func.func @main(%x: tensor<512x128xf32> {graph.name = "x"}) -> (tensor<512x64xf32> {graph.name = "y"}) {
  %from = graph.constant dense<0.0> : tensor<f32>
  %to = graph.constant dense<16384.0> : tensor<f32>
  %by = graph.constant dense<1.0> : tensor<f32>
  %w0 = graph.range %from, %to, %by : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<16384xf32>
  %w1 = graph.sin %w0 : (tensor<16384xf32>) -> tensor<16384xf32>
  %w = graph.reshape %w1 : (tensor<16384xf32>) -> tensor<128x128xf32>
  %v = graph.slice %w {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<128x128xf32>) -> tensor<128x64xf32>
  %b = graph.slice %w1 {starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<16384xf32>) -> tensor<128xf32>
  %0 = graph.matmul %x, %w : (tensor<512x128xf32>, tensor<128x128xf32>) -> tensor<512x128xf32>
  %1 = graph.add %0, %b : (tensor<512x128xf32>, tensor<128xf32>) -> tensor<512x128xf32>
  %2 = graph.relu %1 : (tensor<512x128xf32>) -> tensor<512x128xf32>
  %3 = graph.matmul %2, %v : (tensor<512x128xf32>, tensor<128x64xf32>) -> tensor<512x64xf32>
  return %3 : tensor<512x64xf32>
}

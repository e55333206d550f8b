// On CPUs tf32 means f32: the module has the same bytes with the flag and without.
// RUN: atranslate %s -o %t.f32.so && atranslate %s --precision=tf32 -o %t.tf32.so
// RUN: cmp %t.f32.so %t.tf32.so
// On GPUs it is used on request only.
// RUN: atranslate %s --target=cuda:sm_90a --precision=tf32 --emit=ptx -o - | FileCheck %s
// RUN: atranslate %s --target=cuda:sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=F32
// With a CPU, too, whose program is unchanged.
// RUN: atranslate %s --target=cpu --target=cuda:sm_90a --precision=tf32 --emit=tile -o - | FileCheck %s --check-prefix=BOTH

// CHECK: wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32
// F32-NOT: wgmma
// BOTH: tile.kernel
// BOTH: tile.dot {{.*}} : tensor
// BOTH: tile.kernel
// BOTH: tile.dot {{.*}} compute <tf32 * tf32 + f32> : tensor

func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = graph.matmul %x, %w {transpose_b = true} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// RUN: aopt %s --convert-graph-to-tile --tile-choose-schedule --tile-specialize=target=cuda --convert-tile-to-gpu | FileCheck %s

// 512 programs of 32 columns are four for each of 132 multiprocessors, which all should have room at once.
// CHECK-LABEL: llvm.func @many_few(
// CHECK-SAME: nvvm.minctasm = 4 : i32
// One block of 16 warps suffices for 64 programs.
// CHECK-LABEL: llvm.func @few_few(
// CHECK-SAME: nvvm.minctasm = 1 : i32
#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448, units = [#tile.unit<"mma", f16 * f16 + f32, [16, 8, 16]>]>
#x = affine_map<()[s0] -> (s0, 64, 4, 8)>
#z = affine_map<()[s0] -> (s0, 320, 4, 8)>
#y = affine_map<()[s0] -> (s0, 16384)>
#v = affine_map<()[s0] -> (s0, 1024)>
module attributes {tile.targets = [#gpu]} {
  func.func private @many(%x: tensor<?x64x4x8xf16, #x>, %w: tensor<16384x64x4xi32>, %s: tensor<16384x64xf16>) -> tensor<?x16384xf16, #y> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s {bits = 4 : i64} : (tensor<?x64x4x8xf16, #x>, tensor<16384x64x4xi32>, tensor<16384x64xf16>) -> tensor<?x16384xf16, #y>
    return %0 : tensor<?x16384xf16, #y>
  }
  func.func private @few(%x: tensor<?x320x4x8xf16, #z>, %w: tensor<1024x320x4xi32>, %s: tensor<1024x320xf16>) -> tensor<?x1024xf16, #v> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s {bits = 4 : i64} : (tensor<?x320x4x8xf16, #z>, tensor<1024x320x4xi32>, tensor<1024x320xf16>) -> tensor<?x1024xf16, #v>
    return %0 : tensor<?x1024xf16, #v>
  }
}

// RUN: aopt %s --convert-graph-to-tile --tile-choose-schedule -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: cuda-emulate %t.mlir --symbols=40 --tolerance=1e-2 --int-limit=2000000000 | FileCheck %s --check-prefix=EMULATED

// Warpgroups compute the right operand of a pipelined product from packed weights. A stage has
// two rows of 128 bytes along the depth, and two warpgroups compute if the others need few
// registers.
// CHECK: tile.kernel @packed(
// CHECK-SAME: #tile.dim<"m", 128>, #tile.dim<"n", 128>, #tile.dim<"k", 128>
// CHECK-SAME: #tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = computed, swizzle = 128>
// CHECK-SAME: warps = [8, 8]
// CHECK: tile.kernel @packed_to_256(
// CHECK-SAME: #tile.dim<"n", 128>, #tile.dim<"k", 128>
// CHECK-SAME: copy = computed
// EMULATED-DAG: packed_to_256: {{[1-9].*}} agree

// A thread has no registers for a column of bytes.
// CHECK: tile.kernel @bytes(
// CHECK-NOT: computed
// CHECK: tile.return
// EMULATED-DAG: bytes: {{[1-9].*}} agree

// Scales of 32 bits may not fit into the operand: weights are computed in f32, and rounded.
// CHECK: tile.kernel @scales_to_256(
// CHECK-SAME: copy = computed
// CHECK: arith.truncf %{{.*}} : tensor<?x?xf32> to tensor<?x?xf16>
// CHECK-NEXT: tile.transpose
// EMULATED-DAG: scales_to_256: {{[1-9].*}} agree

#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448, features = [tma],
    units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>, #tile.unit<"mma", f16 * f16 + f32, [16, 8, 16]>]>
#x = affine_map<()[s0] -> (s0, 12, 4, 8)>
#b = affine_map<()[s0] -> (s0, 384)>
#y = affine_map<()[s0] -> (s0, 264)>
module attributes {tile.targets = [#gpu]} {
  func.func private @packed(%x: tensor<?x12x4x8xf16, #x>, %w: tensor<264x12x4xi32>, %s: tensor<264x12xf16>, %z: tensor<264x12xui8>) -> tensor<?x264xf16, #y> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s, %z {bits = 4 : i64} : (tensor<?x12x4x8xf16, #x>, tensor<264x12x4xi32>, tensor<264x12xf16>, tensor<264x12xui8>) -> tensor<?x264xf16, #y>
    return %0 : tensor<?x264xf16, #y>
  }
  func.func private @bytes(%x: tensor<?x384xf16, #b>, %w: tensor<264x384xi8>) -> tensor<?x264xf16, #y> attributes {adze.kernel} {
    %0 = graph.cast %w : (tensor<264x384xi8>) -> tensor<264x384xf16>
    %1 = graph.matmul %x, %0 {transpose_b = true} : (tensor<?x384xf16, #b>, tensor<264x384xf16>) -> tensor<?x264xf16, #y>
    return %1 : tensor<?x264xf16, #y>
  }
  func.func private @scales(%x: tensor<?x12x4x8xf16, #x>, %w: tensor<264x12x4xi32>, %s: tensor<264x12xf32>) -> tensor<?x264xf16, #y> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s {bits = 4 : i64} : (tensor<?x12x4x8xf16, #x>, tensor<264x12x4xi32>, tensor<264x12xf32>) -> tensor<?x264xf16, #y>
    return %0 : tensor<?x264xf16, #y>
  }
}

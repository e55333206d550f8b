// RUN: aopt %s --convert-graph-to-tile | FileCheck %s

// A program of few rows has 32 columns if such programs occupy almost all of 132 multiprocessors,
// and 16 otherwise. The fewer programs, the more warps share the depth of one.
#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448, units = [#tile.unit<"mma", f16 * f16 + f32, [16, 8, 16]>]>
#x = affine_map<()[s0] -> (s0, 512, 4, 8)>
#b = affine_map<()[s0] -> (s0, 128, 16, 8)>
#m = affine_map<()[s0] -> (s0, 16384)>
#n = affine_map<()[s0] -> (s0, 4096)>
#o = affine_map<()[s0] -> (s0, 2048)>
module attributes {tile.targets = [#gpu]} {
  // CHECK: tile.kernel @many_few(
  // CHECK-SAME: tile.params = {BLOCK_N = 32 : i64, PARTS = 4 : i64}
  // Warps multiply 128 elements of the depth at a time.
  // CHECK: %[[PARTS:.*]] = tile.param "PARTS"
  // CHECK: %[[STEP:.*]] = arith.muli %[[PARTS]], %c4
  // CHECK: scf.for {{.*}} step %[[STEP]]
  func.func private @many(%x: tensor<?x512x4x8xf16, #x>, %w: tensor<16384x512x4xi32>, %s: tensor<16384x512xf16>) -> tensor<?x16384xf16, #m> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s {bits = 4 : i64} : (tensor<?x512x4x8xf16, #x>, tensor<16384x512x4xi32>, tensor<16384x512xf16>) -> tensor<?x16384xf16, #m>
    return %0 : tensor<?x16384xf16, #m>
  }
  // CHECK: tile.kernel @some_few(
  // CHECK-SAME: tile.params = {BLOCK_N = 32 : i64, PARTS = 16 : i64}
  func.func private @some(%x: tensor<?x512x4x8xf16, #x>, %w: tensor<4096x512x4xi32>, %s: tensor<4096x512xf16>) -> tensor<?x4096xf16, #n> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s {bits = 4 : i64} : (tensor<?x512x4x8xf16, #x>, tensor<4096x512x4xi32>, tensor<4096x512xf16>) -> tensor<?x4096xf16, #n>
    return %0 : tensor<?x4096xf16, #n>
  }
  // CHECK: tile.kernel @few_few(
  // CHECK-SAME: tile.params = {BLOCK_N = 16 : i64, PARTS = 16 : i64}
  func.func private @few(%x: tensor<?x512x4x8xf16, #x>, %w: tensor<2048x512x4xi32>, %s: tensor<2048x512xf16>) -> tensor<?x2048xf16, #o> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s {bits = 4 : i64} : (tensor<?x512x4x8xf16, #x>, tensor<2048x512x4xi32>, tensor<2048x512xf16>) -> tensor<?x2048xf16, #o>
    return %0 : tensor<?x2048xf16, #o>
  }
  // A thread copies four bytes at once: the scales of two blocks of 128, and the zero points of four.
  // CHECK: tile.kernel @blocks_few(
  // CHECK: %[[PARTS:.*]] = tile.param "PARTS"
  // CHECK: arith.muli %[[PARTS]], %c2
  func.func private @blocks(%x: tensor<?x128x16x8xf16, #b>, %w: tensor<16384x128x16xi32>, %s: tensor<16384x128xf16>) -> tensor<?x16384xf16, #m> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s {bits = 4 : i64} : (tensor<?x128x16x8xf16, #b>, tensor<16384x128x16xi32>, tensor<16384x128xf16>) -> tensor<?x16384xf16, #m>
    return %0 : tensor<?x16384xf16, #m>
  }
  // CHECK: tile.kernel @zeros_few(
  // CHECK: %[[PARTS:.*]] = tile.param "PARTS"
  // CHECK: arith.muli %[[PARTS]], %c4
  func.func private @zeros(%x: tensor<?x128x16x8xf16, #b>, %w: tensor<16384x128x16xi32>, %s: tensor<16384x128xf16>, %z: tensor<16384x128xui8>) -> tensor<?x16384xf16, #m> attributes {adze.kernel} {
    %0 = graph.block_matmul %x, %w, %s, %z {bits = 4 : i64} : (tensor<?x128x16x8xf16, #b>, tensor<16384x128x16xi32>, tensor<16384x128xf16>, tensor<16384x128xui8>) -> tensor<?x16384xf16, #m>
    return %0 : tensor<?x16384xf16, #m>
  }
}

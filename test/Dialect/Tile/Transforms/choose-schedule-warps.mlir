// RUN: aopt %s --convert-graph-to-tile --tile-choose-schedule | FileCheck %s --check-prefixes=CHECK,LARGE
// RUN: sed 's/sm_80/sm_86/; s/multiprocessors = 108/multiprocessors = 84/; s/166912/101376/' %s | aopt --convert-graph-to-tile --tile-choose-schedule | FileCheck %s --check-prefixes=CHECK,SMALL

// Blocks for the matrix instruction of a warp.
module attributes {tile.targets = [#tile.cuda<chip = "sm_80", multiprocessors = 108, shared_bytes = 166912,
    units = [#tile.unit<"mma", f16 * f16 + f32, [16, 8, 16]>]>]} {

// Eight warps compute 128 x 256 elements of a large product; fewer do if this makes waves.
// CHECK: tile.kernel @large
// CHECK-SAME: BLOCK_M = 128 : i64, BLOCK_N = 256 : i64
func.func private @large(%x: tensor<4096x1024xf16>, %w: tensor<1024x4096xf16>) -> tensor<4096x4096xf16> attributes {adze.kernel} {
  %0 = graph.matmul %x, %w : (tensor<4096x1024xf16>, tensor<1024x4096xf16>) -> tensor<4096x4096xf16>
  return %0 : tensor<4096x4096xf16>
}
// CHECK: tile.kernel @small
// CHECK-SAME: BLOCK_M = 64 : i64, BLOCK_N = 32 : i64
func.func private @small(%x: tensor<128x768xf16>, %w: tensor<768x768xf16>) -> tensor<128x768xf16> attributes {adze.kernel} {
  %0 = graph.matmul %x, %w : (tensor<128x768xf16>, tensor<768x768xf16>) -> tensor<128x768xf16>
  return %0 : tensor<128x768xf16>
}

// A block has fewer keys of 256 elements if shared memory is small, and fewer rows of few
// heads.
// CHECK: tile.kernel @wide
// LARGE-SAME: BLOCK_M = 128 : i64, BLOCK_N = 64 : i64
// SMALL-SAME: BLOCK_M = 128 : i64, BLOCK_N = 32 : i64
func.func private @wide(%q: tensor<64x2048x256xf16>, %k: tensor<64x2048x256xf16>, %v: tensor<64x2048x256xf16>) -> tensor<64x2048x256xf16> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v {scale = 0.0625 : f64} : (tensor<64x2048x256xf16>, tensor<64x2048x256xf16>, tensor<64x2048x256xf16>) -> tensor<64x2048x256xf16>
  return %0 : tensor<64x2048x256xf16>
}
// CHECK: tile.kernel @few
// CHECK-SAME: BLOCK_M = 64 : i64, BLOCK_N = 64 : i64
func.func private @few(%q: tensor<12x128x64xf16>, %k: tensor<12x128x64xf16>, %v: tensor<12x128x64xf16>) -> tensor<12x128x64xf16> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<12x128x64xf16>, tensor<12x128x64xf16>, tensor<12x128x64xf16>) -> tensor<12x128x64xf16>
  return %0 : tensor<12x128x64xf16>
}
}

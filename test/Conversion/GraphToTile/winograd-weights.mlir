// RUN: aopt %s --convert-graph-to-tile | FileCheck %s
// RUN: aopt %s --tile-attach-targets="cpu=x86-64-v4 caches=1M,256M" --convert-graph-to-tile | FileCheck %s --check-prefix=LARGE

// 64 MiB of weights that every block of patches reads again: programs have as many
// channels as have their weights in the last-level cache, one block of patches after the
// other; if all weights fit, all channels, so that each patch is transformed once.
// CHECK: tile.kernel @large
// CHECK-SAME: BLOCK_N = 128
// LARGE: tile.kernel @large
// LARGE-SAME: BLOCK_N = 512
func.func private @large(%x: tensor<1x16x20x2048xf32>, %u: tensor<16x2048x512xf32>) -> tensor<1x16x20x512xf32> attributes {adze.kernel} {
  %0 = graph.winograd_conv %x, %u {tile = 2 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x16x20x2048xf32>, tensor<16x2048x512xf32>) -> tensor<1x16x20x512xf32>
  return %0 : tensor<1x16x20x512xf32>
}

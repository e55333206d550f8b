// Results that may be more than half of the third-level cache use non-temporal stores,
// except for those of products.
// RUN: aopt %s -tile-attach-targets="cpu=x86-64-v4 caches=64K,64K" -convert-graph-to-tile -split-input-file | FileCheck %s

// CHECK: tile.kernel @large(
// CHECK-SAME: tile.stream_bytes = 32768 : i64
func.func private @large(%x: tensor<8193xf32>) -> tensor<8193xf32> attributes {adze.kernel} {
  %0 = graph.relu %x : (tensor<8193xf32>) -> tensor<8193xf32>
  return %0 : tensor<8193xf32>
}

// -----
// CHECK: tile.kernel @small(
// CHECK-NOT: tile.stream_bytes
func.func private @small(%x: tensor<8192xf32>) -> tensor<8192xf32> attributes {adze.kernel} {
  %0 = graph.relu %x : (tensor<8192xf32>) -> tensor<8192xf32>
  return %0 : tensor<8192xf32>
}

// -----
// CHECK: tile.kernel @unknown(
// CHECK-SAME: tile.stream_bytes = 32768 : i64
#x = affine_map<()[s0] -> (s0, 16)>
func.func private @unknown(%x: tensor<?x16xf32, #x>) -> tensor<?x16xf32, #x> attributes {adze.kernel} {
  %0 = graph.relu %x : (tensor<?x16xf32, #x>) -> tensor<?x16xf32, #x>
  return %0 : tensor<?x16xf32, #x>
}

// -----
// CHECK: tile.kernel @product(
// CHECK-NOT: tile.stream_bytes
func.func private @product(%x: tensor<256x8xf32>, %y: tensor<8x256xf32>) -> tensor<256x256xf32> attributes {adze.kernel} {
  %0 = graph.matmul %x, %y : (tensor<256x8xf32>, tensor<8x256xf32>) -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

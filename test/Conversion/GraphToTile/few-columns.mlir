// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile --split-input-file | FileCheck %s
// RUN: aopt %s --tile-attach-targets=cpu=x86-64-v4 --convert-graph-to-tile --split-input-file | FileCheck %s --check-prefix=CPU

// Blocks of a few elements leave threads of a GPU idle, so rows are along the longest
// dim.
// CHECK-LABEL: tile.kernel @blocks
// CHECK: tile.load {{.*}} sizes [%{{.*}}, 4] dims [4, 1]
// CHECK: tile.store {{.*}} dims [1, 4]
// CPU-LABEL: tile.kernel @blocks
// CPU-NOT: dims [1, 4] :
func.func private @blocks(%x: tensor<1x4x115x2x115x2xf16>) -> tensor<1x115x115x2x2x4xf16> attributes {adze.kernel} {
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 4, 3, 5, 1>} : (tensor<1x4x115x2x115x2xf16>) -> tensor<1x115x115x2x2x4xf16>
  return %0 : tensor<1x115x115x2x2x4xf16>
}

// -----

// Not if the last two dims are large enough; flat dims are one, also dynamic ones.
// CHECK-LABEL: tile.kernel @planes
// CHECK: tile.load {{.*}} dims [2, 1]
func.func private @planes(%x: tensor<2x16x300x40xf16>) -> tensor<2x300x40x16xf16> attributes {adze.kernel} {
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x16x300x40xf16>) -> tensor<2x300x40x16xf16>
  return %0 : tensor<2x300x40x16xf16>
}

// -----

// CHECK-LABEL: tile.kernel @dynamic
// CHECK: tile.load {{.*}} dims [2, 1]
func.func private @dynamic(%x: tensor<?x4x300x?xf16, affine_map<()[s0, s1] -> (s0, 4, 300, s1)>>) -> tensor<?x300x?x4xf16, affine_map<()[s0, s1] -> (s0, 300, s1, 4)>> attributes {adze.kernel} {
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x4x300x?xf16, affine_map<()[s0, s1] -> (s0, 4, 300, s1)>>) -> tensor<?x300x?x4xf16, affine_map<()[s0, s1] -> (s0, 300, s1, 4)>>
  return %0 : tensor<?x300x?x4xf16, affine_map<()[s0, s1] -> (s0, 300, s1, 4)>>
}

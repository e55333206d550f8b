// RUN: aopt %s --convert-graph-to-tile --split-input-file | FileCheck %s
// RUN: sed -e '/^\/\/ -----/,$d' %s | aopt --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile | cuda-emulate - --tolerance=1e-4 | FileCheck %s --check-prefix=EMULATED
// RUN: sed -e '/^\/\/ -----/,$d' %s | aopt --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile | FileCheck %s --check-prefix=GPU

// Groups of channels are normalised, and each channel has a scale: a loop over channels
// surrounds that over the chunks of a channel. The mean is that of the whole group.
// CHECK-LABEL: tile.kernel @groups(
// CHECK: scf.for %[[C:.*]] = %c0 to %c10 step %c1
// CHECK: scf.for %[[I:.*]] = %c0 to %
// CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}, %[[C]], %[[I]]]
// CHECK: tile.reduce add
// CHECK: arith.constant 7.200000e+02 : f32
// CHECK: tile.load %arg1[%{{.*}}, %{{.*}}, 0, 0] sizes [1] dims [0]
// CHECK: tile.store
// The threads of a GPU process a channel at once.
// GPU-LABEL: tile.kernel @groups(
// GPU-SAME: tile.params = {BLOCK_N = 72 : i64
// EMULATED: groups: 8 programs of {{.*}} agree
func.func private @groups(%x: tensor<2x4x10x8x9xf32>, %s: tensor<4x10x1x1xf32>, %b: tensor<4x10x1x1xf32>) -> tensor<2x4x10x8x9xf32> attributes {adze.kernel} {
  %0 = graph.layer_norm %x scale %s bias %b {axis = 2 : i64} : (tensor<2x4x10x8x9xf32>, tensor<4x10x1x1xf32>, tensor<4x10x1x1xf32>) -> tensor<2x4x10x8x9xf32>
  return %0 : tensor<2x4x10x8x9xf32>
}

// -----

// Images of dynamic size.
// CHECK-LABEL: tile.kernel @dynamic(
// CHECK: scf.for %[[C:.*]] = %c0 to %c10 step %c1
// CHECK: arith.sitofp
#x = affine_map<()[s0, s1] -> (2, 4, 10, s0, s1)>
func.func private @dynamic(%x: tensor<2x4x10x?x?xf32, #x>, %s: tensor<4x10x1x1xf32>) -> tensor<2x4x10x?x?xf32, #x> attributes {adze.kernel} {
  %0 = graph.rms_norm %x, %s {axis = 2 : i64} : (tensor<2x4x10x?x?xf32, #x>, tensor<4x10x1x1xf32>) -> tensor<2x4x10x?x?xf32, #x>
  return %0 : tensor<2x4x10x?x?xf32, #x>
}

// -----

// A scale for each element, or for the rows, needs no lines.
// CHECK-LABEL: tile.kernel @elements(
// CHECK-NOT: scf.for
// CHECK: tile.return
func.func private @elements(%x: tensor<2x4x10x8xf32>, %s: tensor<10x8xf32>, %b: tensor<4x1x1xf32>) -> tensor<2x4x10x8xf32> attributes {adze.kernel} {
  %0 = graph.layer_norm %x scale %s bias %b {axis = 2 : i64} : (tensor<2x4x10x8xf32>, tensor<10x8xf32>, tensor<4x1x1xf32>) -> tensor<2x4x10x8xf32>
  return %0 : tensor<2x4x10x8xf32>
}

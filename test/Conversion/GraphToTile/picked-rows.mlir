// Rows of dynamic width that gather elements by their positions.
// RUN: aopt %s --convert-graph-to-tile --split-input-file | FileCheck %s
// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile --split-input-file | FileCheck %s --check-prefix=ANY

// The indices of a block of columns are shared by the same row of 32 channels; with an
// epilogue that reads the same positions.
// CHECK-LABEL: tile.kernel @channels
// CHECK-SAME: tile.params = {BLOCK_N = 32 : i64, ROWS = 32 : i64}
// CHECK: scf.for %[[ROW:.*]] = %c0
// CHECK: %[[CHANNEL:.*]] = arith.addi %{{.*}}, %[[ROW]] : index
// CHECK-COUNT-4: tile.gather %arg0[0, %[[CHANNEL]], %{{.*}}, 0] at %{{.*}} along 3 dims [-1]
// CHECK: tile.load %arg1[0, %[[CHANNEL]],
// CHECK: tile.store %{{.*}}, %arg2[0, %[[CHANNEL]],
// ANY-LABEL: tile.kernel @channels
// ANY-NOT: scf.for
#x = affine_map<()[s0, s1] -> (1, 64, s0, s1)>
#y = affine_map<()[s0, s1] -> (1, 64, s0 * 2, s1 * 2)>
func.func private @channels(%x: tensor<1x64x?x?xf32, #x>, %z: tensor<1x64x?x?xf32, #y>) -> tensor<1x64x?x?xf32, #y> attributes {adze.kernel} {
  %0 = graph.resize %x {mode = #graph.resize_mode<linear>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>} : (tensor<1x64x?x?xf32, #x>) -> tensor<1x64x?x?xf32, #y>
  %1 = graph.add %0, %z : (tensor<1x64x?x?xf32, #y>, tensor<1x64x?x?xf32, #y>) -> tensor<1x64x?x?xf32, #y>
  return %1 : tensor<1x64x?x?xf32, #y>
}

// -----

// Few channels: rows of one.
// CHECK-LABEL: tile.kernel @rows
// CHECK: scf.for %[[ROW:.*]] = %c0
// CHECK: %[[LINE:.*]] = arith.addi %{{.*}}, %[[ROW]] : index
// CHECK: tile.store %{{.*}}, %arg1[0, %{{.*}}, %[[LINE]],
#x = affine_map<()[s0, s1] -> (1, 3, s0, s1)>
#y = affine_map<()[s0, s1] -> (1, 3, s0 * 2, s1 * 2)>
func.func private @rows(%x: tensor<1x3x?x?xf32, #x>) -> tensor<1x3x?x?xf32, #y> attributes {adze.kernel} {
  %0 = graph.resize %x {mode = #graph.resize_mode<linear>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>} : (tensor<1x3x?x?xf32, #x>) -> tensor<1x3x?x?xf32, #y>
  return %0 : tensor<1x3x?x?xf32, #y>
}

// -----

// Repeated elements: positions divided by the factor, without float arithmetic, for any
// definition of an element's centre. Short rows by blocks of columns, longer ones in
// memory order.
// CHECK-LABEL: tile.kernel @repeated
// CHECK-NOT: f64
// CHECK: %[[SHORT:.*]] = arith.cmpi ule, %{{.*}}, %{{.*}} : index
// CHECK: scf.if %[[SHORT]] {
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[P:.*]] = arith.divui %{{.*}} : tensor<64xindex>
// CHECK: tile.gather %arg0[0, %{{.*}}, %{{.*}}, %{{.*}}] at %[[P]] along 3
// CHECK: } else {
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: arith.divui %{{.*}} : tensor<?xindex>
// CHECK: tile.gather
#x = affine_map<()[s0, s1] -> (1, 64, s0, s1)>
#y = affine_map<()[s0, s1] -> (1, 64, s0 * 3, s1 * 2)>
func.func private @repeated(%x: tensor<1x64x?x?xf32, #x>) -> tensor<1x64x?x?xf32, #y> attributes {adze.kernel} {
  %0 = graph.resize %x {scales = array<f64: 1.0, 1.0, 3.0, 2.0>} : (tensor<1x64x?x?xf32, #x>) -> tensor<1x64x?x?xf32, #y>
  return %0 : tensor<1x64x?x?xf32, #y>
}

// -----

// A row of static width is one program.
// CHECK-LABEL: tile.kernel @known
// CHECK-NOT: scf.for
// CHECK: tile.return
#x = affine_map<()[s0, s1] -> (1, 64, s0, s1)>
func.func private @known(%x: tensor<1x64x?x?xf32, #x>) -> tensor<1x64x100x100xf32> attributes {adze.kernel} {
  %0 = graph.resize %x {mode = #graph.resize_mode<linear>} : (tensor<1x64x?x?xf32, #x>) -> tensor<1x64x100x100xf32>
  return %0 : tensor<1x64x100x100xf32>
}

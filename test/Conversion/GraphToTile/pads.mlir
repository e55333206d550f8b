// RUN: aopt %s --convert-graph-to-tile --split-input-file | FileCheck %s

// Tiles extend into constant padding: out-of-bounds elements are replaced.
// CHECK-LABEL: tile.kernel @constant
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult
// CHECK: %[[LOADED:.*]] = tile.load %arg0
// CHECK: arith.select %{{.*}}, %[[LOADED]]
// CHECK: arith.select
// CHECK: tile.store
func.func private @constant(%x: tensor<4x30x50xf32>) -> tensor<4x34x56xf32> attributes {adze.kernel} {
  %0 = graph.pad %x {low = array<i64: 0, 2, 3>, high = array<i64: 0, 2, 3>} : (tensor<4x30x50xf32>) -> tensor<4x34x56xf32>
  return %0 : tensor<4x34x56xf32>
}

// -----

// Elementwise ops on the padding are applied to the tile.
// CHECK-LABEL: tile.kernel @dynamic
// CHECK: tile.load %arg0
// CHECK: arith.select
// CHECK: math.exp
#x = affine_map<()[s0, s1] -> (s0, s1)>
#y = affine_map<()[s0, s1] -> (s0, s1 + 3)>
func.func private @dynamic(%x: tensor<?x?xf32, #x>) -> tensor<?x?xf32, #y> attributes {adze.kernel} {
  %0 = graph.pad %x {low = array<i64: 0, 1>, high = array<i64: 0, 2>} : (tensor<?x?xf32, #x>) -> tensor<?x?xf32, #y>
  %1 = graph.exp %0 : (tensor<?x?xf32, #y>) -> tensor<?x?xf32, #y>
  return %1 : tensor<?x?xf32, #y>
}

// -----

// Mirrored elements are gathered by index; the line is a scalar index of the program.
// CHECK-LABEL: tile.kernel @reflect
// CHECK: tile.gather %arg0{{.*}} along 2
func.func private @reflect(%x: tensor<4x30x50xf32>) -> tensor<4x34x56xf32> attributes {adze.kernel} {
  %0 = graph.pad %x {low = array<i64: 0, 2, 3>, high = array<i64: 0, 2, 3>, mode = #graph.pad_mode<reflect>} : (tensor<4x30x50xf32>) -> tensor<4x34x56xf32>
  return %0 : tensor<4x34x56xf32>
}

// -----

// A pad that may exceed the dim reflects several times: the remainder of a position by
// the period, as vectors.
// CHECK-LABEL: tile.kernel @turns
// CHECK: %[[TURNS:.*]] = math.floor %{{.*}} : tensor<{{.*}}xf64>
// CHECK: arith.fptosi %[[TURNS]]
// CHECK: tile.gather %arg0
func.func private @turns(%x: tensor<4x3xf32>) -> tensor<4x9xf32> attributes {adze.kernel} {
  %0 = graph.pad %x {low = array<i64: 0, 3>, high = array<i64: 0, 3>, mode = #graph.pad_mode<reflect>} : (tensor<4x3xf32>) -> tensor<4x9xf32>
  return %0 : tensor<4x9xf32>
}

// -----

// With dynamic sizes that holds for every pad, and the indices are shared by the rows of
// all channels.
// CHECK-LABEL: tile.kernel @unknown
// CHECK-SAME: BLOCK_N = 32 : i64
// CHECK: scf.for %[[CHANNEL:.*]] = %c0
// CHECK: %[[C:.*]] = arith.addi %{{.*}}, %[[CHANNEL]] : index
// CHECK: arith.remsi %{{.*}} : index
// CHECK: math.floor %{{.*}} : tensor<?xf64>
// CHECK: tile.gather %arg0[%[[C]], %{{.*}}, 0]
#a = affine_map<()[s0, s1] -> (48, s0, s1)>
#b = affine_map<()[s0, s1] -> (48, s0 + 2, s1 + 2)>
func.func private @unknown(%x: tensor<48x?x?xf32, #a>) -> tensor<48x?x?xf32, #b> attributes {adze.kernel} {
  %0 = graph.pad %x {low = array<i64: 0, 1, 1>, high = array<i64: 0, 1, 1>, mode = #graph.pad_mode<reflect>} : (tensor<48x?x?xf32, #a>) -> tensor<48x?x?xf32, #b>
  return %0 : tensor<48x?x?xf32, #b>
}

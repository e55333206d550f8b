// RUN: aopt %s --convert-graph-to-tile --split-input-file | FileCheck %s

// Rows of the last dim: the row is a tile dim of its exact size.
// CHECK-LABEL: tile.kernel @softmax
// CHECK: %[[R:.*]] = tile.param "ROWS"
// CHECK: %[[X:.*]] = tile.load %arg0[%{{.*}}, 0] sizes [%[[R]], 1000]
// CHECK: %[[M:.*]] = tile.reduce max %[[X]] dim 1 nnan
// CHECK: %[[D:.*]] = arith.subf %[[X]]
// CHECK: %[[E:.*]] = math.exp %[[D]]
// CHECK: %[[S:.*]] = tile.reduce add %[[E]] dim 1
// CHECK: tile.store
func.func private @softmax(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> attributes {adze.kernel} {
  %0 = graph.softmax %x {axis = 1 : i64} : (tensor<64x1000xf32>) -> tensor<64x1000xf32>
  return %0 : tensor<64x1000xf32>
}

// -----

// Along an inner dim: the lanes are the last dim, the tile is reduced along dim
// 0. A transpose before it is a place of the load.
// CHECK-LABEL: tile.kernel @inner
// CHECK: tile.load %arg0[0, %{{.*}}, 0, %{{.*}}] sizes [16, %{{.*}}]
// CHECK: tile.reduce max %{{.*}} dim 0 nnan : tensor<16x?xf32> -> tensor<?xf32>
func.func private @inner(%x: tensor<1x4x16x2100xf32>) -> tensor<1x16x4x2100xf32> attributes {adze.kernel} {
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x4x16x2100xf32>) -> tensor<1x16x4x2100xf32>
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<1x16x4x2100xf32>) -> tensor<1x16x4x2100xf32>
  return %1 : tensor<1x16x4x2100xf32>
}

// -----

// A length known at run time only: passes over chunks, masked at the end.
#x = affine_map<()[s0, s1] -> (s0, s1)>
// CHECK-LABEL: tile.kernel @dynamic
// CHECK: %[[M:.*]] = scf.for
// CHECK: tile.iota
// CHECK: %[[IN:.*]] = arith.cmpi slt
// CHECK: arith.select
// CHECK: tile.reduce max
// CHECK: %[[S:.*]] = scf.for
// CHECK: math.exp
// CHECK: arith.select
// CHECK: tile.reduce add
// CHECK: scf.for
// CHECK: tile.store
func.func private @dynamic(%x: tensor<?x?xf32, #x>) -> tensor<?x?xf32, #x> attributes {adze.kernel} {
  %0 = graph.softmax %x {axis = 1 : i64} : (tensor<?x?xf32, #x>) -> tensor<?x?xf32, #x>
  return %0 : tensor<?x?xf32, #x>
}

// -----

// Rows that are picked by index are computed one by one; the sum before the
// norm is computed on the way.
// CHECK-LABEL: tile.kernel @embedding
// CHECK: %[[I:.*]] = memref.load %arg1[%{{.*}}, %{{.*}}]
// CHECK: arith.index_cast %[[I]]
// CHECK: %[[ROW:.*]] = arith.maxsi
// CHECK: tile.load %arg0[%[[ROW]], 0] sizes [768]
// CHECK: arith.addf
// CHECK: tile.reduce add %{{.*}} dim 1 : tensor<1x768xf32>
// CHECK: math.sqrt
// CHECK: tile.store
func.func private @embedding(%t: tensor<1000x768xf32>, %i: tensor<2x8xi64>, %b: tensor<768xf32>) -> tensor<2x8x768xf32> attributes {adze.kernel} {
  %0 = graph.gather %t, %i {axis = 0 : i64} : (tensor<1000x768xf32>, tensor<2x8xi64>) -> tensor<2x8x768xf32>
  %1 = graph.add %0, %b : (tensor<2x8x768xf32>, tensor<768xf32>) -> tensor<2x8x768xf32>
  %2 = graph.layer_norm %1 scale %b bias %b {axis = 2 : i64} : (tensor<2x8x768xf32>, tensor<768xf32>, tensor<768xf32>) -> tensor<2x8x768xf32>
  return %2 : tensor<2x8x768xf32>
}

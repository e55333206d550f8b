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

// Along an inner dim: the lanes are the last dim, the tile is reduced along dim 0. A
// transpose before it is part of the load.
// CHECK-LABEL: tile.kernel @inner
// CHECK: tile.load %arg0[0, %{{.*}}, 0, %{{.*}}] sizes [16, %{{.*}}]
// CHECK: tile.reduce max %{{.*}} dim 0 nnan : tensor<16x?xf32> -> tensor<?xf32>
func.func private @inner(%x: tensor<1x4x16x2100xf32>) -> tensor<1x16x4x2100xf32> attributes {adze.kernel} {
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x4x16x2100xf32>) -> tensor<1x16x4x2100xf32>
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<1x16x4x2100xf32>) -> tensor<1x16x4x2100xf32>
  return %1 : tensor<1x16x4x2100xf32>
}

// -----

// A dynamic length: passes over whole chunks without masks, with a maximum per lane, then
// over the remainder. The exponentials are stored in the memory of the result.
#x = affine_map<()[s0, s1] -> (s0, s1)>
// CHECK-LABEL: tile.kernel @dynamic
// CHECK: %[[M:.*]] = scf.for
// CHECK-NOT: tile.reduce
// CHECK: arith.cmpf ogt
// CHECK: tile.reduce max %[[M]] dim 1 nnan
// CHECK: %[[T:.*]] = scf.for
// CHECK: tile.load {{.*}} {tile.tail}
// CHECK: tile.iota
// CHECK: arith.cmpi slt
// CHECK: arith.select
// CHECK: tile.reduce max %[[T]] dim 1 nnan
// CHECK: %[[S:.*]] = scf.for
// CHECK: %[[E:.*]] = math.exp
// CHECK: tile.store %[[E]], %arg1
// CHECK: tile.reduce add %[[S]] dim 1
// CHECK: arith.divf
// CHECK-NOT: math.exp
// CHECK: tile.load %arg1
// CHECK: arith.mulf
// CHECK: tile.store {{.*}}, %arg1
func.func private @dynamic(%x: tensor<?x?xf32, #x>) -> tensor<?x?xf32, #x> attributes {adze.kernel} {
  %0 = graph.softmax %x {axis = 1 : i64} : (tensor<?x?xf32, #x>) -> tensor<?x?xf32, #x>
  return %0 : tensor<?x?xf32, #x>
}

// -----

// log_softmax stores no expensive intermediate values.
#x = affine_map<()[s0, s1] -> (s0, s1)>
// CHECK-LABEL: tile.kernel @logarithm
// CHECK-NOT: tile.load %arg1
// CHECK: math.log
// CHECK-NOT: tile.load %arg1
// CHECK: tile.return
func.func private @logarithm(%x: tensor<?x?xf32, #x>) -> tensor<?x?xf32, #x> attributes {adze.kernel} {
  %0 = graph.log_softmax %x {axis = 1 : i64} : (tensor<?x?xf32, #x>) -> tensor<?x?xf32, #x>
  return %0 : tensor<?x?xf32, #x>
}

// -----

// A row that exceeds the second-level cache is read twice: one pass computes maximum and
// sum.
// CHECK-LABEL: tile.kernel @beyond_cache
// CHECK: %[[S:.*]]:2 = scf.for {{.*}} iter_args(%[[M:.*]] = {{.*}}, %{{.*}} = {{.*}})
// CHECK: tile.reduce max
// CHECK: arith.subf %[[M]]
// CHECK: tile.reduce add
// CHECK: scf.for
// CHECK: scf.for
// CHECK: tile.store
// CHECK-NOT: tile.load %arg1
// CHECK: tile.return
func.func private @beyond_cache(%x: tensor<4x1000000xf32>) -> tensor<4x1000000xf32> attributes {adze.kernel} {
  %0 = graph.softmax %x {axis = 1 : i64} : (tensor<4x1000000xf32>) -> tensor<4x1000000xf32>
  return %0 : tensor<4x1000000xf32>
}

// -----

// Gathered rows are computed one by one; the sum before the norm is fused.
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

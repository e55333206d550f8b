// Products of words on a matrix unit: programs of many rows unpack a slice of the blocks
// to bytes, once for all of their rows.
// RUN: aopt %s -tile-attach-targets=cpu=sapphirerapids -convert-graph-to-tile -split-input-file | FileCheck %s
// RUN: aopt %s -tile-attach-targets=cpu=znver4 -convert-graph-to-tile -split-input-file | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: si8 * si8

// 8 blocks in one slice. The zero point is subtracted when bytes are unpacked.
// CHECK-LABEL: tile.kernel @many(
// CHECK: %[[BYTES:.*]] = tile.scratch [64, 64] : memref<64x64xi32>
// CHECK: %[[SUMS:.*]] = tile.scratch [272, 64] : memref<272x64xf32>
// CHECK: tile.program_id(%c2)
// CHECK: scf.for %{{.*}} = %c0 to %c96 step %c16
// CHECK: tile.store {{.*}}, %[[SUMS]]
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c1
// CHECK: tile.phase
// CHECK: %[[W:.*]] = tile.load %arg3{{.*}} sizes [4, 64]
// CHECK: arith.andi %[[W]]
// CHECK: arith.ori
// CHECK: arith.subi
// CHECK: %[[LOW:.*]] = arith.xori
// CHECK: tile.store %[[LOW]], %[[BYTES]]{{.*}} strides [2, 1]
// CHECK: arith.shrui %[[W]]
// CHECK: tile.store {{.*}}, %[[BYTES]]{{.*}} strides [2, 1]
// The sums of two blocks are carried, and scaled during the next two products.
// CHECK: scf.for %{{.*}} = %c0 to %c96 step %c16
// CHECK: tile.phase
// CHECK: %[[BEFORE:.*]] = tile.load %[[SUMS]]
// CHECK-COUNT-2: tile.dot {{.*}} compute <si8 * si8 + si32> : tensor<16x8xi32>, tensor<8x64xi32>, tensor<16x64xi32>
// CHECK: scf.for {{.*}} step %c2 iter_args(%{{.*}} = %[[BEFORE]], {{.*}}) -> (tensor<16x64xf32>, tensor<16x64xi32>, tensor<16x64xi32>)
// CHECK-COUNT-2: tile.dot {{.*}} compute <si8 * si8 + si32>
// CHECK-COUNT-2: arith.sitofp
// CHECK: scf.yield
// CHECK: tile.store {{.*}}, %[[SUMS]]
// CHECK: tile.phase
// CHECK: tile.load %[[SUMS]]
// CHECK: tile.store {{.*}}, %arg4
func.func @many(%x: tensor<96x8x8xi32>, %s: tensor<96x8xf32>, %t: tensor<96x8x1xi32>, %w: tensor<8x5x128xi32>) -> tensor<96x128xf32> attributes {adze.kernel} {
  %y = graph.word_matmul %x, %s, %t, %w {bits = 4 : i64, planes = 1 : i64} : (tensor<96x8x8xi32>, tensor<96x8xf32>, tensor<96x8x1xi32>, tensor<8x5x128xi32>) -> tensor<96x128xf32>
  return %y : tensor<96x128xf32>
}

// -----

// With dynamic rows, one of the forms for one, few and many is chosen at run time. Bytes
// whose zero points do not fit a signed byte stay unsigned: sums begin with the
// correction.
// CHECK-LABEL: tile.kernel @dynamic(
// CHECK: arith.cmpi ult, %{{.*}}, %c2
// CHECK: tile.dot {{.*}} compute <si8 * ui8 + si32> : tensor<1x8xi32>
// CHECK: } else {
// CHECK: arith.cmpi ult, %{{.*}}, %c32
// CHECK: tile.dot {{.*}} compute <si8 * ui8 + si32> : tensor<4x8xi32>
// CHECK: } else {
// CHECK: %[[ROWS:.*]] = arith.minui
// CHECK: scf.for {{.*}} to %[[ROWS]] step %c16
// CHECK-NOT: arith.subi {{.*}} : tensor
// CHECK: arith.muli {{.*}} : tensor<16x16xi32>
// CHECK: tile.dot {{.*}} compute <si8 * ui8 + si32> : tensor<16x8xi32>, tensor<8x16xi32>, tensor<16x16xi32>
func.func @dynamic(%x: tensor<?x2x8xi32, affine_map<()[s0] -> (s0, 2, 8)>>, %s: tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>, %t: tensor<?x2x1xi32, affine_map<()[s0] -> (s0, 2, 1)>>, %w: tensor<2x9x16xi32>, %z: tensor<2x16xui8>) -> tensor<?x16xf32, affine_map<()[s0] -> (s0, 16)>> attributes {adze.kernel} {
  %y = graph.word_matmul %x, %s, %t, %w, %z {bits = 8 : i64, planes = 1 : i64} : (tensor<?x2x8xi32, affine_map<()[s0] -> (s0, 2, 8)>>, tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>, tensor<?x2x1xi32, affine_map<()[s0] -> (s0, 2, 1)>>, tensor<2x9x16xi32>, tensor<2x16xui8>) -> tensor<?x16xf32, affine_map<()[s0] -> (s0, 16)>>
  return %y : tensor<?x16xf32, affine_map<()[s0] -> (s0, 16)>>
}

// -----

// The last 8 of 40 rows are multiplied with the previous 8, and only the last ones are
// stored again.
// CHECK-LABEL: tile.kernel @rest(
// CHECK: %[[SUMS:.*]] = tile.scratch [272, 64]
// CHECK: scf.for %{{.*}} = %c0 to %[[ROWS:.*]] step %c16
// CHECK: %[[ROOM:.*]] = arith.subi %[[ROWS]], %c16
// CHECK: %[[START:.*]] = arith.minui %{{.*}}, %[[ROOM]]
// CHECK: tile.load %arg0[%[[START]], {{.*}}] sizes [16, 8]
// CHECK: scf.for %[[TO:.*]] = %c0 to %[[ROWS]] step %c16
// CHECK: %[[OVER:.*]] = arith.minui %{{.*}}, %c15
// CHECK: %[[PLACE:.*]] = arith.addi %[[TO]], %[[OVER]]
// CHECK: tile.load %[[SUMS]][%[[PLACE]], 0] sizes [16, 64]
// CHECK: tile.store {{.*}}, %arg4[%[[TO]], {{.*}}]
func.func @rest(%x: tensor<40x8x8xi32>, %s: tensor<40x8xf32>, %t: tensor<40x8x1xi32>, %w: tensor<8x5x128xi32>) -> tensor<40x128xf32> attributes {adze.kernel} {
  %y = graph.word_matmul %x, %s, %t, %w {bits = 4 : i64, planes = 1 : i64} : (tensor<40x8x8xi32>, tensor<40x8xf32>, tensor<40x8x1xi32>, tensor<8x5x128xi32>) -> tensor<40x128xf32>
  return %y : tensor<40x128xf32>
}

// -----

// Blocks that fill less than half of the unit use vectors.
// CHECK-LABEL: tile.kernel @short(
// CHECK-NOT: si8 * si8
func.func @short(%x: tensor<96x8x4xi32>, %s: tensor<96x8xf32>, %t: tensor<96x8x1xi32>, %w: tensor<8x3x128xi32>) -> tensor<96x128xf32> attributes {adze.kernel} {
  %y = graph.word_matmul %x, %s, %t, %w {bits = 4 : i64, planes = 1 : i64} : (tensor<96x8x4xi32>, tensor<96x8xf32>, tensor<96x8x1xi32>, tensor<8x3x128xi32>) -> tensor<96x128xf32>
  return %y : tensor<96x128xf32>
}

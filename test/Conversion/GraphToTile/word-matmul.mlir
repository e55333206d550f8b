// RUN: aopt %s -convert-graph-to-tile -split-input-file | FileCheck %s

// Dynamic rows: a single one, or four at a time. Zero points are read with the words; the
// last row of a block has the scales.
// CHECK: #[[PANELS:.*]] = affine_map<(d0, d1, d2) -> (d2 floordiv 64, d0, d1, d2 mod 64)>
// CHECK: #[[ZEROS:.*]] = affine_map<(d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)>
// CHECK-LABEL: tile.kernel @dynamic(
// CHECK-SAME: memref<2x5x100xi32, #[[PANELS]]>
// CHECK-SAME: memref<2x100xi8, #[[ZEROS]]>
// CHECK: scf.if
// CHECK: tile.phase
// CHECK: scf.for
// CHECK: tile.load {{.*}} sizes [4, 64] {{.*}} -> tensor<4x64xi32>
// CHECK: arith.andi
// CHECK: tile.dot {{.*}} compute <si8 * ui8 + si32> : tensor<1x4xi32>, tensor<4x64xi32>, tensor<1x64xi32>
// CHECK: arith.shrui
// CHECK: tile.dot {{.*}} compute <si8 * ui8 + si32> : tensor<1x4xi32>, tensor<4x64xi32>, tensor<1x64xi32>
// CHECK: arith.bitcast {{.*}} : tensor<64xi32> to tensor<64xf32>
// CHECK: math.fma
// CHECK: } else {
// CHECK: tile.phase
// CHECK-COUNT-2: tile.dot {{.*}} : tensor<4x4xi32>, tensor<4x64xi32>, tensor<4x64xi32>
func.func @dynamic(%x: tensor<?x2x8xi32, affine_map<()[s0] -> (s0, 2, 8)>>, %s: tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>, %t: tensor<?x2x1xi32, affine_map<()[s0] -> (s0, 2, 1)>>, %w: tensor<2x5x100xi32>, %z: tensor<2x100xui8>) -> tensor<?x100xf32, affine_map<()[s0] -> (s0, 100)>> attributes {adze.kernel} {
  %y = graph.word_matmul %x, %s, %t, %w, %z {bits = 4 : i64, planes = 1 : i64} : (tensor<?x2x8xi32, affine_map<()[s0] -> (s0, 2, 8)>>, tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>, tensor<?x2x1xi32, affine_map<()[s0] -> (s0, 2, 1)>>, tensor<2x5x100xi32>, tensor<2x100xui8>) -> tensor<?x100xf32, affine_map<()[s0] -> (s0, 100)>>
  return %y : tensor<?x100xf32, affine_map<()[s0] -> (s0, 100)>>
}
func.func @main(%x: tensor<?x2x8xi32, affine_map<()[s0] -> (s0, 2, 8)>>, %s: tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>, %t: tensor<?x2x1xi32, affine_map<()[s0] -> (s0, 2, 1)>>) -> tensor<?x100xf32, affine_map<()[s0] -> (s0, 100)>> {
  %w = graph.constant dense<1> : tensor<2x5x100xi32>
  %z = graph.constant dense<7> : tensor<2x100xui8>
  %y = host.launch @dynamic(%x, %s, %t, %w, %z) : (tensor<?x2x8xi32, affine_map<()[s0] -> (s0, 2, 8)>>, tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>, tensor<?x2x1xi32, affine_map<()[s0] -> (s0, 2, 1)>>, tensor<2x5x100xi32>, tensor<2x100xui8>) -> tensor<?x100xf32, affine_map<()[s0] -> (s0, 100)>>
  return %y : tensor<?x100xf32, affine_map<()[s0] -> (s0, 100)>>
}

// -----

// Three planes of bytes take two rows at a time; weights of 8 bits are not unpacked.
// CHECK-LABEL: tile.kernel @planes(
// CHECK-NOT: scf.if
// CHECK-NOT: arith.andi
// CHECK-COUNT-3: tile.dot {{.*}} : tensor<2x8xi32>, tensor<8x16xi32>, tensor<2x16xi32>
func.func @planes(%x: tensor<6x1x24xi32>, %s: tensor<6x1xf32>, %t: tensor<6x1x3xi32>, %w: tensor<1x9x16xi32>) -> tensor<6x16xf32> attributes {adze.kernel} {
  %y = graph.word_matmul %x, %s, %t, %w {bits = 8 : i64, planes = 3 : i64} : (tensor<6x1x24xi32>, tensor<6x1xf32>, tensor<6x1x3xi32>, tensor<1x9x16xi32>) -> tensor<6x16xf32>
  return %y : tensor<6x16xf32>
}

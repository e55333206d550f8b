// RUN: aopt %s --convert-graph-to-tile --split-input-file | FileCheck %s

// One pass over the rows of a tile: they are loaded and stored once.
#x = affine_map<()[s0] -> (s0, 32)>
// CHECK-LABEL: tile.kernel @standardise
// CHECK: %[[X:.*]] = tile.load %{{.*}} sizes [%{{.*}}, 32]
// CHECK: tile.reduce add %[[X]]
// CHECK: tile.reduce
// CHECK-NOT: tile.load
// CHECK: tile.store
// CHECK-NOT: tile.store
// CHECK: tile.return
func.func private @standardise(%x: tensor<?x32xf32, #x>) -> tensor<?x32xf32, #x> attributes {adze.kernel} {
  %0 = graph.reduce_mean %x {axes = array<i64: 1>} : (tensor<?x32xf32, #x>) -> tensor<?x1xf32, affine_map<()[s0] -> (s0, 1)>>
  %1 = graph.sub %x, %0 : (tensor<?x32xf32, #x>, tensor<?x1xf32, affine_map<()[s0] -> (s0, 1)>>) -> tensor<?x32xf32, #x>
  %2 = graph.reduce_l2 %1 {axes = array<i64: 1>} : (tensor<?x32xf32, #x>) -> tensor<?x1xf32, affine_map<()[s0] -> (s0, 1)>>
  %3 = graph.div %1, %2 : (tensor<?x32xf32, #x>, tensor<?x1xf32, affine_map<()[s0] -> (s0, 1)>>) -> tensor<?x32xf32, #x>
  return %3 : tensor<?x32xf32, #x>
}

// -----

// Reductions of different rows are not one kernel.
// CHECK: func.func private @different
func.func private @different(%x: tensor<4x32xf32>, %y: tensor<4x16xf32>) -> tensor<4x1xf32> attributes {adze.kernel} {
  %0 = graph.reduce_max %x {axes = array<i64: 1>} : (tensor<4x32xf32>) -> tensor<4x1xf32>
  %1 = graph.reduce_max %y {axes = array<i64: 1>} : (tensor<4x16xf32>) -> tensor<4x1xf32>
  %2 = graph.add %0, %1 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  return %2 : tensor<4x1xf32>
}

// -----

// Elements that are stored as a part of a tensor are also elements of the rows.
// CHECK-LABEL: tile.kernel @part
// CHECK: %[[PART:.*]] = memref.subview
// CHECK: tile.reduce
// CHECK: %[[Y:.*]] = arith.divf
// CHECK: tile.store %[[Y]], %[[PART]]
func.func private @part(%x: tensor<6x32xf32>, %d: tensor<6x40xf32>) -> tensor<6x40xf32> attributes {adze.kernel} {
  %0 = graph.reduce_sum %x {axes = array<i64: 1>} : (tensor<6x32xf32>) -> tensor<6x1xf32>
  %1 = graph.div %x, %0 : (tensor<6x32xf32>, tensor<6x1xf32>) -> tensor<6x32xf32>
  %2 = graph.insert_slice %1, %d {axis = 1 : i64, offsets = affine_map<() -> (0)>} : (tensor<6x32xf32>, tensor<6x40xf32>) -> tensor<6x40xf32>
  return %2 : tensor<6x40xf32>
}

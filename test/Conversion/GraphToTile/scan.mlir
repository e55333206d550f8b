// Cumulative sums: a loop along the dim carries a tile of the later dims.
// RUN: aopt %s --convert-graph-to-tile --split-input-file | FileCheck %s

// CHECK-LABEL: tile.kernel @sums
// CHECK: memref.collapse_shape %arg0 {{\[\[}}0], [1], [2, 3]]
// CHECK: tile.program_id
// CHECK: scf.for %[[I:[a-z0-9]+]] = %c0 to %c20 step %c1 iter_args
// CHECK-NEXT: tile.load %{{.*}}[%{{.*}}, %[[I]], %{{.*}}]
// CHECK-NEXT: %[[NEXT:.*]] = arith.addf
// CHECK-NEXT: tile.store %[[NEXT]]
// CHECK-NEXT: scf.yield %[[NEXT]]
func.func private @sums(%x: tensor<2x20x7x40xf32>) -> tensor<2x20x7x40xf32> attributes {adze.kernel} {
  %0 = graph.cumsum %x {axis = 1 : i64} : (tensor<2x20x7x40xf32>) -> tensor<2x20x7x40xf32>
  return %0 : tensor<2x20x7x40xf32>
}

// -----

// In reverse and exclusive: the incoming tile is stored.
// CHECK-LABEL: tile.kernel @products
// CHECK: scf.for %[[I:[a-z0-9]+]] = {{.*}} iter_args(%[[BEFORE:[a-z0-9]+]] =
// CHECK: arith.subi %{{.*}}, %[[I]] : index
// CHECK: arith.mulf
// CHECK: tile.store %[[BEFORE]]
#x = affine_map<()[s0, s1] -> (s0, s1)>
func.func private @products(%x: tensor<?x?xf32, #x>) -> tensor<?x?xf32, #x> attributes {adze.kernel} {
  %0 = graph.cumprod %x {axis = 0 : i64, exclusive = true, reverse = true} : (tensor<?x?xf32, #x>) -> tensor<?x?xf32, #x>
  return %0 : tensor<?x?xf32, #x>
}

// -----

// CHECK-LABEL: func.func private @neighbours
// CHECK: graph.cumsum
func.func private @neighbours(%x: tensor<3x8x1xf32>) -> tensor<3x8x1xf32> attributes {adze.kernel} {
  %0 = graph.cumsum %x {axis = 1 : i64} : (tensor<3x8x1xf32>) -> tensor<3x8x1xf32>
  return %0 : tensor<3x8x1xf32>
}

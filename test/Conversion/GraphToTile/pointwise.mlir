// RUN: aopt %s --convert-graph-to-tile --split-input-file | FileCheck %s

// Operands of one shape: all dims are merged.
// CHECK-LABEL: tile.kernel @chain
// CHECK-SAME: tile.params = {BLOCK_N = 4096 : i64}
// CHECK: memref.collapse_shape %arg0 {{\[\[}}0, 1, 2]]
// CHECK: %[[X:.*]] = tile.load
// CHECK: %[[A:.*]] = arith.addf %[[X]]
// CHECK: math.sin
// CHECK: tile.store
func.func private @chain(%x: tensor<64x64x64xf32>) -> tensor<64x64x64xf32> attributes {adze.kernel} {
  %c = graph.constant dense<1.0> : tensor<f32>
  %0 = graph.add %x, %c : (tensor<64x64x64xf32>, tensor<f32>) -> tensor<64x64x64xf32>
  %1 = graph.sin %0 : (tensor<64x64x64xf32>) -> tensor<64x64x64xf32>
  return %1 : tensor<64x64x64xf32>
}

// -----

// A bias along the last dim keeps that dim separate.
// CHECK-LABEL: tile.kernel @bias
// CHECK: memref.collapse_shape %arg0 {{\[\[}}0, 1], [2]] : memref<8x16x32xf32> into memref<128x32xf32>
// CHECK: tile.load %arg1[0] sizes [32]
// CHECK: tile.broadcast %{{.*}} to [%{{.*}}, 32] dims [1]
func.func private @bias(%x: tensor<8x16x32xf32>, %b: tensor<32xf32>) -> tensor<8x16x32xf32> attributes {adze.kernel} {
  %0 = graph.add %x, %b : (tensor<8x16x32xf32>, tensor<32xf32>) -> tensor<8x16x32xf32>
  return %0 : tensor<8x16x32xf32>
}

// -----

// Bools are bytes in memory; comparisons stay bools inside.
// CHECK-LABEL: tile.kernel @bools
// CHECK-SAME: memref<100xi8>, %{{.*}}: memref<100xf32>, %{{.*}}: memref<100xi8>
// CHECK: %[[M:.*]] = tile.load %arg0
// CHECK: %[[B:.*]] = arith.cmpi ne, %[[M]]
// CHECK: %[[C:.*]] = arith.cmpf
// CHECK: %[[R:.*]] = arith.andi %[[B]], %[[C]]
// CHECK: %[[S:.*]] = arith.extui %[[R]]
// CHECK: tile.store %[[S]]
func.func private @bools(%m: tensor<100xi1>, %x: tensor<100xf32>) -> tensor<100xi1> attributes {adze.kernel} {
  %c = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.greater %x, %c : (tensor<100xf32>, tensor<f32>) -> tensor<100xi1>
  %1 = graph.and %m, %0 : (tensor<100xi1>, tensor<100xi1>) -> tensor<100xi1>
  return %1 : tensor<100xi1>
}

// -----

// Each operand of a concat is stored to its columns, whose bounds drop the remainder.
// CHECK-LABEL: tile.kernel @concat
// CHECK: %[[A:.*]] = tile.load
// CHECK: %[[PA:.*]] = memref.subview %{{.*}}[0, 0] [64, 24] [1, 1]
// CHECK: tile.store %[[A]], %[[PA]]
// CHECK: %[[B:.*]] = tile.load
// CHECK: %[[PB:.*]] = memref.subview %{{.*}}[0, 24] [64, 8] [1, 1]
// CHECK: tile.store %[[B]], %[[PB]]
func.func private @concat(%x: tensor<1x8x8x24xf32>, %y: tensor<1x8x8x8xf32>) -> tensor<1x8x8x32xf32> attributes {adze.kernel} {
  %0 = graph.concat %x, %y {axis = 3 : i64} : (tensor<1x8x8x24xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x32xf32>
  return %0 : tensor<1x8x8x32xf32>
}

// -----

// Slices of rows are not rows of one matrix: each image and line has a program.
// CHECK-LABEL: tile.kernel @windows
// CHECK: tile.program_id
// CHECK: %[[A:.*]] = tile.load %arg0[%[[IMAGE:[^,]*]], %[[LINE:[^,]*]], %{{[^,]*}}, %{{[^,]*}}] sizes
// CHECK: %[[PA:.*]] = memref.subview %arg1[0, 0, 0, 0] [2, 9, 6, 8] [1, 1, 1, 1]
// CHECK: tile.store %[[A]], %[[PA]][%[[IMAGE]], %[[LINE]],
// CHECK: tile.load %arg0
// CHECK: memref.subview %arg1[0, 0, 0, 8] [2, 9, 6, 8] [1, 1, 1, 1]
// CHECK-NOT: scf.if
func.func private @windows(%x: tensor<2x9x7x8xi8>) -> tensor<2x9x6x16xi8> attributes {adze.kernel} {
  %0 = graph.slice %x {starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<2x9x7x8xi8>) -> tensor<2x9x6x8xi8>
  %1 = graph.slice %x {starts = array<i64: 0, 0, 1, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<2x9x7x8xi8>) -> tensor<2x9x6x8xi8>
  %2 = graph.concat %0, %1 {axis = 3 : i64} : (tensor<2x9x6x8xi8>, tensor<2x9x6x8xi8>) -> tensor<2x9x6x16xi8>
  return %2 : tensor<2x9x6x16xi8>
}

// -----

// The same with a dynamic number of lines.
#n = affine_map<()[s0] -> (2, s0, 7, 8)>
#m = affine_map<()[s0] -> (2, s0, 6, 8)>
#c = affine_map<()[s0] -> (2, s0, 6, 16)>
// CHECK-LABEL: tile.kernel @dynamic_windows
// CHECK-COUNT-2: tile.store
// CHECK-NOT: scf.if
func.func private @dynamic_windows(%x: tensor<2x?x7x8xi8, #n>) -> tensor<2x?x6x16xi8, #c> attributes {adze.kernel} {
  %0 = graph.slice %x {starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<2x?x7x8xi8, #n>) -> tensor<2x?x6x8xi8, #m>
  %1 = graph.slice %x {starts = array<i64: 0, 0, 1, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<2x?x7x8xi8, #n>) -> tensor<2x?x6x8xi8, #m>
  %2 = graph.concat %0, %1 {axis = 3 : i64} : (tensor<2x?x6x8xi8, #m>, tensor<2x?x6x8xi8, #m>) -> tensor<2x?x6x16xi8, #c>
  return %2 : tensor<2x?x6x16xi8, #c>
}

// -----

// Slices and repeated elements are part of loads.
// CHECK-LABEL: tile.kernel @places
// CHECK: %[[ROW:.*]] = arith.divui %{{.*}}, %c2
// CHECK: tile.load %arg0[0, %[[ROW]], %{{.*}}, 0] sizes [32]
func.func private @places(%x: tensor<1x8x8x32xf32>) -> tensor<1x16x16x32xf32> attributes {adze.kernel} {
  %0 = graph.resize %x {scales = array<f64: 1.0, 2.0, 2.0, 1.0>, coordinates = #graph.coordinates<asymmetric>, nearest_mode = #graph.nearest_mode<floor>} : (tensor<1x8x8x32xf32>) -> tensor<1x16x16x32xf32>
  return %0 : tensor<1x16x16x32xf32>
}

// -----

// Lanes have the indices if these run along the gathered dim; computed values are
// gathered element by element.
// CHECK-LABEL: tile.kernel @elements
// CHECK: %[[I:.*]] = tile.load %arg1[0, 0] sizes [128]
// CHECK: %[[INSIDE:.*]] = arith.maxsi
// CHECK: tile.gather %arg0[0, 0] at %[[INSIDE]] along 1 dims [-1]
// CHECK-LABEL: tile.kernel @computed
// CHECK: scf.for
// CHECK: memref.load %arg1
// CHECK: memref.load %arg0
// CHECK: memref.store
func.func private @elements(%x: tensor<1x512xi64>, %i: tensor<1x128xi64>) -> tensor<1x128xi64> attributes {adze.kernel} {
  %0 = graph.gather_elements %x, %i {axis = 1 : i64} : (tensor<1x512xi64>, tensor<1x128xi64>) -> tensor<1x128xi64>
  return %0 : tensor<1x128xi64>
}
func.func private @computed(%x: tensor<1x512xi64>, %i: tensor<1x128xi64>) -> tensor<1x128xi64> attributes {adze.kernel} {
  %n = graph.neg %x : (tensor<1x512xi64>) -> tensor<1x512xi64>
  %0 = graph.gather_elements %n, %i {axis = 1 : i64} : (tensor<1x512xi64>, tensor<1x128xi64>) -> tensor<1x128xi64>
  return %0 : tensor<1x128xi64>
}

// -----

// A table of rows is always read row by row.
// CHECK-LABEL: tile.kernel @rows
// CHECK-NOT: tile.gather
// CHECK: %[[I:.*]] = memref.load %arg1
// CHECK: tile.load %arg0[%{{.*}}, 0] sizes [64]
func.func private @rows(%x: tensor<100x64xf32>, %i: tensor<16xi64>) -> tensor<16x64xf32> attributes {adze.kernel} {
  %0 = graph.gather %x, %i {axis = 0 : i64} : (tensor<100x64xf32>, tensor<16xi64>) -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

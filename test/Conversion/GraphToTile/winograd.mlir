// RUN: aopt %s --convert-graph-to-tile --split-input-file | FileCheck %s
// RUN: aopt %s --convert-graph-to-tile --split-input-file -tile-specialize -convert-tile-to-vector -canonicalize -cse | FileCheck %s --check-prefix=VECTOR

// A patch's elements are loads of whole rows of patches, 2 pixels apart; each
// of its products is stored.
// CHECK-LABEL: tile.kernel @input
// CHECK-COUNT-16: tile.load %arg0[0, %{{.*}}, {{-1|0|1|2}}, %{{.*}}] sizes [7, %{{.*}}] strides [2, 1]
// CHECK-NOT: tile.load
// CHECK: arith.subf
// CHECK-COUNT-16: tile.store
// VECTOR-LABEL: func.func @input(
// Each element is read once in the loop over the patches that are inside.
// VECTOR: scf.for %{{.*}} = %c1 to %c6
// VECTOR: scf.for
// VECTOR: scf.if
// VECTOR-COUNT-16: vector.load
// VECTOR-NOT: vector.load
// VECTOR-COUNT-16: vector.store
// VECTOR: } else {
func.func private @input(%x: tensor<1x14x14x64xf32>) -> tensor<16x1x7x7x64xf32> attributes {adze.kernel} {
  %0 = graph.winograd_input %x {tile = 2 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x14x14x64xf32>) -> tensor<16x1x7x7x64xf32>
  return %0 : tensor<16x1x7x7x64xf32>
}

// -----

// The epilogue is computed on each pixel of the patches.
// CHECK-LABEL: tile.kernel @output
// CHECK-COUNT-36: tile.load %arg0
// CHECK: tile.load %arg2[%{{.*}}, %{{.*}}, 0, %{{.*}}] sizes [4, %{{.*}}] strides [4, 1]
// CHECK: arith.addf
// CHECK: tile.store %{{.*}}, %arg3[%{{.*}}, %{{.*}}, 0, %{{.*}}] strides [4, 1]
func.func private @output(%m: tensor<36x2x4x4x40xf32>, %b: tensor<40xf32>, %r: tensor<2x14x13x40xf32>) -> tensor<2x14x13x40xf32> attributes {adze.kernel} {
  %0 = graph.winograd_output %m {tile = 4 : i64, size = array<i64: 14, 13>} : (tensor<36x2x4x4x40xf32>) -> tensor<2x14x13x40xf32>
  %1 = graph.add %0, %b : (tensor<2x14x13x40xf32>, tensor<40xf32>) -> tensor<2x14x13x40xf32>
  %2 = graph.add %1, %r : (tensor<2x14x13x40xf32>, tensor<2x14x13x40xf32>) -> tensor<2x14x13x40xf32>
  return %2 : tensor<2x14x13x40xf32>
}

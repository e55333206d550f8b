// RUN: aopt %s --convert-graph-to-tile --split-input-file | FileCheck %s
// RUN: aopt %s --convert-graph-to-tile --split-input-file -tile-specialize -convert-tile-to-vector -canonicalize -cse | FileCheck %s --check-prefix=VECTOR

// Three phases: the elements of patches are loads of whole rows of patches, with a stride
// of 2 pixels; each product is a matrix product; products are transformed to pixels, with
// the epilogue in registers.
// CHECK-LABEL: tile.kernel @conv
// CHECK: %[[V:.*]] = tile.scratch [16, %{{.*}}, 64] : memref<16x?x64xf32>
// CHECK: %[[M:.*]] = tile.scratch [16, %{{.*}}, %{{.*}}] : memref<16x?x?xf32>
// CHECK: scf.for
// CHECK: tile.phase {
// CHECK-COUNT-16: tile.load %arg0[%{{.*}}, %{{.*}}, {{-1|0|1|2}}, 0] sizes [7, 64] strides [2, 1]
// CHECK-NOT: tile.load
// CHECK-COUNT-16: tile.store %{{.*}}, %[[V]]
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c1
// CHECK: tile.phase {
// CHECK: tile.load %[[V]]
// CHECK: tile.load %arg1
// CHECK: tile.dot
// CHECK: tile.store %{{.*}}, %[[M]]
// CHECK: tile.phase {
// CHECK-COUNT-16: tile.load %[[M]]
// CHECK: tile.load %arg2
// CHECK: arith.addf
// CHECK: tile.store %{{.*}}, %arg3[%{{.*}}, %{{.*}}, 0, %{{.*}}] strides [2, 1]
// VECTOR-LABEL: func.func @conv(
// Each element is read once in the loop over patches in the interior.
// VECTOR-COUNT-2: memref.alloca
// VECTOR: vector.fma
func.func private @conv(%x: tensor<1x14x14x64xf32>, %u: tensor<16x64x40xf32>, %b: tensor<40xf32>) -> tensor<1x14x14x40xf32> attributes {adze.kernel} {
  %0 = graph.winograd_conv %x, %u {tile = 2 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x14x14x64xf32>, tensor<16x64x40xf32>) -> tensor<1x14x14x40xf32>
  %1 = graph.add %0, %b : (tensor<1x14x14x40xf32>, tensor<40xf32>) -> tensor<1x14x14x40xf32>
  return %1 : tensor<1x14x14x40xf32>
}

// -----

// The rows of patches of all images are merged: a batch may be symbolic.
#batch = affine_map<()[s0] -> (s0, 14, 14, 64)>
#out = affine_map<()[s0] -> (s0, 14, 14, 32)>
// CHECK-LABEL: tile.kernel @dynamic
// CHECK: memref.dim %arg0
// CHECK: arith.minsi
// CHECK: tile.phase
// CHECK: arith.divui
func.func private @dynamic(%x: tensor<?x14x14x64xf32, #batch>, %u: tensor<36x64x32xf32>) -> tensor<?x14x14x32xf32, #out> attributes {adze.kernel} {
  %0 = graph.winograd_conv %x, %u {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<?x14x14x64xf32, #batch>, tensor<36x64x32xf32>) -> tensor<?x14x14x32xf32, #out>
  return %0 : tensor<?x14x14x32xf32, #out>
}

// -----

// In an image of dynamic size, each patch is located separately; those of a program are
// multiplied eight at a time, up to their number.
#rows = affine_map<()[s0] -> (1, s0, 14, 64)>
#outs = affine_map<()[s0] -> (1, s0, 14, 32)>
// CHECK-LABEL: tile.kernel @unknown
// CHECK-SAME: ROWS = {{[0-9]+}}
// CHECK: tile.scratch [36, %{{.*}}, 64]
// CHECK: tile.phase
// CHECK: arith.remui
// CHECK: arith.divui
// CHECK: tile.load %arg0[%{{.*}}, %{{.*}}, %{{.*}}, 0] sizes [1, 64] strides [4, 1]
// CHECK: scf.for %{{.*}} = %c0 to %c36 step %c1
// CHECK: scf.for %[[PATCH:.*]] = %c0 to %{{.*}} step %c8
// CHECK: tile.load %{{.*}}[%{{.*}}, %[[PATCH]], {{.*}}] sizes [8, 
// VECTOR-LABEL: func.func @unknown
func.func private @unknown(%x: tensor<1x?x14x64xf32, #rows>, %u: tensor<36x64x32xf32>) -> tensor<1x?x14x32xf32, #outs> attributes {adze.kernel} {
  %0 = graph.winograd_conv %x, %u {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x?x14x64xf32, #rows>, tensor<36x64x32xf32>) -> tensor<1x?x14x32xf32, #outs>
  return %0 : tensor<1x?x14x32xf32, #outs>
}

// -----

// Dynamic rows and columns, by tiles of 2: the number of patches and their positions are
// computed as for the grid.
#image = affine_map<()[s0, s1, s2] -> (s0, s1, s2, 64)>
#planes = affine_map<()[s0, s1, s2] -> (s0, s1, s2, 32)>
// CHECK-LABEL: tile.kernel @image
// CHECK-SAME: ROWS = {{[0-9]+}}
// CHECK-DAG: %[[H:.*]] = memref.dim %arg0, %c1
// CHECK-DAG: %[[W:.*]] = memref.dim %arg0, %c2
// CHECK-DAG: %[[UP:.*]] = arith.ceildivui %[[H]], %c2
// CHECK-DAG: %[[ACROSS:.*]] = arith.ceildivui %[[W]], %c2
// CHECK: tile.scratch [16, %{{.*}}, 64]
// CHECK: tile.phase
// CHECK: arith.remui %{{.*}}, %[[ACROSS]]
// CHECK: %[[ROW:.*]] = arith.divui %{{.*}}, %[[ACROSS]]
// CHECK: arith.remui %[[ROW]], %[[UP]]
// CHECK: tile.load %arg0[%{{.*}}, %{{.*}}, %{{.*}}, 0] sizes [1, 64] strides [2, 1]
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c16{{.*}} step %c1{{.*}}
// VECTOR-LABEL: func.func @image
func.func private @image(%x: tensor<?x?x?x64xf32, #image>, %u: tensor<16x64x32xf32>) -> tensor<?x?x?x32xf32, #planes> attributes {adze.kernel} {
  %0 = graph.winograd_conv %x, %u {tile = 2 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<?x?x?x64xf32, #image>, tensor<16x64x32xf32>) -> tensor<?x?x?x32xf32, #planes>
  return %0 : tensor<?x?x?x32xf32, #planes>
}

// -----

// A filter with its taps after the transformed form: few pixels, which are counted at run
// time, are computed without patches. The elements under each tap are copied, taps that
// are out of bounds for all pixels are skipped; the pixels of all rows are one block.
#few = affine_map<()[s0, s1] -> (1, s0, s1, 64)>
#pixels = affine_map<()[s0, s1] -> (1, s0, s1, 32)>
// CHECK-LABEL: tile.kernel @few
// CHECK-SAME: CHANNELS = 32
// CHECK: %[[FEW:.*]] = arith.cmpi slt
// CHECK: %[[COUNT:.*]] = arith.select %[[FEW]]
// CHECK: scf.if %[[FEW]] {
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// CHECK: tile.phase
// CHECK: tile.load %arg0{{.*}} sizes [64]
// CHECK: tile.store
// CHECK: tile.phase
// CHECK: scf.for {{.*}} iter_args
// CHECK: scf.for {{.*}} iter_args
// CHECK: tile.load %arg1[%[[TAP:.*]], %{{.*}}, %{{.*}}]
// CHECK: tile.dot
// CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}]
// CHECK: } else {
// CHECK-COUNT-36: tile.load %arg0
// VECTOR-LABEL: func.func @few
func.func private @few(%x: tensor<1x?x?x64xf32, #few>, %u: tensor<45x64x32xf32>) -> tensor<1x?x?x32xf32, #pixels> attributes {adze.kernel} {
  %0 = graph.winograd_conv %x, %u {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x?x?x64xf32, #few>, tensor<45x64x32xf32>) -> tensor<1x?x?x32xf32, #pixels>
  return %0 : tensor<1x?x?x32xf32, #pixels>
}

// -----

// An epilogue that depends on the position of a pixel in the image has one form.
#few2 = affine_map<()[s0, s1] -> (1, s0, s1, 64)>
#pixels2 = affine_map<()[s0, s1] -> (1, s0, s1, 32)>
#columns = affine_map<()[s0, s1] -> (1, s0, 1, 32)>
// CHECK-LABEL: tile.kernel @rows_of_few
// CHECK-NOT: CHANNELS
// VECTOR-LABEL: func.func @rows_of_few
func.func private @rows_of_few(%x: tensor<1x?x?x64xf32, #few2>, %u: tensor<45x64x32xf32>, %y: tensor<1x?x1x32xf32, #columns>) -> tensor<1x?x?x32xf32, #pixels2> attributes {adze.kernel} {
  %0 = graph.winograd_conv %x, %u {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x?x?x64xf32, #few2>, tensor<45x64x32xf32>) -> tensor<1x?x?x32xf32, #pixels2>
  %1 = graph.add %0, %y : (tensor<1x?x?x32xf32, #pixels2>, tensor<1x?x1x32xf32, #columns>) -> tensor<1x?x?x32xf32, #pixels2>
  return %1 : tensor<1x?x?x32xf32, #pixels2>
}

// -----

// A dynamic number of channels falls back to the reference path.
#channels = affine_map<()[s0] -> (1, 14, 14, s0)>
#filter = affine_map<()[s0] -> (36, s0, 32)>
// CHECK-LABEL: func.func private @refused
// VECTOR-LABEL: func.func private @refused
func.func private @refused(%x: tensor<1x14x14x?xf32, #channels>, %u: tensor<36x?x32xf32, #filter>) -> tensor<1x14x14x32xf32> attributes {adze.kernel} {
  %0 = graph.winograd_conv %x, %u {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x14x14x?xf32, #channels>, tensor<36x?x32xf32, #filter>) -> tensor<1x14x14x32xf32>
  return %0 : tensor<1x14x14x32xf32>
}

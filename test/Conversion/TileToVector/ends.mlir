// RUN: aopt %s -tile-specialize -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s

// Several stores that end alike: a block that begins and ends with the class has
// no loop, and half of it runs for a row or two. Stores that do not end alike
// leave every row to be computed.
// CHECK-LABEL: func.func @stores_alike(
// CHECK: %[[REST:.*]] = arith.remsi %[[END:.*]], %c4 : index
// CHECK: %[[ALL:.*]] = arith.cmpi eq, %[[END]], %c4 : index
// CHECK: scf.if %[[ALL]] {
// CHECK-NOT: scf.if
// CHECK-COUNT-4: math.sqrt
// CHECK-COUNT-8: vector.store
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[REST]], %c0 : index
// CHECK: scf.if %[[ANY]] {
// CHECK: %[[MORE:.*]] = arith.cmpi sgt, %[[REST]], %c2 : index
// CHECK: scf.if %[[MORE]] {
// CHECK-COUNT-4: math.sqrt
// CHECK: } else {
// CHECK-COUNT-2: math.sqrt
// CHECK-NOT: math.sqrt
// CHECK-LABEL: func.func @stores_apart(
// CHECK-NOT: arith.remsi
// CHECK: return
tile.kernel @stores_alike(
    %x: memref<?x16xf32> {adze.dims = affine_map<()[s0] -> (s0, 16)>},
    %y: memref<?x16xf32> {adze.dims = affine_map<()[s0] -> (s0, 16)>},
    %z: memref<3x?x16xf32> {adze.dims = affine_map<()[s0] -> (3, s0, 16)>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %x, %c0 : memref<?x16xf32>
  %g = arith.ceildivui %n, %c4 : index
  %p = tile.program_id (%g) : index
  %i = arith.muli %p, %c4 : index
  %l = tile.load %x[%i, 0] sizes [4, 16] : memref<?x16xf32> -> tensor<4x16xf32>
  %r = math.sqrt %l : tensor<4x16xf32>
  tile.store %r, %y[%i, 0] : tensor<4x16xf32>, memref<?x16xf32>
  tile.store %r, %z[%c1, %i, 0] dims [1, 2] : tensor<4x16xf32>, memref<3x?x16xf32>
  tile.return
}
tile.kernel @stores_apart(
    %x: memref<?x16xf32> {adze.dims = affine_map<()[s0, s1] -> (s0, 16)>},
    %y: memref<?x16xf32> {adze.dims = affine_map<()[s0, s1] -> (s0, 16)>},
    %z: memref<?x16xf32> {adze.dims = affine_map<()[s0, s1] -> (s1, 16)>}) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %x, %c0 : memref<?x16xf32>
  %g = arith.ceildivui %n, %c4 : index
  %p = tile.program_id (%g) : index
  %i = arith.muli %p, %c4 : index
  %l = tile.load %x[%i, 0] sizes [4, 16] : memref<?x16xf32> -> tensor<4x16xf32>
  %r = math.sqrt %l : tensor<4x16xf32>
  tile.store %r, %y[%i, 0] : tensor<4x16xf32>, memref<?x16xf32>
  tile.store %r, %z[%i, 0] : tensor<4x16xf32>, memref<?x16xf32>
  tile.return
}

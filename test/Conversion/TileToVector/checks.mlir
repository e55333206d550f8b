// Checks of positions: one for the registers of a slice, which the gather after it uses.
// RUN: aopt %s -tile-attach-targets="cpu=x86-64-v4 caches=1M,32M" -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @elements(
// CHECK: %[[N:.*]] = arith.constant 1024 : index
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[A:.*]] = vector.load {{.*}} vector<16xindex>
// CHECK: arith.maxui
// CHECK: arith.maxui
// CHECK: %[[MOST:.*]] = arith.maxui {{.*}} vector<16xindex>
// CHECK: tile.check %[[MOST]] below %[[N]] fault 2 : vector<16xindex>
// CHECK: vector.gather {{.*}}[%[[A]]]
// CHECK-NOT: scf.for
tile.kernel @elements(%x: memref<8x1024xf32>, %i: memref<8x1024xindex>, %y: memref<8x1024xf32>) {
  %c8 = arith.constant 8 : index
  %c1024 = arith.constant 1024 : index
  %p = tile.program_id (%c8) : index
  %t = tile.load %i[%p, 0] sizes [1, 1024] : memref<8x1024xindex> -> tensor<1x1024xindex>
  tile.check %t below %c1024 fault 2 : tensor<1x1024xindex>
  %g = tile.gather %x[%p, 0] at %t along 1 dims [0, -1] : memref<8x1024xf32>, tensor<1x1024xindex> -> tensor<1x1024xf32>
  tile.store %g, %y[%p, 0] : tensor<1x1024xf32>, memref<8x1024xf32>
  tile.return
}

// -----
// One position, with a dynamic dim.
// CHECK-LABEL: func.func @row(
// CHECK: %[[N:.*]] = memref.dim
// CHECK: %[[I:.*]] = memref.load
// CHECK: tile.check %[[I]] below %[[N]] fault 0 : index
tile.kernel @row(%x: memref<?x64xf32>, %i: memref<4xindex>, %y: memref<4x64xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  %p = tile.program_id (%c4) : index
  %at = memref.load %i[%p] : memref<4xindex>
  tile.check %at below %n fault 0 : index
  %t = tile.load %x[%at, 0] sizes [1, 64] : memref<?x64xf32> -> tensor<1x64xf32>
  tile.store %t, %y[%p, 0] : tensor<1x64xf32>, memref<4x64xf32>
  tile.return
}

// -----
// CHECK-LABEL: func.func @unchecked(
// CHECK-NOT: arith.maxui
// CHECK-NOT: tile.check
tile.kernel @unchecked(%x: memref<8x1024xf32>, %i: memref<8x1024xindex>, %y: memref<8x1024xf32>) {
  %c8 = arith.constant 8 : index
  %p = tile.program_id (%c8) : index
  %t = tile.load %i[%p, 0] sizes [1, 1024] : memref<8x1024xindex> -> tensor<1x1024xindex>
  %g = tile.gather %x[%p, 0] at %t along 1 dims [0, -1] : memref<8x1024xf32>, tensor<1x1024xindex> -> tensor<1x1024xf32>
  tile.store %g, %y[%p, 0] : tensor<1x1024xf32>, memref<8x1024xf32>
  tile.return
}

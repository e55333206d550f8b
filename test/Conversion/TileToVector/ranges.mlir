// The least and the greatest value of a symbolic offset are known (tile.range): a load
// that ends in bounds for all of them has no mask and no test.
// RUN: aopt %s -tile-specialize -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s

// From 48 on, 16 elements end with the memory. There are as many programs as rows, so
// nothing is tested.
// CHECK-LABEL: func.func @inside(
// CHECK: %[[AT:.*]] = host.size
// CHECK-NOT: arith.cmpi
// CHECK-NOT: scf.if
// CHECK-NOT: mask
// CHECK: vector.load %arg0[%{{.*}}, %[[AT]]] : memref<?x64xf32>, vector<16xf32>
// CHECK-NOT: mask
// CHECK: return
tile.kernel @inside(%x: memref<?x64xf32> {adze.dims = affine_map<()[s0, s1] -> (s0, 64)>}, %y: memref<?x16xf32> {adze.dims = affine_map<()[s0, s1] -> (s0, 16)>}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  %p = tile.program_id (%n) : index
  %at = host.size {value = affine_map<()[s0, s1] -> (s1)>, tile.range = array<i64: 0, 48, 1>}
  %t = tile.load %x[%p, %at] sizes [1, 16] : memref<?x64xf32> -> tensor<1x16xf32>
  tile.store %t, %y[%p, 0] : tensor<1x16xf32>, memref<?x16xf32>
  tile.return
}

// -----

// One more could be out of bounds.
// CHECK-LABEL: func.func @beyond(
// CHECK: %[[AT:.*]] = host.size
// CHECK: arith.cmpi sge, %[[AT]],
// CHECK: vector.maskedload
tile.kernel @beyond(%x: memref<?x64xf32> {adze.dims = affine_map<()[s0, s1] -> (s0, 64)>}, %y: memref<?x16xf32> {adze.dims = affine_map<()[s0, s1] -> (s0, 16)>}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  %p = tile.program_id (%n) : index
  %at = host.size {value = affine_map<()[s0, s1] -> (s1)>, tile.range = array<i64: 0, 49, 1>}
  %t = tile.load %x[%p, %at] sizes [1, 16] : memref<?x64xf32> -> tensor<1x16xf32>
  tile.store %t, %y[%p, 0] : tensor<1x16xf32>, memref<?x16xf32>
  tile.return
}

// -----

// Before the beginning, and an unknown range.
// CHECK-LABEL: func.func @before(
// CHECK: scf.if
// CHECK: vector.maskedload
// CHECK-LABEL: func.func @anywhere(
// CHECK: scf.if
// CHECK: vector.maskedload
tile.kernel @before(%x: memref<64xf32>, %y: memref<16xf32>) {
  %at = host.size {value = affine_map<()[s0] -> (s0)>, tile.range = array<i64: -1, 48, 1>}
  %t = tile.load %x[%at] sizes [16] : memref<64xf32> -> tensor<16xf32>
  tile.store %t, %y[0] : tensor<16xf32>, memref<16xf32>
  tile.return
}
tile.kernel @anywhere(%x: memref<64xf32>, %y: memref<16xf32>) {
  %at = host.size {value = affine_map<()[s0] -> (s0)>}
  %t = tile.load %x[%at] sizes [16] : memref<64xf32> -> tensor<16xf32>
  tile.store %t, %y[0] : tensor<16xf32>, memref<16xf32>
  tile.return
}

// -----

// Values computed from it have a range, too: 48 at most, four times 12. No test, no mask.
// CHECK-LABEL: func.func @fourfold(
// CHECK-NOT: scf.if
// CHECK-NOT: mask
// CHECK: vector.load
// CHECK-NOT: mask
// CHECK: return
tile.kernel @fourfold(%x: memref<64xf32>, %y: memref<16xf32>) {
  %c4 = arith.constant 4 : index
  %at = host.size {value = affine_map<()[s0] -> (s0)>, tile.range = array<i64: 0, 12, 1>}
  %i = arith.muli %at, %c4 : index
  %t = tile.load %x[%i] sizes [16] : memref<64xf32> -> tensor<16xf32>
  tile.store %t, %y[0] : tensor<16xf32>, memref<16xf32>
  tile.return
}

// -----

// As many programs as another memory has rows, which may be more. And as many as this one
// has, by `adze.dims`: not more.
// CHECK-LABEL: func.func @other(
// CHECK: arith.cmpi
// CHECK-LABEL: func.func @alike(
// CHECK-NOT: arith.cmpi
// CHECK: return
tile.kernel @other(%x: memref<?x16xf32> {adze.dims = affine_map<()[s0, s1] -> (s0, 16)>}, %y: memref<?x16xf32> {adze.dims = affine_map<()[s0, s1] -> (s1, 16)>}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x16xf32>
  %p = tile.program_id (%n) : index
  %t = tile.load %x[%p, 0] sizes [1, 16] : memref<?x16xf32> -> tensor<1x16xf32>
  tile.store %t, %y[%p, 0] : tensor<1x16xf32>, memref<?x16xf32>
  tile.return
}
tile.kernel @alike(%x: memref<?x16xf32> {adze.dims = affine_map<()[s0] -> (s0, 16)>}, %y: memref<?x?x16xf32> {adze.dims = affine_map<()[s0] -> (s0, s0, 16)>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x16xf32>
  %p = tile.program_id (%n) : index
  scf.for %i = %c0 to %n step %c1 {
    %t = tile.load %x[%i, 0] sizes [1, 16] : memref<?x16xf32> -> tensor<1x16xf32>
    tile.store %t, %y[%p, %i, 0] dims [1, 2] : tensor<1x16xf32>, memref<?x?x16xf32>
  }
  tile.return
}

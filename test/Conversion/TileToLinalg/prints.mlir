// Prints: values are converted to memory of f64 or i64, with the program ids.
// RUN: aopt %s -convert-tile-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @tile(
// CHECK: scf.for %[[AT:.*]] = %arg1 to %arg2
// CHECK: %[[ID:.*]] = arith.remui %[[AT]], %{{.*}} : index
// CHECK: %[[PLACE:.*]] = memref.alloca() : memref<2x4xf64>
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[X:.*]] = tensor.extract
// CHECK: %[[WIDE:.*]] = arith.extf %[[X]] : f16 to f64
// CHECK: memref.store %[[WIDE]], %[[PLACE]]
// CHECK: tile.print "x" of[%[[ID]]], %[[PLACE]] : memref<2x4xf64>
tile.kernel @tile(%x: memref<?x4xf16> {adze.dims = affine_map<()[s0] -> (s0, 4)>}) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?x4xf16>
  %g = arith.ceildivui %n, %c2 : index
  %id = tile.program_id (%g) : index
  %at = arith.muli %id, %c2 : index
  %t = tile.load %x[%at, 0] sizes [2, 4] : memref<?x4xf16> -> tensor<2x4xf16>
  tile.print "x", %t : tensor<2x4xf16>
  tile.return
}

// Without a grid there are no program ids.
// CHECK-LABEL: func.func @scalars(
// CHECK: memref.store %{{.*}}, %{{.*}}[] : memref<i64>
// CHECK: tile.print "index", %{{.*}} : memref<i64>
// CHECK: arith.extui %{{.*}} : i1 to i64
// CHECK: tile.print "bool", %{{.*}} : memref<i64>
// CHECK: arith.extsi %{{.*}} : i8 to i64
// CHECK: tile.print "byte", %{{.*}} : memref<i64>
tile.kernel @scalars(%x: memref<4xi8>) {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : memref<4xi8>
  %zero = arith.constant 0 : i8
  %b = arith.cmpi eq, %v, %zero : i8
  tile.print "index", %c0 : index
  tile.print "bool", %b : i1
  tile.print "byte", %v : i8
  tile.return
}

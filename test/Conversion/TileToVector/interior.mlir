// Rows of windows whose border only the run finds.
// RUN: aopt %s -tile-specialize -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s

// Steps of four rows, of two and of one inside of the memory, without checks;
// before and behind them, in one loop, single rows, read at places that exist.
// CHECK-LABEL: func.func @window(
// CHECK: scf.for %{{.*}} step %c4
// CHECK-NOT: masked
// CHECK: scf.for %{{.*}} step %c2
// CHECK-NOT: masked
// CHECK: scf.for
// CHECK-NOT: masked
// CHECK: scf.for %[[I:.*]] = %c0{{.*}} to
// CHECK: %[[BEFORE:.*]] = arith.cmpi slt, %[[I]]
// CHECK: %[[AT:.*]] = arith.select %[[BEFORE]], %[[I]]
// CHECK: arith.cmpi ult
// CHECK: arith.maxsi
// CHECK: vector.maskedload
// CHECK: vector.store
// CHECK-NOT: scf.for
// CHECK: return
#x = affine_map<()[s0] -> (s0, 16)>
tile.kernel @window(%x: memref<?x16xf32> {adze.dims = #x}, %y: memref<?x16xf32> {adze.dims = #x}) attributes {tile.params = {BLOCK = 16 : i64}} {
  %block = tile.param "BLOCK" : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %y, %c0 : memref<?x16xf32>
  %g = arith.ceildivui %n, %block : index
  %p = tile.program_id (%g) : index
  %i = arith.muli %p, %block : index
  %before = arith.subi %i, %c1 : index
  %behind = arith.addi %i, %c1 : index
  %a = tile.load %x[%before, 0] sizes [%block, 16] : memref<?x16xf32> -> tensor<?x16xf32>
  %b = tile.load %x[%behind, 0] sizes [%block, 16] : memref<?x16xf32> -> tensor<?x16xf32>
  %s = arith.addf %a, %b : tensor<?x16xf32>
  tile.store %s, %y[%i, 0] : tensor<?x16xf32>, memref<?x16xf32>
  tile.return
}

// -----

// What ends where the result does has no border to be found.
// CHECK-LABEL: func.func @rows(
// CHECK-NOT: arith.select
// CHECK-NOT: masked
// CHECK: return
#x = affine_map<()[s0] -> (s0, 16)>
tile.kernel @rows(%x: memref<?x16xf32> {adze.dims = #x}, %y: memref<?x16xf32> {adze.dims = #x}) attributes {tile.params = {BLOCK = 16 : i64}} {
  %block = tile.param "BLOCK" : index
  %c0 = arith.constant 0 : index
  %n = memref.dim %y, %c0 : memref<?x16xf32>
  %g = arith.ceildivui %n, %block : index
  %p = tile.program_id (%g) : index
  %i = arith.muli %p, %block : index
  %a = tile.load %x[%i, 0] sizes [%block, 16] : memref<?x16xf32> -> tensor<?x16xf32>
  %s = arith.addf %a, %a : tensor<?x16xf32>
  tile.store %s, %y[%i, 0] : tensor<?x16xf32>, memref<?x16xf32>
  tile.return
}

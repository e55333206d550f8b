// Rows of windows whose border is determined at run time, and positions that need no
// search.
// RUN: aopt %s -tile-specialize -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s

// Steps of four rows in the interior, without checks; those at the border read each row
// that windows share once, or pads, and store the existing rows; two rows or fewer at the
// end use half a step.
// CHECK-LABEL: func.func @window(
// CHECK: %[[MEMORY:.*]] = memref.alloca() {{.*}} : memref<16xf32>
// CHECK: vector.store %{{.*}}, %[[MEMORY]]
// CHECK: %[[PADS:.*]] = memref.cast %[[MEMORY]]
// CHECK: %[[REST:.*]] = arith.remsi %[[END:.*]], %c4
// CHECK: %[[WHOLE:.*]] = arith.subi %[[END]], %[[REST]]
// CHECK: %[[FEW:.*]] = arith.cmpi sle, %[[REST]], %c2
// CHECK: %[[TO:.*]] = arith.select %[[FEW]], %[[WHOLE]], %[[END]]
// CHECK: scf.for %[[I:.*]] = %c0 to %[[TO]] step %c4
// CHECK: arith.cmpi sge, %[[I]]
// CHECK: scf.if
// CHECK-NOT: arith.cmpi
// CHECK-COUNT-6: vector.load
// CHECK-NOT: vector.load
// CHECK-COUNT-4: vector.store
// CHECK: } else {
// CHECK: %[[IN:.*]] = arith.cmpi ult
// CHECK: %[[ROW:.*]] = memref.subview
// CHECK: %[[PICKED:.*]] = arith.select %[[IN]], %[[ROW]], %[[PADS]]
// CHECK: vector.load %[[PICKED]][%c0]
// CHECK-COUNT-5: vector.load
// CHECK-NOT: vector.load
// CHECK: scf.if
// CHECK-NEXT: vector.store
// CHECK: scf.if
// CHECK-COUNT-4: vector.load
// CHECK-NOT: vector.load
// CHECK-COUNT-2: vector.store
// CHECK-NOT: masked
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

// The pads of a load are its values; bools are bytes in memory.
// CHECK-LABEL: func.func @pads(
// CHECK-DAG: arith.constant dense<1> : vector<64xi8>
// CHECK-NOT: masked
// CHECK: return
#x = affine_map<()[s0] -> (s0, 64)>
tile.kernel @pads(%x: memref<?x64xi1> {adze.dims = #x}, %y: memref<?x64xi1> {adze.dims = #x}) attributes {tile.params = {BLOCK = 16 : i64}} {
  %block = tile.param "BLOCK" : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %y, %c0 : memref<?x64xi1>
  %g = arith.ceildivui %n, %block : index
  %p = tile.program_id (%g) : index
  %i = arith.muli %p, %block : index
  %before = arith.subi %i, %c1 : index
  %behind = arith.addi %i, %c1 : index
  %a = tile.load %x[%before, 0] sizes [%block, 64] pad true : memref<?x64xi1> -> tensor<?x64xi1>
  %b = tile.load %x[%behind, 0] sizes [%block, 64] pad true : memref<?x64xi1> -> tensor<?x64xi1>
  %s = arith.andi %a, %b : tensor<?x64xi1>
  tile.store %s, %y[%i, 0] : tensor<?x64xi1>, memref<?x64xi1>
  tile.return
}

// -----

// An index between 0 and the last one is not compared.
// CHECK-LABEL: func.func @clamped(
// CHECK-NOT: arith.cmpi
// CHECK-NOT: masked
// CHECK: return
tile.kernel @clamped(%x: memref<?x16xf32>, %y: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %n = memref.dim %x, %c0 : memref<?x16xf32>
  %p = tile.program_id (%c8) : index
  %at = arith.subi %p, %c3 : index
  %last = arith.subi %n, %c1 : index
  %least = arith.minsi %at, %last : index
  %i = arith.maxsi %least, %c0 : index
  %a = tile.load %x[%i, 0] sizes [1, 16] : memref<?x16xf32> -> tensor<1x16xf32>
  tile.store %a, %y[%p, 0] : tensor<1x16xf32>, memref<8x16xf32>
  tile.return
}

// -----

// An index into other memory is.
// CHECK-LABEL: func.func @clamped_to_other(
// CHECK: arith.cmpi
// CHECK: return
tile.kernel @clamped_to_other(%x: memref<?x16xf32>, %z: memref<?x16xf32>, %y: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = memref.dim %z, %c0 : memref<?x16xf32>
  %p = tile.program_id (%c8) : index
  %last = arith.subi %n, %c1 : index
  %least = arith.minsi %p, %last : index
  %i = arith.maxsi %least, %c0 : index
  %a = tile.load %x[%i, 0] sizes [1, 16] : memref<?x16xf32> -> tensor<1x16xf32>
  tile.store %a, %y[%p, 0] : tensor<1x16xf32>, memref<8x16xf32>
  tile.return
}

// -----

// A dim that ends with the result has no border.
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

// RUN: aopt %s -tile-specialize -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s

// Nothing to check: the window is proven to be in bounds.
// CHECK-LABEL: func.func @proven(
// CHECK-NOT: scf.if
// CHECK-NOT: masked
// CHECK: return
tile.kernel @proven(%x: memref<1024xf32>, %y: memref<1024xf32>) {
  %c4 = arith.constant 4 : index
  %c256 = arith.constant 256 : index
  %p = tile.program_id (%c4) : index
  %i = arith.muli %p, %c256 : index
  %t = tile.load %x[%i] sizes [256] : memref<1024xf32> -> tensor<256xf32>
  tile.store %t, %y[%i] : tensor<256xf32>, memref<1024xf32>
  tile.return
}

// -----

// A dynamic extent: register blocks beyond it are skipped, the one across it is masked by
// an unsigned comparison, so that negative indices are out of bounds.
// CHECK-LABEL: func.func @dynamic(
// CHECK: arith.minsi
// CHECK: scf.if
// CHECK: vector.load
// CHECK: vector.store
// CHECK: } else {
// CHECK: vector.step
// CHECK: arith.cmpi ult
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
tile.kernel @dynamic(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %g = arith.ceildivui %n, %c256 : index
  %p = tile.program_id (%g) : index
  %i = arith.muli %p, %c256 : index
  %t = tile.load %x[%i] sizes [256] : memref<?xf32> -> tensor<256xf32>
  tile.store %t, %y[%i] : tensor<256xf32>, memref<?xf32>
  tile.return
}

// -----

// A size that is not a multiple of a vector: the last vector has a constant mask.
// CHECK-LABEL: func.func @dead_lanes(
// CHECK: vector.maskedload {{.*}} : memref<24xf32>, vector<16xi1>, vector<16xf32>
// CHECK: vector.maskedstore {{.*}} : memref<24xf32>, vector<16xi1>, vector<16xf32>
tile.kernel @dead_lanes(%x: memref<24xf32>, %y: memref<24xf32>) {
  %t = tile.load %x[0] sizes [24] : memref<24xf32> -> tensor<24xf32>
  tile.store %t, %y[0] : tensor<24xf32>, memref<24xf32>
  tile.return
}

// -----

// The end of k ends the loop over it: no masks there.
// CHECK-LABEL: func.func @k_end(
// CHECK: %[[LEFT:.*]] = arith.minsi %{{.*}}, %c64 : index
// CHECK: %[[END:.*]] = arith.minsi %[[LEFT]], %{{.*}} : index
// CHECK: scf.for %{{.*}} = %c0 to %[[END]] step %c1 iter_args
tile.kernel @k_end(%x: memref<8x?xf32>, %w: memref<?x32xf32>, %y: memref<8x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %k = memref.dim %x, %c1 : memref<8x?xf32>
  %f = arith.constant 0.0 : f32
  %z = tile.broadcast %f to [8, 32] : f32 -> tensor<8x32xf32>
  %s = scf.for %i = %c0 to %k step %c64 iter_args(%a = %z) -> tensor<8x32xf32> {
    %l = tile.load %x[0, %i] sizes [8, 64] : memref<8x?xf32> -> tensor<8x64xf32>
    %r = tile.load %w[%i, 0] sizes [64, 32] : memref<?x32xf32> -> tensor<64x32xf32>
    %d = tile.dot %l, %r, %a : tensor<8x64xf32>, tensor<64x32xf32>, tensor<8x32xf32>
    scf.yield %d : tensor<8x32xf32>
  }
  tile.store %s, %y[0, 0] : tensor<8x32xf32>, memref<8x32xf32>
  tile.return
}

// -----

// A load must not move past a store to the same memory.
// CHECK-LABEL: func.func @in_order(
// CHECK: %[[KEPT:.*]] = memref.alloca
// CHECK: scf.for
// CHECK: vector.store %{{.*}}, %[[KEPT]]
// CHECK: vector.store %{{.*}}, %arg0
tile.kernel @in_order(%x: memref<512xf32>) {
  %t = tile.load %x[0] sizes [256] : memref<512xf32> -> tensor<256xf32>
  tile.store %t, %x[128] : tensor<256xf32>, memref<512xf32>
  tile.return
}

// -----

// A window at constant indices: the blocks of rows at either end have separate code
// without conditions. Out-of-bounds rows add nothing (15 rows, and 16 in the middle), and
// the blocks between are a loop without checks.
// CHECK-LABEL: func.func @ends(
// CHECK-NOT: scf.if
// CHECK-NOT: masked
// CHECK: scf.for %{{.*}} = %c0 to %c64
// CHECK-COUNT-15: vector.fma
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} = %c16 to %c48 step %c16
// CHECK: scf.for %{{.*}} = %c0 to %c64
// CHECK-COUNT-16: vector.fma
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} = %c0 to %c64
// CHECK-COUNT-15: vector.fma
// CHECK: scf.yield
// CHECK-NOT: vector.fma
tile.kernel @ends(%x: memref<62x64xf32>, %w: memref<64x16xf32>, %y: memref<64x16xf32>) {
  %f = arith.constant 0.0 : f32
  %z = tile.broadcast %f to [64, 16] : f32 -> tensor<64x16xf32>
  %l = tile.load %x[-1, 0] sizes [64, 64] : memref<62x64xf32> -> tensor<64x64xf32>
  %r = tile.load %w[0, 0] sizes [64, 16] : memref<64x16xf32> -> tensor<64x16xf32>
  %d = tile.dot %l, %r, %z : tensor<64x64xf32>, tensor<64x16xf32>, tensor<64x16xf32>
  tile.store %d, %y[0, 0] : tensor<64x16xf32>, memref<64x16xf32>
  tile.return
}

// -----

// Rows up to a dynamic end: a loop over whole blocks without checks, then the remainder,
// in a block or half of one. No stored value depends on rows beyond the end, so the last
// row is read instead of them, and the dot has neither conditions nor a copy.
// CHECK-LABEL: func.func @clamped(
// CHECK: %[[LAST:.*]] = arith.constant 196 : index
// CHECK: %[[REST:.*]] = arith.remsi %[[END:.*]], %c8 : index
// CHECK: %[[WHOLE:.*]] = arith.subi %[[END]], %[[REST]] : index
// CHECK: scf.for %{{.*}} = %c0 to %[[WHOLE]] step %c8
// CHECK-NOT: arith.minsi
// CHECK-NOT: scf.if
// CHECK-COUNT-16: vector.fma
// CHECK-NOT: scf.if
// CHECK-COUNT-16: vector.store
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[REST]], %c0 : index
// CHECK: scf.if %[[ANY]] {
// CHECK: %[[MORE:.*]] = arith.cmpi sgt, %[[REST]], %c4 : index
// CHECK: scf.if %[[MORE]] {
// CHECK-NOT: maskedload
// CHECK: scf.for
// CHECK: arith.minsi %{{.*}}, %[[LAST]] : index
// CHECK-COUNT-16: vector.fma
// CHECK: scf.yield
// CHECK: arith.cmpi ult
// CHECK: scf.if
// CHECK-NEXT: vector.store
// CHECK: } else {
// CHECK: arith.minsi %{{.*}}, %[[LAST]] : index
// CHECK-COUNT-8: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK: scf.if
// CHECK-NEXT: vector.store
tile.kernel @clamped(%x: memref<197x64xf32>, %w: memref<64x32xf32>, %y: memref<197x32xf32>) {
  %c2 = arith.constant 2 : index
  %c104 = arith.constant 104 : index
  %p = tile.program_id (%c2) : index
  %i = arith.muli %p, %c104 : index
  %f = arith.constant 0.0 : f32
  %z = tile.broadcast %f to [104, 32] : f32 -> tensor<104x32xf32>
  %l = tile.load %x[%i, 0] sizes [104, 64] : memref<197x64xf32> -> tensor<104x64xf32>
  %r = tile.load %w[0, 0] sizes [64, 32] : memref<64x32xf32> -> tensor<64x32xf32>
  %d = tile.dot %l, %r, %z : tensor<104x64xf32>, tensor<64x32xf32>, tensor<104x32xf32>
  tile.store %d, %y[%i, 0] : tensor<104x32xf32>, memref<197x32xf32>
  tile.return
}

// -----

// Not if the store extends further than the load: its elements are the pad, so rows
// beyond the end are zeros. The same holds for sizes that are not known to be equal.
// CHECK-LABEL: func.func @padded_rows(
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %[[AT:.*]], %c190
// CHECK: %[[ROW:.*]] = memref.subview %arg0[%[[AT]], 0]
// CHECK: arith.select %[[EXISTS]], %[[ROW]], %{{.*}} : memref<64xf32
// CHECK: return
tile.kernel @padded_rows(%x: memref<190x64xf32>, %w: memref<64x32xf32>, %y: memref<197x32xf32>) {
  %c2 = arith.constant 2 : index
  %c104 = arith.constant 104 : index
  %p = tile.program_id (%c2) : index
  %i = arith.muli %p, %c104 : index
  %f = arith.constant 0.0 : f32
  %z = tile.broadcast %f to [104, 32] : f32 -> tensor<104x32xf32>
  %l = tile.load %x[%i, 0] sizes [104, 64] : memref<190x64xf32> -> tensor<104x64xf32>
  %r = tile.load %w[0, 0] sizes [64, 32] : memref<64x32xf32> -> tensor<64x32xf32>
  %d = tile.dot %l, %r, %z : tensor<104x64xf32>, tensor<64x32xf32>, tensor<104x32xf32>
  tile.store %d, %y[%i, 0] : tensor<104x32xf32>, memref<197x32xf32>
  tile.return
}

// -----

// Dynamic sizes that are equal by `adze.dims`.
// CHECK-LABEL: func.func @clamped_rows_of_a_run(
// CHECK: } else {
// CHECK: arith.minsi
// CHECK-NOT: maskedload
// CHECK: return
tile.kernel @clamped_rows_of_a_run(
    %x: memref<?x64xf32> {adze.dims = affine_map<()[s0] -> (s0 * 3, 64)>},
    %w: memref<64x32xf32>,
    %y: memref<?x32xf32> {adze.dims = affine_map<()[s0] -> (s0 * 3, 32)>}) {
  %c0 = arith.constant 0 : index
  %c104 = arith.constant 104 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  %g = arith.ceildivui %n, %c104 : index
  %p = tile.program_id (%g) : index
  %i = arith.muli %p, %c104 : index
  %f = arith.constant 0.0 : f32
  %z = tile.broadcast %f to [104, 32] : f32 -> tensor<104x32xf32>
  %l = tile.load %x[%i, 0] sizes [104, 64] : memref<?x64xf32> -> tensor<104x64xf32>
  %r = tile.load %w[0, 0] sizes [64, 32] : memref<64x32xf32> -> tensor<64x32xf32>
  %d = tile.dot %l, %r, %z : tensor<104x64xf32>, tensor<64x32xf32>, tensor<104x32xf32>
  tile.store %d, %y[%i, 0] : tensor<104x32xf32>, memref<?x32xf32>
  tile.return
}

// -----

// Copies of a window that may exceed its memory: whole steps in bounds are read
// unchecked, the step at the end under masks, and beyond it the pad is stored without a
// load.
// CHECK-LABEL: func.func @copied_past_the_end(
// CHECK: %[[ROWS:.*]] = memref.dim %arg0, %c0
// CHECK: arith.remsi %{{.*}}, %c8 : index
// CHECK: %[[CUT:.*]] = arith.minsi %{{.*}}, %c64 : index
// CHECK: scf.for %{{.*}} = %c0 to %[[CUT]] step %c8
// CHECK-NOT: maskedload
// CHECK: %[[STEPS:.*]] = arith.ceildivsi %{{.*}}, %c8 : index
// CHECK: %[[PAST:.*]] = arith.muli %[[STEPS]], %c8 : index
// CHECK: %[[MOST:.*]] = arith.minsi %[[PAST]], %c64 : index
// CHECK: %[[END:.*]] = arith.maxsi %[[MOST]], %[[CUT]] : index
// CHECK: scf.for %{{.*}} = %[[CUT]] to %[[END]] step %c8
// CHECK: maskedload
// CHECK: scf.for %{{.*}} = %[[END]] to %c64 step %c8
// CHECK-NOT: load
// CHECK-COUNT-8: vector.store %cst
// CHECK-NOT: maskedload
// CHECK: return
tile.kernel @copied_past_the_end(%x: memref<?x64xf32>, %q: memref<64x32xf32>, %y: memref<32xf32>) {
  %f = arith.constant 0.0 : f32
  %z = tile.broadcast %f to [64, 32] : f32 -> tensor<64x32xf32>
  %l = tile.load %x[0, 0] sizes [64, 64] : memref<?x64xf32> -> tensor<64x64xf32>
  %r = tile.load %q[0, 0] sizes [64, 32] : memref<64x32xf32> -> tensor<64x32xf32>
  %d = tile.dot %l, %r, %z : tensor<64x64xf32>, tensor<64x32xf32>, tensor<64x32xf32>
  %m = tile.reduce max %d dim 0 : tensor<64x32xf32> -> tensor<32xf32>
  tile.store %m, %y[0] : tensor<32xf32>, memref<32xf32>
  tile.return
}

// -----

// A short operand beside a long one: beyond its end there are no loads, all of whose
// lanes would be masked at invalid addresses.
// CHECK-LABEL: func.func @piece(
// CHECK: vector.store %{{.*}}, %arg2
// CHECK: %[[LEFT:.*]] = arith.subi %c48, %{{.*}} : index
// CHECK: scf.for %{{.*}} = %c0 to %[[CUT:[0-9]+]] step
// CHECK: scf.for %{{.*}} = %[[CUT]] to %[[END:[0-9]+]] step
// CHECK: vector.maskedload %arg1
tile.kernel @piece(%x: memref<8192xf32>, %z: memref<48xf32>, %y: memref<8192xf32>, %w: memref<48xf32>) {
  %c1024 = arith.constant 1024 : index
  %c8 = arith.constant 8 : index
  %p = tile.program_id (%c8) : index
  %at = arith.muli %p, %c1024 : index
  %a = tile.load %x[%at] sizes [1024] : memref<8192xf32> -> tensor<1024xf32>
  tile.store %a, %y[%at] : tensor<1024xf32>, memref<8192xf32>
  %b = tile.load %z[%at] sizes [1024] : memref<48xf32> -> tensor<1024xf32>
  tile.store %b, %w[%at] : tensor<1024xf32>, memref<48xf32>
  tile.return
}

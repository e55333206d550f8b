// Non-temporal stores: to memory of more bytes than the kernel's limit, if the vectors
// are aligned when the memory is.
// RUN: aopt %s -split-input-file -tile-specialize -convert-tile-to-vector -canonicalize -cse | FileCheck %s
// RUN: aopt %s -split-input-file -tile-attach-targets="cpu=x86-64-v4 caches=1M,32M,nontemporal_stores_stall" -tile-specialize -convert-tile-to-vector -canonicalize -cse | FileCheck %s --check-prefix=APART

// CHECK-LABEL: func.func @large(
// CHECK: %[[ADDRESS:.*]] = memref.extract_aligned_pointer_as_index %arg1
// CHECK: %[[REST:.*]] = arith.andi %[[ADDRESS]], %c63
// CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: vector.load %arg0[%[[AT:.*]]] :
// CHECK: scf.if %[[ALIGNED]]
// Data a page ahead are prefetched, but not where stores stall the core.
// CHECK: %[[AHEAD:.*]] = arith.addi %[[AT]], %c1024
// CHECK: memref.prefetch %arg0[%[[AHEAD]]], read
// CHECK-COUNT-3: memref.prefetch %arg0
// CHECK-NOT: memref.prefetch
// CHECK-COUNT-4: vector.store {{.*}} {alignment = 64 : i64, nontemporal = true}
// CHECK: } else {
// CHECK-NOT: memref.prefetch
// CHECK-COUNT-4: vector.store {{.*}}] : memref<1024xf32>
// APART-LABEL: func.func @large(
// APART-NOT: memref.prefetch
// APART: nontemporal = true
tile.kernel @large(%x: memref<1024xf32>, %y: memref<1024xf32>) attributes {tile.stream_bytes = 4095 : i64} {
  %t = tile.load %x[0] sizes [1024] : memref<1024xf32> -> tensor<1024xf32>
  %n = arith.negf %t : tensor<1024xf32>
  tile.store %n, %y[0] : tensor<1024xf32>, memref<1024xf32>
  tile.return
}

// -----
// CHECK-LABEL: func.func @small(
// CHECK-NOT: nontemporal
tile.kernel @small(%x: memref<1024xf32>, %y: memref<1024xf32>) attributes {tile.stream_bytes = 4096 : i64} {
  %t = tile.load %x[0] sizes [1024] : memref<1024xf32> -> tensor<1024xf32>
  %n = arith.negf %t : tensor<1024xf32>
  tile.store %n, %y[0] : tensor<1024xf32>, memref<1024xf32>
  tile.return
}

// -----
// The size is dynamic.
// CHECK-LABEL: func.func @unknown(
// CHECK: %[[BYTES:.*]] = arith.muli %{{.*}}, %c4
// CHECK: %[[LARGE:.*]] = arith.cmpi ugt, %[[BYTES]], %c4096
// CHECK: %[[BOTH:.*]] = arith.andi %{{.*}}, %[[LARGE]] : i1
// CHECK: scf.if %[[BOTH]]
// CHECK: nontemporal
tile.kernel @unknown(%x: memref<?xf32>, %y: memref<?xf32>) attributes {tile.stream_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %y, %c0 : memref<?xf32>
  %programs = arith.ceildivui %n, %c64 : index
  %p = tile.program_id (%programs) : index
  %at = arith.muli %p, %c64 : index
  %t = tile.load %x[%at] sizes [64] : memref<?xf32> -> tensor<64xf32>
  %r = arith.negf %t : tensor<64xf32>
  tile.store %r, %y[%at] : tensor<64xf32>, memref<?xf32>
  tile.return
}

// -----
// Rows of 100 elements have any alignment.
// CHECK-LABEL: func.func @unaligned(
// CHECK-NOT: nontemporal
tile.kernel @unaligned(%x: memref<64x100xf32>, %y: memref<64x100xf32>) attributes {tile.stream_bytes = 1 : i64} {
  %t = tile.load %x[0, 0] sizes [64, 100] : memref<64x100xf32> -> tensor<64x100xf32>
  %n = arith.negf %t : tensor<64x100xf32>
  tile.store %n, %y[0, 0] : tensor<64x100xf32>, memref<64x100xf32>
  tile.return
}

// -----
// Rows of dynamic length: whole vectors, or not non-temporal.
// CHECK-LABEL: func.func @rows(
// CHECK: %[[LENGTH:.*]] = memref.dim %arg1, %c1
// CHECK: %[[REST:.*]] = arith.remui %[[LENGTH]], %c16
// CHECK: %[[WHOLE:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK: %[[ALL:.*]] = arith.andi %{{.*}}, %[[WHOLE]] : i1
// CHECK: scf.if %[[ALL]]
// CHECK: nontemporal
tile.kernel @rows(%x: memref<?x?xf32>, %y: memref<?x?xf32>) attributes {tile.stream_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %y, %c0 : memref<?x?xf32>
  %m = memref.dim %y, %c1 : memref<?x?xf32>
  %parts = arith.ceildivui %m, %c64 : index
  %q, %p = tile.program_id (%parts, %n) : index, index
  %at = arith.muli %q, %c64 : index
  %t = tile.load %x[%p, %at] sizes [64] : memref<?x?xf32> -> tensor<64xf32>
  %r = arith.negf %t : tensor<64xf32>
  tile.store %r, %y[%p, %at] : tensor<64xf32>, memref<?x?xf32>
  tile.return
}

// -----
// Rows of a static length that is not a multiple of vectors: never.
// CHECK-LABEL: func.func @odd(
// CHECK-NOT: nontemporal
tile.kernel @odd(%x: memref<?x?x100xf32>, %y: memref<?x?x100xf32>) attributes {tile.stream_bytes = 1 : i64} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[0, 0, 0] sizes [64, 100] : memref<?x?x100xf32> -> tensor<64x100xf32>
  %n = arith.negf %t : tensor<64x100xf32>
  tile.store %n, %y[0, 0, 0] : tensor<64x100xf32>, memref<?x?x100xf32>
  tile.return
}

// -----
// Rows that are reduced, and read again: one at a time, and while one is stored, later
// ones are prefetched, 12 KB ahead.
// CHECK-LABEL: func.func @centred(
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %c2
// CHECK-NOT: nontemporal
// CHECK-COUNT-4: memref.prefetch %arg0[%{{.*}}, %{{.*}}], read
// CHECK-NOT: memref.prefetch
// CHECK-COUNT-4: nontemporal
// CHECK-NOT: memref.prefetch
// If stores should be separate, a single pass is not disturbed.
// APART-LABEL: func.func @centred(
// APART-NOT: memref.prefetch
tile.kernel @centred(%x: memref<64x2048xf32>, %y: memref<64x2048xf32>) attributes {tile.stream_bytes = 1 : i64} {
  %c32 = arith.constant 32 : index
  %c2 = arith.constant 2 : index
  %p = tile.program_id (%c32) : index
  %row = arith.muli %p, %c2 : index
  %t = tile.load %x[%row, 0] sizes [2, 2048] : memref<64x2048xf32> -> tensor<2x2048xf32>
  %s = tile.reduce add %t dim 1 : tensor<2x2048xf32> -> tensor<2xf32>
  %b = tile.broadcast %s to [2, 2048] dims [0] : tensor<2xf32> -> tensor<2x2048xf32>
  %d = arith.subf %t, %b : tensor<2x2048xf32>
  tile.store %d, %y[%row, 0] : tensor<2x2048xf32>, memref<64x2048xf32>
  tile.return
}

// -----
// Each pass prefetches the next row.
// CHECK-LABEL: func.func @twice(
// APART-LABEL: func.func @twice(
// APART: arith.addi %{{.*}}, %c1
// APART-COUNT-4: memref.prefetch %arg0[%{{.*}}, %{{.*}}], read, locality<2>
// APART-NOT: memref.prefetch
// APART: vector.extract
// APART-COUNT-4: memref.prefetch %arg0[%{{.*}}, %{{.*}}], read, locality<2>
// APART-NOT: memref.prefetch
tile.kernel @twice(%x: memref<64x2048xf32>, %s: memref<2048xf32>, %y: memref<64x2048xf32>) attributes {tile.stream_bytes = 1 : i64} {
  %c64 = arith.constant 64 : index
  %p = tile.program_id (%c64) : index
  %t = tile.load %x[%p, 0] sizes [1, 2048] : memref<64x2048xf32> -> tensor<1x2048xf32>
  %m = tile.reduce max %t dim 1 : tensor<1x2048xf32> -> tensor<1xf32>
  %b = tile.broadcast %m to [1, 2048] dims [0] : tensor<1xf32> -> tensor<1x2048xf32>
  %d = arith.subf %t, %b : tensor<1x2048xf32>
  %q = tile.reduce add %d dim 1 : tensor<1x2048xf32> -> tensor<1xf32>
  %c = tile.broadcast %q to [1, 2048] dims [0] : tensor<1xf32> -> tensor<1x2048xf32>
  %e = arith.mulf %d, %c : tensor<1x2048xf32>
  %l = tile.load %s[0] sizes [2048] : memref<2048xf32> -> tensor<2048xf32>
  %w = tile.broadcast %l to [1, 2048] dims [1] : tensor<2048xf32> -> tensor<1x2048xf32>
  %f = arith.mulf %e, %w : tensor<1x2048xf32>
  tile.store %f, %y[%p, 0] : tensor<1x2048xf32>, memref<64x2048xf32>
  tile.return
}

// -----
// A pass that computes a function for each element has enough time: it prefetches the
// next row to the first-level cache, and the one after that to the second level. Stores
// run during the next row's functions (pipeline-rows).
// CHECK-LABEL: func.func @powers(
// APART-LABEL: func.func @powers(
// APART-NOT: memref.prefetch %arg0
// APART: vector.extract
// APART: arith.addi %{{.*}}, %c2
// APART-COUNT-4: memref.prefetch %arg0[%{{.*}}, %{{.*}}], read, locality<2>
// APART: arith.addi %{{.*}}, %c1
// APART-COUNT-4: memref.prefetch %arg0[%{{.*}}, %{{.*}}], read, locality<3>
// APART-COUNT-4: nontemporal
// APART-NOT: memref.prefetch %arg0
tile.kernel @powers(%x: memref<64x2048xf32>, %y: memref<64x2048xf32>) attributes {tile.stream_bytes = 1 : i64} {
  %c64 = arith.constant 64 : index
  %p = tile.program_id (%c64) : index
  %t = tile.load %x[%p, 0] sizes [1, 2048] : memref<64x2048xf32> -> tensor<1x2048xf32>
  %m = tile.reduce max %t dim 1 : tensor<1x2048xf32> -> tensor<1xf32>
  %b = tile.broadcast %m to [1, 2048] dims [0] : tensor<1xf32> -> tensor<1x2048xf32>
  %d = arith.subf %t, %b : tensor<1x2048xf32>
  %e = math.exp %d : tensor<1x2048xf32>
  %q = tile.reduce add %e dim 1 : tensor<1x2048xf32> -> tensor<1xf32>
  %c = tile.broadcast %q to [1, 2048] dims [0] : tensor<1xf32> -> tensor<1x2048xf32>
  %f = arith.divf %e, %c : tensor<1x2048xf32>
  tile.store %f, %y[%p, 0] : tensor<1x2048xf32>, memref<64x2048xf32>
  tile.return
}

// -----
// Results that stay in the caches have a separate path.
// CHECK-LABEL: func.func @in_cache(
// APART-LABEL: func.func @in_cache(
// APART-NOT: memref.prefetch
tile.kernel @in_cache(%x: memref<64x2048xf32>, %y: memref<64x2048xf32>) attributes {tile.stream_bytes = 1048576 : i64} {
  %c64 = arith.constant 64 : index
  %p = tile.program_id (%c64) : index
  %t = tile.load %x[%p, 0] sizes [1, 2048] : memref<64x2048xf32> -> tensor<1x2048xf32>
  %m = tile.reduce max %t dim 1 : tensor<1x2048xf32> -> tensor<1xf32>
  %b = tile.broadcast %m to [1, 2048] dims [0] : tensor<1xf32> -> tensor<1x2048xf32>
  %d = arith.subf %t, %b : tensor<1x2048xf32>
  tile.store %d, %y[%p, 0] : tensor<1x2048xf32>, memref<64x2048xf32>
  tile.return
}

// -----
// Short rows: only the last pass prefetches.
// APART-LABEL: func.func @short(
// APART-NOT: memref.prefetch
// APART: vector.extract
// APART: memref.prefetch %arg0[%{{.*}}, %{{.*}}], read, locality<2>
// APART: nontemporal
// APART-NOT: memref.prefetch
tile.kernel @short(%x: memref<64x512xf32>, %y: memref<64x512xf32>) attributes {tile.stream_bytes = 1 : i64} {
  %c64 = arith.constant 64 : index
  %p = tile.program_id (%c64) : index
  %t = tile.load %x[%p, 0] sizes [1, 512] : memref<64x512xf32> -> tensor<1x512xf32>
  %m = tile.reduce add %t dim 1 : tensor<1x512xf32> -> tensor<1xf32>
  %b = tile.broadcast %m to [1, 512] dims [0] : tensor<1xf32> -> tensor<1x512xf32>
  %d = arith.subf %t, %b : tensor<1x512xf32>
  %e = arith.mulf %d, %d : tensor<1x512xf32>
  %q = tile.reduce add %e dim 1 : tensor<1x512xf32> -> tensor<1xf32>
  %c = tile.broadcast %q to [1, 512] dims [0] : tensor<1xf32> -> tensor<1x512xf32>
  %f = arith.mulf %d, %c : tensor<1x512xf32>
  tile.store %f, %y[%p, 0] : tensor<1x512xf32>, memref<64x512xf32>
  tile.return
}

// -----
// Very long rows and one pass: the stores prefetch.
// APART-LABEL: func.func @very_long(
// APART-NOT: memref.prefetch
// APART: vector.extract
// APART-COUNT-4: memref.prefetch %arg0[%{{.*}}, %{{.*}}], read, locality<3>
// APART-COUNT-4: nontemporal
tile.kernel @very_long(%x: memref<64x8192xf32>, %y: memref<64x8192xf32>) attributes {tile.stream_bytes = 1 : i64} {
  %c64 = arith.constant 64 : index
  %p = tile.program_id (%c64) : index
  %t = tile.load %x[%p, 0] sizes [1, 8192] : memref<64x8192xf32> -> tensor<1x8192xf32>
  %m = tile.reduce add %t dim 1 : tensor<1x8192xf32> -> tensor<1xf32>
  %b = tile.broadcast %m to [1, 8192] dims [0] : tensor<1xf32> -> tensor<1x8192xf32>
  %d = arith.subf %t, %b : tensor<1x8192xf32>
  tile.store %d, %y[%p, 0] : tensor<1x8192xf32>, memref<64x8192xf32>
  tile.return
}

// -----
// Dynamic rows: one form for results with non-temporal stores, one for others; elsewhere
// one for both.
// CHECK-LABEL: func.func @how_many(
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %arg2 to %arg3
// CHECK-NOT: to %arg3
// APART-LABEL: func.func @how_many(
// APART: memref.dim %arg1, %c0
// APART: arith.muli
// APART: %[[LARGE:.*]] = arith.cmpi ugt, %{{.*}}, %c1048576
// APART: scf.if %[[LARGE]] {
// APART: scf.for %{{.*}} = %arg2 to %arg3
// APART: memref.prefetch %arg0[%{{.*}}, %{{.*}}], read, locality<2>
// APART: memref.prefetch %arg0[%{{.*}}, %{{.*}}], read, locality<3>
// APART: math.exp
// APART: } else {
// APART: scf.for %{{.*}} = %arg2 to %arg3
// APART-NOT: read, locality<2>
// APART: math.exp
tile.kernel @how_many(%x: memref<?x2048xf32>, %y: memref<?x2048xf32>) attributes {tile.stream_bytes = 1048576 : i64} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %y, %c0 : memref<?x2048xf32>
  %p = tile.program_id (%n) : index
  %t = tile.load %x[%p, 0] sizes [1, 2048] : memref<?x2048xf32> -> tensor<1x2048xf32>
  %e = math.exp %t : tensor<1x2048xf32>
  %q = tile.reduce add %e dim 1 : tensor<1x2048xf32> -> tensor<1xf32>
  %c = tile.broadcast %q to [1, 2048] dims [0] : tensor<1xf32> -> tensor<1x2048xf32>
  %f = arith.divf %e, %c : tensor<1x2048xf32>
  tile.store %f, %y[%p, 0] : tensor<1x2048xf32>, memref<?x2048xf32>
  tile.return
}

// -----
// Data that are read back stay in the caches, and are not prefetched.
// CHECK-LABEL: func.func @again(
// APART-LABEL: func.func @again(
// CHECK-NOT: nontemporal
// CHECK-NOT: memref.prefetch %arg1{{.*}}, read
tile.kernel @again(%x: memref<64x2048xf32>, %y: memref<64x2048xf32>) attributes {tile.stream_bytes = 1 : i64} {
  %c64 = arith.constant 64 : index
  %p = tile.program_id (%c64) : index
  %t = tile.load %x[%p, 0] sizes [1, 2048] : memref<64x2048xf32> -> tensor<1x2048xf32>
  %e = math.exp %t : tensor<1x2048xf32>
  tile.store %e, %y[%p, 0] : tensor<1x2048xf32>, memref<64x2048xf32>
  %s = tile.reduce add %e dim 1 : tensor<1x2048xf32> -> tensor<1xf32>
  %b = tile.broadcast %s to [1, 2048] dims [0] : tensor<1xf32> -> tensor<1x2048xf32>
  %f = tile.load %y[%p, 0] sizes [1, 2048] : memref<64x2048xf32> -> tensor<1x2048xf32>
  %d = arith.divf %f, %b : tensor<1x2048xf32>
  tile.store %d, %y[%p, 0] : tensor<1x2048xf32>, memref<64x2048xf32>
  tile.return
}

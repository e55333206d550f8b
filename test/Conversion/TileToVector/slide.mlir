// Windows that slide over the lines of an image: elements that several of them share are
// loaded once, and if the result uses non-temporal stores, later lines are prefetched
// once, not by each window; along the lines, not along the planes.
// RUN: aopt %s -tile-specialize -convert-tile-to-vector -canonicalize -cse --split-input-file | FileCheck %s
// RUN: aopt %s -tile-attach-targets="cpu=x86-64-v4 caches=1M,32M,nontemporal_stores_stall" -tile-specialize -convert-tile-to-vector -canonicalize -cse --split-input-file | FileCheck %s --check-prefix=APART

// CHECK-LABEL: func.func @slide(
// Five lines for four sums of two; of one if non-temporal stores stall the core.
// CHECK-COUNT-10: vector.load %arg0[%[[PLANE:[a-z0-9]*]],
// CHECK-NOT: vector.load %arg0
// CHECK: scf.if
// CHECK: %[[LATER:.*]] = arith.addi %{{.*}}, %c8
// CHECK: memref.prefetch %arg0[%[[PLANE]], %[[LATER]], %{{.*}}], read
// CHECK-COUNT-7: memref.prefetch %arg0[%[[PLANE]],
// CHECK-NOT: memref.prefetch
// CHECK: vector.store {{.*}} nontemporal = true
// CHECK: } else {
// CHECK-NOT: memref.prefetch
// APART-LABEL: func.func @slide(
// APART-COUNT-5: vector.load %arg0[
// APART-NOT: vector.load %arg0
// APART-COUNT-4: memref.prefetch
// APART-NOT: memref.prefetch
// APART-COUNT-4: vector.store {{.*}} nontemporal = true
// APART-NOT: vector.store {{.*}} nontemporal
tile.kernel @slide(%x: memref<8x65x640xf32>, %y: memref<8x64x640xf32>) attributes {tile.params = {LINES = 4 : i64}, tile.stream_bytes = 65536 : i64} {
  %lines = tile.param "LINES" : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %n = arith.ceildivui %c64, %lines : index
  %p:2 = tile.program_id (%n, %c8) : index, index
  %at = arith.muli %p#0, %lines : index
  %next = arith.addi %at, %c1 : index
  %a = tile.load %x[%p#1, %at, 0] sizes [640, 1, %lines] dims [2, 0, 1] : memref<8x65x640xf32> -> tensor<640x1x?xf32>
  %b = tile.load %x[%p#1, %next, 0] sizes [640, 1, %lines] dims [2, 0, 1] : memref<8x65x640xf32> -> tensor<640x1x?xf32>
  %s = arith.addf %a, %b : tensor<640x1x?xf32>
  tile.store %s, %y[%p#1, %at, 0] dims [2, 0, 1] : tensor<640x1x?xf32>, memref<8x64x640xf32>
  tile.return
}

// -----

// Data in the caches arrive in time.
// APART-LABEL: func.func @cached(
// APART-COUNT-10: vector.load %arg0
// APART-NOT: vector.load %arg0
// APART-NOT: memref.prefetch
// APART-COUNT-8: vector.store
tile.kernel @cached(%x: memref<8x65x640xf32>, %y: memref<8x64x640xf32>) attributes {tile.params = {LINES = 4 : i64}} {
  %lines = tile.param "LINES" : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %n = arith.ceildivui %c64, %lines : index
  %p:2 = tile.program_id (%n, %c8) : index, index
  %at = arith.muli %p#0, %lines : index
  %next = arith.addi %at, %c1 : index
  %a = tile.load %x[%p#1, %at, 0] sizes [640, 1, %lines] dims [2, 0, 1] : memref<8x65x640xf32> -> tensor<640x1x?xf32>
  %b = tile.load %x[%p#1, %next, 0] sizes [640, 1, %lines] dims [2, 0, 1] : memref<8x65x640xf32> -> tensor<640x1x?xf32>
  %s = arith.addf %a, %b : tensor<640x1x?xf32>
  tile.store %s, %y[%p#1, %at, 0] dims [2, 0, 1] : tensor<640x1x?xf32>, memref<8x64x640xf32>
  tile.return
}

// -----

// Adjacent lines share nothing: each is prefetched along itself, a page ahead.
// CHECK-LABEL: func.func @beside(
// CHECK: vector.load %arg0[%[[PLANE:[a-z0-9]*]], %[[LINE:[a-z0-9]*]], %[[AT:[a-z0-9]*]]]
// CHECK: scf.if
// CHECK: %[[AHEAD:.*]] = arith.addi %[[AT]], %c1024
// CHECK: memref.prefetch %arg0[%[[PLANE]], %[[LINE]], %[[AHEAD]]], read
tile.kernel @beside(%x: memref<8x64x640xf32>, %y: memref<8x64x640xf32>) attributes {tile.params = {LINES = 4 : i64}, tile.stream_bytes = 65536 : i64} {
  %lines = tile.param "LINES" : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %n = arith.ceildivui %c64, %lines : index
  %p:2 = tile.program_id (%n, %c8) : index, index
  %at = arith.muli %p#0, %lines : index
  %a = tile.load %x[%p#1, %at, 0] sizes [640, 1, %lines] dims [2, 0, 1] : memref<8x64x640xf32> -> tensor<640x1x?xf32>
  %s = arith.addf %a, %a : tensor<640x1x?xf32>
  tile.store %s, %y[%p#1, %at, 0] dims [2, 0, 1] : tensor<640x1x?xf32>, memref<8x64x640xf32>
  tile.return
}

// -----

// Dynamic sizes: rows of a typical length.
// CHECK-LABEL: func.func @unknown(
// CHECK: memref.prefetch %arg0[%{{.*}}, %{{.*}}, %{{.*}}], read
#x = affine_map<()[s0, s1] -> (8, s0 + 1, s1)>
#y = affine_map<()[s0, s1] -> (8, s0, s1)>
tile.kernel @unknown(%x: memref<8x?x?xf32> {adze.dims = #x}, %y: memref<8x?x?xf32> {adze.dims = #y}) attributes {tile.params = {LINES = 4 : i64, BLOCK = 64 : i64}, tile.stream_bytes = 65536 : i64} {
  %lines = tile.param "LINES" : index
  %block = tile.param "BLOCK" : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %h = memref.dim %y, %c1 : memref<8x?x?xf32>
  %w = memref.dim %y, %c2 : memref<8x?x?xf32>
  %n = arith.ceildivui %h, %lines : index
  %m = arith.ceildivui %w, %block : index
  %p:3 = tile.program_id (%m, %n, %c8) : index, index, index
  %from = arith.muli %p#0, %block : index
  %at = arith.muli %p#1, %lines : index
  %next = arith.addi %at, %c1 : index
  %a = tile.load %x[%p#2, %at, %from] sizes [%block, 1, %lines] dims [2, 0, 1] : memref<8x?x?xf32> -> tensor<?x1x?xf32>
  %b = tile.load %x[%p#2, %next, %from] sizes [%block, 1, %lines] dims [2, 0, 1] : memref<8x?x?xf32> -> tensor<?x1x?xf32>
  %s = arith.addf %a, %b : tensor<?x1x?xf32>
  tile.store %s, %y[%p#2, %at, %from] dims [2, 0, 1] : tensor<?x1x?xf32>, memref<8x?x?xf32>
  tile.return
}

// -----

// Along the vectors: the ends of a static row exist once, with constant masks where
// elements are missing, and none elsewhere.
// CHECK-LABEL: func.func @along(
// CHECK-DAG: %[[FIRST:.*]] = arith.constant dense<[false, true, true, true, true, true, true, true, true, true, true, true, true, true, true, true]>
// CHECK-DAG: %[[LAST:.*]] = arith.constant dense<[true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false]>
// CHECK: vector.maskedload %arg0[%{{.*}}, %c-1], %[[FIRST]]
// CHECK-NOT: masked
// CHECK: scf.for %{{.*}} = %c64 to %c192
// CHECK-NOT: masked
// CHECK: vector.maskedload %arg0[%{{.*}}, %{{.*}}], %[[LAST]]
// CHECK-NOT: masked
tile.kernel @along(%x: memref<8x256xf32>, %y: memref<8x256xf32>) {
  %c8 = arith.constant 8 : index
  %p = tile.program_id (%c8) : index
  %a = tile.load %x[%p, -1] sizes [256] dims [1] : memref<8x256xf32> -> tensor<256xf32>
  %b = tile.load %x[%p, 1] sizes [256] dims [1] : memref<8x256xf32> -> tensor<256xf32>
  %s = arith.addf %a, %b : tensor<256xf32>
  tile.store %s, %y[%p, 0] dims [1] : tensor<256xf32>, memref<8x256xf32>
  tile.return
}

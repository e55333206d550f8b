// RUN: aopt %s --pass-pipeline="builtin.module(tile-specialize,convert-tile-to-vector,canonicalize,cse)" --split-input-file | FileCheck %s

// The product's columns are along the lanes, but its rows are adjacent in memory: blocks
// of 8 rows are transposed in registers and written as halves.
// CHECK-LABEL: func.func @store(
// CHECK: %[[SUMS:.*]]:16 = scf.for
// CHECK: vector.shuffle %[[SUMS]]#0, %[[SUMS]]#2
// CHECK: vector.extract_strided_slice {{.*}} {offsets = [0], sizes = [8], strides = [1]} : vector<16xf32> to vector<8xf32>
// CHECK: vector.store {{.*}} vector<8xf32>
// CHECK-NOT: memref.store
tile.kernel @store(%a: memref<8x40xf32>, %b: memref<40x32xf32>, %y: memref<32x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %x = tile.load %a[0, 0] sizes [8, 40] : memref<8x40xf32> -> tensor<8x40xf32>
  %w = tile.load %b[0, 0] sizes [40, 32] : memref<40x32xf32> -> tensor<40x32xf32>
  %c = tile.broadcast %zero to [8, 32] : f32 -> tensor<8x32xf32>
  %d = tile.dot %x, %w, %c : tensor<8x40xf32>, tensor<40x32xf32>, tensor<8x32xf32>
  tile.store %d, %y[0, 0] dims [1, 0] : tensor<8x32xf32>, memref<32x8xf32>
  tile.return
}

// -----

// Rows at a distance of two elements in memory: the transposed blocks are spread over two
// vectors and stored under a mask, to the end of the row.
// CHECK-LABEL: func.func @spread(
// CHECK-DAG: %[[EVEN:.*]] = arith.constant dense<[true, false, true, false, true, false, true, false]> : vector<8xi1>
// CHECK: vector.shuffle %[[V:.*]], %{{.*}} [0, 0, 1, 0, 2, 0, 3, 0] : vector<8xf32>
// CHECK: vector.maskedstore %{{.*}}, %[[EVEN]]
// CHECK: vector.shuffle %{{.*}} [4, 0, 5, 0, 6, 0, 7, 0] : vector<8xf32>
// CHECK: vector.maskedstore %{{.*}}, %[[EVEN]]
// CHECK-NOT: memref.store
tile.kernel @spread(%a: memref<8x40xf32>, %b: memref<40x32xf32>, %y: memref<32x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %x = tile.load %a[0, 0] sizes [8, 40] : memref<8x40xf32> -> tensor<8x40xf32>
  %w = tile.load %b[0, 0] sizes [40, 32] : memref<40x32xf32> -> tensor<40x32xf32>
  %c = tile.broadcast %zero to [8, 32] : f32 -> tensor<8x32xf32>
  %d = tile.dot %x, %w, %c : tensor<8x40xf32>, tensor<40x32xf32>, tensor<8x32xf32>
  tile.store %d, %y[0, 1] dims [1, 0] strides [2, 1] : tensor<8x32xf32>, memref<32x16xf32>
  tile.return
}

// -----

// A bias with the other layout is read in halves of 8, bools too.
// CHECK-LABEL: func.func @load(
// CHECK: vector.load %{{.*}} : memref<32x8xi8>, vector<8xi8>
// CHECK: vector.shuffle {{.*}} : vector<8xi8>, vector<8xi8>
// CHECK: arith.cmpi ne, {{.*}} : vector<16xi8>
// CHECK-NOT: memref.load %arg2
tile.kernel @load(%a: memref<8x40xf32>, %b: memref<40x32xf32>, %m: memref<32x8xi1>, %y: memref<8x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %x = tile.load %a[0, 0] sizes [8, 40] : memref<8x40xf32> -> tensor<8x40xf32>
  %w = tile.load %b[0, 0] sizes [40, 32] : memref<40x32xf32> -> tensor<40x32xf32>
  %t = tile.load %m[0, 0] sizes [8, 32] dims [1, 0] : memref<32x8xi1> -> tensor<8x32xi1>
  %c = tile.broadcast %zero to [8, 32] : f32 -> tensor<8x32xf32>
  %d = tile.dot %x, %w, %c : tensor<8x40xf32>, tensor<40x32xf32>, tensor<8x32xf32>
  %s = arith.select %t, %d, %c : tensor<8x32xi1>, tensor<8x32xf32>
  tile.store %s, %y[0, 0] : tensor<8x32xf32>, memref<8x32xf32>
  tile.return
}

// -----

// A loop-invariant operand is transposed once, before the loop.
// CHECK-LABEL: func.func @invariant(
// CHECK: vector.shuffle
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c64
// CHECK-NOT: vector.shuffle
// CHECK: return
tile.kernel @invariant(%a: memref<128x16xf32>, %b: memref<32x16xf32>, %y: memref<128x32xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %w = tile.load %b[0, 0] sizes [16, 32] dims [1, 0] : memref<32x16xf32> -> tensor<16x32xf32>
  scf.for %i = %c0 to %c128 step %c64 {
    %x = tile.load %a[%i, 0] sizes [64, 16] : memref<128x16xf32> -> tensor<64x16xf32>
    %c = tile.broadcast %zero to [64, 32] : f32 -> tensor<64x32xf32>
    %d = tile.dot %x, %w, %c : tensor<64x16xf32>, tensor<16x32xf32>, tensor<64x32xf32>
    tile.store %d, %y[%i, 0] : tensor<64x32xf32>, memref<128x32xf32>
  }
  tile.return
}

// -----

// Lanes at a distance of two: two loads and a shuffle; elements after the last one need
// not exist.
// CHECK-LABEL: func.func @spread(
// CHECK-DAG: %[[ALL:.*]] = vector.load %{{.*}} : memref<127xf32>, vector<16xf32>
// CHECK-DAG: %[[REST:.*]] = vector.maskedload %{{.*}} : memref<127xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30] : vector<16xf32>, vector<16xf32>
// CHECK: vector.store
tile.kernel @spread(%x: memref<127xf32>, %y: memref<64xf32>) {
  %t = tile.load %x[0] sizes [64] strides [2] : memref<127xf32> -> tensor<64xf32>
  tile.store %t, %y[0] : tensor<64xf32>, memref<64xf32>
  tile.return
}

// -----

// Data of the next program are prefetched, a cache line for each transposed row; the hint
// is its address only. Squares of 16 by 16 elements, or 16 by 64 bytes, fit the
// registers.
// CHECK-LABEL: func.func @ahead(
// CHECK: vector.load %arg0[%[[I:.*]], %[[J:.*]]] : memref<4096x512xf32>, vector<16xf32>
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c64
// CHECK: memref.prefetch %arg0[%[[NEXT]], %[[J]]], read, locality<2>, data
// CHECK-COUNT-15: memref.prefetch %arg0
// CHECK-NOT: memref.prefetch
// CHECK-COUNT-16: vector.store {{.*}} vector<16xf32>
// CHECK-NOT: vector.store
tile.kernel @ahead(%x: memref<4096x512xf32>, %y: memref<512x4096xf32>) {
  %ci = arith.constant 64 : index
  %cj = arith.constant 2 : index
  %bi = arith.constant 64 : index
  %bj = arith.constant 256 : index
  %p:2 = tile.program_id(%ci, %cj) : index, index
  %i = arith.muli %p#0, %bi : index
  %j = arith.muli %p#1, %bj : index
  %t = tile.load %x[%i, %j] sizes [256, 64] dims [1, 0] {tile.ahead = array<i64: 64, 0>} : memref<4096x512xf32> -> tensor<256x64xf32>
  tile.store %t, %y[%j, %i] : tensor<256x64xf32>, memref<512x4096xf32>
  tile.return
}

// -----

// CHECK-LABEL: func.func @bytes(
// CHECK-COUNT-64: vector.load {{.*}} vector<16xi8>
// CHECK-COUNT-16: vector.store {{.*}} vector<64xi8>
// CHECK-NOT: vector.store
tile.kernel @bytes(%x: memref<256x256xi8>, %y: memref<256x256xi8>) {
  %t = tile.load %x[0, 0] sizes [256, 256] dims [1, 0] : memref<256x256xi8> -> tensor<256x256xi8>
  tile.store %t, %y[0, 0] : tensor<256x256xi8>, memref<256x256xi8>
  tile.return
}

// -----

// Not for memory that fits the second-level cache, nor for data that are read in their
// layout.
// CHECK-LABEL: func.func @held(
// CHECK-NOT: memref.prefetch
tile.kernel @held(%x: memref<256x256xf32>, %y: memref<256x256xf32>) {
  %ci = arith.constant 4 : index
  %cj = arith.constant 4 : index
  %bi = arith.constant 64 : index
  %bj = arith.constant 64 : index
  %p:2 = tile.program_id(%ci, %cj) : index, index
  %i = arith.muli %p#0, %bi : index
  %j = arith.muli %p#1, %bj : index
  %t = tile.load %x[%i, %j] sizes [64, 64] dims [1, 0] {tile.ahead = array<i64: 64, 0>} : memref<256x256xf32> -> tensor<64x64xf32>
  tile.store %t, %y[%j, %i] : tensor<64x64xf32>, memref<256x256xf32>
  tile.return
}
// CHECK-LABEL: func.func @plain(
// CHECK-NOT: memref.prefetch
tile.kernel @plain(%x: memref<4096x512xf32>, %y: memref<4096x512xf32>) {
  %ci = arith.constant 64 : index
  %cj = arith.constant 8 : index
  %bi = arith.constant 64 : index
  %bj = arith.constant 64 : index
  %p:2 = tile.program_id(%ci, %cj) : index, index
  %i = arith.muli %p#0, %bi : index
  %j = arith.muli %p#1, %bj : index
  %t = tile.load %x[%i, %j] sizes [64, 64] {tile.ahead = array<i64: 64, 0>} : memref<4096x512xf32> -> tensor<64x64xf32>
  tile.store %t, %y[%i, %j] : tensor<64x64xf32>, memref<4096x512xf32>
  tile.return
}

// RUN: aopt %s --share-loads --split-input-file | FileCheck %s

// A window of three over two vectors: loads at the starts of vectors stay, and the first
// and the last one.
// CHECK-LABEL: func.func @window(
// CHECK: scf.for %[[I:.*]] = %c32
// CHECK: %[[LEFT:.*]] = arith.addi %[[I]], %c-1
// CHECK: vector.load %arg0[%arg2, %[[LEFT]]]
// CHECK: %[[A:.*]] = vector.load %arg0[%arg2, %{{.*}}]
// CHECK: %[[B:.*]] = vector.load %arg0[%arg2, %{{.*}}]
// CHECK: vector.shuffle %[[A]], %[[B]] [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
// CHECK: vector.shuffle %[[A]], %[[B]] [15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30]
// CHECK: vector.load %arg0[%arg2, %{{.*}}]
// CHECK-NOT: vector.load
// CHECK-COUNT-2: vector.store
func.func @window(%x: memref<8x640xf32>, %y: memref<8x640xf32>, %row: index) {
  %cm1 = arith.constant -1 : index
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c608 = arith.constant 608 : index
  scf.for %i = %c32 to %c608 step %c32 {
    %left = arith.addi %i, %cm1 : index
    %right = arith.addi %i, %c1 : index
    %i15 = arith.addi %left, %c16 : index
    %i16 = arith.addi %i, %c16 : index
    %i17 = arith.addi %right, %c16 : index
    %a = vector.load %x[%row, %left] : memref<8x640xf32>, vector<16xf32>
    %b = vector.load %x[%row, %i] : memref<8x640xf32>, vector<16xf32>
    %c = vector.load %x[%row, %right] : memref<8x640xf32>, vector<16xf32>
    %d = vector.load %x[%row, %i15] : memref<8x640xf32>, vector<16xf32>
    %e = vector.load %x[%row, %i16] : memref<8x640xf32>, vector<16xf32>
    %f = vector.load %x[%row, %i17] : memref<8x640xf32>, vector<16xf32>
    %s0 = arith.addf %a, %b : vector<16xf32>
    %s1 = arith.addf %s0, %c : vector<16xf32>
    %t0 = arith.addf %d, %e : vector<16xf32>
    %t1 = arith.addf %t0, %f : vector<16xf32>
    vector.store %s1, %y[%row, %i] : memref<8x640xf32>, vector<16xf32>
    vector.store %t1, %y[%row, %i16] : memref<8x640xf32>, vector<16xf32>
  }
  return
}

// -----

// With dynamic sizes, wherever vectors begin; a sum in another order is the same address.
// CHECK-LABEL: func.func @unknown(
// CHECK-COUNT-2: vector.load
// CHECK: vector.shuffle
// CHECK-NOT: vector.load
func.func @unknown(%x: memref<?xf32>, %y: memref<?xf32>, %i: index, %j: index) {
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  %c2 = arith.constant 2 : index
  %i1 = arith.subi %i, %c1 : index
  %p = arith.addi %i1, %j : index
  %j1 = arith.addi %j, %c1 : index
  %q = arith.addi %j1, %i : index
  %k = arith.addi %i, %j : index
  %r = arith.addi %k, %c15 : index
  %a = vector.load %x[%p] : memref<?xf32>, vector<16xf32>
  %b = vector.load %x[%q] : memref<?xf32>, vector<16xf32>
  %c = vector.load %x[%r] : memref<?xf32>, vector<16xf32>
  %s = arith.addf %a, %b : vector<16xf32>
  %t = arith.addf %s, %c : vector<16xf32>
  vector.store %t, %y[%k] : memref<?xf32>, vector<16xf32>
  return
}

// -----

// Neither across a store, nor from other rows, nor if no two vectors contain it.
// CHECK-LABEL: func.func @stays(
// CHECK-NOT: vector.shuffle
// CHECK: return
func.func @stays(%x: memref<8x640xf32>, %y: memref<640xf32>, %row: index, %i: index) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c17 = arith.constant 17 : index
  %i1 = arith.addi %i, %c1 : index
  %i16 = arith.addi %i, %c16 : index
  %i17 = arith.addi %i, %c17 : index
  %next = arith.addi %row, %c1 : index
  %a = vector.load %x[%row, %i] : memref<8x640xf32>, vector<16xf32>
  %b = vector.load %x[%row, %i16] : memref<8x640xf32>, vector<16xf32>
  vector.store %a, %y[%i] : memref<640xf32>, vector<16xf32>
  %c = vector.load %x[%row, %i1] : memref<8x640xf32>, vector<16xf32>
  %d = vector.load %x[%next, %i16] : memref<8x640xf32>, vector<16xf32>
  %e = vector.load %x[%row, %i17] : memref<8x640xf32>, vector<16xf32>
  %s = arith.addf %b, %c : vector<16xf32>
  %t = arith.addf %s, %d : vector<16xf32>
  %u = arith.addf %t, %e : vector<16xf32>
  vector.store %u, %y[%i1] : memref<640xf32>, vector<16xf32>
  return
}

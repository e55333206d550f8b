// Rows that depend on positions only are computed at compile time if a gather takes its
// indices from one.
// RUN: aopt %s -tile-specialize -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s

// Each element twice, by f64 arithmetic: each step has separate code, whole vectors of
// f32, and no arithmetic.
// CHECK-LABEL: func.func @twice(
// CHECK-NOT: f64
// CHECK-NOT: vector.gather
// CHECK: %[[A:.*]] = vector.{{(masked)?}}load %arg0[{{.*}}%c0] : memref<8x60xf32>, vector<16xf32>
// CHECK: vector.shuffle %[[A]], %[[A]] [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]
// CHECK: vector.shuffle %[[A]], %[[A]] [8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15]
// CHECK-NOT: vector.gather
// CHECK-NOT: f64
tile.kernel @twice(%x: memref<8x60xf32>, %y: memref<8x120xf32>) {
  %c8 = arith.constant 8 : index
  %id = tile.program_id(%c8) : index
  %i = tile.iota dim 0 to [120] : tensor<120xi64>
  %n = arith.sitofp %i : tensor<120xi64> to tensor<120xf64>
  %half = arith.constant dense<0.5> : tensor<120xf64>
  %h = arith.mulf %n, %half : tensor<120xf64>
  %f = math.floor %h : tensor<120xf64>
  %p = arith.fptosi %f : tensor<120xf64> to tensor<120xi64>
  %w = arith.truncf %h : tensor<120xf64> to tensor<120xf32>
  %t = tile.gather %x[%id, 0] at %p along 1 dims [-1] : memref<8x60xf32>, tensor<120xi64> -> tensor<120xf32>
  %r = arith.mulf %t, %w : tensor<120xf32>
  tile.store %r, %y[%id, 0] dims [1] : tensor<120xf32>, memref<8x120xf32>
  tile.return
}

// -----

// Adjacent elements are one load, for any start; beyond the mirror they are reversed.
// CHECK-LABEL: func.func @mirror(
// CHECK-NOT: vector.gather
// CHECK: vector.shuffle {{.*}} [1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]
// CHECK-NEXT: vector.load %arg0[{{.*}}%c15] : memref<8x40xf32>, vector<16xf32>
// CHECK-NOT: vector.gather
tile.kernel @mirror(%x: memref<8x40xf32>, %y: memref<8x41xf32>) {
  %c8 = arith.constant 8 : index
  %id = tile.program_id(%c8) : index
  %i = tile.iota dim 0 to [41] : tensor<41xindex>
  %one = arith.constant dense<1> : tensor<41xindex>
  %s = arith.subi %i, %one : tensor<41xindex>
  %p = math.absi %s : tensor<41xindex>
  %t = tile.gather %x[%id, 0] at %p along 1 dims [-1] : memref<8x40xf32>, tensor<41xindex> -> tensor<41xf32>
  tile.store %t, %y[%id, 0] dims [1] : tensor<41xf32>, memref<8x41xf32>
  tile.return
}

// -----

// If a loop iterates over the row, its numbers are read from a table.
// CHECK-LABEL: func.func @table(
// CHECK: %[[TABLE:.*]] = memref.alloca() {alignment = 64 : i64} : memref<512xf32>
// CHECK: vector.store %{{.*}}, %[[TABLE]]
// CHECK: scf.for
// CHECK: vector.load %[[TABLE]]
tile.kernel @table(%x: memref<8x256xf32>, %y: memref<8xf32>) {
  %c8 = arith.constant 8 : index
  %id = tile.program_id(%c8) : index
  %i = tile.iota dim 0 to [512] : tensor<512xi64>
  %n = arith.sitofp %i : tensor<512xi64> to tensor<512xf32>
  %two = arith.constant dense<2> : tensor<512xi64>
  %p = arith.divsi %i, %two : tensor<512xi64>
  %t = tile.gather %x[%id, 0] at %p along 1 dims [-1] : memref<8x256xf32>, tensor<512xi64> -> tensor<512xf32>
  %r = arith.mulf %t, %n : tensor<512xf32>
  %sum = tile.reduce add %r dim 0 : tensor<512xf32> -> tensor<f32>
  %one = tile.broadcast %sum to [1] dims [] : tensor<f32> -> tensor<1xf32>
  tile.store %one, %y[%id] : tensor<1xf32>, memref<8xf32>
  tile.return
}

// -----

// Dynamic values are not constants.
// CHECK-LABEL: func.func @unknown(
// CHECK: vector.gather
tile.kernel @unknown(%x: memref<8x60xf32>, %y: memref<8x32xf32>, %z: memref<1xindex>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %id = tile.program_id(%c8) : index
  %first = memref.load %z[%c0] : memref<1xindex>
  %i = tile.iota dim 0 to [32] : tensor<32xindex>
  %b = tile.broadcast %first to [32] : index -> tensor<32xindex>
  %p = arith.addi %i, %b : tensor<32xindex>
  %t = tile.gather %x[%id, 0] at %p along 1 dims [-1] : memref<8x60xf32>, tensor<32xindex> -> tensor<32xf32>
  tile.store %t, %y[%id, 0] dims [1] : tensor<32xf32>, memref<8x32xf32>
  tile.return
}

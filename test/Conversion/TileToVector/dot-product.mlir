// Few rows by a matrix that is contiguous along the contracted dim.
// RUN: aopt %s --pass-pipeline="builtin.module(tile-specialize,convert-tile-to-vector,canonicalize,cse)" --split-input-file | FileCheck %s
// RUN: aopt %s --pass-pipeline="builtin.module(tile-attach-targets{cpu=x86-64-v3 caches=1M,32M},tile-specialize,convert-tile-to-vector,canonicalize,cse)" --split-input-file | FileCheck %s --check-prefix=AVX2

// One row: 16 columns at once, each with a vector of sums; these are transposed to a
// vector of columns. The remainder of the depth is masked.
// CHECK-LABEL: func.func @one_row(
// CHECK-NOT: alloca
// CHECK: %[[SUMS:.*]]:16 = scf.for %{{.*}} = %c0 to %c48 step %c16
// CHECK-COUNT-17: vector.load {{.*}} : {{.*}}, vector<16xf32>
// CHECK-COUNT-16: vector.fma
// CHECK-NOT: vector.fma
// CHECK: %[[MASK:.*]] = arith.cmpi slt, {{.*}} : vector<16xindex>
// CHECK-COUNT-17: vector.maskedload %{{.*}}, %[[MASK]]
// CHECK-COUNT-16: vector.fma
// CHECK: vector.shuffle
// CHECK-COUNT-15: arith.addf {{.*}} : vector<16xf32>
// CHECK: vector.store {{.*}} vector<16xf32>
// AVX2-LABEL: func.func @one_row(
// AVX2: %{{.*}}:8 = scf.for
// AVX2-COUNT-8: vector.fma {{.*}} : vector<8xf32>
// AVX2-NOT: vector.fma
// AVX2: scf.yield
tile.kernel @one_row(%a: memref<1x50xf32>, %b: memref<32x50xf32>, %y: memref<1x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %x = tile.load %a[0, 0] sizes [1, 50] : memref<1x50xf32> -> tensor<1x50xf32>
  %w = tile.load %b[0, 0] sizes [50, 32] dims [1, 0] : memref<32x50xf32> -> tensor<50x32xf32>
  %c = tile.broadcast %zero to [1, 32] : f32 -> tensor<1x32xf32>
  %d = tile.dot %x, %w, %c : tensor<1x50xf32>, tensor<50x32xf32>, tensor<1x32xf32>
  tile.store %d, %y[0, 0] : tensor<1x32xf32>, memref<1x32xf32>
  tile.return
}

// -----

// Three rows: 4 columns at once, 12 sums. Even and odd elements of the quarters of two
// columns are added, then of two pairs, so that each quarter has the columns in order;
// quarters of four blocks of columns are last.
// CHECK-LABEL: func.func @three_rows(
// CHECK: %{{.*}}:12 = scf.for
// CHECK-COUNT-7: vector.load
// CHECK-COUNT-12: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK: %[[E:.*]] = vector.shuffle %[[S:.*]]#0, %[[S]]#1 [0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30]
// CHECK: %[[O:.*]] = vector.shuffle %[[S]]#0, %[[S]]#1 [1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31]
// CHECK: %[[X:.*]] = arith.addf %[[E]], %[[O]]
// CHECK: vector.shuffle %[[X]], %{{.*}} [0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30]
// CHECK: scf.for
// CHECK: vector.shuffle %{{.*}} [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27]
// CHECK: vector.shuffle %{{.*}} [4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31]
// CHECK-NOT: vector<4xf32>
tile.kernel @three_rows(%a: memref<3x64xf32>, %b: memref<16x64xf32>, %y: memref<3x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %x = tile.load %a[0, 0] sizes [3, 64] : memref<3x64xf32> -> tensor<3x64xf32>
  %w = tile.load %b[0, 0] sizes [64, 16] dims [1, 0] : memref<16x64xf32> -> tensor<64x16xf32>
  %c = tile.broadcast %zero to [3, 16] : f32 -> tensor<3x16xf32>
  %d = tile.dot %x, %w, %c : tensor<3x64xf32>, tensor<64x16xf32>, tensor<3x16xf32>
  tile.store %d, %y[0, 0] : tensor<3x16xf32>, memref<3x16xf32>
  tile.return
}

// -----

// A dynamic depth, which ends with the memory. The right operand is computed when it is
// read; elements beyond the end are ignored.
// CHECK-LABEL: func.func @unknown(
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c16 iter_args
// CHECK: math.exp
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c16 iter_args
// CHECK: %[[MASK:.*]] = arith.cmpi slt
// CHECK: math.exp
// CHECK: arith.select %[[MASK]]
tile.kernel @unknown(%a: memref<1x?xf32>, %b: memref<16x?xf32>, %y: memref<1x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %a, %c1 : memref<1x?xf32>
  %c = tile.broadcast %zero to [1, 16] : f32 -> tensor<1x16xf32>
  %s = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %c) -> (tensor<1x16xf32>) {
    %x = tile.load %a[0, %k] sizes [1, 64] : memref<1x?xf32> -> tensor<1x64xf32>
    %w = tile.load %b[0, %k] sizes [64, 16] dims [1, 0] : memref<16x?xf32> -> tensor<64x16xf32>
    %e = math.exp %w : tensor<64x16xf32>
    %d = tile.dot %x, %e, %acc : tensor<1x64xf32>, tensor<64x16xf32>, tensor<1x16xf32>
    scf.yield %d : tensor<1x16xf32>
  }
  tile.store %s, %y[0, 0] : tensor<1x16xf32>, memref<1x16xf32>
  tile.return
}

// -----

// More rows than a block of registers, or a row-major matrix: the columns stay along the
// lanes. Few sums would be a dependency chain, so each of eight elements of the depth has
// a separate sum, and pairs are added last.
// CHECK-LABEL: func.func @many_rows(
// CHECK: scf.for {{.*}} step %c1 iter_args
// CHECK-LABEL: func.func @by_rows(
// CHECK: scf.for {{.*}} step %c8 iter_args
// CHECK-COUNT-8: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK-COUNT-7: arith.addf {{.*}} : vector<16xf32>
// CHECK-NOT: arith.addf
// CHECK: vector.store
tile.kernel @many_rows(%a: memref<16x64xf32>, %b: memref<16x64xf32>, %y: memref<16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %x = tile.load %a[0, 0] sizes [16, 64] : memref<16x64xf32> -> tensor<16x64xf32>
  %w = tile.load %b[0, 0] sizes [64, 16] dims [1, 0] : memref<16x64xf32> -> tensor<64x16xf32>
  %c = tile.broadcast %zero to [16, 16] : f32 -> tensor<16x16xf32>
  %d = tile.dot %x, %w, %c : tensor<16x64xf32>, tensor<64x16xf32>, tensor<16x16xf32>
  tile.store %d, %y[0, 0] : tensor<16x16xf32>, memref<16x16xf32>
  tile.return
}
tile.kernel @by_rows(%a: memref<1x64xf32>, %b: memref<64x16xf32>, %y: memref<1x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %x = tile.load %a[0, 0] sizes [1, 64] : memref<1x64xf32> -> tensor<1x64xf32>
  %w = tile.load %b[0, 0] sizes [64, 16] : memref<64x16xf32> -> tensor<64x16xf32>
  %c = tile.broadcast %zero to [1, 16] : f32 -> tensor<1x16xf32>
  %d = tile.dot %x, %w, %c : tensor<1x64xf32>, tensor<64x16xf32>, tensor<1x16xf32>
  tile.store %d, %y[0, 0] : tensor<1x16xf32>, memref<1x16xf32>
  tile.return
}

// -----

// Columns from memory are prefetched and read in their layout: the loop over the depth is
// not split, so that its loads are not reordered.
// CHECK-LABEL: func.func @from_memory(
// CHECK-COUNT-16: memref.prefetch
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c16
// CHECK-COUNT-16: vector.fma
// CHECK: } {loop_annotation = #[[ORDER:.*]]}
tile.kernel @from_memory(%a: memref<4x64xf32>, %b: memref<?x64xf32>, %y: memref<4x?xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n = memref.dim %b, %c0 : memref<?x64xf32>
  %x = tile.load %a[0, 0] sizes [4, 64] : memref<4x64xf32> -> tensor<4x64xf32>
  %c = tile.broadcast %zero to [4, 16] : f32 -> tensor<4x16xf32>
  scf.for %at = %c0 to %n step %c16 {
    %w = tile.load %b[%at, 0] sizes [64, 16] dims [1, 0] {tile.ahead = array<i64: 16, 0>} : memref<?x64xf32> -> tensor<64x16xf32>
    %d = tile.dot %x, %w, %c : tensor<4x64xf32>, tensor<64x16xf32>, tensor<4x16xf32>
    tile.store %d, %y[0, %at] : tensor<4x16xf32>, memref<4x?xf32>
  }
  tile.return
}

// -----

// Columns of few bits are widened in registers, and each of their cache lines is
// prefetched once.
// CHECK-LABEL: func.func @widened(
// CHECK-NOT: memref.alloca
// CHECK-COUNT-8: memref.prefetch
// CHECK-NOT: memref.prefetch
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c16
// CHECK-COUNT-4: arith.extf %{{.*}} : vector<16xf16> to vector<16xf32>
// CHECK-COUNT-16: vector.fma
// CHECK: } {loop_annotation = #[[ORDER]]}
tile.kernel @widened(%a: memref<4x64xf32>, %b: memref<?x64xf16>, %y: memref<4x?xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %n = memref.dim %b, %c0 : memref<?x64xf16>
  %x = tile.load %a[0, 0] sizes [4, 64] : memref<4x64xf32> -> tensor<4x64xf32>
  %c = tile.broadcast %zero to [4, 16] : f32 -> tensor<4x16xf32>
  scf.for %at = %c0 to %n step %c16 {
    %w = tile.load %b[%at, 0] sizes [64, 16] dims [1, 0] {tile.ahead = array<i64: 16, 0>} : memref<?x64xf16> -> tensor<64x16xf16>
    %wide = arith.extf %w : tensor<64x16xf16> to tensor<64x16xf32>
    %d = tile.dot %x, %wide, %c : tensor<4x64xf32>, tensor<64x16xf32>, tensor<4x16xf32>
    tile.store %d, %y[0, %at] : tensor<4x16xf32>, memref<4x?xf32>
  }
  tile.return
}

// -----

// Rows of few bits, whose columns are along the lanes, are also widened when they are
// read.
// CHECK-LABEL: func.func @widened_rows(
// CHECK-NOT: memref.alloca
// CHECK: arith.sitofp %{{.*}} : vector<16xi8> to vector<16xf32>
// CHECK: vector.fma
tile.kernel @widened_rows(%a: memref<4x64xf32>, %b: memref<64x32xi8>, %y: memref<4x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %x = tile.load %a[0, 0] sizes [4, 64] : memref<4x64xf32> -> tensor<4x64xf32>
  %w = tile.load %b[0, 0] sizes [64, 32] : memref<64x32xi8> -> tensor<64x32xi8>
  %wide = arith.sitofp %w : tensor<64x32xi8> to tensor<64x32xf32>
  %c = tile.broadcast %zero to [4, 32] : f32 -> tensor<4x32xf32>
  %d = tile.dot %x, %wide, %c : tensor<4x64xf32>, tensor<64x32xf32>, tensor<4x32xf32>
  tile.store %d, %y[0, 0] : tensor<4x32xf32>, memref<4x32xf32>
  tile.return
}

// -----

// Loop-carried sums with columns that only one of two dots has: four rows by as many
// columns as registers hold, so that the values are read once.
// CHECK-LABEL: func.func @carried_columns(
// CHECK: memref.dim %arg2
// CHECK: %{{.*}}:16 = scf.for %{{.*}} step %c1
// CHECK-COUNT-4: vector.load %arg2{{.*}} vector<16xf32>
// CHECK-COUNT-16: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// AVX2-LABEL: func.func @carried_columns(
// AVX2: memref.dim %arg2
// AVX2: %{{.*}}:8 = scf.for %{{.*}} step %c1
tile.kernel @carried_columns(%a: memref<4x64xf32>, %k: memref<?x64xf32>, %v: memref<?x64xf32>, %y: memref<4x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %n = memref.dim %k, %c0 : memref<?x64xf32>
  %x = tile.load %a[0, 0] sizes [4, 64] : memref<4x64xf32> -> tensor<4x64xf32>
  %none = tile.broadcast %zero to [4, 32] : f32 -> tensor<4x32xf32>
  %c = tile.broadcast %zero to [4, 64] : f32 -> tensor<4x64xf32>
  %s = scf.for %at = %c0 to %n step %c32 iter_args(%acc = %c) -> (tensor<4x64xf32>) {
    %keys = tile.load %k[%at, 0] sizes [64, 32] dims [1, 0] : memref<?x64xf32> -> tensor<64x32xf32>
    %scores = tile.dot %x, %keys, %none : tensor<4x64xf32>, tensor<64x32xf32>, tensor<4x32xf32>
    %values = tile.load %v[%at, 0] sizes [32, 64] : memref<?x64xf32> -> tensor<32x64xf32>
    %d = tile.dot %scores, %values, %acc : tensor<4x32xf32>, tensor<32x64xf32>, tensor<4x64xf32>
    scf.yield %d : tensor<4x64xf32>
  }
  tile.store %s, %y[0, 0] : tensor<4x64xf32>, memref<4x64xf32>
  tile.return
}

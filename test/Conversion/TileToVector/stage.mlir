// Right operands of dots that several blocks of rows read are copied to scratch in
// panels, before the loops over blocks.
// RUN: aopt %s -tile-specialize -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s
// RUN: aopt %s -tile-specialize -tile-attach-targets="cpu=x86-64-v3 triple=x86_64 caches=512K,32M" -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=AVX2

// Memory whose rows are far apart: rows of all panels are copied in memory order, and
// those 8 rows ahead are prefetched; the dot then reads the panel only. A fits the
// second-level cache and is not prefetched.
// CHECK-LABEL: func.func @strided(
// CHECK-SAME: %{{.*}}: memref<64x128xf32>, %[[B:.*]]: memref<128x1024xf32>,
// CHECK: %[[PANELS:.*]] = memref.alloca() {{.*}} : memref<4x128x32xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c128 step %c1 {
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %c128 step %c32 {
// CHECK: arith.addi %{{.*}}, %c8
// CHECK-COUNT-2: memref.prefetch %[[B]][
// CHECK-COUNT-2: vector.load %[[B]][
// CHECK-COUNT-2: vector.store %{{.*}}, %[[PANELS]][
// CHECK-NOT: prefetch %arg0
// CHECK: scf.for {{.*}} step %c32
// CHECK: scf.for {{.*}} step %c8
// CHECK: scf.for {{.*}} step %c1 iter_args
// CHECK-NOT: load %[[B]][
// CHECK-COUNT-2: vector.load %[[PANELS]][
// CHECK-COUNT-16: vector.fma
// CHECK-NOT: load %[[B]][
// CHECK: return
tile.kernel @strided(%a: memref<64x128xf32>, %b: memref<128x1024xf32>, %y: memref<64x1024xf32>) {
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %p = tile.program_id (%c8) : index
  %col = arith.muli %p, %c128 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [64, 128] : f32 -> tensor<64x128xf32>
  %ta = tile.load %a[0, 0] sizes [64, 128] : memref<64x128xf32> -> tensor<64x128xf32>
  %tb = tile.load %b[0, %col] sizes [128, 128] : memref<128x1024xf32> -> tensor<128x128xf32>
  %d = tile.dot %ta, %tb, %zero : tensor<64x128xf32>, tensor<128x128xf32>, tensor<64x128xf32>
  tile.store %d, %y[0, %col] : tensor<64x128xf32>, memref<64x1024xf32>
  tile.return
}

// -----

// Rows of A that are far apart, and too many for the second-level cache: while 8 of them
// are multiplied, the next 8 are prefetched, a line of each in 16 steps.
// CHECK: #[[LINES:.*]] = affine_map<(d0) -> ((d0 mod 16) floordiv 2)>
// CHECK-LABEL: func.func @far(
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c512 step %c8
// CHECK: scf.for %[[K:.*]] = %c0 to %c1024 step %c1 iter_args
// CHECK: %[[LINE:.*]] = affine.apply #[[LINES]](%[[K]])
// CHECK: %[[NEXT:.*]] = arith.addi %[[ROW]], %[[LINE]]
// CHECK: %[[AT:.*]] = arith.addi %[[NEXT]], %c8
// CHECK: memref.prefetch %arg0[%[[AT]], %[[K]]], read, locality<2>
// CHECK-COUNT-16: vector.fma
// The 12 products of AVX2 take no longer than the instructions of a prefetch.
// AVX2-LABEL: func.func @far(
// AVX2: scf.for {{.*}} = %c0 to %c1024 step %c1 iter_args
// AVX2-NOT: locality<2>
// AVX2-COUNT-12: vector.fma
tile.kernel @far(%a: memref<512x1024xf32>, %b: memref<1024x64xf32>, %y: memref<512x64xf32>) {
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [512, 64] : f32 -> tensor<512x64xf32>
  %ta = tile.load %a[0, 0] sizes [512, 1024] : memref<512x1024xf32> -> tensor<512x1024xf32>
  %tb = tile.load %b[0, 0] sizes [1024, 64] : memref<1024x64xf32> -> tensor<1024x64xf32>
  %d = tile.dot %ta, %tb, %zero : tensor<512x1024xf32>, tensor<1024x64xf32>, tensor<512x64xf32>
  tile.store %d, %y[0, 0] : tensor<512x64xf32>, memref<512x64xf32>
  tile.return
}

// -----

// A transposed operand is transposed in registers, panel by panel.
// CHECK-LABEL: func.func @transposed(
// CHECK: %[[PANELS:.*]] = memref.alloca() {{.*}} : memref<2x64x32xf32>
// CHECK: scf.for {{.*}} = %c0 to %c64 step %c32 {
// CHECK-NEXT: scf.for {{.*}} = %c0 to %c64 step %c16 {
// CHECK: vector.shuffle
// CHECK-COUNT-32: vector.store %{{.*}}, %[[PANELS]][
// CHECK-COUNT-16: vector.fma
tile.kernel @transposed(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %y: memref<64x64xf32>) {
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [64, 64] : f32 -> tensor<64x64xf32>
  %ta = tile.load %a[0, 0] sizes [64, 64] : memref<64x64xf32> -> tensor<64x64xf32>
  %tb = tile.load %b[0, 0] sizes [64, 64] dims [1, 0] : memref<64x64xf32> -> tensor<64x64xf32>
  %d = tile.dot %ta, %tb, %zero : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  tile.store %d, %y[0, 0] : tensor<64x64xf32>, memref<64x64xf32>
  tile.return
}

// -----

// A dynamic depth: its loop is outside of the blocks. Between two parts, accumulators are
// stored in scratch; the epilogue follows the last one. The loop runs once even without
// depth, which adds nothing, but stores.
// CHECK-LABEL: func.func @depth(
// CHECK-DAG: %[[PANELS:.*]] = memref.alloca() {{.*}} : memref<2x128x32xf32>
// CHECK-DAG: %[[WAITING:.*]] = memref.alloca() {{.*}} : memref<64x64xf32>
// CHECK: %[[DEPTH:.*]] = memref.dim %{{.*}}, %c1
// CHECK: %[[END:.*]] = arith.maxsi %[[DEPTH]], %c1
// CHECK: scf.for %[[K:.*]] = %c0 to %[[END]] step %c128 {
// CHECK: %[[RUNS:.*]] = arith.cmpi slt, %[[K]], %[[DEPTH]]
// CHECK-NEXT: scf.if %[[RUNS]] {
// CHECK: scf.if
// CHECK: vector.store %{{.*}}, %[[PANELS]][
// CHECK: } else {
// CHECK: vector.maskedload
// CHECK: vector.store %{{.*}}, %[[PANELS]][
// CHECK: scf.for {{.*}} step %c32
// CHECK: scf.for {{.*}} step %c8
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[K]], %c0
// CHECK: scf.if %[[FIRST]] -> (vector<16xf32>
// CHECK: vector.load %[[WAITING]][
// CHECK: scf.if %[[RUNS]] -> (vector<16xf32>
// CHECK-COUNT-16: vector.fma
// CHECK: %[[LAST:.*]] = arith.cmpi sge
// CHECK: scf.if %[[LAST]] {
// CHECK-COUNT-16: arith.maximumf
// CHECK: } else {
// CHECK-COUNT-16: vector.store %{{.*}}, %[[WAITING]][
#k = affine_map<()[s0] -> (64, s0)>
#n = affine_map<()[s0] -> (s0, 512)>
tile.kernel @depth(%a: memref<64x?xf32> {adze.dims = #k}, %b: memref<?x?xf32> {adze.dims = #n}, %y: memref<64x512xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %k = memref.dim %a, %c1 : memref<64x?xf32>
  %p = tile.program_id (%c8) : index
  %col = arith.muli %p, %c64 : index
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [64, 64] : f32 -> tensor<64x64xf32>
  %acc = scf.for %i = %c0 to %k step %c128 iter_args(%s = %zero) -> tensor<64x64xf32> {
    %ta = tile.load %a[0, %i] sizes [64, 128] : memref<64x?xf32> -> tensor<64x128xf32>
    %tb = tile.load %b[%i, %col] sizes [128, 64] : memref<?x?xf32> -> tensor<128x64xf32>
    %d = tile.dot %ta, %tb, %s : tensor<64x128xf32>, tensor<128x64xf32>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %r = arith.maximumf %acc, %zero : tensor<64x64xf32>
  tile.store %r, %y[0, %col] : tensor<64x64xf32>, memref<64x512xf32>
  tile.return
}

// -----

// Not copied: one block of rows, packed memory, rows that are close together.
// CHECK-LABEL: func.func @few_rows(
// CHECK-NOT: memref.alloca
// CHECK: return
tile.kernel @few_rows(%a: memref<8x128xf32>, %b: memref<128x1024xf32>, %y: memref<8x1024xf32>) {
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [8, 64] : f32 -> tensor<8x64xf32>
  %ta = tile.load %a[0, 0] sizes [8, 128] : memref<8x128xf32> -> tensor<8x128xf32>
  %tb = tile.load %b[0, 0] sizes [128, 64] : memref<128x1024xf32> -> tensor<128x64xf32>
  %d = tile.dot %ta, %tb, %zero : tensor<8x128xf32>, tensor<128x64xf32>, tensor<8x64xf32>
  tile.store %d, %y[0, 0] : tensor<8x64xf32>, memref<8x1024xf32>
  tile.return
}

// CHECK-LABEL: func.func @packed(
// CHECK-NOT: memref.alloca
// CHECK: return
tile.kernel @packed(%a: memref<64x128xf32>, %b: memref<128x64xf32, affine_map<(k, n) -> (n floordiv 32, k, n mod 32)>>, %y: memref<64x64xf32>) {
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [64, 64] : f32 -> tensor<64x64xf32>
  %ta = tile.load %a[0, 0] sizes [64, 128] : memref<64x128xf32> -> tensor<64x128xf32>
  %tb = tile.load %b[0, 0] sizes [128, 64] : memref<128x64xf32, affine_map<(k, n) -> (n floordiv 32, k, n mod 32)>> -> tensor<128x64xf32>
  %d = tile.dot %ta, %tb, %zero : tensor<64x128xf32>, tensor<128x64xf32>, tensor<64x64xf32>
  tile.store %d, %y[0, 0] : tensor<64x64xf32>, memref<64x64xf32>
  tile.return
}

// CHECK-LABEL: func.func @near(
// CHECK-NOT: memref.alloca
// CHECK: return
tile.kernel @near(%a: memref<64x128xf32>, %b: memref<128x64xf32>, %y: memref<64x64xf32>) {
  %f0 = arith.constant 0.0 : f32
  %zero = tile.broadcast %f0 to [64, 64] : f32 -> tensor<64x64xf32>
  %ta = tile.load %a[0, 0] sizes [64, 128] : memref<64x128xf32> -> tensor<64x128xf32>
  %tb = tile.load %b[0, 0] sizes [128, 64] : memref<128x64xf32> -> tensor<128x64xf32>
  %d = tile.dot %ta, %tb, %zero : tensor<64x128xf32>, tensor<128x64xf32>, tensor<64x64xf32>
  tile.store %d, %y[0, 0] : tensor<64x64xf32>, memref<64x64xf32>
  tile.return
}

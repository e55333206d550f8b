// Code without checks, in addition to that of the border, is for loops with checks.
// RUN: aopt %s --pass-pipeline="builtin.module(tile-specialize,convert-tile-to-vector,canonicalize,cse)" --split-input-file | FileCheck %s

// Dynamic rows along the lanes, read before the loop with all products and stored after
// it: one loop, for programs at the border and others. Operands that are read by rows use
// the last row instead of those beyond the end, also in the loop.
// CHECK-LABEL: func.func @outside(
// CHECK-NOT: scf.if
// CHECK: arith.minsi
// CHECK: vector.load {{.*}} memref<?x16xf32>
// CHECK: scf.for {{.*}} iter_args
// CHECK-NOT: vector.maskedload
// CHECK: arith.minsi
// CHECK: vector.load {{.*}} memref<?x64xf32>
// CHECK: vector.shuffle
// CHECK: scf.yield
// CHECK-NOT: scf.for {{.*}} iter_args
// CHECK: vector.maskedstore
// CHECK: return
tile.kernel @outside(
    %q: memref<?x16xf32> {adze.dims = affine_map<()[s0] -> (s0, 16)>}, %k: memref<64x16xf32>,
    %b: memref<?x64xf32> {adze.dims = affine_map<()[s0] -> (s0, 64)>}, %y: memref<?xf32> {adze.dims = affine_map<()[s0] -> (s0)>}) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %q, %c0 : memref<?x16xf32>
  %g = arith.ceildivui %n, %c16 : index
  %p = tile.program_id (%g) : index
  %i = arith.muli %p, %c16 : index
  %x = tile.load %q[%i, 0] sizes [16, 16] dims [1, 0] : memref<?x16xf32> -> tensor<16x16xf32>
  %none = tile.broadcast %zero to [16] : f32 -> tensor<16xf32>
  %init = tile.broadcast %zero to [16, 16] : f32 -> tensor<16x16xf32>
  %r = scf.for %j = %c0 to %c64 step %c16 iter_args(%most = %none) -> (tensor<16xf32>) {
    %w = tile.load %k[%j, 0] sizes [16, 16] : memref<64x16xf32> -> tensor<16x16xf32>
    %d = tile.dot %w, %x, %init : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    %l = tile.load %b[%i, %j] sizes [16, 16] dims [1, 0] : memref<?x64xf32> -> tensor<16x16xf32>
    %s = arith.addf %d, %l : tensor<16x16xf32>
    %a = tile.reduce max %s dim 0 : tensor<16x16xf32> -> tensor<16xf32>
    %m = arith.maximumf %most, %a : tensor<16xf32>
    scf.yield %m : tensor<16xf32>
  }
  tile.store %r, %y[%i] : tensor<16xf32>, memref<?xf32>
  tile.return
}

// -----

// Here the loop reads vectors along the rows, some of which are out of bounds.
// CHECK-LABEL: func.func @inside(
// CHECK: scf.if
// CHECK: scf.for {{.*}} iter_args
// CHECK-NOT: vector.maskedload
// CHECK: } else {
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.maskedload
// CHECK: return
tile.kernel @inside(
    %q: memref<?x16xf32> {adze.dims = affine_map<()[s0] -> (s0, 16)>}, %k: memref<64x16xf32>,
    %b: memref<64x?xf32> {adze.dims = affine_map<()[s0] -> (64, s0)>}, %y: memref<?xf32> {adze.dims = affine_map<()[s0] -> (s0)>}) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %q, %c0 : memref<?x16xf32>
  %g = arith.ceildivui %n, %c16 : index
  %p = tile.program_id (%g) : index
  %i = arith.muli %p, %c16 : index
  %x = tile.load %q[%i, 0] sizes [16, 16] dims [1, 0] : memref<?x16xf32> -> tensor<16x16xf32>
  %none = tile.broadcast %zero to [16] : f32 -> tensor<16xf32>
  %init = tile.broadcast %zero to [16, 16] : f32 -> tensor<16x16xf32>
  %r = scf.for %j = %c0 to %c64 step %c16 iter_args(%most = %none) -> (tensor<16xf32>) {
    %w = tile.load %k[%j, 0] sizes [16, 16] : memref<64x16xf32> -> tensor<16x16xf32>
    %d = tile.dot %w, %x, %init : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
    %l = tile.load %b[%j, %i] sizes [16, 16] : memref<64x?xf32> -> tensor<16x16xf32>
    %s = arith.addf %d, %l : tensor<16x16xf32>
    %a = tile.reduce max %s dim 0 : tensor<16x16xf32> -> tensor<16xf32>
    %m = arith.maximumf %most, %a : tensor<16xf32>
    scf.yield %m : tensor<16xf32>
  }
  tile.store %r, %y[%i] : tensor<16xf32>, memref<?xf32>
  tile.return
}

// -----

// A block of four rows: as many as exist and half of them, without a loop for four that
// exist. The product reads them from scratch.
// CHECK-LABEL: func.func @few(
// CHECK-NOT: arith.cmpi eq
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[END:.*]], %c0
// CHECK: scf.if %[[ANY]] {
// CHECK: %[[MORE:.*]] = arith.cmpi sgt, %[[END]], %c2
// CHECK: scf.if %[[MORE]] {
// CHECK: scf.for {{.*}} iter_args
// CHECK: } else {
// CHECK: scf.for {{.*}} iter_args
// CHECK: return
tile.kernel @few(
    %q: memref<?x64xf32> {adze.dims = affine_map<()[s0] -> (s0, 64)>}, %k: memref<64x64xf32>,
    %y: memref<?xf32> {adze.dims = affine_map<()[s0] -> (s0)>}) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %q, %c0 : memref<?x64xf32>
  %g = arith.ceildivui %n, %c4 : index
  %p = tile.program_id (%g) : index
  %i = arith.muli %p, %c4 : index
  %x = tile.load %q[%i, 0] sizes [4, 64] : memref<?x64xf32> -> tensor<4x64xf32>
  %e = math.exp %x : tensor<4x64xf32>
  %none = tile.broadcast %zero to [4] : f32 -> tensor<4xf32>
  %init = tile.broadcast %zero to [4, 16] : f32 -> tensor<4x16xf32>
  %r = scf.for %j = %c0 to %c64 step %c16 iter_args(%most = %none) -> (tensor<4xf32>) {
    %w = tile.load %k[%j, 0] sizes [64, 16] dims [1, 0] : memref<64x64xf32> -> tensor<64x16xf32>
    %d = tile.dot %e, %w, %init : tensor<4x64xf32>, tensor<64x16xf32>, tensor<4x16xf32>
    %a = tile.reduce max %d dim 1 : tensor<4x16xf32> -> tensor<4xf32>
    %m = arith.maximumf %most, %a : tensor<4xf32>
    scf.yield %m : tensor<4xf32>
  }
  tile.store %r, %y[%i] : tensor<4xf32>, memref<?xf32>
  tile.return
}

// A scatter stores each element at its computed position, if that is in bounds. Of threads
// that hold the same elements, one stores them.
// RUN: aopt %s --convert-tile-to-gpu -canonicalize -split-input-file -verify-diagnostics | FileCheck %s
// RUN: sed '/^\/\/ Scratch/,$d; s/^\/\/ -----//' %s | cuda-emulate - --symbols=90 | FileCheck %s --check-prefix=EMULATED

// CHECK-LABEL: llvm.func @reversed(
// CHECK: %[[AT:.*]] = arith.subi %c600
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[AT]], %c512
// CHECK: scf.if
// CHECK: llvm.store %{{.*}} : f32
// EMULATED: reversed: 8 programs of {{.*}} agree
tile.kernel @reversed(%x: memref<8x512xf32>, %y: memref<8x512xf32>) {
  %c8 = arith.constant 8 : index
  %p = tile.program_id (%c8) : index
  %t = tile.load %x[%p, 0] sizes [512] dims [1] : memref<8x512xf32> -> tensor<512xf32>
  %i = tile.iota dim 0 to [512] : tensor<512xindex>
  %last = arith.constant dense<600> : tensor<512xindex>
  %at = arith.subi %last, %i : tensor<512xindex>
  tile.scatter %t, %y[%p, 0] at %at along 1 dims [-1] : tensor<512xf32>, memref<8x512xf32>, tensor<512xindex>
  tile.return
}

// -----

// The memory has a dynamic size; rows are those of the tile.
// CHECK-LABEL: llvm.func @dynamic(
// CHECK: llvm.store %{{.*}} : i64
// EMULATED: dynamic: 2 programs of {{.*}} agree
#y = affine_map<()[s0] -> (16, s0)>
tile.kernel @dynamic(%x: memref<16x60xi64>, %y: memref<16x?xi64> {adze.dims = #y}) {
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %p = tile.program_id (%c2) : index
  %row = arith.muli %p, %c8 : index
  %t = tile.load %x[%row, 0] sizes [8, 60] : memref<16x60xi64> -> tensor<8x60xi64>
  %i = tile.iota dim 1 to [8, 60] : tensor<8x60xi32>
  %two = arith.constant dense<2> : tensor<8x60xi32>
  %at = arith.muli %i, %two : tensor<8x60xi32>
  tile.scatter %t, %y[%row, 1] at %at along 1 dims [0, -1] : tensor<8x60xi64>, memref<16x?xi64>, tensor<8x60xi32>
  tile.return
}

// -----

// Sums of rows, which all threads of a row hold.
// CHECK-LABEL: llvm.func @sums(
// CHECK: arith.andi %thread_id_x
// CHECK: arith.cmpi eq
// CHECK: scf.if
// EMULATED: sums: 1 programs of {{.*}} agree
tile.kernel @sums(%x: memref<4x256xf32>, %i: memref<4xi32>, %y: memref<40xf32>) {
  %c1 = arith.constant 1 : index
  %p = tile.program_id (%c1) : index
  %t = tile.load %x[0, 0] sizes [4, 256] : memref<4x256xf32> -> tensor<4x256xf32>
  %s = tile.reduce add %t dim 1 : tensor<4x256xf32> -> tensor<4xf32>
  %iota = tile.iota dim 0 to [4] : tensor<4xi32>
  %nine = arith.constant dense<9> : tensor<4xi32>
  %at = arith.muli %iota, %nine : tensor<4xi32>
  tile.scatter %s, %y[3] at %at along 0 dims [-1] : tensor<4xf32>, memref<40xf32>, tensor<4xi32>
  tile.return
}

// -----

// Programs combine elements with those of others: each position is that of 50 elements.
// Floats are not negative zeros. Bytes are parts of words.
// CHECK-LABEL: llvm.func @combined(
// CHECK: llvm.atomicrmw add %{{.*}}, %{{.*}} syncscope("device") monotonic : !llvm.ptr{{.*}}, i32
// CHECK: llvm.atomicrmw fmaximum {{.*}} f32
// CHECK: llvm.atomicrmw umin {{.*}} i8
// EMULATED: combined: 8 programs of {{.*}} agree
tile.kernel @combined(%x: memref<8x500xi32>, %f: memref<8x500xf32>, %b: memref<8x500xi8>, %s: memref<80xi32>, %m: memref<80xf32>, %n: memref<80xi8>) {
  %c8 = arith.constant 8 : index
  %p = tile.program_id (%c8) : index
  %i = tile.iota dim 0 to [512] : tensor<512xi32>
  %d = arith.constant dense<80> : tensor<512xi32>
  %c500 = arith.constant dense<500> : tensor<512xi32>
  %in = arith.cmpi ult, %i, %c500 : tensor<512xi32>
  %r = arith.remui %i, %d : tensor<512xi32>
  %at = arith.select %in, %r, %c500 : tensor<512xi1>, tensor<512xi32>
  %t = tile.load %x[%p, 0] sizes [512] dims [1] : memref<8x500xi32> -> tensor<512xi32>
  tile.scatter %t, %s[0] at %at along 0 dims [-1] combine add : tensor<512xi32>, memref<80xi32>, tensor<512xi32>
  %u = tile.load %f[%p, 0] sizes [512] dims [1] : memref<8x500xf32> -> tensor<512xf32>
  tile.scatter %u, %m[0] at %at along 0 dims [-1] combine max : tensor<512xf32>, memref<80xf32>, tensor<512xi32>
  %v = tile.load %b[%p, 0] sizes [512] dims [1] : memref<8x500xi8> -> tensor<512xi8>
  tile.scatter %v, %n[0] at %at along 0 dims [-1] combine umin : tensor<512xi8>, memref<80xi8>, tensor<512xi32>
  tile.return
}

// -----

// Scratch memory.
// expected-remark@below {{kernel has no GPU form as tiles: expected no memory but the arguments and views of them}}
tile.kernel @scratch(%x: memref<64xf32>, %y: memref<64xf32>) {
  %m = tile.scratch [64] : memref<64xf32>
  %t = tile.load %x[0] sizes [64] : memref<64xf32> -> tensor<64xf32>
  %i = tile.iota dim 0 to [64] : tensor<64xi32>
  tile.scatter %t, %m[0] at %i along 0 dims [-1] : tensor<64xf32>, memref<64xf32>, tensor<64xi32>
  %u = tile.load %m[0] sizes [64] : memref<64xf32> -> tensor<64xf32>
  tile.store %u, %y[0] : tensor<64xf32>, memref<64xf32>
  tile.return
}

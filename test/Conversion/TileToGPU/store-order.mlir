// RUN: aopt %s --convert-tile-to-gpu | FileCheck %s
// RUN: cuda-emulate %s | FileCheck %s --check-prefix=EMULATED

// Iterations that store to different elements do not wait for each other.
// CHECK-LABEL: llvm.func @rows(
// CHECK: scf.for
// CHECK-NOT: gpu.barrier
// EMULATED: rows: 1 programs of {{.*}} agree
tile.kernel @rows(%x: memref<16x64xf32>, %y: memref<16x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %p = tile.program_id (%c1) : index
  %init = tile.broadcast %zero to [64] : f32 -> tensor<64xf32>
  %sum = scf.for %i = %c0 to %c16 step %c1 iter_args(%acc = %init) -> (tensor<64xf32>) {
    %r = arith.subi %c15, %i : index
    %t = tile.load %x[%r, 0] sizes [64] dims [1] : memref<16x64xf32> -> tensor<64xf32>
    %next = arith.addf %acc, %t : tensor<64xf32>
    tile.store %next, %y[%r, 0] dims [1] : tensor<64xf32>, memref<16x64xf32>
    scf.yield %next : tensor<64xf32>
  }
  tile.return
}

// Steps that are shorter than the tile wait.
// CHECK-LABEL: llvm.func @overlapping(
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: llvm.store
// EMULATED: overlapping: 1 programs of {{.*}} agree
tile.kernel @overlapping(%x: memref<16x64xf32>, %y: memref<32x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %p = tile.program_id (%c1) : index
  scf.for %i = %c0 to %c16 step %c2 {
    %t = tile.load %x[%i, 0] sizes [4, 64] : memref<16x64xf32> -> tensor<4x64xf32>
    tile.store %t, %y[%i, 0] : tensor<4x64xf32>, memref<32x64xf32>
  }
  tile.return
}

// Iterations that store to one place do not: a thread stores to its own elements.
// CHECK-LABEL: llvm.func @again(
// CHECK: scf.for
// CHECK-NOT: gpu.barrier
// CHECK: llvm.store
// CHECK-NOT: gpu.barrier
// CHECK: llvm.return
// EMULATED: again: 1 programs of {{.*}} agree
tile.kernel @again(%x: memref<16x64xf32>, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %p = tile.program_id (%c1) : index
  scf.for %i = %c0 to %c16 step %c1 {
    %t = tile.load %x[%i, 0] sizes [64] dims [1] : memref<16x64xf32> -> tensor<64xf32>
    tile.store %t, %y[0] : tensor<64xf32>, memref<64xf32>
  }
  tile.return
}

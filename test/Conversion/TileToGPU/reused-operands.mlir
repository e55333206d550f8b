// RUN: aopt %s --convert-tile-to-gpu --canonicalize --cse | FileCheck %s
// RUN: cuda-emulate %s --tolerance=1e-4 --without-each='gpu.barrier' | FileCheck %s --check-prefix=EMULATED

// If shared memory is small, the chunks of the second product are where those of the first
// one were: a barrier is
// before the first copies, as other threads may still multiply.
// CHECK-LABEL: llvm.func @two(
// CHECK-SAME: adze.shared_bytes = 8704 : i64
// CHECK: nvvm.cp.async.shared.global
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group
// CHECK-NEXT: gpu.barrier
// CHECK: scf.yield
// CHECK: gpu.barrier
// CHECK: nvvm.cp.async.shared.global
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group
// CHECK-NEXT: gpu.barrier
// CHECK: scf.yield
// CHECK: llvm.return

// EMULATED: two: 1 programs of {{.*}} agree
// EMULATED: two: without gpu.barrier 0: argument 4 differs
// EMULATED: two: without gpu.barrier 1: argument 4 differs
// EMULATED: two: without gpu.barrier 2: argument 4 differs
// EMULATED: image: 1 programs of {{.*}} agree
// EMULATED: image: without gpu.barrier 2: argument 2 differs
// EMULATED-NOT: NOT NOTICED

// The columns pass through the memory of the operands: as sums, since a thread has more
// adjacent ones than their last dim, and then in the order of the store, before which all
// threads have read them.
// CHECK-LABEL: llvm.func @image(
// CHECK-SAME: adze.shared_bytes = 8704 : i64

module attributes {tile.targets = [#tile.cuda<chip = "sm_86", multiprocessors = 84, shared_bytes = 12288, units = []>]} {
tile.kernel @two(%a: memref<32x80xf32> {tile.align = 64 : i64}, %b: memref<80x32xf32> {tile.align = 64 : i64}, %c: memref<32x80xf32> {tile.align = 64 : i64}, %d: memref<80x32xf32> {tile.align = 64 : i64}, %y: memref<32x32xf32> {tile.align = 64 : i64}) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c80 = arith.constant 80 : index
  %z = arith.constant dense<0.0> : tensor<32x32xf32>
  %first = scf.for %k = %c0 to %c80 step %c16 iter_args(%acc = %z) -> (tensor<32x32xf32>) {
    %l = tile.load %a[0, %k] sizes [32, 16] : memref<32x80xf32> -> tensor<32x16xf32>
    %r = tile.load %b[%k, 0] sizes [16, 32] : memref<80x32xf32> -> tensor<16x32xf32>
    %s = tile.dot %l, %r, %acc : tensor<32x16xf32>, tensor<16x32xf32>, tensor<32x32xf32>
    scf.yield %s : tensor<32x32xf32>
  }
  %second = scf.for %k = %c0 to %c80 step %c16 iter_args(%acc = %first) -> (tensor<32x32xf32>) {
    %l = tile.load %c[0, %k] sizes [32, 16] : memref<32x80xf32> -> tensor<32x16xf32>
    %r = tile.load %d[%k, 0] sizes [16, 32] : memref<80x32xf32> -> tensor<16x32xf32>
    %s = tile.dot %l, %r, %acc : tensor<32x16xf32>, tensor<16x32xf32>, tensor<32x32xf32>
    scf.yield %s : tensor<32x32xf32>
  }
  tile.store %second, %y[0, 0] : tensor<32x32xf32>, memref<32x32xf32>
  tile.return
}tile.kernel @image(%a: memref<32x80xf32> {tile.align = 64 : i64}, %b: memref<80x32xf32> {tile.align = 64 : i64}, %y: memref<16x2x32xf32> {tile.align = 64 : i64}) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c80 = arith.constant 80 : index
  %z = arith.constant dense<0.0> : tensor<32x32xf32>
  %sums = scf.for %k = %c0 to %c80 step %c16 iter_args(%acc = %z) -> (tensor<32x32xf32>) {
    %l = tile.load %a[0, %k] sizes [32, 16] : memref<32x80xf32> -> tensor<32x16xf32>
    %r = tile.load %b[%k, 0] sizes [16, 32] : memref<80x32xf32> -> tensor<16x32xf32>
    %s = tile.dot %l, %r, %acc : tensor<32x16xf32>, tensor<16x32xf32>, tensor<32x32xf32>
    scf.yield %s : tensor<32x32xf32>
  }
  %pixels = tile.reshape %sums to [32, 16, 2] : tensor<32x32xf32> -> tensor<32x16x2xf32>
  tile.store %pixels, %y[0, 0, 0] dims [2, 0, 1] : tensor<32x16x2xf32>, memref<16x2x32xf32>
  tile.return
}
}

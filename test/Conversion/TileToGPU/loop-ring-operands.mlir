// RUN: aopt %s --convert-tile-to-gpu --canonicalize --cse | FileCheck %s
// RUN: cuda-emulate %s --tolerance=4e-3 --without-each='cp.async.wait' | FileCheck %s --check-prefix=EMULATED
// RUN: not cuda-emulate %s --tolerance=4e-3 --without-each='gpu.barrier' | FileCheck %s --check-prefix=BARRIERS

module attributes {tile.targets = [#tile.cuda<chip = "sm_80", multiprocessors = 108, shared_bytes = 166912,
    units = [#tile.unit<"mma", f16 * f16 + f32, [16, 8, 16]>]>]} {

// One product of an iteration, whose left operand is the result of the one before: it stays
// in registers. A ring of one product has two stages.
// CHECK-LABEL: llvm.func @powers(
// CHECK: nvvm.cp.async.commit.group
// CHECK-NOT: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
// CHECK: nvvm.cp.async.commit.group
// CHECK-NOT: gpu.barrier
// CHECK-NOT: layout = #nvvm.mma_layout<row>, num
// CHECK: nvvm.mma.sync
// CHECK: scf.yield
// EMULATED: powers: 1 programs of 64 threads agree
// EMULATED: powers: without nvvm.cp.async.wait.group 0: a copy overwrites bytes of another one
// BARRIERS: powers: without gpu.barrier 0: argument 2 differs
tile.kernel @powers(%x: memref<32x32xf16> {tile.align = 64 : i64}, %w: memref<5x32x32xf16> {tile.align = 64 : i64}, %y: memref<32x32xf16> {tile.align = 64 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %f0 = arith.constant 0.0 : f32
  %scale = arith.constant dense<0.125> : tensor<32x32xf32>
  %first = tile.load %x[0, 0] sizes [32, 32] : memref<32x32xf16> -> tensor<32x32xf16>
  %last = scf.for %i = %c0 to %c5 step %c1 iter_args(%h = %first) -> (tensor<32x32xf16>) {
    %m = tile.load %w[%i, 0, 0] sizes [32, 32] dims [1, 2] : memref<5x32x32xf16> -> tensor<32x32xf16>
    %z = tile.broadcast %f0 to [32, 32] : f32 -> tensor<32x32xf32>
    %p = tile.dot %h, %m, %z : tensor<32x32xf16>, tensor<32x32xf16>, tensor<32x32xf32>
    %s = arith.mulf %p, %scale : tensor<32x32xf32>
    %n = arith.truncf %s : tensor<32x32xf32> to tensor<32x32xf16>
    scf.yield %n : tensor<32x32xf16>
  }
  tile.store %last, %y[0, 0] : tensor<32x32xf16>, memref<32x32xf16>
  tile.return
}

// Two products that add to the same sums have registers for these once.
// CHECK-LABEL: llvm.func @taps(
// CHECK-SAME: nvvm.maxntid = array<i32: 128, 1, 1>, nvvm.minctasm = 3 : i32
// EMULATED: taps: 1 programs of 128 threads agree
tile.kernel @taps(%x: memref<2x128x32xf16> {tile.align = 64 : i64}, %w: memref<2x32x64xf16> {tile.align = 64 : i64}, %y: memref<128x64xf32> {tile.align = 64 : i64}) {
  %z = arith.constant dense<0.0> : tensor<128x64xf32>
  %a = tile.load %x[0, 0, 0] sizes [128, 32] dims [1, 2] : memref<2x128x32xf16> -> tensor<128x32xf16>
  %b = tile.load %w[0, 0, 0] sizes [32, 64] dims [1, 2] : memref<2x32x64xf16> -> tensor<32x64xf16>
  %p = tile.dot %a, %b, %z : tensor<128x32xf16>, tensor<32x64xf16>, tensor<128x64xf32>
  %c = tile.load %x[1, 0, 0] sizes [128, 32] dims [1, 2] : memref<2x128x32xf16> -> tensor<128x32xf16>
  %d = tile.load %w[1, 0, 0] sizes [32, 64] dims [1, 2] : memref<2x32x64xf16> -> tensor<32x64xf16>
  %q = tile.dot %c, %d, %p : tensor<128x32xf16>, tensor<32x64xf16>, tensor<128x64xf32>
  tile.store %q, %y[0, 0] : tensor<128x64xf32>, memref<128x64xf32>
  tile.return
}
}

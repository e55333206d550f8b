// RUN: aopt %s --convert-tile-to-gpu --canonicalize --cse | FileCheck %s
// RUN: cuda-emulate %s --tolerance=4e-3 | FileCheck %s --check-prefix=EMULATED

// A reshape that splits the rows of sums into lines and pixels leaves them in the registers of
// their threads, in which they are converted and stored. Only operands are in shared memory.
// CHECK-LABEL: llvm.func @units(
// CHECK: nvvm.mma.sync
// CHECK-NOT: llvm.store {{.*}} !llvm.ptr<3>
// CHECK: llvm.return

// Warps share the columns of the second product, and a line has the rows of two warps.
// CHECK-LABEL: llvm.func @parts(
// CHECK: nvvm.mma.sync
// CHECK-NOT: llvm.store {{.*}} !llvm.ptr<3>
// CHECK: llvm.return

// Threads have vectors of the rows. Those of 24 rows are no digits of a position: the sums pass
// through shared memory.
// CHECK-LABEL: llvm.func @threads(
// CHECK: math.fma
// CHECK-NOT: llvm.store {{.*}} !llvm.ptr<3>
// CHECK: llvm.return
// CHECK-LABEL: llvm.func @uneven(
// CHECK: math.fma
// CHECK: llvm.store {{.*}} !llvm.ptr<3>
// CHECK: llvm.return

// EMULATED-DAG: units: 1 programs of {{.*}} agree
// EMULATED-DAG: parts: 1 programs of {{.*}} agree
// EMULATED-DAG: threads: 1 programs of {{.*}} agree
// EMULATED-DAG: uneven: 1 programs of {{.*}} agree

module attributes {tile.targets = [#tile.cuda<chip = "sm_80", multiprocessors = 108, shared_bytes = 166912, units = [#tile.unit<"mma", f16 * f16 + f32, [16, 8, 16]>]>]} {
tile.kernel @units(%a: memref<64x32xf16> {tile.align = 64 : i64}, %b: memref<32x64xf16> {tile.align = 64 : i64}, %c: memref<64xf32> {tile.align = 64 : i64}, %y: memref<4x16x64xf16> {tile.align = 64 : i64}) {
  %c0 = arith.constant 0 : index
  %step = arith.constant 16 : index
  %end = arith.constant 32 : index
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %sums = scf.for %k = %c0 to %end step %step iter_args(%acc = %z) -> (tensor<64x64xf32>) {
    %l = tile.load %a[0, %k] sizes [64, 16] : memref<64x32xf16> -> tensor<64x16xf16>
    %r = tile.load %b[%k, 0] sizes [16, 64] : memref<32x64xf16> -> tensor<16x64xf16>
    %s = tile.dot %l, %r, %acc : tensor<64x16xf16>, tensor<16x64xf16>, tensor<64x64xf32>
    scf.yield %s : tensor<64x64xf32>
  }
  %pixels = tile.reshape %sums to [4, 16, 64] : tensor<64x64xf32> -> tensor<4x16x64xf32>
  %bias = tile.load %c[0] sizes [64] : memref<64xf32> -> tensor<64xf32>
  %all = tile.broadcast %bias to [4, 16, 64] dims [2] : tensor<64xf32> -> tensor<4x16x64xf32>
  %sum = arith.addf %pixels, %all : tensor<4x16x64xf32>
  %t = arith.truncf %sum : tensor<4x16x64xf32> to tensor<4x16x64xf16>
  tile.store %t, %y[0, 0, 0] : tensor<4x16x64xf16>, memref<4x16x64xf16>
  tile.return
}
tile.kernel @parts(%a: memref<64x32xf16> {tile.align = 64 : i64}, %b: memref<32x128xf16> {tile.align = 64 : i64}, %c: memref<128xf32> {tile.align = 64 : i64}, %y: memref<2x32x128xf16> {tile.align = 64 : i64}) {
  %c0 = arith.constant 0 : index
  %step = arith.constant 16 : index
  %end = arith.constant 32 : index
  %z = arith.constant dense<0.0> : tensor<64x128xf32>
  %sums = scf.for %k = %c0 to %end step %step iter_args(%acc = %z) -> (tensor<64x128xf32>) {
    %l = tile.load %a[0, %k] sizes [64, 16] : memref<64x32xf16> -> tensor<64x16xf16>
    %r = tile.load %b[%k, 0] sizes [16, 128] : memref<32x128xf16> -> tensor<16x128xf16>
    %s = tile.dot %l, %r, %acc : tensor<64x16xf16>, tensor<16x128xf16>, tensor<64x128xf32>
    scf.yield %s : tensor<64x128xf32>
  }
  %pixels = tile.reshape %sums to [2, 32, 128] : tensor<64x128xf32> -> tensor<2x32x128xf32>
  %bias = tile.load %c[0] sizes [128] : memref<128xf32> -> tensor<128xf32>
  %all = tile.broadcast %bias to [2, 32, 128] dims [2] : tensor<128xf32> -> tensor<2x32x128xf32>
  %sum = arith.addf %pixels, %all : tensor<2x32x128xf32>
  %t = arith.truncf %sum : tensor<2x32x128xf32> to tensor<2x32x128xf16>
  tile.store %t, %y[0, 0, 0] : tensor<2x32x128xf16>, memref<2x32x128xf16>
  tile.return
}
tile.kernel @threads(%a: memref<32x32xf32> {tile.align = 64 : i64}, %b: memref<32x32xf32> {tile.align = 64 : i64}, %c: memref<32xf32> {tile.align = 64 : i64}, %y: memref<4x8x32xf32> {tile.align = 64 : i64}) {
  %c0 = arith.constant 0 : index
  %step = arith.constant 16 : index
  %end = arith.constant 32 : index
  %z = arith.constant dense<0.0> : tensor<32x32xf32>
  %sums = scf.for %k = %c0 to %end step %step iter_args(%acc = %z) -> (tensor<32x32xf32>) {
    %l = tile.load %a[0, %k] sizes [32, 16] : memref<32x32xf32> -> tensor<32x16xf32>
    %r = tile.load %b[%k, 0] sizes [16, 32] : memref<32x32xf32> -> tensor<16x32xf32>
    %s = tile.dot %l, %r, %acc : tensor<32x16xf32>, tensor<16x32xf32>, tensor<32x32xf32>
    scf.yield %s : tensor<32x32xf32>
  }
  %pixels = tile.reshape %sums to [4, 8, 32] : tensor<32x32xf32> -> tensor<4x8x32xf32>
  %bias = tile.load %c[0] sizes [32] : memref<32xf32> -> tensor<32xf32>
  %all = tile.broadcast %bias to [4, 8, 32] dims [2] : tensor<32xf32> -> tensor<4x8x32xf32>
  %sum = arith.addf %pixels, %all : tensor<4x8x32xf32>
  tile.store %sum, %y[0, 0, 0] : tensor<4x8x32xf32>, memref<4x8x32xf32>
  tile.return
}
tile.kernel @uneven(%a: memref<24x32xf32> {tile.align = 64 : i64}, %b: memref<32x32xf32> {tile.align = 64 : i64}, %c: memref<32xf32> {tile.align = 64 : i64}, %y: memref<3x8x32xf32> {tile.align = 64 : i64}) {
  %c0 = arith.constant 0 : index
  %step = arith.constant 16 : index
  %end = arith.constant 32 : index
  %z = arith.constant dense<0.0> : tensor<24x32xf32>
  %sums = scf.for %k = %c0 to %end step %step iter_args(%acc = %z) -> (tensor<24x32xf32>) {
    %l = tile.load %a[0, %k] sizes [24, 16] : memref<24x32xf32> -> tensor<24x16xf32>
    %r = tile.load %b[%k, 0] sizes [16, 32] : memref<32x32xf32> -> tensor<16x32xf32>
    %s = tile.dot %l, %r, %acc : tensor<24x16xf32>, tensor<16x32xf32>, tensor<24x32xf32>
    scf.yield %s : tensor<24x32xf32>
  }
  %pixels = tile.reshape %sums to [3, 8, 32] : tensor<24x32xf32> -> tensor<3x8x32xf32>
  %bias = tile.load %c[0] sizes [32] : memref<32xf32> -> tensor<32xf32>
  %all = tile.broadcast %bias to [3, 8, 32] dims [2] : tensor<32xf32> -> tensor<3x8x32xf32>
  %sum = arith.addf %pixels, %all : tensor<3x8x32xf32>
  tile.store %sum, %y[0, 0, 0] : tensor<3x8x32xf32>, memref<3x8x32xf32>
  tile.return
}
}

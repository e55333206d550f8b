// RUN: aopt %s --tile-specialize=target=cuda --convert-tile-to-gpu --canonicalize --cse | FileCheck %s
// RUN: cuda-emulate %s --tolerance=1e-3 | FileCheck %s --check-prefix=EMULATED

// Sums of products of two tiles of 16 bits are computed by the matrix instruction of a warp, of
// which the operands are computed in registers: 16 columns of the first tile, 8 rows of the
// second one. Four lanes share the depth of 16, and warps the first dim.
// CHECK: llvm.func @products(
// CHECK-NOT: nvvm.ldmatrix
// CHECK: nvvm.mma.sync A[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}]  B[%{{.*}}, %{{.*}}]
// CHECK: llvm.return
// EMULATED-DAG: products: {{[1-9].*}} agree

// There is no unit for tiles of f32, nor for 12 columns.
// CHECK: llvm.func @floats(
// CHECK-NOT: nvvm.mma.sync
// CHECK: llvm.return
// CHECK: llvm.func @columns(
// CHECK-NOT: nvvm.mma.sync
// CHECK: llvm.return
// EMULATED-DAG: floats: {{[1-9].*}} agree
// EMULATED-DAG: columns: {{[1-9].*}} agree

// Constants of a loop are copied to shared memory by the threads that read them: those of both
// iterations before the first one, which need not be in bounds.
// CHECK: llvm.func @loop(
// CHECK-COUNT-2: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 1
// CHECK-NOT: llvm.load %{{.*}} : !llvm.ptr<1> -> vector<4xf16>
// CHECK: llvm.load %{{.*}} : !llvm.ptr<3>
// CHECK: nvvm.mma.sync
// CHECK: scf.yield
// CHECK: llvm.return
// EMULATED-DAG: loop: {{[1-9].*}} agree

// Of more iterations, the copies of one are in flight: an iteration starts those that reuse the
// memory of the iteration before.
// CHECK: llvm.func @long(
// CHECK-COUNT-1: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: scf.if
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.mma.sync
// CHECK: llvm.return
// EMULATED-DAG: long: {{[1-9].*}} agree

#threads = #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", 64>, #tile.dim<"split", 1>]>
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
    units = [#tile.unit<"mma", f16 * f16 + f32, [16, 8, 16]>]>]} {
  tile.kernel @products(%x: memref<8x2x16xf16>, %w: memref<16x2x16xf16>, %y: memref<8x16xf32>) attributes {tile.schedule = #threads} {
    %a = tile.load %x[0, 0, 0] sizes [8, 2, 16] : memref<8x2x16xf16> -> tensor<8x2x16xf16>
    %b = tile.load %w[0, 0, 0] sizes [16, 2, 16] : memref<16x2x16xf16> -> tensor<16x2x16xf16>
    %ea = arith.extf %a : tensor<8x2x16xf16> to tensor<8x2x16xf32>
    %eb = arith.extf %b : tensor<16x2x16xf16> to tensor<16x2x16xf32>
    %ra = tile.broadcast %ea to [8, 16, 2, 16] dims [0, 2, 3] : tensor<8x2x16xf32> -> tensor<8x16x2x16xf32>
    %rb = tile.broadcast %eb to [8, 16, 2, 16] dims [1, 2, 3] : tensor<16x2x16xf32> -> tensor<8x16x2x16xf32>
    %m = arith.mulf %ra, %rb fastmath<contract> : tensor<8x16x2x16xf32>
    %s = tile.reduce add %m dim 3 : tensor<8x16x2x16xf32> -> tensor<8x16x2xf32>
    %u = tile.reduce add %s dim 2 : tensor<8x16x2xf32> -> tensor<8x16xf32>
    tile.store %u, %y[0, 0] : tensor<8x16xf32>, memref<8x16xf32>
    tile.return
  }
  tile.kernel @floats(%x: memref<8x32xf32>, %w: memref<16x32xf32>, %y: memref<8x16xf32>) attributes {tile.schedule = #threads} {
    %a = tile.load %x[0, 0] sizes [8, 32] : memref<8x32xf32> -> tensor<8x32xf32>
    %b = tile.load %w[0, 0] sizes [16, 32] : memref<16x32xf32> -> tensor<16x32xf32>
    %ra = tile.broadcast %a to [8, 16, 32] dims [0, 2] : tensor<8x32xf32> -> tensor<8x16x32xf32>
    %rb = tile.broadcast %b to [8, 16, 32] dims [1, 2] : tensor<16x32xf32> -> tensor<8x16x32xf32>
    %m = arith.mulf %ra, %rb fastmath<contract> : tensor<8x16x32xf32>
    %s = tile.reduce add %m dim 2 : tensor<8x16x32xf32> -> tensor<8x16xf32>
    tile.store %s, %y[0, 0] : tensor<8x16xf32>, memref<8x16xf32>
    tile.return
  }
  tile.kernel @columns(%x: memref<8x32xf16>, %w: memref<12x32xf16>, %y: memref<8x12xf32>) attributes {tile.schedule = #threads} {
    %a = tile.load %x[0, 0] sizes [8, 32] : memref<8x32xf16> -> tensor<8x32xf16>
    %b = tile.load %w[0, 0] sizes [12, 32] : memref<12x32xf16> -> tensor<12x32xf16>
    %ea = arith.extf %a : tensor<8x32xf16> to tensor<8x32xf32>
    %eb = arith.extf %b : tensor<12x32xf16> to tensor<12x32xf32>
    %ra = tile.broadcast %ea to [8, 12, 32] dims [0, 2] : tensor<8x32xf32> -> tensor<8x12x32xf32>
    %rb = tile.broadcast %eb to [8, 12, 32] dims [1, 2] : tensor<12x32xf32> -> tensor<8x12x32xf32>
    %m = arith.mulf %ra, %rb fastmath<contract> : tensor<8x12x32xf32>
    %s = tile.reduce add %m dim 2 : tensor<8x12x32xf32> -> tensor<8x12xf32>
    tile.store %s, %y[0, 0] : tensor<8x12xf32>, memref<8x12xf32>
    tile.return
  }
  tile.kernel @loop(%x: memref<5x200xf16>, %w: memref<16x200xf16> {tile.constant}, %y: memref<5x16xf32>) attributes {tile.schedule = #threads} {
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %end = arith.constant 200 : index
    %f0 = arith.constant 0.0 : f32
    %zero = tile.broadcast %f0 to [8, 16, 2] : f32 -> tensor<8x16x2xf32>
    %sum = scf.for %k = %c0 to %end step %c128 iter_args(%q = %zero) -> tensor<8x16x2xf32> {
      %a = tile.load %x[0, %k] sizes [8, 128] : memref<5x200xf16> -> tensor<8x128xf16>
      %b = tile.load %w[0, %k] sizes [16, 128] : memref<16x200xf16> -> tensor<16x128xf16>
      %sa = tile.reshape %a to [8, 2, 64] : tensor<8x128xf16> -> tensor<8x2x64xf16>
      %sb = tile.reshape %b to [16, 2, 64] : tensor<16x128xf16> -> tensor<16x2x64xf16>
      %ea = arith.extf %sa : tensor<8x2x64xf16> to tensor<8x2x64xf32>
      %eb = arith.extf %sb : tensor<16x2x64xf16> to tensor<16x2x64xf32>
      %ra = tile.broadcast %ea to [8, 16, 2, 64] dims [0, 2, 3] : tensor<8x2x64xf32> -> tensor<8x16x2x64xf32>
      %rb = tile.broadcast %eb to [8, 16, 2, 64] dims [1, 2, 3] : tensor<16x2x64xf32> -> tensor<8x16x2x64xf32>
      %m = arith.mulf %ra, %rb fastmath<contract> : tensor<8x16x2x64xf32>
      %s = tile.reduce add %m dim 3 : tensor<8x16x2x64xf32> -> tensor<8x16x2xf32>
      %n = arith.addf %q, %s : tensor<8x16x2xf32>
      scf.yield %n : tensor<8x16x2xf32>
    }
    %t = tile.reduce add %sum dim 2 : tensor<8x16x2xf32> -> tensor<8x16xf32>
    tile.store %t, %y[0, 0] : tensor<8x16xf32>, memref<5x16xf32>
    tile.return
  }
  tile.kernel @long(%x: memref<5x1536xf16>, %w: memref<16x1536xf16> {tile.constant}, %y: memref<5x16xf32>) attributes {tile.schedule = #threads} {
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %end = arith.constant 1536 : index
    %f0 = arith.constant 0.0 : f32
    %zero = tile.broadcast %f0 to [8, 16, 2] : f32 -> tensor<8x16x2xf32>
    %sum = scf.for %k = %c0 to %end step %c128 iter_args(%q = %zero) -> tensor<8x16x2xf32> {
      %a = tile.load %x[0, %k] sizes [8, 128] : memref<5x1536xf16> -> tensor<8x128xf16>
      %b = tile.load %w[0, %k] sizes [16, 128] : memref<16x1536xf16> -> tensor<16x128xf16>
      %sa = tile.reshape %a to [8, 2, 64] : tensor<8x128xf16> -> tensor<8x2x64xf16>
      %sb = tile.reshape %b to [16, 2, 64] : tensor<16x128xf16> -> tensor<16x2x64xf16>
      %ea = arith.extf %sa : tensor<8x2x64xf16> to tensor<8x2x64xf32>
      %eb = arith.extf %sb : tensor<16x2x64xf16> to tensor<16x2x64xf32>
      %ra = tile.broadcast %ea to [8, 16, 2, 64] dims [0, 2, 3] : tensor<8x2x64xf32> -> tensor<8x16x2x64xf32>
      %rb = tile.broadcast %eb to [8, 16, 2, 64] dims [1, 2, 3] : tensor<16x2x64xf32> -> tensor<8x16x2x64xf32>
      %m = arith.mulf %ra, %rb fastmath<contract> : tensor<8x16x2x64xf32>
      %s = tile.reduce add %m dim 3 : tensor<8x16x2x64xf32> -> tensor<8x16x2xf32>
      %n = arith.addf %q, %s : tensor<8x16x2xf32>
      scf.yield %n : tensor<8x16x2xf32>
    }
    %t = tile.reduce add %sum dim 2 : tensor<8x16x2xf32> -> tensor<8x16xf32>
    tile.store %t, %y[0, 0] : tensor<8x16xf32>, memref<5x16xf32>
    tile.return
  }
}

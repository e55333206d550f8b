// RUN: aopt %s --split-input-file --tile-specialize=target=cuda --convert-tile-to-gpu --canonicalize --cse | FileCheck %s

// One warpgroup copies, another one multiplies; results are stored by a tensor map.
// Blocks of threads are persistent, so tiles are a loop.
// CHECK: gpu.module @cuda_kernels
// CHECK: llvm.mlir.global external @matmul_shared() {addr_space = 3 : i32, alignment = 1024 : i64}
// CHECK: llvm.func @matmul(
// CHECK-SAME: llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant
// CHECK-SAME: adze.resident_blocks = 1 : i64
// CHECK-SAME: adze.tensor_maps = [array<i64: 0, 6, 128, 64, 64, 1, 1>, array<i64: 1, 6, 128, 64, 64, 1, 1>, array<i64: 2, 6, 128, 64, 64, 1, 1>]
// CHECK-SAME: adze.threads = 256 : i64
// CHECK-COUNT-4: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK: scf.if
// CHECK: scf.for
// CHECK: scf.for
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.mbarrier.arrive.expect_tx {{.*}}, %c16384_i32
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: scf.for
// CHECK: scf.for
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.wgmma.fence.aligned
// CHECK-COUNT-4: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 64, k = 16>, D[<f32>, <one>], A[<f16>, <one>, <row>], B[<f16>, <one>, <row>]
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: nvvm.mbarrier.arrive
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: arith.truncf
// CHECK-COUNT-4: nvvm.stmatrix
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// The sizes and pitches of the maps, for the host.
// CHECK: llvm.func @matmul_cuda_maps(
#small = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 64>, #tile.dim<"n", 64>, #tile.dim<"k", 64>],
  operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
  gpu = #tile.gpu<warps = [4, 4], stages = 2, inflight = 1, persistent = 16>>
tile.kernel @matmul(%a: memref<?x512xf16>, %b: memref<512x96xf16>, %y: memref<?x96xf16>) attributes {tile.schedule = #small} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %f0 = arith.constant 0.0 : f32
  %m = memref.dim %a, %c0 : memref<?x512xf16>
  %gm = arith.ceildivui %m, %c64 : index
  %i, %j = tile.program_id (%gm, %c2) : index, index
  %row = arith.muli %i, %c64 : index
  %col = arith.muli %j, %c64 : index
  %zero = tile.broadcast %f0 to [64, 64] : f32 -> tensor<64x64xf32>
  %acc = scf.for %k = %c0 to %c512 step %c64 iter_args(%q = %zero) -> tensor<64x64xf32> {
    %l = tile.load %a[%row, %k] sizes [64, 64] : memref<?x512xf16> -> tensor<64x64xf16>
    %r = tile.load %b[%k, %col] sizes [64, 64] : memref<512x96xf16> -> tensor<64x64xf16>
    %d = tile.dot %l, %r, %q : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %h = arith.truncf %acc : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %h, %y[%row, %col] : tensor<64x64xf16>, memref<?x96xf16>
  tile.return
}

// -----

// Columns of the right operand are its rows in memory; f32 results are stored to shared
// memory by pairs.
// CHECK: llvm.func @transposed(
// CHECK-SAME: adze.tensor_maps = [array<i64: 0, 9, 128, 64, 64, 1, 1>, array<i64: 1, 9, 128, 64, 64, 1, 1>, array<i64: 2, 7, 128, 32, 64, 1, 1>]
// CHECK: nvvm.wgmma.mma_async {{.*}} A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>]
// CHECK-NOT: nvvm.stmatrix
// CHECK: llvm.store {{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
#small = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 64>, #tile.dim<"n", 64>, #tile.dim<"k", 64>],
  operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
  gpu = #tile.gpu<warps = [4, 4], stages = 2, inflight = 1, persistent = 16>>
tile.kernel @transposed(%a: memref<100x512xbf16>, %b: memref<64x512xbf16>, %y: memref<100x64xf32>) attributes {tile.schedule = #small} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %f0 = arith.constant 0.0 : f32
  %i, %j = tile.program_id (%c2, %c1) : index, index
  %row = arith.muli %i, %c64 : index
  %col = arith.muli %j, %c64 : index
  %zero = tile.broadcast %f0 to [64, 64] : f32 -> tensor<64x64xf32>
  %acc = scf.for %k = %c0 to %c512 step %c64 iter_args(%q = %zero) -> tensor<64x64xf32> {
    %l = tile.load %a[%row, %k] sizes [64, 64] : memref<100x512xbf16> -> tensor<64x64xbf16>
    %r = tile.load %b[%col, %k] sizes [64, 64] dims [1, 0] : memref<64x512xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %l, %r, %q : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %acc, %y[%row, %col] : tensor<64x64xf32>, memref<100x64xf32>
  tile.return
}

// -----

// Sums that are stored from registers are those of all groups: none is in flight after
// the loop, for any schedule.
// CHECK: llvm.func @wide(
// CHECK-SAME: adze.tensor_maps = [array<i64: 0, 6, 128, 64, 64, 1, 1>, array<i64: 1, 6, 128, 64, 64, 1, 1>]
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: llvm.store {{.*}} : {{.*}}f32{{.*}}, !llvm.ptr<1>
#wide = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 64>, #tile.dim<"n", 64>, #tile.dim<"k", 64>],
  operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
  gpu = #tile.gpu<warps = [4, 4], stages = 2, inflight = 1, persistent = 16>>
tile.kernel @wide(%a: memref<?x512xf16>, %b: memref<512x96xf16>, %y: memref<?x97xf32>) attributes {tile.schedule = #wide} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %f0 = arith.constant 0.0 : f32
  %m = memref.dim %a, %c0 : memref<?x512xf16>
  %gm = arith.ceildivui %m, %c64 : index
  %i, %j = tile.program_id (%gm, %c2) : index, index
  %row = arith.muli %i, %c64 : index
  %col = arith.muli %j, %c64 : index
  %zero = tile.broadcast %f0 to [64, 64] : f32 -> tensor<64x64xf32>
  %acc = scf.for %k = %c0 to %c512 step %c64 iter_args(%q = %zero) -> tensor<64x64xf32> {
    %l = tile.load %a[%row, %k] sizes [64, 64] : memref<?x512xf16> -> tensor<64x64xf16>
    %r = tile.load %b[%k, %col] sizes [64, 64] : memref<512x96xf16> -> tensor<64x64xf16>
    %d = tile.dot %l, %r, %q : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tile.store %acc, %y[%row, %col] : tensor<64x64xf32>, memref<?x97xf32>
  tile.return
}

// -----
// A scale in memory is read where it is used: the kernel is removed.
// CHECK-LABEL: llvm.func @scaled(
// CHECK: %[[S:.*]] = llvm.load %arg2 : !llvm.ptr<1> -> f32
// CHECK: %[[HALF:.*]] = arith.mulf %[[S]], %{{.*}} : f32
// CHECK: arith.mulf %{{.*}}, %[[HALF]] : f32
#small = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 64>, #tile.dim<"n", 64>, #tile.dim<"k", 64>],
  operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
  gpu = #tile.gpu<warps = [4, 4], stages = 2, inflight = 1, persistent = 16>>
tile.kernel @scaled(%a: memref<?x512xf16>, %b: memref<512x96xf16>, %scale: memref<f32>, %y: memref<?x96xf32>) attributes {tile.schedule = #small} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %f0 = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %m = memref.dim %a, %c0 : memref<?x512xf16>
  %gm = arith.ceildivui %m, %c64 : index
  %i, %j = tile.program_id (%gm, %c2) : index, index
  %row = arith.muli %i, %c64 : index
  %col = arith.muli %j, %c64 : index
  %zero = tile.broadcast %f0 to [64, 64] : f32 -> tensor<64x64xf32>
  %acc = scf.for %k = %c0 to %c512 step %c64 iter_args(%q = %zero) -> tensor<64x64xf32> {
    %l = tile.load %a[%row, %k] sizes [64, 64] : memref<?x512xf16> -> tensor<64x64xf16>
    %r = tile.load %b[%k, %col] sizes [64, 64] : memref<512x96xf16> -> tensor<64x64xf16>
    %d = tile.dot %l, %r, %q : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %s = memref.load %scale[] : memref<f32>
  %h = arith.mulf %s, %half : f32
  %sb = tile.broadcast %h to [64, 64] : f32 -> tensor<64x64xf32>
  %scaled = arith.mulf %acc, %sb : tensor<64x64xf32>
  tile.store %scaled, %y[%row, %col] : tensor<64x64xf32>, memref<?x96xf32>
  tile.return
}

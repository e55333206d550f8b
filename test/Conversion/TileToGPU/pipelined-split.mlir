// RUN: aopt %s --split-input-file --tile-specialize=target=cuda --convert-tile-to-gpu --canonicalize --cse --verify-diagnostics | FileCheck %s

// Up to four blocks of threads, a cluster, each compute a part of the depth of a tile; a
// run chooses how many. They write their sums to shared memory; each adds those of all, in order,
// for some spans of 64 columns, and stores their results.
// CHECK: llvm.func @matmul(
// CHECK-SAME: adze.most_shared = 4 : i64
// CHECK-SAME: adze.resident_blocks = 1 : i64
// CHECK: %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
// CHECK: %[[SPLIT:.*]] = nvvm.read.ptx.sreg.cluster.nctarank
// CHECK: %[[NUMBER:.*]] = arith.index_cast{{.*}} %[[RANK]]
// CHECK: %[[BLOCKS:.*]] = arith.index_cast{{.*}} %[[SPLIT]]
// CHECK: %[[PART:.*]] = arith.ceildivui %c8, %[[BLOCKS]]
// CHECK: %[[EACH:.*]] = arith.muli %[[PART]], %c64
// CHECK: %[[FIRST:.*]] = arith.muli %[[NUMBER]], %[[EACH]]
// CHECK: %[[LAST:.*]] = arith.addi %[[FIRST]], %[[EACH]]
// CHECK: %[[UPPER:.*]] = arith.minui %[[LAST]], %c512
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[UPPER]] step %c64
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: %[[SHARED:.*]] = arith.cmpi ugt, %[[SPLIT]], %c1_i32
// CHECK: scf.if %[[SHARED]] {
// CHECK-COUNT-8: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait
// CHECK: scf.for %{{.*}} = %[[RANK]] to %c1_i32{{.*}} step %[[SPLIT]]
// CHECK: scf.for %[[OTHER:.*]] = %c0_i32 to %[[SPLIT]]
// CHECK: nvvm.mapa %{{.*}}, %[[OTHER]]
// CHECK-COUNT-8: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<7> -> vector<4xf32>
// CHECK: nvvm.stmatrix
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait
// CHECK: } else {
// CHECK: nvvm.stmatrix
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// The host counts tiles.
// CHECK: llvm.func @matmul_cuda_programs(
// CHECK: arith.muli %{{.*}}, %c2
#split = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 64>, #tile.dim<"n", 64>, #tile.dim<"k", 64>, #tile.dim<"split", 4>],
  operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
  gpu = #tile.gpu<warps = [4, 4], stages = 2, inflight = 1, persistent = 16>>
tile.kernel @matmul(%a: memref<?x512xf16>, %b: memref<512x96xf16>, %y: memref<?x96xf16>) attributes {tile.schedule = #split} {
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

// Sums of 64 KB do not fit the memory of the ring.
#large = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 128>, #tile.dim<"n", 128>, #tile.dim<"k", 32>, #tile.dim<"split", 2>],
  operands = [#tile.operand<0, copy = tma, swizzle = 64>, #tile.operand<1, copy = tma, swizzle = 128>],
  gpu = #tile.gpu<warps = [4, 8], stages = 2, inflight = 1, persistent = 16>>
// expected-remark@below {{kernel has no GPU form as tiles: the kernel does not match its schedule: the sums of a split depth do not fit the pipeline's buffers}}
tile.kernel @large(%a: memref<256x512xf16>, %b: memref<512x128xf16>, %y: memref<256x128xf32>) attributes {tile.schedule = #large} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %c32 = arith.constant 32 : index
  %c512 = arith.constant 512 : index
  %f0 = arith.constant 0.0 : f32
  %i = tile.program_id (%c2) : index
  %row = arith.muli %i, %c128 : index
  %zero = tile.broadcast %f0 to [128, 128] : f32 -> tensor<128x128xf32>
  %acc = scf.for %k = %c0 to %c512 step %c32 iter_args(%q = %zero) -> tensor<128x128xf32> {
    %l = tile.load %a[%row, %k] sizes [128, 32] : memref<256x512xf16> -> tensor<128x32xf16>
    %r = tile.load %b[%k, 0] sizes [32, 128] : memref<512x128xf16> -> tensor<32x128xf16>
    %d = tile.dot %l, %r, %q : tensor<128x32xf16>, tensor<32x128xf16>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  tile.store %acc, %y[%row, 0] : tensor<128x128xf32>, memref<256x128xf32>
  tile.return
}

// RUN: cuda-emulate %s --symbols=150,150 --tolerance=4e-3 --without-each='mbarrier.(arrive|try)|fence.proxy|bar.warp' | FileCheck %s --check-prefix=EMULATED
// RUN: aopt %s --tile-specialize=target=cuda --convert-tile-to-gpu --canonicalize --cse | FileCheck %s

// Two warpgroups compute the right operand of a pipelined product, and take stages in turn: a
// tile has five. Each of their threads has a column, and one of them starts the copy of the
// left operand. A stage is full when it and the four warps of a warpgroup have arrived, each
// after its stores are visible to the matrix instructions.
// CHECK: llvm.func @bytes(
// CHECK-SAME: adze.tensor_maps = [array<i64: 0, 6, 128, 64, 64, 1, 1>, array<i64: 3, 6, 128, 64, 64, 1, 1>]
// CHECK-SAME: adze.threads = 384 : i64
// CHECK: nvvm.mbarrier.init %{{.*}}, %c5_i32
// CHECK: nvvm.mbarrier.init %{{.*}}, %c1_i32
// CHECK: scf.for
// What the next iteration needs is loaded before this one waits for its stage.
// CHECK-COUNT-65: llvm.load %{{.*}} : !llvm.ptr<1>
// CHECK: scf.for {{.*}} step %c128
// CHECK-COUNT-65: llvm.load %{{.*}} : !llvm.ptr<1>
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.mbarrier.arrive.expect_tx {{.*}}, %c8192_i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK-NOT: llvm.load
// CHECK-COUNT-8: llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<3>
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>
// CHECK: nvvm.bar.warp.sync
// CHECK: nvvm.mbarrier.arrive
// CHECK: nvvm.wgmma.mma_async

// EMULATED-DAG: bytes: 9 programs of 384 threads agree
// EMULATED-DAG: bytes: without nvvm.fence.proxy 0: no proxy fence is between a store
// EMULATED-DAG: bytes: without nvvm.bar.warp.sync 0: {{.*}}differs
// EMULATED-DAG: bytes: without nvvm.mbarrier.try_wait.parity 0: {{.*}}
// EMULATED-DAG: bytes: without nvvm.mbarrier.try_wait.parity 1: {{.*}}
// EMULATED-NOT: NOT NOTICED

#computed = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 64>, #tile.dim<"n", 128>, #tile.dim<"k", 64>],
  operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = computed, swizzle = 128>],
  gpu = #tile.gpu<warps = [8, 4], stages = 3, inflight = 1, persistent = 16>>
tile.kernel @bytes(%a: memref<?x320xf16>, %w: memref<328x320xi8>, %s: memref<328xf16>, %y: memref<?x328xf16>) attributes {tile.schedule = #computed} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c320 = arith.constant 320 : index
  %f0 = arith.constant 0.0 : f32
  %m = memref.dim %a, %c0 : memref<?x320xf16>
  %gm = arith.ceildivui %m, %c64 : index
  %i, %j = tile.program_id (%gm, %c3) : index, index
  %row = arith.muli %i, %c64 : index
  %col = arith.muli %j, %c128 : index
  %zero = tile.broadcast %f0 to [64, 128] : f32 -> tensor<64x128xf32>
  %acc = scf.for %k = %c0 to %c320 step %c64 iter_args(%q = %zero) -> tensor<64x128xf32> {
    %l = tile.load %a[%row, %k] sizes [64, 64] : memref<?x320xf16> -> tensor<64x64xf16>
    %b = tile.load %w[%col, %k] sizes [128, 64] : memref<328x320xi8> -> tensor<128x64xi8>
    %f = arith.sitofp %b : tensor<128x64xi8> to tensor<128x64xf16>
    %t = tile.load %s[%col] sizes [128] : memref<328xf16> -> tensor<128xf16>
    %u = tile.broadcast %t to [128, 64] dims [0] : tensor<128xf16> -> tensor<128x64xf16>
    %x = arith.mulf %f, %u : tensor<128x64xf16>
    %r = tile.transpose %x perm [1, 0] : tensor<128x64xf16> -> tensor<64x128xf16>
    %d = tile.dot %l, %r, %q : tensor<64x64xf16>, tensor<64x128xf16>, tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  }
  %h = arith.truncf %acc : tensor<64x128xf32> to tensor<64x128xf16>
  tile.store %h, %y[%row, %col] : tensor<64x128xf16>, memref<?x328xf16>
  tile.return
}

// RUN: aopt %s --tile-choose-schedule | FileCheck %s --check-prefix=SCHEDULE
// RUN: aopt %s --tile-choose-schedule=alternative=1 | FileCheck %s --check-prefix=SECOND
// RUN: aopt %s --tile-choose-schedule=alternative=100 | FileCheck %s --check-prefix=LAST
// RUN: aopt %s --tile-choose-schedule --tile-specialize=target=cuda --convert-tile-to-gpu --canonicalize --cse | FileCheck %s
// RUN: sed -e 's/in \[32, 64, 128\]/in [1, 7, 49]/' %s | aopt --tile-choose-schedule=remarks 2>&1 | FileCheck %s --check-prefix=KEYS
// RUN: sed -e 's/24x384/12x384/g' %s | aopt --tile-choose-schedule | FileCheck %s --check-prefix=FEW

// The emulator's results are those of the interpreter, and it notices each missing
// barrier, wait and fence that memory needs.
// RUN: sed -e 's/24x384/1x280/g; s/%c24 = arith.constant 24/%c24 = arith.constant 1/; s/%c384 = arith.constant 384/%c384 = arith.constant 280/; s/in .32, 64, 128./in [32, 64]/' %s \
// RUN:   | aopt --tile-choose-schedule | cuda-emulate - --tolerance=1e-3 --without-each='mbarrier.(arrive|try)|wgmma.(commit|wait)|fence.proxy|bulk|gpu.barrier' | FileCheck %s --check-prefix=EMULATED

// Two warpgroups wait forever for a turn that is not passed on.
// RUN: sed -e 's/multiprocessors = 132/multiprocessors = 1/; s/24x384/2x128/g; s/%c24 = arith.constant 24/%c24 = arith.constant 2/; s/%c384 = arith.constant 384/%c384 = arith.constant 128/; s/in .32, 64, 128./in [32, 64]/' %s \
// RUN:   | aopt --tile-choose-schedule | cuda-emulate - --tolerance=1e-3 --without-each='nvvm.barrier.arrive' | FileCheck %s --check-prefix=TURNS
// TURNS: attention: 2 programs of 384 threads agree
// TURNS-COUNT-3: attention: without nvvm.barrier.arrive {{.}}: no thread can run: {{.*}} at a named barrier
// TURNS-NOT: NOT NOTICED
// EMULATED: attention: 5 programs of 256 threads agree
// EMULATED: attention: without nvvm.mbarrier.try_wait.parity 7:
// EMULATED: attention: without nvvm.cp.async.bulk.wait_group 1:
// EMULATED-NOT: NOT NOTICED

// SCHEDULE: tile.kernel @attention
// SCHEDULE-SAME: tile.params.cuda = {BLOCK_M = 128 : i64, BLOCK_N = 128 : i64}
// SCHEDULE-SAME: dims = [#tile.dim<"m", 128>, #tile.dim<"n", 128>, #tile.dim<"k", 64>]
// SCHEDULE-SAME: operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>, #tile.operand<2, copy = tma, swizzle = 128>]

// Other blocks: fewer keys, then other numbers of rows.
// SECOND: tile.params.cuda = {BLOCK_M = 128 : i64, BLOCK_N = 64 : i64}
// LAST: tile.params.cuda = {BLOCK_M = 64 : i64, BLOCK_N = 32 : i64}

// With 12 heads, each multiprocessor has at most one block of 64 rows: one warpgroup
// multiplies, and the ring has only stages that are filled.
// FEW: tile.params.cuda = {BLOCK_M = 64 : i64, BLOCK_N = 128 : i64}
// FEW-SAME: gpu = <warps = [4, 4], stages = 3,

// KEYS: remark: no matrix unit of sm_90a is used: the block of keys is not a multiple of 32
// KEYS-NOT: tile.schedule

// The query is copied once per tile, keys and values through a ring, each with a barrier.
// CHECK: llvm.func @attention
// CHECK: scf.for
// CHECK: nvvm.mbarrier.arrive.expect_tx {{.*}}, %c16384_i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: scf.for
// CHECK: nvvm.mbarrier.arrive.expect_tx {{.*}}, %c16384_i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: nvvm.mbarrier.arrive.expect_tx {{.*}}, %c16384_i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// Warpgroups issue products in turn: each waits at a barrier of its own, 4 or 5, at which
// the one before arrives. The first turn is that of the first one.
// CHECK: %[[ENDS:.*]] = arith.cmpi eq, %{{.*}}, %c1_i32
// CHECK-NEXT: scf.if %[[ENDS]]
// CHECK-NEXT: nvvm.barrier.arrive id = %c4_i32 number_of_threads = %c256_i32
// Scores of 64 rows and 128 keys: the maximum of a row is computed in the thread, then
// among four threads, for both of its rows; likewise the sum.
// CHECK: scf.for
// CHECK: nvvm.barrier id = %[[OWN:.*]] number_of_threads = %c256_i32
// CHECK-COUNT-4: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 128, k = 16>
// CHECK: nvvm.barrier.arrive id = %[[FOLLOWS:.*]] number_of_threads = %c256_i32
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: arith.maximumf
// CHECK-COUNT-8: nvvm.shfl.sync bfly
// The scores of the next block and the product of the previous weights, which are
// operands in registers, are issued together. The weights of the next block are computed
// when the scores are complete. The values are released after the second wait.
// CHECK: scf.for
// CHECK-NOT: nvvm.wgmma.wait
// CHECK: nvvm.barrier id = %[[OWN]] number_of_threads = %c256_i32
// CHECK-COUNT-4: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 128, k = 16>
// CHECK-NOT: nvvm.wgmma.wait
// CHECK-COUNT-8: llvm.inline_asm has_side_effects asm_dialect = att "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// CHECK: nvvm.barrier.arrive id = %[[FOLLOWS]] number_of_threads = %c256_i32
// CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: nvvm.mbarrier.arrive
// CHECK-COUNT-8: nvvm.shfl.sync bfly
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: nvvm.mbarrier.arrive
// CHECK: arith.truncf
// CHECK: scf.yield
// CHECK: nvvm.mbarrier.arrive
// CHECK-COUNT-8: llvm.inline_asm {{.*}}wgmma
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: nvvm.mbarrier.arrive
// CHECK-COUNT-4: nvvm.stmatrix
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta

module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
    units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>]} {
  tile.kernel @attention(%q: memref<24x384x64xf16>, %k: memref<24x384x64xf16>, %v: memref<24x384x64xf16>, %y: memref<24x384x64xf16>)
      attributes {tile.params = {BLOCK_M = 32 : i64, BLOCK_N = 32 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" in [32, 64, 128] : index
    %c0 = arith.constant 0 : index
    %c24 = arith.constant 24 : index
    %c384 = arith.constant 384 : index
    %f0 = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %scale = arith.constant 1.250000e-01 : f32
    %gm = arith.ceildivui %c384, %bm : index
    %i, %h = tile.program_id (%gm, %c24) : index, index
    %row = arith.muli %i, %bm : index
    %query = tile.load %q[%h, %row, 0] sizes [64, %bm] dims [2, 1] : memref<24x384x64xf16> -> tensor<64x?xf16>
    %zero = tile.broadcast %f0 to [64, %bm] : f32 -> tensor<64x?xf32>
    %least = tile.broadcast %low to [%bm] : f32 -> tensor<?xf32>
    %none = tile.broadcast %f0 to [%bm] : f32 -> tensor<?xf32>
    %all:3 = scf.for %n = %c0 to %c384 step %bn iter_args(%sum = %zero, %max = %least, %total = %none) -> (tensor<64x?xf32>, tensor<?xf32>, tensor<?xf32>) {
      %keys = tile.load %k[%h, %n, 0] sizes [%bn, 64] : memref<24x384x64xf16> -> tensor<?x64xf16>
      %start = tile.broadcast %f0 to [%bn, %bm] : f32 -> tensor<?x?xf32>
      %dot = tile.dot %keys, %query, %start : tensor<?x64xf16>, tensor<64x?xf16>, tensor<?x?xf32>
      %by = tile.broadcast %scale to [%bn, %bm] : f32 -> tensor<?x?xf32>
      %s = arith.mulf %dot, %by : tensor<?x?xf32>
      %m = tile.reduce max %s dim 0 : tensor<?x?xf32> -> tensor<?xf32>
      %most = arith.maximumf %max, %m : tensor<?xf32>
      %mosts = tile.broadcast %most to [%bn, %bm] dims [1] : tensor<?xf32> -> tensor<?x?xf32>
      %below = arith.subf %s, %mosts : tensor<?x?xf32>
      %e = math.exp %below : tensor<?x?xf32>
      %less = arith.subf %max, %most : tensor<?xf32>
      %factor = math.exp %less : tensor<?xf32>
      %t = tile.reduce add %e dim 0 : tensor<?x?xf32> -> tensor<?xf32>
      %totals = math.fma %total, %factor, %t : tensor<?xf32>
      %factors = tile.broadcast %factor to [64, %bm] dims [1] : tensor<?xf32> -> tensor<64x?xf32>
      %before = arith.mulf %sum, %factors : tensor<64x?xf32>
      %values = tile.load %v[%h, %n, 0] sizes [64, %bn] dims [2, 1] : memref<24x384x64xf16> -> tensor<64x?xf16>
      %p = arith.truncf %e : tensor<?x?xf32> to tensor<?x?xf16>
      %next = tile.dot %values, %p, %before : tensor<64x?xf16>, tensor<?x?xf16>, tensor<64x?xf32>
      scf.yield %next, %most, %totals : tensor<64x?xf32>, tensor<?xf32>, tensor<?xf32>
    }
    %by = tile.broadcast %all#2 to [64, %bm] dims [1] : tensor<?xf32> -> tensor<64x?xf32>
    %z = arith.divf %all#0, %by : tensor<64x?xf32>
    %o = arith.truncf %z : tensor<64x?xf32> to tensor<64x?xf16>
    tile.store %o, %y[%h, %row, 0] dims [2, 1] : tensor<64x?xf16>, memref<24x384x64xf16>
    tile.return
  }
}

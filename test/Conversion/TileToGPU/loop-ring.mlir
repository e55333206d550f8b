// RUN: aopt %s --tile-choose-schedule --tile-specialize=target=cuda --convert-tile-to-gpu --canonicalize --cse | FileCheck %s
// RUN: aopt %s --tile-choose-schedule | FileCheck %s --check-prefix=SCHEDULE
// RUN: sed -e 's/x64xf/x12xf/g; s/\[64, /[12, /g; s/bn, 64\]/bn, 12]/; s/tensor<64x/tensor<12x/g' %s | aopt --tile-choose-schedule=remarks 2>&1 | FileCheck %s --check-prefix=DEPTH

// The emulator's results are those of the interpreter, and it notices each missing wait
// and barrier.
// RUN: aopt %s --tile-choose-schedule | cuda-emulate - --tolerance=1e-3 --without-each='cp.async.wait|gpu.barrier' | FileCheck %s --check-prefix=EMULATED
// EMULATED: attention: 4 programs of 128 threads agree
// EMULATED-NOT: NOT NOTICED

// Heads of 40 end with an instruction of half the depth; the rows of heads of 256 are
// divided among eight warps, and heads of 8 have one such instruction.
// RUN: sed -e 's/x64xf/x40xf/g; s/\[64, /[40, /g; s/bn, 64\]/bn, 40]/; s/tensor<64x/tensor<40x/g' %s > %t.40
// RUN: aopt %t.40 --tile-choose-schedule | cuda-emulate - --tolerance=1e-3 | FileCheck %s --check-prefix=EMULATED
// RUN: sed -e 's/x64xf/x8xf/g; s/\[64, /[8, /g; s/bn, 64\]/bn, 8]/; s/tensor<64x/tensor<8x/g' %s | aopt --tile-choose-schedule | cuda-emulate - --tolerance=1e-3 | FileCheck %s --check-prefix=EMULATED
// RUN: aopt %t.40 --tile-choose-schedule --tile-specialize=target=cuda --convert-tile-to-gpu --canonicalize --cse | FileCheck %s --check-prefix=HALF
// HALF: nvvm.ldmatrix {{.*}}num = 2
// HALF: nvvm.mma.sync {{.*}}m = 16, n = 8, k = 8>
// RUN: sed -e 's/x64xf/x256xf/g; s/\[64, /[256, /g; s/bn, 64\]/bn, 256]/; s/tensor<64x/tensor<256x/g; s/2x96/200x96/g; s/%c2 = arith.constant 2/%c2 = arith.constant 200/' %s \
// RUN:   | aopt --tile-choose-schedule --tile-specialize=target=cuda --convert-tile-to-gpu | FileCheck %s --check-prefix=LONG
// LONG: llvm.func @attention
// LONG-SAME: nvvm.maxntid = array<i32: 256, 1, 1>

// If the place of keys is in memory, it is unknown before the iteration.
// RUN: sed -e 's/tile.kernel @attention(/&%%places: memref<96xindex>, /; s/^ *%%keys = .*/%%at = memref.load %%places[%%n] : memref<96xindex>\n&/; s/%%k\[%%h, %%n/%%k[%%h, %%at/' %s \
// RUN:   | aopt --tile-choose-schedule --tile-specialize=target=cuda --convert-tile-to-gpu --canonicalize --cse | FileCheck %s --check-prefix=MEMORY
// MEMORY: llvm.func @attention
// MEMORY-NOT: nvvm.cp.async
// MEMORY: nvvm.mma.sync

// Attention by the matrix instruction of a warp.
// SCHEDULE: tile.kernel @attention
// SCHEDULE-SAME: tile.params.cuda = {BLOCK_M = 64 : i64, BLOCK_N = 64 : i64}
// DEPTH: remark: no matrix unit of sm_80 is used: the head size is not a multiple of 8

// Each product waits for its operand. At its barrier the operand of the one before is not
// needed any more, so the next copy is to its place. The query is in shared memory before
// the loop.
// CHECK-LABEL: llvm.func @attention
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: llvm.store {{.*}} : vector<8xf16>, !llvm.ptr<3>
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 2
// CHECK-NEXT: gpu.barrier
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.ldmatrix
// CHECK: nvvm.mma.sync
// A warp has all keys of 16 rows: four lanes reduce a row.
// CHECK-NOT: llvm.store
// CHECK: arith.maximumf
// CHECK-COUNT-8: gpu.shuffle xor
// CHECK-NOT: llvm.store
// CHECK: nvvm.cp.async.wait.group 2
// CHECK-NEXT: gpu.barrier
// CHECK: nvvm.cp.async.commit.group
// The weights are in the registers of the left operand.
// CHECK: arith.truncf
// CHECK-NOT: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>
// CHECK: nvvm.mma.sync
// CHECK: scf.yield
module attributes {tile.targets = [#tile.cuda<chip = "sm_80", multiprocessors = 108, shared_bytes = 166912,
    units = [#tile.unit<"mma", f16 * f16 + f32, [16, 8, 16]>, #tile.unit<"mma", bf16 * bf16 + f32, [16, 8, 16]>]>]} {
  tile.kernel @attention(%q: memref<2x96x64xf16> {tile.align = 64 : i64}, %k: memref<2x96x64xf16> {tile.align = 64 : i64}, %v: memref<2x96x64xf16> {tile.align = 64 : i64}, %y: memref<2x96x64xf16> {tile.align = 64 : i64})
      attributes {tile.params = {BLOCK_M = 32 : i64, BLOCK_N = 32 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" in [32, 64, 128] : index
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c96 = arith.constant 96 : index
    %f0 = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %scale = arith.constant 1.250000e-01 : f32
    %gm = arith.ceildivui %c96, %bm : index
    %i, %h = tile.program_id (%gm, %c2) : index, index
    %row = arith.muli %i, %bm : index
    %query = tile.load %q[%h, %row, 0] sizes [64, %bm] dims [2, 1] : memref<2x96x64xf16> -> tensor<64x?xf16>
    %zero = tile.broadcast %f0 to [64, %bm] : f32 -> tensor<64x?xf32>
    %least = tile.broadcast %low to [%bm] : f32 -> tensor<?xf32>
    %none = tile.broadcast %f0 to [%bm] : f32 -> tensor<?xf32>
    %all:3 = scf.for %n = %c0 to %c96 step %bn iter_args(%sum = %zero, %max = %least, %total = %none) -> (tensor<64x?xf32>, tensor<?xf32>, tensor<?xf32>) {
      %keys = tile.load %k[%h, %n, 0] sizes [%bn, 64] : memref<2x96x64xf16> -> tensor<?x64xf16>
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
      %values = tile.load %v[%h, %n, 0] sizes [64, %bn] dims [2, 1] : memref<2x96x64xf16> -> tensor<64x?xf16>
      %p = arith.truncf %e : tensor<?x?xf32> to tensor<?x?xf16>
      %next = tile.dot %values, %p, %before : tensor<64x?xf16>, tensor<?x?xf16>, tensor<64x?xf32>
      scf.yield %next, %most, %totals : tensor<64x?xf32>, tensor<?xf32>, tensor<?xf32>
    }
    %by = tile.broadcast %all#2 to [64, %bm] dims [1] : tensor<?xf32> -> tensor<64x?xf32>
    %z = arith.divf %all#0, %by : tensor<64x?xf32>
    %o = arith.truncf %z : tensor<64x?xf32> to tensor<64x?xf16>
    tile.store %o, %y[%h, %row, 0] dims [2, 1] : tensor<64x?xf16>, memref<2x96x64xf16>
    tile.return
  }
}

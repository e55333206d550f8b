// Heads of other sizes than 64 and 128. In shared memory, a key, a value and a query are
// rows of 128 bytes: copies fill them with what follows in memory, and with zeros behind
// the end of a row.
// RUN: aopt %s --tile-choose-schedule --tile-specialize=target=cuda --convert-tile-to-gpu --canonicalize --cse | FileCheck %s
// RUN: sed -e 's/\b80\b/40/g; s/x80x/x40x/g; s/<80x/<40x/g' %s > %t.40
// RUN: sed -e 's/\b80\b/256/g; s/x80x/x256x/g; s/<80x/<256x/g' %s > %t.256
// RUN: sed -e 's/\b80\b/96/g; s/x80x/x96x/g; s/<80x/<96x/g; s/3x100x96xf16/100x288xf16/g' %s > %t.rows
// RUN: sed -e 's/\b80\b/84/g; s/x80x/x84x/g; s/<80x/<84x/g' %s > %t.84

// CHECK-LABEL: llvm.func @attention
// A stage has 128 keys of 256 bytes, of which 160 are those of a head, in two boxes.
// CHECK: nvvm.mbarrier.arrive.expect_tx {{.*}}, %c32768_i32
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK-NOT: nvvm.cp.async
// CHECK: nvvm.mbarrier.arrive.expect_tx
// Scores add 5 products of 16 elements, and sums have 80 columns.
// CHECK-COUNT-5: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 128, k = 16>
// CHECK-NOT: nvvm.wgmma.mma_async
// CHECK: nvvm.wgmma.wait
// CHECK: wgmma.mma_async.sync.aligned.m64n80k16
// The second segment of the result has 16 columns, of which an instruction stores four
// matrices.
// CHECK-COUNT-4: nvvm.stmatrix
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK-COUNT-1: nvvm.stmatrix
// CHECK-NOT: nvvm.stmatrix
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta

// The elements of the last product of 40 beyond a key are zeros.
// RUN: aopt %t.40 --tile-choose-schedule | cuda-emulate - --tolerance=1e-3 | FileCheck %s --check-prefix=EMULATED
// RUN: aopt %s --tile-choose-schedule | cuda-emulate - --tolerance=1e-3 | FileCheck %s --check-prefix=EMULATED
// RUN: aopt %t.256 --tile-choose-schedule | cuda-emulate - --tolerance=1e-3 | FileCheck %s --check-prefix=EMULATED
// EMULATED: attention: 6 programs of 256 threads agree

// Fewer keys at a time, as registers hold more sums.
// RUN: aopt %t.256 --tile-choose-schedule | FileCheck %s --check-prefix=LONG
// LONG: dims = [#tile.dim<"m", 64>, #tile.dim<"n", 64>, #tile.dim<"k", 256>]

// Heads that are parts of longer rows: segments of the result do not exceed a head.
// RUN: sed -e 's/%%h, %%row, 0\]/%%row, %%at]/; s/%%h, %%n, 0\]/%%n, %%at]/; s/dims \[2, 1\]/dims [1, 0]/' %t.rows > %t.96
// RUN: aopt %t.96 --tile-choose-schedule | cuda-emulate - --tolerance=1e-3 | FileCheck %s --check-prefix=EMULATED
// RUN: sed -e 's/\b96\b/80/g; s/x96x/x80x/g; s/<96x/<80x/g; s/x288x/x240x/g' %t.96 | aopt --tile-choose-schedule | cuda-emulate - --tolerance=1e-3 | FileCheck %s --check-prefix=EMULATED

// RUN: aopt %t.84 --tile-choose-schedule=remarks 2>&1 | FileCheck %s --check-prefix=GRANULE
// GRANULE: remark: no matrix unit of sm_90a is used: the head size is not a multiple of 8 up to 256
// RUN: sed -e 's/\b96\b/40/g; s/x96x/x40x/g; s/<96x/<40x/g; s/x288x/x120x/g' %t.96 | aopt --tile-choose-schedule=remarks 2>&1 | FileCheck %s --check-prefix=FOLLOWED
// FOLLOWED: remark: no matrix unit of sm_90a is used: the head size is not a multiple of 16, and its elements are a part of longer rows

module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
    units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>]} {
  tile.kernel @attention(%q: memref<3x100x80xf16>, %k: memref<3x100x80xf16>, %v: memref<3x100x80xf16>, %y: memref<3x100x80xf16>)
      attributes {tile.params = {BLOCK_M = 32 : i64, BLOCK_N = 32 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c100 = arith.constant 100 : index
    %depth = arith.constant 80 : index
    %f0 = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %gm = arith.ceildivui %c100, %bm : index
    %i, %h = tile.program_id (%gm, %c3) : index, index
    %row = arith.muli %i, %bm : index
    %at = arith.muli %h, %depth : index
    %query = tile.load %q[%h, %row, 0] sizes [80, %bm] dims [2, 1] : memref<3x100x80xf16> -> tensor<80x?xf16>
    %zero = tile.broadcast %f0 to [80, %bm] : f32 -> tensor<80x?xf32>
    %least = tile.broadcast %low to [%bm] : f32 -> tensor<?xf32>
    %none = tile.broadcast %f0 to [%bm] : f32 -> tensor<?xf32>
    %all:3 = scf.for %n = %c0 to %c100 step %bn iter_args(%sum = %zero, %max = %least, %total = %none) -> (tensor<80x?xf32>, tensor<?xf32>, tensor<?xf32>) {
      %keys = tile.load %k[%h, %n, 0] sizes [%bn, 80] : memref<3x100x80xf16> -> tensor<?x80xf16>
      %start = tile.broadcast %f0 to [%bn, %bm] : f32 -> tensor<?x?xf32>
      %dot = tile.dot %keys, %query, %start : tensor<?x80xf16>, tensor<80x?xf16>, tensor<?x?xf32>
      %key = tile.iota dim 0 to [%bn] : tensor<?xindex>
      %left = arith.subi %c100, %n : index
      %lefts = tile.broadcast %left to [%bn] : index -> tensor<?xindex>
      %is = arith.cmpi slt, %key, %lefts : tensor<?xindex>
      %inside = tile.broadcast %is to [%bn, %bm] dims [0] : tensor<?xi1> -> tensor<?x?xi1>
      %lows = tile.broadcast %low to [%bn, %bm] : f32 -> tensor<?x?xf32>
      %s = arith.select %inside, %dot, %lows : tensor<?x?xi1>, tensor<?x?xf32>
      %m = tile.reduce max %s dim 0 : tensor<?x?xf32> -> tensor<?xf32>
      %most = arith.maximumf %max, %m : tensor<?xf32>
      %mosts = tile.broadcast %most to [%bn, %bm] dims [1] : tensor<?xf32> -> tensor<?x?xf32>
      %below = arith.subf %s, %mosts : tensor<?x?xf32>
      %e = math.exp %below : tensor<?x?xf32>
      %less = arith.subf %max, %most : tensor<?xf32>
      %factor = math.exp %less : tensor<?xf32>
      %t = tile.reduce add %e dim 0 : tensor<?x?xf32> -> tensor<?xf32>
      %totals = math.fma %total, %factor, %t : tensor<?xf32>
      %factors = tile.broadcast %factor to [80, %bm] dims [1] : tensor<?xf32> -> tensor<80x?xf32>
      %before = arith.mulf %sum, %factors : tensor<80x?xf32>
      %values = tile.load %v[%h, %n, 0] sizes [80, %bn] dims [2, 1] : memref<3x100x80xf16> -> tensor<80x?xf16>
      %p = arith.truncf %e : tensor<?x?xf32> to tensor<?x?xf16>
      %next = tile.dot %values, %p, %before : tensor<80x?xf16>, tensor<?x?xf16>, tensor<80x?xf32>
      scf.yield %next, %most, %totals : tensor<80x?xf32>, tensor<?xf32>, tensor<?xf32>
    }
    %by = tile.broadcast %all#2 to [80, %bm] dims [1] : tensor<?xf32> -> tensor<80x?xf32>
    %z = arith.divf %all#0, %by : tensor<80x?xf32>
    %o = arith.truncf %z : tensor<80x?xf32> to tensor<80x?xf16>
    tile.store %o, %y[%h, %row, 0] dims [2, 1] : tensor<80x?xf16>, memref<3x100x80xf16>
    tile.return
  }
}

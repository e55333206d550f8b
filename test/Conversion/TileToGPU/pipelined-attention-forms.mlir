// RUN: aopt %s --split-input-file --tile-choose-schedule --tile-specialize=target=cuda --convert-tile-to-gpu --canonicalize --cse | FileCheck %s
// RUN: aopt %s --split-input-file --tile-choose-schedule=remarks 2>&1 | FileCheck %s --check-prefix=REFUSED

// RUN: sed -e "/^[/][/] The previous product/Q" %s | sed -e 's/24x384/3x200/g; s/24x?/3x?/g; s/%c24 = arith.constant 24/%c24 = arith.constant 3/; s/%c384 = arith.constant 384/%c384 = arith.constant 200/' \
// RUN:   | aopt --split-input-file --tile-choose-schedule | cuda-emulate - --tolerance=1e-3 --symbols=150,150 | FileCheck %s --check-prefix=EMULATED
// EMULATED: dynamic: 12 programs of 256 threads agree
// EMULATED: triangle: 12 programs of 256 threads agree

// Three pairs are not divided evenly among two blocks of threads; a head has two pairs
// and a row block in the middle; a head has one row block.
// RUN: sed -e "/^[/][/] The previous product/Q" %s | sed -e 's/24x/3x/g; s/%c24 = arith.constant 24/%c24 = arith.constant 3/' > %t
// RUN: sed -e 's/x384/x100/g; s/%c384 = arith.constant 384/%c384 = arith.constant 100/' %t | aopt --split-input-file --tile-choose-schedule | cuda-emulate - --tolerance=1e-3 --symbols=50,50 | FileCheck %s --check-prefix=THREE
// THREE: triangle: 6 programs of 256 threads agree
// RUN: sed -e 's/x384/x300/g; s/%c384 = arith.constant 384/%c384 = arith.constant 300/' %t | aopt --split-input-file --tile-choose-schedule | cuda-emulate - --tolerance=1e-3 --symbols=50,50 | FileCheck %s --check-prefix=MIDDLE
// MIDDLE: triangle: 15 programs of 256 threads agree
// RUN: sed -e 's/x384/x50/g; s/%c384 = arith.constant 384/%c384 = arith.constant 50/' %t | aopt --split-input-file --tile-choose-schedule | cuda-emulate - --tolerance=1e-3 --symbols=50,50 | FileCheck %s --check-prefix=ONE
// ONE: triangle: 3 programs of 256 threads agree

// Attention whose number of keys is dynamic, causal attention, and weights that
// depend on the sums.

// There may be no key: then no barrier of the ring is waited for.
// CHECK-LABEL: llvm.func @dynamic
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[SOME:.*]] = arith.cmpi sgt, %{{.*}}, %c0 : index
// CHECK: scf.if %[[SOME]] -> (!llvm.struct
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.wgmma.mma_async
// CHECK: } else {
// CHECK-NOT: try_wait
// CHECK: scf.yield
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
    units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>]} {
  tile.kernel @dynamic(%q: memref<24x384x64xf16>, %k: memref<24x?x64xf16>, %v: memref<24x?x64xf16>, %y: memref<24x384x64xf16>)
      attributes {tile.params = {BLOCK_M = 32 : i64, BLOCK_N = 32 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" in [32, 64, 128] : index
    %c0 = arith.constant 0 : index
    %c24 = arith.constant 24 : index
    %c384 = arith.constant 384 : index
    %f0 = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %gm = arith.ceildivui %c384, %bm : index
    %i, %h = tile.program_id (%gm, %c24) : index, index
    %row = arith.muli %i, %bm : index
    %c1 = arith.constant 1 : index
    %end = memref.dim %k, %c1 : memref<24x?x64xf16>
    %query = tile.load %q[%h, %row, 0] sizes [64, %bm] dims [2, 1] : memref<24x384x64xf16> -> tensor<64x?xf16>
    %zero = tile.broadcast %f0 to [64, %bm] : f32 -> tensor<64x?xf32>
    %least = tile.broadcast %low to [%bm] : f32 -> tensor<?xf32>
    %none = tile.broadcast %f0 to [%bm] : f32 -> tensor<?xf32>
    %all:3 = scf.for %n = %c0 to %end step %bn iter_args(%sum = %zero, %max = %least, %total = %none) -> (tensor<64x?xf32>, tensor<?xf32>, tensor<?xf32>) {
      %keys = tile.load %k[%h, %n, 0] sizes [%bn, 64] : memref<24x?x64xf16> -> tensor<?x64xf16>
      %start = tile.broadcast %f0 to [%bn, %bm] : f32 -> tensor<?x?xf32>
      %dot = tile.dot %keys, %query, %start : tensor<?x64xf16>, tensor<64x?xf16>, tensor<?x?xf32>
      %m = tile.reduce max %dot dim 0 : tensor<?x?xf32> -> tensor<?xf32>
      %most = arith.maximumf %max, %m : tensor<?xf32>
      %mosts = tile.broadcast %most to [%bn, %bm] dims [1] : tensor<?xf32> -> tensor<?x?xf32>
      %below = arith.subf %dot, %mosts : tensor<?x?xf32>
      %e = math.exp %below : tensor<?x?xf32>
      %less = arith.subf %max, %most : tensor<?xf32>
      %factor = math.exp %less : tensor<?xf32>
      %t = tile.reduce add %e dim 0 : tensor<?x?xf32> -> tensor<?xf32>
      %totals = math.fma %total, %factor, %t : tensor<?xf32>
      %factors = tile.broadcast %factor to [64, %bm] dims [1] : tensor<?xf32> -> tensor<64x?xf32>
      %before = arith.mulf %sum, %factors : tensor<64x?xf32>
      %values = tile.load %v[%h, %n, 0] sizes [64, %bn] dims [2, 1] : memref<24x?x64xf16> -> tensor<64x?xf16>
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

// -----

// The first and the last of the three blocks of 128 rows of a head are a pair. A block of
// threads computes pairs, the late row block of one and then its early one. The last
// pairs, if they are fewer than the blocks of threads, and the row blocks in the middle
// are divided among all. The mask of a block of keys is computed by the warps on the
// diagonal only.
// CHECK-LABEL: llvm.func @triangle
// CHECK: nvvm.setmaxregister increase
// CHECK: %[[PAIRS:.*]] = arith.divui %[[TILES:.*]], %c3_i32
// CHECK: %[[LAST:.*]] = arith.remui %[[PAIRS]], %[[BLOCKS:.*]] : i32
// CHECK: %[[OTHERS:.*]] = arith.subi %[[PAIRS]], %[[LAST]]
// CHECK: scf.for %[[TILE:.*]] = %[[BLOCK:.*]] to %[[TILES]] step %[[BLOCKS]] {{.*}}%[[ROUND:arg[0-9]+]] = %c0_i32) ->
// CHECK: %[[DONE:.*]] = arith.muli %[[OTHERS]], %c2_i32
// CHECK: %[[REST:.*]] = arith.subi %[[TILE]], %[[DONE]]
// CHECK: %[[ISREST:.*]] = arith.cmpi uge, %[[TILE]], %[[DONE]]
// CHECK: %[[ISEARLY:.*]] = arith.cmpi uge, %[[REST]], %[[LAST]]
// CHECK: %[[ODD:.*]] = arith.remui %[[ROUND]], %c2_i32
// CHECK: %[[SECOND:.*]] = arith.cmpi eq, %[[ODD]], %c1_i32
// CHECK: %[[EARLIER:.*]] = arith.select %[[ISREST]], %[[ISEARLY]], %[[SECOND]]
// CHECK: %[[LATE:.*]] = arith.subi %c2_i32, %[[EARLY:.*]] : i32
// CHECK: %[[ROW:.*]] = arith.select %[[EARLIER]], %[[EARLY]], %[[LATE]]
// CHECK: arith.select %{{.*}}, %c1_i32, %[[ROW]]
// CHECK: scf.for
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: %[[SEEN:.*]] = arith.cmpi sle
// CHECK: %[[ALL:.*]] = nvvm.vote.sync all %{{.*}}, %[[SEEN]] -> i1
// CHECK: scf.if %[[ALL]] -> (f32
// CHECK-NEXT: scf.yield
// CHECK: else
// CHECK-COUNT-64: arith.select
// CHECK: scf.yield
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
    units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>]} {
  tile.kernel @triangle(%q: memref<24x384x64xf16>, %k: memref<24x384x64xf16>, %v: memref<24x384x64xf16>, %y: memref<24x384x64xf16>)
      attributes {tile.params = {BLOCK_M = 32 : i64, BLOCK_N = 32 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" in [32, 64, 128] : index
    %c0 = arith.constant 0 : index
    %c24 = arith.constant 24 : index
    %c384 = arith.constant 384 : index
    %f0 = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %gm = arith.ceildivui %c384, %bm : index
    %i, %h = tile.program_id (%gm, %c24) : index, index
    %row = arith.muli %i, %bm : index
    %behind = arith.addi %row, %bm : index
    %end = arith.minui %behind, %c384 : index
    %query = tile.load %q[%h, %row, 0] sizes [64, %bm] dims [2, 1] : memref<24x384x64xf16> -> tensor<64x?xf16>
    %zero = tile.broadcast %f0 to [64, %bm] : f32 -> tensor<64x?xf32>
    %least = tile.broadcast %low to [%bm] : f32 -> tensor<?xf32>
    %none = tile.broadcast %f0 to [%bm] : f32 -> tensor<?xf32>
    %all:3 = scf.for %n = %c0 to %end step %bn iter_args(%sum = %zero, %max = %least, %total = %none) -> (tensor<64x?xf32>, tensor<?xf32>, tensor<?xf32>) {
      %keys = tile.load %k[%h, %n, 0] sizes [%bn, 64] : memref<24x384x64xf16> -> tensor<?x64xf16>
      %start = tile.broadcast %f0 to [%bn, %bm] : f32 -> tensor<?x?xf32>
      %dot = tile.dot %keys, %query, %start : tensor<?x64xf16>, tensor<64x?xf16>, tensor<?x?xf32>
      %key = tile.iota dim 0 to [%bn] : tensor<?xi32>
      %firstKey = arith.index_cast %n : index to i32
      %firstKeys = tile.broadcast %firstKey to [%bn] : i32 -> tensor<?xi32>
      %key0 = arith.addi %key, %firstKeys : tensor<?xi32>
      %keys2 = tile.broadcast %key0 to [%bn, %bm] dims [0] : tensor<?xi32> -> tensor<?x?xi32>
      %at = tile.iota dim 0 to [%bm] : tensor<?xi32>
      %firstRow = arith.index_cast %row : index to i32
      %firstRows = tile.broadcast %firstRow to [%bm] : i32 -> tensor<?xi32>
      %at0 = arith.addi %at, %firstRows : tensor<?xi32>
      %rows2 = tile.broadcast %at0 to [%bn, %bm] dims [1] : tensor<?xi32> -> tensor<?x?xi32>
      %seen = arith.cmpi sle, %keys2, %rows2 : tensor<?x?xi32>
      %lows = tile.broadcast %low to [%bn, %bm] : f32 -> tensor<?x?xf32>
      %hidden = arith.select %seen, %dot, %lows : tensor<?x?xi1>, tensor<?x?xf32>
      %m = tile.reduce max %hidden dim 0 : tensor<?x?xf32> -> tensor<?xf32>
      %most = arith.maximumf %max, %m : tensor<?xf32>
      %mosts = tile.broadcast %most to [%bn, %bm] dims [1] : tensor<?xf32> -> tensor<?x?xf32>
      %below = arith.subf %hidden, %mosts : tensor<?x?xf32>
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

// -----

// The previous product is incomplete when the weights are computed.
// CHECK-LABEL: llvm.func @depends
// CHECK-NOT: wgmma
// REFUSED: remark: no matrix unit of sm_90a is used: the weights depend on the sums
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
    units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>]} {
  tile.kernel @depends(%q: memref<24x384x64xf16>, %k: memref<24x384x64xf16>, %v: memref<24x384x64xf16>, %y: memref<24x384x64xf16>)
      attributes {tile.params = {BLOCK_M = 32 : i64, BLOCK_N = 32 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" in [32, 64, 128] : index
    %c0 = arith.constant 0 : index
    %c24 = arith.constant 24 : index
    %c384 = arith.constant 384 : index
    %f0 = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
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
      %m = tile.reduce max %dot dim 0 : tensor<?x?xf32> -> tensor<?xf32>
      %most = arith.maximumf %max, %m : tensor<?xf32>
      %mosts = tile.broadcast %most to [%bn, %bm] dims [1] : tensor<?xf32> -> tensor<?x?xf32>
      %below = arith.subf %dot, %mosts : tensor<?x?xf32>
      %e = math.exp %below : tensor<?x?xf32>
      %less = arith.subf %max, %most : tensor<?xf32>
      %factor = math.exp %less : tensor<?xf32>
      %t = tile.reduce add %e dim 0 : tensor<?x?xf32> -> tensor<?xf32>
      %totals = math.fma %total, %factor, %t : tensor<?xf32>
      %factors = tile.broadcast %factor to [64, %bm] dims [1] : tensor<?xf32> -> tensor<64x?xf32>
      %before = arith.mulf %sum, %factors : tensor<64x?xf32>
      %b = tile.reduce add %sum dim 0 : tensor<64x?xf32> -> tensor<?xf32>
      %bs = tile.broadcast %b to [%bn, %bm] dims [1] : tensor<?xf32> -> tensor<?x?xf32>
      %w = arith.addf %e, %bs : tensor<?x?xf32>
      %values = tile.load %v[%h, %n, 0] sizes [64, %bn] dims [2, 1] : memref<24x384x64xf16> -> tensor<64x?xf16>
      %p = arith.truncf %w : tensor<?x?xf32> to tensor<?x?xf16>
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

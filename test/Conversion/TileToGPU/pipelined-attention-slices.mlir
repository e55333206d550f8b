// RUN: aopt %s --split-input-file --tile-choose-schedule --tile-specialize=target=cuda --convert-tile-to-gpu --canonicalize --cse | FileCheck %s
// RUN: aopt %s --split-input-file --tile-choose-schedule=remarks 2>&1 | FileCheck %s --check-prefix=REFUSED

// RUN: sed -e 's/24x384/3x200/g; s/24x?/3x?/g; s/%c24 = arith.constant 24/%c24 = arith.constant 3/; s/%c384 = arith.constant 384/%c384 = arith.constant 200/; s/<384x/<200x/g; s/.24, /[3, /g' %s \
// RUN:   | aopt --split-input-file --tile-choose-schedule | cuda-emulate - --tolerance=1e-3 --symbols=150,150,100 | FileCheck %s --check-prefix=EMULATED
// EMULATED: slice: 12 programs of 256 threads agree
// EMULATED: later: 21 programs of 128 threads agree

// Keys and values are the first rows of caches with a greater capacity: boxes have the
// rows of the slice and the strides of the cache. Positions of the queries come from
// memory: no key is hidden where the warp's positions are behind all keys of a block, or
// where the block has no key behind the last one.
// CHECK-LABEL: llvm.func @slice
// CHECK: nvvm.setmaxregister increase
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: %[[FIRST:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> i64
// CHECK: %[[SECOND:.*]] = llvm.load %{{.*}} : !llvm.ptr<1> -> i64
// CHECK: %[[LEAST:.*]] = arith.minsi
// CHECK: %[[SEEN:.*]] = arith.cmpi sle, %{{.*}}, %[[LEAST]] : i64
// CHECK: %[[ALL:.*]] = nvvm.vote.sync all %{{.*}}, %[[SEEN]] -> i1
// CHECK: scf.if %[[ALL]] -> (f32
// CHECK: else
// CHECK-COUNT-64: arith.select
// CHECK: %[[WHOLE:.*]] = nvvm.vote.sync all
// CHECK: scf.if %[[WHOLE]] -> (f32

// The first symbol is the number of rows of the cache, whose rows have 128 bytes; the
// third one is that of the keys.
// CHECK-LABEL: llvm.func @slice_cuda_maps(%arg0: !llvm.ptr, %arg1: !llvm.ptr)
// CHECK: %[[SYMBOL:.*]] = llvm.load %arg0
// CHECK: %[[CAPACITY:.*]] = arith.index_cast %[[SYMBOL]]
// CHECK: %[[ENDS:.*]] = llvm.getelementptr %arg0[2]
// CHECK: %[[END:.*]] = llvm.load %[[ENDS]]
// CHECK: %[[ROWS:.*]] = llvm.getelementptr %arg1[1]
// CHECK: llvm.store %[[END]], %[[ROWS]]
// CHECK: %[[HEAD:.*]] = arith.muli %[[CAPACITY]], %c128
// CHECK: %[[STRIDE:.*]] = llvm.getelementptr %arg1[6]
// CHECK: %[[BYTES:.*]] = arith.index_cast %[[HEAD]]
// CHECK: llvm.store %[[BYTES]], %[[STRIDE]]
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
    units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>]} {
  tile.kernel @slice(%q: memref<24x384x64xf16>, %k: memref<24x?x64xf16>, %v: memref<24x?x64xf16>, %at: memref<384xi64>, %used: memref<?xi8>,
                     %y: memref<24x384x64xf16>) attributes {tile.params = {BLOCK_M = 32 : i64, BLOCK_N = 32 : i64}} {
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
    %end = memref.dim %used, %c0 : memref<?xi8>
    %ks = memref.subview %k[0, 0, 0] [24, %end, 64] [1, 1, 1] : memref<24x?x64xf16> to memref<24x?x64xf16, strided<[?, 64, 1]>>
    %vs = memref.subview %v[0, 0, 0] [24, %end, 64] [1, 1, 1] : memref<24x?x64xf16> to memref<24x?x64xf16, strided<[?, 64, 1]>>
    %query = tile.load %q[%h, %row, 0] sizes [64, %bm] dims [2, 1] : memref<24x384x64xf16> -> tensor<64x?xf16>
    %zero = tile.broadcast %f0 to [64, %bm] : f32 -> tensor<64x?xf32>
    %least = tile.broadcast %low to [%bm] : f32 -> tensor<?xf32>
    %none = tile.broadcast %f0 to [%bm] : f32 -> tensor<?xf32>
    %all:3 = scf.for %n = %c0 to %end step %bn iter_args(%sum = %zero, %max = %least, %total = %none) -> (tensor<64x?xf32>, tensor<?xf32>, tensor<?xf32>) {
      %keys = tile.load %ks[%h, %n, 0] sizes [%bn, 64] : memref<24x?x64xf16, strided<[?, 64, 1]>> -> tensor<?x64xf16>
      %start = tile.broadcast %f0 to [%bn, %bm] : f32 -> tensor<?x?xf32>
      %dot = tile.dot %keys, %query, %start : tensor<?x64xf16>, tensor<64x?xf16>, tensor<?x?xf32>
      %key = tile.iota dim 0 to [%bn] : tensor<?xi64>
      %firstKey = arith.index_cast %n : index to i64
      %firstKeys = tile.broadcast %firstKey to [%bn] : i64 -> tensor<?xi64>
      %key0 = arith.addi %key, %firstKeys : tensor<?xi64>
      %keys2 = tile.broadcast %key0 to [%bn, %bm] dims [0] : tensor<?xi64> -> tensor<?x?xi64>
      %places = tile.load %at[%row] sizes [%bm] : memref<384xi64> -> tensor<?xi64>
      %places2 = tile.broadcast %places to [%bn, %bm] dims [1] : tensor<?xi64> -> tensor<?x?xi64>
      %seen = arith.cmpi sle, %keys2, %places2 : tensor<?x?xi64>
      %lows = tile.broadcast %low to [%bn, %bm] : f32 -> tensor<?x?xf32>
      %hidden = arith.select %seen, %dot, %lows : tensor<?x?xi1>, tensor<?x?xf32>
      %number = tile.iota dim 0 to [%bn] : tensor<?xindex>
      %left = arith.subi %end, %n : index
      %lefts = tile.broadcast %left to [%bn] : index -> tensor<?xindex>
      %inside = arith.cmpi slt, %number, %lefts : tensor<?xindex>
      %inside2 = tile.broadcast %inside to [%bn, %bm] dims [0] : tensor<?xi1> -> tensor<?x?xi1>
      %scores = arith.select %inside2, %hidden, %lows : tensor<?x?xi1>, tensor<?x?xf32>
      %m = tile.reduce max %scores dim 0 : tensor<?x?xf32> -> tensor<?xf32>
      %most = arith.maximumf %max, %m : tensor<?xf32>
      %mosts = tile.broadcast %most to [%bn, %bm] dims [1] : tensor<?xf32> -> tensor<?x?xf32>
      %below = arith.subf %scores, %mosts : tensor<?x?xf32>
      %e = math.exp %below : tensor<?x?xf32>
      %less = arith.subf %max, %most : tensor<?xf32>
      %factor = math.exp %less : tensor<?xf32>
      %t = tile.reduce add %e dim 0 : tensor<?x?xf32> -> tensor<?xf32>
      %totals = math.fma %total, %factor, %t : tensor<?xf32>
      %factors = tile.broadcast %factor to [64, %bm] dims [1] : tensor<?xf32> -> tensor<64x?xf32>
      %before = arith.mulf %sum, %factors : tensor<64x?xf32>
      %values = tile.load %vs[%h, %n, 0] sizes [64, %bn] dims [2, 1] : memref<24x?x64xf16, strided<[?, 64, 1]>> -> tensor<64x?xf16>
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

// The address of a tensor map is that of the argument.
// REFUSED: remark: {{.*}}an operand is a view that begins inside of a tensor
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
    units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>]} {
  tile.kernel @later(%q: memref<24x384x64xf16>, %k: memref<24x?x64xf16>, %v: memref<24x?x64xf16>, %at: memref<384xi64>, %used: memref<?xi8>,
                     %y: memref<24x384x64xf16>) attributes {tile.params = {BLOCK_M = 32 : i64, BLOCK_N = 32 : i64}} {
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
    %end = memref.dim %used, %c0 : memref<?xi8>
    %ks = memref.subview %k[0, 1, 0] [24, %end, 64] [1, 1, 1] : memref<24x?x64xf16> to memref<24x?x64xf16, strided<[?, 64, 1], offset: 64>>
    %vs = memref.subview %v[0, 0, 0] [24, %end, 64] [1, 1, 1] : memref<24x?x64xf16> to memref<24x?x64xf16, strided<[?, 64, 1]>>
    %query = tile.load %q[%h, %row, 0] sizes [64, %bm] dims [2, 1] : memref<24x384x64xf16> -> tensor<64x?xf16>
    %zero = tile.broadcast %f0 to [64, %bm] : f32 -> tensor<64x?xf32>
    %least = tile.broadcast %low to [%bm] : f32 -> tensor<?xf32>
    %none = tile.broadcast %f0 to [%bm] : f32 -> tensor<?xf32>
    %all:3 = scf.for %n = %c0 to %end step %bn iter_args(%sum = %zero, %max = %least, %total = %none) -> (tensor<64x?xf32>, tensor<?xf32>, tensor<?xf32>) {
      %keys = tile.load %ks[%h, %n, 0] sizes [%bn, 64] : memref<24x?x64xf16, strided<[?, 64, 1], offset: 64>> -> tensor<?x64xf16>
      %start = tile.broadcast %f0 to [%bn, %bm] : f32 -> tensor<?x?xf32>
      %dot = tile.dot %keys, %query, %start : tensor<?x64xf16>, tensor<64x?xf16>, tensor<?x?xf32>
      %key = tile.iota dim 0 to [%bn] : tensor<?xi64>
      %firstKey = arith.index_cast %n : index to i64
      %firstKeys = tile.broadcast %firstKey to [%bn] : i64 -> tensor<?xi64>
      %key0 = arith.addi %key, %firstKeys : tensor<?xi64>
      %keys2 = tile.broadcast %key0 to [%bn, %bm] dims [0] : tensor<?xi64> -> tensor<?x?xi64>
      %places = tile.load %at[%row] sizes [%bm] : memref<384xi64> -> tensor<?xi64>
      %places2 = tile.broadcast %places to [%bn, %bm] dims [1] : tensor<?xi64> -> tensor<?x?xi64>
      %seen = arith.cmpi sle, %keys2, %places2 : tensor<?x?xi64>
      %lows = tile.broadcast %low to [%bn, %bm] : f32 -> tensor<?x?xf32>
      %hidden = arith.select %seen, %dot, %lows : tensor<?x?xi1>, tensor<?x?xf32>
      %number = tile.iota dim 0 to [%bn] : tensor<?xindex>
      %left = arith.subi %end, %n : index
      %lefts = tile.broadcast %left to [%bn] : index -> tensor<?xindex>
      %inside = arith.cmpi slt, %number, %lefts : tensor<?xindex>
      %inside2 = tile.broadcast %inside to [%bn, %bm] dims [0] : tensor<?xi1> -> tensor<?x?xi1>
      %scores = arith.select %inside2, %hidden, %lows : tensor<?x?xi1>, tensor<?x?xf32>
      %m = tile.reduce max %scores dim 0 : tensor<?x?xf32> -> tensor<?xf32>
      %most = arith.maximumf %max, %m : tensor<?xf32>
      %mosts = tile.broadcast %most to [%bn, %bm] dims [1] : tensor<?xf32> -> tensor<?x?xf32>
      %below = arith.subf %scores, %mosts : tensor<?x?xf32>
      %e = math.exp %below : tensor<?x?xf32>
      %less = arith.subf %max, %most : tensor<?xf32>
      %factor = math.exp %less : tensor<?xf32>
      %t = tile.reduce add %e dim 0 : tensor<?x?xf32> -> tensor<?xf32>
      %totals = math.fma %total, %factor, %t : tensor<?xf32>
      %factors = tile.broadcast %factor to [64, %bm] dims [1] : tensor<?xf32> -> tensor<64x?xf32>
      %before = arith.mulf %sum, %factors : tensor<64x?xf32>
      %values = tile.load %vs[%h, %n, 0] sizes [64, %bn] dims [2, 1] : memref<24x?x64xf16, strided<[?, 64, 1]>> -> tensor<64x?xf16>
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

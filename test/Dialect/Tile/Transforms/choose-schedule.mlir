// RUN: aopt %s --split-input-file --tile-choose-schedule=remarks --verify-diagnostics | FileCheck %s
// RUN: aopt %s --split-input-file --tile-choose-schedule=batch-invariant | FileCheck %s --check-prefix=INVARIANT

#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
  units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>

// One wave of 128 tiles on 132 multiprocessors.
// CHECK-LABEL: tile.kernel @matmul
// CHECK-SAME: tile.params.cuda = {BLOCK_K = 64 : i64, BLOCK_M = 128 : i64, BLOCK_N = 256 : i64}
// CHECK-SAME: tile.schedule = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 128>, #tile.dim<"n", 256>, #tile.dim<"k", 64>], operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>], gpu = <warps = [4, 8], stages = 4, inflight = 1, persistent = 16>>
module attributes {tile.targets = [#gpu]} {
  tile.kernel @matmul(%a: memref<2048x512xf16>, %b: memref<512x2048xf16>, %y: memref<2048x2048xf32>)
      attributes {tile.params = {BLOCK_K = 512 : i64, BLOCK_M = 256 : i64, BLOCK_N = 32 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %bk = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %c512 = arith.constant 512 : index
    %c2048 = arith.constant 2048 : index
    %f0 = arith.constant 0.0 : f32
    %gm = arith.ceildivui %c2048, %bm : index
    %gn = arith.ceildivui %c2048, %bn : index
    %i, %j = tile.program_id (%gm, %gn) : index, index
    %row = arith.muli %i, %bm : index
    %col = arith.muli %j, %bn : index
    %zero = tile.broadcast %f0 to [%bm, %bn] : f32 -> tensor<?x?xf32>
    %acc = scf.for %k = %c0 to %c512 step %bk iter_args(%q = %zero) -> tensor<?x?xf32> {
      %l = tile.load %a[%row, %k] sizes [%bm, %bk] : memref<2048x512xf16> -> tensor<?x?xf16>
      %r = tile.load %b[%k, %col] sizes [%bk, %bn] : memref<512x2048xf16> -> tensor<?x?xf16>
      %d = tile.dot %l, %r, %q : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
      scf.yield %d : tensor<?x?xf32>
    }
    tile.store %acc, %y[%row, %col] : tensor<?x?xf32>, memref<2048x2048xf32>
    tile.return
  }
}

// -----

#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
  units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>
#panels = affine_map<(k, n) -> (n floordiv 32, k, n mod 32)>
#rows = affine_map<()[s0] -> (s0, 512)>

// Dynamic rows, few columns in panels of 64 bytes.
// CHECK-LABEL: tile.kernel @panels
// CHECK-SAME: operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 64>]
module attributes {tile.targets = [#gpu]} {
  tile.kernel @panels(%a: memref<?x512xf16> {adze.dims = #rows}, %b: memref<512x96xf16, #panels>, %y: memref<?x96xf16>)
      attributes {tile.params = {BLOCK_K = 512 : i64, BLOCK_M = 256 : i64, BLOCK_N = 32 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %bk = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %c512 = arith.constant 512 : index
    %c96 = arith.constant 96 : index
    %f0 = arith.constant 0.0 : f32
    %m = memref.dim %a, %c0 : memref<?x512xf16>
    %gm = arith.ceildivui %m, %bm : index
    %gn = arith.ceildivui %c96, %bn : index
    %i, %j = tile.program_id (%gm, %gn) : index, index
    %row = arith.muli %i, %bm : index
    %col = arith.muli %j, %bn : index
    %zero = tile.broadcast %f0 to [%bm, %bn] : f32 -> tensor<?x?xf32>
    %acc = scf.for %k = %c0 to %c512 step %bk iter_args(%q = %zero) -> tensor<?x?xf32> {
      %l = tile.load %a[%row, %k] sizes [%bm, %bk] : memref<?x512xf16> -> tensor<?x?xf16>
      %r = tile.load %b[%k, %col] sizes [%bk, %bn] : memref<512x96xf16, #panels> -> tensor<?x?xf16>
      %d = tile.dot %l, %r, %q : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
      scf.yield %d : tensor<?x?xf32>
    }
    %h = arith.truncf %acc : tensor<?x?xf32> to tensor<?x?xf16>
    tile.store %h, %y[%row, %col] : tensor<?x?xf16>, memref<?x96xf16>
    tile.return
  }
}

// -----

#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
  units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>

// Without a unit, threads compute, in separate blocks: small ones if there are few, which
// share a long depth.
// INVARIANT-LABEL: tile.kernel @pitch
// INVARIANT-SAME: #tile.dim<"split", 1>
// CHECK-LABEL: tile.kernel @pitch
// CHECK-SAME: tile.params.cuda = {BLOCK_K = 512 : i64, BLOCK_M = 8 : i64, BLOCK_N = 32 : i64}, tile.schedule = #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", 64>, #tile.dim<"split", 4>]>}
// CHECK: tile.kernel @copy({{.*}}) {
// CHECK: tile.kernel @f32({{.*}}) attributes {
// CHECK-SAME: tile.params.cuda = {BLOCK_K = 64 : i64, BLOCK_M = 16 : i64, BLOCK_N = 32 : i64}
// CHECK: tile.kernel @bound({{.*}}) attributes {
// CHECK-SAME: tile.params.cuda = {BLOCK_K = 8 : i64}}
module attributes {tile.targets = [#gpu]} {
  // expected-remark @below {{no matrix unit of sm_90a is used: rows of 1022 bytes, but tensor maps require a multiple of 16}}
  tile.kernel @pitch(%a: memref<64x511xf16>, %b: memref<511x64xf16>, %y: memref<64x64xf32>)
      attributes {tile.params = {BLOCK_K = 512 : i64, BLOCK_M = 64 : i64, BLOCK_N = 64 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %bk = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c511 = arith.constant 511 : index
    %f0 = arith.constant 0.0 : f32
    %i = tile.program_id (%c1) : index
    %zero = tile.broadcast %f0 to [%bm, %bn] : f32 -> tensor<?x?xf32>
    %acc = scf.for %k = %c0 to %c511 step %bk iter_args(%q = %zero) -> tensor<?x?xf32> {
      %l = tile.load %a[%c0, %k] sizes [%bm, %bk] : memref<64x511xf16> -> tensor<?x?xf16>
      %r = tile.load %b[%k, %c0] sizes [%bk, %bn] : memref<511x64xf16> -> tensor<?x?xf16>
      %d = tile.dot %l, %r, %q : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
      scf.yield %d : tensor<?x?xf32>
    }
    tile.store %acc, %y[0, 0] : tensor<?x?xf32>, memref<64x64xf32>
    tile.return
  }

  // A kernel without a product does not use a matrix unit, and gets no remark.
  tile.kernel @copy(%x: memref<64xf16>, %y: memref<64xf16>) {
    %t = tile.load %x[0] sizes [64] : memref<64xf16> -> tensor<64xf16>
    tile.store %t, %y[0] : tensor<64xf16>, memref<64xf16>
    tile.return
  }

  // expected-remark @below {{no matrix unit of sm_90a is used: no unit of sm_90a for its element types}}
  tile.kernel @f32(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %y: memref<64x64xf32>)
      attributes {tile.params = {BLOCK_K = 64 : i64, BLOCK_M = 64 : i64, BLOCK_N = 64 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %bk = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %f0 = arith.constant 0.0 : f32
    %i = tile.program_id (%c1) : index
    %zero = tile.broadcast %f0 to [%bm, %bn] : f32 -> tensor<?x?xf32>
    %acc = scf.for %k = %c0 to %c64 step %bk iter_args(%q = %zero) -> tensor<?x?xf32> {
      %l = tile.load %a[%c0, %k] sizes [%bm, %bk] : memref<64x64xf32> -> tensor<?x?xf32>
      %r = tile.load %b[%k, %c0] sizes [%bk, %bn] : memref<64x64xf32> -> tensor<?x?xf32>
      %d = tile.dot %l, %r, %q : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
      scf.yield %d : tensor<?x?xf32>
    }
    tile.store %acc, %y[0, 0] : tensor<?x?xf32>, memref<64x64xf32>
    tile.return
  }

  // expected-remark @below {{no matrix unit of sm_90a is used: the IR binds the parameters of the blocks}}
  tile.kernel @bound(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %y: memref<64x64xf32>)
      attributes {tile.params = {BLOCK_M = 64 : i64, BLOCK_N = 64 : i64}, tile.params.cuda = {BLOCK_K = 8 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %bk = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %f0 = arith.constant 0.0 : f32
    %i = tile.program_id (%c1) : index
    %zero = tile.broadcast %f0 to [%bm, %bn] : f32 -> tensor<?x?xf32>
    %acc = scf.for %k = %c0 to %c64 step %bk iter_args(%q = %zero) -> tensor<?x?xf32> {
      %l = tile.load %a[%c0, %k] sizes [%bm, %bk] : memref<64x64xf16> -> tensor<?x?xf16>
      %r = tile.load %b[%k, %c0] sizes [%bk, %bn] : memref<64x64xf16> -> tensor<?x?xf16>
      %d = tile.dot %l, %r, %q : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
      scf.yield %d : tensor<?x?xf32>
    }
    tile.store %acc, %y[0, 0] : tensor<?x?xf32>, memref<64x64xf32>
    tile.return
  }
}

// -----

#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
  units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>

// 24 tiles leave most multiprocessors idle: four share the depth of one.
// CHECK-LABEL: tile.kernel @few_tiles
// CHECK-SAME: tile.params.cuda = {BLOCK_K = 64 : i64, BLOCK_M = 64 : i64, BLOCK_N = 64 : i64}
// CHECK-SAME: dims = [#tile.dim<"m", 64>, #tile.dim<"n", 64>, #tile.dim<"k", 64>, #tile.dim<"split", 4>]
module attributes {tile.targets = [#gpu]} {
  tile.kernel @few_tiles(%a: memref<128x3072xf16>, %b: memref<3072x768xf16>, %y: memref<128x768xf16>)
      attributes {tile.params = {BLOCK_K = 1024 : i64, BLOCK_M = 128 : i64, BLOCK_N = 32 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %bk = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %c768 = arith.constant 768 : index
    %c3072 = arith.constant 3072 : index
    %f0 = arith.constant 0.0 : f32
    %gm = arith.ceildivui %c128, %bm : index
    %gn = arith.ceildivui %c768, %bn : index
    %i, %j = tile.program_id (%gm, %gn) : index, index
    %row = arith.muli %i, %bm : index
    %col = arith.muli %j, %bn : index
    %zero = tile.broadcast %f0 to [%bm, %bn] : f32 -> tensor<?x?xf32>
    %acc = scf.for %k = %c0 to %c3072 step %bk iter_args(%q = %zero) -> tensor<?x?xf32> {
      %l = tile.load %a[%row, %k] sizes [%bm, %bk] : memref<128x3072xf16> -> tensor<?x?xf16>
      %r = tile.load %b[%k, %col] sizes [%bk, %bn] : memref<3072x768xf16> -> tensor<?x?xf16>
      %d = tile.dot %l, %r, %q : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
      scf.yield %d : tensor<?x?xf32>
    }
    %h = arith.truncf %acc : tensor<?x?xf32> to tensor<?x?xf16>
    tile.store %h, %y[%row, %col] : tensor<?x?xf16>, memref<128x768xf16>
    tile.return
  }
}

// -----

#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
  units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>
#rows = affine_map<()[s0] -> (s0, 3072)>

// Dynamic rows may be few tiles: then up to four blocks share one in a run. The sums of
// batch-invariant results have one order.
// INVARIANT-LABEL: tile.kernel @dynamic_rows
// INVARIANT-SAME: #tile.dim<"k", 64>], operands
// CHECK-LABEL: tile.kernel @dynamic_rows
// CHECK-SAME: #tile.dim<"k", 64>, #tile.dim<"split", 4>]
module attributes {tile.targets = [#gpu]} {
  tile.kernel @dynamic_rows(%a: memref<?x3072xf16> {adze.dims = #rows}, %b: memref<3072x64xf16>, %y: memref<?x64xf16>)
      attributes {tile.params = {BLOCK_K = 1024 : i64, BLOCK_M = 128 : i64, BLOCK_N = 32 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %bk = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c3072 = arith.constant 3072 : index
    %f0 = arith.constant 0.0 : f32
    %m = memref.dim %a, %c0 : memref<?x3072xf16>
    %gm = arith.ceildivui %m, %bm : index
    %gn = arith.ceildivui %c64, %bn : index
    %i, %j = tile.program_id (%gm, %gn) : index, index
    %row = arith.muli %i, %bm : index
    %col = arith.muli %j, %bn : index
    %zero = tile.broadcast %f0 to [%bm, %bn] : f32 -> tensor<?x?xf32>
    %acc = scf.for %k = %c0 to %c3072 step %bk iter_args(%q = %zero) -> tensor<?x?xf32> {
      %l = tile.load %a[%row, %k] sizes [%bm, %bk] : memref<?x3072xf16> -> tensor<?x?xf16>
      %r = tile.load %b[%k, %col] sizes [%bk, %bn] : memref<3072x64xf16> -> tensor<?x?xf16>
      %d = tile.dot %l, %r, %q : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
      scf.yield %d : tensor<?x?xf32>
    }
    %h = arith.truncf %acc : tensor<?x?xf32> to tensor<?x?xf16>
    tile.store %h, %y[%row, %col] : tensor<?x?xf16>, memref<?x64xf16>
    tile.return
  }
}

// -----

#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
  units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>
#n = affine_map<()[s0] -> (s0)>

// Elementwise kernels of 32 bits have one vector per thread; those of fewer bits, and
// sums, keep their block.
// CHECK-LABEL: tile.kernel @elements
// CHECK-SAME: tile.params.cuda = {BLOCK_N = 1024 : i64}
// CHECK-LABEL: tile.kernel @halves
// CHECK-NOT: tile.params.cuda
// CHECK-LABEL: tile.kernel @sums
// CHECK-NOT: tile.params.cuda
module attributes {tile.targets = [#gpu]} {
  tile.kernel @elements(%x: memref<?xf32> {adze.dims = #n}, %y: memref<?xf32> {adze.dims = #n})
      attributes {tile.params = {BLOCK_N = 4096 : i64}} {
    %bn = tile.param "BLOCK_N" : index
    %c0 = arith.constant 0 : index
    %n = memref.dim %x, %c0 : memref<?xf32>
    %g = arith.ceildivui %n, %bn : index
    %i = tile.program_id (%g) : index
    %at = arith.muli %i, %bn : index
    %t = tile.load %x[%at] sizes [%bn] : memref<?xf32> -> tensor<?xf32>
    %e = math.exp %t : tensor<?xf32>
    tile.store %e, %y[%at] : tensor<?xf32>, memref<?xf32>
    tile.return
  }

  tile.kernel @halves(%x: memref<8192xf16>, %y: memref<8192xf16>) attributes {tile.params = {BLOCK_N = 4096 : i64}} {
    %bn = tile.param "BLOCK_N" : index
    %c8192 = arith.constant 8192 : index
    %g = arith.ceildivui %c8192, %bn : index
    %i = tile.program_id (%g) : index
    %at = arith.muli %i, %bn : index
    %t = tile.load %x[%at] sizes [%bn] : memref<8192xf16> -> tensor<?xf16>
    %e = math.exp %t : tensor<?xf16>
    tile.store %e, %y[%at] : tensor<?xf16>, memref<8192xf16>
    tile.return
  }

  tile.kernel @sums(%x: memref<64x8192xf32>, %y: memref<8192xf32>) attributes {tile.params = {BLOCK_N = 4096 : i64}} {
    %bn = tile.param "BLOCK_N" : index
    %c0 = arith.constant 0 : index
    %c8192 = arith.constant 8192 : index
    %g = arith.ceildivui %c8192, %bn : index
    %i = tile.program_id (%g) : index
    %at = arith.muli %i, %bn : index
    %t = tile.load %x[%c0, %at] sizes [64, %bn] dims [0, 1] : memref<64x8192xf32> -> tensor<64x?xf32>
    %e = tile.reduce add %t dim 0 : tensor<64x?xf32> -> tensor<?xf32>
    tile.store %e, %y[%at] : tensor<?xf32>, memref<8192xf32>
    tile.return
  }
}

// RUN: aopt %s --tile-choose-schedule | FileCheck %s --check-prefixes=CHECK,FIRST
// RUN: aopt %s --tile-choose-schedule=alternative=1 | FileCheck %s --check-prefixes=CHECK,SECOND
// RUN: aopt %s --tile-choose-schedule=alternative=1000 | FileCheck %s --check-prefixes=CHECK,LAST
// RUN: aopt %s --tile-choose-schedule=alternative=2000 | FileCheck %s --check-prefixes=CHECK,LAST

// Blocks that have less estimated time are passed over.
#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
  units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>
module attributes {tile.targets = [#gpu]} {
  // CHECK-LABEL: tile.kernel @matmul
  // FIRST-SAME: tile.params.cuda = {BLOCK_K = 64 : i64, BLOCK_M = 128 : i64, BLOCK_N = 256 : i64}
  // SECOND-SAME: tile.params.cuda = {BLOCK_K = 64 : i64, BLOCK_M = 256 : i64, BLOCK_N = 128 : i64}
  // SECOND-SAME: #tile.dim<"m", 256>, #tile.dim<"n", 128>, #tile.dim<"k", 64>]
  // LAST-SAME: tile.params.cuda = {BLOCK_K = 64 : i64, BLOCK_M = 64 : i64, BLOCK_N = 64 : i64}
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

  // A kernel with one form keeps it.
  // CHECK-LABEL: tile.kernel @elements
  // CHECK-SAME: tile.params.cuda = {B = 1024 : i64}
  tile.kernel @elements(%x: memref<?xf32>, %y: memref<?xf32>) attributes {tile.params = {B = 8192 : i64}} {
    %b = tile.param "B" : index
    %c0 = arith.constant 0 : index
    %n = memref.dim %x, %c0 : memref<?xf32>
    %g = arith.ceildivui %n, %b : index
    %i = tile.program_id (%g) : index
    %at = arith.muli %i, %b : index
    %v = tile.load %x[%at] sizes [%b] : memref<?xf32> -> tensor<?xf32>
    %e = math.absf %v : tensor<?xf32>
    tile.store %e, %y[%at] : tensor<?xf32>, memref<?xf32>
    tile.return
  }
}

// RUN: aopt %s --tile-choose-schedule | FileCheck %s
// RUN: aopt %s --tile-choose-schedule=batch-invariant | FileCheck %s --check-prefix=INVARIANT

#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
  units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>
#rows = affine_map<()[s0] -> (s0, 2048)>
#deep = affine_map<()[s0] -> (s0, 8192)>

// The blocks of a product of dynamic rows are those for the usual number of rows: 2048, unless
// the kernel states another one. Tiles of few rows may be shared.
module attributes {tile.targets = [#gpu]} {
  // CHECK-LABEL: tile.kernel @many(
  // CHECK-SAME: dims = [#tile.dim<"m", 128>, #tile.dim<"n", 256>, #tile.dim<"k", 64>
  tile.kernel @many(%a: memref<?x2048xf16> {adze.dims = #rows}, %b: memref<2048x2048xf16>, %y: memref<?x2048xf16>)
      attributes {tile.params = {BLOCK_K = 1024 : i64, BLOCK_M = 128 : i64, BLOCK_N = 32 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %bk = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %c2048 = arith.constant 2048 : index
    %f0 = arith.constant 0.0 : f32
    %m = memref.dim %a, %c0 : memref<?x2048xf16>
    %gm = arith.ceildivui %m, %bm : index
    %gn = arith.ceildivui %c2048, %bn : index
    %i, %j = tile.program_id (%gm, %gn) : index, index
    %row = arith.muli %i, %bm : index
    %col = arith.muli %j, %bn : index
    %zero = tile.broadcast %f0 to [%bm, %bn] : f32 -> tensor<?x?xf32>
    %acc = scf.for %k = %c0 to %c2048 step %bk iter_args(%q = %zero) -> tensor<?x?xf32> {
      %l = tile.load %a[%row, %k] sizes [%bm, %bk] : memref<?x2048xf16> -> tensor<?x?xf16>
      %r = tile.load %b[%k, %col] sizes [%bk, %bn] : memref<2048x2048xf16> -> tensor<?x?xf16>
      %d = tile.dot %l, %r, %q : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
      scf.yield %d : tensor<?x?xf32>
    }
    %h = arith.truncf %acc : tensor<?x?xf32> to tensor<?x?xf16>
    tile.store %h, %y[%row, %col] : tensor<?x?xf16>, memref<?x2048xf16>
    tile.return
  }
  // CHECK-LABEL: tile.kernel @hundreds(
  // CHECK-SAME: dims = [#tile.dim<"m", 64>, #tile.dim<"n", 128>, #tile.dim<"k", 64>
  tile.kernel @hundreds(%a: memref<?x2048xf16> {adze.dims = #rows}, %b: memref<2048x2048xf16>, %y: memref<?x2048xf16>)
      attributes {tile.params = {BLOCK_K = 1024 : i64, BLOCK_M = 128 : i64, BLOCK_N = 32 : i64}, tile.usual_size = 512 : i64} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %bk = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %c2048 = arith.constant 2048 : index
    %f0 = arith.constant 0.0 : f32
    %m = memref.dim %a, %c0 : memref<?x2048xf16>
    %gm = arith.ceildivui %m, %bm : index
    %gn = arith.ceildivui %c2048, %bn : index
    %i, %j = tile.program_id (%gm, %gn) : index, index
    %row = arith.muli %i, %bm : index
    %col = arith.muli %j, %bn : index
    %zero = tile.broadcast %f0 to [%bm, %bn] : f32 -> tensor<?x?xf32>
    %acc = scf.for %k = %c0 to %c2048 step %bk iter_args(%q = %zero) -> tensor<?x?xf32> {
      %l = tile.load %a[%row, %k] sizes [%bm, %bk] : memref<?x2048xf16> -> tensor<?x?xf16>
      %r = tile.load %b[%k, %col] sizes [%bk, %bn] : memref<2048x2048xf16> -> tensor<?x?xf16>
      %d = tile.dot %l, %r, %q : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
      scf.yield %d : tensor<?x?xf32>
    }
    %h = arith.truncf %acc : tensor<?x?xf32> to tensor<?x?xf16>
    tile.store %h, %y[%row, %col] : tensor<?x?xf16>, memref<?x2048xf16>
    tile.return
  }
  // CHECK-LABEL: tile.kernel @tens(
  // CHECK-SAME: dims = [#tile.dim<"m", 64>, #tile.dim<"n", 64>, #tile.dim<"k", 64>, #tile.dim<"split", 6>]
  // INVARIANT-LABEL: tile.kernel @tens(
  // INVARIANT-NOT: "split"
  tile.kernel @tens(%a: memref<?x8192xf16> {adze.dims = #deep}, %b: memref<8192x2048xf16>, %y: memref<?x2048xf16>)
      attributes {tile.params = {BLOCK_K = 1024 : i64, BLOCK_M = 128 : i64, BLOCK_N = 32 : i64}, tile.usual_size = 128 : i64} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %bk = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %c2048 = arith.constant 2048 : index
    %c8192 = arith.constant 8192 : index
    %f0 = arith.constant 0.0 : f32
    %m = memref.dim %a, %c0 : memref<?x8192xf16>
    %gm = arith.ceildivui %m, %bm : index
    %gn = arith.ceildivui %c2048, %bn : index
    %i, %j = tile.program_id (%gm, %gn) : index, index
    %row = arith.muli %i, %bm : index
    %col = arith.muli %j, %bn : index
    %zero = tile.broadcast %f0 to [%bm, %bn] : f32 -> tensor<?x?xf32>
    %acc = scf.for %k = %c0 to %c8192 step %bk iter_args(%q = %zero) -> tensor<?x?xf32> {
      %l = tile.load %a[%row, %k] sizes [%bm, %bk] : memref<?x8192xf16> -> tensor<?x?xf16>
      %r = tile.load %b[%k, %col] sizes [%bk, %bn] : memref<8192x2048xf16> -> tensor<?x?xf16>
      %d = tile.dot %l, %r, %q : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
      scf.yield %d : tensor<?x?xf32>
    }
    %h = arith.truncf %acc : tensor<?x?xf32> to tensor<?x?xf16>
    tile.store %h, %y[%row, %col] : tensor<?x?xf16>, memref<?x2048xf16>
    tile.return
  }
}

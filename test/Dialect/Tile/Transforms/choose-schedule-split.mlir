// RUN: aopt %s --tile-choose-schedule | FileCheck %s
// RUN: aopt %s --tile-choose-schedule=batch-invariant=true | FileCheck %s --check-prefix=INVARIANT

// Of a dynamic number of rows, of which 128 are usual, few tiles cover the result: blocks of
// threads share the depth of a tile, unless sums may not depend on the number of rows.
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448, units = [], features = [tma]>]} {
  // CHECK-LABEL: tile.kernel @dynamic(
  // CHECK-SAME: unit = "threads", dims = [#tile.dim<"threads", {{[0-9]+}}>, #tile.dim<"split", {{[248]}}>]
  // INVARIANT-LABEL: tile.kernel @dynamic(
  // INVARIANT-SAME: #tile.dim<"split", 1>
  tile.kernel @dynamic(%a: memref<?x768xf32>, %b: memref<768x768xf32>, %y: memref<?x768xf32>)
      attributes {tile.params = {BLOCK_K = 768 : i64, BLOCK_M = 128 : i64, BLOCK_N = 32 : i64}, tile.usual_size = 128 : i64} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %bk = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %c768 = arith.constant 768 : index
    %f0 = arith.constant 0.0 : f32
    %m = memref.dim %a, %c0 : memref<?x768xf32>
    %gm = arith.ceildivui %m, %bm : index
    %gn = arith.ceildivui %c768, %bn : index
    %i, %j = tile.program_id (%gm, %gn) : index, index
    %row = arith.muli %i, %bm : index
    %col = arith.muli %j, %bn : index
    %zero = tile.broadcast %f0 to [%bm, %bn] : f32 -> tensor<?x?xf32>
    %acc = scf.for %k = %c0 to %c768 step %bk iter_args(%q = %zero) -> tensor<?x?xf32> {
      %l = tile.load %a[%row, %k] sizes [%bm, %bk] : memref<?x768xf32> -> tensor<?x?xf32>
      %r = tile.load %b[%k, %col] sizes [%bk, %bn] : memref<768x768xf32> -> tensor<?x?xf32>
      %d = tile.dot %l, %r, %q : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
      scf.yield %d : tensor<?x?xf32>
    }
    tile.store %acc, %y[%row, %col] : tensor<?x?xf32>, memref<?x768xf32>
    tile.return
  }
}

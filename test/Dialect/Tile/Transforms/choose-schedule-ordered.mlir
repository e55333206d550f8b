// RUN: aopt %s --tile-choose-schedule | FileCheck %s

// A step of an ordered kernel has few programs, so the kernel states its blocks. Those of a
// product of 256 rows exceeded shared memory.
// CHECK-LABEL: tile.kernel @step(
// CHECK-SAME: tile.params = {BLOCK_M = 4 : i64, BLOCK_N = 16 : i64}
// CHECK-NOT: tile.params.cuda
// CHECK-NOT: tile.schedule
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448, units = [], features = [tma]>]} {
  tile.kernel @step(%w: memref<128x128xf32>, %y: memref<?x?x128xf32>, %z: memref<?x128xf32>)
      attributes {tile.params = {BLOCK_M = 4 : i64, BLOCK_N = 16 : i64}} {
    %bm = tile.param "BLOCK_M" : index
    %bn = tile.param "BLOCK_N" : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %f0 = arith.constant 0.0 : f32
    %n = memref.dim %y, %c0 : memref<?x?x128xf32>
    %m = memref.dim %y, %c1 : memref<?x?x128xf32>
    %gn = arith.ceildivui %c128, %bn : index
    %gm = arith.ceildivui %m, %bm : index
    %i, %j, %t = tile.program_id (%gn, %gm, %n) ordered grouped : index, index, index
    %unit = arith.muli %i, %bn : index
    %row = arith.muli %j, %bm : index
    %l = tile.load %y[%t, %row, 0] sizes [%bm, 128] {tile.earlier} : memref<?x?x128xf32> -> tensor<?x128xf32>
    %r = tile.load %w[0, %unit] sizes [128, %bn] : memref<128x128xf32> -> tensor<128x?xf32>
    %zero = tile.broadcast %f0 to [%bm, %bn] : f32 -> tensor<?x?xf32>
    %d = tile.dot %l, %r, %zero : tensor<?x128xf32>, tensor<128x?xf32>, tensor<?x?xf32>
    tile.store %d, %z[%row, %unit] : tensor<?x?xf32>, memref<?x128xf32>
    tile.return
  }
}

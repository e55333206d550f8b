// RUN: cuda-emulate %s --symbols=150,150,150 --tolerance=4e-3 --without-each='mbarrier.(arrive|try)' > %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=WITHOUT < %t
// RUN: not cuda-emulate %s --symbols=150 2>&1 | FileCheck %s --check-prefix=SYMBOLS
// SYMBOLS: error: {{.*}}expected values of {{[0-9]+}} symbols (--symbols), but got 1

// Two warpgroups compute tiles in turn, each its own: the stages of the ring are those of
// one tile after the other. At most two blocks of threads run, so each computes several
// tiles, and one more than the other warpgroup.

// The waits are for an empty stage, for a turn, and for a full stage; the arrivals return
// a stage, pass a turn, and return the last stage.
// WITHOUT: ragged: without nvvm.mbarrier.try_wait.parity 0: {{.*}}
// WITHOUT-NEXT: ragged: without nvvm.mbarrier.arrive.expect_tx 0: no thread can run
// WITHOUT-NEXT: ragged: without nvvm.mbarrier.try_wait.parity 1: {{.*}}
// WITHOUT-NEXT: ragged: without nvvm.mbarrier.try_wait.parity 2: {{.*}}
// WITHOUT-NEXT: ragged: without nvvm.mbarrier.arrive 0: no thread can run
// WITHOUT-NEXT: ragged: without nvvm.mbarrier.arrive 1: no thread can run
// WITHOUT-NEXT: ragged: without nvvm.mbarrier.arrive 2: no thread can run
// WITHOUT-NOT: NOT NOTICED
// Rows and columns end within a block; a tile has four stages of a ring of three.
// CHECK-DAG: ragged: 6 programs of 384 threads agree
#small = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 64>, #tile.dim<"n", 64>, #tile.dim<"k", 64>, #tile.dim<"tiles", 2>],
  operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
  gpu = #tile.gpu<warps = [4, 8], stages = 3, inflight = 1, persistent = 16>>
tile.kernel @ragged(%a: memref<?x200xf16>, %b: memref<200x96xf16>, %y: memref<?x96xf16>) attributes {tile.schedule = #small} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c200 = arith.constant 200 : index
  %f0 = arith.constant 0.0 : f32
  %m = memref.dim %a, %c0 : memref<?x200xf16>
  %gm = arith.ceildivui %m, %c64 : index
  %i, %j = tile.program_id (%gm, %c2) : index, index
  %row = arith.muli %i, %c64 : index
  %col = arith.muli %j, %c64 : index
  %zero = tile.broadcast %f0 to [64, 64] : f32 -> tensor<64x64xf32>
  %acc = scf.for %k = %c0 to %c200 step %c64 iter_args(%q = %zero) -> tensor<64x64xf32> {
    %l = tile.load %a[%row, %k] sizes [64, 64] : memref<?x200xf16> -> tensor<64x64xf16>
    %r = tile.load %b[%k, %col] sizes [64, 64] : memref<200x96xf16> -> tensor<64x64xf16>
    %d = tile.dot %l, %r, %q : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %h = arith.truncf %acc : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %h, %y[%row, %col] : tensor<64x64xf16>, memref<?x96xf16>
  tile.return
}

// The depth is dynamic, a tile has two blocks of 64 rows, and the bias and the activation
// are computed while the other warpgroup multiplies.
// CHECK-DAG: epilogue: 4 programs of 384 threads agree
#deep = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 128>, #tile.dim<"n", 64>, #tile.dim<"k", 64>, #tile.dim<"tiles", 2>],
  operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
  gpu = #tile.gpu<warps = [4, 8], stages = 2, inflight = 0, persistent = 16>>
tile.kernel @epilogue(%a: memref<?x192xbf16>, %b: memref<?x128xbf16>, %c: memref<128xf32>, %y: memref<?x128xbf16>) attributes {tile.schedule = #deep} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %m = memref.dim %y, %c0 : memref<?x128xbf16>
  %depth = memref.dim %b, %c0 : memref<?x128xbf16>
  %gm = arith.ceildivui %m, %c128 : index
  %i, %j = tile.program_id (%gm, %c2) : index, index
  %row = arith.muli %i, %c128 : index
  %col = arith.muli %j, %c64 : index
  %zero = tile.broadcast %f0 to [128, 64] : f32 -> tensor<128x64xf32>
  %acc = scf.for %k = %c0 to %depth step %c64 iter_args(%q = %zero) -> tensor<128x64xf32> {
    %l = tile.load %a[%row, %k] sizes [128, 64] : memref<?x192xbf16> -> tensor<128x64xbf16>
    %r = tile.load %b[%k, %col] sizes [64, 64] : memref<?x128xbf16> -> tensor<64x64xbf16>
    %d = tile.dot %l, %r, %q : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    scf.yield %d : tensor<128x64xf32>
  }
  %v = tile.load %c[%col] sizes [64] : memref<128xf32> -> tensor<64xf32>
  %bias = tile.broadcast %v to [128, 64] dims [1] : tensor<64xf32> -> tensor<128x64xf32>
  %s = arith.addf %acc, %bias : tensor<128x64xf32>
  %t = math.tanh %s : tensor<128x64xf32>
  %e = math.exp2 %t : tensor<128x64xf32>
  %h = arith.truncf %e : tensor<128x64xf32> to tensor<128x64xbf16>
  tile.store %h, %y[%row, %col] : tensor<128x64xbf16>, memref<?x128xbf16>
  tile.return
}

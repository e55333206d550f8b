// RUN: aopt %s --tile-specialize=target=cuda --convert-tile-to-gpu --canonicalize --cse | FileCheck %s

// Two warpgroups compute tiles in turn. A stage of the ring is returned by the warpgroup
// that has read it; the last two of five barriers are those of the turns.
// CHECK: #[[KEPT:.*]] = #llvm.loop_annotation<unroll = #{{.*}}>
// CHECK-LABEL: llvm.func @ragged(
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-COUNT-10: nvvm.mbarrier.init %{{.*}}, %[[ONE]]
// CHECK-NOT: nvvm.mbarrier.init
// The producer copies the stages of all tiles of the block.
// CHECK: scf.for %{{.*}} step %[[BLOCKS:.*]] iter_args
// CHECK: nvvm.mbarrier.arrive.expect_tx
// A warpgroup begins after the stages of the tiles before its own.
// CHECK: %[[TURN:.*]] = arith.addi %{{.*}}, %c-1_i32
// CHECK: %[[BEFORE:.*]] = arith.muli %{{.*}}, %c4_i32
// CHECK: %[[WRAPS:.*]] = arith.divui %[[BEFORE]], %c3_i32
// CHECK: %[[PHASE:.*]] = arith.andi %[[WRAPS]], %[[ONE]]
// CHECK: %[[STAGE:.*]] = arith.remui %[[BEFORE]], %c3_i32
// CHECK: %[[STEP:.*]] = arith.muli %{{.*}}, %c2_i32
// CHECK: scf.for %{{.*}} step %[[STEP]] iter_args(%[[AT:.*]] = %[[STAGE]], %{{.*}} = %[[PHASE]], %[[TURNS:.*]] = %{{.*}})
// CHECK: nvvm.mbarrier.try_wait.parity %{{.*}}, %[[TURNS]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}}, %{{.*}} = %[[AT]]
// CHECK: nvvm.wgmma.mma_async
// CHECK: {loop_annotation = #[[KEPT]]}
// It passes its turn before its last products are complete, and skips the stages of the
// next tile of the other.
// CHECK: nvvm.mbarrier.arrive
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: nvvm.stmatrix
// CHECK: nvvm.cp.async.bulk.commit.group
// CHECK: %[[NEXT:.*]] = arith.addi %{{.*}}, %c4_i32
// CHECK: arith.divui %[[NEXT]], %c3_i32
// CHECK: arith.remui %[[NEXT]], %c3_i32
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

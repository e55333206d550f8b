// RUN: cuda-compile %s | FileCheck %s

// Threads beyond the end of a row of 200 weights load zeros in place of them. Both are
// constants, so the loads are before the wait for the previous launch, and those of the
// other operand after it.
// CHECK: .entry ragged(
// CHECK: griddepcontrol.launch_dependents
// CHECK: selp.b64
// CHECK: ld.global
// CHECK: griddepcontrol.wait
// CHECK: ld.global
#threads = #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", 64>]>
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448>]} {
  tile.kernel @ragged(%x: memref<200xf32> {tile.align = 256 : i64}, %w: memref<64x200xf32> {tile.align = 256 : i64, tile.constant}, %y: memref<64xf32> {tile.align = 256 : i64}) attributes {tile.schedule = #threads} {
    %c64 = arith.constant 64 : index
    %i = tile.program_id (%c64) : index
    %a = tile.load %x[0] sizes [200] : memref<200xf32> -> tensor<200xf32>
    %b = tile.load %w[%i, 0] sizes [1, 200] : memref<64x200xf32> -> tensor<1x200xf32>
    %e = tile.broadcast %a to [1, 200] dims [1] : tensor<200xf32> -> tensor<1x200xf32>
    %p = arith.mulf %e, %b : tensor<1x200xf32>
    %s = tile.reduce add %p dim 1 : tensor<1x200xf32> -> tensor<1xf32>
    tile.store %s, %y[%i] : tensor<1xf32>, memref<64xf32>
    tile.return
  }
}

// RUN: aopt %s --convert-tile-to-gpu | FileCheck %s

// Blocks that read a matrix of constants once have room beside each other: 80 registers.
// CHECK-LABEL: llvm.func @once(
// CHECK-SAME: nvvm.minctasm = 12 : i32
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448>]} {
tile.kernel @once(%x: memref<64xf32>, %w: memref<4096x64xf32> {tile.constant}, %y: memref<4096xf32>) attributes {tile.schedule = #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", 64>]>} {
  %c8 = arith.constant 8 : index
  %c512 = arith.constant 512 : index
  %i = tile.program_id (%c512) : index
  %r = arith.muli %i, %c8 : index
  %a = tile.load %x[0] sizes [64] : memref<64xf32> -> tensor<64xf32>
  %b = tile.load %w[%r, 0] sizes [8, 64] : memref<4096x64xf32> -> tensor<8x64xf32>
  %e = tile.broadcast %a to [8, 64] dims [1] : tensor<64xf32> -> tensor<8x64xf32>
  %p = arith.mulf %e, %b : tensor<8x64xf32>
  %s = tile.reduce add %p dim 1 : tensor<8x64xf32> -> tensor<8xf32>
  tile.store %s, %y[%r] : tensor<8xf32>, memref<4096xf32>
  tile.return
}

// Other loads may wait for blocks that share the data, and a loop keeps registers.
// CHECK-LABEL: llvm.func @variable(
// CHECK-SAME: nvvm.minctasm = 1 : i32
tile.kernel @variable(%w: memref<4096x64xf32>, %y: memref<4096xf32>) attributes {tile.schedule = #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", 64>]>} {
  %c8 = arith.constant 8 : index
  %c512 = arith.constant 512 : index
  %i = tile.program_id (%c512) : index
  %r = arith.muli %i, %c8 : index
  %b = tile.load %w[%r, 0] sizes [8, 64] : memref<4096x64xf32> -> tensor<8x64xf32>
  %s = tile.reduce add %b dim 1 : tensor<8x64xf32> -> tensor<8xf32>
  tile.store %s, %y[%r] : tensor<8xf32>, memref<4096xf32>
  tile.return
}

// CHECK-LABEL: llvm.func @loop(
// CHECK-SAME: nvvm.minctasm = 1 : i32
tile.kernel @loop(%w: memref<4096x?xf32> {tile.constant}, %y: memref<4096xf32>) attributes {tile.schedule = #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", 64>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %n = memref.dim %w, %c1 : memref<4096x?xf32>
  %i = tile.program_id (%c512) : index
  %r = arith.muli %i, %c8 : index
  %z = arith.constant 0.0 : f32
  %init = tile.broadcast %z to [8] : f32 -> tensor<8xf32>
  %t = scf.for %k = %c0 to %n step %c64 iter_args(%acc = %init) -> (tensor<8xf32>) {
    %b = tile.load %w[%r, %k] sizes [8, 64] : memref<4096x?xf32> -> tensor<8x64xf32>
    %s = tile.reduce add %b dim 1 : tensor<8x64xf32> -> tensor<8xf32>
    %a = arith.addf %acc, %s : tensor<8xf32>
    scf.yield %a : tensor<8xf32>
  }
  tile.store %t, %y[%r] : tensor<8xf32>, memref<4096xf32>
  tile.return
}
}

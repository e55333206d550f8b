// The threads that reduce one row.
// RUN: aopt %s --convert-tile-to-gpu | FileCheck %s

// Eight rows and eight warps: one warp per row, without shared memory.
// CHECK-LABEL: func @rows
// (Once where pointers are aligned, and once where they are not.)
// CHECK-NOT: gpu.barrier
// CHECK-COUNT-10: gpu.shuffle
// CHECK-NOT: {{gpu.shuffle|gpu.barrier}}
// CHECK: llvm.return
tile.kernel @rows(%x: memref<64x1024xf32>, %y: memref<64xf32>) {
  %c8 = arith.constant 8 : index
  %p = tile.program_id (%c8) : index
  %r = arith.muli %p, %c8 : index
  %t = tile.load %x[%r, 0] sizes [8, 1024] : memref<64x1024xf32> -> tensor<8x1024xf32>
  %s = tile.reduce add %t dim 1 : tensor<8x1024xf32> -> tensor<8xf32>
  tile.store %s, %y[%r] : tensor<8xf32>, memref<64xf32>
  tile.return
}

// One row uses all threads, which exchange data through shared memory.
// CHECK-LABEL: func @one_row
// CHECK: gpu.shuffle
// CHECK: gpu.barrier
// CHECK: llvm.return
tile.kernel @one_row(%x: memref<64x1024xf32>, %y: memref<64xf32>) {
  %c64 = arith.constant 64 : index
  %p = tile.program_id (%c64) : index
  %t = tile.load %x[%p, 0] sizes [1, 1024] : memref<64x1024xf32> -> tensor<1x1024xf32>
  %s = tile.reduce add %t dim 1 : tensor<1x1024xf32> -> tensor<1xf32>
  tile.store %s, %y[%p] : tensor<1xf32>, memref<64xf32>
  tile.return
}

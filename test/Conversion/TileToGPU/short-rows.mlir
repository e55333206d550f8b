// RUN: aopt %s --convert-tile-to-gpu | FileCheck %s

// Rows of 16 bytes that a kernel stores belong to one thread each, if loads are contiguous
// along another dim: it loads its 8 elements from as many rows, where the next thread loads
// the adjacent ones, and stores them at once.
// CHECK-LABEL: llvm.func @planes
// CHECK-COUNT-8: llvm.load {{.*}} -> f16
// CHECK-NOT: llvm.load
// CHECK: llvm.store {{.*}} : vector<8xf16>
tile.kernel @planes(%x: memref<8x4096xf16>, %y: memref<4096x8xf16>) {
  %c256 = arith.constant 256 : index
  %c16 = arith.constant 16 : index
  %p = tile.program_id (%c16) : index
  %o = arith.muli %p, %c256 : index
  %t = tile.load %x[0, %o] sizes [256, 8] dims [1, 0] : memref<8x4096xf16> -> tensor<256x8xf16>
  tile.store %t, %y[%o, 0] : tensor<256x8xf16>, memref<4096x8xf16>
  tile.return
}

// Longer rows are stored by several threads, which exchange elements.
// CHECK-LABEL: llvm.func @long
// CHECK: gpu.barrier
tile.kernel @long(%x: memref<64x4096xf16>, %y: memref<4096x64xf16>) {
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %p = tile.program_id (%c128) : index
  %o = arith.muli %p, %c32 : index
  %t = tile.load %x[0, %o] sizes [32, 64] dims [1, 0] : memref<64x4096xf16> -> tensor<32x64xf16>
  tile.store %t, %y[%o, 0] : tensor<32x64xf16>, memref<4096x64xf16>
  tile.return
}

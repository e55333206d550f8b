// Copies: with many programs, a thread has two wide accesses in flight, and a block
// several programs. With few programs, or an unknown number, each thread has one.
// RUN: aopt %s --convert-tile-to-gpu | FileCheck %s
// RUN: cuda-emulate %s --symbols=3 | FileCheck %s --check-prefix=EMULATED

// CHECK-LABEL: llvm.func @many(
// CHECK-SAME: adze.packed_programs = 8 : i64
// CHECK-SAME: adze.threads = 256 : i64
// EMULATED: many: 8192 programs of 32 threads agree
tile.kernel @many(%x: memref<8192x256xf32>, %y: memref<8192x256xf32>) {
  %c8192 = arith.constant 8192 : index
  %p = tile.program_id (%c8192) : index
  %t = tile.load %x[%p, 0] sizes [256] dims [1] : memref<8192x256xf32> -> tensor<256xf32>
  tile.store %t, %y[%p, 0] dims [1] : tensor<256xf32>, memref<8192x256xf32>
  tile.return
}

// CHECK-LABEL: llvm.func @few(
// CHECK-NOT: adze.packed_programs
// CHECK-SAME: adze.threads = 128 : i64
// EMULATED: few: 64 programs of 128 threads agree
tile.kernel @few(%x: memref<64x768xf16>, %y: memref<64x768xf16>) {
  %c64 = arith.constant 64 : index
  %p = tile.program_id (%c64) : index
  %t = tile.load %x[%p, 0] sizes [768] dims [1] : memref<64x768xf16> -> tensor<768xf16>
  tile.store %t, %y[%p, 0] dims [1] : tensor<768xf16>, memref<64x768xf16>
  tile.return
}

// CHECK-LABEL: llvm.func @dynamic(
// CHECK-SAME: adze.threads = 128 : i64
// EMULATED: dynamic: 3 programs of 128 threads agree
tile.kernel @dynamic(%x: memref<?x768xf16> {adze.dims = affine_map<()[s0] -> (s0, 768)>}, %y: memref<?x768xf16> {adze.dims = affine_map<()[s0] -> (s0, 768)>}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x768xf16>
  %p = tile.program_id (%n) : index
  %t = tile.load %x[%p, 0] sizes [768] dims [1] : memref<?x768xf16> -> tensor<768xf16>
  tile.store %t, %y[%p, 0] dims [1] : tensor<768xf16>, memref<?x768xf16>
  tile.return
}

// Arithmetic: more threads hide its latency.
// CHECK-LABEL: llvm.func @computed(
// CHECK-SAME: adze.packed_programs = 4 : i64
// CHECK-SAME: adze.threads = 256 : i64
tile.kernel @computed(%x: memref<8192x256xf32>, %y: memref<8192x256xf32>) {
  %c8192 = arith.constant 8192 : index
  %p = tile.program_id (%c8192) : index
  %t = tile.load %x[%p, 0] sizes [256] dims [1] : memref<8192x256xf32> -> tensor<256xf32>
  %e = math.exp %t : tensor<256xf32>
  tile.store %e, %y[%p, 0] dims [1] : tensor<256xf32>, memref<8192x256xf32>
  tile.return
}

// A sum over a row has as many threads as the row has groups of four elements.
// CHECK-LABEL: llvm.func @sum(
// CHECK-SAME: adze.threads = 256 : i64
// EMULATED: sum: 16 programs of 256 threads agree
tile.kernel @sum(%x: memref<16x768xf32>, %y: memref<16xf32>) {
  %c16 = arith.constant 16 : index
  %p = tile.program_id (%c16) : index
  %t = tile.load %x[%p, 0] sizes [1, 768] : memref<16x768xf32> -> tensor<1x768xf32>
  %s = tile.reduce add %t dim 1 : tensor<1x768xf32> -> tensor<1xf32>
  tile.store %s, %y[%p] : tensor<1xf32>, memref<16xf32>
  tile.return
}

// Adjacent threads load adjacent elements if loads have a step, or are gathers: a thread
// with four adjacent elements of the result would load from four cache lines.
// RUN: aopt %s --convert-tile-to-gpu -canonicalize | FileCheck %s
// RUN: cuda-emulate %s --symbols=90 | FileCheck %s --check-prefix=EMULATED

// CHECK-LABEL: llvm.func @contiguous(
// CHECK: llvm.store %{{.*}} : vector<4xf32>
// EMULATED: contiguous: 8 programs of 128 threads agree
tile.kernel @contiguous(%x: memref<8x1024xf32>, %y: memref<8x512xf32>) {
  %c8 = arith.constant 8 : index
  %p = tile.program_id (%c8) : index
  %t = tile.load %x[%p, 0] sizes [512] dims [1] : memref<8x1024xf32> -> tensor<512xf32>
  tile.store %t, %y[%p, 0] dims [1] : tensor<512xf32>, memref<8x512xf32>
  tile.return
}

// CHECK-LABEL: llvm.func @stepped(
// CHECK-NOT: vector<4xf32>
// CHECK: %[[T:.*]] = arith.andi %thread_id_x, %c127
// CHECK: arith.muli %[[T]], %c2
// CHECK-NOT: vector<4xf32>
// CHECK: llvm.return
// EMULATED: stepped: 8 programs of 128 threads agree
tile.kernel @stepped(%x: memref<8x1024xf32>, %y: memref<8x512xf32>) {
  %c8 = arith.constant 8 : index
  %p = tile.program_id (%c8) : index
  %t = tile.load %x[%p, 0] sizes [512] dims [1] strides [2] : memref<8x1024xf32> -> tensor<512xf32>
  tile.store %t, %y[%p, 0] dims [1] : tensor<512xf32>, memref<8x512xf32>
  tile.return
}

// Of a dynamic width: the end is checked.
// CHECK-LABEL: llvm.func @dynamic(
// CHECK-NOT: vector<4xf32>
// CHECK: llvm.return
// EMULATED: dynamic: 8 programs of 64 threads agree
tile.kernel @dynamic(%x: memref<8x?xf32> {adze.dims = affine_map<()[s0] -> (8, s0 * 2)>}, %y: memref<8x?xf32> {adze.dims = affine_map<()[s0] -> (8, s0)>}) {
  %c8 = arith.constant 8 : index
  %p = tile.program_id (%c8) : index
  %t = tile.load %x[%p, 1] sizes [256] dims [1] strides [2] : memref<8x?xf32> -> tensor<256xf32>
  tile.store %t, %y[%p, 0] dims [1] : tensor<256xf32>, memref<8x?xf32>
  tile.return
}

// A row that is selected by an index is contiguous; a thread of f16 has eight elements.
// CHECK-LABEL: llvm.func @row(
// CHECK: llvm.store %{{.*}} : vector<8xf16>
// EMULATED: row: 4 programs of 64 threads agree
tile.kernel @row(%x: memref<8x512xf16>, %i: memref<4xindex>, %y: memref<4x512xf16>) {
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %p = tile.program_id (%c4) : index
  %at = memref.load %i[%p] : memref<4xindex>
  %in = arith.minui %at, %c7 : index
  %t = tile.load %x[%in, 0] sizes [512] dims [1] : memref<8x512xf16> -> tensor<512xf16>
  tile.store %t, %y[%p, 0] dims [1] : tensor<512xf16>, memref<4x512xf16>
  tile.return
}

// RUN: aopt %s --convert-tile-to-gpu | FileCheck %s

// A loop over whole chunks and one over the remainder store to different elements: threads
// don't wait before they store.
// CHECK-LABEL: llvm.func @parts
// CHECK-NOT: gpu.barrier
// CHECK: llvm.return
#n = affine_map<()[s0] -> (s0)>
tile.kernel @parts(%x: memref<?xf32> {adze.dims = #n}, %y: memref<?xf32> {adze.dims = #n}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %p = tile.program_id (%c1) : index
  %chunks = arith.divui %n, %c256 : index
  %whole = arith.muli %chunks, %c256 : index
  %rest = arith.remui %n, %c256 : index
  scf.for %i = %c0 to %whole step %c256 {
    %t = tile.load %x[%i] sizes [256] : memref<?xf32> -> tensor<256xf32>
    tile.store %t, %y[%i] : tensor<256xf32>, memref<?xf32>
  }
  scf.for %i = %c0 to %rest step %c256 {
    %at = arith.addi %whole, %i : index
    %t = tile.load %x[%at] sizes [256] {tile.tail} : memref<?xf32> -> tensor<256xf32>
    tile.store %t, %y[%at] {tile.tail} : tensor<256xf32>, memref<?xf32>
  }
  tile.return
}

// The second loop may begin before the end of the first one.
// CHECK-LABEL: llvm.func @overlapping
// CHECK: gpu.barrier
tile.kernel @overlapping(%x: memref<?xf32> {adze.dims = #n}, %y: memref<?xf32> {adze.dims = #n}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %p = tile.program_id (%c1) : index
  %chunks = arith.divui %n, %c256 : index
  %whole = arith.muli %chunks, %c256 : index
  scf.for %i = %c0 to %n step %c256 {
    %t = tile.load %x[%i] sizes [256] : memref<?xf32> -> tensor<256xf32>
    tile.store %t, %y[%i] : tensor<256xf32>, memref<?xf32>
  }
  scf.for %i = %c0 to %n step %c256 {
    %at = arith.addi %whole, %i : index
    %t = tile.load %x[%at] sizes [256] {tile.tail} : memref<?xf32> -> tensor<256xf32>
    tile.store %t, %y[%at] {tile.tail} : tensor<256xf32>, memref<?xf32>
  }
  tile.return
}

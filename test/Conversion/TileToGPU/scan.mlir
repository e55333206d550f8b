// A scan combines the adjacent elements of each thread, then the totals of the threads of
// a warp by shuffles, and those of warps through shared memory.
// RUN: aopt %s --convert-tile-to-gpu -canonicalize | FileCheck %s
// RUN: cuda-emulate %s --symbols=700 | FileCheck %s --check-prefix=EMULATED

// Each of 256 threads has two groups of 4 adjacent elements.
// CHECK-LABEL: llvm.func @row(
// CHECK: llvm.load {{.*}} vector<4xf32>
// CHECK-COUNT-3: arith.addf
// CHECK: gpu.shuffle xor
// CHECK: barrier
// CHECK: arith.cmpi ugt
// CHECK: llvm.store {{.*}} vector<4xf32>
// EMULATED: row: 3 programs of 256 threads agree
tile.kernel @row(%x: memref<3x2048xf32>, %y: memref<3x2048xf32>) {
  %c3 = arith.constant 3 : index
  %p = tile.program_id (%c3) : index
  %t = tile.load %x[%p, 0] sizes [2048] : memref<3x2048xf32> -> tensor<2048xf32>
  %s = tile.scan add %t dim 0 : tensor<2048xf32>
  tile.store %s, %y[%p, 0] : tensor<2048xf32>, memref<3x2048xf32>
  tile.return
}

// Several rows in a program, of a size that does not fill the threads.
// CHECK-LABEL: llvm.func @rows(
// CHECK: arith.select
// EMULATED: rows: 2 programs of {{.*}} agree
tile.kernel @rows(%x: memref<8x90xi64>, %y: memref<8x90xi64>) {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %p = tile.program_id (%c2) : index
  %row = arith.muli %p, %c4 : index
  %t = tile.load %x[%row, 0] sizes [4, 90] : memref<8x90xi64> -> tensor<4x90xi64>
  %s = tile.scan add %t dim 1 exclusive : tensor<4x90xi64>
  tile.store %s, %y[%row, 0] : tensor<4x90xi64>, memref<8x90xi64>
  tile.return
}

// Along the outer dim, whose elements threads hold in registers or share.
// EMULATED: columns: 1 programs of {{.*}} agree
tile.kernel @columns(%x: memref<40x24xf32>, %y: memref<40x24xf32>) {
  %c1 = arith.constant 1 : index
  %p = tile.program_id (%c1) : index
  %t = tile.load %x[0, 0] sizes [40, 24] : memref<40x24xf32> -> tensor<40x24xf32>
  %s = tile.scan max %t dim 0 : tensor<40x24xf32>
  tile.store %s, %y[0, 0] : tensor<40x24xf32>, memref<40x24xf32>
  tile.return
}

// Of a dynamic size, in chunks that continue the sums of those before.
// CHECK-LABEL: llvm.func @chunks(
// CHECK: scf.for
// CHECK: gpu.shuffle xor
// EMULATED: chunks: 1 programs of {{.*}} agree
tile.kernel @chunks(%x: memref<?xi32> {adze.dims = affine_map<()[s0] -> (s0)>}, %y: memref<?xi32> {adze.dims = affine_map<()[s0] -> (s0)>}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  %p = tile.program_id (%c1) : index
  %zero = arith.constant dense<0> : tensor<1xi32>
  %r = scf.for %i = %c0 to %n step %c256 iter_args(%before = %zero) -> tensor<1xi32> {
    %t = tile.load %x[%i] sizes [256] : memref<?xi32> -> tensor<256xi32>
    %row = tile.broadcast %t to [1, 256] dims [1] : tensor<256xi32> -> tensor<1x256xi32>
    %s = tile.scan add %row dim 1 : tensor<1x256xi32>
    %all = tile.broadcast %before to [1, 256] dims [0] : tensor<1xi32> -> tensor<1x256xi32>
    %sum = arith.addi %s, %all : tensor<1x256xi32>
    %flat = tile.reshape %sum to [256] : tensor<1x256xi32> -> tensor<256xi32>
    tile.store %flat, %y[%i] : tensor<256xi32>, memref<?xi32>
    %own = tile.reduce add %row dim 1 : tensor<1x256xi32> -> tensor<1xi32>
    %next = arith.addi %before, %own : tensor<1xi32>
    scf.yield %next : tensor<1xi32>
  }
  tile.return
}

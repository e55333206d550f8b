// REQUIRES: cuda-toolkit
// RUN: aopt %s --tile-specialize=params=BLOCK_M=64,BLOCK_N=64,BLOCK_K=32 | cuda-compile --assemble -o %t.cubin | FileCheck %s
// RUN: test -s %t.cubin

// CHECK: gemm: {{[0-9]+}} registers, 0 bytes spilled, {{[1-9][0-9]*}} bytes shared, 128 threads
tile.kernel @gemm(%x: memref<?x1024xf32>, %w: memref<1024x1000xf32>, %y: memref<?x1000xf32>) {
  %BM = tile.param "BLOCK_M" : index
  %BN = tile.param "BLOCK_N" : index
  %BK = tile.param "BLOCK_K" : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f0 = arith.constant 0.0 : f32
  %M = memref.dim %x, %c0 : memref<?x1024xf32>
  %N = memref.dim %y, %c1 : memref<?x1000xf32>
  %K = memref.dim %x, %c1 : memref<?x1024xf32>
  %gm = arith.ceildivui %M, %BM : index
  %gn = arith.ceildivui %N, %BN : index
  %pm, %pn = tile.program_id (%gm, %gn) : index, index
  %row = arith.muli %pm, %BM : index
  %col = arith.muli %pn, %BN : index
  %zero = tile.broadcast %f0 to [%BM, %BN] : f32 -> tensor<?x?xf32>
  %acc = scf.for %k = %c0 to %K step %BK iter_args(%c = %zero) -> tensor<?x?xf32> {
    %a = tile.load %x[%row, %k] sizes [%BM, %BK] : memref<?x1024xf32> -> tensor<?x?xf32>
    %b = tile.load %w[%k, %col] sizes [%BK, %BN] : memref<1024x1000xf32> -> tensor<?x?xf32>
    %d = tile.dot %a, %b, %c : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
    scf.yield %d : tensor<?x?xf32>
  }
  tile.store %acc, %y[%row, %col] : tensor<?x?xf32>, memref<?x1000xf32>
  tile.return
}

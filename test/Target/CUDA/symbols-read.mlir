// RUN: cuda-compile %s --print-symbols | FileCheck %s

// The symbols that each kernel reads, from which the run time knows the nodes of a graph
// that a run with other sizes changes.
// CHECK: // rows reads symbols 1{{$}}
// CHECK: // static reads symbols{{$}}
// CHECK: // both reads symbols 0 2{{$}}
#rows = affine_map<()[s0, s1] -> (s1, 64)>
#both = affine_map<()[s0, s1, s2] -> (s0 * s2, 64)>
tile.kernel @rows(%x: memref<?x64xf32> {adze.dims = #rows}, %y: memref<?x64xf32> {adze.dims = #rows}) {
  %c8 = arith.constant 8 : index
  %p = tile.program_id (%c8) : index
  %t = tile.load %x[%p, 0] sizes [4, 64] : memref<?x64xf32> -> tensor<4x64xf32>
  tile.store %t, %y[%p, 0] : tensor<4x64xf32>, memref<?x64xf32>
  tile.return
}
// The grid is an argument of its own.
tile.kernel @static(%x: memref<?xf32> {adze.dims = affine_map<()[s0, s1] -> (s1 * 64)>}, %y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %g = arith.ceildivui %n, %c64 : index
  %p = tile.program_id (%g) : index
  %t = tile.load %y[0] sizes [64] : memref<64xf32> -> tensor<64xf32>
  tile.store %t, %y[0] : tensor<64xf32>, memref<64xf32>
  tile.return
}
tile.kernel @both(%x: memref<?x64xf32> {adze.dims = #both}, %y: memref<?x64xf32> {adze.dims = #both}) {
  %c8 = arith.constant 8 : index
  %p = tile.program_id (%c8) : index
  %t = tile.load %x[%p, 0] sizes [4, 64] : memref<?x64xf32> -> tensor<4x64xf32>
  tile.store %t, %y[%p, 0] : tensor<4x64xf32>, memref<?x64xf32>
  tile.return
}

// RUN: cuda-emulate %s --symbols=37,45 > %t
// RUN: FileCheck %s < %t
// RUN: cuda-emulate %s --symbols=3,200 | FileCheck %s
// RUN: cuda-emulate %s --symbols=3,0 | FileCheck %s
// RUN: aopt %s --convert-tile-to-gpu | FileCheck %s --check-prefix=CODE

// Blocks of a cluster that share the depth of a product: each multiplies a part of the
// chunks, adds a share of the sums of all, and the first one stores the result.
// CHECK-DAG: product: 1 programs of 256 threads agree
// CHECK-DAG: taps: 1 programs of 128 threads agree
// CHECK-DAG: dynamic: {{.*}} programs of 512 threads agree

// CODE: llvm.func @product
// CODE-SAME: nvvm.cluster_dim = array<i32: 4, 1, 1>
// CODE: scf.for
// CODE: nvvm.cp.async.wait.group
// CODE-NEXT: gpu.barrier
// CODE: scf.yield
// CODE: nvvm.cluster.wait
// CODE-COUNT-4: nvvm.mapa
// CODE: nvvm.cluster.wait
#x = affine_map<()[s0, s1] -> (s0, s1)>
#w = affine_map<()[s0, s1] -> (s1, 32)>
#y = affine_map<()[s0, s1] -> (s0, 32)>
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448, features = [tma]>]} {
// 13 chunks of 16 for four blocks: 4, 4, 4 and 1.
tile.kernel @product(%x: memref<16x200xf32>, %w: memref<200x32xf32>, %b: memref<32xf32>, %y: memref<16x32xf32>)
    attributes {tile.schedule = #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", 64>, #tile.dim<"split", 4>]>} {
  %a = tile.load %x[0, 0] sizes [16, 200] : memref<16x200xf32> -> tensor<16x200xf32>
  %v = tile.load %w[0, 0] sizes [200, 32] : memref<200x32xf32> -> tensor<200x32xf32>
  %one = arith.constant dense<1.0> : tensor<16x32xf32>
  %d = tile.dot %a, %v, %one : tensor<16x200xf32>, tensor<200x32xf32>, tensor<16x32xf32>
  %bias = tile.load %b[0] sizes [32] : memref<32xf32> -> tensor<32xf32>
  %all = tile.broadcast %bias to [16, 32] dims [1] : tensor<32xf32> -> tensor<16x32xf32>
  %sum = arith.addf %d, %all : tensor<16x32xf32>
  tile.store %sum, %y[0, 0] : tensor<16x32xf32>, memref<16x32xf32>
  tile.return
}
// Three taps of 48, whose first chunks are in the middle of a tap; one element of the
// result for each thread.
tile.kernel @taps(%x: memref<10x48xf32>, %w: memref<3x48x8xf32>, %y: memref<8x8xf32>)
    attributes {tile.schedule = #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", 64>, #tile.dim<"split", 2>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant dense<0.0> : tensor<8x8xf32>
  %sum = scf.for %r = %c0 to %c3 step %c1 iter_args(%acc = %z) -> (tensor<8x8xf32>) {
    %a = tile.load %x[%r, 0] sizes [8, 48] : memref<10x48xf32> -> tensor<8x48xf32>
    %b = tile.load %w[%r, 0, 0] sizes [48, 8] dims [1, 2] : memref<3x48x8xf32> -> tensor<48x8xf32>
    %d = tile.dot %a, %b, %acc : tensor<8x48xf32>, tensor<48x8xf32>, tensor<8x8xf32>
    scf.yield %d : tensor<8x8xf32>
  }
  tile.store %sum, %y[0, 0] : tensor<8x8xf32>, memref<8x8xf32>
  tile.return
}
tile.kernel @dynamic(%x: memref<?x?xf32> {adze.dims = #x}, %w: memref<?x32xf32> {adze.dims = #w}, %y: memref<?x32xf32> {adze.dims = #y})
    attributes {tile.schedule = #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", 64>, #tile.dim<"split", 8>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %rows = memref.dim %x, %c0 : memref<?x?xf32>
  %depth = memref.dim %x, %c1 : memref<?x?xf32>
  %grid = arith.ceildivui %rows, %c16 : index
  %p = tile.program_id (%grid) : index
  %m = arith.muli %p, %c16 : index
  %z = arith.constant dense<0.0> : tensor<16x32xf32>
  %sum = scf.for %k = %c0 to %depth step %c32 iter_args(%acc = %z) -> (tensor<16x32xf32>) {
    %a = tile.load %x[%m, %k] sizes [16, 32] : memref<?x?xf32> -> tensor<16x32xf32>
    %b = tile.load %w[%k, 0] sizes [32, 32] : memref<?x32xf32> -> tensor<32x32xf32>
    %d = tile.dot %a, %b, %acc : tensor<16x32xf32>, tensor<32x32xf32>, tensor<16x32xf32>
    scf.yield %d : tensor<16x32xf32>
  }
  tile.store %sum, %y[%m, 0] : tensor<16x32xf32>, memref<?x32xf32>
  tile.return
}
}

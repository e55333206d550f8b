// RUN: aopt %s --tile-specialize=target=cuda --convert-tile-to-gpu | FileCheck %s
// RUN: cuda-emulate %s | FileCheck %s --check-prefix=EMULATED

// A cluster of four blocks of 64 threads computes a program. Reductions of one kind that
// follow each other are one: within threads, by shuffles, through the shared memory of the
// block, and that of the other blocks. A thread combines one of the two results, and reads
// the other.
// CHECK: llvm.func @sums(
// CHECK-SAME: adze.threads = 64 : i64
// CHECK-SAME: nvvm.cluster_dim = array<i32: 4, 1, 1>
// CHECK: nvvm.read.ptx.sreg.cluster.ctarank
// CHECK: gpu.shuffle xor
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK-NOT: gpu.shuffle
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait
// CHECK-COUNT-4: nvvm.mapa
// CHECK-NOT: nvvm.mapa
// CHECK: gpu.barrier
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait
// CHECK: llvm.return
// In a loop, a block waits until the others have read its sums of the last iteration.
// CHECK: llvm.func @loop(
// CHECK: scf.for
// CHECK: nvvm.cluster.wait
// CHECK: nvvm.cluster.wait
// CHECK: scf.yield
// The host launches four blocks for each program.
// CHECK: llvm.func @sums_cuda_programs(
// CHECK: arith.constant 12 : index


// EMULATED-DAG: sums: 3 programs of 256 threads agree
// EMULATED-DAG: loop: 1 programs of 256 threads agree

#cluster = #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", 64>, #tile.dim<"split", 4>]>
tile.kernel @sums(%x: memref<3x2x8x128xf32>, %y: memref<3x2xf32>) attributes {tile.schedule = #cluster} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %i = tile.program_id (%c3) : index
  %t = tile.load %x[%i, 0, 0, 0] sizes [2, 8, 128] dims [1, 2, 3] : memref<3x2x8x128xf32> -> tensor<2x8x128xf32>
  %r = tile.reduce add %t dim 2 : tensor<2x8x128xf32> -> tensor<2x8xf32>
  %s = tile.reduce add %r dim 1 : tensor<2x8xf32> -> tensor<2xf32>
  tile.store %s, %y[%i, 0] dims [1] : tensor<2xf32>, memref<3x2xf32>
  tile.return
}

tile.kernel @loop(%x: memref<5x8x128xf32>, %y: memref<1xf32>) attributes {tile.schedule = #cluster} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %f0 = arith.constant 0.0 : f32
  %i = tile.program_id (%c1) : index
  %zero = tile.broadcast %f0 to [1] : f32 -> tensor<1xf32>
  %sum = scf.for %k = %c0 to %c5 step %c1 iter_args(%q = %zero) -> tensor<1xf32> {
    %t = tile.load %x[%k, 0, 0] sizes [1, 8, 128] : memref<5x8x128xf32> -> tensor<1x8x128xf32>
    %r = tile.reduce max %t dim 2 : tensor<1x8x128xf32> -> tensor<1x8xf32>
    %s = tile.reduce max %r dim 1 : tensor<1x8xf32> -> tensor<1xf32>
    %d = arith.addf %q, %s : tensor<1xf32>
    scf.yield %d : tensor<1xf32>
  }
  tile.store %sum, %y[%i] : tensor<1xf32>, memref<1xf32>
  tile.return
}

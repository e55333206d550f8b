// RUN: aopt %s --convert-tile-to-gpu | FileCheck %s
// RUN: cuda-emulate %s --tolerance=1e-4 | FileCheck %s --check-prefix=EMULATED

// Each of 8 warps has one of the parts that the loop carries and that are reduced after it, so
// warps do not wait for each other in the loop, although the scores of an iteration have fewer
// elements than there are threads.
// CHECK-LABEL: llvm.func @parts(
// CHECK: scf.for
// CHECK-NOT: gpu.barrier
// CHECK: scf.yield
// CHECK: gpu.barrier
// EMULATED: parts: 1 programs of 256 threads agree
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448>]} {
tile.kernel @parts(%x: memref<512x64xf32>, %y: memref<1xf32>) attributes {tile.schedule = #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", 256>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %c512 = arith.constant 512 : index
  %i = tile.program_id (%c1) : index
  %z = arith.constant 0.0 : f32
  %init = tile.broadcast %z to [1, 8] : f32 -> tensor<1x8xf32>
  %m = scf.for %k = %c0 to %c512 step %c128 iter_args(%most = %init) -> (tensor<1x8xf32>) {
    %t = tile.load %x[%k, 0] sizes [128, 64] : memref<512x64xf32> -> tensor<128x64xf32>
    %p = tile.reshape %t to [1, 8, 16, 64] : tensor<128x64xf32> -> tensor<1x8x16x64xf32>
    %q = arith.mulf %p, %p : tensor<1x8x16x64xf32>
    %s = tile.reduce add %q dim 3 : tensor<1x8x16x64xf32> -> tensor<1x8x16xf32>
    %b = tile.reduce max %s dim 2 : tensor<1x8x16xf32> -> tensor<1x8xf32>
    %n = arith.maximumf %most, %b : tensor<1x8xf32>
    scf.yield %n : tensor<1x8xf32>
  }
  %r = tile.reduce max %m dim 1 : tensor<1x8xf32> -> tensor<1xf32>
  tile.store %r, %y[%i] : tensor<1xf32>, memref<1xf32>
  tile.return
}

// Four parts are not as many as there are warps: two of them share the rows of a part.
// CHECK-LABEL: llvm.func @others(
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: scf.yield
// EMULATED: others: 1 programs of 256 threads agree
tile.kernel @others(%x: memref<512x64xf32>, %y: memref<1xf32>) attributes {tile.schedule = #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", 256>]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %i = tile.program_id (%c1) : index
  %z = arith.constant 0.0 : f32
  %init = tile.broadcast %z to [1, 4] : f32 -> tensor<1x4xf32>
  %m = scf.for %k = %c0 to %c512 step %c64 iter_args(%most = %init) -> (tensor<1x4xf32>) {
    %t = tile.load %x[%k, 0] sizes [64, 64] : memref<512x64xf32> -> tensor<64x64xf32>
    %p = tile.reshape %t to [1, 4, 16, 64] : tensor<64x64xf32> -> tensor<1x4x16x64xf32>
    %q = arith.mulf %p, %p : tensor<1x4x16x64xf32>
    %s = tile.reduce add %q dim 3 : tensor<1x4x16x64xf32> -> tensor<1x4x16xf32>
    %b = tile.reduce max %s dim 2 : tensor<1x4x16xf32> -> tensor<1x4xf32>
    %n = arith.maximumf %most, %b : tensor<1x4xf32>
    scf.yield %n : tensor<1x4xf32>
  }
  %r = tile.reduce max %m dim 1 : tensor<1x4xf32> -> tensor<1xf32>
  tile.store %r, %y[%i] : tensor<1xf32>, memref<1xf32>
  tile.return
}
}

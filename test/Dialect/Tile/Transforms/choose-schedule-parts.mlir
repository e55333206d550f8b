// RUN: aopt %s --tile-choose-schedule | FileCheck %s

// A kernel that divides its work among warps gets a schedule of threads, with as many blocks
// for a program as fill the GPU. A number of parts that is no number of warps has another
// meaning.
// CHECK: tile.kernel @parts(
// CHECK-SAME: tile.params.cuda = {PARTS = 8 : i64}
// CHECK-SAME: #tile.dim<"threads", 64>, #tile.dim<"split", 4>
// CHECK: tile.kernel @none(
// CHECK-NOT: tile.schedule
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448, features = [tma]>]} {
  tile.kernel @parts(%x: memref<60x512x64xf32>, %y: memref<60x64xf32>) attributes {tile.params = {PARTS = 2 : i64}} {
    %c0 = arith.constant 0 : index
    %c60 = arith.constant 60 : index
    %c512 = arith.constant 512 : index
    %p = tile.param "PARTS" : index
    %i = tile.program_id (%c60) : index
    %zero = arith.constant 0.0 : f32
    %init = tile.broadcast %zero to [%p, 64] : f32 -> tensor<?x64xf32>
    %sums = scf.for %k = %c0 to %c512 step %p iter_args(%s = %init) -> (tensor<?x64xf32>) {
      %t = tile.load %x[%i, %k, 0] sizes [%p, 64] : memref<60x512x64xf32> -> tensor<?x64xf32>
      %n = arith.addf %s, %t : tensor<?x64xf32>
      scf.yield %n : tensor<?x64xf32>
    }
    %r = tile.reduce add %sums dim 0 : tensor<?x64xf32> -> tensor<64xf32>
    tile.store %r, %y[%i, 0] dims [1] : tensor<64xf32>, memref<60x64xf32>
    tile.return
  }
  tile.kernel @none(%x: memref<64xf32>, %y: memref<64xf32>) attributes {tile.params = {PARTS = 3 : i64}} {
    %p = tile.param "PARTS" : index
    %t = tile.load %x[0] sizes [%p] : memref<64xf32> -> tensor<?xf32>
    tile.store %t, %y[0] : tensor<?xf32>, memref<64xf32>
    tile.return
  }
}

// RUN: aopt %s --tile-choose-schedule | FileCheck %s

// An elementwise kernel over one dim of 32-bit elements gets a block of 1024.
// CHECK: tile.kernel @elements(
// CHECK-SAME: tile.params.cuda = {BLOCK = 1024 : i64}
// The number of programs is dynamic, so few are assumed: eight blocks of threads share one.
// CHECK: tile.kernel @dynamic(
// CHECK-SAME: tile.params.cuda = {PARTS = 16 : i64}
// CHECK-SAME: #tile.dim<"threads", 64>, #tile.dim<"split", 8>
// Clusters of two blocks compute 40 programs at once, and larger ones do not.
// CHECK: tile.kernel @forty(
// CHECK-SAME: tile.params.cuda = {PARTS = 4 : i64}
// CHECK-SAME: #tile.dim<"threads", 64>, #tile.dim<"split", 2>
// At most as many blocks as there are iterations share a program: four for five, one for one.
// CHECK: tile.kernel @five(
// CHECK-SAME: tile.params.cuda = {PARTS = 8 : i64}
// CHECK-SAME: #tile.dim<"split", 4>
// CHECK: tile.kernel @once(
// CHECK-SAME: tile.params.cuda = {PARTS = 2 : i64}
// CHECK-SAME: #tile.dim<"split", 1>
// Elements of 16 bits, small blocks, loops, and parameters that the IR binds stay.
// CHECK: tile.kernel @narrow(
// CHECK-NOT: BLOCK = 1024
// CHECK: tile.kernel @small(
// CHECK-NOT: BLOCK = 1024
// CHECK: tile.kernel @reduced(
// CHECK-NOT: BLOCK = 1024
// CHECK: tile.kernel @bound(
// CHECK-SAME: tile.params.cuda = {BLOCK = 512 : i64}
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448, features = [tma]>]} {
  tile.kernel @elements(%x: memref<?xf32>, %y: memref<?xf32>) attributes {tile.params = {BLOCK = 4096 : i64}} {
    %c0 = arith.constant 0 : index
    %n = tile.param "BLOCK" : index
    %size = memref.dim %x, %c0 : memref<?xf32>
    %grid = arith.ceildivui %size, %n : index
    %i = tile.program_id (%grid) : index
    %at = arith.muli %i, %n : index
    %t = tile.load %x[%at] sizes [%n] : memref<?xf32> -> tensor<?xf32>
    %s = arith.addf %t, %t : tensor<?xf32>
    tile.store %s, %y[%at] : tensor<?xf32>, memref<?xf32>
    tile.return
  }
  tile.kernel @dynamic(%x: memref<?x?x64xf32>, %y: memref<?x64xf32>) attributes {tile.params = {PARTS = 2 : i64}} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p = tile.param "PARTS" : index
    %size = memref.dim %y, %c0 : memref<?x64xf32>
    %end = memref.dim %x, %c1 : memref<?x?x64xf32>
    %i = tile.program_id (%size) : index
    %zero = arith.constant 0.0 : f32
    %init = tile.broadcast %zero to [%p, 64] : f32 -> tensor<?x64xf32>
    %sums = scf.for %k = %c0 to %end step %p iter_args(%s = %init) -> (tensor<?x64xf32>) {
      %t = tile.load %x[%i, %k, 0] sizes [%p, 64] : memref<?x?x64xf32> -> tensor<?x64xf32>
      %n = arith.addf %s, %t : tensor<?x64xf32>
      scf.yield %n : tensor<?x64xf32>
    }
    %r = tile.reduce add %sums dim 0 : tensor<?x64xf32> -> tensor<64xf32>
    tile.store %r, %y[%i, 0] dims [1] : tensor<64xf32>, memref<?x64xf32>
    tile.return
  }
  tile.kernel @forty(%x: memref<?x?x64xf32>, %y: memref<?x64xf32>) attributes {tile.params = {PARTS = 2 : i64}} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p = tile.param "PARTS" : index
    %size = arith.constant 40 : index
    %end = memref.dim %x, %c1 : memref<?x?x64xf32>
    %i = tile.program_id (%size) : index
    %zero = arith.constant 0.0 : f32
    %init = tile.broadcast %zero to [%p, 64] : f32 -> tensor<?x64xf32>
    %sums = scf.for %k = %c0 to %end step %p iter_args(%s = %init) -> (tensor<?x64xf32>) {
      %t = tile.load %x[%i, %k, 0] sizes [%p, 64] : memref<?x?x64xf32> -> tensor<?x64xf32>
      %n = arith.addf %s, %t : tensor<?x64xf32>
      scf.yield %n : tensor<?x64xf32>
    }
    %r = tile.reduce add %sums dim 0 : tensor<?x64xf32> -> tensor<64xf32>
    tile.store %r, %y[%i, 0] dims [1] : tensor<64xf32>, memref<?x64xf32>
    tile.return
  }
  tile.kernel @five(%x: memref<?x10x64xf32>, %y: memref<?x64xf32>) attributes {tile.params = {PARTS = 2 : i64}} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p = tile.param "PARTS" : index
    %size = memref.dim %y, %c0 : memref<?x64xf32>
    %end = arith.constant 10 : index
    %i = tile.program_id (%size) : index
    %zero = arith.constant 0.0 : f32
    %init = tile.broadcast %zero to [%p, 64] : f32 -> tensor<?x64xf32>
    %sums = scf.for %k = %c0 to %end step %p iter_args(%s = %init) -> (tensor<?x64xf32>) {
      %t = tile.load %x[%i, %k, 0] sizes [%p, 64] : memref<?x10x64xf32> -> tensor<?x64xf32>
      %n = arith.addf %s, %t : tensor<?x64xf32>
      scf.yield %n : tensor<?x64xf32>
    }
    %r = tile.reduce add %sums dim 0 : tensor<?x64xf32> -> tensor<64xf32>
    tile.store %r, %y[%i, 0] dims [1] : tensor<64xf32>, memref<?x64xf32>
    tile.return
  }
  tile.kernel @once(%x: memref<?x2x64xf32>, %y: memref<?x64xf32>) attributes {tile.params = {PARTS = 2 : i64}} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %p = tile.param "PARTS" : index
    %size = memref.dim %y, %c0 : memref<?x64xf32>
    %end = arith.constant 2 : index
    %i = tile.program_id (%size) : index
    %zero = arith.constant 0.0 : f32
    %init = tile.broadcast %zero to [%p, 64] : f32 -> tensor<?x64xf32>
    %sums = scf.for %k = %c0 to %end step %p iter_args(%s = %init) -> (tensor<?x64xf32>) {
      %t = tile.load %x[%i, %k, 0] sizes [%p, 64] : memref<?x2x64xf32> -> tensor<?x64xf32>
      %n = arith.addf %s, %t : tensor<?x64xf32>
      scf.yield %n : tensor<?x64xf32>
    }
    %r = tile.reduce add %sums dim 0 : tensor<?x64xf32> -> tensor<64xf32>
    tile.store %r, %y[%i, 0] dims [1] : tensor<64xf32>, memref<?x64xf32>
    tile.return
  }
  tile.kernel @narrow(%x: memref<8192xf16>, %y: memref<8192xf16>) attributes {tile.params = {BLOCK = 4096 : i64}} {
    %n = tile.param "BLOCK" : index
    %t = tile.load %x[0] sizes [%n] : memref<8192xf16> -> tensor<?xf16>
    tile.store %t, %y[0] : tensor<?xf16>, memref<8192xf16>
    tile.return
  }
  tile.kernel @small(%x: memref<8192xf32>, %y: memref<8192xf32>) attributes {tile.params = {BLOCK = 512 : i64}} {
    %n = tile.param "BLOCK" : index
    %t = tile.load %x[0] sizes [%n] : memref<8192xf32> -> tensor<?xf32>
    tile.store %t, %y[0] : tensor<?xf32>, memref<8192xf32>
    tile.return
  }
  tile.kernel @reduced(%x: memref<64x8192xf32>, %y: memref<8192xf32>) attributes {tile.params = {BLOCK = 4096 : i64}} {
    %n = tile.param "BLOCK" : index
    %t = tile.load %x[0, 0] sizes [64, %n] : memref<64x8192xf32> -> tensor<64x?xf32>
    %r = tile.reduce add %t dim 0 : tensor<64x?xf32> -> tensor<?xf32>
    tile.store %r, %y[0] : tensor<?xf32>, memref<8192xf32>
    tile.return
  }
  tile.kernel @bound(%x: memref<8192xf32>, %y: memref<8192xf32>) attributes {tile.params = {BLOCK = 4096 : i64}, tile.params.cuda = {BLOCK = 512 : i64}} {
    %n = tile.param "BLOCK" : index
    %t = tile.load %x[0] sizes [%n] : memref<8192xf32> -> tensor<?xf32>
    tile.store %t, %y[0] : tensor<?xf32>, memref<8192xf32>
    tile.return
  }
}

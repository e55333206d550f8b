// RUN: aopt %s --fuse-launches | FileCheck %s --check-prefixes=CHECK,SEVERAL
// RUN: sed 's/PARTS = 4/PARTS = 8/' %s | aopt --fuse-launches | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: sed 's/"BLOCK_N" :/"BLOCK_N" in [8] :/' %s | aopt --fuse-launches | FileCheck %s --check-prefixes=CHECK,FIXED
// RUN: aopt %s --fuse-launches | cuda-emulate - --symbols=3,3,3,3 --tolerance=1e-2 | FileCheck %s --check-prefix=EMULATE

// Two products of few rows, each in a loop over the depth, are in one loop, which loads their
// common operand once. A program has half of the columns, and half of the parts if they have
// several iterations, unless it may not have that many columns.
// EMULATE: up_few_gate_few: {{[0-9]+}} programs of {{[0-9]+}} threads agree
// CHECK: tile.kernel @up_few_gate_few(%[[X:[^:]*]]: memref<?x512xf16>
// SEVERAL-SAME: tile.params = {BLOCK_N = 4 : i64, PARTS = 2 : i64}
// ONE-SAME: tile.params = {BLOCK_N = 4 : i64, PARTS = 8 : i64}
// FIXED-SAME: tile.params = {BLOCK_N = 8 : i64, PARTS = 4 : i64}
// CHECK: scf.for
// CHECK: tile.load %[[X]]
// CHECK: tile.load
// CHECK: tile.reduce
// CHECK-NOT: tile.load %[[X]]
// CHECK: tile.load
// CHECK: tile.reduce
// CHECK: scf.yield %{{.*}}, %{{.*}} : tensor<?xf32>, tensor<?xf32>
// CHECK-NOT: scf.for
// CHECK: tile.store
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448>]} {
  func.func @main(%x: memref<?x512xf16>, %y: memref<?x64xf16>) attributes {adze.num_inputs = 1 : i64} {
    %up = host.constant dense<1.0> : tensor<64x512xf16> {offset = 0 : i64} -> memref<64x512xf16>
    %gate = host.constant dense<2.0> : tensor<64x512xf16> {offset = 65536 : i64} -> memref<64x512xf16>
    %t = host.slot {offset = 0 : i64, size = affine_map<()[s0] -> (s0 * 128)>} : memref<?x64xf16>
    host.launch @up(%x, %up, %t) : (memref<?x512xf16>, memref<64x512xf16>, memref<?x64xf16>) -> ()
    host.launch @up_few(%x, %up, %t) {adze.other_version} : (memref<?x512xf16>, memref<64x512xf16>, memref<?x64xf16>) -> ()
    host.launch @gate(%x, %gate, %t, %y) : (memref<?x512xf16>, memref<64x512xf16>, memref<?x64xf16>, memref<?x64xf16>) -> ()
    host.launch @gate_few(%x, %gate, %t, %y) {adze.other_version} : (memref<?x512xf16>, memref<64x512xf16>, memref<?x64xf16>, memref<?x64xf16>) -> ()
    return
  }
  tile.kernel @up(%x: memref<?x512xf16>, %w: memref<64x512xf16>, %t: memref<?x64xf16>) {
    tile.return
  }
  tile.kernel @up_few(%x: memref<?x512xf16>, %w: memref<64x512xf16>, %t: memref<?x64xf16>) attributes {tile.params = {BLOCK_N = 8 : i64, PARTS = 4 : i64}} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %n = tile.param "BLOCK_N" : index
    %parts = tile.param "PARTS" : index
    %c64 = arith.constant 64 : index
    %step = arith.muli %parts, %c64 : index
    %c512 = arith.constant 512 : index
    %f0 = arith.constant 0.0 : f32
    %rows = memref.dim %x, %c0 : memref<?x512xf16>
    %isFew = arith.cmpi ule, %rows, %c4 : index
    %g0 = arith.select %isFew, %rows, %c0 : index
    %g1 = arith.ceildivui %c64, %n : index
    %i, %j = tile.program_id (%g0, %g1) : index, index
    %col = arith.muli %j, %n : index
    %zero = tile.broadcast %f0 to [%n] : f32 -> tensor<?xf32>
    %s = scf.for %k = %c0 to %c512 step %step iter_args(%acc = %zero) -> tensor<?xf32> {
      %a = tile.load %x[%i, %k] sizes [%step] : memref<?x512xf16> -> tensor<?xf16>
      %b = tile.load %w[%col, %k] sizes [%n, %step] : memref<64x512xf16> -> tensor<?x?xf16>
      %p = arith.extf %a : tensor<?xf16> to tensor<?xf32>
      %q = arith.extf %b : tensor<?x?xf16> to tensor<?x?xf32>
      %r = tile.broadcast %p to [%n, %step] dims [1] : tensor<?xf32> -> tensor<?x?xf32>
      %m = arith.mulf %q, %r : tensor<?x?xf32>
      %o = tile.reduce add %m dim 1 : tensor<?x?xf32> -> tensor<?xf32>
      %sum = arith.addf %acc, %o : tensor<?xf32>
      scf.yield %sum : tensor<?xf32>
    }
    %h = arith.truncf %s : tensor<?xf32> to tensor<?xf16>
    tile.store %h, %t[%i, %col] : tensor<?xf16>, memref<?x64xf16>
    tile.return
  }
  tile.kernel @gate(%x: memref<?x512xf16>, %w: memref<64x512xf16>, %t: memref<?x64xf16>, %y: memref<?x64xf16>) {
    tile.return
  }
  tile.kernel @gate_few(%x: memref<?x512xf16>, %w: memref<64x512xf16>, %t: memref<?x64xf16>, %y: memref<?x64xf16>) attributes {tile.params = {BLOCK_N = 8 : i64, PARTS = 4 : i64}} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %n = tile.param "BLOCK_N" : index
    %parts = tile.param "PARTS" : index
    %c64 = arith.constant 64 : index
    %step = arith.muli %parts, %c64 : index
    %c512 = arith.constant 512 : index
    %f0 = arith.constant 0.0 : f32
    %rows = memref.dim %x, %c0 : memref<?x512xf16>
    %isFew = arith.cmpi ule, %rows, %c4 : index
    %g0 = arith.select %isFew, %rows, %c0 : index
    %g1 = arith.ceildivui %c64, %n : index
    %i, %j = tile.program_id (%g0, %g1) : index, index
    %col = arith.muli %j, %n : index
    %zero = tile.broadcast %f0 to [%n] : f32 -> tensor<?xf32>
    %s = scf.for %k = %c0 to %c512 step %step iter_args(%acc = %zero) -> tensor<?xf32> {
      %a = tile.load %x[%i, %k] sizes [%step] : memref<?x512xf16> -> tensor<?xf16>
      %b = tile.load %w[%col, %k] sizes [%n, %step] : memref<64x512xf16> -> tensor<?x?xf16>
      %p = arith.extf %a : tensor<?xf16> to tensor<?xf32>
      %q = arith.extf %b : tensor<?x?xf16> to tensor<?x?xf32>
      %r = tile.broadcast %p to [%n, %step] dims [1] : tensor<?xf32> -> tensor<?x?xf32>
      %m = arith.mulf %q, %r : tensor<?x?xf32>
      %o = tile.reduce add %m dim 1 : tensor<?x?xf32> -> tensor<?xf32>
      %sum = arith.addf %acc, %o : tensor<?xf32>
      scf.yield %sum : tensor<?xf32>
    }
    %h = arith.truncf %s : tensor<?xf32> to tensor<?xf16>
    %u = tile.load %t[%i, %col] sizes [%n] : memref<?x64xf16> -> tensor<?xf16>
    %v = arith.mulf %h, %u : tensor<?xf16>
    tile.store %v, %y[%i, %col] : tensor<?xf16>, memref<?x64xf16>
    tile.return
  }
}

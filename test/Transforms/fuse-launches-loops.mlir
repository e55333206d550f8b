// RUN: aopt %s --fuse-launches | FileCheck %s
// RUN: aopt %s --fuse-launches | cuda-emulate - --symbols=3,3,3,3 --tolerance=1e-2 | FileCheck %s --check-prefix=EMULATE

// Two products of few rows, each in a loop over the depth, are in one loop, which loads their
// common operand once.
// EMULATE: up_few_gate_few: {{[0-9]+}} programs of {{[0-9]+}} threads agree
// CHECK: tile.kernel @up_few_gate_few(%[[X:[^:]*]]: memref<?x512xf16>
// CHECK: scf.for
// CHECK: tile.load %[[X]]
// CHECK: tile.load
// CHECK: tile.reduce
// CHECK-NOT: tile.load %[[X]]
// CHECK: tile.load
// CHECK: tile.reduce
// CHECK: scf.yield %{{.*}}, %{{.*}} : tensor<8xf32>, tensor<8xf32>
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
  tile.kernel @up_few(%x: memref<?x512xf16>, %w: memref<64x512xf16>, %t: memref<?x64xf16>) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c256 = arith.constant 256 : index
    %c512 = arith.constant 512 : index
    %f0 = arith.constant 0.0 : f32
    %rows = memref.dim %x, %c0 : memref<?x512xf16>
    %isFew = arith.cmpi ule, %rows, %c4 : index
    %g0 = arith.select %isFew, %rows, %c0 : index
    %i, %j = tile.program_id (%g0, %c8) : index, index
    %col = arith.muli %j, %c8 : index
    %zero = tile.broadcast %f0 to [8] : f32 -> tensor<8xf32>
    %s = scf.for %k = %c0 to %c512 step %c256 iter_args(%acc = %zero) -> tensor<8xf32> {
      %a = tile.load %x[%i, %k] sizes [256] : memref<?x512xf16> -> tensor<256xf16>
      %b = tile.load %w[%col, %k] sizes [8, 256] : memref<64x512xf16> -> tensor<8x256xf16>
      %p = arith.extf %a : tensor<256xf16> to tensor<256xf32>
      %q = arith.extf %b : tensor<8x256xf16> to tensor<8x256xf32>
      %r = tile.broadcast %p to [8, 256] dims [1] : tensor<256xf32> -> tensor<8x256xf32>
      %m = arith.mulf %q, %r : tensor<8x256xf32>
      %o = tile.reduce add %m dim 1 : tensor<8x256xf32> -> tensor<8xf32>
      %n = arith.addf %acc, %o : tensor<8xf32>
      scf.yield %n : tensor<8xf32>
    }
    %h = arith.truncf %s : tensor<8xf32> to tensor<8xf16>
    tile.store %h, %t[%i, %col] : tensor<8xf16>, memref<?x64xf16>
    tile.return
  }
  tile.kernel @gate(%x: memref<?x512xf16>, %w: memref<64x512xf16>, %t: memref<?x64xf16>, %y: memref<?x64xf16>) {
    tile.return
  }
  tile.kernel @gate_few(%x: memref<?x512xf16>, %w: memref<64x512xf16>, %t: memref<?x64xf16>, %y: memref<?x64xf16>) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c256 = arith.constant 256 : index
    %c512 = arith.constant 512 : index
    %f0 = arith.constant 0.0 : f32
    %rows = memref.dim %x, %c0 : memref<?x512xf16>
    %isFew = arith.cmpi ule, %rows, %c4 : index
    %g0 = arith.select %isFew, %rows, %c0 : index
    %i, %j = tile.program_id (%g0, %c8) : index, index
    %col = arith.muli %j, %c8 : index
    %zero = tile.broadcast %f0 to [8] : f32 -> tensor<8xf32>
    %s = scf.for %k = %c0 to %c512 step %c256 iter_args(%acc = %zero) -> tensor<8xf32> {
      %a = tile.load %x[%i, %k] sizes [256] : memref<?x512xf16> -> tensor<256xf16>
      %b = tile.load %w[%col, %k] sizes [8, 256] : memref<64x512xf16> -> tensor<8x256xf16>
      %p = arith.extf %a : tensor<256xf16> to tensor<256xf32>
      %q = arith.extf %b : tensor<8x256xf16> to tensor<8x256xf32>
      %r = tile.broadcast %p to [8, 256] dims [1] : tensor<256xf32> -> tensor<8x256xf32>
      %m = arith.mulf %q, %r : tensor<8x256xf32>
      %o = tile.reduce add %m dim 1 : tensor<8x256xf32> -> tensor<8xf32>
      %n = arith.addf %acc, %o : tensor<8xf32>
      scf.yield %n : tensor<8xf32>
    }
    %h = arith.truncf %s : tensor<8xf32> to tensor<8xf16>
    %u = tile.load %t[%i, %col] sizes [8] : memref<?x64xf16> -> tensor<8xf16>
    %v = arith.mulf %h, %u : tensor<8xf16>
    tile.store %v, %y[%i, %col] : tensor<8xf16>, memref<?x64xf16>
    tile.return
  }
}

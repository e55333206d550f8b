// RUN: aopt %s --fuse-launches | FileCheck %s
// RUN: aopt %s --fuse-launches --tile-choose-schedule -o %t.mlir
// RUN: FileCheck %s --check-prefix=SCHEDULE --input-file=%t.mlir
// RUN: cuda-emulate %t.mlir --symbols=200,200 --tolerance=1e-2 | FileCheck %s --check-prefix=EMULATED
// RUN: sed 's/units = .*, features/features/' %s | aopt --fuse-launches | FileCheck %s --check-prefix=NO-UNIT

// Two products with the same left operand: one loop multiplies it by both right operands. The
// blocks of each have half of the columns that a block of one product has.
// CHECK-LABEL: func.func @main
// CHECK: host.launch @up_gate(%arg0, %{{.*}}, %{{.*}}, %arg1)
// CHECK-NEXT: return
// CHECK-NOT: tile.kernel @up(
// CHECK: tile.kernel @up_gate(
// CHECK: scf.for {{.*}} -> (tensor<?x?xf32>, tensor<?x?xf32>)
// CHECK: %[[X:.*]] = tile.load %arg0
// CHECK: tile.dot %[[X]], %{{.*}}, %{{.*}} :
// CHECK-NOT: tile.load %arg0
// CHECK: tile.dot %[[X]], %{{.*}}, %{{.*}} :
// CHECK-NOT: scf.for
// CHECK: tile.store %{{.*}}, %arg3
// CHECK-NOT: tile.store
// SCHEDULE: tile.kernel @up_gate({{.*}}unit = "wgmma", dims = [#tile.dim<"m", 128>, #tile.dim<"n", 64>, #tile.dim<"k", 64>]
// EMULATED: up_gate: {{[1-9][0-9]*}} programs of {{.*}} agree

// Without a matrix unit each product has its own kernel.
// NO-UNIT: host.launch @up(
// NO-UNIT-NEXT: host.launch @gate(
#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448, units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>
module attributes {tile.targets = [#gpu]} {
  func.func @main(%x: memref<?x256xf16>, %y: memref<?x320xf16>) attributes {adze.num_inputs = 1 : i64} {
    %up = host.constant dense<1.0> : tensor<256x320xf16> {offset = 0 : i64} -> memref<256x320xf16>
    %gate = host.constant dense<2.0> : tensor<256x320xf16> {offset = 163840 : i64} -> memref<256x320xf16>
    %t = host.slot {offset = 0 : i64, size = affine_map<()[s0] -> (s0 * 640)>} : memref<?x320xf16>
    host.launch @up(%x, %up, %t) : (memref<?x256xf16>, memref<256x320xf16>, memref<?x320xf16>) -> ()
    host.launch @gate(%x, %gate, %t, %y) : (memref<?x256xf16>, memref<256x320xf16>, memref<?x320xf16>, memref<?x320xf16>) -> ()
    return
  }

  tile.kernel @up(%x: memref<?x256xf16>, %w: memref<256x320xf16>, %t: memref<?x320xf16>) attributes {tile.params = {BLOCK_M = 6 : i64, BLOCK_N = 64 : i64, BLOCK_K = 256 : i64}} {
    %m = tile.param "BLOCK_M" : index
    %n = tile.param "BLOCK_N" : index
    %k = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %c320 = arith.constant 320 : index
    %rows = memref.dim %x, %c0 : memref<?x256xf16>
    %g0 = arith.ceildivui %rows, %m : index
    %g1 = arith.ceildivui %c320, %n : index
    %i, %j = tile.program_id (%g0, %g1) : index, index
    %row = arith.muli %i, %m : index
    %col = arith.muli %j, %n : index
    %zero = arith.constant 0.0 : f32
    %sums = tile.broadcast %zero to [%m, %n] : f32 -> tensor<?x?xf32>
    %r = scf.for %at = %c0 to %c256 step %k iter_args(%s = %sums) -> (tensor<?x?xf32>) {
      %a = tile.load %x[%row, %at] sizes [%m, %k] : memref<?x256xf16> -> tensor<?x?xf16>
      %b = tile.load %w[%at, %col] sizes [%k, %n] : memref<256x320xf16> -> tensor<?x?xf16>
      %next = tile.dot %a, %b, %s : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
      scf.yield %next : tensor<?x?xf32>
    }
    %h = arith.truncf %r : tensor<?x?xf32> to tensor<?x?xf16>
    tile.store %h, %t[%row, %col] : tensor<?x?xf16>, memref<?x320xf16>
    tile.return
  }
  tile.kernel @gate(%x: memref<?x256xf16>, %w: memref<256x320xf16>, %t: memref<?x320xf16>, %y: memref<?x320xf16>) attributes {tile.params = {BLOCK_M = 6 : i64, BLOCK_N = 64 : i64, BLOCK_K = 256 : i64}} {
    %m = tile.param "BLOCK_M" : index
    %n = tile.param "BLOCK_N" : index
    %k = tile.param "BLOCK_K" : index
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %c320 = arith.constant 320 : index
    %rows = memref.dim %x, %c0 : memref<?x256xf16>
    %g0 = arith.ceildivui %rows, %m : index
    %g1 = arith.ceildivui %c320, %n : index
    %i, %j = tile.program_id (%g0, %g1) : index, index
    %row = arith.muli %i, %m : index
    %col = arith.muli %j, %n : index
    %zero = arith.constant 0.0 : f32
    %sums = tile.broadcast %zero to [%m, %n] : f32 -> tensor<?x?xf32>
    %r = scf.for %at = %c0 to %c256 step %k iter_args(%s = %sums) -> (tensor<?x?xf32>) {
      %a = tile.load %x[%row, %at] sizes [%m, %k] : memref<?x256xf16> -> tensor<?x?xf16>
      %b = tile.load %w[%at, %col] sizes [%k, %n] : memref<256x320xf16> -> tensor<?x?xf16>
      %next = tile.dot %a, %b, %s : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
      scf.yield %next : tensor<?x?xf32>
    }
    %u = tile.load %t[%row, %col] sizes [%m, %n] : memref<?x320xf16> -> tensor<?x?xf16>
    %v = arith.extf %u : tensor<?x?xf16> to tensor<?x?xf32>
    %p = arith.mulf %r, %v : tensor<?x?xf32>
    %h = arith.truncf %p : tensor<?x?xf32> to tensor<?x?xf16>
    tile.store %h, %y[%row, %col] : tensor<?x?xf16>, memref<?x320xf16>
    tile.return
  }
}

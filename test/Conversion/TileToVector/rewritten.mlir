// Memory of results that a later part of the kernel reads.
// RUN: aopt %s -convert-tile-to-vector -canonicalize -cse --split-input-file | FileCheck %s

!x = memref<8x64xf32>

// Each slice of rows writes and reads its own: rows are still processed in blocks, and
// the second part reads in place, without a copy in scratch.
// CHECK-LABEL: func.func @aligned(
// CHECK-NOT: memref.alloca
// CHECK: scf.for {{.*}} to %c8 step
// CHECK: vector.store {{.*}}, %arg1
// CHECK: vector.load %arg1
// CHECK: vector.store {{.*}}, %arg1
tile.kernel @aligned(%x: !x, %y: !x) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c32 {
    %a = tile.load %x[0, %i] sizes [8, 32] : !x -> tensor<8x32xf32>
    %e = math.exp %a : tensor<8x32xf32>
    tile.store %e, %y[0, %i] : tensor<8x32xf32>, !x
  }
  scf.for %i = %c0 to %c64 step %c32 {
    %a = tile.load %y[0, %i] sizes [8, 32] : !x -> tensor<8x32xf32>
    %e = arith.addf %a, %a : tensor<8x32xf32>
    tile.store %e, %y[0, %i] : tensor<8x32xf32>, !x
  }
  tile.return
}

// -----

!x = memref<8x64xf32>

// The second part reads rows other than those of its slice: the whole first part runs
// before it.
// CHECK-LABEL: func.func @moved(
// CHECK: math.exp
// CHECK: vector.store {{.*}}, %arg1
// CHECK: vector.load %arg1
// CHECK-NOT: math.exp
// CHECK: return
tile.kernel @moved(%x: !x, %y: !x) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c32 {
    %a = tile.load %x[0, %i] sizes [8, 32] : !x -> tensor<8x32xf32>
    %e = math.exp %a : tensor<8x32xf32>
    tile.store %e, %y[0, %i] : tensor<8x32xf32>, !x
  }
  scf.for %i = %c0 to %c64 step %c32 {
    %a = tile.load %y[4, %i] sizes [4, 32] : !x -> tensor<4x32xf32>
    tile.store %a, %y[0, %i] : tensor<4x32xf32>, !x
  }
  tile.return
}

// -----

!d = memref<4x?xf32>

// Whole chunks of a dynamic length are in bounds by the form of their loop: there is no
// masked version of the body. The remainder is masked in the only version.
// CHECK-LABEL: func.func @whole(
// CHECK-NOT: scf.if
// CHECK: scf.for {{.*}} step %c32
// CHECK-NOT: maskedload
// CHECK: vector.store
// CHECK: scf.for {{.*}} step %c16
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
// CHECK-NOT: scf.for
// CHECK: return
tile.kernel @whole(%x: !d, %y: !d) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %rows = arith.constant 4 : index
  %n = memref.dim %y, %c1 : !d
  %p = tile.program_id (%rows) : index
  %parts = arith.divui %n, %c32 : index
  %whole = arith.muli %parts, %c32 : index
  %rest = arith.remui %n, %c32 : index
  scf.for %i = %c0 to %whole step %c32 {
    %f = arith.constant 1.0 : f32
    %t = tile.broadcast %f to [32] : f32 -> tensor<32xf32>
    tile.store %t, %y[%p, %i] : tensor<32xf32>, !d
  }
  scf.for %i = %c0 to %rest step %c16 {
    %at = arith.addi %whole, %i : index
    %t = tile.load %y[%p, %at] sizes [16] {tile.tail} : !d -> tensor<16xf32>
    %s = arith.addf %t, %t : tensor<16xf32>
    tile.store %s, %y[%p, %at] {tile.tail} : tensor<16xf32>, !d
  }
  tile.return
}

// RUN: aopt %s --convert-tile-to-gpu | FileCheck %s
// RUN: cuda-emulate %s --symbols=7 | FileCheck %s --check-prefix=EMULATED

// Blocks of threads compute several programs that have a warp each, if none waits.
// CHECK-LABEL: llvm.func @whole(
// CHECK-SAME: adze.packed_programs = 8 : i64
// CHECK-SAME: adze.threads = 256 : i64
// CHECK: %[[T:.*]] = gpu.thread_id x
// CHECK: %[[B:.*]] = gpu.block_id x
// CHECK: %[[OWN:.*]] = arith.shrui %[[T]], %c5
// CHECK: arith.andi %[[T]], %c31
// CHECK: %[[FIRST:.*]] = arith.muli %[[B]], %c8
// CHECK: arith.addi %[[FIRST]], %[[OWN]]
// CHECK-NOT: arith.cmpi ult, %{{.*}}, %c2048
// CHECK: llvm.return
// EMULATED: whole: 2048 programs of 32 threads agree
tile.kernel @whole(%x: memref<2048x40xf32>, %y: memref<2048x40xf32>) {
  %c2048 = arith.constant 2048 : index
  %i = tile.program_id (%c2048) : index
  %t = tile.load %x[%i, 0] sizes [40] dims [1] : memref<2048x40xf32> -> tensor<40xf32>
  tile.store %t, %y[%i, 0] dims [1] : tensor<40xf32>, memref<2048x40xf32>
  tile.return
}

// The last block of a dynamic number has programs that do not exist.
#any = affine_map<()[s0] -> (s0, 40)>
// CHECK-LABEL: llvm.func @dynamic(
// CHECK-SAME: adze.packed_programs = 8 : i64
// CHECK: %[[ID:.*]] = arith.addi
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %[[ID]], %{{.*}} : index
// CHECK-NOT: llvm.load
// CHECK: scf.if %[[EXISTS]]
// CHECK: llvm.load
// CHECK: llvm.store
// EMULATED: dynamic: 7 programs of 32 threads agree
tile.kernel @dynamic(%x: memref<?x40xf32> {adze.dims = #any}, %y: memref<?x40xf32> {adze.dims = #any}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x40xf32>
  %i = tile.program_id (%n) : index
  %t = tile.load %x[%i, 0] sizes [40] dims [1] : memref<?x40xf32> -> tensor<40xf32>
  %d = arith.addf %t, %t : tensor<40xf32>
  tile.store %d, %y[%i, 0] dims [1] : tensor<40xf32>, memref<?x40xf32>
  tile.return
}

// In place: the threads of a program load before any of them stores.
// CHECK-LABEL: llvm.func @twice(
// CHECK-SAME: adze.threads = 32 : i64
// EMULATED: twice: 7 programs of 32 threads agree
tile.kernel @twice(%x: memref<?x40xf32> {adze.dims = #any}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x40xf32>
  %i = tile.program_id (%n) : index
  %t = tile.load %x[%i, 0] sizes [40] dims [1] : memref<?x40xf32> -> tensor<40xf32>
  %d = arith.addf %t, %t : tensor<40xf32>
  tile.store %d, %x[%i, 0] dims [1] : tensor<40xf32>, memref<?x40xf32>
  tile.return
}

// Few programs have blocks of their own, as do those whose threads wait, or are many.
// CHECK-LABEL: llvm.func @few(
// CHECK-NOT: adze.packed_programs
// CHECK-SAME: adze.threads = 32 : i64
// EMULATED: few: 100 programs of 32 threads agree
tile.kernel @few(%x: memref<100x40xf32>, %y: memref<100x40xf32>) {
  %c100 = arith.constant 100 : index
  %i = tile.program_id (%c100) : index
  %t = tile.load %x[%i, 0] sizes [40] dims [1] : memref<100x40xf32> -> tensor<40xf32>
  tile.store %t, %y[%i, 0] dims [1] : tensor<40xf32>, memref<100x40xf32>
  tile.return
}
// CHECK-LABEL: llvm.func @waits(
// CHECK-NOT: adze.packed_programs
// CHECK-SAME: adze.threads = 128 : i64
// EMULATED: waits: 2048 programs of 128 threads agree
tile.kernel @waits(%x: memref<2048x400xf32>, %y: memref<2048xf32>) {
  %c2048 = arith.constant 2048 : index
  %i = tile.program_id (%c2048) : index
  %t = tile.load %x[%i, 0] sizes [1, 400] : memref<2048x400xf32> -> tensor<1x400xf32>
  %s = tile.reduce add %t dim 1 : tensor<1x400xf32> -> tensor<1xf32>
  tile.store %s, %y[%i] : tensor<1xf32>, memref<2048xf32>
  tile.return
}
// CHECK-LABEL: llvm.func @wide(
// CHECK-NOT: adze.packed_programs
// CHECK-SAME: adze.threads = 128 : i64
// EMULATED: wide: 2048 programs of 128 threads agree
tile.kernel @wide(%x: memref<2048x512xf32>, %y: memref<2048x512xf32>) {
  %c2048 = arith.constant 2048 : index
  %i = tile.program_id (%c2048) : index
  %t = tile.load %x[%i, 0] sizes [512] dims [1] : memref<2048x512xf32> -> tensor<512xf32>
  tile.store %t, %y[%i, 0] dims [1] : tensor<512xf32>, memref<2048x512xf32>
  tile.return
}

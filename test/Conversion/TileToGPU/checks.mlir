// Checks of positions: each thread stores the record of the fault if the greatest of its
// positions is out of range. The emulated kernels raise the faults that the interpreter
// finds; indices are in [-100, 100].
// RUN: aopt %s --convert-tile-to-gpu | FileCheck %s
// RUN: cuda-emulate %s --symbols=90 | FileCheck %s --check-prefix=EMULATED

// The last argument is the address of the records; a record has 32 bytes.
// CHECK-LABEL: llvm.func @rows(
// CHECK-SAME: %[[FAULTS:[a-z0-9]+]]: i64)
// CHECK-SAME: adze.raises_faults
// CHECK: %[[RECORDS:.*]] = llvm.inttoptr %[[FAULTS]] : i64 to !llvm.ptr<1>
// CHECK: arith.maxui
// CHECK: %[[OUTSIDE:.*]] = arith.cmpi uge, %{{.*}}, %c120
// CHECK: scf.if %[[OUTSIDE]]
// CHECK: llvm.getelementptr %[[RECORDS]][40]
// CHECK: llvm.store %{{.*}} atomic monotonic {alignment = 8 : i64}
// CHECK: llvm.getelementptr %[[RECORDS]][32]
// CHECK: llvm.store %{{.*}} atomic monotonic {alignment = 8 : i64}
// EMULATED: rows: 8 programs of 128 threads agree, fault 1{{$}}
tile.kernel @rows(%x: memref<8x120xf32>, %i: memref<8x512xi64>, %y: memref<8x512xf32>) {
  %c8 = arith.constant 8 : index
  %c120 = arith.constant 120 : index
  %p = tile.program_id (%c8) : index
  %t = tile.load %i[%p, 0] sizes [512] dims [1] : memref<8x512xi64> -> tensor<512xi64>
  %at = arith.index_cast %t : tensor<512xi64> to tensor<512xindex>
  tile.check %at below %c120 fault 1 : tensor<512xindex>
  %last = arith.constant dense<119> : tensor<512xindex>
  %in = arith.minui %at, %last : tensor<512xindex>
  %g = tile.gather %x[%p, 0] at %in along 1 dims [-1] : memref<8x120xf32>, tensor<512xindex> -> tensor<512xf32>
  tile.store %g, %y[%p, 0] dims [1] : tensor<512xf32>, memref<8x512xf32>
  tile.return
}

// No position is out of range.
// CHECK-LABEL: llvm.func @within(
// EMULATED: within: 8 programs of 128 threads agree{{$}}
tile.kernel @within(%x: memref<8x201xf32>, %i: memref<8x512xi64>, %y: memref<8x512xf32>) {
  %c8 = arith.constant 8 : index
  %c201 = arith.constant 201 : index
  %p = tile.program_id (%c8) : index
  %t = tile.load %i[%p, 0] sizes [512] dims [1] : memref<8x512xi64> -> tensor<512xi64>
  %hundred = arith.constant dense<100> : tensor<512xi64>
  %positive = arith.addi %t, %hundred : tensor<512xi64>
  %at = arith.index_cast %positive : tensor<512xi64> to tensor<512xindex>
  tile.check %at below %c201 fault 0 : tensor<512xindex>
  %g = tile.gather %x[%p, 0] at %at along 1 dims [-1] : memref<8x201xf32>, tensor<512xindex> -> tensor<512xf32>
  tile.store %g, %y[%p, 0] dims [1] : tensor<512xf32>, memref<8x512xf32>
  tile.return
}

// A dynamic extent, and positions that are computed from the number of the program.
// CHECK-LABEL: llvm.func @dynamic(
// CHECK: arith.cmpi uge
// EMULATED: dynamic: 64 programs of 32 threads agree, fault 2{{$}}
tile.kernel @dynamic(%x: memref<?x40xf32> {adze.dims = affine_map<()[s0] -> (s0, 40)>}, %y: memref<64x40xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %x, %c0 : memref<?x40xf32>
  %p = tile.program_id (%c64) : index
  %at = arith.muli %p, %c2 : index
  tile.check absolute %at below %n fault 2 : index
  %last = arith.subi %n, %c1 : index
  %in = arith.minui %at, %last : index
  %t = tile.load %x[%in, 0] sizes [40] dims [1] : memref<?x40xf32> -> tensor<40xf32>
  tile.store %t, %y[%p, 0] dims [1] : tensor<40xf32>, memref<64x40xf32>
  tile.return
}

// A tile of more elements than threads hold at once: each part is checked. Only the last
// row is out of range.
// CHECK-LABEL: llvm.func @parts(
// CHECK: scf.for
// CHECK: arith.cmpi uge, %{{.*}}, %c63
// EMULATED: parts: 2 programs of 256 threads agree, fault 0{{$}}
tile.kernel @parts(%x: memref<2x64x1024xf32>, %y: memref<2x64x1024xf32>) {
  %c2 = arith.constant 2 : index
  %c63 = arith.constant 63 : index
  %p = tile.program_id (%c2) : index
  %row = tile.iota dim 0 to [64, 1024] : tensor<64x1024xindex>
  tile.check absolute %row below %c63 fault 0 : tensor<64x1024xindex>
  %last = arith.constant dense<62> : tensor<64x1024xindex>
  %in = arith.minui %row, %last : tensor<64x1024xindex>
  %t = tile.gather %x[%p, 0, 0] at %in along 1 dims [-1, 2] : memref<2x64x1024xf32>, tensor<64x1024xindex> -> tensor<64x1024xf32>
  tile.store %t, %y[%p, 0, 0] : tensor<64x1024xf32>, memref<2x64x1024xf32>
  tile.return
}

// Threads have elements beyond the end of the tile, which are not checked.
// CHECK-LABEL: llvm.func @partial(
// EMULATED: partial: 4 programs of 256 threads agree{{$}}
tile.kernel @partial(%x: memref<4x700xf32>, %y: memref<4x700xf32>) {
  %c4 = arith.constant 4 : index
  %c700 = arith.constant 700 : index
  %p = tile.program_id (%c4) : index
  %i = tile.iota dim 0 to [700] : tensor<700xindex>
  tile.check absolute %i below %c700 fault 3 : tensor<700xindex>
  %t = tile.gather %x[%p, 0] at %i along 1 dims [-1] : memref<4x700xf32>, tensor<700xindex> -> tensor<700xf32>
  tile.store %t, %y[%p, 0] dims [1] : tensor<700xf32>, memref<4x700xf32>
  tile.return
}

// A loop of scalars: each thread checks the positions of its iterations.
// CHECK-LABEL: llvm.func @scalars(
// CHECK: %[[FIRST:.*]] = arith.muli %thread_id_x, %c1
// CHECK: scf.for %{{.*}} = %{{.*}} to %c500{{.*}} step %c32
// CHECK: arith.cmpi uge, %{{.*}}, %c499
// CHECK: scf.if
// CHECK: llvm.store
// EMULATED: scalars: 1 programs of 32 threads agree, fault 4{{$}}
tile.kernel @scalars(%x: memref<500xf32>, %y: memref<500xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c498 = arith.constant 498 : index
  %c499 = arith.constant 499 : index
  %c500 = arith.constant 500 : index
  %p = tile.program_id (%c1) : index
  scf.for %i = %c0 to %c500 step %c1 {
    tile.check absolute %i below %c499 fault 4 : index
    %in = arith.minui %i, %c498 : index
    %v = memref.load %x[%in] : memref<500xf32>
    memref.store %v, %y[%i] : memref<500xf32>
  }
  tile.return
}

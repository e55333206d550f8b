// RUN: aopt %s -convert-linalg-to-gpu | FileCheck %s

#n = affine_map<()[s0] -> (s0, 8)>

// One nest of independent loops: each iteration is a thread.
// CHECK-LABEL: llvm.func @threads(
// CHECK-SAME: !llvm.ptr<1> {llvm.noalias}, %{{.*}}: !llvm.ptr<1> {llvm.noalias}, %{{.*}}: i64, %{{.*}}: i64)
// CHECK-SAME: adze.shared_bytes = 0 : i64, adze.symbols = 1 : i64, adze.threads = 256 : i64
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c256
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: %[[I:.*]] = arith.addi %[[FIRST]], %[[THREAD]]
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %[[I]]
// CHECK: scf.if %[[EXISTS]]
// CHECK-NOT: scf.for
// CHECK: memref.store
// CHECK-NOT: gpu.barrier
func.func @threads(%x: memref<?x8xf32> {adze.dims = #n}, %y: memref<?x8xf32> {adze.dims = #n}) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<?x8xf32>
      memref.store %0, %y[%i, %j] : memref<?x8xf32>
    } {adze.independent}
  } {adze.independent}
  return
}

// Steps in order of a row are a loop in a thread; there are few rows.
// CHECK-LABEL: llvm.func @rows(
// CHECK-SAME: adze.threads = 32 : i64
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NOT: gpu.barrier
func.func @rows(%x: memref<4x8xf32>, %y: memref<4x9xf32>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<4x8xf32>
      %1 = memref.load %y[%i, %j] : memref<4x9xf32>
      %2 = arith.addf %0, %1 : f32
      %k = arith.addi %j, %c1 : index
      memref.store %2, %y[%i, %k] : memref<4x9xf32>
    }
  } {adze.independent}
  return
}

// Loops in sequence, through memory of the kernel: one block of threads with
// barriers.
// CHECK: llvm.mlir.global external @sequence_shared()
// CHECK-LABEL: llvm.func @sequence(
// CHECK-SAME: adze.shared_bytes = 4096 : i64, adze.symbols = 0 : i64, adze.threads = 512 : i64
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: scf.for %{{.*}} = %[[THREAD]] to %{{.*}} step %c512
// CHECK: }
// CHECK: gpu.barrier
// CHECK: scf.for %{{.*}} = %[[THREAD]] to %{{.*}} step %c512
// CHECK: }
// CHECK-NOT: gpu.barrier
// CHECK: llvm.return
func.func @sequence(%x: memref<1024xf32>, %y: memref<1024xf32>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1023 = arith.constant 1023 : index
  %c1024 = arith.constant 1024 : index
  %s = memref.alloc() : memref<1024xf32>
  scf.for %i = %c0 to %c1024 step %c1 {
    %0 = memref.load %x[%i] : memref<1024xf32>
    memref.store %0, %s[%i] : memref<1024xf32>
  } {adze.independent}
  scf.for %i = %c0 to %c1024 step %c1 {
    %from = arith.subi %c1023, %i : index
    %0 = memref.load %s[%from] : memref<1024xf32>
    memref.store %0, %y[%i] : memref<1024xf32>
  } {adze.independent}
  return
}

// All threads run the loop over steps; thread 0 runs what is in order.
// CHECK-LABEL: llvm.func @steps(
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK-NEXT: memref.store
func.func @steps(%x: memref<4x64xf32>, %y: memref<64xf32>, %z: memref<1xf32>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<4x64xf32>
      %1 = memref.load %y[%j] : memref<64xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %y[%j] : memref<64xf32>
    } {adze.independent}
    %0 = memref.load %y[%c1] : memref<64xf32>
    memref.store %0, %z[%c0] : memref<1xf32>
  }
  return
}

// The result of ops on thread 0 goes to all threads through shared memory.
// CHECK: llvm.mlir.global external @counted_shared()
// CHECK-LABEL: llvm.func @counted(
// CHECK-SAME: adze.shared_bytes = 128 : i64
// CHECK: scf.if
// CHECK: %[[COUNT:.*]] = scf.for
// CHECK: memref.store %[[COUNT]], %[[PLACE:.*]][]
// CHECK: gpu.barrier
// CHECK: memref.load %[[PLACE]][]
func.func @counted(%x: memref<64xf32>, %y: memref<64xf32>, %n: memref<1xindex>, %last: memref<64xf32>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %f0 = arith.constant 0.0 : f32
  %count = scf.for %i = %c0 to %c64 step %c1 iter_args(%k = %c0) -> index {
    %0 = memref.load %x[%i] : memref<64xf32>
    memref.store %0, %y[%k] : memref<64xf32>
    %is = arith.cmpf ogt, %0, %f0 : f32
    %next = arith.addi %k, %c1 : index
    %1 = arith.select %is, %next, %k : index
    scf.yield %1 : index
  }
  memref.store %count, %n[%c0] : memref<1xindex>
  return
}

// Independent loops in the iterations of others: an iteration is a block.
// CHECK-LABEL: llvm.func @blocks(
// CHECK-SAME: adze.threads = 64 : i64
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: %[[ROW:.*]] = gpu.block_id x
// CHECK: scf.for %{{.*}} = %[[THREAD]] to
// CHECK: gpu.barrier
// CHECK: scf.for %{{.*}} = %[[THREAD]] to
func.func @blocks(%x: memref<?x64xf32> {adze.dims = affine_map<()[s0] -> (s0, 64)>}, %y: memref<?x64xf32> {adze.dims = affine_map<()[s0] -> (s0, 64)>}) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<?x64xf32>
      memref.store %0, %y[%i, %j] : memref<?x64xf32>
    } {adze.independent}
    %first = memref.load %y[%i, %c0] : memref<?x64xf32>
    scf.for %j = %c1 to %c64 step %c1 {
      %0 = memref.load %y[%i, %j] : memref<?x64xf32>
      %1 = arith.subf %0, %first : f32
      memref.store %1, %y[%i, %j] : memref<?x64xf32>
    } {adze.independent}
  } {adze.independent}
  return
}

// Checks of indices: each thread stores the record of the fault.
// CHECK-LABEL: llvm.func @checked(
// CHECK-SAME: %[[FAULTS:[a-z0-9]+]]: i64) attributes {{.*}}adze.raises_faults
// CHECK: %[[RECORDS:.*]] = llvm.inttoptr %[[FAULTS]] : i64 to !llvm.ptr<1>
// CHECK: scf.if
// CHECK: %[[I:.*]] = memref.load {{.*}} : memref<64xindex>
// CHECK: %[[OUTSIDE:.*]] = arith.cmpi uge, %[[I]], %c8
// CHECK: scf.if %[[OUTSIDE]]
// CHECK: llvm.getelementptr %[[RECORDS]][0]
// CHECK: memref.store
// CHECK-NOT: tile.check
func.func @checked(%x: memref<8xf32>, %i: memref<64xindex>, %y: memref<64xf32>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  scf.for %p = %c0 to %c64 step %c1 {
    %0 = memref.load %i[%p] : memref<64xindex>
    tile.check %0 below %c8 fault 0 : index
    %1 = arith.minui %0, %c7 : index
    %2 = memref.load %x[%1] : memref<8xf32>
    memref.store %2, %y[%p] : memref<64xf32>
  } {adze.independent}
  return
}

// The numbers of blocks are functions of the symbols.
// CHECK: llvm.func @threads_cuda_programs(%[[SYMS:.*]]: !llvm.ptr) -> i64
// CHECK: %[[N:.*]] = llvm.load
// CHECK: arith.ceildivui
// CHECK: llvm.func @blocks_cuda_programs(

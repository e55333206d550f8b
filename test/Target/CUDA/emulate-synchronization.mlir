// RUN: cuda-emulate %s --tolerance=1e-3 --without-each=. > %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=SPLIT < %t

// A scheduled product without each of its barriers, waits and fences in turn: the
// emulator notices that one is missing, by a wrong result, by threads that wait forever,
// or by an asynchronous access to memory that is in use.

// CHECK: product: 6 programs of 256 threads agree
// CHECK-COUNT-4: product: without nvvm.mbarrier.init {{.*}} is used before it is initialized
// CHECK-NEXT: product: without nvvm.fence.mbarrier.init 0: the barrier at byte 49152 of shared memory is not visible to copies
// CHECK-NEXT: product: without gpu.barrier 0: the barrier at byte 49152 of shared memory is used before it is initialized
// The producer waits for an empty stage, and the consumers for a full one.
// CHECK-NEXT: product: without nvvm.mbarrier.try_wait.parity 0:
// CHECK-NEXT: product: without nvvm.mbarrier.arrive.expect_tx 0: no thread can run: {{.*}} at a barrier in shared memory
// CHECK-NEXT: product: without nvvm.mbarrier.try_wait.parity 1:
// CHECK-NEXT: product: without nvvm.wgmma.fence.aligned 0: no fence is between accumulators and a matrix instruction
// CHECK-NEXT: product: without nvvm.wgmma.commit.group.sync.aligned 0: a copy overwrites an operand of a matrix instruction in flight
// CHECK-NEXT: product: without nvvm.wgmma.wait.group.sync.aligned 0: a copy overwrites an operand of a matrix instruction in flight
// CHECK-NEXT: product: without nvvm.mbarrier.arrive 0: no thread can run
// CHECK-NEXT: product: without nvvm.wgmma.wait.group.sync.aligned 1:
// CHECK-NEXT: product: without nvvm.mbarrier.arrive 1: no thread can run
// Results are staged in shared memory again when the copy before has read them.
// CHECK-NEXT: product: without nvvm.cp.async.bulk.wait_group 0: argument 2 differs
// CHECK-NEXT: product: without nvvm.barrier 0: argument 2 differs
// CHECK-NEXT: product: without nvvm.fence.proxy 0: no proxy fence is between a store to shared memory and an asynchronous access
// CHECK-NEXT: product: without nvvm.barrier 1:
// CHECK-NEXT: product: without nvvm.cp.async.bulk.commit.group 0: a thread ends while its copies read shared memory
// CHECK-NEXT: product: without nvvm.cp.async.bulk.wait_group 1: a thread ends while its copies read shared memory
#product = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 64>, #tile.dim<"n", 64>, #tile.dim<"k", 64>],
  operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
  gpu = #tile.gpu<warps = [4, 4], stages = 2, inflight = 1, persistent = 16>>
tile.kernel @product(%a: memref<150x256xf16>, %b: memref<256x96xf16>, %y: memref<150x96xf16>) attributes {tile.schedule = #product} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %f0 = arith.constant 0.0 : f32
  %i, %j = tile.program_id (%c3, %c2) : index, index
  %row = arith.muli %i, %c64 : index
  %col = arith.muli %j, %c64 : index
  %zero = tile.broadcast %f0 to [64, 64] : f32 -> tensor<64x64xf32>
  %acc = scf.for %k = %c0 to %c256 step %c64 iter_args(%q = %zero) -> tensor<64x64xf32> {
    %l = tile.load %a[%row, %k] sizes [64, 64] : memref<150x256xf16> -> tensor<64x64xf16>
    %r = tile.load %b[%k, %col] sizes [64, 64] : memref<256x96xf16> -> tensor<64x64xf16>
    %d = tile.dot %l, %r, %q : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %h = arith.truncf %acc : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %h, %y[%row, %col] : tensor<64x64xf16>, memref<150x96xf16>
  tile.return
}

// -----

// Two warpgroups and two blocks of a cluster share a tile: the ring has no reader left
// when partial sums are stored to it, and a block ends when nobody reads its sums. The first
// block stores two spans of the result, one after the other.
// SPLIT: split: 3 programs of 384 threads agree
// SPLIT: split: without nvvm.barrier 0: {{.*}}
// SPLIT-NEXT: split: without nvvm.cluster.wait 0: {{.*}}
// SPLIT: split: without nvvm.cluster.wait 1: {{.*}}
// SPLIT-NOT: NOT NOTICED
#split = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 128>, #tile.dim<"n", 256>, #tile.dim<"k", 64>, #tile.dim<"split", 2>],
  operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
  gpu = #tile.gpu<warps = [4, 8], stages = 3, inflight = 1, persistent = 16>>
tile.kernel @split(%a: memref<384x192xf16>, %b: memref<192x256xf16>, %y: memref<384x256xf16>) attributes {tile.schedule = #split} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c192 = arith.constant 192 : index
  %f0 = arith.constant 0.0 : f32
  %i = tile.program_id (%c3) : index
  %row = arith.muli %i, %c128 : index
  %zero = tile.broadcast %f0 to [128, 256] : f32 -> tensor<128x256xf32>
  %acc = scf.for %k = %c0 to %c192 step %c64 iter_args(%q = %zero) -> tensor<128x256xf32> {
    %l = tile.load %a[%row, %k] sizes [128, 64] : memref<384x192xf16> -> tensor<128x64xf16>
    %r = tile.load %b[%k, 0] sizes [64, 256] : memref<192x256xf16> -> tensor<64x256xf16>
    %d = tile.dot %l, %r, %q : tensor<128x64xf16>, tensor<64x256xf16>, tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  }
  %h = arith.truncf %acc : tensor<128x256xf32> to tensor<128x256xf16>
  tile.store %h, %y[%row, 0] : tensor<128x256xf16>, memref<384x256xf16>
  tile.return
}

// RUN: aopt %s --tile-choose-schedule --tile-specialize=target=cuda --convert-tile-to-gpu --canonicalize --cse --split-input-file | FileCheck %s
// RUN: aopt %s --tile-choose-schedule --split-input-file | FileCheck %s --check-prefix=SCHEDULE

// The matrix instruction of a warp, where a target has no larger one.
module attributes {tile.targets = [#tile.cuda<chip = "sm_80", multiprocessors = 108, shared_bytes = 166912,
    units = [#tile.unit<"mma", f16 * f16 + f32, [16, 8, 16]>]>]} {

// One product has the whole depth.
// SCHEDULE: tile.kernel @product
// SCHEDULE-SAME: tile.params.cuda = {BLOCK_K = 256 : i64, BLOCK_M = 128 : i64, BLOCK_N = 128 : i64}

// Each of four warps has 64 rows and columns. Copies bring the next chunks of both operands
// to shared memory while one is multiplied. The registers of a step are loaded before the
// step before it is multiplied, so those of the next chunk before the last one.
// CHECK-LABEL: llvm.func @product
// CHECK-SAME: nvvm.maxntid = array<i32: 128, 1, 1>, nvvm.minctasm = 2 : i32
// CHECK-NOT: llvm.store {{.*}}!llvm.ptr<3>
// CHECK: nvvm.cp.async.shared.global {{.*}}, 16, cache = cg
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 3
// CHECK-NEXT: gpu.barrier
// CHECK-COUNT-4: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>, num = 4
// CHECK-COUNT-4: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>, num = 4
// CHECK: scf.for
// CHECK-COUNT-8: nvvm.ldmatrix
// CHECK: scf.if
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK-COUNT-32: nvvm.mma.sync
// CHECK-NEXT: llvm.extractvalue
// CHECK-NEXT: llvm.extractvalue
// CHECK-NEXT: llvm.extractvalue
// CHECK-NEXT: llvm.extractvalue
// CHECK-NEXT: nvvm.cp.async.wait.group 3
// CHECK-NEXT: gpu.barrier
// CHECK-COUNT-8: nvvm.ldmatrix
// CHECK-COUNT-32: nvvm.mma.sync
// CHECK: scf.yield
// CHECK-NOT: gpu.barrier
// CHECK: llvm.return
tile.kernel @product(%a: memref<2048x256xf16> {tile.align = 64 : i64}, %b: memref<256x2048xf16> {tile.align = 64 : i64}, %c: memref<2048x2048xf16> {tile.align = 64 : i64}) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %c2048 = arith.constant 2048 : index
  %m = tile.param "BLOCK_M" : index
  %n = tile.param "BLOCK_N" : index
  %k = tile.param "BLOCK_K" : index
  %gm = arith.ceildivui %c2048, %m : index
  %gn = arith.ceildivui %c2048, %n : index
  %p:2 = tile.program_id (%gm, %gn) : index, index
  %i = arith.muli %p#0, %m : index
  %j = arith.muli %p#1, %n : index
  %zero = arith.constant 0.0 : f32
  %init = tile.broadcast %zero to [%m, %n] : f32 -> tensor<?x?xf32>
  %sum = scf.for %d = %c0 to %c256 step %k iter_args(%acc = %init) -> (tensor<?x?xf32>) {
    %x = tile.load %a[%i, %d] sizes [%m, %k] : memref<2048x256xf16> -> tensor<?x?xf16>
    %w = tile.load %b[%d, %j] sizes [%k, %n] : memref<256x2048xf16> -> tensor<?x?xf16>
    %r = tile.dot %x, %w, %acc : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
    scf.yield %r : tensor<?x?xf32>
  }
  %h = arith.truncf %sum : tensor<?x?xf32> to tensor<?x?xf16>
  tile.store %h, %c[%i, %j] : tensor<?x?xf16>, memref<2048x2048xf16>
  tile.return
}

// With a dynamic depth, a product has 64.
// SCHEDULE: tile.kernel @dynamic
// SCHEDULE-SAME: tile.params.cuda = {BLOCK_K = 64 : i64, BLOCK_M = 128 : i64, BLOCK_N = 128 : i64}
// CHECK-LABEL: llvm.func @dynamic
// CHECK: nvvm.mma.sync
// CHECK: llvm.return
tile.kernel @dynamic(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tile.param "BLOCK_M" : index
  %n = tile.param "BLOCK_N" : index
  %k = tile.param "BLOCK_K" : index
  %rows = memref.dim %c, %c0 : memref<?x?xf32>
  %columns = memref.dim %c, %c1 : memref<?x?xf32>
  %depth = memref.dim %a, %c1 : memref<?x?xf16>
  %gm = arith.ceildivui %rows, %m : index
  %gn = arith.ceildivui %columns, %n : index
  %p:2 = tile.program_id (%gm, %gn) : index, index
  %i = arith.muli %p#0, %m : index
  %j = arith.muli %p#1, %n : index
  %zero = arith.constant 0.0 : f32
  %init = tile.broadcast %zero to [%m, %n] : f32 -> tensor<?x?xf32>
  %sum = scf.for %d = %c0 to %depth step %k iter_args(%acc = %init) -> (tensor<?x?xf32>) {
    %x = tile.load %a[%i, %d] sizes [%m, %k] : memref<?x?xf16> -> tensor<?x?xf16>
    %w = tile.load %b[%d, %j] sizes [%k, %n] : memref<?x?xf16> -> tensor<?x?xf16>
    %r = tile.dot %x, %w, %acc : tensor<?x?xf16>, tensor<?x?xf16>, tensor<?x?xf32>
    scf.yield %r : tensor<?x?xf32>
  }
  tile.store %sum, %c[%i, %j] : tensor<?x?xf32>, memref<?x?xf32>
  tile.return
}

// Operands that are computed are loaded to registers chunk by chunk, the next one while the
// previous one is multiplied.
// CHECK-LABEL: llvm.func @computed
// CHECK-NOT: nvvm.cp.async
// CHECK: llvm.load {{.*}} -> vector<8xf16>
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: llvm.store {{.*}} : vector<8xf16>, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: llvm.load {{.*}} -> vector<8xf16>
// CHECK: nvvm.mma.sync
// CHECK: scf.yield
// CHECK: gpu.barrier
// CHECK: llvm.store {{.*}} : vector<8xf16>, !llvm.ptr<3>
// CHECK: nvvm.mma.sync
// CHECK: llvm.return
tile.kernel @computed(%a: memref<64x256xf16> {tile.align = 64 : i64}, %b: memref<256x64xf16> {tile.align = 64 : i64}, %c: memref<64x64xf32>) {
  %x = tile.load %a[0, 0] sizes [64, 256] : memref<64x256xf16> -> tensor<64x256xf16>
  %n = arith.negf %x : tensor<64x256xf16>
  %w = tile.load %b[0, 0] sizes [256, 64] : memref<256x64xf16> -> tensor<256x64xf16>
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.dot %n, %w, %z : tensor<64x256xf16>, tensor<256x64xf16>, tensor<64x64xf32>
  tile.store %r, %c[0, 0] : tensor<64x64xf32>, memref<64x64xf32>
  tile.return
}

// 14 rows and f32 elements are computed by threads.
// CHECK-LABEL: llvm.func @rows
// CHECK-NOT: nvvm.mma.sync
// CHECK: math.fma
// CHECK-LABEL: llvm.func @f32
// CHECK-NOT: nvvm.mma.sync
// CHECK: math.fma
tile.kernel @rows(%a: memref<14x16xf16>, %b: memref<16x16xf16>, %c: memref<14x16xf32>) {
  %x = tile.load %a[0, 0] sizes [14, 16] : memref<14x16xf16> -> tensor<14x16xf16>
  %w = tile.load %b[0, 0] sizes [16, 16] : memref<16x16xf16> -> tensor<16x16xf16>
  %z = arith.constant dense<0.0> : tensor<14x16xf32>
  %r = tile.dot %x, %w, %z : tensor<14x16xf16>, tensor<16x16xf16>, tensor<14x16xf32>
  tile.store %r, %c[0, 0] : tensor<14x16xf32>, memref<14x16xf32>
  tile.return
}
tile.kernel @f32(%a: memref<16x16xf32>, %b: memref<16x16xf32>, %c: memref<16x16xf32>) {
  %x = tile.load %a[0, 0] sizes [16, 16] : memref<16x16xf32> -> tensor<16x16xf32>
  %w = tile.load %b[0, 0] sizes [16, 16] : memref<16x16xf32> -> tensor<16x16xf32>
  %z = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = tile.dot %x, %w, %z : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  tile.store %r, %c[0, 0] : tensor<16x16xf32>, memref<16x16xf32>
  tile.return
}
}

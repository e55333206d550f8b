// The sums of a product are computed before the branches of their stores. LLVM would move
// each into the branch of its store, so that the operands of all stay in registers: 920
// bytes were spilled.
// RUN: aopt %s --tile-specialize=target=cuda --convert-tile-to-gpu | FileCheck %s
// RUN: cuda-emulate %s
// RUN: %if cuda-toolkit %{ cuda-compile %s --target=cuda:sm_80 --assemble | FileCheck %s --check-prefix=SPILLS %}
// CHECK-LABEL: llvm.func @project(
// CHECK: %[[SUM:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "", "=f,0" %{{.*}} : (f32) -> f32
// CHECK: scf.if
// A product of another type, and kernels without a product, are not affected.
// CHECK-LABEL: llvm.func @relu(
// CHECK-NOT: llvm.inline_asm
// SPILLS: project: {{[0-9]+}} registers, 0 bytes spilled
module attributes {tile.targets = [#tile.cuda<chip = "sm_80", multiprocessors = 108, shared_bytes = 166912>]} {
tile.kernel @project(%x: memref<640x16xf32> {tile.align = 64 : i64}, %w: memref<16x96xf32> {tile.align = 64 : i64}, %bias: memref<96xf32> {tile.align = 64 : i64},
                     %y: memref<640x96xf32> {tile.align = 64 : i64}) attributes {tile.params.cuda = {BLOCK_K = 16 : i64, BLOCK_M = 128 : i64, BLOCK_N = 128 : i64}, tile.schedule = #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", 256>, #tile.dim<"split", 1>]>} {
  %c640 = arith.constant 640 : index
  %c96 = arith.constant 96 : index
  %c16 = arith.constant 16 : index
  %c0 = arith.constant 0 : index
  %bm = tile.param "BLOCK_M" : index
  %bn = tile.param "BLOCK_N" : index
  %bk = tile.param "BLOCK_K" : index
  %gm = arith.ceildivui %c640, %bm : index
  %gn = arith.ceildivui %c96, %bn : index
  %p:2 = tile.program_id(%gm, %gn) : index, index
  %i = arith.muli %p#0, %bm : index
  %j = arith.muli %p#1, %bn : index
  %zero = arith.constant 0.0 : f32
  %none = tile.broadcast %zero to [%bm, %bn] : f32 -> tensor<?x?xf32>
  %sum = scf.for %k = %c0 to %c16 step %bk iter_args(%s = %none) -> (tensor<?x?xf32>) {
    %a = tile.load %x[%i, %k] sizes [%bm, %bk] : memref<640x16xf32> -> tensor<?x?xf32>
    %b = tile.load %w[%k, %j] sizes [%bk, %bn] : memref<16x96xf32> -> tensor<?x?xf32>
    %d = tile.dot %a, %b, %s : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
    scf.yield %d : tensor<?x?xf32>
  }
  %v = tile.load %bias[%j] sizes [%bn] : memref<96xf32> -> tensor<?xf32>
  %vs = tile.broadcast %v to [%bm, %bn] dims [1] : tensor<?xf32> -> tensor<?x?xf32>
  %t = arith.addf %sum, %vs : tensor<?x?xf32>
  %r = arith.maximumf %t, %none : tensor<?x?xf32>
  tile.store %r, %y[%i, %j] : tensor<?x?xf32>, memref<640x96xf32>
  tile.return
}
tile.kernel @relu(%x: memref<900xf32>, %y: memref<900xf32>) {
  %c256 = arith.constant 256 : index
  %c4 = arith.constant 4 : index
  %p = tile.program_id (%c4) : index
  %i = arith.muli %p, %c256 : index
  %t = tile.load %x[%i] sizes [256] : memref<900xf32> -> tensor<256xf32>
  %zero = arith.constant 0.0 : f32
  %none = tile.broadcast %zero to [256] : f32 -> tensor<256xf32>
  %r = arith.maximumf %t, %none : tensor<256xf32>
  tile.store %r, %y[%i] : tensor<256xf32>, memref<900xf32>
  tile.return
}
}

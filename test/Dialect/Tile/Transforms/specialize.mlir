// RUN: aopt %s -tile-specialize | FileCheck %s
// RUN: aopt %s -tile-specialize=target=cuda | FileCheck %s --check-prefix=CUDA
// RUN: aopt %s -tile-specialize=params=BM=16,BN=32 | FileCheck %s --check-prefix=OPTION

!m = memref<?x256xf32>
!t = tensor<?x?xf32>

// Sizes, loop-carried tiles and the grid become static; the dictionaries are removed.
// CHECK-LABEL: tile.kernel @carried(
// CHECK-NOT: tile.params
// CUDA-LABEL: tile.kernel @carried(
// OPTION-LABEL: tile.kernel @carried(
tile.kernel @carried(%x: !m, %y: !m)
    attributes {tile.params = {BM = 4 : i64, BN = 64 : i64}, tile.params.cuda = {BM = 128 : i64}} {
  // CHECK: %[[C4:.*]] = arith.constant 4 : index
  %bm = tile.param "BM" : index
  %bn = tile.param "BN" in [32, 64] : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : !m
  %n = memref.dim %x, %c1 : !m
  %gm = arith.ceildivui %m, %bm : index
  %gn = arith.ceildivui %n, %bn : index
  // CHECK: tile.program_id(%{{.*}}, %[[C4]]) : index, index
  // OPTION: tile.program_id(%{{.*}}, %c8{{.*}}) : index, index
  %pm, %pn = tile.program_id (%gm, %gn) : index, index
  %row = arith.muli %pm, %bm : index
  %col = arith.muli %pn, %bn : index
  %f0 = arith.constant 0.0 : f32
  // CHECK: tile.broadcast %{{.*}} to [4, 64] : f32 -> tensor<4x64xf32>
  // CUDA: tile.broadcast %{{.*}} to [128, 64] : f32 -> tensor<128x64xf32>
  // OPTION: tile.broadcast %{{.*}} to [16, 32] : f32 -> tensor<16x32xf32>
  %z = tile.broadcast %f0 to [%bm, %bn] : f32 -> !t
  // CHECK: scf.for {{.*}} -> (tensor<4x64xf32>)
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> !t {
    %t = tile.load %x[%row, %col] sizes [%bm, %bn] : !m -> !t
    // CHECK: arith.addf %{{.*}}, %{{.*}} : tensor<4x64xf32>
    %s = arith.addf %a, %t : !t
    scf.yield %s : !t
  }
  tile.store %r, %y[%row, %col] : !t, !m
  tile.return
}

// Values that fold to a constant do so when their size is known.
// CHECK-LABEL: tile.kernel @folded(
// CHECK: %[[ZERO:.*]] = arith.constant dense<0> : tensor<64xi64>
// CHECK: tile.store %[[ZERO]], %{{.*}} : tensor<64xi64>, memref<?xi64>
tile.kernel @folded(%x: memref<?xi64>, %y: memref<?xi64>) attributes {tile.params = {BN = 64 : i64}} {
  %c0 = arith.constant 0 : index
  %n = tile.param "BN" : index
  %t = tile.load %x[%c0] sizes [%n] : memref<?xi64> -> tensor<?xi64>
  %0 = arith.xori %t, %t : tensor<?xi64>
  tile.store %0, %y[%c0] : tensor<?xi64>, memref<?xi64>
  tile.return
}

// RUN: aopt %s --convert-graph-to-tile | FileCheck %s
// RUN: aopt %s --convert-graph-to-tile=batch-invariant | FileCheck %s --check-prefix=INVARIANT
// RUN: aopt %s --convert-graph-to-tile --tile-choose-schedule | FileCheck %s --check-prefix=SCHEDULE
// RUN: aopt %s --convert-graph-to-tile --tile-choose-schedule --tile-specialize=target=cuda --convert-tile-to-gpu | FileCheck %s --check-prefix=GPU
// RUN: aopt %s --convert-graph-to-tile --tile-choose-schedule -o %t.mlir
// RUN: cuda-emulate %t.mlir --symbols=1,70 --tolerance=1e-3 | FileCheck %s --check-prefix=FEW
// RUN: cuda-emulate %t.mlir --symbols=3,1030 --tolerance=1e-3 | FileCheck %s --check-prefix=FEW
// RUN: sed 's/multiprocessors = 24/multiprocessors = 132/' %s | aopt --convert-graph-to-tile --tile-choose-schedule -o %t.apart.mlir
// RUN: FileCheck %s --check-prefix=APART <%t.apart.mlir
// RUN: cuda-emulate %t.apart.mlir --symbols=2,300 --tolerance=1e-3 | FileCheck %s --check-prefix=APART-RUN
// RUN: sed 's/, features = .tma.//' %s | aopt --convert-graph-to-tile --tile-choose-schedule -o %t.block.mlir
// RUN: cuda-emulate %t.block.mlir --symbols=2,300 --tolerance=1e-3 | FileCheck %s --check-prefix=BLOCK

// Up to four queries are computed by a version whose programs have one query,
// and the heads that share keys. The keys of a step have parts, each with a
// maximum and sums of its own, which are joined after the loop. With several
// queries, causal attention masks keys.
// CHECK: tile.kernel @grouped(
// CHECK-SAME: adze.versions = [@grouped_few]
// CHECK: tile.kernel @grouped_few(
// CHECK: %[[PARTS:.*]] = tile.param "PARTS"
// CHECK: %[[STEP:.*]] = arith.muli %[[PARTS]], %c16
// CHECK: scf.for {{.*}} step %[[STEP]] iter_args({{.*}}) -> (tensor<4x?x64xf32>, tensor<4x?xf32>, tensor<4x?xf32>)
// CHECK: %[[KEYS:.*]] = tile.load %arg1{{.*}} sizes [%[[STEP]], 64]
// CHECK: tile.reshape %[[KEYS]] to [%[[PARTS]], 16, 64]
// CHECK: tile.reduce add {{.*}} dim 3
// CHECK: arith.cmpi sle
// CHECK: tile.reduce max {{.*}} dim 2
// CHECK: scf.yield
// CHECK: tile.reduce max {{.*}} dim 1 : tensor<4x?xf32> -> tensor<4xf32>
// CHECK: tile.reduce add {{.*}} dim 1 : tensor<4x?xf32> -> tensor<4xf32>
// CHECK: tile.reduce add {{.*}} dim 1 : tensor<4x?x64xf32> -> tensor<4x64xf32>

// A known number of queries needs one version; keys of 128 elements have
// smaller parts.
// CHECK: tile.kernel @one(
// CHECK-NOT: adze.versions
// CHECK: tile.reshape {{.*}} to [%{{.*}}, 8, 128]
// CHECK: tile.kernel @many(
// CHECK-NOT: "PARTS"

// The clusters of all heads run at once on a larger GPU, so a program computes one head.
// APART: tile.kernel @grouped_few(
// APART-SAME: #tile.dim<"split", 8>
// APART: scf.for {{.*}} -> (tensor<1x?x64xf32>, tensor<1x?xf32>, tensor<1x?xf32>)
// Those of 16 heads run at once with four blocks each.
// APART: tile.kernel @one(
// APART-SAME: #tile.dim<"split", 4>
// APART-RUN-DAG: grouped_few: 16 programs of 2048 threads agree

// INVARIANT-NOT: _few(

// Few programs are computed by clusters, so that the multiprocessors are busy.
// Programs for all of them have a block each.
// SCHEDULE: tile.kernel @grouped_few(
// SCHEDULE-SAME: tile.params.cuda = {PARTS = 64 : i64}
// SCHEDULE-SAME: tile.schedule = #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", 256>, #tile.dim<"split", 8>]>
// SCHEDULE: tile.kernel @one(
// SCHEDULE-SAME: tile.params.cuda = {PARTS = 8 : i64}
// SCHEDULE-SAME: #tile.dim<"split", 1>

// All blocks of a cluster read the sums of the others in the order of their
// ranks. A block does not exit before the others have read its shared memory.
// GPU: llvm.func @grouped_few(
// GPU-SAME: nvvm.cluster_dim = array<i32: 8, 1, 1>
// GPU: nvvm.read.ptx.sreg.cluster.ctarank
// GPU: nvvm.cluster.arrive
// GPU-NEXT: nvvm.cluster.wait
// GPU-COUNT-8: nvvm.mapa
// GPU: nvvm.cluster.arrive
// GPU-NEXT: nvvm.cluster.wait
// GPU: llvm.func @one(
// GPU-NOT: cluster
// GPU: llvm.func @grouped_few_cuda_programs(
// GPU: arith.muli %{{.*}}, %c8

// FEW-DAG: grouped_few: {{[1-9].*}} programs of 2048 threads agree
// FEW-DAG: grouped: 0 programs
// FEW-DAG: one: 16 programs of 256 threads agree
// Other GPUs have no clusters: the programs of all heads run at once.
// BLOCK-DAG: grouped_few: 16 programs of 256 threads agree

#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 24, shared_bytes = 232448, features = [tma]>
#q = affine_map<()[s0, s1] -> (1, 8, s0, 64)>
#k = affine_map<()[s0, s1] -> (1, 2, s1, 64)>
#m = affine_map<()[s0, s1] -> (1, 1, s0, s1)>
#l = affine_map<()[s0, s1] -> (1, 16, s1, 128)>
module attributes {tile.targets = [#gpu]} {
  func.func private @grouped(%q: tensor<1x8x?x64xf32, #q>, %k: tensor<1x2x?x64xf32, #k>, %v: tensor<1x2x?x64xf32, #k>, %m: tensor<1x1x?x?xi1, #m>)
      -> tensor<1x8x?x64xf32, #q> attributes {adze.kernel} {
    %0 = graph.attention %q, %k, %v mask %m {scale = 0.125 : f64, causal = #graph.causal<lower_right>, zero_empty = true} : (tensor<1x8x?x64xf32, #q>, tensor<1x2x?x64xf32, #k>, tensor<1x2x?x64xf32, #k>, tensor<1x1x?x?xi1, #m>) -> tensor<1x8x?x64xf32, #q>
    return %0 : tensor<1x8x?x64xf32, #q>
  }
  func.func private @one(%q: tensor<1x16x1x128xf16>, %k: tensor<1x16x?x128xf16, #l>, %v: tensor<1x16x?x128xf16, #l>) -> tensor<1x16x1x128xf16> attributes {adze.kernel} {
    %0 = graph.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<1x16x1x128xf16>, tensor<1x16x?x128xf16, #l>, tensor<1x16x?x128xf16, #l>) -> tensor<1x16x1x128xf16>
    return %0 : tensor<1x16x1x128xf16>
  }
  func.func private @many(%q: tensor<1x2x64x64xf32>, %k: tensor<1x2x64x64xf32>, %v: tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32> attributes {adze.kernel} {
    %0 = graph.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>, tensor<1x2x64x64xf32>) -> tensor<1x2x64x64xf32>
    return %0 : tensor<1x2x64x64xf32>
  }
}

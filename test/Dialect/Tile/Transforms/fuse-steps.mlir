// RUN: aopt %s --tile-fuse-steps | FileCheck %s
// RUN: aopt %s --tile-fuse-steps | aopt | FileCheck %s
// RUN: sed 's/sm_90a"/sm_80"/; s/features = \[tma\]/features = []/' %s | aopt --tile-fuse-steps | FileCheck %s --check-prefix=NONE

// Without clusters, nothing changes.
// NONE-NOT: tile.barrier

module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", shared_bytes = 232448, units = [], features = [tma]>]} {

// The steps become a loop. Constants and the load from an argument to which the kernel does
// not store stay outside; loads of the results of earlier steps do not.
// CHECK-LABEL: tile.kernel @steps(
// CHECK: %[[ID:.*]]:2 = tile.program_id(%c8, %{{.*}}) : index, index
// CHECK: %[[W:.*]] = tile.load %arg0[%[[ID]]#0]
// CHECK: scf.for %[[T:.*]] = %{{.*}} to %{{.*}} step %{{.*}} {
// CHECK: %[[H:.*]] = tile.load %arg1[%{{.*}}, %[[ID]]#1, 0] sizes [1, 8] {tile.earlier}
// CHECK: tile.reduce add %[[H]]
// CHECK: tile.store %{{.*}}, %arg1[%[[T]], %[[ID]]#1, %[[ID]]#0]
// CHECK: tile.barrier {programs = 8 : i64}
// CHECK: }
// CHECK-NEXT: tile.return
tile.kernel @steps(%w: memref<8xf32>, %y: memref<?x?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = memref.dim %y, %c0 : memref<?x?x8xf32>
  %m = memref.dim %y, %c1 : memref<?x?x8xf32>
  %i, %j, %t = tile.program_id(%c8, %m, %n) ordered grouped : index, index, index
  %s = arith.subi %t, %c1 : index
  %before = arith.maxsi %s, %c0 : index
  %h = tile.load %y[%before, %j, 0] sizes [1, 8] {tile.earlier} : memref<?x?x8xf32> -> tensor<1x8xf32>
  %v = tile.load %w[%i] sizes [1] : memref<8xf32> -> tensor<1xf32>
  %sum = tile.reduce add %h dim 1 : tensor<1x8xf32> -> tensor<1xf32>
  %r = arith.addf %sum, %v : tensor<1xf32>
  tile.store %r, %y[%t, %j, %i] dims [2] : tensor<1xf32>, memref<?x?x8xf32>
  tile.return
}

// A cluster has at most 8 blocks.
// CHECK-LABEL: tile.kernel @large(
// CHECK: tile.program_id(%{{.*}}, %{{.*}}) ordered grouped
// CHECK-NOT: tile.barrier
// CHECK: tile.return
tile.kernel @large(%y: memref<4x9xf32>) {
  %c4 = arith.constant 4 : index
  %c9 = arith.constant 9 : index
  %i, %t = tile.program_id(%c9, %c4) ordered grouped : index, index
  %v = tile.load %y[%t, %i] sizes [1] dims [1] : memref<4x9xf32> -> tensor<1xf32>
  tile.store %v, %y[%t, %i] dims [1] : tensor<1xf32>, memref<4x9xf32>
  tile.return
}

// The number of programs of a group is dynamic.
// CHECK-LABEL: tile.kernel @dynamic(
// CHECK: tile.program_id(%{{.*}}, %{{.*}}) ordered grouped
// CHECK-NOT: tile.barrier
// CHECK: tile.return
tile.kernel @dynamic(%y: memref<4x?xf32>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %y, %c1 : memref<4x?xf32>
  %i, %t = tile.program_id(%n, %c4) ordered grouped : index, index
  %v = tile.load %y[%t, %i] sizes [1] dims [1] : memref<4x?xf32> -> tensor<1xf32>
  tile.store %v, %y[%t, %i] dims [1] : tensor<1xf32>, memref<4x?xf32>
  tile.return
}

// All programs of a step depend on all of the one before.
// CHECK-LABEL: tile.kernel @ungrouped(
// CHECK: tile.program_id(%{{.*}}, %{{.*}}) ordered :
// CHECK-NOT: tile.barrier
// CHECK: tile.return
tile.kernel @ungrouped(%y: memref<4x4xf32>) {
  %c4 = arith.constant 4 : index
  %i, %t = tile.program_id(%c4, %c4) ordered : index, index
  %v = tile.load %y[%t, %i] sizes [1] dims [1] : memref<4x4xf32> -> tensor<1xf32>
  tile.store %v, %y[%t, %i] dims [1] : tensor<1xf32>, memref<4x4xf32>
  tile.return
}

}

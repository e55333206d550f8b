// Index tuples on GPUs: tiles of positions along the dims that they index, which are merged.
// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile --split-input-file | FileCheck %s
// RUN: sed -e 's/^\/\/ -----//' %s | aopt --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile | cuda-emulate - --symbols=90,7 --int-limit=5 | FileCheck %s --check-prefix=EMULATED
// RUN: aopt %s --convert-graph-to-tile --split-input-file | FileCheck %s --check-prefix=CPU
// CPU-NOT: tile.gather

// CHECK-LABEL: tile.kernel @elements(
// CHECK: tile.load %arg1[%{{.*}}, 0] sizes [%{{.*}}] dims [0] : memref<500x2xi64>
// CHECK: tile.load %arg1[%{{.*}}, 1] sizes [%{{.*}}] dims [0] : memref<500x2xi64>
// CHECK: %[[FLAT:.*]] = memref.collapse_shape %arg0 {{\[\[}}0, 1]] : memref<30x40xf32> into memref<1200xf32>
// CHECK: tile.gather %[[FLAT]][0] at %{{.*}} along 0 dims [-1]
// EMULATED: elements: {{.*}} agree
func.func private @elements(%x: tensor<30x40xf32>, %i: tensor<500x2xi64>) -> tensor<500xf32> attributes {adze.kernel} {
  %0 = graph.gather_nd %x, %i : (tensor<30x40xf32>, tensor<500x2xi64>) -> tensor<500xf32>
  return %0 : tensor<500xf32>
}

// -----

// In each batch, with an op on the elements, of dynamic numbers.
#x = affine_map<()[s0, s1] -> (s1, 8, 9, 10)>
#i = affine_map<()[s0, s1] -> (s1, s0, 3)>
#y = affine_map<()[s0, s1] -> (s1, s0)>
// CHECK-LABEL: tile.kernel @batches(
// CHECK: memref.collapse_shape %arg0 {{\[\[}}0], [1, 2, 3]] : memref<?x8x9x10xf32{{.*}}> into memref<?x720xf32
// CHECK: tile.gather %{{.*}}[%{{.*}}, 0] at %{{.*}} along 1 dims
// CHECK: math.absf
// EMULATED: batches: {{.*}} agree
func.func private @batches(%x: tensor<?x8x9x10xf32, #x>, %i: tensor<?x?x3xi32, #i>) -> tensor<?x?xf32, #y> attributes {adze.kernel} {
  %0 = graph.gather_nd %x, %i {batch_dims = 1 : i64} : (tensor<?x8x9x10xf32, #x>, tensor<?x?x3xi32, #i>) -> tensor<?x?xf32, #y>
  %1 = graph.abs %0 : (tensor<?x?xf32, #y>) -> tensor<?x?xf32, #y>
  return %1 : tensor<?x?xf32, #y>
}

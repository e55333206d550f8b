// RUN: aopt %s --convert-graph-to-tile --split-input-file | FileCheck %s

// One loop over the channels loads each element once; the sum is completed after it, and
// each result is stored.
// CHECK-LABEL: tile.kernel @channels
// CHECK-SAME: tile.params = {BLOCK_N = 64 : i64}
// CHECK: %[[BOTH:.*]]:2 = scf.for
// CHECK-COUNT-1: tile.load
// CHECK-NOT: tile.load
// CHECK: scf.yield
// CHECK: arith.divf %[[BOTH]]#0
// CHECK-COUNT-2: tile.store
func.func private @channels(%x: tensor<2x64x16x16xf32>) -> (tensor<2x1x16x16xf32>, tensor<2x16x16xf32>) attributes {adze.kernel} {
  %0 = graph.relu %x : (tensor<2x64x16x16xf32>) -> tensor<2x64x16x16xf32>
  %1 = graph.reduce_mean %0 {axes = array<i64: 1>} : (tensor<2x64x16x16xf32>) -> tensor<2x1x16x16xf32>
  %2 = graph.reduce_max %0 {axes = array<i64: 1>, keepdims = false} : (tensor<2x64x16x16xf32>) -> tensor<2x16x16xf32>
  return %1, %2 : tensor<2x1x16x16xf32>, tensor<2x16x16xf32>
}

// -----

// An index besides numbers: each lane carries the best element, its index and the sum.
// CHECK-LABEL: tile.kernel @place
// CHECK: scf.for {{.*}} -> (tensor<?x?xf32>, tensor<?x?xi64>, tensor<?x?xf32>)
// CHECK: scf.for {{.*}} -> (tensor<?x16xf32>, tensor<?x16xi64>, tensor<?x16xf32>)
#x = affine_map<()[s0, s1] -> (s0, s1)>
#y = affine_map<()[s0, s1] -> (s0)>
#k = affine_map<()[s0, s1] -> (s0, 1)>
func.func private @place(%x: tensor<?x?xf32, #x>) -> (tensor<?xi64, #y>, tensor<?x1xf32, #k>) attributes {adze.kernel} {
  %0 = graph.arg_max %x {axis = 1 : i64, keepdims = false} : (tensor<?x?xf32, #x>) -> tensor<?xi64, #y>
  %1 = graph.reduce_sum %x {axes = array<i64: 1>} : (tensor<?x?xf32, #x>) -> tensor<?x1xf32, #k>
  return %0, %1 : tensor<?xi64, #y>, tensor<?x1xf32, #k>
}

// -----

// The variance has a separate loop after that of the mean.
// CHECK-LABEL: tile.kernel @variance
// CHECK: scf.for
// CHECK: tile.load
// CHECK: %[[MEAN:.*]] = arith.divf
// CHECK: scf.for
// CHECK: tile.load
// CHECK: arith.subf %{{.*}}, %[[MEAN]]
// CHECK: arith.divf
// CHECK-COUNT-2: tile.store
func.func private @variance(%x: tensor<2x9x11x64xf32>) -> (tensor<2x1x1x64xf32>, tensor<2x64xf32>) attributes {adze.kernel} {
  %0 = graph.reduce_mean %x {axes = array<i64: 1, 2>} : (tensor<2x9x11x64xf32>) -> tensor<2x1x1x64xf32>
  %1 = graph.sub %x, %0 : (tensor<2x9x11x64xf32>, tensor<2x1x1x64xf32>) -> tensor<2x9x11x64xf32>
  %2 = graph.mul %1, %1 : (tensor<2x9x11x64xf32>, tensor<2x9x11x64xf32>) -> tensor<2x9x11x64xf32>
  %3 = graph.reduce_mean %2 {axes = array<i64: 1, 2>, keepdims = false} : (tensor<2x9x11x64xf32>) -> tensor<2x64xf32>
  return %0, %3 : tensor<2x1x1x64xf32>, tensor<2x64xf32>
}

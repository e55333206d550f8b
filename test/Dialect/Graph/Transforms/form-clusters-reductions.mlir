// RUN: aopt %s --graph-form-clusters --split-input-file | FileCheck %s

// Reductions over channels of one value, which is computed once for them; values that
// depend on both are stored by the same kernel.
// CHECK-LABEL: func.func @channels
// CHECK: graph.cluster
// CHECK: graph.relu
// CHECK: graph.reduce_mean
// CHECK: graph.reduce_max
// CHECK: graph.sub
// CHECK: graph.yield %{{.*}}, %{{.*}} :
// CHECK-NOT: graph.cluster
func.func @channels(%x: tensor<2x64x7x5xf32>) -> (tensor<2x1x7x5xf32>, tensor<2x1x7x5xf32>) {
  %0 = graph.relu %x : (tensor<2x64x7x5xf32>) -> tensor<2x64x7x5xf32>
  %1 = graph.reduce_mean %0 {axes = array<i64: 1>} : (tensor<2x64x7x5xf32>) -> tensor<2x1x7x5xf32>
  %2 = graph.reduce_max %0 {axes = array<i64: 1>} : (tensor<2x64x7x5xf32>) -> tensor<2x1x7x5xf32>
  %3 = graph.sub %2, %1 : (tensor<2x1x7x5xf32>, tensor<2x1x7x5xf32>) -> tensor<2x1x7x5xf32>
  return %1, %3 : tensor<2x1x7x5xf32>, tensor<2x1x7x5xf32>
}

// -----

// The greatest element and its index, and values computed from it, for any sizes.
#x = affine_map<()[s0, s1] -> (s0, s1)>
#y = affine_map<()[s0, s1] -> (s0)>
#k = affine_map<()[s0, s1] -> (s0, 1)>
// CHECK-LABEL: func.func @place
// CHECK: graph.cluster
// CHECK: graph.mul
// CHECK: graph.arg_max
// CHECK: graph.reduce_max
// CHECK: graph.cast
// CHECK-NOT: graph.cluster
func.func @place(%x: tensor<?x?xf32, #x>) -> (tensor<?xi32, #y>, tensor<?x1xf32, #k>) {
  %0 = graph.mul %x, %x : (tensor<?x?xf32, #x>, tensor<?x?xf32, #x>) -> tensor<?x?xf32, #x>
  %1 = graph.arg_max %0 {axis = 1 : i64, keepdims = false} : (tensor<?x?xf32, #x>) -> tensor<?xi64, #y>
  %2 = graph.reduce_max %0 {axes = array<i64: 1>} : (tensor<?x?xf32, #x>) -> tensor<?x1xf32, #k>
  %3 = graph.cast %1 : (tensor<?xi64, #y>) -> tensor<?xi32, #y>
  return %3, %2 : tensor<?xi32, #y>, tensor<?x1xf32, #k>
}

// -----

// Of values that are computed from one: their elements are read once. And the variance,
// whose elements depend on the mean.
// CHECK-LABEL: func.func @variance
// CHECK: graph.cluster
// CHECK: graph.reduce_mean
// CHECK: graph.sub
// CHECK: graph.reduce_mean
// CHECK: graph.reduce_l1
// CHECK-NOT: graph.cluster
func.func @variance(%x: tensor<2x9x11x64xf32>) -> (tensor<2x64xf32>, tensor<2x1x1x64xf32>, tensor<2x1x1x64xf32>) {
  %0 = graph.reduce_mean %x {axes = array<i64: 1, 2>} : (tensor<2x9x11x64xf32>) -> tensor<2x1x1x64xf32>
  %1 = graph.sub %x, %0 : (tensor<2x9x11x64xf32>, tensor<2x1x1x64xf32>) -> tensor<2x9x11x64xf32>
  %2 = graph.mul %1, %1 : (tensor<2x9x11x64xf32>, tensor<2x9x11x64xf32>) -> tensor<2x9x11x64xf32>
  %3 = graph.reduce_mean %2 {axes = array<i64: 1, 2>, keepdims = false} : (tensor<2x9x11x64xf32>) -> tensor<2x64xf32>
  %4 = graph.exp %x : (tensor<2x9x11x64xf32>) -> tensor<2x9x11x64xf32>
  %5 = graph.reduce_l1 %4 {axes = array<i64: 1, 2>} : (tensor<2x9x11x64xf32>) -> tensor<2x1x1x64xf32>
  return %3, %0, %5 : tensor<2x64xf32>, tensor<2x1x1x64xf32>, tensor<2x1x1x64xf32>
}

// -----

// Other dims, other elements, and elements of the rows besides an index.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-5: graph.cluster
// CHECK-NOT: graph.cluster
func.func @apart(%x: tensor<6x32x8xf32>, %y: tensor<6x32x8xf32>) -> (tensor<6x1x8xf32>, tensor<1x32x8xf32>, tensor<6x1x8xf32>, tensor<6x32x1xi64>, tensor<6x32x8xf32>) {
  %0 = graph.reduce_max %x {axes = array<i64: 1>} : (tensor<6x32x8xf32>) -> tensor<6x1x8xf32>
  %1 = graph.reduce_max %x {axes = array<i64: 0>} : (tensor<6x32x8xf32>) -> tensor<1x32x8xf32>
  %2 = graph.reduce_max %y {axes = array<i64: 1>} : (tensor<6x32x8xf32>) -> tensor<6x1x8xf32>
  %3 = graph.reduce_sum %x {axes = array<i64: 2>} : (tensor<6x32x8xf32>) -> tensor<6x32x1xf32>
  %4 = graph.div %x, %3 : (tensor<6x32x8xf32>, tensor<6x32x1xf32>) -> tensor<6x32x8xf32>
  %5 = graph.arg_max %x {axis = 2 : i64} : (tensor<6x32x8xf32>) -> tensor<6x32x1xi64>
  return %0, %1, %2, %5, %4 : tensor<6x1x8xf32>, tensor<1x32x8xf32>, tensor<6x1x8xf32>, tensor<6x32x1xi64>, tensor<6x32x8xf32>
}

// -----

// Effects keep their order: the call comes after the check, so the reduction
// of its result cannot run with the one that the check reads.
// CHECK-LABEL: func.func @effects
// CHECK: graph.cluster
// CHECK: graph.reduce_min
// CHECK-NOT: graph.reduce_mean
// CHECK: graph.check
// CHECK: graph.call "random_uniform"
// CHECK: graph.cluster
// CHECK: graph.reduce_mean
func.func @effects(%x: tensor<40x50xf32>, %seed: tensor<i64>) -> tensor<1x1xf32> {
  %zero = graph.constant dense<0.0> : tensor<1x1xf32>
  %0 = graph.reduce_min %x {axes = array<i64: 0, 1>} : (tensor<40x50xf32>) -> tensor<1x1xf32>
  %1 = graph.less_equal %zero, %0 : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xi1>
  %2 = graph.reshape %1 : (tensor<1x1xi1>) -> tensor<i1>
  graph.check %2, "expected no negative elements" : tensor<i1>
  %3 = graph.call "random_uniform"(%seed) : (tensor<i64>) -> tensor<40x50xf32>
  %4 = graph.mul %3, %x : (tensor<40x50xf32>, tensor<40x50xf32>) -> tensor<40x50xf32>
  %5 = graph.reduce_mean %4 {axes = array<i64: 0, 1>} : (tensor<40x50xf32>) -> tensor<1x1xf32>
  return %5 : tensor<1x1xf32>
}

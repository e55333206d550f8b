// RUN: aopt %s --graph-form-clusters --split-input-file | FileCheck %s

// Samples of an image are one kernel with their sum, and with the broadcast of the
// indices over channels; the indices are computed by a separate kernel, as all channels
// share them.
// CHECK-LABEL: func.func @samples(
// CHECK: graph.cluster
// CHECK: graph.floor
// CHECK: graph.cluster
// CHECK-COUNT-2: graph.broadcast_to
// CHECK-COUNT-2: graph.gather_elements
// CHECK: graph.add
// CHECK-NOT: graph.cluster
// CHECK: return
func.func @samples(%x: tensor<1x32x4096xf32>, %p: tensor<1x1x4096xf32>, %j: tensor<1x1x4096xi64>) -> tensor<1x32x4096xf32> {
  %f = graph.floor %p : (tensor<1x1x4096xf32>) -> tensor<1x1x4096xf32>
  %i = graph.cast %f : (tensor<1x1x4096xf32>) -> tensor<1x1x4096xi64>
  %a = graph.broadcast_to %i : (tensor<1x1x4096xi64>) -> tensor<1x32x4096xi64>
  %b = graph.broadcast_to %j : (tensor<1x1x4096xi64>) -> tensor<1x32x4096xi64>
  %0 = graph.gather_elements %x, %a {axis = 2 : i64} : (tensor<1x32x4096xf32>, tensor<1x32x4096xi64>) -> tensor<1x32x4096xf32>
  %1 = graph.gather_elements %x, %b {axis = 2 : i64} : (tensor<1x32x4096xf32>, tensor<1x32x4096xi64>) -> tensor<1x32x4096xf32>
  %2 = graph.add %0, %1 : (tensor<1x32x4096xf32>, tensor<1x32x4096xf32>) -> tensor<1x32x4096xf32>
  return %2 : tensor<1x32x4096xf32>
}

// -----

// Gathers of gathered elements, and elements at other positions.
// CHECK-LABEL: func.func @twice(
// CHECK: graph.cluster
// CHECK: graph.gather_elements
// CHECK: graph.cluster
// CHECK: graph.gather_elements
// CHECK: graph.cluster
// CHECK: graph.gather_elements
// CHECK-NEXT: graph.add
func.func @twice(%x: tensor<4x64xf32>, %i: tensor<4x64xi64>, %k: tensor<1x64xi64>) -> tensor<4x64xf32> {
  %0 = graph.gather_elements %x, %i {axis = 1 : i64} : (tensor<4x64xf32>, tensor<4x64xi64>) -> tensor<4x64xf32>
  %1 = graph.gather_elements %0, %i {axis = 1 : i64} : (tensor<4x64xf32>, tensor<4x64xi64>) -> tensor<4x64xf32>
  %2 = graph.gather_elements %0, %k {axis = 1 : i64} : (tensor<4x64xf32>, tensor<1x64xi64>) -> tensor<1x64xf32>
  %3 = graph.add %1, %2 : (tensor<4x64xf32>, tensor<1x64xf32>) -> tensor<4x64xf32>
  return %3 : tensor<4x64xf32>
}

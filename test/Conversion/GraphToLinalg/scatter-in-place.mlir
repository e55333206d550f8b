// Elements are replaced in place in the result of a launch without other users; other
// tensors are copied first.
// RUN: aopt %s -convert-graph-to-linalg -split-input-file | FileCheck %s

// CHECK-LABEL: func.func private @replace(
// CHECK-SAME: memref<8xf32> {adze.tied = 0 : i64}
// CHECK-NOT: memref.copy
// CHECK: return
func.func private @replace(%x: tensor<8xf32>, %i: tensor<3xi64>, %u: tensor<3xf32>) -> tensor<8xf32> attributes {adze.kernel} {
  %0 = graph.scatter_elements %x, %i, %u {axis = 0 : i64} : (tensor<8xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @make(%x: tensor<8xf32>) -> tensor<8xf32> attributes {adze.kernel} {
  %0 = graph.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @main(%x: tensor<8xf32>, %i: tensor<3xi64>, %u: tensor<3xf32>) -> tensor<8xf32> {
  %0 = host.launch @make(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = host.launch @replace(%0, %i, %u) : (tensor<8xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// An input keeps its elements.
// CHECK-LABEL: func.func private @input(
// CHECK-NOT: adze.tied
// CHECK: memref.copy
func.func private @input(%x: tensor<8xf32>, %i: tensor<3xi64>, %u: tensor<3xf32>) -> tensor<8xf32> attributes {adze.kernel} {
  %0 = graph.scatter_elements %x, %i, %u {axis = 0 : i64} : (tensor<8xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @main(%x: tensor<8xf32>, %i: tensor<3xi64>, %u: tensor<3xf32>) -> tensor<8xf32> {
  %0 = host.launch @input(%x, %i, %u) : (tensor<8xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// So does a tensor with another user at one of the launches.
// CHECK-LABEL: func.func private @read(
// CHECK-NOT: adze.tied
// CHECK: memref.copy
func.func private @read(%x: tensor<?xf32, affine_map<()[s0] -> (s0)>>, %i: tensor<3xi64>, %u: tensor<3xf32>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>> attributes {adze.kernel} {
  %0 = graph.scatter_elements %x, %i, %u {axis = 0 : i64} : (tensor<?xf32, affine_map<()[s0] -> (s0)>>, tensor<3xi64>, tensor<3xf32>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>>
  return %0 : tensor<?xf32, affine_map<()[s0] -> (s0)>>
}
func.func private @make(%x: tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>> attributes {adze.kernel} {
  %0 = graph.exp %x : (tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>>
  return %0 : tensor<?xf32, affine_map<()[s0] -> (s0)>>
}
func.func @main(%x: tensor<?xf32, affine_map<()[s0] -> (s0)>>, %i: tensor<3xi64>, %u: tensor<3xf32>) -> (tensor<?xf32, affine_map<()[s0] -> (s0)>>, tensor<?xf32, affine_map<()[s0] -> (s0)>>, tensor<?xf32, affine_map<()[s0] -> (s0)>>) {
  %0 = host.launch @make(%x) : (tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>>
  %1 = host.launch @read(%0, %i, %u) : (tensor<?xf32, affine_map<()[s0] -> (s0)>>, tensor<3xi64>, tensor<3xf32>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>>
  %2 = host.launch @make(%1) : (tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>>
  %3 = host.launch @read(%2, %i, %u) : (tensor<?xf32, affine_map<()[s0] -> (s0)>>, tensor<3xi64>, tensor<3xf32>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>>
  return %0, %1, %3 : tensor<?xf32, affine_map<()[s0] -> (s0)>>, tensor<?xf32, affine_map<()[s0] -> (s0)>>, tensor<?xf32, affine_map<()[s0] -> (s0)>>
}

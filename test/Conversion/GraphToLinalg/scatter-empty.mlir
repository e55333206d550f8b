// No index is valid along a dim without elements: an update stores nothing.
// RUN: aopt %s --convert-graph-to-linalg --canonicalize | FileCheck %s

#n = affine_map<()[s0] -> (s0)>

// CHECK-LABEL: func private @empty(
// CHECK-NOT: memref.store
// CHECK: return
func.func private @empty(%x: tensor<0xf32>, %i: tensor<1xi64>, %u: tensor<1xf32>) -> tensor<0xf32> attributes {adze.kernel} {
  %0 = graph.scatter_elements %x, %i, %u {axis = 0 : i64} : (tensor<0xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<0xf32>
  return %0 : tensor<0xf32>
}

// CHECK-LABEL: func private @empty_tuples(
// CHECK-NOT: memref.store
// CHECK: return
func.func private @empty_tuples(%x: tensor<2x0xf32>, %i: tensor<1x2xi64>, %u: tensor<1xf32>) -> tensor<2x0xf32> attributes {adze.kernel} {
  %0 = graph.scatter_nd %x, %i, %u : (tensor<2x0xf32>, tensor<1x2xi64>, tensor<1xf32>) -> tensor<2x0xf32>
  return %0 : tensor<2x0xf32>
}


// A dynamic dim is checked.
// CHECK-LABEL: func private @unknown(
// CHECK: %[[SIZE:.*]] = memref.dim
// CHECK: %[[ANY:.*]] = arith.cmpi ne, %{{.*}}, %c0
// CHECK: scf.if %[[ANY]]
// CHECK: memref.store
func.func private @unknown(%x: tensor<?xf32, #n>, %i: tensor<1xi64>, %u: tensor<1xf32>) -> tensor<?xf32, #n> attributes {adze.kernel} {
  %0 = graph.scatter_elements %x, %i, %u {axis = 0 : i64} : (tensor<?xf32, #n>, tensor<1xi64>, tensor<1xf32>) -> tensor<?xf32, #n>
  return %0 : tensor<?xf32, #n>
}

// CHECK-LABEL: func private @some(
// CHECK-NOT: scf.if
// CHECK: memref.store
func.func private @some(%x: tensor<3xf32>, %i: tensor<1xi64>, %u: tensor<1xf32>) -> tensor<3xf32> attributes {adze.kernel} {
  %0 = graph.scatter_elements %x, %i, %u {axis = 0 : i64} : (tensor<3xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

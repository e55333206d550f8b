// Operands of a concatenation with one element per row are stored by masked vectors.
// RUN: aopt %s --convert-graph-to-tile --split-input-file | FileCheck %s

// CHECK-LABEL: tile.kernel @pairs
// CHECK-DAG: %[[E:.*]] = memref.subview %arg2[0, 0, 0] {{.*}} to memref<?x16x1xf32, strided<[32, 2, 1]>>
// CHECK-DAG: %[[O:.*]] = memref.subview %arg2[0, 0, 1] {{.*}} to memref<?x16x1xf32, strided<[32, 2, 1], offset: 1>>
// CHECK: %[[S:.*]] = math.sin
// CHECK: tile.store %[[S]], %[[E]]
// CHECK: %[[C:.*]] = math.cos
// CHECK: tile.store %[[C]], %[[O]]
#x = affine_map<()[s0] -> (s0, 16, 1)>
#y = affine_map<()[s0] -> (s0, 16, 2)>
func.func private @pairs(%x: tensor<?x16x1xf32, #x>, %f: tensor<1x16x1xf32>) -> tensor<?x16x2xf32, #y> attributes {adze.kernel} {
  %0 = graph.mul %x, %f : (tensor<?x16x1xf32, #x>, tensor<1x16x1xf32>) -> tensor<?x16x1xf32, #x>
  %1 = graph.sin %0 : (tensor<?x16x1xf32, #x>) -> tensor<?x16x1xf32, #x>
  %2 = graph.cos %0 : (tensor<?x16x1xf32, #x>) -> tensor<?x16x1xf32, #x>
  %3 = graph.concat %1, %2 {axis = 2 : i64} : (tensor<?x16x1xf32, #x>, tensor<?x16x1xf32, #x>) -> tensor<?x16x2xf32, #y>
  return %3 : tensor<?x16x2xf32, #y>
}

// -----

// Longer operands are copied run by run, and many are one by one.
// CHECK-LABEL: tile.kernel @runs
// CHECK-NOT: offset: 1
// CHECK: tile.return
func.func private @runs(%x: tensor<8x16x2xf32>, %y: tensor<8x16x2xf32>) -> tensor<8x16x4xf32> attributes {adze.kernel} {
  %0 = graph.concat %x, %y {axis = 2 : i64} : (tensor<8x16x2xf32>, tensor<8x16x2xf32>) -> tensor<8x16x4xf32>
  return %0 : tensor<8x16x4xf32>
}

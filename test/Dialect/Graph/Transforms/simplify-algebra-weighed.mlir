// Weighted sums of the elements of a softmax.
// RUN: aopt %s --graph-simplify-algebra --canonicalize --split-input-file | FileCheck %s

// As in YOLO's heads: a convolution to one channel, of a moved value.
#x = affine_map<()[s0, s1] -> (s0, 4, 16, s1)>
#t = affine_map<()[s0, s1] -> (s0, 16, 4, s1)>
#o = affine_map<()[s0, s1] -> (s0, 1, 4, s1)>
// CHECK-LABEL: func.func @conv
// CHECK-DAG: %[[MOST:.*]] = graph.reduce_max %arg0 {axes = array<i64: 2>}
// CHECK-DAG: %[[D:.*]] = graph.sub %arg0, %[[MOST]]
// CHECK-DAG: %[[E:.*]] = graph.exp %[[D]]
// CHECK-DAG: %[[S:.*]] = graph.reduce_sum %[[E]] {axes = array<i64: 2>}
// CHECK-DAG: %[[W:.*]] = graph.mul %[[E]]
// CHECK-DAG: %[[P:.*]] = graph.reduce_sum %[[W]] {axes = array<i64: 2>}
// CHECK: %[[Q:.*]] = graph.div %[[P]], %[[S]]
// CHECK-NOT: graph.conv
// CHECK: %[[R:.*]] = graph.reshape %[[Q]]
// CHECK: return %[[R]]
func.func @conv(%x: tensor<?x4x16x?xf32, #x>, %w: tensor<1x16x1x1xf32>) -> tensor<?x1x4x?xf32, #o> {
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x4x16x?xf32, #x>) -> tensor<?x16x4x?xf32, #t>
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<?x16x4x?xf32, #t>) -> tensor<?x16x4x?xf32, #t>
  %2 = graph.conv %1, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x16x4x?xf32, #t>, tensor<1x16x1x1xf32>) -> tensor<?x1x4x?xf32, #o>
  return %2 : tensor<?x1x4x?xf32, #o>
}

// -----

// As a product with one column, and as a sum.
// CHECK-LABEL: func.func @spellings
// CHECK-NOT: graph.softmax
// CHECK-NOT: graph.matmul
// CHECK: return
func.func @spellings(%x: tensor<5x4x16xf32>, %w: tensor<16x1xf32>, %v: tensor<16xf32>) -> (tensor<5x4x1xf32>, tensor<5x4xf32>) {
  %0 = graph.softmax %x {axis = 2 : i64} : (tensor<5x4x16xf32>) -> tensor<5x4x16xf32>
  %1 = graph.matmul %0, %w : (tensor<5x4x16xf32>, tensor<16x1xf32>) -> tensor<5x4x1xf32>
  %2 = graph.softmax %x {axis = 2 : i64} : (tensor<5x4x16xf32>) -> tensor<5x4x16xf32>
  %3 = graph.mul %2, %v : (tensor<5x4x16xf32>, tensor<16xf32>) -> tensor<5x4x16xf32>
  %4 = graph.reduce_sum %3 {axes = array<i64: 2>, keepdims = false} : (tensor<5x4x16xf32>) -> tensor<5x4xf32>
  return %1, %4 : tensor<5x4x1xf32>, tensor<5x4xf32>
}

// -----

// Several columns are a product; a softmax with other users, or along another dim, stays.
// CHECK-LABEL: func.func @refused
// CHECK-COUNT-3: graph.softmax
func.func @refused(%x: tensor<5x4x16xf32>, %w: tensor<16x2xf32>, %v: tensor<16xf32>) -> (tensor<5x4x2xf32>, tensor<5x4x16xf32>, tensor<5x4xf32>, tensor<5x4xf32>) {
  %0 = graph.softmax %x {axis = 2 : i64} : (tensor<5x4x16xf32>) -> tensor<5x4x16xf32>
  %1 = graph.matmul %0, %w : (tensor<5x4x16xf32>, tensor<16x2xf32>) -> tensor<5x4x2xf32>
  %2 = graph.neg %x : (tensor<5x4x16xf32>) -> tensor<5x4x16xf32>
  %3 = graph.softmax %2 {axis = 2 : i64} : (tensor<5x4x16xf32>) -> tensor<5x4x16xf32>
  %4 = graph.mul %3, %v : (tensor<5x4x16xf32>, tensor<16xf32>) -> tensor<5x4x16xf32>
  %5 = graph.reduce_sum %4 {axes = array<i64: 2>, keepdims = false} : (tensor<5x4x16xf32>) -> tensor<5x4xf32>
  %6 = graph.softmax %x {axis = 1 : i64} : (tensor<5x4x16xf32>) -> tensor<5x4x16xf32>
  %7 = graph.mul %6, %v : (tensor<5x4x16xf32>, tensor<16xf32>) -> tensor<5x4x16xf32>
  %8 = graph.reduce_sum %7 {axes = array<i64: 2>, keepdims = false} : (tensor<5x4x16xf32>) -> tensor<5x4xf32>
  return %1, %3, %5, %8 : tensor<5x4x2xf32>, tensor<5x4x16xf32>, tensor<5x4xf32>, tensor<5x4xf32>
}

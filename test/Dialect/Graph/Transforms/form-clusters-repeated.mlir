// Whether an operand is broadcast is known at run time only: no tile kernel reads it, and
// a product is not fused with it on the reference path.
// RUN: aopt %s --graph-form-clusters --split-input-file | FileCheck %s

#x = affine_map<()[s0, s1] -> (s0 * 2, 8)>
#y = affine_map<()[s0, s1] -> (s1, 8)>
// CHECK-LABEL: func.func @may_be_one
// CHECK: graph.matmul
// CHECK: graph.relu
// CHECK: graph.cluster
// CHECK: graph.add
func.func @may_be_one(%x: tensor<?x8xf32, #x>, %y: tensor<?x8xf32, #y>, %w: tensor<8x8xf32>) -> tensor<?x8xf32, #x> {
  %0 = graph.matmul %x, %w : (tensor<?x8xf32, #x>, tensor<8x8xf32>) -> tensor<?x8xf32, #x>
  %1 = graph.relu %0 : (tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  %2 = graph.add %1, %y : (tensor<?x8xf32, #x>, tensor<?x8xf32, #y>) -> tensor<?x8xf32, #x>
  return %2 : tensor<?x8xf32, #x>
}

// -----

#x = affine_map<()[s0] -> (s0 * 2, 8)>
// As large, or one row: part of the product's kernel.
// CHECK-LABEL: func.func @whole_or_one
// CHECK: graph.cluster
// CHECK: graph.matmul
// CHECK-NOT: graph.cluster
// CHECK: return
func.func @whole_or_one(%x: tensor<?x8xf32, #x>, %y: tensor<1x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32, #x> {
  %0 = graph.matmul %x, %w : (tensor<?x8xf32, #x>, tensor<8x8xf32>) -> tensor<?x8xf32, #x>
  %1 = graph.add %0, %y : (tensor<?x8xf32, #x>, tensor<1x8xf32>) -> tensor<?x8xf32, #x>
  %2 = graph.add %1, %x : (tensor<?x8xf32, #x>, tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  return %2 : tensor<?x8xf32, #x>
}

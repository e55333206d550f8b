// For each op that reads a value of another kernel, one reason.
// RUN: aopt %s --graph-form-clusters=most-ops=4 --remarks-filter-failed=.* --split-input-file 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t

// Two anchors; a value that two kernels read; no remark for fused ops.
// WHY: fusion | Category:graph.matmul | Producer=graph.relu, ProducerNode=, Remark="both are anchor ops, and a kernel has one"
// WHY: fusion | Category:graph.softmax | Producer=graph.matmul, ProducerNode=second, Remark="both are anchor ops, and a kernel has one"
// WHY-NOT: fusion
// CHECK-LABEL: func.func @anchors
func.func @anchors(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.relu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.matmul %1, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("second")
  %3 = graph.softmax %2 {axis = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// The user of a reshaped product has other dims than it.
// WHY: fusion | Category:graph.relu | {{.*}} Remark="the consumer reads a reshaped view of it"
// CHECK-LABEL: func.func @view
func.func @view(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> tensor<2x32xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = graph.reshape %0 : (tensor<4x16xf32>) -> tensor<2x32xf32>
  %2 = graph.relu %1 : (tensor<2x32xf32>) -> tensor<2x32xf32>
  return %2 : tensor<2x32xf32>
}

// -----

// The product's operands are moved by its loads, not computed.
// WHY: fusion | Category:graph.matmul | Producer=graph.exp, ProducerNode=, Remark="the consumer has no prologue"
// WHY: fusion | Category:graph.matmul | Producer=graph.tanh, ProducerNode=, Remark="several kernels read it"
// WHY: fusion | Category:graph.reduce_sum | Producer=graph.tanh, ProducerNode=, Remark="several kernels read it"
// WHY: fusion | Category:graph.add | Producer=graph.matmul, ProducerNode=, Remark="the results have different dims"
// WHY: fusion | Category:graph.add | Producer=graph.reduce_sum, ProducerNode=, Remark="the results have different dims"
// WHY-NOT: fusion
// CHECK-LABEL: func.func @prologue
func.func @prologue(%x: tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, %w: tensor<8x8xf32>, %y: tensor<3x?x8xf32, affine_map<()[s0] -> (3, s0, 8)>>) -> tensor<3x?x8xf32, affine_map<()[s0] -> (3, s0, 8)>> attributes {graph.symbols = ["n"]} {
  %0 = graph.exp %x : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %1 = graph.tanh %w : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = graph.matmul %0, %1 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<8x8xf32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %3 = graph.reduce_sum %1 {axes = array<i64: 0>} : (tensor<8x8xf32>) -> tensor<1x8xf32>
  %4 = graph.add %y, %2 : (tensor<3x?x8xf32, affine_map<()[s0] -> (3, s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<3x?x8xf32, affine_map<()[s0] -> (3, s0, 8)>>
  %5 = graph.add %4, %3 : (tensor<3x?x8xf32, affine_map<()[s0] -> (3, s0, 8)>>, tensor<1x8xf32>) -> tensor<3x?x8xf32, affine_map<()[s0] -> (3, s0, 8)>>
  return %5 : tensor<3x?x8xf32, affine_map<()[s0] -> (3, s0, 8)>>
}

// -----

// A chain that is split as the kernel would be too large.
// WHY: fusion | Category:graph.sigmoid | Producer=graph.exp, ProducerNode=, Remark="the kernel would be too large"
// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.tanh %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = graph.neg %1 : (tensor<8xf32>) -> tensor<8xf32>
  %3 = graph.exp %2 : (tensor<8xf32>) -> tensor<8xf32>
  %4 = graph.sigmoid %3 : (tensor<8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// -----

// The epilogue of the second product cannot be that of the first one, too.
// WHY: fusion | Category:graph.matmul | Producer=graph.matmul
// WHY: fusion | Category:graph.add | Producer=graph.matmul, ProducerNode=, Remark="both are anchor ops, and a kernel has one"
// CHECK-LABEL: func.func @both
func.func @both(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.matmul %0, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// Gathered values are computed first.
// WHY: fusion | Category:graph.gather_elements | Producer=graph.exp, {{.*}} Remark="the consumer gathers elements of it"
// WHY: fusion | Category:graph.add | Producer=graph.exp, {{.*}} Remark="the consumer gathers elements of it"
// CHECK-LABEL: func.func @lookup
func.func @lookup(%x: tensor<4x4xf32>, %i: tensor<4x4xi64>) -> tensor<4x4xf32> {
  %0 = graph.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.gather_elements %0, %i {axis = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xi64>) -> tensor<4x4xf32>
  %2 = graph.add %0, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// A view of moved data requires it in memory.
// WHY: fusion | Category:graph.relu | Producer=graph.transpose, ProducerNode=, Remark="the consumer reads a reshaped view of it"
// WHY-NOT: fusion
// CHECK-LABEL: func.func @moved_view
func.func @moved_view(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %0 = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = graph.reshape %0 : (tensor<8x4xf32>) -> tensor<32xf32>
  %2 = graph.relu %1 : (tensor<32xf32>) -> tensor<32xf32>
  return %2 : tensor<32xf32>
}

// In rank 3 the transpose is its own inverse. The inverse one of an operand of few
// elements must not sink through the op again, without end.
// RUN: aopt %s --graph-convert-layout | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK: graph.conv {{.*}}layout = #graph.layout<nhwc>
// CHECK: graph.pow
// CHECK: return
func.func @main(%x: tensor<1x1x1xf32>, %y: tensor<1x1x2xf32>) -> tensor<1x1x2xf32> {
  %w = graph.constant dense<0.5> : tensor<1x1x1xf32>
  %0 = graph.conv %x, %w {dilations = array<i64: 1>, pads = array<i64: 0, 1>, strides = array<i64: 1>} : (tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<1x1x2xf32>
  %1 = graph.tanh %0 : (tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %2 = graph.tanh %y : (tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %3 = graph.pow %1, %2 : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  return %3 : tensor<1x1x2xf32>
}

// -----

// Transposed constants are not transposes that could be saved: two of them were moved
// back and forth without end (found by the property test, seed 907355).
// CHECK-LABEL: func.func @constants
// CHECK: %[[C:.*]] = graph.conv
// CHECK: %[[Y:.*]] = graph.concat %[[C]], %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<2x?x2xf32, #{{.*}}>, tensor<2x0x2xf32>, tensor<2x1x2xf32>)
// CHECK: graph.transpose %[[Y]] {perm = array<i64: 0, 2, 1>}
func.func @constants(%x: tensor<2x1x?xf32, affine_map<()[s0] -> (2, 1, s0)>>) -> tensor<2x2x?xf32, affine_map<()[s0] -> (2, 2, s0 + 2)>> {
  %w = graph.constant dense<[[[0.25]], [[-1.5]]]> : tensor<2x1x1xf32>
  %c = graph.conv %x, %w {dilations = array<i64: 1>, pads = array<i64: 0, 1>, strides = array<i64: 1>} : (tensor<2x1x?xf32, affine_map<()[s0] -> (2, 1, s0)>>, tensor<2x1x1xf32>) -> tensor<2x2x?xf32, affine_map<()[s0] -> (2, 2, s0 + 1)>>
  %none = graph.constant dense<> : tensor<2x2x0xf32>
  %k = graph.constant dense<[[[1.0], [2.0]], [[3.0], [4.0]]]> : tensor<2x2x1xf32>
  %y = graph.concat %c, %none, %k {axis = 2 : i64} : (tensor<2x2x?xf32, affine_map<()[s0] -> (2, 2, s0 + 1)>>, tensor<2x2x0xf32>, tensor<2x2x1xf32>) -> tensor<2x2x?xf32, affine_map<()[s0] -> (2, 2, s0 + 2)>>
  return %y : tensor<2x2x?xf32, affine_map<()[s0] -> (2, 2, s0 + 2)>>
}

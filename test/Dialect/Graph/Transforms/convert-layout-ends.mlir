// In rank 3 the transpose is its own inverse. The inverse one that an operand
// of few elements gets must not sink through the op again, and so for ever.
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

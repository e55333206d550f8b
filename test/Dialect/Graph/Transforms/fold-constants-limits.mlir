// RUN: aopt %s "--graph-fold-constants=free-bytes=0 max-growth=2" | FileCheck %s

// A result much larger than its operands is computed at run time.
// CHECK-LABEL: func @growth
// CHECK: graph.broadcast_to
func.func @growth() -> tensor<64x4xf32> {
  %v = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = graph.broadcast_to %v : (tensor<4xf32>) -> tensor<64x4xf32>
  return %0 : tensor<64x4xf32>
}

// Except for a part of a constant that is as large.
// CHECK-LABEL: func @joined
// CHECK-NEXT: graph.constant dense<{{.*}}> : tensor<64x4xf32>
// CHECK-NEXT: return
func.func @joined() -> tensor<64x4xf32> {
  %v = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %w = graph.constant dense<2.0> : tensor<64x4xf32>
  %0 = graph.broadcast_to %v : (tensor<4xf32>) -> tensor<64x4xf32>
  %1 = graph.add %0, %w : (tensor<64x4xf32>, tensor<64x4xf32>) -> tensor<64x4xf32>
  return %1 : tensor<64x4xf32>
}

// Not if the other operand is dynamic.
// CHECK-LABEL: func @met
// CHECK: graph.broadcast_to
func.func @met(%w: tensor<64x4xf32>) -> tensor<64x4xf32> {
  %v = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = graph.broadcast_to %v : (tensor<4xf32>) -> tensor<64x4xf32>
  %1 = graph.add %0, %w : (tensor<64x4xf32>, tensor<64x4xf32>) -> tensor<64x4xf32>
  return %1 : tensor<64x4xf32>
}

// RUN: aopt %s "--graph-fold-constants=free-bytes=0 max-growth=2" | FileCheck %s

// A result much larger than its operands is computed at run time.
// CHECK-LABEL: func @growth
// CHECK: graph.broadcast_to
func.func @growth() -> tensor<64x4xf32> {
  %v = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = graph.broadcast_to %v : (tensor<4xf32>) -> tensor<64x4xf32>
  return %0 : tensor<64x4xf32>
}

// RUN: aopt %s --graph-form-clusters=mode=single | FileCheck %s

// CHECK-LABEL: func @chain
// CHECK: graph.cluster
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: graph.yield
// CHECK: graph.cluster
// CHECK-NEXT: graph.relu
// CHECK-NEXT: graph.yield
func.func @chain(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.relu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

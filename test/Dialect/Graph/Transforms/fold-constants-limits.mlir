// RUN: aopt %s "--graph-fold-constants=free-bytes=0 max-growth=2" | FileCheck %s
// RUN: aopt %s "--graph-fold-constants=free-bytes=0 max-growth=2 free-weight-bytes=512" | FileCheck %s --check-prefix=SMALL

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

// Except for weights, also where further ops compute them.
// CHECK-LABEL: func @weights
// CHECK-NEXT: %[[W:.*]] = graph.constant dense<{{.*}}> : tensor<4x64xf32>
// CHECK-NEXT: graph.matmul %{{.*}}, %[[W]]
func.func @weights(%x: tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>) -> tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>> attributes {graph.symbols = ["n"]} {
  %v = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = graph.broadcast_to %v : (tensor<4xf32>) -> tensor<64x4xf32>
  %1 = graph.transpose %0 {perm = array<i64: 1, 0>} : (tensor<64x4xf32>) -> tensor<4x64xf32>
  %2 = graph.matmul %x, %1 : (tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>, tensor<4x64xf32>) -> tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>
  return %2 : tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>
}

// Not the left operand of a product.
// CHECK-LABEL: func @left
// CHECK: graph.broadcast_to
func.func @left(%x: tensor<4x8xf32>) -> tensor<64x8xf32> {
  %v = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = graph.broadcast_to %v : (tensor<4xf32>) -> tensor<64x4xf32>
  %1 = graph.matmul %0, %x : (tensor<64x4xf32>, tensor<4x8xf32>) -> tensor<64x8xf32>
  return %1 : tensor<64x8xf32>
}

// Not weights that are used otherwise, too.
// CHECK-LABEL: func @shared
// CHECK: graph.broadcast_to
func.func @shared(%x: tensor<2x64xf32>) -> (tensor<2x4xf32>, tensor<64x4xf32>) {
  %v = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = graph.broadcast_to %v : (tensor<4xf32>) -> tensor<64x4xf32>
  %1 = graph.matmul %x, %0 : (tensor<2x64xf32>, tensor<64x4xf32>) -> tensor<2x4xf32>
  return %1, %0 : tensor<2x4xf32>, tensor<64x4xf32>
}

// Weights above the limit.
// SMALL-LABEL: func @weights
// SMALL: graph.broadcast_to

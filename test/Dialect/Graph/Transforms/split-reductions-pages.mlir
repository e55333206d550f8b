// Sums of rows whose distance is a multiple of a page, on a CPU.
// RUN: aopt %s -tile-attach-targets="cpu=x86-64-v4 caches=1M,32M" --graph-split-reductions --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @pages
// CHECK: %[[X:.*]] = graph.reshape %arg0 : (tensor<2048x1024xf32>) -> tensor<1x128x16x1024xf32>
// CHECK: %[[P:.*]] = graph.reduce_sum %[[X]] {axes = array<i64: 2>, keepdims = false} : (tensor<1x128x16x1024xf32>) -> tensor<1x128x1024xf32>
// CHECK: graph.reduce_sum %[[P]] {axes = array<i64: 1>, keepdims = false} : (tensor<1x128x1024xf32>) -> tensor<1x1024xf32>
func.func @pages(%x: tensor<2048x1024xf32>) -> tensor<1024xf32> {
  %0 = graph.reduce_sum %x {axes = array<i64: 0>, keepdims = false} : (tensor<2048x1024xf32>) -> tensor<1024xf32>
  return %0 : tensor<1024xf32>
}

// -----

// Not: other distances, what the second-level cache contains, and dynamic sizes.
// CHECK-LABEL: func.func @others
// CHECK-NOT: graph.reshape
// CHECK: return
#x = affine_map<()[s0] -> (s0, 1024)>
func.func @others(%x: tensor<2048x1100xf32>, %y: tensor<256x1024xf32>, %z: tensor<?x1024xf32, #x>) -> (tensor<1100xf32>, tensor<1024xf32>, tensor<1024xf32>) {
  %0 = graph.reduce_sum %x {axes = array<i64: 0>, keepdims = false} : (tensor<2048x1100xf32>) -> tensor<1100xf32>
  %1 = graph.reduce_sum %y {axes = array<i64: 0>, keepdims = false} : (tensor<256x1024xf32>) -> tensor<1024xf32>
  %2 = graph.reduce_sum %z {axes = array<i64: 0>, keepdims = false} : (tensor<?x1024xf32, #x>) -> tensor<1024xf32>
  return %0, %1, %2 : tensor<1100xf32>, tensor<1024xf32>, tensor<1024xf32>
}

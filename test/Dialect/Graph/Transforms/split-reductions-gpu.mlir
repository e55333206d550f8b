// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --graph-split-reductions --split-input-file | FileCheck %s

// GPUs have programs for a thousand blocks of threads: one for each row, or for 64
// adjacent results. Small reductions are not split.
// CHECK-LABEL: func.func @rows(
// CHECK: graph.reshape %arg0 : (tensor<16x65536xf32>) -> tensor<16x32x2048xf32>
// CHECK-NOT: graph.reshape %arg1
// CHECK: graph.reshape %arg2 : (tensor<4096x4096xf32>) -> tensor<1x16x256x4096xf32>
// CHECK: graph.reduce_sum %arg3 {axes = array<i64: 0>, keepdims = false} : (tensor<512x128xf32>) -> tensor<128xf32>
// CHECK: return
func.func @rows(%a: tensor<16x65536xf32>, %b: tensor<65x65536xf32>, %c: tensor<4096x4096xf32>, %d: tensor<512x128xf32>) -> (tensor<16xf32>, tensor<65xf32>, tensor<4096xf32>, tensor<128xf32>) {
  %0 = graph.reduce_sum %a {axes = array<i64: 1>, keepdims = false} : (tensor<16x65536xf32>) -> tensor<16xf32>
  %1 = graph.reduce_sum %b {axes = array<i64: 1>, keepdims = false} : (tensor<65x65536xf32>) -> tensor<65xf32>
  %2 = graph.reduce_sum %c {axes = array<i64: 0>, keepdims = false} : (tensor<4096x4096xf32>) -> tensor<4096xf32>
  %3 = graph.reduce_sum %d {axes = array<i64: 0>, keepdims = false} : (tensor<512x128xf32>) -> tensor<128xf32>
  return %0, %1, %2, %3 : tensor<16xf32>, tensor<65xf32>, tensor<4096xf32>, tensor<128xf32>
}

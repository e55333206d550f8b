// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --graph-conv-transpose-to-conv | FileCheck %s

// GPUs compute the phases of all transposed convolutions with constant filters as channels
// of one convolution, also if a phase alone has enough channels for the lanes of a CPU.
// CHECK-LABEL: func.func @phases
// CHECK: graph.conv %arg0, %{{.*}} -> tensor<1x128x8x8xf32>
// CHECK: graph.transpose {{.*}} {perm = array<i64: 0, 3, 4, 1, 5, 2>}
// CHECK: graph.reshape {{.*}} -> tensor<1x32x16x16xf32>
// A computed filter stays.
// CHECK: graph.conv_transpose %arg0, %arg1
func.func @phases(%x: tensor<1x64x8x8xf32>, %v: tensor<64x32x2x2xf32>) -> (tensor<1x32x16x16xf32>, tensor<1x32x16x16xf32>) {
  %w = graph.constant dense<0.5> : tensor<64x32x2x2xf32>
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x64x8x8xf32>, tensor<64x32x2x2xf32>) -> tensor<1x32x16x16xf32>
  %1 = graph.conv_transpose %x, %v {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x64x8x8xf32>, tensor<64x32x2x2xf32>) -> tensor<1x32x16x16xf32>
  return %0, %1 : tensor<1x32x16x16xf32>, tensor<1x32x16x16xf32>
}

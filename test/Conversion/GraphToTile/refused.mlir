// RUN: aopt %s --convert-graph-to-tile=remarks=true --split-input-file --verify-diagnostics | FileCheck %s

// Functions without a tile form are kept, with the reason as a remark.
// CHECK-LABEL: func.func private @nchw
// expected-remark @+1 {{only channels-last convolutions have a tile form}}
func.func private @nchw(%x: tensor<1x4x8x8xf32>, %w: tensor<4x2x1x1xf32>) -> tensor<1x4x8x8xf32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {group = 2 : i64, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<4x2x1x1xf32>) -> tensor<1x4x8x8xf32>
  return %0 : tensor<1x4x8x8xf32>
}

// -----

// CHECK-LABEL: func.func private @two
// expected-remark @+1 {{the cluster has two anchor ops}}
func.func private @two(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {adze.kernel} {
  %0 = graph.softmax %x {axis = 1 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

// CHECK-LABEL: func.func private @unknown
// expected-remark @+1 {{a type has no memory form or unknown dims}}
func.func private @unknown(%x: tensor<?xf32>) -> tensor<?xf32> attributes {adze.kernel} {
  %0 = graph.relu %x : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func private @cumsum
// expected-remark @+1 {{the scan is along the innermost dim}}
func.func private @cumsum(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {adze.kernel} {
  %0 = graph.cumsum %x {axis = 1 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// graph-split-reductions keeps a dim for it.
// CHECK-LABEL: func.func private @scalar
// expected-remark @+1 {{the reduction has a scalar result}}
func.func private @scalar(%x: tensor<5x7xf32>) -> tensor<f32> attributes {adze.kernel} {
  %0 = graph.reduce_sum %x {axes = array<i64: 0, 1>, keepdims = false} : (tensor<5x7xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// CHECK-LABEL: func.func private @empty_row
// expected-remark @+1 {{a tensor has no elements}}
func.func private @empty_row(%x: tensor<4x0xf32>) -> tensor<4xf32> attributes {adze.kernel} {
  %0 = graph.reduce_sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<4x0xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func private @empty_part
// expected-remark @+1 {{a tensor has no elements}}
func.func private @empty_part(%x: tensor<0x?x1xi64, affine_map<()[s0] -> (0, s0, 1)>>) -> tensor<0x?x1xi64, affine_map<()[s0] -> (0, s0, 1)>> attributes {adze.kernel} {
  %0 = graph.reverse %x {axes = array<i64: 0>} : (tensor<0x?x1xi64, affine_map<()[s0] -> (0, s0, 1)>>) -> tensor<0x?x1xi64, affine_map<()[s0] -> (0, s0, 1)>>
  return %0 : tensor<0x?x1xi64, affine_map<()[s0] -> (0, s0, 1)>>
}

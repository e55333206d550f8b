// RUN: aopt %s --split-input-file --verify-diagnostics | aopt --split-input-file | FileCheck %s

// Inferred types are compared with the written ones, and a size that cannot be equal is
// rejected. So each function here states that the expressions are those of the shape
// rules.

#sq = affine_map<()[s0, s1] -> (s0, 3, s1, s1)>

// CHECK-LABEL: func @nested_strides
// Two convolutions of stride 2: one quotient by 4.
func.func @nested_strides(%x: tensor<?x3x?x?xf32, #sq>, %w: tensor<3x3x2x2xf32>) {
  %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x3x?x?xf32, #sq>, tensor<3x3x2x2xf32>) -> tensor<?x3x?x?xf32, affine_map<()[s0, s1] -> (s0, 3, s1 floordiv 2, s1 floordiv 2)>>
  %1 = graph.conv %0, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x3x?x?xf32, affine_map<()[s0, s1] -> (s0, 3, s1 floordiv 2, s1 floordiv 2)>>, tensor<3x3x2x2xf32>) -> tensor<?x3x?x?xf32, affine_map<()[s0, s1] -> (s0, 3, s1 floordiv 4, s1 floordiv 4)>>
  return
}

// -----

#sq = affine_map<()[s0, s1] -> (s0, 3, s1, s1)>
func.func @wrong_quotient(%x: tensor<?x3x?x?xf32, #sq>, %w: tensor<3x3x2x2xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{are incompatible with return type(s)}}
  %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x3x?x?xf32, #sq>, tensor<3x3x2x2xf32>) -> tensor<?x3x?x?xf32, affine_map<()[s0, s1] -> (s0, 3, s1 floordiv 2 + 1, s1 floordiv 2)>>
  return
}

// -----

// CHECK-LABEL: func @concat_symbols
func.func @concat_symbols(%x: tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>, %y: tensor<?x4xf32, affine_map<()[s0, s1] -> (s1, 4)>>) {
  %0 = graph.concat %x, %y {axis = 0 : i64} : (tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>, tensor<?x4xf32, affine_map<()[s0, s1] -> (s1, 4)>>) -> tensor<?x4xf32, affine_map<()[s0, s1] -> (s1 + s0, 4)>>
  return
}

// -----

// A product of symbols has one value in both orders.
// CHECK-LABEL: func @merge
func.func @merge(%x: tensor<?x?x8xf32, affine_map<()[s0, s1] -> (s0, s1, 8)>>) {
  %0 = graph.reshape %x : (tensor<?x?x8xf32, affine_map<()[s0, s1] -> (s0, s1, 8)>>) -> tensor<?x8xf32, affine_map<()[s0, s1] -> (s1 * s0, 8)>>
  return
}

// -----

func.func @merge_wrong(%x: tensor<?x?x8xf32, affine_map<()[s0, s1] -> (s0, s1, 8)>>) {
  // expected-error @+1 {{expected equal numbers of elements}}
  %0 = graph.reshape %x : (tensor<?x?x8xf32, affine_map<()[s0, s1] -> (s0, s1, 8)>>) -> tensor<?x8xf32, affine_map<()[s0, s1] -> (s1 * s0 + 1, 8)>>
  return
}

// -----

// A static size takes precedence over a symbol in broadcasting, and a symbol over 1.
// CHECK-LABEL: func @broadcast
func.func @broadcast(%x: tensor<?x1xf32, affine_map<()[s0] -> (s0, 1)>>, %y: tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>) {
  %0 = graph.add %x, %y : (tensor<?x1xf32, affine_map<()[s0] -> (s0, 1)>>, tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>) -> tensor<?x?xf32, affine_map<()[s0, s1] -> (s0, s1)>>
  return
}

// -----

// Rounded up, the last window starts in bounds: ceil((7 - 2) / 2) + 1 = 4; the padded
// tail would be a fifth one.
// CHECK-LABEL: func @ceil_mode
func.func @ceil_mode(%x: tensor<1x1x7xf32>) {
  %0 = graph.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 2>, dilations = array<i64: 1>, ceil_mode = true} : (tensor<1x1x7xf32>) -> tensor<1x1x4xf32>
  return
}

// -----

// The same for any length: ceil(min(n + 2, n) / 2) windows if the padding is at the end,
// and as many as the span has if the pads are one.
// CHECK-LABEL: func @ceil_mode_unknown
func.func @ceil_mode_unknown(%x: tensor<1x1x?xf32, affine_map<()[s0] -> (1, 1, s0)>>) {
  %0 = graph.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 2>, dilations = array<i64: 1>, ceil_mode = true} : (tensor<1x1x?xf32, affine_map<()[s0] -> (1, 1, s0)>>) -> tensor<1x1x?xf32, affine_map<()[s0] -> (1, 1, (s0 + 1) floordiv 2)>>
  %1 = graph.max_pool %x {kernel = array<i64: 3>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, ceil_mode = true} : (tensor<1x1x?xf32, affine_map<()[s0] -> (1, 1, s0)>>) -> tensor<1x1x?xf32, affine_map<()[s0] -> (1, 1, s0 floordiv 2)>>
  return
}

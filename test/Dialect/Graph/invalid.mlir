// RUN: aopt %s --split-input-file --verify-diagnostics

func.func @broadcast(%x: tensor<4x8xf32>, %y: tensor<7xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected shapes that broadcast, but got [4, 8] and [7]}}
  %0 = graph.add %x, %y : (tensor<4x8xf32>, tensor<7xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @broadcast_elements(%x: tensor<8xf32>, %y: tensor<8xf16>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected equal element types, but got 'f32' and 'f16'}}
  %0 = graph.add %x, %y : (tensor<8xf32>, tensor<8xf16>) -> tensor<8xf32>
  return
}

// -----

func.func @result(%x: tensor<8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{inferred type(s) 'tensor<8xf32>' are incompatible with return type(s) of operation 'tensor<9xf32>'}}
  %0 = graph.exp %x : (tensor<8xf32>) -> tensor<9xf32>
  return
}

// -----

// Expressions that differ for every value of the symbols.
func.func @symbolic(%x: tensor<?xf32, affine_map<()[s0] -> (s0)>>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{are incompatible with return type(s)}}
  %0 = graph.exp %x : (tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<?xf32, affine_map<()[s0] -> (s0 + 1)>>
  return
}

// -----

func.func @float_only(%x: tensor<8xi32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of floating-point values}}
  %0 = graph.exp %x : (tensor<8xi32>) -> tensor<8xi32>
  return
}

// -----

func.func @cast(%x: tensor<8xi32>) {
  // expected-error @+1 {{expected the result to have the input's shape [8], but got [9]}}
  %0 = graph.cast %x : (tensor<8xi32>) -> tensor<9xf32>
  return
}

// -----

func.func @matmul_inner(%x: tensor<4x8xf32>, %y: tensor<7x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected equal inner sizes, but got [4, 8] x [7, 4]}}
  %0 = graph.matmul %x, %y : (tensor<4x8xf32>, tensor<7x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @matmul_rank(%x: tensor<8xf32>, %y: tensor<8x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected operands of rank 2 or more, but got ranks 1 and 2}}
  %0 = graph.matmul %x, %y : (tensor<8xf32>, tensor<8x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @conv_rank(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 4-D weights, but got 3-D}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>, tensor<8x3x3xf32>) -> tensor<1x8x6x6xf32>
  return
}

// -----

func.func @conv_channels(%x: tensor<1x4x8x8xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected [3] input channels (weights x group), but got [4]}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  return
}

// -----

func.func @conv_attributes(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected 2 strides, 4 pads and 2 dilations, but got 1, 4 and 2}}
  %0 = graph.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x6x6xf32>
  return
}

// -----

func.func @conv_window(%x: tensor<1x3x2x2xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a kernel within the padded input}}
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x2x2xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x0x0xf32>
  return
}

// -----

func.func @conv_bias(%x: tensor<1x3x8x8xf32>, %w: tensor<8x3x3x3xf32>, %b: tensor<3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a bias of one number a channel [8], but got [3]}}
  %0 = graph.conv %x, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>, tensor<8x3x3x3xf32>, tensor<3xf32>) -> tensor<1x8x6x6xf32>
  return
}

// -----

func.func @pool(%x: tensor<1x3x8x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected kernel, strides and dilations of at least 1}}
  %0 = graph.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 0, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  return
}

// -----

func.func @softmax(%x: tensor<4x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected an axis in [0, 2), but got -1}}
  %0 = graph.softmax %x {axis = -1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm(%x: tensor<4x8xf32>, %s: tensor<7xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a scale that broadcasts to [4, 8], but got [7]}}
  %0 = graph.layer_norm %x scale %s {axis = 1 : i64} : (tensor<4x8xf32>, tensor<7xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @batch_norm(%x: tensor<1x4x8xf32>, %s: tensor<4xf32>, %m: tensor<8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected one number a channel [4], but got [8]}}
  %0 = graph.batch_norm %x, %s, %s, %m, %s : (tensor<1x4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @group_norm(%x: tensor<1x4x8xf32>, %s: tensor<4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected groups that divide the channels, but got 3}}
  %0 = graph.group_norm %x, %s, %s {groups = 3 : i64} : (tensor<1x4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @reduce(%x: tensor<4x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected ascending axes in [0, 2), but got [1, 0]}}
  %0 = graph.reduce_sum %x {axes = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @reshape(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected equal numbers of elements, but got [4, 8] and [5, 8]}}
  %0 = graph.reshape %x : (tensor<4x8xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @transpose(%x: tensor<4x8xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a permutation of 2 dims, but got [0, 0]}}
  %0 = graph.transpose %x {perm = array<i64: 0, 0>} : (tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @broadcast_to(%x: tensor<3xf32>) {
  // expected-error @+1 {{expected a shape that broadcasts to [2, 4], but got [3]}}
  %0 = graph.broadcast_to %x : (tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @concat(%x: tensor<2x3xf32>, %y: tensor<3x3xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected equal element types and dims but for axis 1}}
  %0 = graph.concat %x, %y {axis = 1 : i64} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @slice(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected a slice within dim 0, but got elements 6 to 9 of [8]}}
  %0 = graph.slice %x {starts = array<i64: 6>, steps = array<i64: 1>} : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad(%x: tensor<8xf32>, %v: tensor<2xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected one 'f32' to pad with, but got 'tensor<2xf32>'}}
  %0 = graph.pad %x, %v {low = array<i64: 1>, high = array<i64: 1>} : (tensor<8xf32>, tensor<2xf32>) -> tensor<10xf32>
  return
}

// -----

func.func @gather_nd(%x: tensor<4x8xf32>, %i: tensor<5x3xi64>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected indices whose last dim is between 1 and 2}}
  %0 = graph.gather_nd %x, %i : (tensor<4x8xf32>, tensor<5x3xi64>) -> tensor<5xf32>
  return
}

// -----

func.func @scatter_elements(%x: tensor<4x8xf32>, %i: tensor<2x1xi64>, %u: tensor<3x8xf32>) {
  // expected-error @+2 {{expected updates of the data's element type and the shape of the indices 'tensor<2x1xi64>', but got 'tensor<3x8xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = graph.scatter_elements %x, %i, %u {axis = 0 : i64} : (tensor<4x8xf32>, tensor<2x1xi64>, tensor<3x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @scatter_nd(%x: tensor<4x8xf32>, %i: tensor<5x1xi64>, %u: tensor<5x7xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected updates of type 'tensor<5x8xf32>', but got 'tensor<5x7xf32>'}}
  %0 = graph.scatter_nd %x, %i, %u : (tensor<4x8xf32>, tensor<5x1xi64>, tensor<5x7xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @top_k(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expected at most 8 elements, but got 9}}
  %0, %1 = graph.top_k %x {axis = 1 : i64} : (tensor<4x8xf32>) -> (tensor<4x9xf32>, tensor<4x9xi64>)
  return
}

// -----

func.func @resize(%x: tensor<1x8xf32>) {
  // expected-error @+1 {{expected 2 scales, but got 1}}
  %0 = graph.resize %x {scales = array<f64: 2.0>} : (tensor<1x8xf32>) -> tensor<1x16xf32>
  return
}

// -----

func.func @one_hot(%x: tensor<4xi64>, %v: tensor<2xf32>) {
  // expected-error @+1 {{expected a dim inserted at 1 into [4], but got [5, 10]}}
  %0 = graph.one_hot %x, %v {axis = 1 : i64} : (tensor<4xi64>, tensor<2xf32>) -> tensor<5x10xf32>
  return
}

// -----

func.func @cluster(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected the yield to have the result types 'tensor<5xf32>', but got 'tensor<4xf32>'}}
  %0 = graph.cluster(%a = %x) : (tensor<4xf32>) -> tensor<5xf32> {
    graph.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @table(%x: tensor<4xui8>) {
  // expected-error @+1 {{expected a table of type 'tensor<256xi8>', but got 'tensor<256xui8>'}}
  %0 = graph.byte_lookup %x {table = dense<7> : tensor<256xui8>} : (tensor<4xui8>) -> tensor<4xi8>
  return
}

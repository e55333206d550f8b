// RUN: aopt %s --split-input-file --verify-diagnostics

func.func @main(%x: tensor<1x8x8x4xf32>, %u: tensor<25x4x4xf32>) -> tensor<1x8x8x4xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a tile of 2 or 4, but got 3}}
  %0 = graph.winograd_conv %x, %u {tile = 3 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x4xf32>, tensor<25x4x4xf32>) -> tensor<1x8x8x4xf32>
  return %0 : tensor<1x8x8x4xf32>
}

// -----

func.func @main(%x: tensor<1x8x8x4xf32>, %u: tensor<36x3x5xf32>) -> tensor<1x8x8x5xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a filter of [36, 4, 5], but got [36, 3, 5]}}
  %0 = graph.winograd_conv %x, %u {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x4xf32>, tensor<36x3x5xf32>) -> tensor<1x8x8x5xf32>
  return %0 : tensor<1x8x8x5xf32>
}

// -----

func.func @main(%x: tensor<1x8x8x4xbf16>, %u: tensor<16x4x5xf32>) -> tensor<1x8x8x5xbf16> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected equal element types, but got 'bf16' and 'f32'}}
  %0 = graph.winograd_conv %x, %u {tile = 2 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x4xbf16>, tensor<16x4x5xf32>) -> tensor<1x8x8x5xbf16>
  return %0 : tensor<1x8x8x5xbf16>
}

// -----

func.func @main(%x: tensor<1x8x8x4xf32>) -> tensor<25x1x2x2x4xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a tile of 2 or 4, but got 3}}
  %0 = graph.winograd_input %x {tile = 3 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x8x4xf32>) -> tensor<25x1x2x2x4xf32>
  return %0 : tensor<25x1x2x2x4xf32>
}

// -----

func.func @main(%x: tensor<1x1x8x4xf32>) -> tensor<36x1x1x2x4xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a window within the padded image, but got [1, 1, 8, 4]}}
  %0 = graph.winograd_input %x {tile = 4 : i64, pads = array<i64: 0, 1, 0, 1>} : (tensor<1x1x8x4xf32>) -> tensor<36x1x1x2x4xf32>
  return %0 : tensor<36x1x1x2x4xf32>
}

// -----

func.func @main(%w: tensor<8x4x3x5xf32>) -> tensor<36x4x8xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a filter [O, C, 3, 3], but got [8, 4, 3, 5]}}
  %0 = graph.winograd_filter %w {tile = 4 : i64} : (tensor<8x4x3x5xf32>) -> tensor<36x4x8xf32>
  return %0 : tensor<36x4x8xf32>
}

// -----

func.func @main(%p: tensor<36x1x3x4x8xf32>) -> tensor<1x14x14x8xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected [4] patches, but got [3]}}
  %0 = graph.winograd_output %p {tile = 4 : i64, size = array<i64: 14, 14>} : (tensor<36x1x3x4x8xf32>) -> tensor<1x14x14x8xf32>
  return %0 : tensor<1x14x14x8xf32>
}

// -----

func.func @main(%x: tensor<1x8x8x4xf32>, %w: tensor<8x4x1x1xf32>) -> tensor<1x8x8x8xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a band of at least 1, but got -1}}
  %0 = graph.conv %x, %w {band = -1 : i64, group = 2 : i64, layout = #graph.layout<nhwc>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, tensor<8x4x1x1xf32>) -> tensor<1x8x8x8xf32>
  return %0 : tensor<1x8x8x8xf32>
}

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

// RUN: aopt %s -split-input-file -verify-diagnostics

func.func @bits(%p: tensor<4x2x12xui8>, %s: tensor<4x2xf32>) -> tensor<4x64xf32> {
  // expected-error @+1 {{expected 2, 4 or 8 bits, but got 3}}
  %0 = graph.dequantize_blocks %p, %s {bits = 3 : i64, block = 32 : i64} : (tensor<4x2x12xui8>, tensor<4x2xf32>) -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}

// -----

func.func @block(%p: tensor<4x2x12xui8>, %s: tensor<4x2xf32>) -> tensor<4x48xf32> {
  // expected-error @+1 {{expected a block of a multiple of 16, but got 24}}
  %0 = graph.dequantize_blocks %p, %s {bits = 4 : i64, block = 24 : i64} : (tensor<4x2x12xui8>, tensor<4x2xf32>) -> tensor<4x48xf32>
  return %0 : tensor<4x48xf32>
}

// -----

func.func @depth(%p: tensor<4x2x16xui8>, %s: tensor<4x2xf32>) -> tensor<4x32xf32> {
  // expected-error @+1 {{expected [N, B, 16], [N, B] and [N, K] with K in ((B - 1) * 32, B * 32], but got}}
  %0 = graph.dequantize_blocks %p, %s {bits = 4 : i64, block = 32 : i64} : (tensor<4x2x16xui8>, tensor<4x2xf32>) -> tensor<4x32xf32>
  return %0 : tensor<4x32xf32>
}

// -----

func.func @zeros(%p: tensor<4x2x16xui8>, %s: tensor<4x2xf32>, %z: tensor<4x1xui8>) -> tensor<4x64xf32> {
  // expected-error @+1 {{expected zeros of the shape of the scales}}
  %0 = graph.dequantize_blocks %p, %s, %z {bits = 4 : i64, block = 32 : i64} : (tensor<4x2x16xui8>, tensor<4x2xf32>, tensor<4x1xui8>) -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}

// -----

func.func @words(%x: tensor<5x2x8xi32>, %s: tensor<5x2xf32>, %t: tensor<5x2x1xi32>, %w: tensor<2x4x16xi32>) -> tensor<5x16xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected as many elements in blocks of both operands, but got [5, 2, 8] and [2, 4, 16]}}
  %0 = graph.word_matmul %x, %s, %t, %w {bits = 4 : i64, planes = 1 : i64} : (tensor<5x2x8xi32>, tensor<5x2xf32>, tensor<5x2x1xi32>, tensor<2x4x16xi32>) -> tensor<5x16xf32>
  return %0 : tensor<5x16xf32>
}

// -----

func.func @planes(%x: tensor<5x2x16xi32>, %s: tensor<5x2xf32>, %t: tensor<5x2x1xi32>, %w: tensor<2x5x16xi32>) -> tensor<5x16xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a start for each plane and as many blocks in both operands, but got [5, 2, 1] and [2, 5, 16]}}
  %0 = graph.word_matmul %x, %s, %t, %w {bits = 4 : i64, planes = 2 : i64} : (tensor<5x2x16xi32>, tensor<5x2xf32>, tensor<5x2x1xi32>, tensor<2x5x16xi32>) -> tensor<5x16xf32>
  return %0 : tensor<5x16xf32>
}

// -----

func.func @blocks(%x: tensor<5x2x4x8xf32>, %w: tensor<16x2x2xi32>, %s: tensor<16x2xf32>) -> tensor<5x16xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected equal blocks of both operands, but got [5, 2, 4, 8] and [16, 2, 2]}}
  %0 = graph.block_matmul %x, %w, %s {bits = 4 : i64} : (tensor<5x2x4x8xf32>, tensor<16x2x2xi32>, tensor<16x2xf32>) -> tensor<5x16xf32>
  return %0 : tensor<5x16xf32>
}

// -----

func.func @scales(%x: tensor<5x2x4x8xf32>, %w: tensor<16x2x4xi32>, %s: tensor<2x16xf32>) -> tensor<5x16xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected scales and zeros [N, B], but got [2, 16]}}
  %0 = graph.block_matmul %x, %w, %s {bits = 4 : i64} : (tensor<5x2x4x8xf32>, tensor<16x2x4xi32>, tensor<2x16xf32>) -> tensor<5x16xf32>
  return %0 : tensor<5x16xf32>
}

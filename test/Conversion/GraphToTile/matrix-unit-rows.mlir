// Programs that a matrix unit multiplies have up to 256 rows, if these are all rows.
// RUN: aopt %s -tile-attach-targets="cpu=sapphirerapids" -convert-graph-to-tile -split-input-file | FileCheck %s --check-prefixes=CHECK,UNIT
// RUN: aopt %s -tile-attach-targets="cpu=znver4" -convert-graph-to-tile -split-input-file | FileCheck %s --check-prefixes=CHECK,VECTORS

// CHECK-LABEL: tile.kernel @few(
// UNIT-SAME: tile.params = {BLOCK_K = 1024 : i64, BLOCK_M = 196 : i64, BLOCK_N = 32 : i64}
// VECTORS-SAME: tile.params = {BLOCK_K = 1024 : i64, BLOCK_M = 104 : i64, BLOCK_N = 32 : i64}
func.func @main(%x: tensor<196x1024xbf16>) -> tensor<196x256xbf16> {
  %w = graph.constant dense<1.0> : tensor<1024x256xbf16>
  %0 = host.launch @few(%x, %w) : (tensor<196x1024xbf16>, tensor<1024x256xbf16>) -> tensor<196x256xbf16>
  return %0 : tensor<196x256xbf16>
}
func.func private @few(%x: tensor<196x1024xbf16>, %w: tensor<1024x256xbf16>) -> tensor<196x256xbf16> attributes {adze.kernel} {
  %0 = graph.matmul %x, %w : (tensor<196x1024xbf16>, tensor<1024x256xbf16>) -> tensor<196x256xbf16>
  return %0 : tensor<196x256xbf16>
}

// -----

// More rows are divided into equal parts.
// CHECK-LABEL: tile.kernel @many(
// CHECK-SAME: BLOCK_M = 112 : i64
func.func @main(%x: tensor<784x1024xbf16>) -> tensor<784x256xbf16> {
  %w = graph.constant dense<1.0> : tensor<1024x256xbf16>
  %0 = host.launch @many(%x, %w) : (tensor<784x1024xbf16>, tensor<1024x256xbf16>) -> tensor<784x256xbf16>
  return %0 : tensor<784x256xbf16>
}
func.func private @many(%x: tensor<784x1024xbf16>, %w: tensor<1024x256xbf16>) -> tensor<784x256xbf16> attributes {adze.kernel} {
  %0 = graph.matmul %x, %w : (tensor<784x1024xbf16>, tensor<1024x256xbf16>) -> tensor<784x256xbf16>
  return %0 : tensor<784x256xbf16>
}

// -----

// An unknown number of rows has the usual blocks.
// CHECK-LABEL: tile.kernel @dynamic(
// CHECK-SAME: BLOCK_M = {{64|128}} : i64
func.func @main(%x: tensor<?x1024xbf16, affine_map<()[s0] -> (s0, 1024)>>) -> tensor<?x256xbf16, affine_map<()[s0] -> (s0, 256)>> attributes {graph.symbols = ["n"]} {
  %w = graph.constant dense<1.0> : tensor<1024x256xbf16>
  %0 = host.launch @dynamic(%x, %w) : (tensor<?x1024xbf16, affine_map<()[s0] -> (s0, 1024)>>, tensor<1024x256xbf16>) -> tensor<?x256xbf16, affine_map<()[s0] -> (s0, 256)>>
  return %0 : tensor<?x256xbf16, affine_map<()[s0] -> (s0, 256)>>
}
func.func private @dynamic(%x: tensor<?x1024xbf16, affine_map<()[s0] -> (s0, 1024)>>, %w: tensor<1024x256xbf16>) -> tensor<?x256xbf16, affine_map<()[s0] -> (s0, 256)>> attributes {adze.kernel} {
  %0 = graph.matmul %x, %w : (tensor<?x1024xbf16, affine_map<()[s0] -> (s0, 1024)>>, tensor<1024x256xbf16>) -> tensor<?x256xbf16, affine_map<()[s0] -> (s0, 256)>>
  return %0 : tensor<?x256xbf16, affine_map<()[s0] -> (s0, 256)>>
}

// The constraints of tile.scan, in their order.
// RUN: aopt %s -split-input-file -verify-diagnostics

tile.kernel @c1(%v: f32) {
  %t = tile.broadcast %v to [4] : f32 -> tensor<4xf32>
  // expected-error @+1 {{expected a dimension below 1, but got 1}}
  %s = tile.scan add %t dim 1 : tensor<4xf32>
  tile.return
}

// -----
tile.kernel @c2(%v: f32) {
  %t = tile.broadcast %v to [4] : f32 -> tensor<4xf32>
  // expected-error @+1 {{expected integers for umax, but got 'f32'}}
  %s = tile.scan umax %t dim 0 : tensor<4xf32>
  tile.return
}

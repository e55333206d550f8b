// The constraints of tile.scatter, in their order.
// RUN: aopt %s -split-input-file -verify-diagnostics

tile.kernel @c1(%x: memref<8x8xf32>, %v: f32) {
  %t = tile.broadcast %v to [4] : f32 -> tensor<4xf32>
  %i = tile.iota dim 0 to [4] : tensor<4xi32>
  // expected-error @+1 {{expected 2 offsets, but got 1}}
  tile.scatter %t, %x[0] at %i along 0 dims [-1] : tensor<4xf32>, memref<8x8xf32>, tensor<4xi32>
  tile.return
}

// -----
tile.kernel @c2(%x: memref<8x8xf32>, %v: f32) {
  %t = tile.broadcast %v to [4] : f32 -> tensor<4xf32>
  %i = tile.iota dim 0 to [4] : tensor<4xi32>
  // expected-error @+1 {{expected -1 or distinct memory dimensions other than along in dims, but got 0}}
  tile.scatter %t, %x[0, 0] at %i along 0 dims [0] : tensor<4xf32>, memref<8x8xf32>, tensor<4xi32>
  tile.return
}

// -----
tile.kernel @c2_entries(%x: memref<8x8xf32>, %v: f32) {
  %t = tile.broadcast %v to [4] : f32 -> tensor<4xf32>
  %i = tile.iota dim 0 to [4] : tensor<4xi32>
  // expected-error @+1 {{expected 1 entries in dims, but got 2}}
  tile.scatter %t, %x[0, 0] at %i along 0 dims [-1, -1] : tensor<4xf32>, memref<8x8xf32>, tensor<4xi32>
  tile.return
}

// -----
tile.kernel @c3(%x: memref<8x8xf32>, %v: f32) {
  %t = tile.broadcast %v to [4] : f32 -> tensor<4xf32>
  %i = tile.iota dim 0 to [4] : tensor<4xi32>
  // expected-error @+1 {{expected along below 2, but got 2}}
  tile.scatter %t, %x[0, 0] at %i along 2 dims [-1] : tensor<4xf32>, memref<8x8xf32>, tensor<4xi32>
  tile.return
}

// -----
tile.kernel @c4(%x: memref<8x8xf32>, %v: f16) {
  %t = tile.broadcast %v to [4] : f16 -> tensor<4xf16>
  %i = tile.iota dim 0 to [4] : tensor<4xi32>
  // expected-error @+1 {{expected a tile of 'f32', but got 'f16'}}
  tile.scatter %t, %x[0, 0] at %i along 0 dims [-1] : tensor<4xf16>, memref<8x8xf32>, tensor<4xi32>
  tile.return
}

// -----
tile.kernel @c5(%x: memref<8x8xf32>, %v: f32) {
  %t = tile.broadcast %v to [4] : f32 -> tensor<4xf32>
  %i = tile.iota dim 0 to [5] : tensor<5xi32>
  // expected-error @+1 {{expected indices of the shape 4 of the tile, but got 5}}
  tile.scatter %t, %x[0, 0] at %i along 0 dims [-1] : tensor<4xf32>, memref<8x8xf32>, tensor<5xi32>
  tile.return
}

// -----
tile.kernel @c6(%x: memref<8xf32>, %v: f32) {
  %t = tile.broadcast %v to [4] : f32 -> tensor<4xf32>
  %i = tile.iota dim 0 to [4] : tensor<4xi32>
  // expected-error @+1 {{expected a kind whose result does not depend on the order of elements of 'f32', but got add}}
  tile.scatter %t, %x[0] at %i along 0 dims [-1] combine add : tensor<4xf32>, memref<8xf32>, tensor<4xi32>
  tile.return
}

// -----
tile.kernel @c6_unsigned(%x: memref<8xf32>, %v: f32) {
  %t = tile.broadcast %v to [4] : f32 -> tensor<4xf32>
  %i = tile.iota dim 0 to [4] : tensor<4xi32>
  // expected-error @+1 {{of elements of 'f32', but got umax}}
  tile.scatter %t, %x[0] at %i along 0 dims [-1] combine umax : tensor<4xf32>, memref<8xf32>, tensor<4xi32>
  tile.return
}

// -----
tile.kernel @c6_product(%x: memref<8xi32>, %v: i32) {
  %t = tile.broadcast %v to [4] : i32 -> tensor<4xi32>
  %i = tile.iota dim 0 to [4] : tensor<4xi32>
  // expected-error @+1 {{of elements of 'i32', but got mul}}
  tile.scatter %t, %x[0] at %i along 0 dims [-1] combine mul : tensor<4xi32>, memref<8xi32>, tensor<4xi32>
  tile.return
}

// Errors of the verifiers; the label after the function name is the constraint in the
// op's description.
// RUN: aopt %s -split-input-file -verify-diagnostics

tile.kernel @kernel_c2() {
  %c1 = arith.constant 1 : index
  %p = tile.program_id (%c1) : index
  // expected-error @+1 {{expected at most one at the top of a kernel}}
  %q = tile.program_id (%c1) : index
  tile.return
}

// -----
tile.kernel @program_id_c1() {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{expected one result a grid dimension, 1 to 3, but got 1 results of 2 dimensions}}
  %p = tile.program_id (%c1, %c1) : index
  tile.return
}

// -----

tile.kernel @program_id_c2() {
  %c4 = arith.constant 4 : index
  // expected-error@below {{expected groups in an ordered grid of 2 dimensions or more}}
  %p, %q = tile.program_id (%c4, %c4) grouped : index, index
  tile.return
}

// -----

tile.kernel @program_id_c2_one_dimension() {
  %c4 = arith.constant 4 : index
  // expected-error@below {{expected groups in an ordered grid of 2 dimensions or more}}
  %p = tile.program_id (%c4) ordered grouped : index
  tile.return
}

// -----

tile.kernel @barrier_c1() {
  %c4 = arith.constant 4 : index
  %p = tile.program_id (%c4) : index
  // expected-error@below {{expected an unordered grid whose dimension 0 has 8 programs}}
  tile.barrier {programs = 8 : i64}
  tile.return
}

// -----
tile.kernel @load_c1(%x: memref<8x8xf32>) {
  // expected-error @+1 {{expected 2 offsets, but got 1}}
  %t = tile.load %x[0] sizes [8] : memref<8x8xf32> -> tensor<8xf32>
  tile.return
}

// -----
tile.kernel @load_c2(%x: memref<8xf32>) {
  // expected-error @+1 {{expected at most 1 tile dimensions, but got 2}}
  %t = tile.load %x[0] sizes [8, 8] : memref<8xf32> -> tensor<8x8xf32>
  tile.return
}

// -----
tile.kernel @load_c3(%x: memref<8x8xf32>) {
  // expected-error @+1 {{expected distinct memory dimensions below 2 in dims, but got 1}}
  %t = tile.load %x[0, 0] sizes [8, 8] dims [1, 1] : memref<8x8xf32> -> tensor<8x8xf32>
  tile.return
}

// -----
tile.kernel @load_c4(%x: memref<8x8xf32>) {
  // expected-error @+1 {{expected positive strides, but got 0}}
  %t = tile.load %x[0, 0] sizes [8] strides [0] : memref<8x8xf32> -> tensor<8xf32>
  tile.return
}

// -----
tile.kernel @load_c5(%x: memref<8xf32>) {
  // expected-error @+1 {{expected a pad of type 'f32', but got 'f64'}}
  %t = tile.load %x[0] sizes [8] pad 0.0 : f64 : memref<8xf32> -> tensor<8xf32>
  tile.return
}

// -----
tile.kernel @store_c5(%x: memref<8xf32>, %t0: f64) {
  %t = tile.broadcast %t0 to [8] : f64 -> tensor<8xf64>
  // expected-error @+1 {{expected a tile of 'f32', but got 'f64'}}
  tile.store %t, %x[0] : tensor<8xf64>, memref<8xf32>
  tile.return
}

// -----
tile.kernel @gather_c2(%x: memref<8x8xf32>) {
  %i = tile.iota dim 0 to [4] : tensor<4xi32>
  // expected-error @+1 {{expected -1 or distinct memory dimensions other than along in dims, but got 0}}
  %t = tile.gather %x[0, 0] at %i along 0 dims [0] : memref<8x8xf32>, tensor<4xi32> -> tensor<4xf32>
  tile.return
}

// -----
tile.kernel @gather_c3(%x: memref<8xf32>) {
  %i = tile.iota dim 0 to [4] : tensor<4xi32>
  // expected-error @+1 {{expected along below 1, but got 1}}
  %t = tile.gather %x[0] at %i along 1 dims [0] : memref<8xf32>, tensor<4xi32> -> tensor<4xf32>
  tile.return
}

// -----
tile.kernel @gather_c5(%x: memref<8x8xf32>) {
  %i = tile.iota dim 0 to [4] : tensor<4xi32>
  // expected-error @+1 {{expected positive strides, but got 0}}
  %t = tile.gather %x[0, 0] at %i along 0 dims [1] strides [0] : memref<8x8xf32>, tensor<4xi32> -> tensor<4xf32>
  tile.return
}

// -----
tile.kernel @gather_strides(%x: memref<8x8xf32>) {
  %i = tile.iota dim 0 to [4] : tensor<4xi32>
  // expected-error @+1 {{expected 1 entries in strides, but got 2}}
  %t = tile.gather %x[0, 0] at %i along 0 dims [1] strides [1, 2] : memref<8x8xf32>, tensor<4xi32> -> tensor<4xf32>
  tile.return
}

// -----
tile.kernel @dot_c2(%f: f32) {
  %a = tile.broadcast %f to [4, 8] : f32 -> tensor<4x8xf32>
  %c = tile.broadcast %f to [4, 4] : f32 -> tensor<4x4xf32>
  // expected-error @+1 {{expected equal contracted sizes, but got 8 and 4}}
  %d = tile.dot %a, %c, %c : tensor<4x8xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  tile.return
}

// -----
tile.kernel @dot_c3(%f: f32, %i: i32) {
  %a = tile.broadcast %f to [4, 4] : f32 -> tensor<4x4xf32>
  %c = tile.broadcast %i to [4, 4] : i32 -> tensor<4x4xi32>
  // expected-error @+1 {{expected operands of the accumulator's kind, but got 'f32' and 'i32'}}
  %d = tile.dot %a, %a, %c : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xi32>
  tile.return
}

// -----
tile.kernel @dot_c3_compute(%f: f32) {
  %a = tile.broadcast %f to [4, 4] : f32 -> tensor<4x4xf32>
  // expected-error @+1 {{expected operands of the accumulator's kind, but got 'ui8' and 'f32'}}
  %d = tile.dot %a, %a, %a compute <ui8 * si8 + si32> : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  tile.return
}

// -----
tile.kernel @dot_c4_width(%i: i16, %j: i32) {
  %a = tile.broadcast %i to [4, 4] : i16 -> tensor<4x4xi16>
  %c = tile.broadcast %j to [4, 4] : i32 -> tensor<4x4xi32>
  // expected-error @+1 {{expected elements of #tile.product<ui8 * si8 + si32> or words of them, but got 'i16' and 'i16'}}
  %d = tile.dot %a, %a, %c compute <ui8 * si8 + si32> : tensor<4x4xi16>, tensor<4x4xi16>, tensor<4x4xi32>
  tile.return
}

// -----
tile.kernel @dot_c4_one_word(%i: i8, %j: i32) {
  %a = tile.broadcast %i to [4, 4] : i8 -> tensor<4x4xi8>
  %c = tile.broadcast %j to [4, 4] : i32 -> tensor<4x4xi32>
  // expected-error @+1 {{expected elements of #tile.product<si8 * ui8 + si32> or words of them, but got 'i8' and 'i32'}}
  %d = tile.dot %a, %c, %c compute <si8 * ui8 + si32> : tensor<4x4xi8>, tensor<4x4xi32>, tensor<4x4xi32>
  tile.return
}

// -----
tile.kernel @dot_c4_sum(%j: i32, %l: i64) {
  %a = tile.broadcast %j to [4, 4] : i32 -> tensor<4x4xi32>
  %c = tile.broadcast %l to [4, 4] : i64 -> tensor<4x4xi64>
  // expected-error @+1 {{expected an accumulator of 'si32', but got 'i64'}}
  %d = tile.dot %a, %a, %c compute <si8 * ui8 + si32> : tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xi64>
  tile.return
}

// -----
tile.kernel @product_sign(%j: i32) {
  %a = tile.broadcast %j to [4, 4] : i32 -> tensor<4x4xi32>
  // expected-error @+1 {{expected floats, or integers with explicit signedness, but got 'i8'}}
  %d = tile.dot %a, %a, %a compute <i8 * ui8 + si32> : tensor<4x4xi32>, tensor<4x4xi32>, tensor<4x4xi32>
  tile.return
}

// -----
tile.kernel @reduce_c1(%f: f32) {
  %a = tile.broadcast %f to [4] : f32 -> tensor<4xf32>
  // expected-error @+2 {{expected a dimension below 1, but got 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %d = tile.reduce add %a dim 1 : tensor<4xf32> -> tensor<f32>
  tile.return
}

// -----
tile.kernel @reduce_c3(%f: f32) {
  %a = tile.broadcast %f to [4] : f32 -> tensor<4xf32>
  // expected-error @+1 {{expected 'nnan' with max or min of floats only}}
  %d = tile.reduce add %a dim 0 nnan : tensor<4xf32> -> tensor<f32>
  tile.return
}

// -----
tile.kernel @reduce_c2(%f: f32) {
  %a = tile.broadcast %f to [4] : f32 -> tensor<4xf32>
  // expected-error @+1 {{expected integers for umax, but got 'f32'}}
  %d = tile.reduce umax %a dim 0 : tensor<4xf32> -> tensor<f32>
  tile.return
}

// -----
tile.kernel @broadcast_c1(%f: f32) {
  %a = tile.broadcast %f to [4] : f32 -> tensor<4xf32>
  // expected-error @+1 {{expected 1 entries in dims, but got 0}}
  %d = tile.broadcast %a to [4, 4] : tensor<4xf32> -> tensor<4x4xf32>
  tile.return
}

// -----
tile.kernel @broadcast_c2(%f: f32) {
  %a = tile.broadcast %f to [4] : f32 -> tensor<4xf32>
  // expected-error @+1 {{expected size 8 of source dimension 0, but got 4}}
  %d = tile.broadcast %a to [8, 4] dims [0] : tensor<4xf32> -> tensor<8x4xf32>
  tile.return
}

// -----
tile.kernel @iota_c1() {
  // expected-error @+1 {{expected a dimension below 1, but got 1}}
  %d = tile.iota dim 1 to [4] : tensor<4xi32>
  tile.return
}

// -----
tile.kernel @reshape_c1(%f: f32) {
  %a = tile.broadcast %f to [4] : f32 -> tensor<4xf32>
  // expected-error @+1 {{expected 4 elements, but got 6}}
  %d = tile.reshape %a to [2, 3] : tensor<4xf32> -> tensor<2x3xf32>
  tile.return
}

// -----
tile.kernel @bitcast_c1() {
  %a = tile.iota dim 0 to [4] : tensor<4xi8>
  // expected-error @+2 {{expected elements of a multiple of the bits of 'f16', but got 'i8'}}
  // expected-error @+1 {{failed to infer returned types}}
  %d = tile.bitcast %a to f16 : tensor<4xi8> -> tensor<4x1xf16>
  tile.return
}

// -----
tile.kernel @byte_lookup_c1() {
  %a = tile.iota dim 0 to [4] : tensor<4xi8>
  // expected-error @+1 {{expected a table of 256 elements, but got 128}}
  %d = tile.byte_lookup %a in dense<7> : tensor<128xi8> : tensor<4xi8>
  tile.return
}

// -----
tile.kernel @transpose_c1(%f: f32) {
  %a = tile.broadcast %f to [4, 4] : f32 -> tensor<4x4xf32>
  // expected-error @+1 {{expected a permutation of 2 dimensions}}
  %d = tile.transpose %a perm [1, 1] : tensor<4x4xf32> -> tensor<4x4xf32>
  tile.return
}

// -----
tile.kernel @view_c1(%x: memref<8x8xf32>) {
  // expected-error @+1 {{expected a layout map of 2 results, but got 1}}
  %v = tile.view %x sizes [64] : memref<8x8xf32> to memref<64xf32, affine_map<(d0) -> (d0)>>
  tile.return
}

// -----
tile.kernel @view_c2(%x: memref<64xf32>) {
  // expected-error @+1 {{expected elements of type 'f32', but got 'i32'}}
  %v = tile.view %x sizes [8, 8] : memref<64xf32> to memref<8x8xi32, affine_map<(d0, d1) -> (d1 * 8 + d0)>>
  tile.return
}

// -----
tile.kernel @view_c3(%x: memref<64xf32>) {
  // expected-error @+1 {{expected sizes 8, 8, but got 8, 4}}
  %v = tile.view %x sizes [8, 4] : memref<64xf32> to memref<8x8xf32, affine_map<(d0, d1) -> (d1 * 8 + d0)>>
  tile.return
}

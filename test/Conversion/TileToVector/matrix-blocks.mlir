// Dots between other computations: their sums are in scratch memory, and their
// operands are packed for the unit that multiplies matrices.
// RUN: aopt %s -tile-attach-targets="cpu=sapphirerapids caches=2M,64M" -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s
// RUN: aopt %s -tile-attach-targets="cpu=znver4" -convert-tile-to-vector -split-input-file | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: amx.

// Keys are read in place, and queries are packed before the loop. Weights are
// packed as they are rounded, values are transposed, and the sums that the loop
// carries stay in one buffer.
// CHECK-LABEL: func.func @attention(
// CHECK-COUNT-6: memref.alloca() {{.*}} : memref<
// CHECK-NOT: memref.alloca
// CHECK: vector.load %arg0{{.*}} vector<32xbf16>
// CHECK: vector.bitcast {{.*}} : vector<32xbf16> to vector<16xi32>
// CHECK: vector.shuffle {{.*}} : vector<16xi32>, vector<16xi32>
// CHECK: vector.store {{.*}} : memref<32x128xbf16>, vector<32xbf16>
// CHECK: scf.for {{.*}} step %c64 iter_args
// CHECK: scf.for %[[KEY:.*]] = %c0 to %c64 step %c16
// CHECK-COUNT-4: amx.tile_zero : !amx.tile<16x16xf32>
// CHECK: scf.for {{.*}} step %c32 iter_args
// CHECK: amx.tile_load %arg1[{{.*}}], %c64 : memref<256x64xbf16> into !amx.tile<16x32xbf16>
// CHECK: amx.tile_load {{.*}} : memref<32x128xbf16> into !amx.tile<16x32xbf16>
// CHECK: amx.tile_mulf
// CHECK-COUNT-4: amx.tile_store {{.*}} : memref<64x64xf32>
// CHECK: math.exp
// CHECK: arith.truncf
// CHECK: vector.interleave {{.*}} : vector<16xbf16> -> vector<32xbf16>
// CHECK: vector.load %arg2{{.*}} vector<16xbf16>
// CHECK: vector.interleave
// CHECK: vector.shuffle {{.*}} : vector<16xi32>, vector<16xi32>
// CHECK: amx.tile_load %[[SUMS:.*]][{{.*}} : memref<64x64xf32> into !amx.tile<16x16xf32>
// CHECK: amx.tile_mulf
// CHECK-COUNT-4: amx.tile_store %[[SUMS]]
tile.kernel @attention(%q: memref<64x64xbf16>, %k: memref<256x64xbf16>, %v: memref<256x64xbf16>, %y: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %init = arith.constant dense<0.0> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %a = tile.load %q[0, 0] sizes [64, 64] dims [1, 0] : memref<64x64xbf16> -> tensor<64x64xbf16>
  %r:2 = scf.for %i = %c0 to %c256 step %c64 iter_args(%acc = %init, %sum = %none) -> (tensor<64x64xf32>, tensor<64xf32>) {
    %b = tile.load %k[%i, 0] sizes [64, 64] : memref<256x64xbf16> -> tensor<64x64xbf16>
    %s = tile.dot %b, %a, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    %w = math.exp %s : tensor<64x64xf32>
    %t = tile.reduce add %w dim 0 : tensor<64x64xf32> -> tensor<64xf32>
    %next = arith.addf %sum, %t : tensor<64xf32>
    %half = arith.constant dense<0.5> : tensor<64x64xf32>
    %kept = arith.mulf %acc, %half : tensor<64x64xf32>
    %c = tile.load %v[%i, 0] sizes [64, 64] dims [1, 0] : memref<256x64xbf16> -> tensor<64x64xbf16>
    %n = arith.truncf %w fastmath<contract> : tensor<64x64xf32> to tensor<64x64xbf16>
    %d = tile.dot %c, %n, %kept : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %d, %next : tensor<64x64xf32>, tensor<64xf32>
  }
  %all = tile.broadcast %r#1 to [64, 64] dims [1] : tensor<64xf32> -> tensor<64x64xf32>
  %o = arith.divf %r#0, %all : tensor<64x64xf32>
  tile.store %o, %y[0, 0] dims [1, 0] : tensor<64x64xf32>, memref<64x64xf32>
  tile.return
}

// -----

// A dynamic number of keys: rows beyond the end are copied with zeros. The depth
// of 40 ends in a register with zeros.
// CHECK-LABEL: func.func @dynamic(
// CHECK: amx.tile_load %arg1[{{.*}}, %c0], %c40
// CHECK: vector.maskedload %arg1[{{.*}}, %c32]
// CHECK: amx.tile_load {{.*}} : memref<16x32xbf16>
// CHECK: scf.for
// CHECK: arith.cmpi ult
// CHECK: vector.maskedload %arg1[{{.*}}, %c0]
// CHECK-NOT: amx.tile_load %arg1
// CHECK: return
tile.kernel @dynamic(%q: memref<32x40xbf16>, %k: memref<?x40xbf16>, %y: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %k, %c0 : memref<?x40xbf16>
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %none = arith.constant dense<0.0> : tensor<32xf32>
  %a = tile.load %q[0, 0] sizes [40, 32] dims [1, 0] : memref<32x40xbf16> -> tensor<40x32xbf16>
  %r = scf.for %i = %c0 to %n step %c64 iter_args(%sum = %none) -> (tensor<32xf32>) {
    %b = tile.load %k[%i, 0] sizes [64, 40] : memref<?x40xbf16> -> tensor<64x40xbf16>
    %s = tile.dot %b, %a, %zero : tensor<64x40xbf16>, tensor<40x32xbf16>, tensor<64x32xf32>
    %t = tile.reduce add %s dim 0 : tensor<64x32xf32> -> tensor<32xf32>
    %next = arith.addf %sum, %t : tensor<32xf32>
    scf.yield %next : tensor<32xf32>
  }
  tile.store %r, %y[0] : tensor<32xf32>, memref<32xf32>
  tile.return
}

// -----

// Operands of f32 are rounded as they are packed.
// CHECK-LABEL: func.func @rounded(
// CHECK-DAG: memref.alloca() {{.*}} : memref<64x32xbf16>
// CHECK: vector.load %arg1{{.*}} vector<16xf32>
// CHECK: arith.truncf {{.*}} to vector<16xbf16>
// CHECK: amx.tile_mulf
tile.kernel @rounded(%q: memref<32x32xf32>, %k: memref<64x32xf32>, %y: memref<32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %q32 = tile.load %q[0, 0] sizes [32, 32] dims [1, 0] : memref<32x32xf32> -> tensor<32x32xf32>
  %k32 = tile.load %k[0, 0] sizes [64, 32] : memref<64x32xf32> -> tensor<64x32xf32>
  %a = arith.truncf %q32 fastmath<contract> : tensor<32x32xf32> to tensor<32x32xbf16>
  %b = arith.truncf %k32 fastmath<contract> : tensor<64x32xf32> to tensor<64x32xbf16>
  %s = tile.dot %b, %a, %zero : tensor<64x32xbf16>, tensor<32x32xbf16>, tensor<64x32xf32>
  %t = tile.reduce add %s dim 0 : tensor<64x32xf32> -> tensor<32xf32>
  tile.store %t, %y[0] : tensor<32xf32>, memref<32xf32>
  tile.return
}

// -----

// Elements after the depth of 48 are in memory, but may not be numbers: they are
// replaced by zeros, in the packed queries and in the copied rows of keys.
// CHECK-LABEL: func.func @neighbours(
// CHECK: %[[Q:.*]] = vector.load %arg0[%c0, %c32] : memref<32x64xbf16>, vector<32xbf16>
// CHECK: arith.select %{{.*}}, %[[Q]], %{{.*}} : vector<32xi1>, vector<32xbf16>
// CHECK: amx.tile_load %arg1
// CHECK: %[[K:.*]] = vector.load %arg1[%{{.*}}, %c32] : memref<64x64xbf16>, vector<32xbf16>
// CHECK: arith.select %{{.*}}, %[[K]], %{{.*}} : vector<32xi1>, vector<32xbf16>
// CHECK-NOT: amx.tile_load %arg1
// CHECK: return
tile.kernel @neighbours(%q: memref<32x64xbf16>, %k: memref<64x64xbf16>, %y: memref<32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %a = tile.load %q[0, 0] sizes [48, 32] dims [1, 0] : memref<32x64xbf16> -> tensor<48x32xbf16>
  %b = tile.load %k[0, 0] sizes [64, 48] : memref<64x64xbf16> -> tensor<64x48xbf16>
  %s = tile.dot %b, %a, %zero : tensor<64x48xbf16>, tensor<48x32xbf16>, tensor<64x32xf32>
  %t = tile.reduce add %s dim 0 : tensor<64x32xf32> -> tensor<32xf32>
  tile.store %t, %y[0] : tensor<32xf32>, memref<32xf32>
  tile.return
}

// -----

// Few rows stay in vectors, and are not rounded there.
// CHECK-LABEL: func.func @few(
// CHECK-NOT: amx.
// CHECK-NOT: arith.truncf
tile.kernel @few(%q: memref<32x32xf32>, %k: memref<8x32xf32>, %y: memref<32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<8x32xf32>
  %q32 = tile.load %q[0, 0] sizes [32, 32] dims [1, 0] : memref<32x32xf32> -> tensor<32x32xf32>
  %k32 = tile.load %k[0, 0] sizes [8, 32] : memref<8x32xf32> -> tensor<8x32xf32>
  %a = arith.truncf %q32 fastmath<contract> : tensor<32x32xf32> to tensor<32x32xbf16>
  %b = arith.truncf %k32 fastmath<contract> : tensor<8x32xf32> to tensor<8x32xbf16>
  %s = tile.dot %b, %a, %zero : tensor<8x32xbf16>, tensor<32x32xbf16>, tensor<8x32xf32>
  %t = tile.reduce add %s dim 0 : tensor<8x32xf32> -> tensor<32xf32>
  tile.store %t, %y[0] : tensor<32xf32>, memref<32xf32>
  tile.return
}

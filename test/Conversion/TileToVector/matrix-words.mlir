// Products of words on a matrix unit, whose sums are scaled in the loop: one register of
// sums, and as many vectors of accumulators.
// RUN: aopt %s -tile-attach-targets="cpu=sapphirerapids caches=2M,64M" -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s

// Blocks of 8 words are half of the unit's depth.
// CHECK-LABEL: func.func @scaled(
// CHECK-DAG: %[[EXACT:.*]] = memref.alloca() {{.*}} : memref<16x16xi32>
// CHECK: scf.for {{.*}} step %c16
// CHECK: scf.for {{.*}} -> (vector<16xf32>, {{.*}}vector<16xf32>)
// CHECK: amx.tile_zero : !amx.tile<16x16xi32>
// CHECK-DAG: amx.tile_load %arg1{{.*}} memref<64x64xi32> into !amx.tile<8x64xi8>
// CHECK-DAG: amx.tile_load %arg0{{.*}}, %c64 : memref<16x8x8xi32> into !amx.tile<16x32xi8>
// CHECK: amx.tile_muli %{{.*}}, %{{.*}}, %{{.*}} : !amx.tile<16x32xi8>, !amx.tile<8x64xi8>, !amx.tile<16x16xi32>
// CHECK: amx.tile_store %[[EXACT]]
// CHECK-COUNT-16: vector.load %[[EXACT]]
// CHECK-COUNT-16: math.fma
// CHECK-NOT: math.fma
tile.kernel @scaled(%x: memref<16x8x8xi32>, %w: memref<64x64xi32>, %s: memref<8x64xf32>, %y: memref<16x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %none = arith.constant dense<0.0> : tensor<16x64xf32>
  %zero = arith.constant dense<0> : tensor<16x64xi32>
  %t = scf.for %k = %c0 to %c8 step %c1 iter_args(%sum = %none) -> (tensor<16x64xf32>) {
    %at = arith.muli %k, %c8 : index
    %a = tile.load %x[0, %k, 0] sizes [16, 8] dims [0, 2] : memref<16x8x8xi32> -> tensor<16x8xi32>
    %b = tile.load %w[%at, 0] sizes [8, 64] : memref<64x64xi32> -> tensor<8x64xi32>
    %d = tile.dot %a, %b, %zero compute <si8 * si8 + si32> : tensor<16x8xi32>, tensor<8x64xi32>, tensor<16x64xi32>
    %f = arith.sitofp %d : tensor<16x64xi32> to tensor<16x64xf32>
    %r = tile.load %s[%k, 0] sizes [64] : memref<8x64xf32> -> tensor<64xf32>
    %q = tile.broadcast %r to [16, 64] dims [1] : tensor<64xf32> -> tensor<16x64xf32>
    %next = math.fma %f, %q, %sum : tensor<16x64xf32>
    scf.yield %next : tensor<16x64xf32>
  }
  tile.store %t, %y[0, 0] : tensor<16x64xf32>, memref<16x64xf32>
  tile.return
}

// -----

// 24 words: steps of 12, which divide them.
// CHECK-LABEL: func.func @divided(
// CHECK: scf.for {{.*}} = %c0 to %c24 step %c12
// CHECK: !amx.tile<12x64xi8>
tile.kernel @divided(%x: memref<16x24xi32>, %w: memref<24x16xi32>, %y: memref<16x16xi32>) {
  %zero = arith.constant dense<0> : tensor<16x16xi32>
  %a = tile.load %x[0, 0] sizes [16, 24] : memref<16x24xi32> -> tensor<16x24xi32>
  %b = tile.load %w[0, 0] sizes [24, 16] : memref<24x16xi32> -> tensor<24x16xi32>
  %d = tile.dot %a, %b, %zero compute <si8 * ui8 + si32> : tensor<16x24xi32>, tensor<24x16xi32>, tensor<16x16xi32>
  tile.store %d, %y[0, 0] : tensor<16x16xi32>, memref<16x16xi32>
  tile.return
}

// -----

// Words that are computed, or not contiguous in memory, are not rows of registers.
// CHECK-LABEL: func.func @computed(
// CHECK-NOT: amx.
// CHECK-LABEL: func.func @apart(
// CHECK-NOT: amx.
tile.kernel @computed(%x: memref<16x16xi32>, %w: memref<16x16xi32>, %y: memref<16x16xi32>) {
  %zero = arith.constant dense<0> : tensor<16x16xi32>
  %mask = arith.constant dense<0x0f0f0f0f> : tensor<16x16xi32>
  %a = tile.load %x[0, 0] sizes [16, 16] : memref<16x16xi32> -> tensor<16x16xi32>
  %b = tile.load %w[0, 0] sizes [16, 16] : memref<16x16xi32> -> tensor<16x16xi32>
  %low = arith.andi %b, %mask : tensor<16x16xi32>
  %d = tile.dot %a, %low, %zero compute <si8 * ui8 + si32> : tensor<16x16xi32>, tensor<16x16xi32>, tensor<16x16xi32>
  tile.store %d, %y[0, 0] : tensor<16x16xi32>, memref<16x16xi32>
  tile.return
}
tile.kernel @apart(%x: memref<16x32xi32>, %w: memref<16x16xi32>, %y: memref<16x16xi32>) {
  %zero = arith.constant dense<0> : tensor<16x16xi32>
  %a = tile.load %x[0, 0] sizes [16, 16] strides [1, 2] : memref<16x32xi32> -> tensor<16x16xi32>
  %b = tile.load %w[0, 0] sizes [16, 16] : memref<16x16xi32> -> tensor<16x16xi32>
  %d = tile.dot %a, %b, %zero compute <si8 * ui8 + si32> : tensor<16x16xi32>, tensor<16x16xi32>, tensor<16x16xi32>
  tile.store %d, %y[0, 0] : tensor<16x16xi32>, memref<16x16xi32>
  tile.return
}

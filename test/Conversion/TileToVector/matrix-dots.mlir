// Dots on a matrix unit: sums stay in its registers from dot to dot, and other users read
// them from scratch.
// RUN: aopt %s -tile-attach-targets="cpu=sapphirerapids caches=2M,64M" -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s
// RUN: aopt %s -tile-attach-targets="cpu=znver4" -convert-tile-to-vector -split-input-file | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: amx.

#panels = affine_map<(k, n) -> (n floordiv 32, k floordiv 32, (k mod 32) floordiv 2, n mod 32, k mod 2)>

// CHECK-LABEL: func.func @blocks(
// CHECK: %[[SUMS:.*]] = memref.alloca() {{.*}} : memref<32x32xf32>
// Four registers of sums begin as zeros, and a step of the depth reads each of four
// registers of the operands once. Products of few steps do not prefetch what they store.
// CHECK-NOT: memref.prefetch {{.*}}, write
// CHECK-COUNT-4: amx.tile_zero : !amx.tile<16x16xf32>
// CHECK: scf.for {{.*}} step %c32 iter_args({{.*}}) -> (!amx.tile<16x16xf32>, !amx.tile<16x16xf32>, !amx.tile<16x16xf32>, !amx.tile<16x16xf32>)
// CHECK: amx.tile_load {{.*}} memref<2x2x16x64xbf16> into !amx.tile<16x32xbf16>
// CHECK: amx.tile_load %arg0{{.*}}, %c64 : memref<64x64xbf16> into !amx.tile<16x32xbf16>
// CHECK: amx.tile_mulf
// CHECK: amx.tile_load %arg0
// CHECK: amx.tile_mulf
// CHECK: amx.tile_load {{.*}} memref<2x2x16x64xbf16>
// CHECK-NOT: amx.tile_load
// CHECK-COUNT-2: amx.tile_mulf
// CHECK-COUNT-4: amx.tile_store %[[SUMS]]
// The epilogue processes four rows of two vectors at once.
// CHECK: scf.for {{.*}} step %c4
// CHECK-COUNT-8: arith.maximumf {{.*}} : vector<16xf32>
tile.kernel @blocks(%x: memref<64x64xbf16>, %w: memref<64x64xbf16, #panels>, %y: memref<64x64xf32>) {
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.load %x[0, 0] sizes [64, 64] : memref<64x64xbf16> -> tensor<64x64xbf16>
  %b = tile.load %w[0, 0] sizes [64, 64] : memref<64x64xbf16, #panels> -> tensor<64x64xbf16>
  %d = tile.dot %a, %b, %zero : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
  %r = arith.maximumf %d, %zero : tensor<64x64xf32>
  tile.store %r, %y[0, 0] : tensor<64x64xf32>, memref<64x64xf32>
  tile.return
}

// -----

// Loops pass registers on, and a dot adds to those of the previous one.
#panels = affine_map<(k, n) -> (n floordiv 32, k floordiv 32, (k mod 32) floordiv 2, n mod 32, k mod 2)>
// CHECK-LABEL: func.func @chain(
// CHECK-COUNT-2: amx.tile_zero : !amx.tile<16x16xf32>
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (!amx.tile<16x16xf32>, !amx.tile<16x16xf32>)
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (!amx.tile<16x16xf32>, !amx.tile<16x16xf32>)
// CHECK-NOT: amx.tile_store
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (!amx.tile<16x16xf32>, !amx.tile<16x16xf32>)
// CHECK-NOT: amx.tile_store
// CHECK: scf.yield
// CHECK-COUNT-2: amx.tile_store
// CHECK-NOT: amx.tile_
tile.kernel @chain(%x: memref<16x256xbf16>, %w: memref<256x32xbf16, #panels>, %y: memref<16x32xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %s = scf.for %k = %c0 to %c128 step %c64 iter_args(%acc = %zero) -> (tensor<16x32xf32>) {
    %a = tile.load %x[0, %k] sizes [16, 64] : memref<16x256xbf16> -> tensor<16x64xbf16>
    %b = tile.load %w[%k, 0] sizes [64, 32] : memref<256x32xbf16, #panels> -> tensor<64x32xbf16>
    %d = tile.dot %a, %b, %acc : tensor<16x64xbf16>, tensor<64x32xbf16>, tensor<16x32xf32>
    %e = tile.load %x[0, 128] sizes [16, 128] : memref<16x256xbf16> -> tensor<16x128xbf16>
    %f = tile.load %w[128, 0] sizes [128, 32] : memref<256x32xbf16, #panels> -> tensor<128x32xbf16>
    %g = tile.dot %e, %f, %d : tensor<16x128xbf16>, tensor<128x32xbf16>, tensor<16x32xf32>
    scf.yield %g : tensor<16x32xf32>
  }
  tile.store %s, %y[0, 0] : tensor<16x32xf32>, memref<16x32xf32>
  tile.return
}

// -----

// 27 rows: two registers of 14, the second of which overlaps the first. Depth 40: the
// rows of the left operand are copied with trailing zeros, and the packing has those of
// the right one.
#panels = affine_map<(k, n) -> (n floordiv 32, k floordiv 32, (k mod 32) floordiv 2, n mod 32, k mod 2)>
// CHECK-LABEL: func.func @parts(
// CHECK-DAG: %[[REST:.*]] = memref.alloca() {{.*}} : memref<14x32xbf16>
// CHECK: amx.tile_load %arg0[%c0, %c0], %c40
// CHECK: amx.tile_load %arg0[%c13, %c0], %c40
// CHECK: %[[MASK:.*]] = vector.constant_mask [8] : vector<32xi1>
// CHECK-COUNT-14: vector.maskedload {{.*}}, %[[MASK]]
// CHECK: amx.tile_load {{.*}} memref<14x32xbf16> into !amx.tile<14x32xbf16>
tile.kernel @parts(%x: memref<27x40xbf16>, %w: memref<40x32xbf16, #panels>, %y: memref<27x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<27x32xf32>
  %a = tile.load %x[0, 0] sizes [27, 40] : memref<27x40xbf16> -> tensor<27x40xbf16>
  %b = tile.load %w[0, 0] sizes [40, 32] : memref<40x32xbf16, #panels> -> tensor<40x32xbf16>
  %d = tile.dot %a, %b, %zero : tensor<27x40xbf16>, tensor<40x32xbf16>, tensor<27x32xf32>
  tile.store %d, %y[0, 0] : tensor<27x32xf32>, memref<27x32xf32>
  tile.return
}

// -----

// Registers are stored row by row if the sums are the whole memory; not at an offset, or
// if another op reads the sums.
#panels = affine_map<(k, n) -> (n floordiv 32, k floordiv 32, (k mod 32) floordiv 2, n mod 32, k mod 2)>
// CHECK-LABEL: func.func @filled(
// CHECK-NOT: memref.alloca
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c64 step %c32
// CHECK: %[[NEXT:.*]] = arith.addi %[[ROW]], %c16
// CHECK: amx.tile_store %arg2[%[[ROW]], %c0]
// CHECK: amx.tile_store %arg2[%[[NEXT]], %c0]
// CHECK: amx.tile_store %arg2[%[[ROW]], %c16]
// CHECK: amx.tile_store %arg2[%[[NEXT]], %c16]
// CHECK-NOT: vector.store
tile.kernel @filled(%x: memref<64x32xbf16>, %w: memref<32x32xbf16, #panels>, %y: memref<64x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %a = tile.load %x[0, 0] sizes [64, 32] : memref<64x32xbf16> -> tensor<64x32xbf16>
  %b = tile.load %w[0, 0] sizes [32, 32] : memref<32x32xbf16, #panels> -> tensor<32x32xbf16>
  %d = tile.dot %a, %b, %zero : tensor<64x32xbf16>, tensor<32x32xbf16>, tensor<64x32xf32>
  tile.store %d, %y[0, 0] : tensor<64x32xf32>, memref<64x32xf32>
  tile.return
}
// CHECK-LABEL: func.func @offset(
// CHECK: %[[SUMS:.*]] = memref.alloca() {{.*}} : memref<16x32xf32>
// CHECK-COUNT-2: amx.tile_store %[[SUMS]]
// CHECK: vector.store {{.*}}, %arg2
tile.kernel @offset(%x: memref<16x32xbf16>, %w: memref<32x32xbf16, #panels>, %y: memref<17x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %a = tile.load %x[0, 0] sizes [16, 32] : memref<16x32xbf16> -> tensor<16x32xbf16>
  %b = tile.load %w[0, 0] sizes [32, 32] : memref<32x32xbf16, #panels> -> tensor<32x32xbf16>
  %d = tile.dot %a, %b, %zero : tensor<16x32xbf16>, tensor<32x32xbf16>, tensor<16x32xf32>
  tile.store %d, %y[1, 0] : tensor<16x32xf32>, memref<17x32xf32>
  tile.return
}
// CHECK-LABEL: func.func @read(
// CHECK: %[[SUMS:.*]] = memref.alloca() {{.*}} : memref<16x32xf32>
// CHECK-COUNT-2: amx.tile_store %[[SUMS]]
// CHECK-NOT: amx.tile_store
tile.kernel @read(%x: memref<16x32xbf16>, %w: memref<32x32xbf16, #panels>, %y: memref<16x32xf32>, %z: memref<16x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %a = tile.load %x[0, 0] sizes [16, 32] : memref<16x32xbf16> -> tensor<16x32xbf16>
  %b = tile.load %w[0, 0] sizes [32, 32] : memref<32x32xbf16, #panels> -> tensor<32x32xbf16>
  %d = tile.dot %a, %b, %zero : tensor<16x32xbf16>, tensor<32x32xbf16>, tensor<16x32xf32>
  %r = arith.maximumf %d, %zero : tensor<16x32xf32>
  tile.store %d, %y[0, 0] : tensor<16x32xf32>, memref<16x32xf32>
  tile.store %r, %z[0, 0] : tensor<16x32xf32>, memref<16x32xf32>
  tile.return
}

// -----

// 112 rows: seven registers in three blocks of two and a remainder of one; equal parts
// would need eight.
#panels = affine_map<(k, n) -> (n floordiv 32, k floordiv 32, (k mod 32) floordiv 2, n mod 32, k mod 2)>
// CHECK-LABEL: func.func @wants(
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %c96{{.*}} step %c32{{.*}}
// CHECK-COUNT-4: amx.tile_mulf {{.*}} !amx.tile<16x16xf32>
// CHECK: amx.tile_load %arg0[%c96, %{{.*}}]
// CHECK-COUNT-2: amx.tile_mulf {{.*}} !amx.tile<16x16xf32>
// CHECK-NOT: amx.tile_mulf
tile.kernel @wants(%x: memref<112x32xbf16>, %w: memref<32x32xbf16, #panels>, %y: memref<112x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<112x32xf32>
  %a = tile.load %x[0, 0] sizes [112, 32] : memref<112x32xbf16> -> tensor<112x32xbf16>
  %b = tile.load %w[0, 0] sizes [32, 32] : memref<32x32xbf16, #panels> -> tensor<32x32xbf16>
  %d = tile.dot %a, %b, %zero : tensor<112x32xbf16>, tensor<32x32xbf16>, tensor<112x32xf32>
  tile.store %d, %y[0, 0] : tensor<112x32xf32>, memref<112x32xf32>
  tile.return
}

// -----

// Data that the program reads again are not prefetched, and bytes are prefetched once per
// cache line: two rows of 64 columns, four vectors each. The product has ten steps.
#panels = affine_map<(k, n) -> (n floordiv 64, k floordiv 32, (k mod 32) floordiv 2, n mod 64, k mod 2)>
// CHECK-LABEL: func.func @asks(
// CHECK-COUNT-2: memref.prefetch %arg2{{.*}}, write
// CHECK-NOT: write
tile.kernel @asks(%x: memref<2x320xbf16>, %w: memref<320x64xbf16, #panels>, %y: memref<2x64xi8>, %z: memref<2x64xf32>) {
  %own = tile.scratch [2, 64] : memref<2x64xf32>
  %zero = arith.constant dense<0.0> : tensor<2x64xf32>
  %a = tile.load %x[0, 0] sizes [2, 320] : memref<2x320xbf16> -> tensor<2x320xbf16>
  %b = tile.load %w[0, 0] sizes [320, 64] : memref<320x64xbf16, #panels> -> tensor<320x64xbf16>
  %d = tile.dot %a, %b, %zero : tensor<2x320xbf16>, tensor<320x64xbf16>, tensor<2x64xf32>
  %i = arith.fptosi %d : tensor<2x64xf32> to tensor<2x64xi8>
  tile.store %d, %own[0, 0] : tensor<2x64xf32>, memref<2x64xf32>
  tile.store %i, %y[0, 0] : tensor<2x64xi8>, memref<2x64xi8>
  tile.return
}

// -----

// A program with two blocks of rows prefetches the panel of the next program, one half for
// each block.
#panels = affine_map<(k, n) -> (n floordiv 32, k floordiv 32, (k mod 32) floordiv 2, n mod 32, k mod 2)>
// CHECK-LABEL: func.func @streams(
// CHECK: amx.tile_zero
// CHECK: memref.prefetch %{{.*}}[%{{.*}}, %c1024], read, locality<2>, data : memref<4x1024xbf16>
// CHECK-COUNT-15: memref.prefetch {{.*}}, read
// CHECK: amx.tile_mulf
// CHECK: amx.tile_zero
// CHECK: memref.prefetch %{{.*}}[%{{.*}}, %c1536], read
// CHECK-COUNT-15: memref.prefetch {{.*}}, read
// CHECK-NOT: read
tile.kernel @streams(%x: memref<63x32xbf16>, %w: memref<32x128xbf16, #panels>, %y: memref<63x128xf32>) {
  %zero = arith.constant dense<0.0> : tensor<63x32xf32>
  %c4 = arith.constant 4 : index   %c32 = arith.constant 32 : index
  %id = tile.program_id (%c4) : index
  %column = arith.muli %id, %c32 : index
  %a = tile.load %x[0, 0] sizes [63, 32] : memref<63x32xbf16> -> tensor<63x32xbf16>
  %b = tile.load %w[0, %column] sizes [32, 32] : memref<32x128xbf16, #panels> -> tensor<32x32xbf16>
  %d = tile.dot %a, %b, %zero : tensor<63x32xbf16>, tensor<32x32xbf16>, tensor<63x32xf32>
  tile.store %d, %y[0, %column] : tensor<63x32xf32>, memref<63x128xf32>
  tile.return
}

// -----

// Programs that read the same panel do not prefetch it for each other.
#panels = affine_map<(k, n) -> (n floordiv 32, k floordiv 32, (k mod 32) floordiv 2, n mod 32, k mod 2)>
// CHECK-LABEL: func.func @shares(
// CHECK-NOT: read
tile.kernel @shares(%x: memref<64x32xbf16>, %w: memref<32x64xbf16, #panels>, %y: memref<64x64xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %c2 = arith.constant 2 : index   %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index   %c32 = arith.constant 32 : index
  %ids:2 = tile.program_id (%c4, %c2) : index, index
  %row = arith.muli %ids#0, %c16 : index
  %column = arith.muli %ids#1, %c32 : index
  %a = tile.load %x[%row, 0] sizes [16, 32] : memref<64x32xbf16> -> tensor<16x32xbf16>
  %b = tile.load %w[0, %column] sizes [32, 32] : memref<32x64xbf16, #panels> -> tensor<32x32xbf16>
  %d = tile.dot %a, %b, %zero : tensor<16x32xbf16>, tensor<32x32xbf16>, tensor<16x32xf32>
  tile.store %d, %y[%row, %column] : tensor<16x32xf32>, memref<64x64xf32>
  tile.return
}

// -----

// Dynamic rows: blocks in bounds read them in place, those at the end a copy. Signed and
// unsigned bytes are multiplied.
#panels = affine_map<(k, n) -> (n floordiv 32, k floordiv 64, (k mod 64) floordiv 4, n mod 32, k mod 4)>
// CHECK-LABEL: func.func @dynamic(
// CHECK: amx.tile_load %arg0{{.*}} memref<?x64xi8> into !amx.tile<16x64xi8>
// CHECK: amx.tile_muli {{.*}} zext, {{.*}} : !amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>
// CHECK: vector.maskedload %arg0
// CHECK: amx.tile_load %{{alloca.*}} memref<32x64xi8> into !amx.tile<16x64xi8>
tile.kernel @dynamic(%x: memref<?x64xi8>, %w: memref<64x32xi8, #panels>, %y: memref<?x32xi32>) {
  %zero = arith.constant dense<0> : tensor<64x32xi32>
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %x, %c0 : memref<?x64xi8>
  %g = arith.ceildivui %n, %c64 : index
  %id = tile.program_id (%g) : index
  %row = arith.muli %id, %c64 : index
  %a = tile.load %x[%row, 0] sizes [64, 64] : memref<?x64xi8> -> tensor<64x64xi8>
  %b = tile.load %w[0, 0] sizes [64, 32] : memref<64x32xi8, #panels> -> tensor<64x32xi8>
  %d = tile.dot %a, %b, %zero compute <ui8 * si8 + si32> : tensor<64x64xi8>, tensor<64x32xi8>, tensor<64x32xi32>
  tile.store %d, %y[%row, 0] : tensor<64x32xi32>, memref<?x32xi32>
  tile.return
}

// -----

// Not on the unit: a depth that is not padded in memory, one that would be mostly
// padding, a single row, and sums that a reduction reads.
#unpadded = affine_map<(k, n) -> (n floordiv 32, k floordiv 2, n mod 32, k mod 2)>
#panels = affine_map<(k, n) -> (n floordiv 32, k floordiv 32, (k mod 32) floordiv 2, n mod 32, k mod 2)>
// CHECK-LABEL: func.func @unpadded(
// CHECK-NOT: amx.
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
tile.kernel @unpadded(%x: memref<16x40xbf16>, %w: memref<40x32xbf16, #unpadded>, %y: memref<16x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %a = tile.load %x[0, 0] sizes [16, 40] : memref<16x40xbf16> -> tensor<16x40xbf16>
  %b = tile.load %w[0, 0] sizes [40, 32] : memref<40x32xbf16, #unpadded> -> tensor<40x32xbf16>
  %d = tile.dot %a, %b, %zero : tensor<16x40xbf16>, tensor<40x32xbf16>, tensor<16x32xf32>
  tile.store %d, %y[0, 0] : tensor<16x32xf32>, memref<16x32xf32>
  tile.return
}
// CHECK-LABEL: func.func @short(
// CHECK-NOT: amx.
tile.kernel @short(%x: memref<16x12xbf16>, %w: memref<12x32xbf16, #panels>, %y: memref<16x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %a = tile.load %x[0, 0] sizes [16, 12] : memref<16x12xbf16> -> tensor<16x12xbf16>
  %b = tile.load %w[0, 0] sizes [12, 32] : memref<12x32xbf16, #panels> -> tensor<12x32xbf16>
  %d = tile.dot %a, %b, %zero : tensor<16x12xbf16>, tensor<12x32xbf16>, tensor<16x32xf32>
  tile.store %d, %y[0, 0] : tensor<16x32xf32>, memref<16x32xf32>
  tile.return
}
// CHECK-LABEL: func.func @single(
// CHECK-NOT: amx.
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
tile.kernel @single(%x: memref<1x64xbf16>, %w: memref<64x32xbf16, #panels>, %y: memref<1x32xf32>) {
  %zero = arith.constant dense<0.0> : tensor<1x32xf32>
  %a = tile.load %x[0, 0] sizes [1, 64] : memref<1x64xbf16> -> tensor<1x64xbf16>
  %b = tile.load %w[0, 0] sizes [64, 32] : memref<64x32xbf16, #panels> -> tensor<64x32xbf16>
  %d = tile.dot %a, %b, %zero : tensor<1x64xbf16>, tensor<64x32xbf16>, tensor<1x32xf32>
  tile.store %d, %y[0, 0] : tensor<1x32xf32>, memref<1x32xf32>
  tile.return
}
// CHECK-LABEL: func.func @reduced(
// CHECK-NOT: amx.
tile.kernel @reduced(%x: memref<16x64xbf16>, %w: memref<64x32xbf16, #panels>, %y: memref<16xf32>) {
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %a = tile.load %x[0, 0] sizes [16, 64] : memref<16x64xbf16> -> tensor<16x64xbf16>
  %b = tile.load %w[0, 0] sizes [64, 32] : memref<64x32xbf16, #panels> -> tensor<64x32xbf16>
  %d = tile.dot %a, %b, %zero : tensor<16x64xbf16>, tensor<64x32xbf16>, tensor<16x32xf32>
  %s = tile.reduce add %d dim 1 : tensor<16x32xf32> -> tensor<16xf32>
  tile.store %s, %y[0] : tensor<16xf32>, memref<16xf32>
  tile.return
}

// Products whose right operand is in groups along the depth, four bytes or two bf16: one
// instruction per group and vector, or a product per element.
// RUN: aopt %s -tile-attach-targets="cpu=icelake-server caches=1M,32M" -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s
// RUN: aopt %s -tile-attach-targets="cpu=znver4" -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=BF16
// RUN: aopt %s -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=PLAIN

#panels = affine_map<(k, n) -> (n floordiv 32, k floordiv 4, n mod 32, k mod 4)>

// CHECK-LABEL: func.func @groups(
// CHECK: scf.for {{.*}} step %c4 iter_args
// CHECK: memref.collapse_shape {{.*}} memref<1x16x32x4xi8> into memref<1x16x128xi8>
// CHECK-COUNT-2: vector.load {{.*}} vector<64xi8>
// CHECK: %[[ROW:.*]] = vector.load {{.*}} memref<8x64xi8>, vector<4xi8>
// CHECK: vector.bitcast %[[ROW]] : vector<4xi8> to vector<1xi32>
// CHECK-COUNT-16: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK-NOT: llvm.call_intrinsic
// CHECK: scf.yield
// PLAIN-LABEL: func.func @groups(
// PLAIN-NOT: llvm.call_intrinsic
// PLAIN: arith.shrsi {{.*}} : vector<16xi32>
// PLAIN: arith.muli {{.*}} : vector<16xi32>
tile.kernel @groups(%x: memref<8x64xi8>, %w: memref<64x32xi8, #panels>, %y: memref<8x32xi32>) {
  %zero = arith.constant dense<0> : tensor<8x32xi32>
  %a = tile.load %x[0, 0] sizes [8, 64] : memref<8x64xi8> -> tensor<8x64xi8>
  %b = tile.load %w[0, 0] sizes [64, 32] : memref<64x32xi8, #panels> -> tensor<64x32xi8>
  %d = tile.dot %a, %b, %zero compute <ui8 * si8 + si32> : tensor<8x64xi8>, tensor<64x32xi8>, tensor<8x32xi32>
  tile.store %d, %y[0, 0] : tensor<8x32xi32>, memref<8x32xi32>
  tile.return
}

// -----

// Rows of 62 bytes: their copy has space for the last group.
#panels = affine_map<(k, n) -> (n floordiv 32, k floordiv 4, n mod 32, k mod 4)>
// CHECK-LABEL: func.func @odd(
// CHECK: %[[COPY:.*]] = memref.alloca() {{.*}}: memref<8x64xi8>
// CHECK: vector.maskedload
// CHECK: scf.for {{.*}} step %c4 iter_args
// CHECK: vector.load %[[COPY]]{{.*}} vector<4xi8>
// CHECK: vpdpbusd
tile.kernel @odd(%x: memref<8x62xi8>, %w: memref<62x32xi8, #panels>, %y: memref<8x32xi32>) {
  %zero = arith.constant dense<0> : tensor<8x32xi32>
  %a = tile.load %x[0, 0] sizes [8, 64] : memref<8x62xi8> -> tensor<8x64xi8>
  %b = tile.load %w[0, 0] sizes [64, 32] : memref<62x32xi8, #panels> -> tensor<64x32xi8>
  %d = tile.dot %a, %b, %zero compute <ui8 * si8 + si32> : tensor<8x64xi8>, tensor<64x32xi8>, tensor<8x32xi32>
  tile.store %d, %y[0, 0] : tensor<8x32xi32>, memref<8x32xi32>
  tile.return
}

// -----

// Signed rows, and rows in place: one element at a time.
// CHECK-LABEL: func.func @signed(
// CHECK-NOT: vpdpbusd
// CHECK: arith.extsi
// CHECK: arith.muli
tile.kernel @signed(%x: memref<8x64xi8>, %w: memref<64x32xi8>, %y: memref<8x32xi32>) {
  %zero = arith.constant dense<0> : tensor<8x32xi32>
  %a = tile.load %x[0, 0] sizes [8, 64] : memref<8x64xi8> -> tensor<8x64xi8>
  %b = tile.load %w[0, 0] sizes [64, 32] : memref<64x32xi8> -> tensor<64x32xi8>
  %d = tile.dot %a, %b, %zero : tensor<8x64xi8>, tensor<64x32xi8>, tensor<8x32xi32>
  tile.store %d, %y[0, 0] : tensor<8x32xi32>, memref<8x32xi32>
  tile.return
}

// -----

// A CPU without the instruction computes element by element, in f32.
#pairs = affine_map<(k, n) -> (n floordiv 32, k floordiv 2, n mod 32, k mod 2)>
// CHECK-LABEL: func.func @pairs(
// CHECK: scf.for {{.*}} step %c2 iter_args
// CHECK: vector.load {{.*}} vector<2xbf16>
// CHECK-NOT: llvm.call_intrinsic
// CHECK: arith.extf {{.*}} : vector<16xbf16> to vector<16xf32>
// CHECK: math.fma
// BF16-LABEL: func.func @pairs(
// BF16: scf.for {{.*}} step %c2 iter_args
// BF16-COUNT-2: vector.load {{.*}} vector<32xbf16>
// BF16: %[[ROW:.*]] = vector.load {{.*}} memref<?x64xbf16>, vector<2xbf16>
// BF16: vector.bitcast %[[ROW]] : vector<2xbf16> to vector<1xi32>
// BF16-COUNT-16: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
tile.kernel @pairs(%x: memref<?x64xbf16>, %w: memref<64x32xbf16, #pairs>, %y: memref<?x32xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %m = memref.dim %x, %c0 : memref<?x64xbf16>
  %count = arith.ceildivui %m, %c8 : index
  %id = tile.program_id(%count) : index
  %row = arith.muli %id, %c8 : index
  %zero = arith.constant dense<0.0> : tensor<8x32xf32>
  %a = tile.load %x[%row, 0] sizes [8, 64] : memref<?x64xbf16> -> tensor<8x64xbf16>
  %b = tile.load %w[0, 0] sizes [64, 32] : memref<64x32xbf16, #pairs> -> tensor<64x32xbf16>
  %d = tile.dot %a, %b, %zero : tensor<8x64xbf16>, tensor<64x32xbf16>, tensor<8x32xf32>
  tile.store %d, %y[%row, 0] : tensor<8x32xf32>, memref<?x32xf32>
  tile.return
}

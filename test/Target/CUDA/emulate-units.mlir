// RUN: cuda-emulate %s --tolerance=1e-3 | FileCheck %s
// RUN: cuda-emulate %s --tolerance=1e-3 --block-threads=32 | FileCheck %s
// RUN: cuda-emulate %s --tolerance=1e-3 --block-threads=256 | FileCheck %s

// Products by the matrix instruction of a warp, against the interpreter, which
// does not round to 16 bits.
module attributes {tile.targets = [#tile.cuda<chip = "sm_80", multiprocessors = 108, shared_bytes = 166912,
    units = [#tile.unit<"mma", f16 * f16 + f32, [16, 8, 16]>, #tile.unit<"mma", bf16 * bf16 + f32, [16, 8, 16]>, #tile.unit<"mma", tf32 * tf32 + f32, [16, 8, 8]>,
             #tile.unit<"mma", ui8 * si8 + si32, [16, 8, 32]>, #tile.unit<"mma", si8 * si8 + si32, [16, 8, 32]>]>]} {

// Rows and columns end within a block, and the depth within a chunk of it.
// CHECK-DAG: ragged: 6 programs of {{.*}} agree
tile.kernel @ragged(%x: memref<100x176xf16>, %w: memref<176x90xf16>, %y: memref<100x90xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %c32 = arith.constant 32 : index
  %c176 = arith.constant 176 : index
  %p:2 = tile.program_id (%c2, %c3) : index, index
  %m = arith.muli %p#0, %c64 : index
  %n = arith.muli %p#1, %c32 : index
  %a = tile.load %x[%m, 0] sizes [64, 176] : memref<100x176xf16> -> tensor<64x176xf16>
  %b = tile.load %w[0, %n] sizes [176, 32] : memref<176x90xf16> -> tensor<176x32xf16>
  %z = arith.constant dense<0.0> : tensor<64x32xf32>
  %d = tile.dot %a, %b, %z : tensor<64x176xf16>, tensor<176x32xf16>, tensor<64x32xf32>
  tile.store %d, %y[%m, %n] : tensor<64x32xf32>, memref<100x90xf32>
  tile.return
}

// Both operands contiguous along the depth, in bf16; three blocks of 8 columns; a loop
// around the product.
// CHECK-DAG: along_depth: 3 programs of {{.*}} agree
tile.kernel @along_depth(%x: memref<96x64xbf16>, %w: memref<24x64xbf16>, %bias: memref<24xf32>, %y: memref<96x24xf32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %p = tile.program_id (%c3) : index
  %m = arith.muli %p, %c32 : index
  %z = arith.constant dense<0.0> : tensor<32x24xf32>
  %d = scf.for %k = %c0 to %c64 step %c32 iter_args(%acc = %z) -> (tensor<32x24xf32>) {
    %a = tile.load %x[%m, %k] sizes [32, 32] : memref<96x64xbf16> -> tensor<32x32xbf16>
    %b = tile.load %w[0, %k] sizes [32, 24] dims [1, 0] : memref<24x64xbf16> -> tensor<32x24xbf16>
    %s = tile.dot %a, %b, %acc : tensor<32x32xbf16>, tensor<32x24xbf16>, tensor<32x24xf32>
    scf.yield %s : tensor<32x24xf32>
  }
  %b = tile.load %bias[0] sizes [24] : memref<24xf32> -> tensor<24xf32>
  %bb = tile.broadcast %b to [32, 24] dims [1] : tensor<24xf32> -> tensor<32x24xf32>
  %sum = arith.addf %d, %bb : tensor<32x24xf32>
  tile.store %sum, %y[%m, 0] : tensor<32x24xf32>, memref<96x24xf32>
  tile.return
}

// The left operand is transposed in memory.
// CHECK-DAG: transposed: 2 programs of {{.*}} agree
tile.kernel @transposed(%x: memref<48x64xf16>, %w: memref<48x16xf16>, %y: memref<64x16xf32>) {
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %p = tile.program_id (%c2) : index
  %m = arith.muli %p, %c32 : index
  %a = tile.load %x[0, %m] sizes [32, 48] dims [1, 0] : memref<48x64xf16> -> tensor<32x48xf16>
  %b = tile.load %w[0, 0] sizes [48, 16] : memref<48x16xf16> -> tensor<48x16xf16>
  %z = arith.constant dense<0.5> : tensor<32x16xf32>
  %d = tile.dot %a, %b, %z : tensor<32x48xf16>, tensor<48x16xf16>, tensor<32x16xf32>
  tile.store %d, %y[%m, 0] : tensor<32x16xf32>, memref<64x16xf32>
  tile.return
}

// Rows are a block of an image, which ends within a block.
// CHECK-DAG: image: 4 programs of {{.*}} agree
tile.kernel @image(%x: memref<10x12x16xf16>, %w: memref<16x32xf16>, %y: memref<10x12x32xf16>) {
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %p:2 = tile.program_id (%c2, %c2) : index, index
  %i = arith.muli %p#0, %c8 : index
  %j = arith.muli %p#1, %c8 : index
  %a = tile.load %x[%i, %j, 0] sizes [8, 8, 16] : memref<10x12x16xf16> -> tensor<8x8x16xf16>
  %r = tile.reshape %a to [64, 16] : tensor<8x8x16xf16> -> tensor<64x16xf16>
  %b = tile.load %w[0, 0] sizes [16, 32] : memref<16x32xf16> -> tensor<16x32xf16>
  %z = arith.constant dense<0.0> : tensor<64x32xf32>
  %d = tile.dot %r, %b, %z : tensor<64x16xf16>, tensor<16x32xf16>, tensor<64x32xf32>
  %n = arith.truncf %d : tensor<64x32xf32> to tensor<64x32xf16>
  %o = tile.reshape %n to [8, 8, 32] : tensor<64x32xf16> -> tensor<8x8x32xf16>
  tile.store %o, %y[%i, %j, 0] : tensor<8x8x32xf16>, memref<10x12x32xf16>
  tile.return
}

// The second product's right operand is computed from the first one's sums.
// CHECK-DAG: attention: 2 programs of {{.*}} agree
tile.kernel @attention(%q: memref<64x32xf16>, %k: memref<48x32xf16>, %v: memref<48x32xf16>, %y: memref<64x32xf32>) {
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %p = tile.program_id (%c2) : index
  %m = arith.muli %p, %c32 : index
  %qt = tile.load %q[%m, 0] sizes [32, 32] dims [1, 0] : memref<64x32xf16> -> tensor<32x32xf16>
  %kt = tile.load %k[0, 0] sizes [48, 32] : memref<48x32xf16> -> tensor<48x32xf16>
  %z = arith.constant dense<0.0> : tensor<48x32xf32>
  %s = tile.dot %kt, %qt, %z : tensor<48x32xf16>, tensor<32x32xf16>, tensor<48x32xf32>
  %max = tile.reduce max %s dim 0 : tensor<48x32xf32> -> tensor<32xf32>
  %mb = tile.broadcast %max to [48, 32] dims [1] : tensor<32xf32> -> tensor<48x32xf32>
  %dist = arith.subf %s, %mb : tensor<48x32xf32>
  %scale = arith.constant dense<0.0625> : tensor<48x32xf32>
  %one = arith.constant dense<1.0> : tensor<48x32xf32>
  %w = math.fma %dist, %scale, %one : tensor<48x32xf32>
  %wh = arith.truncf %w : tensor<48x32xf32> to tensor<48x32xf16>
  %vt = tile.load %v[0, 0] sizes [32, 48] dims [1, 0] : memref<48x32xf16> -> tensor<32x48xf16>
  %zo = arith.constant dense<0.0> : tensor<32x32xf32>
  %o = tile.dot %vt, %wh, %zo : tensor<32x48xf16>, tensor<48x32xf16>, tensor<32x32xf32>
  tile.store %o, %y[%m, 0] dims [1, 0] : tensor<32x32xf32>, memref<64x32xf32>
  tile.return
}

// Rows that are not a multiple of 16 are computed by threads.
// CHECK-DAG: few_rows: 1 programs of {{.*}} agree
tile.kernel @few_rows(%x: memref<14x32xf16>, %w: memref<32x32xf16>, %y: memref<14x32xf32>) {
  %c1 = arith.constant 1 : index
  %p = tile.program_id (%c1) : index
  %a = tile.load %x[0, 0] sizes [14, 32] : memref<14x32xf16> -> tensor<14x32xf16>
  %b = tile.load %w[0, 0] sizes [32, 32] : memref<32x32xf16> -> tensor<32x32xf16>
  %z = arith.constant dense<0.0> : tensor<14x32xf32>
  %d = tile.dot %a, %b, %z : tensor<14x32xf16>, tensor<32x32xf16>, tensor<14x32xf32>
  tile.store %d, %y[0, 0] : tensor<14x32xf32>, memref<14x32xf32>
  tile.return
}

// Elements of other than 16 bits are transposed when they are stored to shared memory.
// CHECK-DAG: tf32: 2 programs of {{.*}} agree
tile.kernel @tf32(%x: memref<60x40xf32>, %w: memref<40x24xf32>, %y: memref<60x24xf32>) {
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %p = tile.program_id (%c2) : index
  %m = arith.muli %p, %c32 : index
  %a = tile.load %x[%m, 0] sizes [32, 40] : memref<60x40xf32> -> tensor<32x40xf32>
  %b = tile.load %w[0, 0] sizes [40, 24] : memref<40x24xf32> -> tensor<40x24xf32>
  %z = arith.constant dense<0.0> : tensor<32x24xf32>
  %d = tile.dot %a, %b, %z compute <tf32 * tf32 + f32> : tensor<32x40xf32>, tensor<40x24xf32>, tensor<32x24xf32>
  tile.store %d, %y[%m, 0] : tensor<32x24xf32>, memref<60x24xf32>
  tile.return
}

// CHECK-DAG: bytes: 2 programs of {{.*}} agree
tile.kernel @bytes(%x: memref<60x96xi8>, %w: memref<96x24xi8>, %y: memref<60x24xi32>) {
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %p = tile.program_id (%c2) : index
  %m = arith.muli %p, %c32 : index
  %a = tile.load %x[%m, 0] sizes [32, 96] : memref<60x96xi8> -> tensor<32x96xi8>
  %b = tile.load %w[0, 0] sizes [96, 24] : memref<96x24xi8> -> tensor<96x24xi8>
  %z = arith.constant dense<0> : tensor<32x24xi32>
  %d = tile.dot %a, %b, %z compute <si8 * si8 + si32> : tensor<32x96xi8>, tensor<96x24xi8>, tensor<32x24xi32>
  tile.store %d, %y[%m, 0] : tensor<32x24xi32>, memref<60x24xi32>
  tile.return
}
}

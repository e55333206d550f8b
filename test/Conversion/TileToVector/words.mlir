// Products of words: four bytes or two bf16 in each element, by one instruction if the
// CPU has it, else by pairs of 16-bit integers, else element by element.
// RUN: aopt %s -tile-attach-targets="cpu=icelake-server caches=1M,32M" -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s
// RUN: aopt %s -tile-attach-targets="cpu=x86-64-v3 triple=x86_64" -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=PAIRS
// RUN: aopt %s -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=PLAIN
// RUN: aopt %s -tile-attach-targets="cpu=sapphirerapids caches=2M,64M" -convert-tile-to-vector -canonicalize -cse -split-input-file | FileCheck %s --check-prefix=MATRICES
// RUN: aopt %s -convert-tile-to-linalg -split-input-file | FileCheck %s --check-prefix=LINALG

// The weights are unsigned, so they are the first operand on either side. Values unpacked
// from them are computed in the loop, not copied.
// CHECK-LABEL: func.func @nibbles(
// CHECK-NOT: memref.alloca
// CHECK: scf.for
// CHECK: %[[LOW:.*]] = arith.andi {{.*}} : vector<16xi32>
// CHECK: %[[W:.*]] = vector.bitcast %[[LOW]] : vector<16xi32> to vector<64xi8>
// CHECK: %[[X:.*]] = vector.bitcast {{.*}} : vector<16xi32> to vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[W]], %[[X]])
// Likewise on a CPU with a matrix unit for the same bytes, which is not used for few
// rows.
// MATRICES-LABEL: func.func @nibbles(
// MATRICES: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// The mask bounds the weights, so that sums of two products fit into 16 bits.
// PAIRS-LABEL: func.func @nibbles(
// PAIRS: %[[LOW:.*]] = arith.andi {{.*}} : vector<8xi32>
// PAIRS: %[[W:.*]] = vector.bitcast %[[LOW]] : vector<8xi32> to vector<32xi8>
// PAIRS: %[[X:.*]] = vector.bitcast {{.*}} : vector<8xi32> to vector<32xi8>
// PAIRS: %[[PAIRS:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"(%[[W]], %[[X]])
// PAIRS: %[[SUMS:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%[[PAIRS]], %{{.*}})
// PAIRS: arith.addi %{{.*}}, %[[SUMS]]
// PLAIN-LABEL: func.func @nibbles(
// PLAIN-NOT: llvm.call_intrinsic
// PLAIN: arith.shrsi {{.*}} : vector<16xi32>
// PLAIN: arith.shrui {{.*}} : vector<16xi32>
// PLAIN: arith.muli {{.*}} : vector<16xi32>
// LINALG-LABEL: func.func @nibbles(
// LINALG: linalg.generic
// LINALG-COUNT-4: arith.muli
tile.kernel @nibbles(%x: memref<4x8xi32>, %w: memref<8x64xi32>, %y: memref<4x64xi32>) {
  %zero = arith.constant dense<0> : tensor<4x64xi32>
  %mask = arith.constant dense<0x0f0f0f0f> : tensor<8x64xi32>
  %a = tile.load %x[0, 0] sizes [4, 8] : memref<4x8xi32> -> tensor<4x8xi32>
  %b = tile.load %w[0, 0] sizes [8, 64] : memref<8x64xi32> -> tensor<8x64xi32>
  %low = arith.andi %b, %mask : tensor<8x64xi32>
  %d = tile.dot %a, %low, %zero compute <si8 * ui8 + si32> : tensor<4x8xi32>, tensor<8x64xi32>, tensor<4x64xi32>
  tile.store %d, %y[0, 0] : tensor<4x64xi32>, memref<4x64xi32>
  tile.return
}

// -----

// There is no instruction for signed bytes on both sides, and none for any bytes that
// does not saturate: the even and the odd bytes are extended to 16 bits.
// CHECK-LABEL: func.func @signed(
// CHECK-NOT: vpdpbusd
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"
// PAIRS-LABEL: func.func @signed(
// PAIRS-NOT: pmadd.ub.sw
// PAIRS: %[[HIGH:.*]] = arith.shli %[[X:.*]], {{.*}} : vector<16xi16>
// PAIRS: %[[EVEN:.*]] = arith.shrsi %[[HIGH]], {{.*}} : vector<16xi16>
// PAIRS: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%[[EVEN]], %{{.*}})
// PAIRS: %[[ODD:.*]] = arith.shrsi %[[X]], {{.*}} : vector<16xi16>
// PAIRS: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%[[ODD]], %{{.*}})
tile.kernel @signed(%x: memref<4x8xi32>, %w: memref<8x64xi32>, %y: memref<4x64xi32>) {
  %zero = arith.constant dense<0> : tensor<4x64xi32>
  %a = tile.load %x[0, 0] sizes [4, 8] : memref<4x8xi32> -> tensor<4x8xi32>
  %b = tile.load %w[0, 0] sizes [8, 64] : memref<8x64xi32> -> tensor<8x64xi32>
  %d = tile.dot %a, %b, %zero compute <si8 * si8 + si32> : tensor<4x8xi32>, tensor<8x64xi32>, tensor<4x64xi32>
  tile.store %d, %y[0, 0] : tensor<4x64xi32>, memref<4x64xi32>
  tile.return
}

// -----

// CHECK-LABEL: func.func @floats(
// CHECK: arith.bitcast {{.*}} : vector<16xi16> to vector<16xbf16>
// CHECK: arith.extf {{.*}} : vector<16xbf16> to vector<16xf32>
// CHECK: math.fma
// LINALG-LABEL: func.func @floats(
// LINALG: linalg.generic
// LINALG-COUNT-2: arith.mulf
tile.kernel @floats(%x: memref<4x8xi32>, %w: memref<8x64xi32>, %y: memref<4x64xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x64xf32>
  %a = tile.load %x[0, 0] sizes [4, 8] : memref<4x8xi32> -> tensor<4x8xi32>
  %b = tile.load %w[0, 0] sizes [8, 64] : memref<8x64xi32> -> tensor<8x64xi32>
  %d = tile.dot %a, %b, %zero compute <bf16 * bf16 + f32> : tensor<4x8xi32>, tensor<8x64xi32>, tensor<4x64xf32>
  tile.store %d, %y[0, 0] : tensor<4x64xf32>, memref<4x64xf32>
  tile.return
}

// -----

// Dynamic rows: nothing is read beyond the last one. Any unsigned bytes by signed ones:
// their sums could saturate 16 bits.
// CHECK-LABEL: func.func @dynamic(
// CHECK: memref.dim
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// PAIRS-LABEL: func.func @dynamic(
// PAIRS: memref.dim
// PAIRS-NOT: pmadd.ub.sw
// PAIRS: %[[EVEN:.*]] = arith.andi {{.*}} : vector<16xi16>
// PAIRS: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%{{.*}}, %[[EVEN]])
tile.kernel @dynamic(%x: memref<?x8xi32>, %w: memref<8x64xi32>, %y: memref<?x64xi32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %m = memref.dim %x, %c0 : memref<?x8xi32>
  %count = arith.ceildivui %m, %c4 : index
  %id = tile.program_id(%count) : index
  %row = arith.muli %id, %c4 : index
  %zero = arith.constant dense<0> : tensor<4x64xi32>
  %a = tile.load %x[%row, 0] sizes [4, 8] : memref<?x8xi32> -> tensor<4x8xi32>
  %b = tile.load %w[0, 0] sizes [8, 64] : memref<8x64xi32> -> tensor<8x64xi32>
  %d = tile.dot %a, %b, %zero compute <si8 * ui8 + si32> : tensor<4x8xi32>, tensor<8x64xi32>, tensor<4x64xi32>
  tile.store %d, %y[%row, 0] : tensor<4x64xi32>, memref<?x64xi32>
  tile.return
}

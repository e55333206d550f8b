// RUN: aopt %s --pack-stores --canonicalize --split-input-file | FileCheck %s

// Two vectors of each of two rows. The lower bound is that of the packs.
// CHECK-LABEL: func.func @rows(
// CHECK-NOT: arith.maximumf
// CHECK: %[[A:.*]] = arith.minimumf %arg0, %{{.*}} : vector<16xf32>
// CHECK: %[[WA:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.cvtps2dq.512"(%[[A]],
// CHECK: %[[WB:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.cvtps2dq.512"
// CHECK: %[[ROW:.*]] = llvm.call_intrinsic "llvm.x86.avx512.packssdw.512"(%[[WA]], %[[WB]])
// CHECK: %[[NEXT:.*]] = llvm.call_intrinsic "llvm.x86.avx512.packssdw.512"
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.packuswb.512"(%[[ROW]], %[[NEXT]])
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]
// CHECK: vector.store %{{.*}}, %arg4[%c0, %arg5] : memref<2x64xi8>, vector<32xi8>
// CHECK: vector.store %{{.*}}, %arg4[%c1, %arg5] : memref<2x64xi8>, vector<32xi8>
// CHECK-NOT: vector.store
module attributes {tile.targets = [#tile.cpu<chip = "icelake-server", vector_bytes = 64, caches = [1048576, 33554432], units = [#tile.unit<"vnni", ui8 * si8 + si32, [1, 16, 4], group = 4, intrinsic = "llvm.x86.avx512.vpdpbusd">], features = [lane_permute]>]} {
  func.func @rows(%a: vector<16xf32>, %b: vector<16xf32>, %c: vector<16xf32>, %d: vector<16xf32>, %y: memref<2x64xi8>, %i: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %next = arith.addi %i, %c16 : index
    %low = arith.constant dense<0.0> : vector<16xf32>
    %high = arith.constant dense<255.0> : vector<16xf32>
    %a0 = arith.maximumf %a, %low : vector<16xf32>
    %a1 = arith.minimumf %a0, %high : vector<16xf32>
    %a2 = llvm.intr.lrint(%a1) : (vector<16xf32>) -> vector<16xi32>
    %a3 = arith.trunci %a2 : vector<16xi32> to vector<16xi8>
    %b0 = arith.maximumf %b, %low : vector<16xf32>
    %b1 = arith.minimumf %b0, %high : vector<16xf32>
    %b2 = llvm.intr.lrint(%b1) : (vector<16xf32>) -> vector<16xi32>
    %b3 = arith.trunci %b2 : vector<16xi32> to vector<16xi8>
    %d0 = arith.maximumf %d, %low : vector<16xf32>
    %d1 = arith.minimumf %d0, %high : vector<16xf32>
    %d2 = llvm.intr.lrint(%d1) : (vector<16xf32>) -> vector<16xi32>
    %d3 = arith.trunci %d2 : vector<16xi32> to vector<16xi8>
    vector.store %a3, %y[%c0, %i] : memref<2x64xi8>, vector<16xi8>
    vector.store %b3, %y[%c0, %next] : memref<2x64xi8>, vector<16xi8>
    vector.store %a3, %y[%c1, %i] : memref<2x64xi8>, vector<16xi8>
    vector.store %d3, %y[%c1, %next] : memref<2x64xi8>, vector<16xi8>
    return
  }

// A lower bound above the least byte stays; a load may read what was stored before.
// CHECK-LABEL: func.func @bounds(
// CHECK: arith.maximumf %arg0
// CHECK: llvm.x86.avx512.packsswb.512
// CHECK-NOT: packs
// CHECK: vector.load
// CHECK: vector.store %{{.*}} vector<16xi8>
// CHECK: vector.load
// CHECK: vector.store %{{.*}} vector<16xi8>
  func.func @bounds(%a: vector<16xf32>, %y: memref<128xi8>) -> (vector<16xi8>, vector<16xi8>) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c48 = arith.constant 48 : index
    %low = arith.constant dense<-7.0> : vector<16xf32>
    %high = arith.constant dense<127.0> : vector<16xf32>
    %0 = arith.maximumf %a, %low : vector<16xf32>
    %1 = arith.minimumf %0, %high : vector<16xf32>
    %2 = llvm.intr.lrint(%1) : (vector<16xf32>) -> vector<16xi32>
    %3 = arith.trunci %2 : vector<16xi32> to vector<16xi8>
    vector.store %3, %y[%c0] : memref<128xi8>, vector<16xi8>
    vector.store %3, %y[%c16] : memref<128xi8>, vector<16xi8>
    %5 = vector.load %y[%c32] : memref<128xi8>, vector<16xi8>
    vector.store %3, %y[%c32] : memref<128xi8>, vector<16xi8>
    %6 = vector.load %y[%c48] : memref<128xi8>, vector<16xi8>
    vector.store %3, %y[%c48] : memref<128xi8>, vector<16xi8>
    return %5, %6 : vector<16xi8>, vector<16xi8>
  }

// The upper bound is omitted, too, where the value fits a word without it.
// CHECK-LABEL: func.func @words(
// CHECK: %[[SUM:.*]] = math.fma
// CHECK-NOT: arith.m{{ax|in}}imumf
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.cvtps2dq.512"(%[[SUM]],
// CHECK: llvm.x86.avx512.packuswb.512
  func.func @words(%a: vector<16xi8>, %b: vector<16xi8>, %y: memref<128xi8>) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %s = arith.constant dense<3.0> : vector<16xf32>
    %t = arith.constant dense<-2.0> : vector<16xf32>
    %low = arith.constant dense<0.0> : vector<16xf32>
    %high = arith.constant dense<255.0> : vector<16xf32>
    %a0 = arith.uitofp %a : vector<16xi8> to vector<16xf32>
    %b0 = arith.sitofp %b : vector<16xi8> to vector<16xf32>
    %b1 = arith.subf %b0, %s : vector<16xf32>
    %b2 = arith.mulf %b1, %s : vector<16xf32>
    %0 = math.fma %a0, %t, %b2 : vector<16xf32>
    %1 = arith.maximumf %0, %low : vector<16xf32>
    %2 = arith.minimumf %1, %high : vector<16xf32>
    %3 = llvm.intr.lrint(%2) : (vector<16xf32>) -> vector<16xi32>
    %4 = arith.trunci %3 : vector<16xi32> to vector<16xi8>
    vector.store %4, %y[%c0] : memref<128xi8>, vector<16xi8>
    vector.store %4, %y[%c16] : memref<128xi8>, vector<16xi8>
    return
  }

// Without bounds the truncation wraps; distant vectors are not adjacent.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: packs
// CHECK: return
  func.func @others(%a: vector<16xf32>, %y: memref<128xi8>) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %c96 = arith.constant 96 : index
    %low = arith.constant dense<0.0> : vector<16xf32>
    %high = arith.constant dense<255.0> : vector<16xf32>
    %0 = llvm.intr.lrint(%a) : (vector<16xf32>) -> vector<16xi32>
    %1 = arith.trunci %0 : vector<16xi32> to vector<16xi8>
    vector.store %1, %y[%c0] : memref<128xi8>, vector<16xi8>
    vector.store %1, %y[%c16] : memref<128xi8>, vector<16xi8>
    %2 = arith.maximumf %a, %low : vector<16xf32>
    %3 = arith.minimumf %2, %high : vector<16xf32>
    %4 = llvm.intr.lrint(%3) : (vector<16xf32>) -> vector<16xi32>
    %5 = arith.trunci %4 : vector<16xi32> to vector<16xi8>
    vector.store %5, %y[%c64] : memref<128xi8>, vector<16xi8>
    vector.store %5, %y[%c96] : memref<128xi8>, vector<16xi8>
    return
  }
}

// -----

// Four vectors in a row of AVX2, with a zero point: added to halves of words.
// CHECK-LABEL: func.func @row(
// CHECK-NOT: arith.maximumf
// CHECK: %[[HALVES:.*]] = llvm.call_intrinsic "llvm.x86.avx2.packssdw"
// CHECK: %[[MOVED:.*]] = llvm.intr.sadd.sat(%[[HALVES]], %{{.*}}) : (vector<16xi16>, vector<16xi16>)
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.packsswb"(%[[MOVED]],
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 4, 1, 5, 2, 6, 3, 7]
// CHECK: vector.store %{{.*}}, %arg1[%c0] : memref<32xi8>, vector<32xi8>
// CHECK-NOT: vector.store
module attributes {tile.targets = [#tile.cpu<chip = "x86-64-v3", vector_bytes = 32, caches = [524288, 16777216], features = [lane_permute]>]} {
  func.func @row(%a: vector<8xf32>, %y: memref<32xi8>) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c24 = arith.constant 24 : index
    %low = arith.constant dense<-121.0> : vector<8xf32>
    %high = arith.constant dense<134.0> : vector<8xf32>
    %zero = arith.constant dense<-7> : vector<8xi32>
    %0 = arith.maximumf %a, %low : vector<8xf32>
    %1 = arith.minimumf %0, %high : vector<8xf32>
    %2 = llvm.intr.lrint(%1) : (vector<8xf32>) -> vector<8xi32>
    %3 = arith.addi %2, %zero : vector<8xi32>
    %4 = arith.trunci %3 : vector<8xi32> to vector<8xi8>
    vector.store %4, %y[%c0] : memref<32xi8>, vector<8xi8>
    vector.store %4, %y[%c8] : memref<32xi8>, vector<8xi8>
    vector.store %4, %y[%c16] : memref<32xi8>, vector<8xi8>
    vector.store %4, %y[%c24] : memref<32xi8>, vector<8xi8>
    return
  }
}

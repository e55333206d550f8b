// RUN: aopt %s -math-approximate -split-input-file | FileCheck %s
// RUN: aopt %s -tile-attach-targets=cpu=x86-64-v4 -math-approximate -split-input-file | FileCheck %s --check-prefix=WIDE

// Exact in floats with more bits.
// CHECK-LABEL: func.func @words(
// CHECK: %[[X:.*]] = arith.sitofp %arg0 : vector<16xi32> to vector<16xf64>
// CHECK: %[[Y:.*]] = arith.sitofp %arg1 : vector<16xi32> to vector<16xf64>
// CHECK: %[[RATIO:.*]] = arith.divf %[[X]], %[[Y]]
// CHECK: arith.fptosi %[[RATIO]] : vector<16xf64> to vector<16xi32>
// CHECK: %[[Q:.*]] = arith.fptoui {{.*}} : vector<16xf64> to vector<16xi32>
// CHECK: %[[M:.*]] = arith.muli %[[Q]], %arg1
// CHECK: arith.subi %arg0, %[[M]]
func.func @words(%x: vector<16xi32>, %y: vector<16xi32>) -> (vector<16xi32>, vector<16xi32>) {
  %a = arith.divsi %x, %y : vector<16xi32>
  %b = arith.remui %x, %y : vector<16xi32>
  return %a, %b : vector<16xi32>, vector<16xi32>
}

// -----

// CHECK-LABEL: func.func @bytes(
// CHECK: arith.uitofp %arg0 : vector<16xi8> to vector<16xf32>
// CHECK-NOT: arith.divui
func.func @bytes(%x: vector<16xi8>, %y: vector<16xi8>) -> vector<16xi8> {
  %a = arith.divui %x, %y : vector<16xi8>
  return %a : vector<16xi8>
}

// -----

// 64-bit integers if all lanes fit 52 bits, and the CPU converts vectors of them.
// CHECK-LABEL: func.func @long(
// CHECK-NOT: f64
// WIDE-LABEL: func.func @long(
// WIDE: arith.addi %arg0, %{{.*}} : vector<8xi64>
// WIDE: %[[SHORT:.*]] = vector.reduction <and>
// WIDE: scf.if %[[SHORT]]
// WIDE: arith.divf %{{.*}} : vector<8xf64>
// WIDE: } else {
// WIDE: arith.divsi
func.func @long(%x: vector<8xi64>, %y: vector<8xi64>) -> vector<8xi64> {
  %a = arith.divsi %x, %y : vector<8xi64>
  return %a : vector<8xi64>
}

// -----

// fmod, except for large quotients and numbers that are not finite.
// CHECK-LABEL: func.func @fmod(
// CHECK: %[[HOLDS:.*]] = vector.reduction <and>
// CHECK: scf.if %[[HOLDS]]
// CHECK: math.trunc
// CHECK: math.fma
// CHECK: math.copysign
// CHECK: } else {
// CHECK: arith.remf %arg0, %arg1 : vector<16xf32>
func.func @fmod(%x: vector<16xf32>, %y: vector<16xf32>) -> vector<16xf32> {
  %a = arith.remf %x, %y : vector<16xf32>
  return %a : vector<16xf32>
}

// -----

// Constants, scalars and positions are unchanged.
// CHECK-LABEL: func.func @others(
// CHECK: arith.divsi %arg0, %{{.*}} : vector<16xi32>
// CHECK: arith.divsi %arg1, %arg1 : i32
// CHECK: arith.divui %arg2, %arg2 : vector<16xindex>
func.func @others(%x: vector<16xi32>, %s: i32, %p: vector<16xindex>) -> (vector<16xi32>, i32, vector<16xindex>) {
  %seven = arith.constant dense<7> : vector<16xi32>
  %a = arith.divsi %x, %seven : vector<16xi32>
  %b = arith.divsi %s, %s : i32
  %c = arith.divui %p, %p : vector<16xindex>
  return %a, %b, %c : vector<16xi32>, i32, vector<16xindex>
}

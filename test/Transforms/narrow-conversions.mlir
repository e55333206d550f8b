// RUN: aopt %s --narrow-conversions | FileCheck %s
// RUN: aopt %s --tile-attach-targets=cpu=x86-64-v4 --narrow-conversions | FileCheck %s --check-prefix=FUSED

// The conversion rounds a bounded value.
// CHECK-LABEL: func.func @quantised(
// CHECK-SAME: %[[X:.*]]: vector<16xf32>
// CHECK: %[[MAX:.*]] = arith.maximumf %[[X]],
// CHECK: %[[MIN:.*]] = arith.minimumf %[[MAX]],
// CHECK: %[[WORD:.*]] = llvm.intr.lrint(%[[MIN]]) : (vector<16xf32>) -> vector<16xi32>
// CHECK: arith.trunci %[[WORD]] : vector<16xi32> to vector<16xi8>
// CHECK-NOT: i64
func.func @quantised(%x: vector<16xf32>) -> vector<16xi8> {
  %low = arith.constant dense<0.0> : vector<16xf32>
  %high = arith.constant dense<255.0> : vector<16xf32>
  %0 = math.roundeven %x : vector<16xf32>
  %1 = arith.maximumf %0, %low : vector<16xf32>
  %2 = arith.minimumf %1, %high : vector<16xf32>
  %3 = arith.fptosi %2 : vector<16xf32> to vector<16xi64>
  %4 = arith.trunci %3 : vector<16xi64> to vector<16xi8>
  return %4 : vector<16xi8>
}

// An integer that is added after the rounding is added to the words, and the bounds move.
// CHECK-LABEL: func.func @zero_point(
// CHECK-SAME: %[[X:.*]]: vector<16xf32>, %[[Y:.*]]: f32
// CHECK: %[[LOW:.*]] = arith.constant dense<1.280000e+02> : vector<16xf32>
// CHECK: %[[MAX:.*]] = arith.maximumf %[[X]], %[[LOW]]
// CHECK: %[[HIGH:.*]] = arith.constant dense<2.550000e+02> : vector<16xf32>
// CHECK: %[[MIN:.*]] = arith.minimumf %[[MAX]], %[[HIGH]]
// CHECK: %[[WORD:.*]] = llvm.intr.lrint(%[[MIN]])
// CHECK: %[[ZERO:.*]] = arith.constant dense<-128> : vector<16xi32>
// CHECK: %[[MOVED:.*]] = arith.addi %[[WORD]], %[[ZERO]]
// CHECK: arith.trunci %[[MOVED]] : vector<16xi32> to vector<16xi8>
// CHECK: %[[LEAST:.*]] = arith.constant -6.000000e+00 : f32
// CHECK: %[[SCALAR:.*]] = arith.maximumf %[[Y]], %[[LEAST]]
// CHECK: %[[MOST:.*]] = arith.constant 1.210000e+02 : f32
// CHECK: %[[BOUNDED:.*]] = arith.minimumf %[[SCALAR]], %[[MOST]]
// CHECK: %[[ROUNDED:.*]] = math.roundeven %[[BOUNDED]]
// CHECK: %[[ONE:.*]] = arith.fptosi %[[ROUNDED]] : f32 to i32
// CHECK: arith.addi %[[ONE]], %{{.*}} : i32
func.func @zero_point(%x: vector<16xf32>, %y: f32) -> (vector<16xi8>, i8) {
  %zero = arith.constant dense<-128.0> : vector<16xf32>
  %low = arith.constant dense<0.0> : vector<16xf32>
  %high = arith.constant dense<127.0> : vector<16xf32>
  %0 = math.roundeven %x : vector<16xf32>
  %1 = arith.addf %0, %zero : vector<16xf32>
  %2 = arith.maximumf %1, %low : vector<16xf32>
  %3 = arith.minimumf %2, %high : vector<16xf32>
  %4 = arith.fptosi %3 : vector<16xf32> to vector<16xi64>
  %5 = arith.trunci %4 : vector<16xi64> to vector<16xi8>
  %six = arith.constant 6.0 : f32
  %none = arith.constant 0.0 : f32
  %most = arith.constant 127.0 : f32
  %6 = math.roundeven %y : f32
  %7 = arith.addf %6, %six : f32
  %8 = arith.maximumf %7, %none : f32
  %9 = arith.minimumf %8, %most : f32
  %10 = arith.fptosi %9 : f32 to i64
  %11 = arith.trunci %10 : i64 to i8
  return %5, %11 : vector<16xi8>, i8
}

// Not if a bound is not an integer, another op reads the bounded value, or another op is
// between.
// CHECK-LABEL: func.func @rounded(
// CHECK-NOT: lrint
// CHECK-COUNT-3: arith.fptosi %{{.*}} : vector<16xf32> to vector<16xi32>
func.func @rounded(%x: vector<16xf32>) -> (vector<16xi8>, vector<16xi8>, vector<16xi8>, vector<16xf32>) {
  %low = arith.constant dense<0.0> : vector<16xf32>
  %half = arith.constant dense<0.5> : vector<16xf32>
  %high = arith.constant dense<255.0> : vector<16xf32>
  %0 = math.roundeven %x : vector<16xf32>
  %1 = arith.maximumf %0, %half : vector<16xf32>
  %2 = arith.minimumf %1, %high : vector<16xf32>
  %3 = arith.fptosi %2 : vector<16xf32> to vector<16xi64>
  %4 = arith.trunci %3 : vector<16xi64> to vector<16xi8>
  %5 = arith.maximumf %0, %low : vector<16xf32>
  %6 = arith.minimumf %5, %high : vector<16xf32>
  %7 = arith.fptosi %6 : vector<16xf32> to vector<16xi64>
  %8 = arith.trunci %7 : vector<16xi64> to vector<16xi8>
  %9 = arith.addf %0, %half : vector<16xf32>
  %10 = arith.maximumf %9, %low : vector<16xf32>
  %11 = arith.minimumf %10, %high : vector<16xf32>
  %12 = arith.fptosi %11 : vector<16xf32> to vector<16xi64>
  %13 = arith.trunci %12 : vector<16xi64> to vector<16xi8>
  return %4, %8, %13, %6 : vector<16xi8>, vector<16xi8>, vector<16xi8>, vector<16xf32>
}

// Bounds before the rounding op, on scalars.
// CHECK-LABEL: func.func @scalar(
// CHECK: arith.fptosi %{{.*}} : f64 to i32
// CHECK: arith.trunci %{{.*}} : i32 to i16
func.func @scalar(%x: f64) -> i16 {
  %low = arith.constant -32768.0 : f64
  %high = arith.constant 32767.0 : f64
  %0 = arith.minimumf %x, %high : f64
  %1 = arith.maximumf %0, %low : f64
  %2 = math.roundeven %1 : f64
  %3 = arith.fptosi %2 : f64 to i64
  %4 = arith.trunci %3 : i64 to i16
  return %4 : i16
}

// A single bound, a bound beyond 32 bits, and a 32-bit integer.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-3: arith.fptosi %{{.*}} : f32 to i64
func.func @others(%x: f32) -> (i8, i8, i32) {
  %low = arith.constant 0.0 : f32
  %high = arith.constant 255.0 : f32
  %most = arith.constant 4.0e+09 : f32
  %0 = arith.minimumf %x, %high : f32
  %1 = arith.fptosi %0 : f32 to i64
  %2 = arith.trunci %1 : i64 to i8
  %3 = arith.maximumf %x, %low : f32
  %4 = arith.minimumf %3, %most : f32
  %5 = arith.fptosi %4 : f32 to i64
  %6 = arith.trunci %5 : i64 to i8
  %7 = arith.maximumf %0, %low : f32
  %8 = arith.fptosi %7 : f32 to i64
  %9 = arith.trunci %8 : i64 to i32
  return %2, %6, %9 : i8, i8, i32
}

// Without a target that has fused multiply-adds, the quotient stays a division.
// CHECK-LABEL: func.func @quotient(
// CHECK: arith.divf
// FUSED-LABEL: func.func @quotient(
// FUSED-SAME: %[[X:.*]]: vector<16xf32>
// FUSED: %[[MOST:.*]] = arith.maximumf %[[X]],
// FUSED: %[[BOUNDED:.*]] = arith.minimumf %[[MOST]],
// FUSED: %[[FIRST:.*]] = arith.mulf %[[BOUNDED]], %[[RECIPROCAL:.*]] : vector<16xf32>
// FUSED: %[[REST:.*]] = math.fma %[[FIRST]], %[[NEGATED:.*]], %[[BOUNDED]]
// FUSED: %[[SECOND:.*]] = math.fma %[[REST]], %[[RECIPROCAL]], %[[FIRST]]
// FUSED: %[[LAST:.*]] = math.fma %[[SECOND]], %[[NEGATED]], %[[BOUNDED]]
// FUSED: %[[QUOTIENT:.*]] = math.fma %[[LAST]], %[[RECIPROCAL]], %[[SECOND]]
// FUSED: arith.maximumf %[[QUOTIENT]]
// FUSED: return
func.func @quotient(%x: vector<16xf32>) -> vector<16xi8> {
  %low = arith.constant dense<0.0> : vector<16xf32>
  %high = arith.constant dense<255.0> : vector<16xf32>
  %scale = arith.constant dense<0.3> : vector<16xf32>
  %q = arith.divf %x, %scale : vector<16xf32>
  %0 = math.roundeven %q : vector<16xf32>
  %1 = arith.maximumf %0, %low : vector<16xf32>
  %2 = arith.minimumf %1, %high : vector<16xf32>
  %3 = arith.fptosi %2 : vector<16xf32> to vector<16xi64>
  %4 = arith.trunci %3 : vector<16xi64> to vector<16xi8>
  return %4 : vector<16xi8>
}

// The reciprocal of this divisor is not the nearest one, and a divisor may be too small.
// CHECK-LABEL: func.func @divisors(
// FUSED-LABEL: func.func @divisors(
// FUSED: arith.divf
// FUSED: arith.divf
func.func @divisors(%x: vector<16xf32>) -> (vector<16xi8>, vector<16xi8>) {
  %low = arith.constant dense<0.0> : vector<16xf32>
  %high = arith.constant dense<255.0> : vector<16xf32>
  %ones = arith.constant dense<0x3FFFFFFF> : vector<16xf32>
  %small = arith.constant dense<1.0e-30> : vector<16xf32>
  %q = arith.divf %x, %ones : vector<16xf32>
  %0 = math.roundeven %q : vector<16xf32>
  %1 = arith.maximumf %0, %low : vector<16xf32>
  %2 = arith.minimumf %1, %high : vector<16xf32>
  %3 = arith.fptosi %2 : vector<16xf32> to vector<16xi64>
  %4 = arith.trunci %3 : vector<16xi64> to vector<16xi8>
  %p = arith.divf %x, %small : vector<16xf32>
  %5 = math.roundeven %p : vector<16xf32>
  %6 = arith.maximumf %5, %low : vector<16xf32>
  %7 = arith.minimumf %6, %high : vector<16xf32>
  %8 = arith.fptosi %7 : vector<16xf32> to vector<16xi64>
  %9 = arith.trunci %8 : vector<16xi64> to vector<16xi8>
  return %4, %9 : vector<16xi8>, vector<16xi8>
}

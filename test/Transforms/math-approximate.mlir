// RUN: aopt %s -math-approximate -split-input-file | FileCheck %s
// RUN: aopt %s -tile-attach-targets=cpu=x86-64-v4 -math-approximate -split-input-file | FileCheck %s --check-prefix=WIDE

// exp is arithmetic of the vector's shape, without a conversion to integers, which is
// undefined for NaN. The power of two is in the low bits of the shifted argument, twice a
// factor.
// CHECK-LABEL: func.func @exp(
// CHECK-NOT: math.exp
// CHECK-NOT: fptosi
// CHECK: math.fma {{.*}} : vector<16xf32>
// CHECK: arith.shli {{.*}} : vector<16xi32>
// AVX-512 selects one of 16 roots of two, and scales by a power of two.
// WIDE-LABEL: func.func @exp(
// WIDE-NOT: arith.shli
// WIDE: llvm.call_intrinsic "llvm.x86.avx512.permvar.si.512"({{.*}}) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>
// WIDE: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
func.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  %r = math.exp %x : vector<16xf32>
  return %r : vector<16xf32>
}

// -----
// Results that would be rounded to 0 are not computed; with afn, neither are subnormal
// ones.
// CHECK-LABEL: func.func @tiny(
// CHECK: %[[LEAST:.*]] = arith.constant {{.*}}-8.733000e+01
// CHECK: %[[LESS:.*]] = arith.cmpf olt, %{{.*}}, %[[LEAST]]
// CHECK: arith.select %[[LESS]], %[[ZERO:[a-z0-9_]+]],
// CHECK: %[[LAST:.*]] = arith.select %[[LESS]], %[[ZERO]],
// CHECK: return %[[LAST]]
// WIDE-LABEL: func.func @tiny(
// WIDE: %[[LEAST:.*]] = arith.constant {{.*}}-8.733000e+01
// WIDE: %[[KEPT:.*]] = arith.cmpf uge, %{{.*}}, %[[LEAST]]
// WIDE: %[[MASK:.*]] = llvm.bitcast %[[KEPT]] : vector<16xi1> to i16
// WIDE: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"({{.*}}, %[[MASK]], {{.*}})
func.func @tiny(%x: vector<16xf32>) -> vector<16xf32> {
  %r = math.exp %x fastmath<afn> : vector<16xf32>
  return %r : vector<16xf32>
}

// -----
// For arguments of at most 0, the power is composed by additions; subnormal numbers are
// not operands of a multiplication.
// CHECK-LABEL: func.func @weight(
// CHECK: arith.select {{.*}} : vector<16xi1>, vector<16xf32>
// WIDE-LABEL: func.func @weight(
// WIDE-NOT: scalef
// WIDE: %[[KEPT:.*]] = arith.cmpf uge
// WIDE: %[[ROOT:.*]] = llvm.call_intrinsic "llvm.x86.avx512.permvar.si.512"
// WIDE: %[[SHIFTED:.*]] = arith.shli
// WIDE: %[[SUM:.*]] = arith.addi %[[ROOT]], %[[SHIFTED]] : vector<16xi32>
// WIDE: arith.select %[[KEPT]], %[[SUM]], %{{.*}} : vector<16xi1>, vector<16xi32>
// WIDE: %[[POWER:.*]] = math.fma
// WIDE: %[[LAST:.*]] = arith.select %[[KEPT]], %[[POWER]], %{{.*}} : vector<16xi1>, vector<16xf32>
// WIDE: return %[[LAST]]
func.func @weight(%x: vector<16xf32>) -> vector<16xf32> {
  %r = math.exp %x fastmath<afn,arcp> : vector<16xf32>
  return %r : vector<16xf32>
}

// -----
// exp2 needs no multiplication for the remainder of the argument.
// CHECK-LABEL: func.func @exp2(
// CHECK-NOT: math.exp2
// CHECK: arith.shli {{.*}} : vector<16xi32>
// WIDE-LABEL: func.func @exp2(
// WIDE-NOT: math.exp2
// WIDE: %[[SHIFTED:.*]] = arith.addf
// WIDE: %[[NUMBER:.*]] = arith.subf %[[SHIFTED]],
// WIDE: arith.subf %{{.*}}, %[[NUMBER]]
// WIDE: llvm.call_intrinsic "llvm.x86.avx512.permvar.si.512"
// WIDE: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
func.func @exp2(%x: vector<16xf32>) -> vector<16xf32> {
  %r = math.exp2 %x : vector<16xf32>
  return %r : vector<16xf32>
}

// -----
// erf selects the coefficients of its polynomial.
// CHECK-LABEL: func.func @erf(
// CHECK-NOT: call_intrinsic
// WIDE-LABEL: func.func @erf(
// WIDE: %[[SHIFTED:.*]] = arith.addf
// WIDE: %[[INDEX:.*]] = arith.bitcast %[[SHIFTED]] : vector<16xf32> to vector<16xi32>
// WIDE-COUNT-7: llvm.call_intrinsic "llvm.x86.avx512.permvar.si.512"({{.*}}, %[[INDEX]])
// WIDE-NOT: call_intrinsic
// WIDE: return
func.func @erf(%x: vector<16xf32>) -> vector<16xf32> {
  %r = math.erf %x : vector<16xf32>
  return %r : vector<16xf32>
}

// -----
// Not for vectors that are not whole registers.
// CHECK-LABEL: func.func @short_exp(
// WIDE-LABEL: func.func @short_exp(
// WIDE-NOT: call_intrinsic
// WIDE: arith.shli {{.*}} : vector<8xi32>
func.func @short_exp(%x: vector<8xf32>) -> vector<8xf32> {
  %r = math.exp %x : vector<8xf32>
  return %r : vector<8xf32>
}

// -----
// Scalars too.
// CHECK-LABEL: func.func @log(
// CHECK-NOT: math.log
// CHECK: arith.select {{.*}} : f32
func.func @log(%x: f32) -> f32 {
  %r = math.log %x : f32
  return %r : f32
}

// -----
// The result for small arguments is used if none is larger, which is the common case;
// larger ones use f64, and integers beyond 2^30.
// CHECK-LABEL: func.func @sin(
// CHECK-COUNT-8: math.fma
// CHECK: %[[NEAR:.*]] = math.fma {{.*}} : vector<8xf32>
// CHECK: %[[ANY:.*]] = vector.reduction <or>
// CHECK: %[[FAR:.*]] = llvm.intr.expect %[[ANY]], %false
// CHECK: scf.if %[[FAR]] -> (vector<8xf32>)
// CHECK: %[[HUGE:.*]] = llvm.intr.expect
// CHECK: scf.if %[[HUGE]] -> (vector<8xf32>)
// CHECK: arith.muli {{.*}} : vector<8xi64>
// CHECK-NOT: call @
// CHECK: } else {
// CHECK: math.fma {{.*}} : vector<8xf64>
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[NEAR]]
func.func @sin(%x: vector<8xf32>) -> vector<8xf32> {
  %r = math.sin %x : vector<8xf32>
  return %r : vector<8xf32>
}

// -----
// Adjacent calls share one test, and are computed step by step together: at most four.
// CHECK-LABEL: func.func @cosines(
// CHECK-COUNT-4: arith.mulf
// CHECK-NOT: arith.mulf
// CHECK: vector.reduction <or>
// CHECK: scf.if %{{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: vector.reduction <or>
// CHECK: scf.if %{{.*}} -> (vector<8xf32>)
// CHECK: } else {
// CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK: vector.reduction <or>
// CHECK: scf.if %{{.*}} -> (vector<8xf32>) {
func.func @cosines(%x: vector<8xf32>, %y: vector<8xf32>, %z: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>) {
  %0 = math.cos %x : vector<8xf32>
  %1 = math.cos %y : vector<8xf32>
  %2 = math.cos %z : vector<8xf32>
  %3 = math.cos %x : vector<8xf32>
  %4 = math.cos %y : vector<8xf32>
  return %0, %1, %2, %3, %4 : vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
}

// -----
// A call that depends on another one is not adjacent.
// CHECK-LABEL: func.func @twice(
// CHECK: scf.if %{{.*}} -> (f32)
// CHECK: scf.if %{{.*}} -> (f32)
// CHECK: scf.if %{{.*}} -> (f32)
// CHECK: scf.if %{{.*}} -> (f32)
func.func @twice(%x: f32) -> f32 {
  %0 = math.sin %x : f32
  %1 = math.sin %0 : f32
  return %1 : f32
}

// -----
// f64 is unchanged; 16-bit floats compute in f32.
// CHECK-LABEL: func.func @others(
// CHECK: math.exp {{.*}} : vector<8xf64>
// CHECK: arith.extf {{.*}} : vector<8xf16> to vector<8xf32>
// CHECK: arith.truncf
func.func @others(%x: vector<8xf64>, %y: vector<8xf16>) -> (vector<8xf64>, vector<8xf16>) {
  %r = math.exp %x : vector<8xf64>
  %s = math.exp %y : vector<8xf16>
  return %r, %s : vector<8xf64>, vector<8xf16>
}

// -----
// log(1 + x) and e^x - 1 lose small arguments in f64: calls.
// CHECK: func.func private @log1p(f64) -> f64
// CHECK-LABEL: func.func @doubles(
// CHECK-NOT: math.log1p
// CHECK-COUNT-2: call @log1p
// CHECK-NOT: call
func.func @doubles(%x: vector<2xf64>) -> vector<2xf64> {
  %r = math.log1p %x : vector<2xf64>
  return %r : vector<2xf64>
}

// -----
// In f32 all are arithmetic.
// CHECK-LABEL: func.func @singles(
// CHECK-NOT: math.{{expm1|log1p|tanh|erf}}
// CHECK-NOT: call
func.func @singles(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.expm1 %x : vector<16xf32>
  %1 = math.log1p %0 : vector<16xf32>
  %2 = math.tanh %1 : vector<16xf32>
  %3 = math.erf %2 : vector<16xf32>
  return %3 : vector<16xf32>
}

// -----
// Functions that are less accurate in f32 are computed in f64, without calls.
// CHECK-LABEL: func.func @wide(
// CHECK-NOT: math.{{atan|asin|acos|sinh|cosh|powf}}
// CHECK-NOT: call
// CHECK: arith.extf {{.*}} : vector<16xf32> to vector<16xf64>
// CHECK: arith.truncf {{.*}} : vector<16xf64> to vector<16xf32>
// CHECK-NOT: math.{{atan|asin|acos|sinh|cosh|powf}}
// CHECK: return
func.func @wide(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.atan %x : vector<16xf32>
  %1 = math.asin %0 : vector<16xf32>
  %2 = math.acos %1 : vector<16xf32>
  %3 = math.sinh %2 : vector<16xf32>
  %4 = math.cosh %3 : vector<16xf32>
  %5 = math.asinh %4 : vector<16xf32>
  %6 = math.acosh %5 : vector<16xf32>
  %7 = math.atanh %6 : vector<16xf32>
  %8 = math.powf %7, %x : vector<16xf32>
  return %8 : vector<16xf32>
}

// -----
// Large arguments of tan are reduced by integers; f64 is unchanged.
// CHECK-LABEL: func.func @tan(
// CHECK: scf.if %{{.*}} -> (vector<8xf32>)
// CHECK: arith.muli {{.*}} : vector<8xi64>
// CHECK-NOT: call @
// CHECK: } else {
// CHECK: arith.divf {{.*}} : vector<8xf64>
// CHECK: math.tan {{.*}} : vector<8xf64>
func.func @tan(%x: vector<8xf32>, %y: vector<8xf64>) -> (vector<8xf32>, vector<8xf64>) {
  %r = math.tan %x : vector<8xf32>
  %s = math.tan %y : vector<8xf64>
  return %r, %s : vector<8xf32>, vector<8xf64>
}

// -----
// Adjacent calls of one type are interleaved step by step, as the dependency chains are
// long. Not if one uses the result of the other.
// CHECK-LABEL: func.func @neighbours(
// CHECK-SAME: %[[X:.*]]: vector<16xf32>, %[[Y:.*]]: vector<16xf32>
// CHECK: math.absf %[[X]]
// CHECK-NEXT: math.absf %[[Y]]
// CHECK-NEXT: arith.mulf %[[X]], %[[X]]
// CHECK-NEXT: arith.mulf %[[Y]], %[[Y]]
// CHECK-NEXT: math.fma
// CHECK-NEXT: math.fma
// CHECK-NOT: math.erf
// CHECK: return
func.func @neighbours(%x: vector<16xf32>, %y: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  %0 = math.erf %x : vector<16xf32>
  %1 = math.erf %y : vector<16xf32>
  return %0, %1 : vector<16xf32>, vector<16xf32>
}
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:.*]]: vector<16xf32>
// CHECK: math.absf %[[X]]
// CHECK-NOT: math.absf
// CHECK: arith.xori
// CHECK: math.absf
// CHECK-NOT: math.erf
func.func @chain(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.erf %x : vector<16xf32>
  %1 = math.erf %0 : vector<16xf32>
  return %1 : vector<16xf32>
}

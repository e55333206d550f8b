// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
// RUN: aopt %s --expand-bounds | FileCheck %s

// CHECK-LABEL: func.func @clip
// CHECK-SAME: (%[[X:.*]]: vector<16xf32>)
// CHECK-DAG: %[[LOW:.*]] = arith.constant dense<0.000000e+00>
// CHECK-DAG: %[[HIGH:.*]] = arith.constant dense<6.000000e+00>
// CHECK: %[[BELOW:.*]] = arith.cmpf ogt, %[[LOW]], %[[X]]
// CHECK: %[[Y:.*]] = arith.select %[[BELOW]], %[[LOW]], %[[X]]
// CHECK: %[[ABOVE:.*]] = arith.cmpf olt, %[[HIGH]], %[[Y]]
// CHECK: %[[Z:.*]] = arith.select %[[ABOVE]], %[[HIGH]], %[[Y]]
// CHECK: return %[[Z]]
func.func @clip(%x: vector<16xf32>) -> vector<16xf32> {
  %low = arith.constant dense<0.0> : vector<16xf32>
  %high = arith.constant dense<6.0> : vector<16xf32>
  %y = arith.maximumf %x, %low : vector<16xf32>
  %z = arith.minimumf %y, %high : vector<16xf32>
  return %z : vector<16xf32>
}

// A constant on the left, a scalar, one of dynamic lanes in memory.
// CHECK-LABEL: func.func @left
// CHECK-SAME: (%[[X:.*]]: f64, %[[M:.*]]: memref<?xf16>)
// CHECK: arith.cmpf ogt, %{{.*}}, %[[X]] : f64
// CHECK: arith.cmpf olt, %{{.*}}, %{{.*}} : f16
func.func @left(%x: f64, %m: memref<?xf16>) -> (f64, f16) {
  %c = arith.constant -1.0 : f64
  %d = arith.constant 2.0 : f16
  %c0 = arith.constant 0 : index
  %y = arith.maximumf %c, %x : f64
  %e = memref.load %m[%c0] : memref<?xf16>
  %z = arith.minimumf %d, %e : f16
  return %y, %z : f64, f16
}

// Not for two values, either of which may be NaN, nor for a NaN bound, nor for one that
// differs by lane.
// CHECK-LABEL: func.func @stay
// CHECK: arith.maximumf
// CHECK: arith.maximumf
// CHECK: arith.minimumf
func.func @stay(%x: vector<2xf32>, %y: vector<2xf32>) -> vector<2xf32> {
  %nan = arith.constant dense<0x7FC00000> : vector<2xf32>
  %two = arith.constant dense<[1.0, 2.0]> : vector<2xf32>
  %0 = arith.maximumf %x, %y : vector<2xf32>
  %1 = arith.maximumf %0, %nan : vector<2xf32>
  %2 = arith.minimumf %1, %two : vector<2xf32>
  return %2 : vector<2xf32>
}

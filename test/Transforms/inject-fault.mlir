// RUN: aopt %s --test-inject-fault | FileCheck %s

// Only the first one is changed.
// CHECK-LABEL: @first
// CHECK: arith.minimumf
// CHECK: arith.mulf
func.func @first(%a: f32, %b: f32) -> f32 {
  %0 = arith.maximumf %a, %b : f32
  %1 = arith.mulf %0, %b : f32
  return %1 : f32
}

// CHECK-LABEL: @second
// CHECK: arith.addf
func.func @second(%a: f32, %b: f32) -> f32 {
  %0 = arith.addf %a, %b : f32
  return %0 : f32
}

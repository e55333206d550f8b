// RUN: aopt %s --pass-pipeline='builtin.module(func.func(expand-copies))' | FileCheck %s
// RUN: aopt %s --pass-pipeline='builtin.module(func.func(expand-copies{all}))' | FileCheck %s --check-prefix=ALL

// CHECK-LABEL: @strided
func.func @strided(%a: memref<4x4xf32, strided<[8, 1]>>, %b: memref<4x4xf32>) {
  // CHECK: linalg.copy ins(%{{.*}} : memref<4x4xf32, strided<[8, 1]>>) outs(%{{.*}} : memref<4x4xf32>)
  memref.copy %a, %b : memref<4x4xf32, strided<[8, 1]>> to memref<4x4xf32>
  return
}

// Dense on both sides: a memcpy.
// ALL-LABEL: @dense
// ALL: linalg.copy
// CHECK-LABEL: @dense
func.func @dense(%a: memref<?x4xf32>, %b: memref<?x4xf32>) {
  // CHECK: memref.copy
  // CHECK-NOT: linalg.copy
  memref.copy %a, %b : memref<?x4xf32> to memref<?x4xf32>
  return
}

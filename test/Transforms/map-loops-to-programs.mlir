// RUN: aopt %s --map-loops-to-programs | FileCheck %s

// CHECK-LABEL: func.func @rows_programs(
// CHECK: %[[N:.*]] = memref.dim %arg0
// CHECK-NEXT: return %[[N]] : index
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[LO:[^:]*]]: index, %[[HI:[^:]*]]: index)
// CHECK: memref.alloc()
// CHECK: scf.for %{{.*}} = %[[LO]] to %[[HI]] step %c1 {
// CHECK-NOT: adze.programs
func.func @rows(%x: memref<?x8xf32> {adze.dims = affine_map<()[s0] -> (s0, 8)>}, %y: memref<?x8xf32> {adze.dims = affine_map<()[s0] -> (s0, 8)>}) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %t = memref.alloc() : memref<8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i, %c0] : memref<?x8xf32>
    memref.store %v, %t[%c0] : memref<8xf32>
    memref.store %v, %y[%i, %c0] : memref<?x8xf32>
  } {adze.programs}
  return
}

// Stores outside of the loop would be executed by each program; a loop with a
// data-dependent end; one without the attribute.
// CHECK-NOT: _programs(
// CHECK-LABEL: func.func @beside(
// CHECK-NOT: _programs(
// CHECK-LABEL: func.func @data(
// CHECK-NOT: _programs(
// CHECK-LABEL: func.func @plain(
func.func @beside(%y: memref<8xf32>, %v: memref<f32>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %f = arith.constant 1.0 : f32
  memref.store %f, %v[] : memref<f32>
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %f, %y[%i] : memref<8xf32>
  } {adze.programs}
  return
}
func.func @data(%y: memref<8xf32>, %k: memref<index>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  %n = memref.load %k[] : memref<index>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %f, %y[%i] : memref<8xf32>
  } {adze.programs}
  return
}
func.func @plain(%y: memref<8xf32>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %f = arith.constant 1.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %f, %y[%i] : memref<8xf32>
  }
  return
}

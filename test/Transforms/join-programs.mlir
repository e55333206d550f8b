// RUN: aopt %s -join-programs | FileCheck %s

// CHECK-NOT: @rows_programs
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<?x8xf32>, %{{[a-z0-9]*}}: memref<?xf32>) attributes
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[N:.*]] = memref.dim %[[X]]
// CHECK: scf.for %{{.*}} = %[[ZERO]] to %[[N]]
// CHECK: } {adze.programs}
func.func @rows_programs(%x: memref<?x8xf32>, %y: memref<?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  return %n : index
}
func.func @rows(%x: memref<?x8xf32>, %y: memref<?xf32>, %lo: index, %hi: index) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %lo to %hi step %c1 {
    %0 = memref.load %x[%i, %c0] : memref<?x8xf32>
    memref.store %0, %y[%i] : memref<?xf32>
  }
  return
}

// CHECK-LABEL: func.func @steps(
// CHECK: scf.for
// CHECK-NOT: adze.programs
// CHECK: return
func.func @steps_programs(%x: memref<8xf32>) -> index {
  %c8 = arith.constant 8 : index
  return %c8 : index
}
func.func @steps(%x: memref<8xf32>, %lo: index, %hi: index) attributes {adze.kernel, adze.ordered} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %lo to %hi step %c1 {
    %0 = memref.load %x[%c0] : memref<8xf32>
    memref.store %0, %x[%i] : memref<8xf32>
  }
  return
}

// A kernel of one program stays.
// CHECK-LABEL: func.func @one(
// CHECK-SAME: memref<8xf32>) attributes
func.func @one(%x: memref<8xf32>) attributes {adze.kernel} {
  return
}

// The number of programs follows the kernel.
// CHECK-LABEL: func.func @before(
// CHECK-SAME: memref<8xf32>) attributes
// CHECK: scf.for
// CHECK-NOT: @before_programs
func.func @before(%x: memref<8xf32>, %lo: index, %hi: index) attributes {adze.kernel} {
  %c1 = arith.constant 1 : index
  %f = arith.constant 0.0 : f32
  scf.for %i = %lo to %hi step %c1 {
    memref.store %f, %x[%i] : memref<8xf32>
  }
  return
}
func.func @before_programs(%x: memref<8xf32>) -> index {
  %c8 = arith.constant 8 : index
  return %c8 : index
}

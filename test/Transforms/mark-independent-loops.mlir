// RUN: aopt %s -pass-pipeline='builtin.module(func.func(mark-independent-loops))' | FileCheck %s

// Each iteration stores its own element; the row that is read is not written.
// CHECK-LABEL: func.func @own(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: } {adze.independent}
// CHECK-NEXT: } {adze.independent}
func.func @own(%x: memref<4x8xf32>, %y: memref<4x8xf32>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %0 = memref.load %x[%i, %c0] : memref<4x8xf32>
      memref.store %0, %y[%i, %j] : memref<4x8xf32>
    }
  }
  return
}

// Columns have an offset that is computed twice; the sum along %j is in order.
// CHECK-LABEL: func.func @sums(
// CHECK: scf.for %[[J:.*]] =
// CHECK: scf.for %[[I:.*]] =
// CHECK: } {adze.independent}
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @sums(%x: memref<4x8xf32>, %y: memref<12xf32>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %j = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c4 step %c1 {
      %from = arith.addi %i, %c8 : index
      %0 = memref.load %y[%from] : memref<12xf32>
      %1 = memref.load %x[%i, %j] : memref<4x8xf32>
      %2 = arith.addf %0, %1 : f32
      %to = arith.addi %i, %c8 : index
      memref.store %2, %y[%to] : memref<12xf32>
    }
  }
  return
}

// Another iteration wrote the element before; indices come from memory; an index
// is the sum of both, so that the outer loop is in order; a value is carried.
// CHECK-LABEL: func.func @ordered(
// CHECK-NOT: adze.independent
// CHECK: } {adze.independent, test.inner}
// CHECK-NOT: adze.independent
// CHECK: return
func.func @ordered(%x: memref<8xf32>, %i: memref<8xindex>, %y: memref<16xf32>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %f0 = arith.constant 0.0 : f32
  scf.for %a = %c0 to %c7 step %c1 {
    %0 = memref.load %y[%a] : memref<16xf32>
    %next = arith.addi %a, %c1 : index
    memref.store %0, %y[%next] : memref<16xf32>
  }
  scf.for %a = %c0 to %c8 step %c1 {
    %0 = memref.load %i[%a] : memref<8xindex>
    memref.store %f0, %y[%0] : memref<16xf32>
  }
  scf.for %a = %c0 to %c8 step %c1 {
    scf.for %b = %a to %c8 step %c1 {
      %place = arith.addi %a, %b : index
      memref.store %f0, %y[%place] : memref<16xf32>
    } {test.inner}
  }
  %sum = scf.for %a = %c0 to %c8 step %c1 iter_args(%s = %f0) -> f32 {
    %0 = memref.load %x[%a] : memref<8xf32>
    %1 = arith.addf %s, %0 : f32
    scf.yield %1 : f32
  }
  memref.store %sum, %y[%c0] : memref<16xf32>
  return
}

// A tied result is in the memory of its operand.
// CHECK-LABEL: func.func @tied(
// CHECK-NOT: adze.independent
// CHECK: return
func.func @tied(%x: memref<8xf32>, %y: memref<8xf32> {adze.tied = 0 : i64}) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  scf.for %a = %c0 to %c7 step %c1 {
    %next = arith.addi %a, %c1 : index
    %0 = memref.load %x[%next] : memref<8xf32>
    memref.store %0, %y[%a] : memref<8xf32>
  }
  return
}

// A program has scratch memory of its own.
// CHECK-LABEL: func.func @programs(
// CHECK-NOT: memref.alloc
// CHECK: scf.for
// CHECK-NEXT: memref.alloc
// CHECK: } {adze.independent, adze.programs}
func.func @programs(%x: memref<8x8xf32>, %y: memref<8xf32>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %scratch = memref.alloc() : memref<1xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    %0 = memref.load %x[%i, %i] : memref<8x8xf32>
    memref.store %0, %scratch[%c0] : memref<1xf32>
    %1 = memref.load %scratch[%c0] : memref<1xf32>
    memref.store %1, %y[%i] : memref<8xf32>
  } {adze.programs}
  return
}

// RUN: aopt %s --lower-loops --split-input-file | FileCheck %s

// Consecutive and nested loops, and carried values.
// CHECK-LABEL: func.func @loops
// CHECK-SAME: (%[[N:.*]]: index, %[[M:.*]]: memref<?xf32>)
// CHECK: cf.br ^[[HEAD:.*]](%{{.*}}, %{{.*}} : index, f32)
// CHECK: ^[[HEAD]](%[[I:.*]]: index, %[[SUM:.*]]: f32):
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[I]], %[[N]]
// CHECK: cf.cond_br %[[MORE]], ^[[BODY:.*]], ^[[END:.*]]
// CHECK: ^[[BODY]]:
// CHECK: memref.load %[[M]][%[[I]]]
// CHECK: %[[NEXT:.*]] = arith.addf %[[SUM]]
// CHECK: cf.br ^[[HEAD]](%{{.*}}, %[[NEXT]] : index, f32)
// CHECK: ^[[END]]:
// CHECK-COUNT-2: arith.cmpi slt
// CHECK: memref.store %[[SUM]], %[[M]]
// CHECK: return
// CHECK-NOT: scf.
func.func @loops(%n: index, %m: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f0 = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %f0) -> f32 {
    %x = memref.load %m[%i] : memref<?xf32>
    %next = arith.addf %s, %x : f32
    scf.yield %next : f32
  }
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      memref.store %sum, %m[%j] : memref<?xf32>
    }
  }
  return
}

// -----

// A branch in a loop of dynamic end; unstructured control flow is unchanged.
// CHECK-LABEL: func.func @branch
// CHECK: cf.br
// CHECK: cf.cond_br %{{.*}}, ^[[THEN:.*]], ^
// CHECK: call @then
// CHECK: call @else
// CHECK: cf.cond_br
// CHECK: call @after
// CHECK-NOT: scf.
func.func private @then()
func.func private @else()
func.func private @after(i1)
func.func @branch(%c: i1) {
  %r = scf.while (%x = %c) : (i1) -> i1 {
    scf.if %x {
      func.call @then() : () -> ()
    } else {
      func.call @else() : () -> ()
    }
    scf.condition(%x) %x : i1
  } do {
  ^bb0(%y: i1):
    scf.yield %y : i1
  }
  cf.br ^bb1
^bb1:
  func.call @after(%r) : (i1) -> ()
  return
}

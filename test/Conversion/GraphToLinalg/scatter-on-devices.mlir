// On devices all updates without a reduction are independent. With one, those
// along the axis keep their order, inside of the others. (graph-outline-clusters copies
// operands that must be kept.)
// RUN: aopt %s -tile-attach-targets=cuda=sm_90a -convert-graph-to-linalg -split-input-file | FileCheck %s
// RUN: aopt %s -convert-graph-to-linalg -split-input-file | FileCheck %s --check-prefix=CPU
// CPU-NOT: adze.independent

// CHECK-LABEL: func.func private @elements(
// CHECK-SAME: memref<4x8xf32> {adze.tied = 0 : i64}
// CHECK-NOT: memref.copy
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %c3
// CHECK-NEXT: scf.for %[[J:.*]] = %{{.*}} to %c2
// CHECK: memref.store %{{.*}}, %{{.*}}[%{{.*}}, %[[J]]]
// CHECK: } {adze.independent}
// CHECK: } {adze.independent}
func.func private @elements(%x: tensor<4x8xf32>, %i: tensor<3x2xi64>, %u: tensor<3x2xf32>) -> tensor<4x8xf32> attributes {adze.kernel} {
  %0 = graph.scatter_elements %x, %i, %u {axis = 0 : i64} : (tensor<4x8xf32>, tensor<3x2xi64>, tensor<3x2xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// CHECK-LABEL: func.func private @copy(
// CHECK-NEXT: memref.copy
func.func private @copy(%x: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {adze.kernel} {
  return %x : tensor<4x8xf32>
}
// CHECK-LABEL: func.func private @sums(
// CHECK-SAME: memref<4x8xf32> {adze.tied = 0 : i64}
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %c2
// CHECK-NEXT: scf.for %[[I:.*]] = %{{.*}} to %c3
// CHECK: arith.addf
// CHECK: }
// CHECK-NEXT: } {adze.independent}
// CHECK-NEXT: return
func.func private @sums(%x: tensor<4x8xf32>, %i: tensor<3x2xi64>, %u: tensor<3x2xf32>) -> tensor<4x8xf32> attributes {adze.kernel} {
  %0 = graph.scatter_elements %x, %i, %u {axis = 0 : i64, reduction = #graph.scatter<add>} : (tensor<4x8xf32>, tensor<3x2xi64>, tensor<3x2xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
// CHECK-LABEL: func.func private @slices(
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %c8
// CHECK-NEXT: scf.for %{{.*}} = %{{.*}} to %c3
// CHECK: arith.max
// CHECK: memref.store %{{.*}}, %{{.*}}[%{{.*}}, %[[J]]]
// CHECK: }
// CHECK-NEXT: } {adze.independent}
func.func private @slices(%x: tensor<4x8xf32>, %i: tensor<3x1xi64>, %u: tensor<3x8xf32>) -> tensor<4x8xf32> attributes {adze.kernel} {
  %0 = graph.scatter_nd %x, %i, %u {reduction = #graph.scatter<max>} : (tensor<4x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func @main(%x: tensor<4x8xf32>, %i: tensor<3x2xi64>, %u: tensor<3x2xf32>, %j: tensor<3x1xi64>, %v: tensor<3x8xf32>) -> tensor<4x8xf32> {
  %c = host.launch @copy(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = host.launch @sums(%c, %i, %u) : (tensor<4x8xf32>, tensor<3x2xi64>, tensor<3x2xf32>) -> tensor<4x8xf32>
  %1 = host.launch @elements(%0, %i, %u) : (tensor<4x8xf32>, tensor<3x2xi64>, tensor<3x2xf32>) -> tensor<4x8xf32>
  %2 = host.launch @slices(%1, %j, %v) : (tensor<4x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

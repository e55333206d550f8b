// Clusters that differ in numbers only get these as arguments, so that one kernel is
// shared.
// RUN: aopt %s --graph-share-kernels=least-kernels=2 | FileCheck %s
// RUN: aopt %s --graph-share-kernels=least-kernels=2 --graph-outline-clusters | FileCheck %s --check-prefix=OUTLINED
// RUN: aopt %s --graph-share-kernels | FileCheck %s --check-prefix=FEW

// The second number is the same in both: it stays.
// CHECK-LABEL: func.func @numbers(
// CHECK: %[[ONE:.*]] = graph.constant dense<1.000000e+00> : tensor<f32>
// CHECK: graph.cluster(%[[A:.*]] = %{{.*}}, %[[N:.*]] = %[[ONE]]) anchor "pointwise" : (tensor<?xf32, #{{.*}}>, tensor<f32>)
// CHECK-NEXT: %[[SAME:.*]] = graph.constant dense<3.000000e+00> : tensor<1xf32>
// CHECK-NEXT: graph.add %[[A]], %[[N]]
// CHECK-NEXT: graph.mul %{{.*}}, %[[SAME]]
// CHECK: graph.constant dense<2.000000e+00> : tensor<f32>
// CHECK: graph.cluster

// OUTLINED-LABEL: func.func @numbers(
// OUTLINED: host.launch @add_mul_0
// OUTLINED: host.launch @add_mul_0

// Few clusters keep the numbers, which is cheaper.
// FEW-LABEL: func.func @numbers(
// FEW-NOT: graph.constant
// FEW: graph.cluster
#x = affine_map<()[s0] -> (s0)>
func.func @numbers(%x: tensor<?xf32, #x>) -> (tensor<?xf32, #x>, tensor<?xf32, #x>) attributes {graph.symbols = ["n"]} {
  %0 = graph.cluster(%a = %x) anchor "pointwise" : (tensor<?xf32, #x>) -> tensor<?xf32, #x> {
    %c = graph.constant dense<1.0> : tensor<f32>
    %d = graph.constant dense<3.0> : tensor<1xf32>
    %2 = graph.add %a, %c : (tensor<?xf32, #x>, tensor<f32>) -> tensor<?xf32, #x>
    %3 = graph.mul %2, %d : (tensor<?xf32, #x>, tensor<1xf32>) -> tensor<?xf32, #x>
    graph.yield %3 : tensor<?xf32, #x>
  }
  %1 = graph.cluster(%a = %x) anchor "pointwise" : (tensor<?xf32, #x>) -> tensor<?xf32, #x> {
    %c = graph.constant dense<2.0> : tensor<f32>
    %d = graph.constant dense<3.0> : tensor<1xf32>
    %2 = graph.add %a, %c : (tensor<?xf32, #x>, tensor<f32>) -> tensor<?xf32, #x>
    %3 = graph.mul %2, %d : (tensor<?xf32, #x>, tensor<1xf32>) -> tensor<?xf32, #x>
    graph.yield %3 : tensor<?xf32, #x>
  }
  return %0, %1 : tensor<?xf32, #x>, tensor<?xf32, #x>
}

// Another form, and a number that is not an operand of an elementwise op: nothing is
// shared.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: graph.constant
// CHECK: graph.cluster(%{{.*}} = %{{[a-z0-9]+}}) anchor "pad"
// CHECK: graph.cluster(%{{.*}} = %{{[a-z0-9]+}}) anchor "pad"
// CHECK: graph.cluster(%{{.*}} = %{{[a-z0-9]+}}) anchor "pointwise"
// CHECK: return
func.func @others(%x: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>) {
  %0 = graph.cluster(%a = %x) anchor "pad" : (tensor<2xf32>) -> tensor<4xf32> {
    %c = graph.constant dense<1.0> : tensor<f32>
    %3 = graph.pad %a, %c {low = array<i64: 1>, high = array<i64: 1>} : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
    graph.yield %3 : tensor<4xf32>
  }
  %1 = graph.cluster(%a = %x) anchor "pad" : (tensor<2xf32>) -> tensor<4xf32> {
    %c = graph.constant dense<2.0> : tensor<f32>
    %3 = graph.pad %a, %c {low = array<i64: 1>, high = array<i64: 1>} : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
    graph.yield %3 : tensor<4xf32>
  }
  %2 = graph.cluster(%a = %x) anchor "pointwise" : (tensor<2xf32>) -> tensor<2xf32> {
    %c = graph.constant dense<1.0> : tensor<f32>
    %3 = graph.sub %a, %c : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    graph.yield %3 : tensor<2xf32>
  }
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<2xf32>
}

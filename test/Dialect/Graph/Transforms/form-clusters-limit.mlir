// The number of ops of a kernel is limited: the chain is split. Below the limit nothing
// changes.
// RUN: aopt %s --graph-form-clusters=most-ops=3 | FileCheck %s
// RUN: aopt %s --graph-form-clusters | FileCheck %s --check-prefix=ONE

// CHECK-LABEL: func.func @chain(
// CHECK: %[[A:.*]] = graph.cluster(%{{.*}}) anchor "matmul"
// CHECK: graph.matmul
// CHECK-NEXT: graph.relu
// CHECK-NEXT: graph.tanh
// CHECK-NEXT: graph.yield
// CHECK: graph.cluster(%{{.*}} = %[[A]]) anchor "pointwise"
// CHECK: graph.exp
// CHECK-NEXT: graph.sigmoid
// CHECK-NEXT: graph.yield
// ONE-COUNT-1: graph.cluster
// ONE-NOT: graph.cluster
#x = affine_map<()[s0] -> (s0, 8)>
func.func @chain(%x: tensor<?x8xf32, #x>, %w: tensor<8x8xf32>) -> tensor<?x8xf32, #x> attributes {graph.symbols = ["n"]} {
  %0 = graph.matmul %x, %w : (tensor<?x8xf32, #x>, tensor<8x8xf32>) -> tensor<?x8xf32, #x>
  %1 = graph.relu %0 : (tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  %2 = graph.tanh %1 : (tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  %3 = graph.exp %2 : (tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  %4 = graph.sigmoid %3 : (tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  return %4 : tensor<?x8xf32, #x>
}

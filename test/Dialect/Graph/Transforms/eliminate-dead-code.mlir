// RUN: aopt %s --graph-eliminate-dead-code --split-input-file | FileCheck %s

// A chain that nothing reads.
// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.relu
  // CHECK-NEXT: return %[[R]]
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.log %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// A result of a cluster that nobody reads goes, with what only it needs.
// CHECK-LABEL: func.func @cluster
func.func @cluster(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.cluster({{.*}}) {{.*}}-> tensor<4xf32>
  // CHECK: graph.relu
  // CHECK-NOT: graph.exp
  // CHECK: graph.yield %{{[^,]*}} : tensor<4xf32>
  %r:2 = graph.cluster(%a = %x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = graph.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    %1 = graph.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// -----

// What is read stays, with a symbolic dim too.
// CHECK-LABEL: func.func @alive
func.func @alive(%x: tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>> attributes {graph.symbols = ["n"]} {
  // CHECK: graph.exp
  // CHECK: graph.log
  %0 = graph.exp %x : (tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>>
  %1 = graph.log %0 : (tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>>
  return %1 : tensor<?xf32, affine_map<()[s0] -> (s0)>>
}

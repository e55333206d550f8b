// RUN: aopt %s --pass-pipeline="builtin.module(func.func(graph-recognize-attention{remarks=true}))" --split-input-file --verify-diagnostics | FileCheck %s

// Somebody else wants the scores.
// CHECK-LABEL: func.func @used
// CHECK-NOT: graph.attention
func.func @used(%q: tensor<2x9x64xf32>, %v: tensor<2x9x32xf32>) -> (tensor<2x9x32xf32>, tensor<2x9x9xf32>) {
  %0 = graph.matmul %q, %q {transpose_b = true} : (tensor<2x9x64xf32>, tensor<2x9x64xf32>) -> tensor<2x9x9xf32>
  %1 = graph.softmax %0 {axis = 2 : i64} : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
  %2 = graph.matmul %1, %v : (tensor<2x9x9xf32>, tensor<2x9x32xf32>) -> tensor<2x9x32xf32>
  return %2, %0 : tensor<2x9x32xf32>, tensor<2x9x9xf32>
}

// -----

// Along the queries.
// CHECK-LABEL: func.func @axis
// CHECK-NOT: graph.attention
func.func @axis(%q: tensor<2x9x64xf32>, %v: tensor<2x9x32xf32>) -> tensor<2x9x32xf32> {
  %0 = graph.matmul %q, %q {transpose_b = true} : (tensor<2x9x64xf32>, tensor<2x9x64xf32>) -> tensor<2x9x9xf32>
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
  %2 = graph.matmul %1, %v : (tensor<2x9x9xf32>, tensor<2x9x32xf32>) -> tensor<2x9x32xf32>
  return %2 : tensor<2x9x32xf32>
}

// -----

// A product may or may not be repeated: only the run can tell.
#q = affine_map<()[s0, s1] -> (s0, 9, 64)>
#k = affine_map<()[s0, s1] -> (s1, 9, 64)>
// CHECK-LABEL: func.func @unknown
// CHECK-NOT: graph.attention
func.func @unknown(%q: tensor<?x9x64xf32, #q>, %k: tensor<?x9x64xf32, #k>) -> tensor<?x9x64xf32> {
  %0 = graph.matmul %q, %k {transpose_b = true} : (tensor<?x9x64xf32, #q>, tensor<?x9x64xf32, #k>) -> tensor<?x9x9xf32>
  %1 = graph.softmax %0 {axis = 2 : i64} : (tensor<?x9x9xf32>) -> tensor<?x9x9xf32>
  // expected-remark @+1 {{no attention: batch dims that}}
  %2 = graph.matmul %1, %k : (tensor<?x9x9xf32>, tensor<?x9x64xf32, #k>) -> tensor<?x9x64xf32>
  return %2 : tensor<?x9x64xf32>
}

// -----

// What the mask hides is seen by the factor.
// CHECK-LABEL: func.func @order
// CHECK-NOT: graph.attention
func.func @order(%q: tensor<2x9x64xf32>, %m: tensor<9x9xi1>) -> tensor<2x9x64xf32> {
  %two = graph.constant dense<2.0> : tensor<f32>
  %low = graph.constant dense<-4.0> : tensor<f32>
  %0 = graph.matmul %q, %q {transpose_b = true} : (tensor<2x9x64xf32>, tensor<2x9x64xf32>) -> tensor<2x9x9xf32>
  %1 = graph.select %m, %0, %low : (tensor<9x9xi1>, tensor<2x9x9xf32>, tensor<f32>) -> tensor<2x9x9xf32>
  %2 = graph.mul %1, %two : (tensor<2x9x9xf32>, tensor<f32>) -> tensor<2x9x9xf32>
  %3 = graph.softmax %2 {axis = 2 : i64} : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
  %4 = graph.matmul %3, %q : (tensor<2x9x9xf32>, tensor<2x9x64xf32>) -> tensor<2x9x64xf32>
  return %4 : tensor<2x9x64xf32>
}

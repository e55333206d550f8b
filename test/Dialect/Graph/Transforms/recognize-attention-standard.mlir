// The function of Attention in the ONNX standard (operator set 23 and later): a triangle
// is added to the mask, and the weights of queries without visible keys are 0.
// RUN: aopt --graph-recognize-attention --graph-eliminate-dead-code %s | FileCheck %s

// Every query sees a key: the mask is not computed.
// CHECK-LABEL: func.func @causal
// CHECK-NEXT: graph.attention {{.*}} {causal = #graph.causal<upper_left>
// CHECK-NEXT: return
func.func @causal(%q: tensor<2x12x8xf32>, %k: tensor<2x12x8xf32>, %v: tensor<2x12x8xf32>) -> tensor<2x12x8xf32> {
  %c0 = graph.constant dense<0> : tensor<i64>
  %c1 = graph.constant dense<1> : tensor<i64>
  %c12 = graph.constant dense<12> : tensor<i64>
  %low = graph.constant dense<0xFF800000> : tensor<1xf32>
  %none = graph.constant dense<0.0> : tensor<1xf32>
  %zeros = graph.constant dense<0.0> : tensor<12x12xf32>
  %r = graph.range %c0, %c12, %c1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<12xi64>
  %i = graph.reshape %r : (tensor<12xi64>) -> tensor<12x1xi64>
  %j = graph.reshape %r : (tensor<12xi64>) -> tensor<1x12xi64>
  %hides = graph.less %i, %j : (tensor<12x1xi64>, tensor<1x12xi64>) -> tensor<12x12xi1>
  %triangle = graph.select %hides, %low, %none : (tensor<12x12xi1>, tensor<1xf32>, tensor<1xf32>) -> tensor<12x12xf32>
  %bias = graph.add %zeros, %triangle : (tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>
  %kt = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<2x12x8xf32>) -> tensor<2x8x12xf32>
  %0 = graph.matmul %q, %kt : (tensor<2x12x8xf32>, tensor<2x8x12xf32>) -> tensor<2x12x12xf32>
  %1 = graph.add %0, %bias : (tensor<2x12x12xf32>, tensor<12x12xf32>) -> tensor<2x12x12xf32>
  %2 = graph.softmax %1 {axis = 2 : i64} : (tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
  %most = graph.reduce_max %bias {axes = array<i64: 1>} : (tensor<12x12xf32>) -> tensor<12x1xf32>
  %empty = graph.equal %most, %low : (tensor<12x1xf32>, tensor<1xf32>) -> tensor<12x1xi1>
  %3 = graph.select %empty, %none, %2 : (tensor<12x1xi1>, tensor<1xf32>, tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
  %4 = graph.matmul %3, %v : (tensor<2x12x12xf32>, tensor<2x12x8xf32>) -> tensor<2x12x8xf32>
  return %4 : tensor<2x12x8xf32>
}

// The given mask is a bias in addition to the triangle, and may hide all keys.
// CHECK-LABEL: func.func @masked
// CHECK: graph.attention %arg0, %arg1, %arg2 bias %arg3 {causal = #graph.causal<upper_left>, scale = 1.000000e+00 : f64, zero_masked = true}
// CHECK-NEXT: return
func.func @masked(%q: tensor<2x12x8xf32>, %k: tensor<2x12x8xf32>, %v: tensor<2x12x8xf32>, %mask: tensor<12x12xf32>) -> tensor<2x12x8xf32> {
  %c0 = graph.constant dense<0> : tensor<i64>
  %c1 = graph.constant dense<1> : tensor<i64>
  %c12 = graph.constant dense<12> : tensor<i64>
  %low = graph.constant dense<0xFF800000> : tensor<1xf32>
  %none = graph.constant dense<0.0> : tensor<1xf32>
  %r = graph.range %c0, %c12, %c1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<12xi64>
  %i = graph.reshape %r : (tensor<12xi64>) -> tensor<12x1xi64>
  %j = graph.reshape %r : (tensor<12xi64>) -> tensor<1x12xi64>
  %hides = graph.less %i, %j : (tensor<12x1xi64>, tensor<1x12xi64>) -> tensor<12x12xi1>
  %triangle = graph.select %hides, %low, %none : (tensor<12x12xi1>, tensor<1xf32>, tensor<1xf32>) -> tensor<12x12xf32>
  %bias = graph.add %mask, %triangle : (tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>
  %kt = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<2x12x8xf32>) -> tensor<2x8x12xf32>
  %0 = graph.matmul %q, %kt : (tensor<2x12x8xf32>, tensor<2x8x12xf32>) -> tensor<2x12x12xf32>
  %1 = graph.add %0, %bias : (tensor<2x12x12xf32>, tensor<12x12xf32>) -> tensor<2x12x12xf32>
  %2 = graph.softmax %1 {axis = 2 : i64} : (tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
  %most = graph.reduce_max %bias {axes = array<i64: 1>} : (tensor<12x12xf32>) -> tensor<12x1xf32>
  %empty = graph.equal %most, %low : (tensor<12x1xf32>, tensor<1xf32>) -> tensor<12x1xi1>
  %3 = graph.select %empty, %none, %2 : (tensor<12x1xi1>, tensor<1xf32>, tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
  %4 = graph.matmul %3, %v : (tensor<2x12x12xf32>, tensor<2x12x8xf32>) -> tensor<2x12x8xf32>
  return %4 : tensor<2x12x8xf32>
}

// The first query sees no key.
// CHECK-LABEL: func.func @strict
// CHECK: graph.attention %arg0, %arg1, %arg2 mask %{{.*}} {scale = 1.000000e+00 : f64, zero_masked = true}
// CHECK-NEXT: return
func.func @strict(%q: tensor<2x12x8xf32>, %k: tensor<2x12x8xf32>, %v: tensor<2x12x8xf32>) -> tensor<2x12x8xf32> {
  %c0 = graph.constant dense<0> : tensor<i64>
  %c1 = graph.constant dense<1> : tensor<i64>
  %c12 = graph.constant dense<12> : tensor<i64>
  %low = graph.constant dense<0xFF800000> : tensor<1xf32>
  %none = graph.constant dense<0.0> : tensor<1xf32>
  %zeros = graph.constant dense<0.0> : tensor<12x12xf32>
  %r = graph.range %c0, %c12, %c1 : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<12xi64>
  %i = graph.reshape %r : (tensor<12xi64>) -> tensor<12x1xi64>
  %j = graph.reshape %r : (tensor<12xi64>) -> tensor<1x12xi64>
  %hides = graph.less_equal %i, %j : (tensor<12x1xi64>, tensor<1x12xi64>) -> tensor<12x12xi1>
  %triangle = graph.select %hides, %low, %none : (tensor<12x12xi1>, tensor<1xf32>, tensor<1xf32>) -> tensor<12x12xf32>
  %bias = graph.add %zeros, %triangle : (tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>
  %kt = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<2x12x8xf32>) -> tensor<2x8x12xf32>
  %0 = graph.matmul %q, %kt : (tensor<2x12x8xf32>, tensor<2x8x12xf32>) -> tensor<2x12x12xf32>
  %1 = graph.add %0, %bias : (tensor<2x12x12xf32>, tensor<12x12xf32>) -> tensor<2x12x12xf32>
  %2 = graph.softmax %1 {axis = 2 : i64} : (tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
  %most = graph.reduce_max %bias {axes = array<i64: 1>} : (tensor<12x12xf32>) -> tensor<12x1xf32>
  %empty = graph.equal %most, %low : (tensor<12x1xf32>, tensor<1xf32>) -> tensor<12x1xi1>
  %3 = graph.select %empty, %none, %2 : (tensor<12x1xi1>, tensor<1xf32>, tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
  %4 = graph.matmul %3, %v : (tensor<2x12x12xf32>, tensor<2x12x8xf32>) -> tensor<2x12x8xf32>
  return %4 : tensor<2x12x8xf32>
}

// Without a mask, zeros are added.
// CHECK-LABEL: func.func @plain
// CHECK-NEXT: graph.attention %arg0, %arg1, %arg2 {scale
// CHECK-NEXT: return
func.func @plain(%q: tensor<2x12x8xf32>, %k: tensor<2x12x8xf32>, %v: tensor<2x12x8xf32>) -> tensor<2x12x8xf32> {
  %low = graph.constant dense<0xFF800000> : tensor<1xf32>
  %none = graph.constant dense<0.0> : tensor<1xf32>
  %bias = graph.constant dense<0.0> : tensor<12x12xf32>
  %kt = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<2x12x8xf32>) -> tensor<2x8x12xf32>
  %0 = graph.matmul %q, %kt : (tensor<2x12x8xf32>, tensor<2x8x12xf32>) -> tensor<2x12x12xf32>
  %1 = graph.add %0, %bias : (tensor<2x12x12xf32>, tensor<12x12xf32>) -> tensor<2x12x12xf32>
  %2 = graph.softmax %1 {axis = 2 : i64} : (tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
  %most = graph.reduce_max %bias {axes = array<i64: 1>} : (tensor<12x12xf32>) -> tensor<12x1xf32>
  %empty = graph.equal %most, %low : (tensor<12x1xf32>, tensor<1xf32>) -> tensor<12x1xi1>
  %3 = graph.select %empty, %none, %2 : (tensor<12x1xi1>, tensor<1xf32>, tensor<2x12x12xf32>) -> tensor<2x12x12xf32>
  %4 = graph.matmul %3, %v : (tensor<2x12x12xf32>, tensor<2x12x8xf32>) -> tensor<2x12x8xf32>
  return %4 : tensor<2x12x8xf32>
}

// RUN: aopt %s --canonicalize --graph-recognize-attention --canonicalize --cse --split-input-file | FileCheck %s

// Factors of 0 and 1 mask by a number: scores * m - 10000 * (1 - m). The operand of their
// cast is the mask; sizes are symbols.
#q = affine_map<()[s0, s1] -> (s0, 4, s1, 16)>
#s = affine_map<()[s0, s1] -> (s0, 4, s1, s1)>
#m = affine_map<()[s0, s1] -> (s0, 1, 1, s1)>
// CHECK-LABEL: func.func @blend
// CHECK: graph.attention %arg0, %arg0, %arg0 mask %arg1 {fill = -1.000000e+04 : f64, scale = 2.500000e-01 : f64}
// CHECK-NOT: graph.softmax
func.func @blend(%q: tensor<?x4x?x16xf32, #q>, %b: tensor<?x1x1x?xi1, #m>) -> tensor<?x4x?x16xf32, #q> {
  %c = graph.constant dense<0.25> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %far = graph.constant dense<1.0e4> : tensor<f32>
  %m = graph.cast %b : (tensor<?x1x1x?xi1, #m>) -> tensor<?x1x1x?xf32, #m>
  %0 = graph.matmul %q, %q {transpose_b = true} : (tensor<?x4x?x16xf32, #q>, tensor<?x4x?x16xf32, #q>) -> tensor<?x4x?x?xf32, #s>
  %1 = graph.mul %0, %c : (tensor<?x4x?x?xf32, #s>, tensor<f32>) -> tensor<?x4x?x?xf32, #s>
  %2 = graph.mul %1, %m : (tensor<?x4x?x?xf32, #s>, tensor<?x1x1x?xf32, #m>) -> tensor<?x4x?x?xf32, #s>
  %3 = graph.sub %one, %m : (tensor<f32>, tensor<?x1x1x?xf32, #m>) -> tensor<?x1x1x?xf32, #m>
  %4 = graph.mul %far, %3 : (tensor<f32>, tensor<?x1x1x?xf32, #m>) -> tensor<?x1x1x?xf32, #m>
  %5 = graph.sub %2, %4 : (tensor<?x4x?x?xf32, #s>, tensor<?x1x1x?xf32, #m>) -> tensor<?x4x?x?xf32, #s>
  %6 = graph.softmax %5 {axis = 3 : i64} : (tensor<?x4x?x?xf32, #s>) -> tensor<?x4x?x?xf32, #s>
  %7 = graph.matmul %6, %q : (tensor<?x4x?x?xf32, #s>, tensor<?x4x?x16xf32, #q>) -> tensor<?x4x?x16xf32, #q>
  return %7 : tensor<?x4x?x16xf32, #q>
}

// -----

// The same with constants, which are the triangle; the sum in the other order, with a
// constant second term.
// CHECK-LABEL: func.func @triangle
// CHECK: graph.attention %arg0, %arg0, %arg0 {causal = #graph.causal<upper_left>, fill = -1.000000e+09 : f64
// CHECK-NOT: graph.softmax
func.func @triangle(%q: tensor<2x3x16xf32>) -> tensor<2x3x16xf32> {
  %m = graph.constant dense<[[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]> : tensor<3x3xf32>
  %t = graph.constant dense<[[0.0, -1.0e9, -1.0e9], [0.0, 0.0, -1.0e9], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %0 = graph.matmul %q, %q {transpose_b = true} : (tensor<2x3x16xf32>, tensor<2x3x16xf32>) -> tensor<2x3x3xf32>
  %1 = graph.mul %m, %0 : (tensor<3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %2 = graph.add %t, %1 : (tensor<3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %3 = graph.softmax %2 {axis = 2 : i64} : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %4 = graph.matmul %3, %q : (tensor<2x3x3xf32>, tensor<2x3x16xf32>) -> tensor<2x3x16xf32>
  return %4 : tensor<2x3x16xf32>
}

// -----

// Keys and values repeated by a tile of [batch, groups, 1, length, size].
#p = affine_map<()[s0, s1] -> (s0, 4, s1, 16)>
#k = affine_map<()[s0, s1, s2] -> (s0, 2, s2, 16)>
#a = affine_map<()[s0, s1, s2] -> (1, s0, 1, 2, 1, 1, 1, s2, 1, 16)>
#t = affine_map<()[s0, s1, s2] -> (1, s0, 1, 2, 2, 1, 1, s2, 1, 16)>
#r = affine_map<()[s0, s1, s2] -> (s0, 2, 2, s2, 16)>
#w = affine_map<()[s0, s1, s2] -> (s0, 4, s2, 16)>
#s = affine_map<()[s0, s1, s2] -> (s0, 4, s1, s2)>
// CHECK-LABEL: func.func @tiled
// CHECK-NEXT: %[[Y:.*]] = graph.attention %arg0, %arg1, %arg1 {scale = 1.000000e+00 : f64}
// CHECK-NEXT: return %[[Y]]
func.func @tiled(%q: tensor<?x4x?x16xf32, #p>, %k: tensor<?x2x?x16xf32, #k>) -> tensor<?x4x?x16xf32, #p> {
  %a = graph.reshape %k : (tensor<?x2x?x16xf32, #k>) -> tensor<1x?x1x2x1x1x1x?x1x16xf32, #a>
  %t = graph.broadcast_to %a : (tensor<1x?x1x2x1x1x1x?x1x16xf32, #a>) -> tensor<1x?x1x2x2x1x1x?x1x16xf32, #t>
  %r = graph.reshape %t : (tensor<1x?x1x2x2x1x1x?x1x16xf32, #t>) -> tensor<?x2x2x?x16xf32, #r>
  %w = graph.reshape %r : (tensor<?x2x2x?x16xf32, #r>) -> tensor<?x4x?x16xf32, #w>
  %0 = graph.matmul %q, %w {transpose_b = true} : (tensor<?x4x?x16xf32, #p>, tensor<?x4x?x16xf32, #w>) -> tensor<?x4x?x?xf32, #s>
  %1 = graph.softmax %0 {axis = 3 : i64} : (tensor<?x4x?x?xf32, #s>) -> tensor<?x4x?x?xf32, #s>
  %2 = graph.matmul %1, %w : (tensor<?x4x?x?xf32, #s>, tensor<?x4x?x16xf32, #w>) -> tensor<?x4x?x16xf32, #p>
  return %2 : tensor<?x4x?x16xf32, #p>
}

// -----

// Scores bounded below after a bias: the bias is bounded.
// CHECK-LABEL: func.func @bounded
// CHECK: %[[B:.*]] = graph.maximum %arg1, %{{.*}}
// CHECK: graph.attention %arg0, %arg0, %arg0 bias %[[B]] {fill = -3.402823{{.*}}E+38 : f64
// CHECK-NOT: graph.softmax
func.func @bounded(%q: tensor<2x9x64xf32>, %b: tensor<2x9x9xf32>) -> tensor<2x9x64xf32> {
  %low = graph.constant dense<-3.40282347E+38> : tensor<f32>
  %0 = graph.matmul %q, %q {transpose_b = true} : (tensor<2x9x64xf32>, tensor<2x9x64xf32>) -> tensor<2x9x9xf32>
  %1 = graph.add %0, %b : (tensor<2x9x9xf32>, tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
  %2 = graph.maximum %1, %low : (tensor<2x9x9xf32>, tensor<f32>) -> tensor<2x9x9xf32>
  %3 = graph.softmax %2 {axis = 2 : i64} : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
  %4 = graph.matmul %3, %q : (tensor<2x9x9xf32>, tensor<2x9x64xf32>) -> tensor<2x9x64xf32>
  return %4 : tensor<2x9x64xf32>
}

// -----

// Masked weights are dropped again: queries without keys give 0.
// CHECK-LABEL: func.func @dropped
// CHECK-DAG: %[[A:.*]] = graph.attention %arg0, %arg0, %arg0 mask %arg1 {fill = -3.402823{{.*}}E+38 : f64
// CHECK-DAG: %[[ANY:.*]] = graph.reduce_max %arg1 {axes = array<i64: 1>} : (tensor<9x9xi1>) -> tensor<9x1xi1>
// CHECK: graph.select %[[ANY]], %[[A]], %{{.*}}
func.func @dropped(%q: tensor<2x9x64xf32>, %m: tensor<9x9xi1>) -> tensor<2x9x64xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %low = graph.constant dense<-3.40282347E+38> : tensor<f32>
  %hidden = graph.not %m : (tensor<9x9xi1>) -> tensor<9x9xi1>
  %0 = graph.matmul %q, %q {transpose_b = true} : (tensor<2x9x64xf32>, tensor<2x9x64xf32>) -> tensor<2x9x9xf32>
  %1 = graph.select %hidden, %low, %0 : (tensor<9x9xi1>, tensor<f32>, tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
  %2 = graph.softmax %1 {axis = 2 : i64} : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
  %3 = graph.select %m, %2, %zero : (tensor<9x9xi1>, tensor<2x9x9xf32>, tensor<f32>) -> tensor<2x9x9xf32>
  %4 = graph.matmul %3, %q : (tensor<2x9x9xf32>, tensor<2x9x64xf32>) -> tensor<2x9x64xf32>
  return %4 : tensor<2x9x64xf32>
}

// -----

// Weights dropped for whole queries: so are their results.
// CHECK-LABEL: func.func @dropped_queries
// CHECK: %[[A:.*]] = graph.attention %arg0, %arg0, %arg0 bias %arg1 {scale
// CHECK: graph.select %{{.*}}, %[[A]], %{{.*}} : (tensor<9x1xi1>, tensor<2x9x64xf32>, tensor<f32>)
// CHECK-NOT: graph.softmax
func.func @dropped_queries(%q: tensor<2x9x64xf32>, %b: tensor<9x9xf32>, %c: tensor<9x9xf32>) -> tensor<2x9x64xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %none = graph.constant dense<0xFF800000> : tensor<f32>
  %most = graph.reduce_max %c {axes = array<i64: 1>, keepdims = true} : (tensor<9x9xf32>) -> tensor<9x1xf32>
  %hidden = graph.equal %most, %none : (tensor<9x1xf32>, tensor<f32>) -> tensor<9x1xi1>
  %0 = graph.matmul %q, %q {transpose_b = true} : (tensor<2x9x64xf32>, tensor<2x9x64xf32>) -> tensor<2x9x9xf32>
  %1 = graph.add %0, %b : (tensor<2x9x9xf32>, tensor<9x9xf32>) -> tensor<2x9x9xf32>
  %2 = graph.softmax %1 {axis = 2 : i64} : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
  %3 = graph.select %hidden, %zero, %2 : (tensor<9x1xi1>, tensor<f32>, tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
  %4 = graph.matmul %3, %q : (tensor<2x9x9xf32>, tensor<2x9x64xf32>) -> tensor<2x9x64xf32>
  return %4 : tensor<2x9x64xf32>
}

// -----

// Those of the queries of which the bias masks all keys.
// CHECK-LABEL: func.func @masked_queries
// CHECK-NEXT: %[[A:.*]] = graph.attention %arg0, %arg0, %arg0 bias %arg1 {scale = 1.000000e+00 : f64, zero_masked = true}
// CHECK-NEXT: return %[[A]]
func.func @masked_queries(%q: tensor<2x9x64xf32>, %b: tensor<9x9xf32>) -> tensor<2x9x64xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %none = graph.constant dense<0xFF800000> : tensor<f32>
  %most = graph.reduce_max %b {axes = array<i64: 1>, keepdims = true} : (tensor<9x9xf32>) -> tensor<9x1xf32>
  %hidden = graph.equal %most, %none : (tensor<9x1xf32>, tensor<f32>) -> tensor<9x1xi1>
  %0 = graph.matmul %q, %q {transpose_b = true} : (tensor<2x9x64xf32>, tensor<2x9x64xf32>) -> tensor<2x9x9xf32>
  %1 = graph.add %0, %b : (tensor<2x9x9xf32>, tensor<9x9xf32>) -> tensor<2x9x9xf32>
  %2 = graph.softmax %1 {axis = 2 : i64} : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
  %3 = graph.select %hidden, %zero, %2 : (tensor<9x1xi1>, tensor<f32>, tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
  %4 = graph.matmul %3, %q : (tensor<2x9x9xf32>, tensor<2x9x64xf32>) -> tensor<2x9x64xf32>
  return %4 : tensor<2x9x64xf32>
}

// -----

// The condition is computed from a mask, here of a dynamic number of keys.
// CHECK-LABEL: func.func @masked_dynamic
// CHECK: %[[A:.*]] = graph.attention %arg0, %arg1, %arg1 mask %arg2 {scale = 1.000000e+00 : f64, zero_masked = true}
// CHECK-NOT: graph.select
#k = affine_map<()[s0] -> (2, s0, 64)>
#m = affine_map<()[s0] -> (9, s0)>
#s = affine_map<()[s0] -> (2, 9, s0)>
func.func @masked_dynamic(%q: tensor<2x9x64xf32>, %k: tensor<2x?x64xf32, #k>, %m: tensor<9x?xi1, #m>) -> tensor<2x9x64xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %none = graph.constant dense<0xFF800000> : tensor<f32>
  %b = graph.select %m, %zero, %none : (tensor<9x?xi1, #m>, tensor<f32>, tensor<f32>) -> tensor<9x?xf32, #m>
  %most = graph.reduce_max %b {axes = array<i64: 1>, keepdims = true} : (tensor<9x?xf32, #m>) -> tensor<9x1xf32>
  %hidden = graph.equal %most, %none : (tensor<9x1xf32>, tensor<f32>) -> tensor<9x1xi1>
  %0 = graph.matmul %q, %k {transpose_b = true} : (tensor<2x9x64xf32>, tensor<2x?x64xf32, #k>) -> tensor<2x9x?xf32, #s>
  %1 = graph.add %0, %b : (tensor<2x9x?xf32, #s>, tensor<9x?xf32, #m>) -> tensor<2x9x?xf32, #s>
  %2 = graph.softmax %1 {axis = 2 : i64} : (tensor<2x9x?xf32, #s>) -> tensor<2x9x?xf32, #s>
  %3 = graph.select %hidden, %zero, %2 : (tensor<9x1xi1>, tensor<f32>, tensor<2x9x?xf32, #s>) -> tensor<2x9x?xf32, #s>
  %4 = graph.matmul %3, %k : (tensor<2x9x?xf32, #s>, tensor<2x?x64xf32, #k>) -> tensor<2x9x64xf32>
  return %4 : tensor<2x9x64xf32>
}

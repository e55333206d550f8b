// Keys and values with fewer batch dims than the queries, which the products broadcast.
// RUN: aopt %s --graph-recognize-attention --split-input-file | FileCheck %s

#q = affine_map<()[s0, s1] -> (s0, 4, s1, 16)>
#k = affine_map<()[s0, s1, s2] -> (4, s2, 16)>
#s = affine_map<()[s0, s1, s2] -> (s0, 4, s1, s2)>

// The same for a whole dynamic batch.
// CHECK-LABEL: func.func @shared
// CHECK: %[[K:.*]] = graph.reshape %arg1 : (tensor<4x?x16xf32, {{.*}}>) -> tensor<1x4x?x16xf32
// CHECK: %[[V:.*]] = graph.reshape %arg2 : (tensor<4x?x16xf32, {{.*}}>) -> tensor<1x4x?x16xf32
// CHECK: graph.attention %arg0, %[[K]], %[[V]]
func.func @shared(%q: tensor<?x4x?x16xf32, #q>, %k: tensor<4x?x16xf32, #k>, %v: tensor<4x?x16xf32, #k>) -> tensor<?x4x?x16xf32, #q> {
  %0 = graph.matmul %q, %k {transpose_b = true} : (tensor<?x4x?x16xf32, #q>, tensor<4x?x16xf32, #k>) -> tensor<?x4x?x?xf32, #s>
  %1 = graph.softmax %0 {axis = 3 : i64} : (tensor<?x4x?x?xf32, #s>) -> tensor<?x4x?x?xf32, #s>
  %2 = graph.matmul %1, %v : (tensor<?x4x?x?xf32, #s>, tensor<4x?x16xf32, #k>) -> tensor<?x4x?x16xf32, #q>
  return %2 : tensor<?x4x?x16xf32, #q>
}

// -----

// One for all heads, and a view of the scores that keeps their last batch dim.
// CHECK-LABEL: func.func @views
// CHECK: graph.reshape %arg1 : (tensor<7x16xf32>) -> tensor<1x1x7x16xf32>
// CHECK: graph.attention
// CHECK: graph.reshape %arg1 : (tensor<7x16xf32>) -> tensor<1x1x1x7x16xf32>
// CHECK: graph.reshape %arg2 : (tensor<4x7x16xf32>) -> tensor<1x1x4x7x16xf32>
// CHECK: graph.attention
func.func @views(%q: tensor<6x4x9x16xf32>, %k: tensor<7x16xf32>, %v: tensor<4x7x16xf32>, %b: tensor<2x3x4x9x7xf32>) -> (tensor<6x4x9x16xf32>, tensor<2x3x4x9x16xf32>) {
  %0 = graph.matmul %q, %k {transpose_b = true} : (tensor<6x4x9x16xf32>, tensor<7x16xf32>) -> tensor<6x4x9x7xf32>
  %1 = graph.softmax %0 {axis = 3 : i64} : (tensor<6x4x9x7xf32>) -> tensor<6x4x9x7xf32>
  %2 = graph.matmul %1, %k : (tensor<6x4x9x7xf32>, tensor<7x16xf32>) -> tensor<6x4x9x16xf32>
  %3 = graph.matmul %q, %k {transpose_b = true} : (tensor<6x4x9x16xf32>, tensor<7x16xf32>) -> tensor<6x4x9x7xf32>
  %4 = graph.reshape %3 : (tensor<6x4x9x7xf32>) -> tensor<2x3x4x9x7xf32>
  %5 = graph.add %4, %b : (tensor<2x3x4x9x7xf32>, tensor<2x3x4x9x7xf32>) -> tensor<2x3x4x9x7xf32>
  %6 = graph.softmax %5 {axis = 4 : i64} : (tensor<2x3x4x9x7xf32>) -> tensor<2x3x4x9x7xf32>
  %7 = graph.matmul %6, %v : (tensor<2x3x4x9x7xf32>, tensor<4x7x16xf32>) -> tensor<2x3x4x9x16xf32>
  return %2, %7 : tensor<6x4x9x16xf32>, tensor<2x3x4x9x16xf32>
}

// -----

// If a view merges batch and heads, every fourth one has the same keys, which is not a
// group of adjacent heads.
// CHECK-LABEL: func.func @mixed
// CHECK-NOT: graph.attention
func.func @mixed(%q: tensor<2x4x5x16xf32>, %k: tensor<4x6x16xf32>, %v: tensor<8x6x16xf32>, %b: tensor<8x5x6xf32>) -> tensor<8x5x16xf32> {
  %0 = graph.matmul %q, %k {transpose_b = true} : (tensor<2x4x5x16xf32>, tensor<4x6x16xf32>) -> tensor<2x4x5x6xf32>
  %1 = graph.reshape %0 : (tensor<2x4x5x6xf32>) -> tensor<8x5x6xf32>
  %2 = graph.add %1, %b : (tensor<8x5x6xf32>, tensor<8x5x6xf32>) -> tensor<8x5x6xf32>
  %3 = graph.softmax %2 {axis = 2 : i64} : (tensor<8x5x6xf32>) -> tensor<8x5x6xf32>
  %4 = graph.matmul %3, %v : (tensor<8x5x6xf32>, tensor<8x6x16xf32>) -> tensor<8x5x16xf32>
  return %4 : tensor<8x5x16xf32>
}

// -----

// Before a view, the scores have other dims: the first bias is along the last two of
// three, not the first of two. One along the last dims, which the view keeps, is the same
// in both.
// CHECK-LABEL: func.func @biased
// CHECK: graph.matmul
// CHECK: graph.add
// CHECK: graph.softmax
// CHECK: graph.matmul
// CHECK: graph.attention
func.func @biased(%q: tensor<2x2x2x5x16xf32>, %v: tensor<2x4x5x16xf32>, %b: tensor<2x4x5x5xf32>, %m: tensor<2x1x5x5xf32>, %l: tensor<1x5x5xf32>) -> (tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>) {
  %0 = graph.matmul %q, %q {transpose_b = true} : (tensor<2x2x2x5x16xf32>, tensor<2x2x2x5x16xf32>) -> tensor<2x2x2x5x5xf32>
  %1 = graph.add %0, %m : (tensor<2x2x2x5x5xf32>, tensor<2x1x5x5xf32>) -> tensor<2x2x2x5x5xf32>
  %2 = graph.reshape %1 : (tensor<2x2x2x5x5xf32>) -> tensor<2x4x5x5xf32>
  %3 = graph.add %2, %b : (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %4 = graph.softmax %3 {axis = 3 : i64} : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %5 = graph.matmul %4, %v : (tensor<2x4x5x5xf32>, tensor<2x4x5x16xf32>) -> tensor<2x4x5x16xf32>
  %6 = graph.matmul %q, %q {transpose_b = true} : (tensor<2x2x2x5x16xf32>, tensor<2x2x2x5x16xf32>) -> tensor<2x2x2x5x5xf32>
  %7 = graph.add %6, %l : (tensor<2x2x2x5x5xf32>, tensor<1x5x5xf32>) -> tensor<2x2x2x5x5xf32>
  %8 = graph.reshape %7 : (tensor<2x2x2x5x5xf32>) -> tensor<2x4x5x5xf32>
  %9 = graph.add %8, %b : (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %10 = graph.softmax %9 {axis = 3 : i64} : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %11 = graph.matmul %10, %v : (tensor<2x4x5x5xf32>, tensor<2x4x5x16xf32>) -> tensor<2x4x5x16xf32>
  return %5, %11 : tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>
}

// -----

// Queries that are dropped in the product's dims: attention keeps its dims.
// CHECK-LABEL: func.func @dropped
// CHECK: %[[Y:.*]] = graph.attention {{.*}} -> tensor<8x9x16xf32>
// CHECK: graph.select %{{.*}}, %[[Y]]
func.func @dropped(%q: tensor<2x4x9x16xf32>, %k: tensor<8x7x16xf32>, %c: tensor<8x9x1xi1>) -> tensor<8x9x16xf32> {
  %z = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.reshape %q : (tensor<2x4x9x16xf32>) -> tensor<8x9x16xf32>
  %1 = graph.matmul %0, %k {transpose_b = true} : (tensor<8x9x16xf32>, tensor<8x7x16xf32>) -> tensor<8x9x7xf32>
  %2 = graph.softmax %1 {axis = 2 : i64} : (tensor<8x9x7xf32>) -> tensor<8x9x7xf32>
  %3 = graph.select %c, %2, %z : (tensor<8x9x1xi1>, tensor<8x9x7xf32>, tensor<f32>) -> tensor<8x9x7xf32>
  %4 = graph.matmul %3, %k : (tensor<8x9x7xf32>, tensor<8x7x16xf32>) -> tensor<8x9x16xf32>
  return %4 : tensor<8x9x16xf32>
}

// -----

// Weights that are masked and dropped by one condition, whose dims differ after the view:
// the dropped weights are not the masked ones.
// CHECK-LABEL: func.func @dropped_elsewhere
// CHECK-NOT: graph.attention
func.func @dropped_elsewhere(%q: tensor<2x4x5x16xf32>, %v: tensor<2x2x2x5x16xf32>, %c: tensor<2x1x5x5xi1>) -> tensor<2x2x2x5x16xf32> {
  %z = graph.constant dense<0.0> : tensor<f32>
  %i = graph.constant dense<-1.0e9> : tensor<f32>
  %0 = graph.matmul %q, %q {transpose_b = true} : (tensor<2x4x5x16xf32>, tensor<2x4x5x16xf32>) -> tensor<2x4x5x5xf32>
  %1 = graph.select %c, %0, %i : (tensor<2x1x5x5xi1>, tensor<2x4x5x5xf32>, tensor<f32>) -> tensor<2x4x5x5xf32>
  %2 = graph.softmax %1 {axis = 3 : i64} : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %3 = graph.reshape %2 : (tensor<2x4x5x5xf32>) -> tensor<2x2x2x5x5xf32>
  %4 = graph.select %c, %3, %z : (tensor<2x1x5x5xi1>, tensor<2x2x2x5x5xf32>, tensor<f32>) -> tensor<2x2x2x5x5xf32>
  %5 = graph.matmul %4, %v : (tensor<2x2x2x5x5xf32>, tensor<2x2x2x5x16xf32>) -> tensor<2x2x2x5x16xf32>
  return %5 : tensor<2x2x2x5x16xf32>
}

// -----

// As many dims as the masks, but others: a view of the result.
// CHECK-LABEL: func.func @other_dims
// CHECK: %[[Y:.*]] = graph.attention {{.*}} -> tensor<2x6x5x16xf32>
// CHECK: %[[R:.*]] = graph.reshape %[[Y]] : (tensor<2x6x5x16xf32>) -> tensor<3x4x5x16xf32>
// CHECK: return %[[R]]
func.func @other_dims(%q: tensor<2x6x5x16xf32>, %v: tensor<3x4x5x16xf32>, %b: tensor<2x6x5x5xf32>) -> tensor<3x4x5x16xf32> {
  %0 = graph.matmul %q, %q {transpose_b = true} : (tensor<2x6x5x16xf32>, tensor<2x6x5x16xf32>) -> tensor<2x6x5x5xf32>
  %1 = graph.add %0, %b : (tensor<2x6x5x5xf32>, tensor<2x6x5x5xf32>) -> tensor<2x6x5x5xf32>
  %2 = graph.softmax %1 {axis = 3 : i64} : (tensor<2x6x5x5xf32>) -> tensor<2x6x5x5xf32>
  %3 = graph.reshape %2 : (tensor<2x6x5x5xf32>) -> tensor<3x4x5x5xf32>
  %4 = graph.matmul %3, %v : (tensor<3x4x5x5xf32>, tensor<3x4x5x16xf32>) -> tensor<3x4x5x16xf32>
  return %4 : tensor<3x4x5x16xf32>
}

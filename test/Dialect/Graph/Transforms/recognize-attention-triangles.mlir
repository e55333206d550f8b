// Triangles of dynamic sizes: any arithmetic on positions that is equivalent to j <= i,
// or to the same from the last key back; nothing else.
// RUN: aopt --graph-recognize-attention --split-input-file %s | FileCheck %s

#q = affine_map<()[s0] -> (2, s0, 8)>
#k = affine_map<()[s0, s1] -> (2, s1, 8)>
#s = affine_map<()[s0, s1] -> (2, s0, s1)>
#m = affine_map<()[s0, s1] -> (s0, s1)>
#i = affine_map<()[s0, s1] -> (s0)>
#j = affine_map<()[s0, s1] -> (s1)>
#c = affine_map<()[s0, s1] -> (s0, 1)>
#w = affine_map<()[s0, s1] -> (2, s0, 16)>
#d = affine_map<()[s0, s1] -> (2, s0 * 2, 8)>
#t = affine_map<()[s0, s1] -> (2, s0 * 2, s1)>
#p = affine_map<()[s0, s1] -> (1, s1)>

// not (j > i + 2 - 2), over products and a selection for negative indices.
// CHECK-LABEL: func.func @upper_left
// CHECK: graph.attention {{.*}} {causal = #graph.causal<upper_left>
// CHECK-LABEL: func.func @lower_right
// CHECK: graph.attention {{.*}} {causal = #graph.causal<lower_right>
// CHECK-LABEL: func.func @of_scores
// CHECK-NOT: graph.shape
// CHECK: graph.attention {{.*}} {causal = #graph.causal<upper_left>
// CHECK-LABEL: func.func @counted
// CHECK: %[[SHAPE:.*]] = graph.shape %arg0
// CHECK: graph.slice %[[SHAPE]] {starts = array<i64: 1>
// CHECK: graph.attention {{.*}} mask
// CHECK-LABEL: func.func @of_no_input
// CHECK: graph.shape %{{[0-9]}}
// CHECK-NOT: graph.attention
// CHECK: graph.softmax
// CHECK-LABEL: func.func @others
// CHECK: graph.attention {{.*}} mask %{{.*}} {fill
// CHECK-NOT: causal
// CHECK: return
func.func @upper_left(%q: tensor<2x?x8xf32, #q>, %k: tensor<2x?x8xf32, #k>, %v: tensor<2x?x8xf32, #k>, %n: tensor<i64>) -> tensor<2x?x8xf32, #q> attributes {graph.symbols = ["n", "m"]} {
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %two = graph.constant dense<2> : tensor<i64>
  %hidden = graph.constant dense<-1.0e38> : tensor<f32>
  %r = graph.range %two, %n, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #i>
  %col = graph.reshape %r : (tensor<?xi64, #i>) -> tensor<?x1xi64, #c>
  %i = graph.sub %col, %two : (tensor<?x1xi64, #c>, tensor<i64>) -> tensor<?x1xi64, #c>
  %j = graph.range %zero, %n, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #j>
  %below = graph.less %j, %zero : (tensor<?xi64, #j>, tensor<i64>) -> tensor<?xi1, #j>
  %back = graph.add %j, %n : (tensor<?xi64, #j>, tensor<i64>) -> tensor<?xi64, #j>
  %at = graph.select %below, %back, %j : (tensor<?xi1, #j>, tensor<?xi64, #j>, tensor<?xi64, #j>) -> tensor<?xi64, #j>
  %hide = graph.greater %at, %i : (tensor<?xi64, #j>, tensor<?x1xi64, #c>) -> tensor<?x?xi1, #m>
  %kt = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<2x?x8xf32, #k>) -> tensor<2x8x?xf32, affine_map<()[s0, s1] -> (2, 8, s1)>>
  %0 = graph.matmul %q, %kt : (tensor<2x?x8xf32, #q>, tensor<2x8x?xf32, affine_map<()[s0, s1] -> (2, 8, s1)>>) -> tensor<2x?x?xf32, #s>
  %1 = graph.select %hide, %hidden, %0 : (tensor<?x?xi1, #m>, tensor<f32>, tensor<2x?x?xf32, #s>) -> tensor<2x?x?xf32, #s>
  %2 = graph.softmax %1 {axis = 2 : i64} : (tensor<2x?x?xf32, #s>) -> tensor<2x?x?xf32, #s>
  %3 = graph.matmul %2, %v : (tensor<2x?x?xf32, #s>, tensor<2x?x8xf32, #k>) -> tensor<2x?x8xf32, #q>
  return %3 : tensor<2x?x8xf32, #q>
}

// Queries begin where the past keys end: i + m - n >= j.
func.func @lower_right(%q: tensor<2x?x8xf32, #q>, %k: tensor<2x?x8xf32, #k>, %v: tensor<2x?x8xf32, #k>, %n: tensor<i64>) -> tensor<2x?x8xf32, #q> attributes {graph.symbols = ["n", "m"]} {
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %hidden = graph.constant dense<-1.0e38> : tensor<f32>
  %qs = graph.shape %q : (tensor<2x?x8xf32, #q>) -> tensor<3xi64>
  %ks = graph.shape %k : (tensor<2x?x8xf32, #k>) -> tensor<3xi64>
  %rows = graph.gather %qs, %one : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %keys = graph.gather %ks, %one : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %past = graph.sub %keys, %rows : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %r = graph.range %past, %keys, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #i>
  %i = graph.reshape %r : (tensor<?xi64, #i>) -> tensor<?x1xi64, #c>
  %j = graph.range %zero, %n, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #j>
  %show = graph.greater_equal %i, %j : (tensor<?x1xi64, #c>, tensor<?xi64, #j>) -> tensor<?x?xi1, #m>
  %kt = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<2x?x8xf32, #k>) -> tensor<2x8x?xf32, affine_map<()[s0, s1] -> (2, 8, s1)>>
  %0 = graph.matmul %q, %kt : (tensor<2x?x8xf32, #q>, tensor<2x8x?xf32, affine_map<()[s0, s1] -> (2, 8, s1)>>) -> tensor<2x?x?xf32, #s>
  %1 = graph.select %show, %0, %hidden : (tensor<?x?xi1, #m>, tensor<2x?x?xf32, #s>, tensor<f32>) -> tensor<2x?x?xf32, #s>
  %2 = graph.softmax %1 {axis = 2 : i64} : (tensor<2x?x?xf32, #s>) -> tensor<2x?x?xf32, #s>
  %3 = graph.matmul %2, %v : (tensor<2x?x?xf32, #s>, tensor<2x?x8xf32, #k>) -> tensor<2x?x8xf32, #q>
  return %3 : tensor<2x?x8xf32, #q>
}

// Ranges that end with the shape of the scores: their types have the length, and the
// scores have no other users.
func.func @of_scores(%q: tensor<2x?x8xf32, #q>, %kt: tensor<2x8x?xf32, affine_map<()[s0, s1] -> (2, 8, s1)>>, %v: tensor<2x?x8xf32, #k>, %i: tensor<?x1xi64, #c>) -> tensor<2x?x8xf32, #q> attributes {graph.symbols = ["n", "m"]} {
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %two = graph.constant dense<2> : tensor<i64>
  %hidden = graph.constant dense<-1.0e38> : tensor<f32>
  %0 = graph.matmul %q, %kt : (tensor<2x?x8xf32, #q>, tensor<2x8x?xf32, affine_map<()[s0, s1] -> (2, 8, s1)>>) -> tensor<2x?x?xf32, #s>
  %sizes = graph.shape %0 : (tensor<2x?x?xf32, #s>) -> tensor<3xi64>
  %rows = graph.gather %sizes, %one : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %keys = graph.gather %sizes, %two : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %r = graph.range %zero, %rows, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #i>
  %col = graph.reshape %r : (tensor<?xi64, #i>) -> tensor<?x1xi64, #c>
  %j = graph.range %zero, %keys, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #j>
  %hide = graph.greater %j, %col : (tensor<?xi64, #j>, tensor<?x1xi64, #c>) -> tensor<?x?xi1, #m>
  %1 = graph.select %hide, %hidden, %0 : (tensor<?x?xi1, #m>, tensor<f32>, tensor<2x?x?xf32, #s>) -> tensor<2x?x?xf32, #s>
  %2 = graph.softmax %1 {axis = 2 : i64} : (tensor<2x?x?xf32, #s>) -> tensor<2x?x?xf32, #s>
  %3 = graph.matmul %2, %v : (tensor<2x?x?xf32, #s>, tensor<2x?x8xf32, #k>) -> tensor<2x?x8xf32, #q>
  return %3 : tensor<2x?x8xf32, #q>
}

// Other users of a size of the scores read it from an input.
func.func @counted(%q: tensor<2x?x8xf32, #q>, %kt: tensor<2x8x?xf32, affine_map<()[s0, s1] -> (2, 8, s1)>>, %v: tensor<2x?x8xf32, #k>, %i: tensor<?x1xi64, #c>) -> tensor<2x?x8xf32, #q> attributes {graph.symbols = ["n", "m"]} {
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %two = graph.constant dense<2> : tensor<i64>
  %hidden = graph.constant dense<-1.0e38> : tensor<f32>
  %0 = graph.matmul %q, %kt : (tensor<2x?x8xf32, #q>, tensor<2x8x?xf32, affine_map<()[s0, s1] -> (2, 8, s1)>>) -> tensor<2x?x?xf32, #s>
  %sizes = graph.shape %0 : (tensor<2x?x?xf32, #s>) -> tensor<3xi64>
  %rows = graph.gather %sizes, %one : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %keys = graph.gather %sizes, %two : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %col = graph.add %i, %rows : (tensor<?x1xi64, #c>, tensor<i64>) -> tensor<?x1xi64, #c>
  %j = graph.range %zero, %keys, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #j>
  %hide = graph.greater %j, %col : (tensor<?xi64, #j>, tensor<?x1xi64, #c>) -> tensor<?x?xi1, #m>
  %1 = graph.select %hide, %hidden, %0 : (tensor<?x?xi1, #m>, tensor<f32>, tensor<2x?x?xf32, #s>) -> tensor<2x?x?xf32, #s>
  %2 = graph.softmax %1 {axis = 2 : i64} : (tensor<2x?x?xf32, #s>) -> tensor<2x?x?xf32, #s>
  %3 = graph.matmul %2, %v : (tensor<2x?x?xf32, #s>, tensor<2x?x8xf32, #k>) -> tensor<2x?x8xf32, #q>
  return %3 : tensor<2x?x8xf32, #q>
}

// No input has twice the rows.
func.func @of_no_input(%q: tensor<2x?x16xf32, #w>, %kt: tensor<2x8x?xf32, affine_map<()[s0, s1] -> (2, 8, s1)>>, %v: tensor<2x?x8xf32, #k>, %i: tensor<1x1xi64>) -> tensor<2x?x8xf32, #d> attributes {graph.symbols = ["n", "m"]} {
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %two = graph.constant dense<2> : tensor<i64>
  %hidden = graph.constant dense<-1.0e38> : tensor<f32>
  %q2 = graph.reshape %q : (tensor<2x?x16xf32, #w>) -> tensor<2x?x8xf32, #d>
  %0 = graph.matmul %q2, %kt : (tensor<2x?x8xf32, #d>, tensor<2x8x?xf32, affine_map<()[s0, s1] -> (2, 8, s1)>>) -> tensor<2x?x?xf32, #t>
  %sizes = graph.shape %0 : (tensor<2x?x?xf32, #t>) -> tensor<3xi64>
  %rows = graph.gather %sizes, %one : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %keys = graph.gather %sizes, %two : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %col = graph.add %i, %rows : (tensor<1x1xi64>, tensor<i64>) -> tensor<1x1xi64>
  %j = graph.range %zero, %keys, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #j>
  %hide = graph.greater %j, %col : (tensor<?xi64, #j>, tensor<1x1xi64>) -> tensor<1x?xi1, #p>
  %1 = graph.select %hide, %hidden, %0 : (tensor<1x?xi1, #p>, tensor<f32>, tensor<2x?x?xf32, #t>) -> tensor<2x?x?xf32, #t>
  %2 = graph.softmax %1 {axis = 2 : i64} : (tensor<2x?x?xf32, #t>) -> tensor<2x?x?xf32, #t>
  %3 = graph.matmul %2, %v : (tensor<2x?x?xf32, #t>, tensor<2x?x8xf32, #k>) -> tensor<2x?x8xf32, #d>
  return %3 : tensor<2x?x8xf32, #d>
}

// Two diagonals at once (2 i >= j), one diagonal further (i + 1 >= j), and keys j <= 0
// for all queries, which is one row of a triangle.
func.func @others(%q: tensor<2x?x8xf32, #q>, %k: tensor<2x?x8xf32, #k>, %v: tensor<2x?x8xf32, #k>, %n: tensor<i64>) -> tensor<2x?x8xf32, #q> attributes {graph.symbols = ["n", "m"]} {
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %two = graph.constant dense<2> : tensor<i64>
  %true = graph.constant dense<true> : tensor<1x1xi1>
  %hidden = graph.constant dense<-1.0e38> : tensor<f32>
  %r = graph.range %zero, %n, %two : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #i>
  %i2 = graph.reshape %r : (tensor<?xi64, #i>) -> tensor<?x1xi64, #c>
  %r1 = graph.range %one, %n, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #i>
  %i1 = graph.reshape %r1 : (tensor<?xi64, #i>) -> tensor<?x1xi64, #c>
  %j = graph.range %zero, %n, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #j>
  %show2 = graph.greater_equal %i2, %j : (tensor<?x1xi64, #c>, tensor<?xi64, #j>) -> tensor<?x?xi1, #m>
  %show1 = graph.greater_equal %i1, %j : (tensor<?x1xi64, #c>, tensor<?xi64, #j>) -> tensor<?x?xi1, #m>
  %row = graph.broadcast_to %true : (tensor<1x1xi1>) -> tensor<1x?xi1, affine_map<()[s0, s1] -> (1, s1)>>
  %first = graph.trilu %row {upper = false} : (tensor<1x?xi1, affine_map<()[s0, s1] -> (1, s1)>>) -> tensor<1x?xi1, affine_map<()[s0, s1] -> (1, s1)>>
  %and = graph.and %show1, %show2 : (tensor<?x?xi1, #m>, tensor<?x?xi1, #m>) -> tensor<?x?xi1, #m>
  %show = graph.and %and, %first : (tensor<?x?xi1, #m>, tensor<1x?xi1, affine_map<()[s0, s1] -> (1, s1)>>) -> tensor<?x?xi1, #m>
  %kt = graph.transpose %k {perm = array<i64: 0, 2, 1>} : (tensor<2x?x8xf32, #k>) -> tensor<2x8x?xf32, affine_map<()[s0, s1] -> (2, 8, s1)>>
  %0 = graph.matmul %q, %kt : (tensor<2x?x8xf32, #q>, tensor<2x8x?xf32, affine_map<()[s0, s1] -> (2, 8, s1)>>) -> tensor<2x?x?xf32, #s>
  %1 = graph.select %show, %0, %hidden : (tensor<?x?xi1, #m>, tensor<2x?x?xf32, #s>, tensor<f32>) -> tensor<2x?x?xf32, #s>
  %2 = graph.softmax %1 {axis = 2 : i64} : (tensor<2x?x?xf32, #s>) -> tensor<2x?x?xf32, #s>
  %3 = graph.matmul %2, %v : (tensor<2x?x?xf32, #s>, tensor<2x?x8xf32, #k>) -> tensor<2x?x8xf32, #q>
  return %3 : tensor<2x?x8xf32, #q>
}

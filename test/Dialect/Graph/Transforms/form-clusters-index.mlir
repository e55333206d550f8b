// Index-only values are computed by each kernel that reads them; the end of a range,
// which is in its type, by none.
// RUN: aopt --graph-form-clusters --split-input-file %s | FileCheck %s

#n = affine_map<()[s0] -> (s0)>
#nn = affine_map<()[s0] -> (s0, s0)>
#r = affine_map<()[s0] -> (s0, 1)>
#b = affine_map<()[s0] -> (4, s0, s0)>

// Both users have the mask; no kernel computes the shape for the end of the range.
// CHECK-LABEL: func.func @readers
// CHECK-NOT: graph.shape
// CHECK: graph.cluster({{.*}}) anchor "softmax"
// CHECK: graph.range
// CHECK: graph.less_equal
// CHECK: graph.softmax
// CHECK: graph.cluster({{.*}}) anchor "pointwise"
// CHECK: graph.range
// CHECK: graph.less_equal
// CHECK: graph.select
// CHECK-NOT: graph.cluster
// CHECK: return
func.func @readers(%x: tensor<4x?x?xf32, #b>) -> (tensor<4x?x?xf32, #b>, tensor<4x?x?xf32, #b>) attributes {graph.symbols = ["n"]} {
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %hidden = graph.constant dense<-1.0e38> : tensor<f32>
  %shape = graph.shape %x : (tensor<4x?x?xf32, #b>) -> tensor<3xi64>
  %end = graph.gather %shape, %one : (tensor<3xi64>, tensor<i64>) -> tensor<i64>
  %j = graph.range %zero, %end, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #n>
  %i = graph.reshape %j : (tensor<?xi64, #n>) -> tensor<?x1xi64, #r>
  %m = graph.less_equal %j, %i : (tensor<?xi64, #n>, tensor<?x1xi64, #r>) -> tensor<?x?xi1, #nn>
  %0 = graph.select %m, %x, %hidden : (tensor<?x?xi1, #nn>, tensor<4x?x?xf32, #b>, tensor<f32>) -> tensor<4x?x?xf32, #b>
  %1 = graph.softmax %0 {axis = 2 : i64} : (tensor<4x?x?xf32, #b>) -> tensor<4x?x?xf32, #b>
  %2 = graph.transpose %1 {perm = array<i64: 0, 2, 1>} : (tensor<4x?x?xf32, #b>) -> tensor<4x?x?xf32, #b>
  %3 = graph.select %m, %2, %hidden : (tensor<?x?xi1, #nn>, tensor<4x?x?xf32, #b>, tensor<f32>) -> tensor<4x?x?xf32, #b>
  return %1, %3 : tensor<4x?x?xf32, #b>, tensor<4x?x?xf32, #b>
}

// -----

#n = affine_map<()[s0] -> (s0)>
#nn = affine_map<()[s0] -> (s0, s0)>

// A result is in memory, and a product reads memory: one kernel computes it for both. The
// triangle of a tensor is not index-only, but fused with its users.
// CHECK-LABEL: func.func @memory
// CHECK: %[[M:.*]] = graph.cluster() anchor "pointwise" : () -> tensor<?x?xf32
// CHECK: graph.trilu
// CHECK: graph.cluster({{.*}} = %[[M]]{{.*}}) anchor "matmul"
// CHECK-NOT: graph.trilu
// CHECK: graph.cluster({{.*}}) anchor "pointwise"
// CHECK: graph.trilu
// CHECK: graph.exp
// CHECK: return %[[M]]
func.func @memory(%x: tensor<?x?xf32, #nn>) -> (tensor<?x?xf32, #nn>, tensor<?x?xf32, #nn>, tensor<?x?xf32, #nn>) attributes {graph.symbols = ["n"]} {
  %one = graph.constant dense<1.0> : tensor<1x1xf32>
  %ones = graph.broadcast_to %one : (tensor<1x1xf32>) -> tensor<?x?xf32, #nn>
  %m = graph.trilu %ones {upper = false} : (tensor<?x?xf32, #nn>) -> tensor<?x?xf32, #nn>
  %0 = graph.matmul %x, %m : (tensor<?x?xf32, #nn>, tensor<?x?xf32, #nn>) -> tensor<?x?xf32, #nn>
  %1 = graph.trilu %x {upper = true} : (tensor<?x?xf32, #nn>) -> tensor<?x?xf32, #nn>
  %2 = graph.exp %1 : (tensor<?x?xf32, #nn>) -> tensor<?x?xf32, #nn>
  return %m, %0, %2 : tensor<?x?xf32, #nn>, tensor<?x?xf32, #nn>, tensor<?x?xf32, #nn>
}

// -----

#n = affine_map<()[s0] -> (s0)>
#b = affine_map<()[s0] -> (4, s0, 8)>
#s = affine_map<()[s0] -> (4, s0, s0)>

// Likewise values of the sizes of an input, but not of the sizes of a computed tensor.
// CHECK-LABEL: func.func @sizes
// CHECK: %[[S:.*]]:2 = graph.cluster({{.*}}) anchor "matmul"
// CHECK: graph.range
// CHECK: graph.shape
// CHECK: graph.add
// CHECK: graph.cluster({{.*}} = %[[S]]#0) anchor "pointwise" : {{.*}} -> tensor<3xi64>
// CHECK-NOT: graph.shape %arg0
// CHECK: graph.cluster({{.*}}) anchor "softmax"
func.func @sizes(%x: tensor<4x?x8xf32, #b>) -> (tensor<4x?x?xf32, #s>, tensor<4x?x?xf32, #s>) attributes {graph.symbols = ["n"]} {
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %y = graph.matmul %x, %x {transpose_b = true} : (tensor<4x?x8xf32, #b>, tensor<4x?x8xf32, #b>) -> tensor<4x?x?xf32, #s>
  %j = graph.range %zero, %zero, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #n>
  %shape = graph.shape %x : (tensor<4x?x8xf32, #b>) -> tensor<3xi64>
  %n1 = graph.slice %shape {starts = array<i64: 1>, steps = array<i64: 1>} : (tensor<3xi64>) -> tensor<1xi64>
  %d = graph.sub %j, %n1 : (tensor<?xi64, #n>, tensor<1xi64>) -> tensor<?xi64, #n>
  %f = graph.cast %d : (tensor<?xi64, #n>) -> tensor<?xf32, #n>
  %0 = graph.add %y, %f : (tensor<4x?x?xf32, #s>, tensor<?xf32, #n>) -> tensor<4x?x?xf32, #s>
  %1 = graph.softmax %0 {axis = 2 : i64} : (tensor<4x?x?xf32, #s>) -> tensor<4x?x?xf32, #s>
  %made = graph.shape %y : (tensor<4x?x?xf32, #s>) -> tensor<3xi64>
  %n2 = graph.slice %made {starts = array<i64: 2>, steps = array<i64: 1>} : (tensor<3xi64>) -> tensor<1xi64>
  %e = graph.sub %j, %n2 : (tensor<?xi64, #n>, tensor<1xi64>) -> tensor<?xi64, #n>
  %g = graph.cast %e : (tensor<?xi64, #n>) -> tensor<?xf32, #n>
  %2 = graph.mul %1, %g : (tensor<4x?x?xf32, #s>, tensor<?xf32, #n>) -> tensor<4x?x?xf32, #s>
  %3 = graph.softmax %2 {axis = 1 : i64} : (tensor<4x?x?xf32, #s>) -> tensor<4x?x?xf32, #s>
  return %1, %3 : tensor<4x?x?xf32, #s>, tensor<4x?x?xf32, #s>
}

// -----

#p = affine_map<()[s0, s1] -> (s0, 1)>
#m = affine_map<()[s0, s1] -> (s1)>
#pm = affine_map<()[s0, s1] -> (s0, s1)>

// A mask that compares positions with a smaller tensor is computed by its users, which
// read that tensor. One that compares tensors of its own size is stored once.
// CHECK-LABEL: func.func @mask
// CHECK: %[[WIDE:.*]] = graph.cluster({{.*}}) anchor "pointwise" : (tensor<?x?xf32, #{{.*}}>) -> tensor<?x?xi1
// CHECK: graph.less
// CHECK: graph.cluster({{.*}} = %arg1, {{.*}} = %[[WIDE]]) anchor "softmax" : (tensor<?x1xi64
// CHECK: graph.range
// CHECK-NEXT: graph.less_equal
// CHECK: graph.softmax
// CHECK: graph.range
// CHECK-NEXT: graph.less_equal
// CHECK: graph.yield
// CHECK: graph.cluster({{.*}} = %[[WIDE]]) anchor "softmax"
// CHECK-NOT: graph.less
func.func @mask(%x: tensor<?x?xf32, #pm>, %at: tensor<?x1xi64, #p>) -> (tensor<?x?xf32, #pm>, tensor<?x?xf32, #pm>) attributes {graph.symbols = ["n", "m"]} {
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %hidden = graph.constant dense<-1.0e38> : tensor<f32>
  %j = graph.range %zero, %zero, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #m>
  %seen = graph.less_equal %j, %at : (tensor<?xi64, #m>, tensor<?x1xi64, #p>) -> tensor<?x?xi1, #pm>
  %wide = graph.less %x, %hidden : (tensor<?x?xf32, #pm>, tensor<f32>) -> tensor<?x?xi1, #pm>
  %0 = graph.select %seen, %x, %hidden : (tensor<?x?xi1, #pm>, tensor<?x?xf32, #pm>, tensor<f32>) -> tensor<?x?xf32, #pm>
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<?x?xf32, #pm>) -> tensor<?x?xf32, #pm>
  %2 = graph.select %seen, %1, %hidden : (tensor<?x?xi1, #pm>, tensor<?x?xf32, #pm>, tensor<f32>) -> tensor<?x?xf32, #pm>
  %3 = graph.select %wide, %2, %hidden : (tensor<?x?xi1, #pm>, tensor<?x?xf32, #pm>, tensor<f32>) -> tensor<?x?xf32, #pm>
  %4 = graph.softmax %3 {axis = 1 : i64} : (tensor<?x?xf32, #pm>) -> tensor<?x?xf32, #pm>
  %5 = graph.select %wide, %4, %hidden : (tensor<?x?xi1, #pm>, tensor<?x?xf32, #pm>, tensor<f32>) -> tensor<?x?xf32, #pm>
  %6 = graph.softmax %5 {axis = 1 : i64} : (tensor<?x?xf32, #pm>) -> tensor<?x?xf32, #pm>
  return %4, %6 : tensor<?x?xf32, #pm>, tensor<?x?xf32, #pm>
}

// RUN: aopt %s --graph-recognize-normalization --canonicalize --split-input-file | FileCheck %s

// The usual form of layer normalisation; sizes are symbols.
#x = affine_map<()[s0] -> (s0, 4, 8)>
#m = affine_map<()[s0] -> (s0, 4, 1)>
// CHECK-LABEL: func.func @layer_norm
// CHECK: %[[Y:.*]] = graph.layer_norm %arg0 scale %arg1 bias %arg2 {axis = 2 : i64, epsilon = {{.*}} : f64}
// CHECK-NEXT: return %[[Y]]
func.func @layer_norm(%x: tensor<?x4x8xf32, #x>, %s: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<?x4x8xf32, #x> {
  %two = graph.constant dense<2.0> : tensor<f32>
  %eps = graph.constant dense<1.0e-5> : tensor<f32>
  %0 = graph.reduce_mean %x {axes = array<i64: 2>, keepdims = true} : (tensor<?x4x8xf32, #x>) -> tensor<?x4x1xf32, #m>
  %1 = graph.sub %x, %0 : (tensor<?x4x8xf32, #x>, tensor<?x4x1xf32, #m>) -> tensor<?x4x8xf32, #x>
  %2 = graph.pow %1, %two : (tensor<?x4x8xf32, #x>, tensor<f32>) -> tensor<?x4x8xf32, #x>
  %3 = graph.reduce_mean %2 {axes = array<i64: 2>, keepdims = true} : (tensor<?x4x8xf32, #x>) -> tensor<?x4x1xf32, #m>
  %4 = graph.add %3, %eps : (tensor<?x4x1xf32, #m>, tensor<f32>) -> tensor<?x4x1xf32, #m>
  %5 = graph.sqrt %4 : (tensor<?x4x1xf32, #m>) -> tensor<?x4x1xf32, #m>
  %6 = graph.div %1, %5 : (tensor<?x4x8xf32, #x>, tensor<?x4x1xf32, #m>) -> tensor<?x4x8xf32, #x>
  %7 = graph.mul %6, %s : (tensor<?x4x8xf32, #x>, tensor<8xf32>) -> tensor<?x4x8xf32, #x>
  %8 = graph.add %b, %7 : (tensor<8xf32>, tensor<?x4x8xf32, #x>) -> tensor<?x4x8xf32, #x>
  return %8 : tensor<?x4x8xf32, #x>
}

// -----

// By a reciprocal, and by a power, of two dims at once.
// CHECK-LABEL: func.func @rms_norm
// CHECK: graph.rms_norm %arg0, %arg1 {axis = 1 : i64, epsilon = {{.*}} : f64}
// CHECK: graph.rms_norm %arg0 {axis = 0 : i64
func.func @rms_norm(%x: tensor<4x8xf32>, %s: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %eps = graph.constant dense<1.0e-6> : tensor<f32>
  %root = graph.constant dense<-0.5> : tensor<f32>
  %0 = graph.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = graph.reduce_mean %0 {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %2 = graph.add %1, %eps : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %3 = graph.sqrt %2 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %4 = graph.reciprocal %3 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %5 = graph.mul %x, %4 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %6 = graph.mul %s, %5 : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = graph.reduce_mean %0 {axes = array<i64: 0, 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<1x1xf32>
  %8 = graph.pow %7, %root : (tensor<1x1xf32>, tensor<f32>) -> tensor<1x1xf32>
  %9 = graph.mul %8, %x : (tensor<1x1xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %6, %9 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @softmax
// CHECK: graph.softmax %arg0 {axis = 1 : i64}
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.reduce_max %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %1 = graph.sub %x, %0 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %2 = graph.exp %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = graph.reduce_sum %2 {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %4 = graph.div %2, %3 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// -----

// Without a maximum, or with one along another dim, if a product uses it; rows are
// symbols.
#x = affine_map<()[s0] -> (s0, 8)>
#r = affine_map<()[s0] -> (s0, 1)>
// CHECK-LABEL: func.func @plain_softmax
// CHECK: graph.softmax %arg0 {axis = 1 : i64}
// CHECK: %[[E:.*]] = graph.sub
// CHECK: graph.softmax %[[E]] {axis = 1 : i64}
func.func @plain_softmax(%x: tensor<?x8xf32, #x>, %v: tensor<8x8xf32>) -> (tensor<?x8xf32, #x>, tensor<?x8xf32, #x>) attributes {graph.symbols = ["n"]} {
  %0 = graph.exp %x : (tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  %1 = graph.reduce_sum %0 {axes = array<i64: 1>, keepdims = true} : (tensor<?x8xf32, #x>) -> tensor<?x1xf32, #r>
  %2 = graph.div %0, %1 : (tensor<?x8xf32, #x>, tensor<?x1xf32, #r>) -> tensor<?x8xf32, #x>
  %3 = graph.matmul %2, %v : (tensor<?x8xf32, #x>, tensor<8x8xf32>) -> tensor<?x8xf32, #x>
  %4 = graph.reduce_max %x {axes = array<i64: 0>, keepdims = true} : (tensor<?x8xf32, #x>) -> tensor<1x8xf32>
  %5 = graph.sub %x, %4 : (tensor<?x8xf32, #x>, tensor<1x8xf32>) -> tensor<?x8xf32, #x>
  %6 = graph.exp %5 : (tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  %7 = graph.reduce_sum %6 {axes = array<i64: 1>, keepdims = true} : (tensor<?x8xf32, #x>) -> tensor<?x1xf32, #r>
  %8 = graph.div %6, %7 : (tensor<?x8xf32, #x>, tensor<?x1xf32, #r>) -> tensor<?x8xf32, #x>
  %9 = graph.matmul %8, %v : (tensor<?x8xf32, #x>, tensor<8x8xf32>) -> tensor<?x8xf32, #x>
  return %3, %9 : tensor<?x8xf32, #x>, tensor<?x8xf32, #x>
}

// -----

// No product uses it: the exponentials stay.
// CHECK-LABEL: func.func @plain_powers
// CHECK-NOT: graph.softmax
// CHECK: return
func.func @plain_powers(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = graph.reduce_sum %0 {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %2 = graph.div %0, %1 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// Instance and group normalisation are layer normalisations of a view.
// CHECK-LABEL: func.func @instance
// CHECK-DAG: %[[S:.*]] = graph.reshape %arg1 : (tensor<4xf32>) -> tensor<4x1x1xf32>
// CHECK: graph.layer_norm %arg0 scale %[[S]] bias %{{.*}} {axis = 2 : i64
// CHECK: %[[V:.*]] = graph.reshape %arg0 : (tensor<2x4x3x3xf32>) -> tensor<2x2x2x3x3xf32>
// CHECK: graph.layer_norm %[[V]] scale %{{.*}} bias %{{.*}} {axis = 2 : i64} : (tensor<2x2x2x3x3xf32>, tensor<2x2x1x1xf32>, tensor<2x2x1x1xf32>)
func.func @instance(%x: tensor<2x4x3x3xf32>, %s: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<2x4x3x3xf32>, tensor<2x4x3x3xf32>) {
  %0 = graph.instance_norm %x, %s, %b : (tensor<2x4x3x3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3x3xf32>
  %1 = graph.group_norm %x, %s, %b {groups = 2 : i64} : (tensor<2x4x3x3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3x3xf32>
  return %0, %1 : tensor<2x4x3x3xf32>, tensor<2x4x3x3xf32>
}

// -----

// The deviation of another value; a scale as large as the input; powers with other
// exponents than the summed ones.
// CHECK-LABEL: func.func @others
// CHECK-NOT: graph.layer_norm
// CHECK-NOT: graph.rms_norm %{{.*}}, %
// CHECK-NOT: graph.softmax
func.func @others(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = graph.mul %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = graph.reduce_mean %0 {axes = array<i64: 1>, keepdims = true} : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %2 = graph.sqrt %1 : (tensor<8x1xf32>) -> tensor<8x1xf32>
  %3 = graph.div %y, %2 : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %4 = graph.div %x, %2 : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %5 = graph.mul %4, %y : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %6 = graph.reduce_max %x {axes = array<i64: 1>, keepdims = true} : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %7 = graph.sub %x, %6 : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  %8 = graph.exp %7 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %9 = graph.exp %y : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %10 = graph.reduce_sum %9 {axes = array<i64: 1>, keepdims = true} : (tensor<8x8xf32>) -> tensor<8x1xf32>
  %11 = graph.div %8, %10 : (tensor<8x8xf32>, tensor<8x1xf32>) -> tensor<8x8xf32>
  return %3, %5, %11 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Means as scaled sums, unit dims that are added back, the scale in the numerator or
// beside the inverse; rows are symbols.
#x = affine_map<()[s0] -> (s0, 8)>
#r = affine_map<()[s0] -> (s0, 1)>
#v = affine_map<()[s0] -> (s0)>
// CHECK-LABEL: func.func @spellings
// CHECK: %[[L:.*]] = graph.layer_norm %arg0 scale %arg1 {axis = 1 : i64
// CHECK: %[[R:.*]] = graph.rms_norm %arg0, %arg1
// CHECK: return %[[L]], %[[R]]
func.func @spellings(%x: tensor<?x8xf32, #x>, %s: tensor<8xf32>) -> (tensor<?x8xf32, #x>, tensor<?x8xf32, #x>) {
  %eight = graph.constant dense<8.0> : tensor<f32>
  %eps = graph.constant dense<1.0e-5> : tensor<f32>
  %0 = graph.reduce_sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<?x8xf32, #x>) -> tensor<?xf32, #v>
  %1 = graph.reshape %0 : (tensor<?xf32, #v>) -> tensor<?x1xf32, #r>
  %2 = graph.div %1, %eight : (tensor<?x1xf32, #r>, tensor<f32>) -> tensor<?x1xf32, #r>
  %3 = graph.sub %x, %2 : (tensor<?x8xf32, #x>, tensor<?x1xf32, #r>) -> tensor<?x8xf32, #x>
  %4 = graph.mul %3, %3 : (tensor<?x8xf32, #x>, tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  %5 = graph.reduce_mean %4 {axes = array<i64: 1>} : (tensor<?x8xf32, #x>) -> tensor<?x1xf32, #r>
  %6 = graph.add %5, %eps : (tensor<?x1xf32, #r>, tensor<f32>) -> tensor<?x1xf32, #r>
  %7 = graph.sqrt %6 : (tensor<?x1xf32, #r>) -> tensor<?x1xf32, #r>
  %8 = graph.mul %3, %s : (tensor<?x8xf32, #x>, tensor<8xf32>) -> tensor<?x8xf32, #x>
  %9 = graph.div %8, %7 : (tensor<?x8xf32, #x>, tensor<?x1xf32, #r>) -> tensor<?x8xf32, #x>
  %10 = graph.mul %x, %x : (tensor<?x8xf32, #x>, tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  %11 = graph.reduce_mean %10 {axes = array<i64: 1>} : (tensor<?x8xf32, #x>) -> tensor<?x1xf32, #r>
  %12 = graph.add %11, %eps : (tensor<?x1xf32, #r>, tensor<f32>) -> tensor<?x1xf32, #r>
  %13 = graph.sqrt %12 : (tensor<?x1xf32, #r>) -> tensor<?x1xf32, #r>
  %14 = graph.reciprocal %13 : (tensor<?x1xf32, #r>) -> tensor<?x1xf32, #r>
  %15 = graph.mul %14, %s : (tensor<?x1xf32, #r>, tensor<8xf32>) -> tensor<?x8xf32, #x>
  %16 = graph.mul %x, %15 : (tensor<?x8xf32, #x>, tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  return %9, %16 : tensor<?x8xf32, #x>, tensor<?x8xf32, #x>
}

// -----

// Groups of channels as exporters write them: instances of a view, then factors and
// summands of the channels.
#x = affine_map<()[s0] -> (s0, 8, 3, 3)>
#v = affine_map<()[s0] -> (s0, 2, 36)>
// CHECK-LABEL: func.func @groups
// CHECK-DAG: %[[X:.*]] = graph.reshape %arg0 : {{.*}} -> tensor<?x2x4x3x3xf32
// CHECK-DAG: %[[S:.*]] = graph.reshape %arg1 : (tensor<8x1x1xf32>) -> tensor<2x4x1x1xf32>
// CHECK-DAG: %[[B:.*]] = graph.reshape %arg2 : (tensor<1x8x1x1xf32>) -> tensor<2x4x1x1xf32>
// CHECK: %[[N:.*]] = graph.layer_norm %[[X]] scale %[[S]] bias %[[B]] {axis = 2 : i64
// CHECK: %[[Y:.*]] = graph.reshape %[[N]]
// CHECK: return %[[Y]]
func.func @groups(%x: tensor<?x8x3x3xf32, #x>, %s: tensor<8x1x1xf32>, %b: tensor<1x8x1x1xf32>) -> tensor<?x8x3x3xf32, #x> {
  %one = graph.constant dense<1.0> : tensor<2xf32>
  %zero = graph.constant dense<0.0> : tensor<2xf32>
  %0 = graph.reshape %x : (tensor<?x8x3x3xf32, #x>) -> tensor<?x2x36xf32, #v>
  %1 = graph.instance_norm %0, %one, %zero : (tensor<?x2x36xf32, #v>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2x36xf32, #v>
  %2 = graph.reshape %1 : (tensor<?x2x36xf32, #v>) -> tensor<?x8x3x3xf32, #x>
  %3 = graph.mul %2, %s : (tensor<?x8x3x3xf32, #x>, tensor<8x1x1xf32>) -> tensor<?x8x3x3xf32, #x>
  %4 = graph.add %3, %b : (tensor<?x8x3x3xf32, #x>, tensor<1x8x1x1xf32>) -> tensor<?x8x3x3xf32, #x>
  return %4 : tensor<?x8x3x3xf32, #x>
}

// -----

// Factors of other dims, and a scaled sum that is not a mean, stay.
// CHECK-LABEL: func.func @stays
// CHECK: graph.layer_norm
// CHECK: graph.mul
// CHECK: graph.reduce_sum
func.func @stays(%x: tensor<2x8x3x3xf32>, %s: tensor<8x3x3xf32>, %y: tensor<4x8xf32>) -> (tensor<2x8x3x3xf32>, tensor<4x1xf32>) {
  %one = graph.constant dense<1.0> : tensor<2xf32>
  %zero = graph.constant dense<0.0> : tensor<2xf32>
  %seven = graph.constant dense<7.0> : tensor<f32>
  %0 = graph.reshape %x : (tensor<2x8x3x3xf32>) -> tensor<2x2x36xf32>
  %1 = graph.instance_norm %0, %one, %zero : (tensor<2x2x36xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x36xf32>
  %2 = graph.reshape %1 : (tensor<2x2x36xf32>) -> tensor<2x8x3x3xf32>
  %3 = graph.mul %2, %s : (tensor<2x8x3x3xf32>, tensor<8x3x3xf32>) -> tensor<2x8x3x3xf32>
  %4 = graph.reduce_sum %y {axes = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %5 = graph.div %4, %seven : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  return %3, %5 : tensor<2x8x3x3xf32>, tensor<4x1xf32>
}

// -----

// The root of the reciprocal, and the form of batch normalisation: x * m + (b - mean *
// m).
#x = affine_map<()[s0] -> (s0, 8)>
#m = affine_map<()[s0] -> (s0, 1)>
// CHECK-LABEL: func.func @factored
// CHECK: graph.layer_norm %arg0 scale %arg1 bias %arg2 {axis = 1 : i64, epsilon = 0.00100
// CHECK-NOT: graph.reduce_mean
func.func @factored(%x: tensor<?x8xf32, #x>, %s: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<?x8xf32, #x> attributes {graph.symbols = ["n"]} {
  %eps = graph.constant dense<1.0e-3> : tensor<f32>
  %mean = graph.reduce_mean %x {axes = array<i64: 1>, keepdims = true} : (tensor<?x8xf32, #x>) -> tensor<?x1xf32, #m>
  %d = graph.sub %x, %mean : (tensor<?x8xf32, #x>, tensor<?x1xf32, #m>) -> tensor<?x8xf32, #x>
  %d2 = graph.mul %d, %d : (tensor<?x8xf32, #x>, tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  %v = graph.reduce_mean %d2 {axes = array<i64: 1>, keepdims = true} : (tensor<?x8xf32, #x>) -> tensor<?x1xf32, #m>
  %e = graph.add %v, %eps : (tensor<?x1xf32, #m>, tensor<f32>) -> tensor<?x1xf32, #m>
  %r = graph.reciprocal %e : (tensor<?x1xf32, #m>) -> tensor<?x1xf32, #m>
  %i = graph.sqrt %r : (tensor<?x1xf32, #m>) -> tensor<?x1xf32, #m>
  %f = graph.mul %i, %s : (tensor<?x1xf32, #m>, tensor<8xf32>) -> tensor<?x8xf32, #x>
  %xf = graph.mul %x, %f : (tensor<?x8xf32, #x>, tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  %mf = graph.mul %mean, %f : (tensor<?x1xf32, #m>, tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  %t = graph.sub %b, %mf : (tensor<8xf32>, tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  %y = graph.add %xf, %t : (tensor<?x8xf32, #x>, tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  return %y : tensor<?x8xf32, #x>
}

// -----

// The mean of another value.
// CHECK-LABEL: func.func @othermean
// CHECK-NOT: graph.layer_norm
// CHECK: graph.sub %arg2, {{.*}}
func.func @othermean(%x: tensor<4x8xf32>, %z: tensor<4x8xf32>, %b: tensor<8xf32>, %f: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %mean = graph.reduce_mean %z {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %xf = graph.mul %x, %f : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %mf = graph.mul %mean, %f : (tensor<4x1xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = graph.sub %b, %mf : (tensor<8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = graph.add %xf, %t : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

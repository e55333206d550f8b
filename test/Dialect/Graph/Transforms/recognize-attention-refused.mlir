// RUN: aopt %s --graph-recognize-attention --remarks-filter-failed=.* --split-input-file 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t

// The scores have other uses.
// WHY: attention {{.*}}the scores have other uses
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
// WHY: attention {{.*}}the softmax is not over the last dim
// CHECK-LABEL: func.func @axis
// CHECK-NOT: graph.attention
func.func @axis(%q: tensor<2x9x64xf32>, %v: tensor<2x9x32xf32>) -> tensor<2x9x32xf32> {
  %0 = graph.matmul %q, %q {transpose_b = true} : (tensor<2x9x64xf32>, tensor<2x9x64xf32>) -> tensor<2x9x9xf32>
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
  %2 = graph.matmul %1, %v : (tensor<2x9x9xf32>, tensor<2x9x32xf32>) -> tensor<2x9x32xf32>
  return %2 : tensor<2x9x32xf32>
}

// -----

// Whether a product is broadcast is dynamic.
#q = affine_map<()[s0, s1] -> (s0, 9, 64)>
#k = affine_map<()[s0, s1] -> (s1, 9, 64)>
#s = affine_map<()[s0, s1] -> ((((2 floordiv (s0 + 1)) mod 2) * ((2 floordiv (s1 + 1)) mod 2) - (2 floordiv (s0 + 1)) mod 2 - (2 floordiv (s1 + 1)) mod 2 + s0 + s1) floordiv (((2 floordiv (s0 + 1)) mod 2) * ((2 floordiv (s1 + 1)) mod 2) - (2 floordiv (s0 + 1)) mod 2 - (2 floordiv (s1 + 1)) mod 2 + 2), 9, 9)>
#y = affine_map<()[s0, s1] -> ((((2 floordiv (s0 + 1)) mod 2) * ((2 floordiv (s1 + 1)) mod 2) - (2 floordiv (s0 + 1)) mod 2 - (2 floordiv (s1 + 1)) mod 2 + s0 + s1) floordiv (((2 floordiv (s0 + 1)) mod 2) * ((2 floordiv (s1 + 1)) mod 2) - (2 floordiv (s0 + 1)) mod 2 - (2 floordiv (s1 + 1)) mod 2 + 2), 9, 64)>
// WHY: attention {{.*}}it is unknown whether a batch dim is broadcast
// CHECK-LABEL: func.func @unknown
// CHECK-NOT: graph.attention
func.func @unknown(%q: tensor<?x9x64xf32, #q>, %k: tensor<?x9x64xf32, #k>) -> tensor<?x9x64xf32, #y> {
  %0 = graph.matmul %q, %k {transpose_b = true} : (tensor<?x9x64xf32, #q>, tensor<?x9x64xf32, #k>) -> tensor<?x9x9xf32, #s>
  %1 = graph.softmax %0 {axis = 2 : i64} : (tensor<?x9x9xf32, #s>) -> tensor<?x9x9xf32, #s>
  %2 = graph.matmul %1, %k : (tensor<?x9x9xf32, #s>, tensor<?x9x64xf32, #k>) -> tensor<?x9x64xf32, #y>
  return %2 : tensor<?x9x64xf32, #y>
}

// -----

// The factor multiplies masked scores.
// WHY: attention {{.*}}the scores are masked before they are scaled
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

// -----

// The factors are not 0 and 1.
// WHY: attention {{.*}}an unsupported op is between product and softmax
// CHECK-LABEL: func.func @blend
// CHECK-NOT: graph.attention
func.func @blend(%q: tensor<2x9x64xf32>, %m: tensor<9x9xf32>) -> tensor<2x9x64xf32> {
  %one = graph.constant dense<1.0> : tensor<f32>
  %far = graph.constant dense<1.0e4> : tensor<f32>
  %0 = graph.matmul %q, %q {transpose_b = true} : (tensor<2x9x64xf32>, tensor<2x9x64xf32>) -> tensor<2x9x9xf32>
  %1 = graph.mul %0, %m : (tensor<2x9x9xf32>, tensor<9x9xf32>) -> tensor<2x9x9xf32>
  %2 = graph.sub %one, %m : (tensor<f32>, tensor<9x9xf32>) -> tensor<9x9xf32>
  %3 = graph.mul %2, %far : (tensor<9x9xf32>, tensor<f32>) -> tensor<9x9xf32>
  %4 = graph.sub %1, %3 : (tensor<2x9x9xf32>, tensor<9x9xf32>) -> tensor<2x9x9xf32>
  %5 = graph.softmax %4 {axis = 2 : i64} : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
  %6 = graph.matmul %5, %q : (tensor<2x9x9xf32>, tensor<2x9x64xf32>) -> tensor<2x9x64xf32>
  return %6 : tensor<2x9x64xf32>
}

// -----

// A bound that scores may be below.
// WHY: attention {{.*}}a lower bound of the scores has an effect
// CHECK-LABEL: func.func @bound
// CHECK-NOT: graph.attention
func.func @bound(%q: tensor<2x9x64xf32>) -> tensor<2x9x64xf32> {
  %low = graph.constant dense<-4.0> : tensor<f32>
  %0 = graph.matmul %q, %q {transpose_b = true} : (tensor<2x9x64xf32>, tensor<2x9x64xf32>) -> tensor<2x9x9xf32>
  %1 = graph.maximum %0, %low : (tensor<2x9x9xf32>, tensor<f32>) -> tensor<2x9x9xf32>
  %2 = graph.softmax %1 {axis = 2 : i64} : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
  %3 = graph.matmul %2, %q : (tensor<2x9x9xf32>, tensor<2x9x64xf32>) -> tensor<2x9x64xf32>
  return %3 : tensor<2x9x64xf32>
}

// -----

// Weights of visible keys are dropped: the others do not sum to 1.
// WHY: attention {{.*}}weights are dropped whose scores are not masked
// CHECK-LABEL: func.func @dropped
// CHECK-NOT: graph.attention
func.func @dropped(%q: tensor<2x9x64xf32>, %m: tensor<9x9xi1>) -> tensor<2x9x64xf32> {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.matmul %q, %q {transpose_b = true} : (tensor<2x9x64xf32>, tensor<2x9x64xf32>) -> tensor<2x9x9xf32>
  %1 = graph.softmax %0 {axis = 2 : i64} : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
  %2 = graph.select %m, %1, %zero : (tensor<9x9xi1>, tensor<2x9x9xf32>, tensor<f32>) -> tensor<2x9x9xf32>
  %3 = graph.matmul %2, %q : (tensor<2x9x9xf32>, tensor<2x9x64xf32>) -> tensor<2x9x64xf32>
  return %3 : tensor<2x9x64xf32>
}

// -----

// Adjacent heads have keys of different groups: 0 1 0 1, not 0 0 1 1.
// CHECK-LABEL: func.func @alternating
// CHECK: %[[K:.*]] = graph.reshape %{{.*}} -> tensor<2x4x9x64xf32>
// CHECK: graph.attention %arg0, %[[K]], %[[K]]
func.func @alternating(%q: tensor<2x4x9x64xf32>, %k: tensor<2x2x9x64xf32>) -> tensor<2x4x9x64xf32> {
  %a = graph.reshape %k : (tensor<2x2x9x64xf32>) -> tensor<2x1x2x9x64xf32>
  %b = graph.broadcast_to %a : (tensor<2x1x2x9x64xf32>) -> tensor<2x2x2x9x64xf32>
  %c = graph.reshape %b : (tensor<2x2x2x9x64xf32>) -> tensor<2x4x9x64xf32>
  %0 = graph.matmul %q, %c {transpose_b = true} : (tensor<2x4x9x64xf32>, tensor<2x4x9x64xf32>) -> tensor<2x4x9x9xf32>
  %1 = graph.softmax %0 {axis = 3 : i64} : (tensor<2x4x9x9xf32>) -> tensor<2x4x9x9xf32>
  %2 = graph.matmul %1, %c : (tensor<2x4x9x9xf32>, tensor<2x4x9x64xf32>) -> tensor<2x4x9x64xf32>
  return %2 : tensor<2x4x9x64xf32>
}

// -----

// The model rounds each step to f16, which attention would not.
// WHY: attention {{.*}}rounded weights are dropped by query
// CHECK-LABEL: func.func @dropped_halves
// CHECK-NOT: graph.attention
func.func @dropped_halves(%q: tensor<2x9x64xf16>, %m: tensor<9x1xi1>) -> tensor<2x9x64xf16> {
  %zero = graph.constant dense<0.0> : tensor<f16>
  %0 = graph.matmul %q, %q {transpose_b = true} : (tensor<2x9x64xf16>, tensor<2x9x64xf16>) -> tensor<2x9x9xf16>
  %1 = graph.softmax %0 {axis = 2 : i64} : (tensor<2x9x9xf16>) -> tensor<2x9x9xf16>
  %2 = graph.select %m, %zero, %1 : (tensor<9x1xi1>, tensor<f16>, tensor<2x9x9xf16>) -> tensor<2x9x9xf16>
  %3 = graph.matmul %2, %q : (tensor<2x9x9xf16>, tensor<2x9x64xf16>) -> tensor<2x9x64xf16>
  return %3 : tensor<2x9x64xf16>
}

// -----

// Channels attend to channels over all tokens: heads that exceed a kernel's limit.
// WHY: attention {{.*}}the head size is dynamic or too large
// WHY: attention {{.*}}the head size is dynamic or too large
#q = affine_map<()[s0] -> (3, 32, s0)>
// CHECK-LABEL: func.func @by_tokens
// CHECK-COUNT-4: graph.matmul
// CHECK-NOT: graph.attention
func.func @by_tokens(%q: tensor<3x32x3136xf32>, %k: tensor<3x32x3136xf32>, %v: tensor<3x32x3136xf32>, %n: tensor<3x32x?xf32, #q>) -> (tensor<3x32x3136xf32>, tensor<3x32x?xf32, #q>) attributes {graph.symbols = ["t"]} {
  %0 = graph.matmul %q, %k {transpose_b = true} : (tensor<3x32x3136xf32>, tensor<3x32x3136xf32>) -> tensor<3x32x32xf32>
  %1 = graph.softmax %0 {axis = 2 : i64} : (tensor<3x32x32xf32>) -> tensor<3x32x32xf32>
  %2 = graph.matmul %1, %v : (tensor<3x32x32xf32>, tensor<3x32x3136xf32>) -> tensor<3x32x3136xf32>
  %3 = graph.matmul %n, %n {transpose_b = true} : (tensor<3x32x?xf32, #q>, tensor<3x32x?xf32, #q>) -> tensor<3x32x32xf32>
  %4 = graph.softmax %3 {axis = 2 : i64} : (tensor<3x32x32xf32>) -> tensor<3x32x32xf32>
  %5 = graph.matmul %4, %n : (tensor<3x32x32xf32>, tensor<3x32x?xf32, #q>) -> tensor<3x32x?xf32, #q>
  return %2, %5 : tensor<3x32x3136xf32>, tensor<3x32x?xf32, #q>
}

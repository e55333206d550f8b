// RUN: aopt %s --graph-recognize-activations --split-input-file | FileCheck %s

// x * (erf(x / sqrt 2) + 1) * 0.5, in any order; sizes are symbols.
#x = affine_map<()[s0] -> (s0, 8)>
// CHECK-LABEL: func.func @gelu_erf
// CHECK: %[[Y:.*]] = graph.gelu %arg0 : (tensor<?x8xf32
// CHECK: return %[[Y]]
func.func @gelu_erf(%x: tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x> {
  %root = graph.constant dense<1.41421354> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<1xf32>
  %0 = graph.div %x, %root : (tensor<?x8xf32, #x>, tensor<f32>) -> tensor<?x8xf32, #x>
  %1 = graph.erf %0 : (tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  %2 = graph.add %one, %1 : (tensor<f32>, tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  %3 = graph.mul %half, %2 : (tensor<1xf32>, tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  %4 = graph.mul %x, %3 : (tensor<?x8xf32, #x>, tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  return %4 : tensor<?x8xf32, #x>
}

// -----

// CHECK-LABEL: func.func @gelu_tanh
// CHECK: graph.gelu %arg0 {approximate = #graph.gelu<tanh>}
func.func @gelu_tanh(%x: tensor<4xf32>) -> tensor<4xf32> {
  %three = graph.constant dense<3.0> : tensor<f32>
  %cubic = graph.constant dense<0.044715> : tensor<f32>
  %root = graph.constant dense<0.797884583> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.pow %x, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.mul %0, %cubic : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = graph.add %x, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.mul %2, %root : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = graph.tanh %3 : (tensor<4xf32>) -> tensor<4xf32>
  %5 = graph.add %4, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %6 = graph.mul %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %7 = graph.mul %6, %5 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %7 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @swish
// CHECK: graph.silu %arg0
// CHECK: graph.silu %arg0
// CHECK: graph.hard_swish %arg0
// CHECK: graph.hard_swish %arg0
// CHECK: graph.mish %arg0
func.func @swish(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %one = graph.constant dense<1.0> : tensor<f32>
  %three = graph.constant dense<3.0> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<f32>
  %s = graph.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %0 = graph.mul %s, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = graph.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %e = graph.exp %n : (tensor<4xf32>) -> tensor<4xf32>
  %d = graph.add %e, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.div %x, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h = graph.hard_sigmoid %x {alpha = 0.16666667 : f64, beta = 0.5 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.mul %x, %h : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = graph.add %x, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = graph.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  %m = graph.minimum %r, %six : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %p = graph.mul %x, %m : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.div %p, %six : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %sp = graph.softplus %x : (tensor<4xf32>) -> tensor<4xf32>
  %t = graph.tanh %sp : (tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.mul %x, %t : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Another root, another input, a product with other users.
// CHECK-LABEL: func.func @others
// CHECK-NOT: graph.gelu
// CHECK-NOT: graph.silu
func.func @others(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %root = graph.constant dense<1.5> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.div %x, %root : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = graph.erf %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.add %one, %1 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = graph.mul %half, %2 : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = graph.mul %x, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %s = graph.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %5 = graph.mul %s, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %4, %5 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Expanded, with the halves inside, by a sigmoid of twice the argument; swish by a tanh;
// a clipped linear function.
// CHECK-LABEL: func.func @spellings
// CHECK-DAG: %[[A:.*]] = graph.gelu %arg0 : (tensor<4xf32>)
// CHECK-DAG: %[[B:.*]] = graph.gelu %arg0 {approximate = #graph.gelu<tanh>}
// CHECK-DAG: %[[C:.*]] = graph.gelu %arg0 {approximate = #graph.gelu<tanh>}
// CHECK-DAG: %[[D:.*]] = graph.silu %arg0
// CHECK-DAG: %[[E:.*]] = graph.silu %arg0
// CHECK-DAG: %[[F:.*]] = graph.hard_sigmoid %arg0 {alpha = 2.500000e-01 : f64}
// CHECK: return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]], %[[F]]
func.func @spellings(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %quarter = graph.constant dense<0.25> : tensor<f32>
  // x / 2 + x / 2 * erf(x / sqrt(2)), with a computed root.
  %root = graph.sqrt %two : (tensor<f32>) -> tensor<f32>
  %a0 = graph.div %x, %root : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %a1 = graph.erf %a0 : (tensor<4xf32>) -> tensor<4xf32>
  %a2 = graph.mul %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %a3 = graph.mul %a1, %a2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = graph.add %a2, %a3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // x * (tanh(x * (root + cubic x^2)) / 2 + 1 / 2)
  %line = graph.constant dense<0.797884583> : tensor<f32>
  %cubic = graph.constant dense<0.0356774069> : tensor<f32>
  %b0 = graph.mul %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b1 = graph.mul %b0, %cubic : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b2 = graph.add %b1, %line : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b3 = graph.mul %b2, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b4 = graph.tanh %b3 : (tensor<4xf32>) -> tensor<4xf32>
  %b5 = graph.mul %b4, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b6 = graph.add %b5, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = graph.mul %x, %b6 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // x * sigmoid(2 x * (root + cubic x^2))
  %twice = graph.constant dense<1.59576917> : tensor<f32>
  %cubic2 = graph.constant dense<0.0713548139> : tensor<f32>
  %c1 = graph.mul %x, %twice : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c2 = graph.mul %b0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c3 = graph.mul %c2, %cubic2 : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c4 = graph.add %c1, %c3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c5 = graph.sigmoid %c4 : (tensor<4xf32>) -> tensor<4xf32>
  %c = graph.mul %c5, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // x / (1 + exp(0 - x)), x * (1 + tanh(x / 2)) / 2
  %d0 = graph.sub %zero, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %d1 = graph.exp %d0 : (tensor<4xf32>) -> tensor<4xf32>
  %d2 = graph.add %d1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = graph.div %x, %d2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e0 = graph.mul %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %e1 = graph.tanh %e0 : (tensor<4xf32>) -> tensor<4xf32>
  %e2 = graph.add %e1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %e3 = graph.mul %x, %e2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = graph.mul %e3, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  // clip(x + 2, 0, 4) / 4
  %four = graph.constant dense<4.0> : tensor<f32>
  %f0 = graph.add %x, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %f1 = graph.maximum %f0, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %f2 = graph.minimum %f1, %four : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %f = graph.mul %f2, %quarter : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %a, %b, %c, %d, %e, %f : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Other numbers, another x, a clip of x itself.
// CHECK-LABEL: func.func @no_spellings
// CHECK-NOT: graph.gelu
// CHECK-NOT: graph.silu
// CHECK-NOT: graph.hard_sigmoid
// CHECK: return
func.func @no_spellings(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %a0 = graph.erf %x : (tensor<4xf32>) -> tensor<4xf32>
  %a1 = graph.mul %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %a2 = graph.mul %a0, %a1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = graph.add %a1, %a2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b0 = graph.mul %y, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b1 = graph.tanh %b0 : (tensor<4xf32>) -> tensor<4xf32>
  %b2 = graph.add %b1, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %b3 = graph.mul %x, %b2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = graph.mul %b3, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c0 = graph.maximum %x, %zero : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = graph.minimum %c0, %one : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// x / (1 + e^-1.7x), and a sum as a difference.
// CHECK-LABEL: func.func @quick
// CHECK: %[[C:.*]] = graph.constant dense<1.702000e+00>
// CHECK: %[[X:.*]] = graph.mul %arg0, %[[C]]
// CHECK: %[[S:.*]] = graph.sigmoid %[[X]]
// CHECK: graph.mul %arg0, %[[S]]
// CHECK: graph.hard_swish %arg0
func.func @quick(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %c = graph.constant dense<-1.702> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %less = graph.constant dense<-3.0> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<f32>
  %0 = graph.mul %x, %c : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = graph.exp %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = graph.add %one, %1 : (tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = graph.div %x, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = graph.sub %x, %less : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %5 = graph.maximum %4, %zero : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %6 = graph.minimum %5, %six : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %7 = graph.mul %x, %6 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %8 = graph.div %7, %six : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return %3, %8 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A positive factor is another function; a difference from a number is not a sum.
// CHECK-LABEL: func.func @otherwise
// CHECK-NOT: graph.sigmoid
// CHECK-NOT: graph.hard_sigmoid
func.func @otherwise(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %c = graph.constant dense<1.702> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.mul %x, %c : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = graph.exp %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = graph.add %one, %1 : (tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = graph.div %x, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = graph.sub %c, %x : (tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = graph.maximum %4, %zero : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %6 = graph.minimum %5, %one : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  return %3, %6 : tensor<4x8xf32>, tensor<4x8xf32>
}

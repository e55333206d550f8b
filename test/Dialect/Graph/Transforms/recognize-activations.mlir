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

// Another root, another input, a product that others read.
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

// Spellings of the activations by exporters and libraries; rows are symbols.
// RUN: aopt %s --graph-recognize-activations --split-input-file | FileCheck %s

#x = affine_map<()[s0] -> (s0, 8)>
!x = tensor<?x8xf32, #x>

// jax has the complement of erf: x * (1 - erf(-x / sqrt 2)) / 2.
// CHECK-LABEL: func.func @erfc
// CHECK: %[[Y:.*]] = graph.gelu %arg0 : (tensor<?x8xf32
// CHECK: return %[[Y]]
func.func @erfc(%x: !x) -> !x {
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %c = graph.constant dense<0.707106769> : tensor<f32>
  %n = graph.neg %x : (!x) -> !x
  %a = graph.mul %n, %c : (!x, tensor<f32>) -> !x
  %e = graph.erf %a : (!x) -> !x
  %o = graph.sub %one, %e : (tensor<f32>, !x) -> !x
  %p = graph.mul %x, %o : (!x, !x) -> !x
  %y = graph.mul %p, %half : (!x, tensor<f32>) -> !x
  return %y : !x
}

// -----
#x = affine_map<()[s0] -> (s0, 8)>
!x = tensor<?x8xbf16, #x>

// bf16 numbers have 8 bits: sqrt(2 / pi) is .797.
// CHECK-LABEL: func.func @bf16
// CHECK-DAG: %[[A:.*]] = graph.gelu %arg0 {approximate = #graph.gelu<tanh>}
// CHECK-DAG: %[[B:.*]] = graph.gelu %arg0 : (
// CHECK: return %[[A]], %[[B]]
func.func @bf16(%x: !x) -> (!x, !x) {
  %three = graph.constant dense<3.0> : tensor<bf16>
  %cubic = graph.constant dense<0.044715> : tensor<bf16>
  %root = graph.constant dense<0.797884583> : tensor<bf16>
  %one = graph.constant dense<1.0> : tensor<bf16>
  %half = graph.constant dense<0.5> : tensor<bf16>
  %two = graph.constant dense<1.41421354> : tensor<bf16>
  %0 = graph.pow %x, %three : (!x, tensor<bf16>) -> !x
  %1 = graph.mul %0, %cubic : (!x, tensor<bf16>) -> !x
  %2 = graph.add %x, %1 : (!x, !x) -> !x
  %3 = graph.mul %2, %root : (!x, tensor<bf16>) -> !x
  %4 = graph.tanh %3 : (!x) -> !x
  %5 = graph.add %4, %one : (!x, tensor<bf16>) -> !x
  %6 = graph.mul %x, %half : (!x, tensor<bf16>) -> !x
  %7 = graph.mul %6, %5 : (!x, !x) -> !x
  %a = graph.div %x, %two : (!x, tensor<bf16>) -> !x
  %b = graph.erf %a : (!x) -> !x
  %c = graph.add %b, %one : (!x, tensor<bf16>) -> !x
  %d = graph.mul %x, %c : (!x, !x) -> !x
  %e = graph.mul %d, %half : (!x, tensor<bf16>) -> !x
  return %7, %e : !x, !x
}

// -----
#x = affine_map<()[s0] -> (s0, 8)>
!x = tensor<?x8xf32, #x>

// CHECK-LABEL: func.func @hard_swish
// CHECK-COUNT-6: graph.hard_swish %arg0
// CHECK-NEXT: return
func.func @hard_swish(%x: !x) -> (!x, !x, !x, !x, !x, !x) {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %three = graph.constant dense<3.0> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %sixth = graph.constant dense<0.166666672> : tensor<f32>
  // x * (relu6(x + 3) / 6)
  %a0 = graph.add %three, %x : (tensor<f32>, !x) -> !x
  %a1 = graph.maximum %zero, %a0 : (tensor<f32>, !x) -> !x
  %a2 = graph.minimum %six, %a1 : (tensor<f32>, !x) -> !x
  %a3 = graph.div %a2, %six : (!x, tensor<f32>) -> !x
  %a = graph.mul %x, %a3 : (!x, !x) -> !x
  // x * relu6(x+3) * (1/6)
  %b1 = graph.mul %a2, %sixth : (!x, tensor<f32>) -> !x
  %b = graph.mul %b1, %x : (!x, !x) -> !x
  // (x * 1/6) * relu6
  %c0 = graph.mul %x, %sixth : (!x, tensor<f32>) -> !x
  %c = graph.mul %c0, %a2 : (!x, !x) -> !x
  // clip(x / 6 + .5, 0, 1) * x
  %d0 = graph.mul %x, %sixth : (!x, tensor<f32>) -> !x
  %d1 = graph.add %d0, %half : (!x, tensor<f32>) -> !x
  %d2 = graph.maximum %d1, %zero : (!x, tensor<f32>) -> !x
  %d3 = graph.minimum %d2, %one : (!x, tensor<f32>) -> !x
  %d = graph.mul %d3, %x : (!x, !x) -> !x
  // min first
  %e1 = graph.minimum %a0, %six : (!x, tensor<f32>) -> !x
  %e2 = graph.relu %e1 : (!x) -> !x
  %e3 = graph.div %e2, %six : (!x, tensor<f32>) -> !x
  %e = graph.mul %e3, %x : (!x, !x) -> !x
  %f1 = graph.mul %x, %a2 : (!x, !x) -> !x
  %f = graph.mul %f1, %sixth : (!x, tensor<f32>) -> !x
  return %a, %b, %c, %d, %e, %f : !x, !x, !x, !x, !x, !x
}

// -----
#x = affine_map<()[s0] -> (s0, 8)>
!x = tensor<?x8xf32, #x>

// CHECK-LABEL: func.func @silu_mish
// CHECK-DAG: %[[A:.*]] = graph.silu %arg0
// CHECK-DAG: %[[B:.*]] = graph.silu %arg0
// CHECK-DAG: %[[C:.*]] = graph.mish %arg0
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @silu_mish(%x: !x) -> (!x, !x, !x) {
  %one = graph.constant dense<1.0> : tensor<f32>
  %minus = graph.constant dense<-1.0> : tensor<f32>
  // x * (1 / (1 + exp(-x)))
  %a0 = graph.mul %x, %minus : (!x, tensor<f32>) -> !x
  %a1 = graph.exp %a0 : (!x) -> !x
  %a2 = graph.add %a1, %one : (!x, tensor<f32>) -> !x
  %a3 = graph.reciprocal %a2 : (!x) -> !x
  %a = graph.mul %x, %a3 : (!x, !x) -> !x
  %b3 = graph.div %one, %a2 : (tensor<f32>, !x) -> !x
  %b = graph.mul %b3, %x : (!x, !x) -> !x
  %c0 = graph.exp %x : (!x) -> !x
  %c1 = graph.add %one, %c0 : (tensor<f32>, !x) -> !x
  %c2 = graph.log %c1 : (!x) -> !x
  %c3 = graph.tanh %c2 : (!x) -> !x
  %c = graph.mul %c3, %x : (!x, !x) -> !x
  return %a, %b, %c : !x, !x, !x
}

// -----
#x = affine_map<()[s0] -> (s0, 8)>
!x = tensor<?x8xf32, #x>

// CHECK-LABEL: func.func @gelu(
// CHECK-COUNT-3: graph.gelu %arg0 : (
// CHECK: graph.gelu %arg0 {approximate = #graph.gelu<tanh>}
// CHECK-NEXT: return
func.func @gelu(%x: !x) -> (!x, !x, !x, !x) {
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %c = graph.constant dense<0.707106769> : tensor<f32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %i0 = graph.mul %c, %x : (tensor<f32>, !x) -> !x
  %e0 = graph.erf %i0 : (!x) -> !x
  %h0 = graph.mul %half, %e0 : (tensor<f32>, !x) -> !x
  %s0 = graph.add %h0, %half : (!x, tensor<f32>) -> !x
  %a = graph.mul %s0, %x : (!x, !x) -> !x
  // x * (1 + erf) / 2
  %o = graph.add %one, %e0 : (tensor<f32>, !x) -> !x
  %p = graph.mul %o, %x : (!x, !x) -> !x
  %b = graph.div %p, %two : (!x, tensor<f32>) -> !x
  %p2 = graph.div %o, %two : (!x, tensor<f32>) -> !x
  %b2 = graph.mul %p2, %x : (!x, !x) -> !x
  // tf: 0.5 * x * (1 + tanh(0.797 * (x + 0.044715 * x * x * x)))
  %root = graph.constant dense<0.797884583> : tensor<f32>
  %cubic = graph.constant dense<0.044715> : tensor<f32>
  %k0 = graph.mul %cubic, %x : (tensor<f32>, !x) -> !x
  %k1 = graph.mul %k0, %x : (!x, !x) -> !x
  %k2 = graph.mul %k1, %x : (!x, !x) -> !x
  %k3 = graph.add %x, %k2 : (!x, !x) -> !x
  %k4 = graph.mul %root, %k3 : (tensor<f32>, !x) -> !x
  %k5 = graph.tanh %k4 : (!x) -> !x
  %k6 = graph.add %one, %k5 : (tensor<f32>, !x) -> !x
  %k7 = graph.mul %half, %x : (tensor<f32>, !x) -> !x
  %d = graph.mul %k7, %k6 : (!x, !x) -> !x
  return %a, %b, %b2, %d : !x, !x, !x, !x
}

// -----

#x = affine_map<()[s0] -> (s0, 8)>
!x = tensor<?x8xf32, #x>

// The other half: x * (1 - erf(x / sqrt 2)) / 2 and x * (1 + erf(-x / sqrt 2)) / 2; a
// bf16 number among those of f32; a bound other than 6, and one that is below the other.
// CHECK-LABEL: func.func @others
// CHECK-NOT: graph.gelu
// CHECK-NOT: graph.hard_swish
// CHECK: return
func.func @others(%x: !x) -> (!x, !x, !x, !x, !x) {
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %c = graph.constant dense<0.707106769> : tensor<f32>
  %a0 = graph.mul %x, %c : (!x, tensor<f32>) -> !x
  %e0 = graph.erf %a0 : (!x) -> !x
  %o0 = graph.sub %one, %e0 : (tensor<f32>, !x) -> !x
  %p0 = graph.mul %x, %o0 : (!x, !x) -> !x
  %a = graph.mul %p0, %half : (!x, tensor<f32>) -> !x
  %n1 = graph.neg %x : (!x) -> !x
  %a1 = graph.mul %n1, %c : (!x, tensor<f32>) -> !x
  %e1 = graph.erf %a1 : (!x) -> !x
  %o1 = graph.add %one, %e1 : (tensor<f32>, !x) -> !x
  %p1 = graph.mul %x, %o1 : (!x, !x) -> !x
  %b = graph.mul %p1, %half : (!x, tensor<f32>) -> !x
  %root = graph.constant dense<0.796875> : tensor<f32>
  %cubic = graph.constant dense<0.044715> : tensor<f32>
  %three = graph.constant dense<3.0> : tensor<f32>
  %k0 = graph.pow %x, %three : (!x, tensor<f32>) -> !x
  %k2 = graph.mul %k0, %cubic : (!x, tensor<f32>) -> !x
  %k3 = graph.add %x, %k2 : (!x, !x) -> !x
  %k4 = graph.mul %root, %k3 : (tensor<f32>, !x) -> !x
  %k5 = graph.tanh %k4 : (!x) -> !x
  %k6 = graph.add %one, %k5 : (tensor<f32>, !x) -> !x
  %k7 = graph.mul %half, %x : (tensor<f32>, !x) -> !x
  %d = graph.mul %k7, %k6 : (!x, !x) -> !x
  %six = graph.constant dense<6.0> : tensor<f32>
  %five = graph.constant dense<5.0> : tensor<f32>
  %s = graph.add %x, %three : (!x, tensor<f32>) -> !x
  %m = graph.minimum %s, %five : (!x, tensor<f32>) -> !x
  %r = graph.relu %m : (!x) -> !x
  %q = graph.div %r, %six : (!x, tensor<f32>) -> !x
  %f = graph.mul %q, %x : (!x, !x) -> !x
  %t = graph.relu %s : (!x) -> !x
  %u = graph.maximum %t, %six : (!x, tensor<f32>) -> !x
  %v = graph.div %u, %six : (!x, tensor<f32>) -> !x
  %g = graph.mul %v, %x : (!x, !x) -> !x
  return %a, %b, %d, %f, %g : !x, !x, !x, !x, !x
}

// Two activations: tensor cores multiply the differences of bytes and zero points, which
// f16 holds. Other targets multiply the dequantized values.
// RUN: aopt %s -tile-attach-targets=cuda=sm_90a -graph-form-integer-products -graph-fold-constants -canonicalize | FileCheck %s
// RUN: aopt %s -tile-attach-targets=cuda=sm_80 -graph-form-integer-products -graph-fold-constants -canonicalize | FileCheck %s
// RUN: aopt %s -tile-attach-targets=cpu=znver4 -graph-form-integer-products | FileCheck %s --check-prefix=CPU

// CHECK-LABEL: @activations
// CHECK-DAG: %[[ZERO:.*]] = graph.constant dense<1.000000e+01> : tensor<f16>
// CHECK-DAG: %[[SCALE:.*]] = graph.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[A:.*]] = graph.cast %arg0 : ({{.*}}ui8{{.*}}) -> {{.*}}f16
// CHECK: %[[L:.*]] = graph.sub %[[A]], %[[ZERO]]
// CHECK: %[[R:.*]] = graph.cast %arg1 : ({{.*}}xi8{{.*}}) -> {{.*}}f16
// CHECK: %[[P:.*]] = graph.matmul %[[L]], %[[R]] {wide_result}
// CHECK: graph.mul %[[P]], %[[SCALE]]
// CPU-LABEL: @activations
// CPU-NOT: f16
func.func @activations(%a: tensor<?x8x64xui8, affine_map<()[s0] -> (s0, 8, 64)>>, %b: tensor<?x64x16xi8, affine_map<()[s0] -> (s0, 64, 16)>>) -> tensor<?x8x16xf32, affine_map<()[s0] -> (s0, 8, 16)>> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %t = graph.constant dense<2.0> : tensor<f32>
  %z = graph.constant dense<10.0> : tensor<f32>
  %0 = graph.cast %a : (tensor<?x8x64xui8, affine_map<()[s0] -> (s0, 8, 64)>>) -> tensor<?x8x64xf32, affine_map<()[s0] -> (s0, 8, 64)>>
  %1 = graph.sub %0, %z : (tensor<?x8x64xf32, affine_map<()[s0] -> (s0, 8, 64)>>, tensor<f32>) -> tensor<?x8x64xf32, affine_map<()[s0] -> (s0, 8, 64)>>
  %2 = graph.mul %1, %s : (tensor<?x8x64xf32, affine_map<()[s0] -> (s0, 8, 64)>>, tensor<f32>) -> tensor<?x8x64xf32, affine_map<()[s0] -> (s0, 8, 64)>>
  %3 = graph.cast %b : (tensor<?x64x16xi8, affine_map<()[s0] -> (s0, 64, 16)>>) -> tensor<?x64x16xf32, affine_map<()[s0] -> (s0, 64, 16)>>
  %4 = graph.mul %3, %t : (tensor<?x64x16xf32, affine_map<()[s0] -> (s0, 64, 16)>>, tensor<f32>) -> tensor<?x64x16xf32, affine_map<()[s0] -> (s0, 64, 16)>>
  %5 = graph.matmul %2, %4 : (tensor<?x8x64xf32, affine_map<()[s0] -> (s0, 8, 64)>>, tensor<?x64x16xf32, affine_map<()[s0] -> (s0, 64, 16)>>) -> tensor<?x8x16xf32, affine_map<()[s0] -> (s0, 8, 16)>>
  return %5 : tensor<?x8x16xf32, affine_map<()[s0] -> (s0, 8, 16)>>
}

// A scale for each row is not one factor of the sums.
// CHECK-LABEL: @rows
// CHECK-NOT: f16
// CHECK: return
func.func @rows(%a: tensor<?x8x64xui8, affine_map<()[s0] -> (s0, 8, 64)>>, %b: tensor<?x64x16xi8, affine_map<()[s0] -> (s0, 64, 16)>>) -> tensor<?x8x16xf32, affine_map<()[s0] -> (s0, 8, 16)>> {
  %s = graph.constant dense<[[0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.25]]> : tensor<8x1xf32>
  %t = graph.constant dense<2.0> : tensor<f32>
  %0 = graph.cast %a : (tensor<?x8x64xui8, affine_map<()[s0] -> (s0, 8, 64)>>) -> tensor<?x8x64xf32, affine_map<()[s0] -> (s0, 8, 64)>>
  %1 = graph.mul %0, %s : (tensor<?x8x64xf32, affine_map<()[s0] -> (s0, 8, 64)>>, tensor<8x1xf32>) -> tensor<?x8x64xf32, affine_map<()[s0] -> (s0, 8, 64)>>
  %2 = graph.cast %b : (tensor<?x64x16xi8, affine_map<()[s0] -> (s0, 64, 16)>>) -> tensor<?x64x16xf32, affine_map<()[s0] -> (s0, 64, 16)>>
  %3 = graph.mul %2, %t : (tensor<?x64x16xf32, affine_map<()[s0] -> (s0, 64, 16)>>, tensor<f32>) -> tensor<?x64x16xf32, affine_map<()[s0] -> (s0, 64, 16)>>
  %4 = graph.matmul %1, %3 : (tensor<?x8x64xf32, affine_map<()[s0] -> (s0, 8, 64)>>, tensor<?x64x16xf32, affine_map<()[s0] -> (s0, 64, 16)>>) -> tensor<?x8x16xf32, affine_map<()[s0] -> (s0, 8, 16)>>
  return %4 : tensor<?x8x16xf32, affine_map<()[s0] -> (s0, 8, 16)>>
}

// Reasons why near matches are not an activation or a normalisation, one each.
// RUN: aopt %s --graph-recognize-activations --graph-recognize-normalization --remarks-filter-failed=.* --split-input-file -o /dev/null 2> %t
// RUN: FileCheck %s < %t

#x = affine_map<()[s0] -> (s0, 8)>
#r = affine_map<()[s0] -> (s0, 1)>
#w = affine_map<()[s0] -> (4, s0, 8)>
#c = affine_map<()[s0] -> (s0, 4, 1, 1)>
#i = affine_map<()[s0] -> (s0, 4, 3, 3)>
!x = tensor<?x8xf32, #x>
!r = tensor<?x1xf32, #r>
!w = tensor<4x?x8xf32, #w>

// CHECK-DAG: ProductOfInput {{.*}}Remark="the argument of erf or tanh is not the factor"
// CHECK-DAG: ProductOfInput {{.*}}Remark="expected a factor of 0.5 on 1 + erf or tanh"
// CHECK-DAG: ProductOfInput {{.*}}Remark="expected no constant factor on x * sigmoid(x)"
func.func @activations(%x: !x, %y: !x) -> (!x, !x, !x) {
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %third = graph.constant dense<0.33> : tensor<f32>
  %c = graph.constant dense<0.707106769> : tensor<f32>
  %a0 = graph.mul %x, %c : (!x, tensor<f32>) -> !x
  %a1 = graph.erf %a0 : (!x) -> !x
  %a2 = graph.add %a1, %one : (!x, tensor<f32>) -> !x
  %a3 = graph.mul %a2, %y : (!x, !x) -> !x
  %a = graph.mul %a3, %half : (!x, tensor<f32>) -> !x
  %b3 = graph.mul %a2, %x : (!x, !x) -> !x
  %b = graph.mul %b3, %third : (!x, tensor<f32>) -> !x
  %s0 = graph.sigmoid %x : (!x) -> !x
  %s1 = graph.mul %s0, %x : (!x, !x) -> !x
  %s = graph.mul %s1, %third : (!x, tensor<f32>) -> !x
  return %a, %b, %s : !x, !x, !x
}

// CHECK-DAG: NormFromQuotient {{.*}}Remark="the operand of the square root is not a mean of squares"
// CHECK-DAG: NormFromQuotient {{.*}}Remark="the mean is not over the last dims, or drops them"
// CHECK-DAG: NormFromQuotient {{.*}}Remark="the dividend is not the squared value"
// CHECK-DAG: NormFromQuotient {{.*}}Remark="the dividend is broadcast"
func.func @deviations(%x: !x, %y: !x) -> (!x, !x, !x, !w) {
  %wide = graph.constant dense<1.0e-5> : tensor<4x1x1xf32>
  %q = graph.mul %x, %x : (!x, !x) -> !x
  %m0 = graph.reduce_mean %x {axes = array<i64: 1>, keepdims = true} : (!x) -> !r
  %r0 = graph.sqrt %m0 : (!r) -> !r
  %a = graph.div %x, %r0 : (!x, !r) -> !x
  %m1 = graph.reduce_mean %q {axes = array<i64: 0>, keepdims = true} : (!x) -> tensor<1x8xf32>
  %r1 = graph.sqrt %m1 : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %b = graph.div %x, %r1 : (!x, tensor<1x8xf32>) -> !x
  %m2 = graph.reduce_mean %q {axes = array<i64: 1>, keepdims = true} : (!x) -> !r
  %r2 = graph.sqrt %m2 : (!r) -> !r
  %c = graph.div %y, %r2 : (!x, !r) -> !x
  %m3 = graph.reduce_mean %q {axes = array<i64: 1>, keepdims = true} : (!x) -> !r
  %e3 = graph.add %m3, %wide : (!r, tensor<4x1x1xf32>) -> tensor<4x?x1xf32, affine_map<()[s0] -> (4, s0, 1)>>
  %r3 = graph.sqrt %e3 : (tensor<4x?x1xf32, affine_map<()[s0] -> (4, s0, 1)>>) -> tensor<4x?x1xf32, affine_map<()[s0] -> (4, s0, 1)>>
  %d = graph.div %x, %r3 : (!x, tensor<4x?x1xf32, affine_map<()[s0] -> (4, s0, 1)>>) -> !w
  return %a, %b, %c, %d : !x, !x, !x, !w
}

// CHECK-DAG: NormFromQuotient {{.*}}Remark="the scale has dims other than the normalised ones"
func.func @factors(%x: tensor<?x4x3x3xf32, #i>, %f: tensor<4x3x3xf32>) -> tensor<?x4x3x3xf32, #i> {
  %q = graph.mul %x, %x : (tensor<?x4x3x3xf32, #i>, tensor<?x4x3x3xf32, #i>) -> tensor<?x4x3x3xf32, #i>
  %m = graph.reduce_mean %q {axes = array<i64: 2, 3>, keepdims = true} : (tensor<?x4x3x3xf32, #i>) -> tensor<?x4x1x1xf32, #c>
  %r = graph.sqrt %m : (tensor<?x4x1x1xf32, #c>) -> tensor<?x4x1x1xf32, #c>
  %t = graph.mul %x, %f : (tensor<?x4x3x3xf32, #i>, tensor<4x3x3xf32>) -> tensor<?x4x3x3xf32, #i>
  %y = graph.div %t, %r : (tensor<?x4x3x3xf32, #i>, tensor<?x4x1x1xf32, #c>) -> tensor<?x4x3x3xf32, #i>
  return %y : tensor<?x4x3x3xf32, #i>
}

// CHECK-DAG: SoftmaxFromQuotient {{.*}}Remark="no maximum is subtracted from the exponents"
// CHECK-DAG: SoftmaxFromQuotient {{.*}}Remark="the sum is not over one dim of the dividend"
func.func @softmax(%x: !x) -> (!x, !x) {
  %e0 = graph.exp %x : (!x) -> !x
  %s0 = graph.reduce_sum %e0 {axes = array<i64: 1>, keepdims = true} : (!x) -> !r
  %a = graph.div %e0, %s0 : (!x, !r) -> !x
  %m1 = graph.reduce_max %x {axes = array<i64: 0>, keepdims = true} : (!x) -> tensor<1x8xf32>
  %d1 = graph.sub %x, %m1 : (!x, tensor<1x8xf32>) -> !x
  %e1 = graph.exp %d1 : (!x) -> !x
  %s1 = graph.reduce_sum %e1 {axes = array<i64: 0, 1>, keepdims = true} : (!x) -> tensor<1x1xf32>
  %b = graph.div %e1, %s1 : (!x, tensor<1x1xf32>) -> !x
  return %a, %b : !x, !x
}

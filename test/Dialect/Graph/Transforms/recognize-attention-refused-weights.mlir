// Reasons why a product around a softmax is not attention, one each. Each differs from
// attention in that only.
// RUN: aopt %s --graph-recognize-attention --remarks-filter-failed=.* --split-input-file 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t

!q = tensor<2x9x64xf32>
!s = tensor<2x9x9xf32>

// Weights that are a result, too; dropped by factors; of constants; NaN weights with
// other users; not all from a softmax.
// WHY: attention {{.*}}Remark="the weights have other uses"
// WHY: attention {{.*}}Remark="an unsupported op is between softmax and product"
// WHY: attention {{.*}}Remark="the select that replaces NaN has other uses"
// WHY: attention {{.*}}Remark="a select does not replace weights by 0"
// WHY: attention {{.*}}Remark="the product transposes the weights"
// WHY: attention {{.*}}Remark="the scores are not the result of a matrix product"
// WHY-NOT: Remark=
// CHECK-LABEL: func.func @weights
// CHECK-NOT: graph.attention
func.func @weights(%q: !q, %m: !s, %c: tensor<9x9xi1>) -> (!q, !s, !q, !q, !q, !q, !q, !s) {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.matmul %q, %q {transpose_b = true} : (!q, !q) -> !s
  %1 = graph.softmax %0 {axis = 2 : i64} : (!s) -> !s
  %a = graph.matmul %1, %q : (!s, !q) -> !q
  %2 = graph.matmul %q, %q {transpose_b = true} : (!q, !q) -> !s
  %3 = graph.softmax %2 {axis = 2 : i64} : (!s) -> !s
  %4 = graph.mul %3, %m : (!s, !s) -> !s
  %b = graph.matmul %4, %q : (!s, !q) -> !q
  %5 = graph.matmul %q, %q {transpose_b = true} : (!q, !q) -> !s
  %6 = graph.softmax %5 {axis = 2 : i64} : (!s) -> !s
  %7 = graph.is_nan %6 : (!s) -> tensor<2x9x9xi1>
  %8 = graph.select %7, %zero, %6 : (tensor<2x9x9xi1>, tensor<f32>, !s) -> !s
  %d = graph.matmul %8, %q : (!s, !q) -> !q
  %9 = graph.matmul %q, %q {transpose_b = true} : (!q, !q) -> !s
  %10 = graph.softmax %9 {axis = 2 : i64} : (!s) -> !s
  %11 = graph.select %c, %10, %m : (tensor<9x9xi1>, !s, !s) -> !s
  %e = graph.matmul %11, %q : (!s, !q) -> !q
  %12 = graph.matmul %q, %q {transpose_b = true} : (!q, !q) -> !s
  %13 = graph.softmax %12 {axis = 2 : i64} : (!s) -> !s
  %f = graph.matmul %13, %q {transpose_a = true} : (!s, !q) -> !q
  %14 = graph.softmax %m {axis = 2 : i64} : (!s) -> !s
  %g = graph.matmul %14, %q : (!s, !q) -> !q
  return %a, %1, %b, %d, %e, %f, %g, %8 : !q, !s, !q, !q, !q, !q, !q, !s
}

// -----

!q = tensor<2x9x64xf32>
!s = tensor<2x9x9xf32>
!p = tensor<1x2x9x9xf32>

// More steps than supported.
// WHY: attention {{.*}}Remark="too many ops are between softmax and product"
// WHY: attention {{.*}}Remark="too many ops are between product and softmax"
// WHY-NOT: Remark=
// CHECK-LABEL: func.func @long
// CHECK-NOT: graph.attention
func.func @long(%q: !q) -> (!q, !q) {
  %two = graph.constant dense<2.0> : tensor<f32>
  %0 = graph.matmul %q, %q {transpose_b = true} : (!q, !q) -> !s
  %1 = graph.softmax %0 {axis = 2 : i64} : (!s) -> !s
  %2 = graph.reshape %1 : (!s) -> !p
  %3 = graph.reshape %2 : (!p) -> !s
  %4 = graph.reshape %3 : (!s) -> !p
  %5 = graph.reshape %4 : (!p) -> !s
  %6 = graph.reshape %5 : (!s) -> !p
  %7 = graph.reshape %6 : (!p) -> !s
  %8 = graph.reshape %7 : (!s) -> !p
  %9 = graph.reshape %8 : (!p) -> !s
  %a = graph.matmul %9, %q : (!s, !q) -> !q
  %s0 = graph.matmul %q, %q {transpose_b = true} : (!q, !q) -> !s
  %s1 = graph.mul %s0, %two : (!s, tensor<f32>) -> !s
  %s2 = graph.mul %s1, %two : (!s, tensor<f32>) -> !s
  %s3 = graph.mul %s2, %two : (!s, tensor<f32>) -> !s
  %s4 = graph.mul %s3, %two : (!s, tensor<f32>) -> !s
  %s5 = graph.mul %s4, %two : (!s, tensor<f32>) -> !s
  %s6 = graph.mul %s5, %two : (!s, tensor<f32>) -> !s
  %s7 = graph.mul %s6, %two : (!s, tensor<f32>) -> !s
  %s8 = graph.mul %s7, %two : (!s, tensor<f32>) -> !s
  %s9 = graph.mul %s8, %two : (!s, tensor<f32>) -> !s
  %s10 = graph.mul %s9, %two : (!s, tensor<f32>) -> !s
  %s11 = graph.mul %s10, %two : (!s, tensor<f32>) -> !s
  %s12 = graph.mul %s11, %two : (!s, tensor<f32>) -> !s
  %s13 = graph.mul %s12, %two : (!s, tensor<f32>) -> !s
  %s14 = graph.mul %s13, %two : (!s, tensor<f32>) -> !s
  %s15 = graph.mul %s14, %two : (!s, tensor<f32>) -> !s
  %s16 = graph.mul %s15, %two : (!s, tensor<f32>) -> !s
  %s17 = graph.softmax %s16 {axis = 2 : i64} : (!s) -> !s
  %b = graph.matmul %s17, %q : (!s, !q) -> !q
  return %a, %b : !q, !q
}

// -----

#q = affine_map<()[s0] -> (2, s0, 64)>
#s = affine_map<()[s0] -> (2, s0, s0)>
#c = affine_map<()[s0] -> (s0, s0)>
#w = affine_map<()[s0] -> (3, 2, s0, s0)>
#r = affine_map<()[s0] -> (3, 2, s0, 64)>
!q = tensor<2x?x64xf32, #q>
!s = tensor<2x?x?xf32, #s>
!c = tensor<?x?xi1, #c>
!n = tensor<?x?xf32, #c>
!w = tensor<3x2x?x?xf32, #w>
!r = tensor<3x2x?x64xf32, #r>

// Two masks with different numbers; two scores; masks and biases of more dims; sizes are
// symbols.
// WHY: attention {{.*}}Remark="the masks cannot be merged"
// WHY: attention {{.*}}Remark="a select does not choose between scores and a constant"
// WHY: attention {{.*}}Remark="the mask broadcasts the scores"
// WHY: attention {{.*}}Remark="the bias does not broadcast to the scores"
// WHY-NOT: Remark=
// CHECK-LABEL: func.func @masks
// CHECK-NOT: graph.attention
func.func @masks(%q: !q, %c: !c, %d: !c, %t: !s, %m: tensor<3x1x1x1xi1>, %u: tensor<3x1x1x1xf32>) -> (!q, !q, !r, !r) attributes {graph.symbols = ["s"]} {
  %low = graph.constant dense<-1.0e9> : tensor<f32>
  %four = graph.constant dense<-4.0> : tensor<f32>
  %0 = graph.matmul %q, %q {transpose_b = true} : (!q, !q) -> !s
  %1 = graph.select %c, %0, %low : (!c, !s, tensor<f32>) -> !s
  %2 = graph.select %d, %1, %four : (!c, !s, tensor<f32>) -> !s
  %3 = graph.softmax %2 {axis = 2 : i64} : (!s) -> !s
  %a = graph.matmul %3, %q : (!s, !q) -> !q
  %4 = graph.matmul %q, %q {transpose_b = true} : (!q, !q) -> !s
  %5 = graph.select %c, %4, %t : (!c, !s, !s) -> !s
  %6 = graph.softmax %5 {axis = 2 : i64} : (!s) -> !s
  %b = graph.matmul %6, %q : (!s, !q) -> !q
  %7 = graph.matmul %q, %q {transpose_b = true} : (!q, !q) -> !s
  %8 = graph.select %m, %7, %low : (tensor<3x1x1x1xi1>, !s, tensor<f32>) -> !w
  %9 = graph.softmax %8 {axis = 3 : i64} : (!w) -> !w
  %e = graph.matmul %9, %q : (!w, !q) -> !r
  %10 = graph.matmul %q, %q {transpose_b = true} : (!q, !q) -> !s
  %11 = graph.add %10, %u : (!s, tensor<3x1x1x1xf32>) -> !w
  %12 = graph.softmax %11 {axis = 3 : i64} : (!w) -> !w
  %f = graph.matmul %12, %q : (!w, !q) -> !r
  return %a, %b, %e, %f : !q, !q, !r, !r
}

// -----

!q = tensor<2x9x64xf32>
!s = tensor<2x9x9xf32>

// A tanh with different bound and divisor; a bounded bias.
// WHY: attention {{.*}}Remark="the tanh is not a soft cap of the scores"
// WHY: attention {{.*}}Remark="a bias is added before the soft cap"
// WHY-NOT: Remark=
// CHECK-LABEL: func.func @caps
// CHECK-NOT: graph.attention
func.func @caps(%q: !q, %b: tensor<9x9xf32>) -> (!q, !q) {
  %thirty = graph.constant dense<30.0> : tensor<f32>
  %twenty = graph.constant dense<20.0> : tensor<f32>
  %0 = graph.matmul %q, %q {transpose_b = true} : (!q, !q) -> !s
  %1 = graph.div %0, %twenty : (!s, tensor<f32>) -> !s
  %2 = graph.tanh %1 : (!s) -> !s
  %3 = graph.mul %2, %thirty : (!s, tensor<f32>) -> !s
  %4 = graph.softmax %3 {axis = 2 : i64} : (!s) -> !s
  %c = graph.matmul %4, %q : (!s, !q) -> !q
  %5 = graph.matmul %q, %q {transpose_b = true} : (!q, !q) -> !s
  %6 = graph.add %5, %b : (!s, tensor<9x9xf32>) -> !s
  %7 = graph.div %6, %thirty : (!s, tensor<f32>) -> !s
  %8 = graph.tanh %7 : (!s) -> !s
  %9 = graph.mul %8, %thirty : (!s, tensor<f32>) -> !s
  %10 = graph.softmax %9 {axis = 2 : i64} : (!s) -> !s
  %d = graph.matmul %10, %q : (!s, !q) -> !q
  return %c, %d : !q, !q
}

// -----

!q = tensor<2x9x64xf32>
!h = tensor<2x9x64xf16>
!b = tensor<4x2x9x64xf32>
!m = tensor<8x9x64xf32>

// Products of f16, and of wider types; one batch of queries for all keys; keys that are
// broadcast before a view that mixes batches.
// WHY: attention {{.*}}Remark="the operands have different element types"
// WHY: attention {{.*}}Remark="the dims do not fit graph.attention"
// WHY: attention {{.*}}Remark="the batch dims do not match"
// WHY-NOT: Remark=
// CHECK-LABEL: func.func @operands
// CHECK-NOT: graph.attention
func.func @operands(%q: !q, %h: !h, %one: tensor<1x9x64xf32>, %k: !q, %b: !b, %n: tensor<8x9x9xf32>, %m: !m) -> (!q, !q, !m) {
  %0 = graph.matmul %h, %h {transpose_b = true} : (!h, !h) -> tensor<2x9x9xf16>
  %1 = graph.cast %0 : (tensor<2x9x9xf16>) -> tensor<2x9x9xf32>
  %2 = graph.softmax %1 {axis = 2 : i64} : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
  %c = graph.matmul %2, %q : (tensor<2x9x9xf32>, !q) -> !q
  %3 = graph.matmul %one, %k {transpose_b = true} : (tensor<1x9x64xf32>, !q) -> tensor<2x9x9xf32>
  %4 = graph.softmax %3 {axis = 2 : i64} : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
  %d = graph.matmul %4, %k : (tensor<2x9x9xf32>, !q) -> !q
  %5 = graph.matmul %b, %k {transpose_b = true} : (!b, !q) -> tensor<4x2x9x9xf32>
  %6 = graph.reshape %5 : (tensor<4x2x9x9xf32>) -> tensor<8x9x9xf32>
  %7 = graph.add %6, %n : (tensor<8x9x9xf32>, tensor<8x9x9xf32>) -> tensor<8x9x9xf32>
  %8 = graph.softmax %7 {axis = 2 : i64} : (tensor<8x9x9xf32>) -> tensor<8x9x9xf32>
  %e = graph.matmul %8, %m : (tensor<8x9x9xf32>, !m) -> !m
  return %c, %d, %e : !q, !q, !m
}

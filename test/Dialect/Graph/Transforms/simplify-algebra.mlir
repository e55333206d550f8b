// RUN: aopt %s --graph-simplify-algebra --split-input-file | FileCheck %s

// Sizes are symbols: one known shape is enough.
#x = affine_map<()[s0] -> (s0, 8)>
// CHECK-LABEL: func.func @neutral
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg0
func.func @neutral(%x: tensor<?x8xf32, #x>) -> (tensor<?x8xf32, #x>, tensor<?x8xf32, #x>, tensor<?x8xf32, #x>, tensor<?x8xf32, #x>, tensor<?x8xf32, #x>) {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %minus = graph.constant dense<-0.0> : tensor<8xf32>
  %one = graph.constant dense<1.0> : tensor<1x8xf32>
  %0 = graph.sub %x, %zero : (tensor<?x8xf32, #x>, tensor<f32>) -> tensor<?x8xf32, #x>
  %1 = graph.add %minus, %x : (tensor<8xf32>, tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  %2 = graph.mul %one, %x : (tensor<1x8xf32>, tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  %3 = graph.div %x, %one : (tensor<?x8xf32, #x>, tensor<1x8xf32>) -> tensor<?x8xf32, #x>
  %4 = graph.pow %x, %one : (tensor<?x8xf32, #x>, tensor<1x8xf32>) -> tensor<?x8xf32, #x>
  return %0, %1, %2, %3, %4 : tensor<?x8xf32, #x>, tensor<?x8xf32, #x>, tensor<?x8xf32, #x>, tensor<?x8xf32, #x>, tensor<?x8xf32, #x>
}

// -----

// -0 + 0 is 0; a constant that broadcasts changes the shape; a dynamic size may be 1.
// CHECK-LABEL: func.func @not_neutral
// CHECK: graph.add
// CHECK: graph.mul
// CHECK: graph.mul
// CHECK: graph.div
func.func @not_neutral(%x: tensor<8xf32>, %u: tensor<?xf32>) -> (tensor<8xf32>, tensor<2x8xf32>, tensor<?xf32>, tensor<8xf32>) {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %ones = graph.constant dense<1.0> : tensor<2x1xf32>
  %three = graph.constant dense<3.0> : tensor<f32>
  %row = graph.constant dense<1.0> : tensor<5xf32>
  %0 = graph.add %x, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = graph.mul %x, %ones : (tensor<8xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %2 = graph.mul %u, %row : (tensor<?xf32>, tensor<5xf32>) -> tensor<?xf32>
  %3 = graph.div %x, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %1, %2, %3 : tensor<8xf32>, tensor<2x8xf32>, tensor<?xf32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @truth
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0
func.func @truth(%x: tensor<8xi1>, %n: tensor<8xi32>) -> (tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
  %true = graph.constant dense<true> : tensor<i1>
  %false = graph.constant dense<false> : tensor<i1>
  %0 = graph.and %true, %x : (tensor<i1>, tensor<8xi1>) -> tensor<8xi1>
  %1 = graph.or %x, %false : (tensor<8xi1>, tensor<i1>) -> tensor<8xi1>
  %2 = graph.xor %x, %false : (tensor<8xi1>, tensor<i1>) -> tensor<8xi1>
  %3 = graph.and %x, %x : (tensor<8xi1>, tensor<8xi1>) -> tensor<8xi1>
  return %0, %1, %2, %3 : tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
}

// -----

// CHECK-LABEL: func.func @unary
// CHECK-NEXT: %[[A:.*]] = graph.floor %arg0
// CHECK-NEXT: return %[[A]], %arg0
func.func @unary(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = graph.floor %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.floor %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = graph.neg %x : (tensor<8xf32>) -> tensor<8xf32>
  %3 = graph.neg %2 : (tensor<8xf32>) -> tensor<8xf32>
  return %1, %3 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Large unsigned integers are not exact as doubles.
// CHECK-LABEL: func.func @integer_bounds
// CHECK-COUNT-2: graph.minimum
func.func @integer_bounds(%x: tensor<8xui64>) -> tensor<8xui64> {
  %much = graph.constant dense<9223372036854775813> : tensor<ui64>
  %seven = graph.constant dense<7> : tensor<ui64>
  %0 = graph.minimum %x, %much : (tensor<8xui64>, tensor<ui64>) -> tensor<8xui64>
  %1 = graph.minimum %0, %seven : (tensor<8xui64>, tensor<ui64>) -> tensor<8xui64>
  return %1 : tensor<8xui64>
}

// -----

// CHECK-LABEL: func.func @bounds
// CHECK-DAG: %[[TWO:.*]] = graph.constant dense<2.0
// CHECK-DAG: %[[SIX:.*]] = graph.constant dense<6.0
// CHECK-DAG: graph.minimum %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<f32>)
// CHECK-DAG: graph.maximum %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<f32>)
// CHECK-NOT: graph.minimum
func.func @bounds(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %two = graph.constant dense<2.0> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<f32>
  %0 = graph.minimum %x, %six : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = graph.minimum %0, %two : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = graph.maximum %x, %six : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = graph.maximum %2, %two : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %1, %3 : tensor<8xf32>, tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @powers
// CHECK-NEXT: %[[S:.*]] = graph.mul %arg0, %arg0
// CHECK-NEXT: %[[R:.*]] = graph.mul %arg0, %arg0
// CHECK-NEXT: %[[C:.*]] = graph.mul %[[R]], %arg0
// CHECK-NEXT: %[[I:.*]] = graph.reciprocal %arg0
// CHECK-NEXT: return %[[S]], %[[C]], %[[I]]
func.func @powers(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %two = graph.constant dense<2.0> : tensor<f32>
  %three = graph.constant dense<3.0> : tensor<f32>
  %minus = graph.constant dense<-1.0> : tensor<f32>
  %0 = graph.pow %x, %two : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = graph.pow %x, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = graph.pow %x, %minus : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// Roots: -inf and -0 have those of inf and 0.
// CHECK-LABEL: func.func @roots
// CHECK: %[[E:.*]] = graph.equal %arg0, %{{.*}}
// CHECK: %[[F:.*]] = graph.select %[[E]], %{{.*}}, %arg0
// CHECK: %[[S:.*]] = graph.sqrt %[[F]]
// CHECK: %[[A:.*]] = graph.abs %[[S]]
// CHECK-NOT: graph.pow
// CHECK: %[[R:.*]] = graph.reciprocal
// CHECK: return %[[A]], %[[R]]
func.func @roots(%x: tensor<?xf32>, %y: tensor<8xf64>) -> (tensor<?xf32>, tensor<8xf64>) {
  %half = graph.constant dense<0.5> : tensor<f32>
  %minus = graph.constant dense<-0.5> : tensor<f64>
  %0 = graph.pow %x, %half : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %1 = graph.pow %y, %minus : (tensor<8xf64>, tensor<f64>) -> tensor<8xf64>
  return %0, %1 : tensor<?xf32>, tensor<8xf64>
}

// -----

// The cube of a narrow float would be rounded twice, its root as well.
// CHECK-LABEL: func.func @other_powers
// CHECK-COUNT-2: graph.pow
func.func @other_powers(%x: tensor<8xf16>, %y: tensor<8xf16>) -> (tensor<8xf16>, tensor<8xf16>) {
  %three = graph.constant dense<3.0> : tensor<f16>
  %half = graph.constant dense<0.5> : tensor<f16>
  %0 = graph.pow %x, %three : (tensor<8xf16>, tensor<f16>) -> tensor<8xf16>
  %1 = graph.pow %y, %half : (tensor<8xf16>, tensor<f16>) -> tensor<8xf16>
  return %0, %1 : tensor<8xf16>, tensor<8xf16>
}

// -----

// CHECK-LABEL: func.func @quotient
// CHECK: %[[C:.*]] = graph.constant dense<1.250000e-01> : tensor<f32>
// CHECK: graph.mul %arg0, %[[C]]
func.func @quotient(%x: tensor<8xf32>) -> tensor<8xf32> {
  %eight = graph.constant dense<8.0> : tensor<f32>
  %0 = graph.div %x, %eight : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// f32 represents f16 and 24-bit integers, but not 32-bit ones.
// CHECK-LABEL: func.func @casts
// CHECK-NEXT: %[[A:.*]] = graph.cast %arg0 : (tensor<8xf16>) -> tensor<8xf64>
// CHECK-NEXT: %[[B:.*]] = graph.cast %arg1 : (tensor<8xi16>) -> tensor<8xi64>
// CHECK-NEXT: %[[C:.*]] = graph.cast %arg2 : (tensor<8xi32>) -> tensor<8xf32>
// CHECK-NEXT: %[[D:.*]] = graph.cast %[[C]] : (tensor<8xf32>) -> tensor<8xi64>
// CHECK-NEXT: return %[[A]], %[[B]], %[[D]]
func.func @casts(%x: tensor<8xf16>, %s: tensor<8xi16>, %n: tensor<8xi32>) -> (tensor<8xf64>, tensor<8xi64>, tensor<8xi64>) {
  %0 = graph.cast %x : (tensor<8xf16>) -> tensor<8xf32>
  %1 = graph.cast %0 : (tensor<8xf32>) -> tensor<8xf64>
  %2 = graph.cast %s : (tensor<8xi16>) -> tensor<8xf32>
  %3 = graph.cast %2 : (tensor<8xf32>) -> tensor<8xi64>
  %4 = graph.cast %n : (tensor<8xi32>) -> tensor<8xf32>
  %5 = graph.cast %4 : (tensor<8xf32>) -> tensor<8xi64>
  return %1, %3, %5 : tensor<8xf64>, tensor<8xi64>, tensor<8xi64>
}

// -----

// Out of range, integers wrap and floats do not.
// CHECK-LABEL: func.func @wrapping
// CHECK-NEXT: %[[F:.*]] = graph.cast %arg0 : (tensor<8xi16>) -> tensor<8xf32>
// CHECK-NEXT: %[[U:.*]] = graph.cast %[[F]] : (tensor<8xf32>) -> tensor<8xui8>
// CHECK-NEXT: return %[[U]]
func.func @wrapping(%x: tensor<8xi16>) -> tensor<8xui8> {
  %0 = graph.cast %x : (tensor<8xi16>) -> tensor<8xf32>
  %1 = graph.cast %0 : (tensor<8xf32>) -> tensor<8xui8>
  return %1 : tensor<8xui8>
}

// -----

// CHECK-LABEL: func.func @select
// CHECK-NEXT: %[[S:.*]] = graph.select %arg0, %arg2, %arg1
// CHECK-NEXT: return %arg2, %arg1, %[[S]]
func.func @select(%c: tensor<8xi1>, %x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %false = graph.constant dense<false> : tensor<i1>
  %0 = graph.select %false, %x, %y : (tensor<i1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.select %c, %x, %x : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = graph.not %c : (tensor<8xi1>) -> tensor<8xi1>
  %3 = graph.select %2, %x, %y : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0, %1, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

#y = affine_map<()[s0] -> (s0, 8, 1, 5)>
#z = affine_map<()[s0] -> (s0, 8, 5)>
#r = affine_map<()[s0] -> (s0)>
// CHECK-LABEL: func.func @reductions
// CHECK-NEXT: %[[V:.*]] = graph.reshape %arg0
// CHECK-NEXT: %[[S:.*]] = graph.reduce_sum %arg0 {axes = array<i64: 1, 2, 3>, keepdims = false}
// CHECK-NEXT: return %[[V]], %[[S]]
func.func @reductions(%x: tensor<?x8x1x5xf32, #y>) -> (tensor<?x8x5xf32, #z>, tensor<?xf32, #r>) {
  %0 = graph.reduce_max %x {axes = array<i64: 2>, keepdims = false} : (tensor<?x8x1x5xf32, #y>) -> tensor<?x8x5xf32, #z>
  %1 = graph.reduce_sum %x {axes = array<i64: 1, 2>, keepdims = false} : (tensor<?x8x1x5xf32, #y>) -> tensor<?x5xf32, affine_map<()[s0] -> (s0, 5)>>
  %2 = graph.reduce_sum %1 {axes = array<i64: 1>, keepdims = false} : (tensor<?x5xf32, affine_map<()[s0] -> (s0, 5)>>) -> tensor<?xf32, #r>
  return %0, %2 : tensor<?x8x5xf32, #z>, tensor<?xf32, #r>
}

// -----

#r = affine_map<()[s0] -> (s0, 1, 8)>
#c = affine_map<()[s0, s1] -> (s0, s1, 1)>
#y = affine_map<()[s0, s1] -> (s0, 8, s1)>

// Contraction over one element: a number per row times one per column, of a transposed
// operand, too, and broadcast along the batch. Not of integers, and not over two
// elements.
// CHECK-LABEL: func.func @outer
// CHECK: %[[R:.*]] = graph.reshape %arg0 : {{.*}} -> tensor<?x8x1xf32
// CHECK: %[[C:.*]] = graph.reshape %arg1 : {{.*}} -> tensor<?x1x?xf32
// CHECK: graph.mul %[[R]], %[[C]]
// CHECK: graph.mul %arg2, %arg3 : (tensor<3x1xf32>, tensor<5x1x4xf32>) -> tensor<5x3x4xf32>
// CHECK: graph.matmul
// CHECK: graph.matmul
func.func @outer(%x: tensor<?x1x8xf32, #r>, %z: tensor<?x?x1xf32, #c>, %a: tensor<3x1xf32>, %b: tensor<5x1x4xf32>, %i: tensor<3x1xi32>, %j: tensor<1x4xi32>, %t: tensor<3x2xf32>, %u: tensor<2x4xf32>) -> (tensor<?x8x?xf32, #y>, tensor<5x3x4xf32>, tensor<3x4xi32>, tensor<3x4xf32>) {
  %0 = graph.matmul %x, %z {transpose_a = true, transpose_b = true} : (tensor<?x1x8xf32, #r>, tensor<?x?x1xf32, #c>) -> tensor<?x8x?xf32, #y>
  %1 = graph.matmul %a, %b : (tensor<3x1xf32>, tensor<5x1x4xf32>) -> tensor<5x3x4xf32>
  %2 = graph.matmul %i, %j : (tensor<3x1xi32>, tensor<1x4xi32>) -> tensor<3x4xi32>
  %3 = graph.matmul %t, %u : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  return %0, %1, %2, %3 : tensor<?x8x?xf32, #y>, tensor<5x3x4xf32>, tensor<3x4xi32>, tensor<3x4xf32>
}

// -----

// A product with one column is a sum of each row by its numbers.
#a = affine_map<()[s0] -> (s0, 8)>
#y = affine_map<()[s0] -> (s0, 1)>
#b = affine_map<()[s0, s1] -> (s0, s1)>
#c = affine_map<()[s0, s1] -> (s1, 1)>
#z = affine_map<()[s0, s1] -> (s0, 1)>
// CHECK-LABEL: func.func @columns
// CHECK: %[[V:.*]] = graph.reshape %arg1 : (tensor<8x1xf32>) -> tensor<1x8xf32>
// CHECK: %[[P:.*]] = graph.mul %arg0, %[[V]]
// CHECK: %[[S:.*]] = graph.reduce_sum %[[P]] {axes = array<i64: 1>}
// CHECK: %[[Q:.*]] = graph.mul %arg2, %arg3 : {{.*}} -> tensor<3x5x8xf64>
// CHECK: %[[T:.*]] = graph.reduce_sum %[[Q]] {axes = array<i64: 2>}
// CHECK: return %[[S]], %[[T]]
func.func @columns(%x: tensor<?x8xf32, #a>, %v: tensor<8x1xf32>, %y: tensor<5x8xf64>, %w: tensor<3x1x8xf64>) -> (tensor<?x1xf32, #y>, tensor<3x5x1xf64>) attributes {graph.symbols = ["n"]} {
  %0 = graph.matmul %x, %v : (tensor<?x8xf32, #a>, tensor<8x1xf32>) -> tensor<?x1xf32, #y>
  %1 = graph.matmul %y, %w {transpose_b = true} : (tensor<5x8xf64>, tensor<3x1x8xf64>) -> tensor<3x5x1xf64>
  return %0, %1 : tensor<?x1xf32, #y>, tensor<3x5x1xf64>
}

// -----

// Two columns, narrow floats and integers stay products.
// CHECK-LABEL: func.func @no_columns
// CHECK-COUNT-4: graph.matmul
func.func @no_columns(%x: tensor<4x8xf32>, %v: tensor<8x2xf32>, %h: tensor<4x8xf16>, %u: tensor<8x1xf16>, %i: tensor<4x8xi32>, %j: tensor<8x1xi32>, %t: tensor<8x4xf32>, %c: tensor<8x1xf32>) -> (tensor<4x2xf32>, tensor<4x1xf16>, tensor<4x1xi32>, tensor<4x1xf32>) {
  %0 = graph.matmul %x, %v : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %1 = graph.matmul %h, %u : (tensor<4x8xf16>, tensor<8x1xf16>) -> tensor<4x1xf16>
  %2 = graph.matmul %i, %j : (tensor<4x8xi32>, tensor<8x1xi32>) -> tensor<4x1xi32>
  %3 = graph.matmul %t, %c {transpose_a = true} : (tensor<8x4xf32>, tensor<8x1xf32>) -> tensor<4x1xf32>
  return %0, %1, %2, %3 : tensor<4x2xf32>, tensor<4x1xf16>, tensor<4x1xi32>, tensor<4x1xf32>
}

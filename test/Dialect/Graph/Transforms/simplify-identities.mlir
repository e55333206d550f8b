// Ops whose result is their operand, a part of it or a known number; and similar ops that
// differ in one respect and stay.
// RUN: aopt %s --graph-simplify-movement --canonicalize --cse --split-input-file | FileCheck %s --check-prefixes=CHECK,MOVE
// RUN: aopt %s --graph-simplify-algebra --canonicalize --cse --split-input-file | FileCheck %s --check-prefixes=CHECK,ALGEBRA

#x = affine_map<()[s0] -> (s0, 1, 6, 6)>
#h = affine_map<()[s0] -> (s0, 1, 3, 3)>
!x = tensor<?x1x6x6xf32, #x>
!h = tensor<?x1x3x3xf32, #h>

// Rows are symbols. A pool over single elements selects every other one.
// CHECK-LABEL: func.func @movement
// MOVE-NEXT: %[[S:.*]] = graph.slice %arg0 {starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 1, 2, 2>}
// MOVE-NEXT: %[[L:.*]] = graph.slice %arg1 {starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 2, 2, 1>}
// MOVE-NEXT: return %arg0, %arg0, %arg0, %arg0, %[[S]], %[[L]]
func.func @movement(%x: !x, %l: tensor<2x6x6x3xf32>) -> (!x, !x, !x, !x, !h, tensor<2x3x3x3xf32>) {
  %0 = graph.reverse %x {axes = array<i64: 1>} : (!x) -> !x
  %1 = graph.resize %x {scales = array<f64: 1.0, 1.0, 1.0, 1.0>, mode = #graph.resize_mode<linear>} : (!x) -> !x
  %2 = graph.cumsum %x {axis = 1 : i64} : (!x) -> !x
  %3 = graph.max_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (!x) -> !x
  %4 = graph.avg_pool %x {kernel = array<i64: 1, 1>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (!x) -> !h
  %5 = graph.max_pool %l {kernel = array<i64: 1, 1>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x6x6x3xf32>) -> tensor<2x3x3x3xf32>
  return %0, %1, %2, %3, %4, %5 : !x, !x, !x, !x, !h, tensor<2x3x3x3xf32>
}

// CHECK-LABEL: func.func @moves
// MOVE: graph.reverse
// MOVE: graph.resize
// MOVE: graph.resize
// MOVE: graph.cumsum
// MOVE: graph.cumprod
// MOVE: graph.max_pool
// MOVE: graph.avg_pool
func.func @moves(%x: !x) -> (!x, !x, tensor<?x1x6x12xf32, affine_map<()[s0] -> (s0, 1, 6, 12)>>, !x, !x, !x, !x) {
  %0 = graph.reverse %x {axes = array<i64: 1, 2>} : (!x) -> !x
  %1 = graph.resize %x {scales = array<f64: 1.0, 1.0, 1.0, 1.1>, mode = #graph.resize_mode<linear>} : (!x) -> !x
  %2 = graph.resize %x : (!x) -> tensor<?x1x6x12xf32, affine_map<()[s0] -> (s0, 1, 6, 12)>>
  %3 = graph.cumsum %x {axis = 1 : i64, exclusive = true} : (!x) -> !x
  %4 = graph.cumprod %x {axis = 2 : i64} : (!x) -> !x
  %5 = graph.max_pool %x {kernel = array<i64: 2, 1>, strides = array<i64: 1, 1>, pads = array<i64: 1, 0, 0, 0>, dilations = array<i64: 1, 1>} : (!x) -> !x
  %6 = graph.avg_pool %x {kernel = array<i64: 1, 3>, strides = array<i64: 1, 1>, pads = array<i64: 0, 1, 0, 1>, dilations = array<i64: 1, 1>} : (!x) -> !x
  return %0, %1, %2, %3, %4, %5, %6 : !x, !x, tensor<?x1x6x12xf32, affine_map<()[s0] -> (s0, 1, 6, 12)>>, !x, !x, !x, !x
}

// -----

#x = affine_map<()[s0] -> (s0, 1)>
!x = tensor<?x1xf32, #x>

// Indices of the only element; empty updates; triangles that are everything or nothing.
// CHECK-LABEL: func.func @places
// MOVE-DAG: %[[ZERO:.*]] = graph.constant dense<0> : tensor<i64>
// MOVE-DAG: %[[NONE:.*]] = graph.constant dense<0.0{{.*}}> : tensor<f32>
// MOVE-DAG: %[[P:.*]] = graph.broadcast_to %[[ZERO]] {{.*}} -> tensor<?x1xi64
// MOVE-DAG: %[[N:.*]] = graph.broadcast_to %[[NONE]] {{.*}} -> tensor<4x8xf32>
// MOVE: return %[[P]], %arg1, %arg1, %arg1, %arg1, %[[N]], %[[N]]
func.func @places(%x: !x, %y: tensor<4x8xf32>, %i: tensor<4x0xi64>, %u: tensor<4x0xf32>, %n: tensor<0x1xi64>, %v: tensor<0x8xf32>) -> (tensor<?x1xi64, #x>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = graph.arg_max %x {axis = 1 : i64} : (!x) -> tensor<?x1xi64, #x>
  %1 = graph.scatter_elements %y, %i, %u {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x0xi64>, tensor<4x0xf32>) -> tensor<4x8xf32>
  %2 = graph.scatter_nd %y, %n, %v : (tensor<4x8xf32>, tensor<0x1xi64>, tensor<0x8xf32>) -> tensor<4x8xf32>
  %3 = graph.trilu %y {k = -3 : i64, upper = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = graph.trilu %y {k = 7 : i64, upper = false} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = graph.empty : () -> tensor<4x8xf32>
  %4 = graph.insert_slice %t, %d {axis = 1 : i64, offsets = affine_map<() -> (0)>} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = graph.trilu %y {k = 8 : i64, upper = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = graph.trilu %y {k = -4 : i64, upper = false} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<?x1xi64, #x>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: func.func @other_places
// MOVE: graph.arg_max
// MOVE: graph.scatter_elements
// MOVE-COUNT-4: graph.trilu
func.func @other_places(%x: !x, %y: tensor<4x8xf32>, %i: tensor<4x1xi64>, %u: tensor<4x1xf32>) -> (tensor<1x1xi64>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = graph.arg_max %x {axis = 0 : i64} : (!x) -> tensor<1x1xi64>
  %1 = graph.scatter_elements %y, %i, %u {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x1xi64>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %3 = graph.trilu %y {k = -2 : i64, upper = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = graph.trilu %y {k = 6 : i64, upper = false} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = graph.trilu %y {k = 7 : i64, upper = true} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = graph.trilu %y {k = -3 : i64, upper = false} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %1, %3, %4, %5, %6 : tensor<1x1xi64>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

#x = affine_map<()[s0] -> (s0, 8)>
!x = tensor<?x8xi32, #x>
!f = tensor<?x8xf32, #x>
!b = tensor<?x8xi1, #x>

// CHECK-LABEL: func.func @equal_operands
// ALGEBRA-DAG: %[[ZERO:.*]] = graph.constant dense<0> : tensor<i32>
// ALGEBRA-DAG: %[[YES:.*]] = graph.constant dense<true> : tensor<i1>
// ALGEBRA-DAG: %[[NO:.*]] = graph.constant dense<false> : tensor<i1>
// ALGEBRA-DAG: %[[Z:.*]] = graph.broadcast_to %[[ZERO]]
// ALGEBRA-DAG: %[[Y:.*]] = graph.broadcast_to %[[YES]]
// ALGEBRA-DAG: %[[N:.*]] = graph.broadcast_to %[[NO]]
// ALGEBRA: graph.sub %arg1, %arg1
// ALGEBRA: graph.equal %arg1, %arg1
// ALGEBRA: graph.less_equal %arg1, %arg1
func.func @equal_operands(%x: !x, %f: !f) -> (!x, !x, !b, !b, !b, !f, !b, !b) {
  %0 = graph.sub %x, %x : (!x, !x) -> !x
  %1 = graph.bitwise_xor %x, %x : (!x, !x) -> !x
  %2 = graph.equal %x, %x : (!x, !x) -> !b
  %3 = graph.greater_equal %x, %x : (!x, !x) -> !b
  %4 = graph.less %f, %f : (!f, !f) -> !b
  %5 = graph.sub %f, %f : (!f, !f) -> !f
  %6 = graph.equal %f, %f : (!f, !f) -> !b
  %7 = graph.less_equal %f, %f : (!f, !f) -> !b
  return %0, %1, %2, %3, %4, %5, %6, %7 : !x, !x, !b, !b, !b, !f, !b, !b
}

// Not for floats: NaN * 0 is NaN, but NaN ^ 0 is 1.
// CHECK-LABEL: func.func @decided
// ALGEBRA-NOT: graph.and
// ALGEBRA-NOT: graph.or
// ALGEBRA-NOT: graph.pow
// ALGEBRA: graph.mul %arg1
// ALGEBRA-NOT: graph.mul %arg0
// ALGEBRA-NOT: graph.bitwise_and
// ALGEBRA: return
func.func @decided(%x: !x, %f: !f, %b: !b) -> (!x, !x, !b, !b, !f, !f) {
  %zero = graph.constant dense<0> : tensor<i32>
  %none = graph.constant dense<0.0> : tensor<f32>
  %true = graph.constant dense<true> : tensor<i1>
  %false = graph.constant dense<false> : tensor<i1>
  %0 = graph.mul %x, %zero : (!x, tensor<i32>) -> !x
  %1 = graph.bitwise_and %zero, %x : (tensor<i32>, !x) -> !x
  %2 = graph.and %b, %false : (!b, tensor<i1>) -> !b
  %3 = graph.or %true, %b : (tensor<i1>, !b) -> !b
  %4 = graph.mul %f, %none : (!f, tensor<f32>) -> !f
  %5 = graph.pow %f, %none : (!f, tensor<f32>) -> !f
  return %0, %1, %2, %3, %4, %5 : !x, !x, !b, !b, !f, !f
}

// -----

#x = affine_map<()[s0] -> (s0, 8)>
#r = affine_map<()[s0] -> (s0, 1, 8)>
!x = tensor<?x8xf32, #x>
!n = tensor<?x8xi32, #x>
!b = tensor<?x8xi1, #x>

// CHECK-LABEL: func.func @signs
// ALGEBRA-NEXT: %[[D:.*]] = graph.sub %arg0, %arg1
// ALGEBRA-NEXT: %[[S:.*]] = graph.add %arg0, %arg1
// ALGEBRA-NEXT: %[[A:.*]] = graph.abs %arg0
// ALGEBRA-NEXT: %[[R:.*]] = graph.round %arg0
// ALGEBRA-NEXT: %[[C:.*]] = graph.cast %arg2
// ALGEBRA-NEXT: %[[G:.*]] = graph.greater_equal %arg2, %arg3
// ALGEBRA-NEXT: return %[[D]], %[[S]], %[[A]], %[[A]], %[[R]], %[[C]], %[[G]], %arg0, %arg0
func.func @signs(%x: !x, %y: !x, %n: !n, %m: !n) -> (!x, !x, !x, !x, !x, !x, !b, !x, !x) {
  %inf = graph.constant dense<0x7F800000> : tensor<f32>
  %less = graph.constant dense<0xFF800000> : tensor<1xf32>
  %0 = graph.neg %y : (!x) -> !x
  %1 = graph.add %0, %x : (!x, !x) -> !x
  %2 = graph.sub %x, %0 : (!x, !x) -> !x
  %3 = graph.neg %x : (!x) -> !x
  %4 = graph.abs %3 : (!x) -> !x
  %5 = graph.relu %4 : (!x) -> !x
  %6 = graph.round %x : (!x) -> !x
  %7 = graph.floor %6 : (!x) -> !x
  %8 = graph.cast %n : (!n) -> !x
  %9 = graph.ceil %8 : (!x) -> !x
  %10 = graph.less %n, %m : (!n, !n) -> !b
  %11 = graph.not %10 : (!b) -> !b
  %12 = graph.minimum %x, %inf : (!x, tensor<f32>) -> !x
  %13 = graph.maximum %less, %x : (tensor<1xf32>, !x) -> !x
  return %1, %2, %4, %5, %7, %9, %11, %12, %13 : !x, !x, !x, !x, !x, !x, !b, !x, !x
}

// A difference from a negated value; a cast of fractions; a comparison that is false for
// NaN; bounds on the other side.
// CHECK-LABEL: func.func @other_signs
// ALGEBRA: graph.neg
// ALGEBRA: graph.sub
// ALGEBRA: graph.floor
// ALGEBRA: graph.not
// ALGEBRA: graph.minimum
func.func @other_signs(%x: !x, %y: !x, %h: tensor<?x8xf16, #x>) -> (!x, !x, !b, !x) {
  %less = graph.constant dense<0xFF800000> : tensor<f32>
  %0 = graph.neg %x : (!x) -> !x
  %1 = graph.sub %0, %y : (!x, !x) -> !x
  %2 = graph.cast %h : (tensor<?x8xf16, #x>) -> !x
  %3 = graph.floor %2 : (!x) -> !x
  %4 = graph.less %x, %y : (!x, !x) -> !b
  %5 = graph.not %4 : (!b) -> !b
  %6 = graph.minimum %x, %less : (!x, tensor<f32>) -> !x
  return %1, %3, %5, %6 : !x, !x, !b, !x
}

// CHECK-LABEL: func.func @bits
// ALGEBRA-NEXT: %[[B:.*]] = graph.bitcast %arg0 : (tensor<?x8xf32, #{{.*}}>) -> tensor<?x8xui32
// ALGEBRA-NEXT: return %arg0, %[[B]], %arg1
func.func @bits(%x: !x, %c: !b) -> (!x, tensor<?x8xui32, #x>, !b) {
  %true = graph.constant dense<true> : tensor<i1>
  %false = graph.constant dense<false> : tensor<8xi1>
  %0 = graph.bitcast %x : (!x) -> !n
  %1 = graph.bitcast %0 : (!n) -> !x
  %2 = graph.bitcast %0 : (!n) -> tensor<?x8xui32, #x>
  %3 = graph.select %c, %true, %false : (!b, tensor<i1>, tensor<8xi1>) -> !b
  return %1, %2, %3 : !x, tensor<?x8xui32, #x>, !b
}

// The bits between are those of other numbers; in the other order it is a negation.
// CHECK-LABEL: func.func @other_bits
// ALGEBRA: graph.bitcast
// ALGEBRA: graph.add
// ALGEBRA: graph.bitcast
// ALGEBRA: graph.select
func.func @other_bits(%x: !x, %c: !b) -> (!x, !b) {
  %true = graph.constant dense<true> : tensor<i1>
  %false = graph.constant dense<false> : tensor<i1>
  %0 = graph.bitcast %x : (!x) -> !n
  %1 = graph.add %0, %0 : (!n, !n) -> !n
  %2 = graph.bitcast %1 : (!n) -> !x
  %3 = graph.select %c, %false, %true : (!b, tensor<i1>, tensor<i1>) -> !b
  return %2, %3 : !x, !b
}

// Magnitudes and squares of single elements; of several elements they are sums.
// CHECK-LABEL: func.func @single
// ALGEBRA-NEXT: %[[A:.*]] = graph.abs %arg0
// ALGEBRA-NEXT: %[[V:.*]] = graph.reshape %[[A]]
// ALGEBRA-NEXT: %[[S:.*]] = graph.mul %arg0, %arg0
// ALGEBRA-NEXT: %[[W:.*]] = graph.reshape %[[S]]
// ALGEBRA-NEXT: %[[L:.*]] = graph.reduce_l1 %arg0
// ALGEBRA-NEXT: return %[[V]], %[[W]], %[[L]]
func.func @single(%x: tensor<?x1x8xf32, #r>) -> (!x, !x, tensor<?x1xf32, affine_map<()[s0] -> (s0, 1)>>) {
  %0 = graph.reduce_l1 %x {axes = array<i64: 1>, keepdims = false} : (tensor<?x1x8xf32, #r>) -> !x
  %1 = graph.reduce_sum_square %x {axes = array<i64: 1>, keepdims = false} : (tensor<?x1x8xf32, #r>) -> !x
  %2 = graph.reduce_l1 %x {axes = array<i64: 2>, keepdims = false} : (tensor<?x1x8xf32, #r>) -> tensor<?x1xf32, affine_map<()[s0] -> (s0, 1)>>
  return %0, %1, %2 : !x, !x, tensor<?x1xf32, affine_map<()[s0] -> (s0, 1)>>
}

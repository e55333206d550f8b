// Spellings of the normalisations by exporters and libraries; rows are symbols.
// RUN: aopt %s --graph-recognize-normalization --canonicalize --split-input-file | FileCheck %s

#x = affine_map<()[s0] -> (s0, 8)>
#r = affine_map<()[s0] -> (s0, 1)>
!x = tensor<?x8xf32, #x>
!r = tensor<?x1xf32, #r>

// Flax: the variance as the mean of squares minus the square of the mean, at least 0.
// CHECK-LABEL: func.func @fast_variance
// CHECK: %[[Y:.*]] = graph.layer_norm %arg0 scale %arg1 bias %arg2 {axis = 1 : i64, epsilon = {{.*}} : f64}
// CHECK-NEXT: return %[[Y]]
func.func @fast_variance(%x: !x, %s: tensor<8xf32>, %b: tensor<8xf32>) -> !x {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %eps = graph.constant dense<1.0e-6> : tensor<f32>
  %mean = graph.reduce_mean %x {axes = array<i64: 1>, keepdims = true} : (!x) -> !r
  %xx = graph.mul %x, %x : (!x, !x) -> !x
  %square = graph.reduce_mean %xx {axes = array<i64: 1>, keepdims = true} : (!x) -> !r
  %mm = graph.mul %mean, %mean : (!r, !r) -> !r
  %less = graph.sub %square, %mm : (!r, !r) -> !r
  %v = graph.maximum %zero, %less : (tensor<f32>, !r) -> !r
  %e = graph.add %v, %eps : (!r, tensor<f32>) -> !r
  %root = graph.sqrt %e : (!r) -> !r
  %i = graph.reciprocal %root : (!r) -> !r
  %f = graph.mul %i, %s : (!r, tensor<8xf32>) -> !x
  %d = graph.sub %x, %mean : (!x, !r) -> !x
  %n = graph.mul %d, %f : (!x, !x) -> !x
  %y = graph.add %n, %b : (!x, tensor<8xf32>) -> !x
  return %y : !x
}

// -----

#x = affine_map<()[s0] -> (s0, 8)>
#r = affine_map<()[s0] -> (s0, 1)>
!x = tensor<?x8xf32, #x>
!r = tensor<?x1xf32, #r>

// Constants on the other side, differences computed twice, 1 / root, and roots as powers.
// CHECK-LABEL: func.func @sides
// CHECK: %[[A:.*]] = graph.layer_norm %arg0 {axis = 1
// CHECK: %[[B:.*]] = graph.layer_norm %arg0 {axis = 1
// CHECK: %[[C:.*]] = graph.rms_norm %arg0, %arg1 {axis = 1
// CHECK: %[[D:.*]] = graph.rms_norm %arg0 {axis = 1
// CHECK: return %[[A]], %[[B]], %[[C]], %[[D]]
func.func @sides(%x: !x, %s: tensor<8xf32>) -> (!x, !x, !x, !x) {
  %one = graph.constant dense<1.0> : tensor<f32>
  %two = graph.constant dense<2.0> : tensor<1xf32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %eps = graph.constant dense<1.0e-5> : tensor<1x1xf32>
  %m0 = graph.reduce_mean %x {axes = array<i64: 1>, keepdims = true} : (!x) -> !r
  %d0 = graph.sub %x, %m0 : (!x, !r) -> !x
  %m1 = graph.reduce_mean %x {axes = array<i64: 1>, keepdims = true} : (!x) -> !r
  %d1 = graph.sub %x, %m1 : (!x, !r) -> !x
  %q0 = graph.pow %d0, %two : (!x, tensor<1xf32>) -> !x
  %v0 = graph.reduce_mean %q0 {axes = array<i64: 1>, keepdims = true} : (!x) -> !r
  %e0 = graph.add %eps, %v0 : (tensor<1x1xf32>, !r) -> !r
  %r0 = graph.pow %e0, %half : (!r, tensor<f32>) -> !r
  %a = graph.div %d1, %r0 : (!x, !r) -> !x
  %r1 = graph.sqrt %e0 : (!r) -> !r
  %i1 = graph.div %one, %r1 : (tensor<f32>, !r) -> !r
  %b = graph.mul %i1, %d0 : (!r, !x) -> !x
  %q2 = graph.mul %x, %x : (!x, !x) -> !x
  %v2 = graph.reduce_mean %q2 {axes = array<i64: 1>, keepdims = true} : (!x) -> !r
  %e2 = graph.add %v2, %eps : (!r, tensor<1x1xf32>) -> !r
  %i2 = graph.reciprocal %e2 : (!r) -> !r
  %r2 = graph.sqrt %i2 : (!r) -> !r
  %n2 = graph.mul %r2, %x : (!r, !x) -> !x
  %c = graph.mul %n2, %s : (!x, tensor<8xf32>) -> !x
  %p3 = graph.pow %x, %two : (!x, tensor<1xf32>) -> !x
  %v3 = graph.reduce_mean %p3 {axes = array<i64: 1>, keepdims = true} : (!x) -> !r
  %r3 = graph.sqrt %v3 : (!r) -> !r
  %d = graph.div %x, %r3 : (!x, !r) -> !x
  return %a, %b, %c, %d : !x, !x, !x, !x
}

// -----

#x = affine_map<()[s0] -> (s0, 16)>
#r = affine_map<()[s0] -> (s0, 1)>
!x = tensor<?x16xf32, #x>
!r = tensor<?x1xf32, #r>

// Sums of squares, and means as parts of sums.
// CHECK-LABEL: func.func @sums
// CHECK: %[[A:.*]] = graph.rms_norm %arg0 {axis = 1 : i64, epsilon = {{.*}} : f64}
// CHECK: %[[C:.*]] = graph.layer_norm %arg0 {axis = 1 : i64
// CHECK: return %[[A]], %[[C]]
func.func @sums(%x: !x) -> (!x, !x) {
  %n = graph.constant dense<16.0> : tensor<f32>
  %part = graph.constant dense<0.0625> : tensor<f32>
  %eps = graph.constant dense<1.0e-5> : tensor<f32>
  %s0 = graph.reduce_sum_square %x {axes = array<i64: 1>, keepdims = true} : (!x) -> !r
  %v0 = graph.mul %part, %s0 : (tensor<f32>, !r) -> !r
  %e0 = graph.add %v0, %eps : (!r, tensor<f32>) -> !r
  %r0 = graph.sqrt %e0 : (!r) -> !r
  %a = graph.div %x, %r0 : (!x, !r) -> !x
  %t = graph.reduce_sum %x {axes = array<i64: 1>, keepdims = true} : (!x) -> !r
  %m = graph.mul %t, %part : (!r, tensor<f32>) -> !r
  %d = graph.sub %x, %m : (!x, !r) -> !x
  %s2 = graph.reduce_sum_square %d {axes = array<i64: 1>, keepdims = true} : (!x) -> !r
  %v2 = graph.div %s2, %n : (!r, tensor<f32>) -> !r
  %e2 = graph.add %v2, %eps : (!r, tensor<f32>) -> !r
  %r2 = graph.sqrt %e2 : (!r) -> !r
  %c = graph.div %d, %r2 : (!x, !r) -> !x
  return %a, %c : !x, !x
}

// -----

#x = affine_map<()[s0] -> (s0, 4, 3, 3)>
#c = affine_map<()[s0] -> (s0, 4, 1, 1)>
#g = affine_map<()[s0] -> (s0, 2, 18)>
#h = affine_map<()[s0] -> (s0, 2, 1)>
!x = tensor<?x4x3x3xf32, #x>
!c = tensor<?x4x1x1xf32, #c>
!g = tensor<?x2x18xf32, #g>
!h = tensor<?x2x1xf32, #h>

// Instances and groups of channels without a separate op, with parameters per channel.
// CHECK-LABEL: func.func @instances
// CHECK: graph.layer_norm %arg0 scale %arg1 bias %arg2 {axis = 2
// CHECK: graph.layer_norm %{{.*}} scale %{{.*}} bias %{{.*}} {axis = 2
// CHECK-NOT: graph.mul
func.func @instances(%x: !x, %s: tensor<4x1x1xf32>, %b: tensor<1x4x1x1xf32>) -> (!x, !x) {
  %eps = graph.constant dense<1.0e-5> : tensor<f32>
  %m = graph.reduce_mean %x {axes = array<i64: 2, 3>, keepdims = true} : (!x) -> !c
  %d = graph.sub %x, %m : (!x, !c) -> !x
  %q = graph.mul %d, %d : (!x, !x) -> !x
  %v = graph.reduce_mean %q {axes = array<i64: 2, 3>, keepdims = true} : (!x) -> !c
  %e = graph.add %v, %eps : (!c, tensor<f32>) -> !c
  %r = graph.sqrt %e : (!c) -> !c
  %n = graph.div %d, %r : (!x, !c) -> !x
  %f = graph.mul %n, %s : (!x, tensor<4x1x1xf32>) -> !x
  %y = graph.add %f, %b : (!x, tensor<1x4x1x1xf32>) -> !x
  %g = graph.reshape %x : (!x) -> !g
  %gm = graph.reduce_mean %g {axes = array<i64: 2>, keepdims = true} : (!g) -> !h
  %gd = graph.sub %g, %gm : (!g, !h) -> !g
  %gq = graph.mul %gd, %gd : (!g, !g) -> !g
  %gv = graph.reduce_mean %gq {axes = array<i64: 2>, keepdims = true} : (!g) -> !h
  %ge = graph.add %gv, %eps : (!h, tensor<f32>) -> !h
  %gr = graph.sqrt %ge : (!h) -> !h
  %gn = graph.div %gd, %gr : (!g, !h) -> !g
  %gx = graph.reshape %gn : (!g) -> !x
  %gf = graph.mul %s, %gx : (tensor<4x1x1xf32>, !x) -> !x
  %gy = graph.add %gf, %b : (!x, tensor<1x4x1x1xf32>) -> !x
  return %y, %gy : !x, !x
}

// -----

#x = affine_map<()[s0, s1] -> (s0, s1, 8)>
#r = affine_map<()[s0, s1] -> (s0, s1, 1)>
#t = affine_map<()[s0, s1] -> (s0, s1)>
!x = tensor<?x?x8xf32, #x>
!r = tensor<?x?x1xf32, #r>
!t = tensor<?x?xf32, #t>

// By a reciprocal; without the dim, by 1 / sum.
// CHECK-LABEL: func.func @softmax
// CHECK: %[[A:.*]] = graph.softmax %arg0 {axis = 2
// CHECK: %[[B:.*]] = graph.softmax %arg0 {axis = 2
// CHECK: return %[[A]], %[[B]]
func.func @softmax(%x: !x) -> (!x, !x) {
  %one = graph.constant dense<1.0> : tensor<1xf32>
  %m = graph.reduce_max %x {axes = array<i64: 2>, keepdims = true} : (!x) -> !r
  %d = graph.sub %x, %m : (!x, !r) -> !x
  %e = graph.exp %d : (!x) -> !x
  %s = graph.reduce_sum %e {axes = array<i64: 2>, keepdims = true} : (!x) -> !r
  %i = graph.reciprocal %s : (!r) -> !r
  %a = graph.mul %i, %e : (!r, !x) -> !x
  %m1 = graph.reduce_max %x {axes = array<i64: 2>, keepdims = false} : (!x) -> !t
  %u1 = graph.reshape %m1 : (!t) -> !r
  %d1 = graph.sub %x, %u1 : (!x, !r) -> !x
  %e1 = graph.exp %d1 : (!x) -> !x
  %s1 = graph.reduce_sum %e1 {axes = array<i64: 2>, keepdims = false} : (!x) -> !t
  %w1 = graph.reshape %s1 : (!t) -> !r
  %i1 = graph.div %one, %w1 : (tensor<1xf32>, !r) -> !r
  %b = graph.mul %e1, %i1 : (!x, !r) -> !x
  return %a, %b : !x, !x
}

// -----

#x = affine_map<()[s0] -> (s0, 8)>
#r = affine_map<()[s0] -> (s0, 1)>
!x = tensor<?x8xf32, #x>
!r = tensor<?x1xf32, #r>

// The square of another mean, the mean of another square, the difference in the other
// order, bounded from above, and another factor of the sum of squares.
// CHECK-LABEL: func.func @other_variances
// CHECK-NOT: graph.layer_norm
// CHECK-NOT: graph.rms_norm
// CHECK: return
func.func @other_variances(%x: !x, %z: !x) -> (!x, !x, !x, !x, !x) {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %part = graph.constant dense<0.0625> : tensor<f32>
  %mean = graph.reduce_mean %x {axes = array<i64: 1>, keepdims = true} : (!x) -> !r
  %other = graph.reduce_mean %z {axes = array<i64: 1>, keepdims = true} : (!x) -> !r
  %d = graph.sub %x, %mean : (!x, !r) -> !x
  %xx = graph.mul %x, %x : (!x, !x) -> !x
  %xz = graph.mul %x, %z : (!x, !x) -> !x
  %square = graph.reduce_mean %xx {axes = array<i64: 1>, keepdims = true} : (!x) -> !r
  %product = graph.reduce_mean %xz {axes = array<i64: 1>, keepdims = true} : (!x) -> !r
  %mm = graph.mul %mean, %mean : (!r, !r) -> !r
  %oo = graph.mul %other, %other : (!r, !r) -> !r
  %v0 = graph.sub %square, %oo : (!r, !r) -> !r
  %r0 = graph.sqrt %v0 : (!r) -> !r
  %a = graph.div %d, %r0 : (!x, !r) -> !x
  %v1 = graph.sub %product, %mm : (!r, !r) -> !r
  %r1 = graph.sqrt %v1 : (!r) -> !r
  %b = graph.div %d, %r1 : (!x, !r) -> !x
  %v2 = graph.sub %mm, %square : (!r, !r) -> !r
  %r2 = graph.sqrt %v2 : (!r) -> !r
  %c = graph.div %d, %r2 : (!x, !r) -> !x
  %v3 = graph.sub %square, %mm : (!r, !r) -> !r
  %m3 = graph.minimum %v3, %zero : (!r, tensor<f32>) -> !r
  %r3 = graph.sqrt %m3 : (!r) -> !r
  %e = graph.div %d, %r3 : (!x, !r) -> !x
  %s4 = graph.reduce_sum_square %x {axes = array<i64: 1>, keepdims = true} : (!x) -> !r
  %v4 = graph.mul %s4, %part : (!r, tensor<f32>) -> !r
  %r4 = graph.sqrt %v4 : (!r) -> !r
  %f = graph.div %x, %r4 : (!x, !r) -> !x
  return %a, %b, %c, %e, %f : !x, !x, !x, !x, !x
}

// -----

#x = affine_map<()[s0] -> (s0, 4, 3, 3)>
#b = affine_map<()[s0] -> (s0, 1, 1, 1)>
#c = affine_map<()[s0] -> (s0, 4, 1, 1)>
!x = tensor<?x4x3x3xf32, #x>
!c = tensor<?x4x1x1xf32, #c>

// Factors of the images, and of channels and pixels, are not those of an instance.
// CHECK-LABEL: func.func @other_factors
// CHECK: %[[N:.*]] = graph.layer_norm %arg0 {axis = 2
// CHECK: graph.mul %[[N]], %arg1
// CHECK: %[[M:.*]] = graph.layer_norm %arg0 {axis = 2
// CHECK: graph.mul %[[M]], %arg2
func.func @other_factors(%x: !x, %s: tensor<?x1x1x1xf32, #b>, %f: tensor<4x1x3xf32>) -> (!x, !x) {
  %m = graph.reduce_mean %x {axes = array<i64: 2, 3>, keepdims = true} : (!x) -> !c
  %d = graph.sub %x, %m : (!x, !c) -> !x
  %q = graph.mul %d, %d : (!x, !x) -> !x
  %v = graph.reduce_mean %q {axes = array<i64: 2, 3>, keepdims = true} : (!x) -> !c
  %r = graph.sqrt %v : (!c) -> !c
  %n = graph.div %d, %r : (!x, !c) -> !x
  %y = graph.mul %n, %s : (!x, tensor<?x1x1x1xf32, #b>) -> !x
  %o = graph.div %d, %r : (!x, !c) -> !x
  %z = graph.mul %o, %f : (!x, tensor<4x1x3xf32>) -> !x
  return %y, %z : !x, !x
}

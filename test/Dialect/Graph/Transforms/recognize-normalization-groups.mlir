// Groups of channels that are last: statistics of channels, of groups from these, and
// arithmetic on elements in their own dims.
// RUN: aopt %s --graph-recognize-normalization --canonicalize --split-input-file | FileCheck %s

#x = affine_map<()[s0, s1] -> (s0, s1, 7, 3, 4)>
#n = affine_map<()[s0] -> (s0, 1, 1, 3, 1)>
#m = affine_map<()[s0] -> (s0, 1, 1, 3, 4)>
!x = tensor<?x?x7x3x4xf32, #x>
!n = tensor<?x1x1x3x1xf32, #n>
!m = tensor<?x1x1x3x4xf32, #m>

// As batch normalisation is written, with a negated mean: Keras. Dynamic batch and
// height.
// CHECK-LABEL: func.func @keras
// CHECK: %[[X:.*]] = graph.reshape %arg0 : {{.*}} -> tensor<?x?x7x12xf32
// CHECK: %[[P:.*]] = graph.reshape %{{.*}} -> tensor<?x?x12xf32
// CHECK: %[[MEAN:.*]] = graph.reduce_mean %[[P]] {axes = array<i64: 1>
// CHECK: %[[D:.*]] = graph.sub %[[P]], %[[MEAN]]
// CHECK: %[[Q:.*]] = graph.mul %[[D]], %[[D]]
// CHECK: %[[VARIANCE:.*]] = graph.reduce_mean %[[Q]] {axes = array<i64: 1>
// CHECK: %[[MG:.*]] = graph.reshape %[[MEAN]] : {{.*}} -> tensor<?x3x4xf32
// CHECK: %[[CENTRE:.*]] = graph.reduce_mean %[[MG]] {axes = array<i64: 2>
// CHECK: %[[VG:.*]] = graph.reshape %[[VARIANCE]] : {{.*}} -> tensor<?x3x4xf32
// CHECK: graph.add %[[VG]]
// CHECK: graph.reduce_mean {{.*}}axes = array<i64: 2>
// CHECK: %[[E:.*]] = graph.add %[[X]], %{{.*}} : (tensor<?x?x7x12xf32, #{{.*}}>, tensor<?x1x1x12xf32, #{{.*}}>)
// CHECK: %[[F:.*]] = graph.mul %[[E]], %{{.*}} : (tensor<?x?x7x12xf32, #{{.*}}>, tensor<?x1x1x12xf32, #{{.*}}>)
// CHECK: %[[Y:.*]] = graph.reshape %[[F]]
// CHECK: %[[S:.*]] = graph.mul %[[Y]], %arg1
// CHECK: graph.add %[[S]], %arg2
func.func @keras(%x: !x, %s: tensor<1x1x1x3x4xf32>, %b: tensor<1x1x1x3x4xf32>) -> !x {
  %e = graph.constant dense<1.0e-3> : tensor<f32>
  %mean = graph.reduce_mean %x {axes = array<i64: 1, 2, 4>} : (!x) -> !n
  %d = graph.sub %x, %mean : (!x, !n) -> !x
  %q = graph.mul %d, %d : (!x, !x) -> !x
  %v = graph.reduce_mean %q {axes = array<i64: 1, 2, 4>} : (!x) -> !n
  %p = graph.add %v, %e : (!n, tensor<f32>) -> !n
  %r = graph.sqrt %p : (!n) -> !n
  %i = graph.reciprocal %r : (!n) -> !n
  %f = graph.mul %i, %s : (!n, tensor<1x1x1x3x4xf32>) -> !m
  %xf = graph.mul %x, %f : (!x, !m) -> !x
  %mf = graph.mul %mean, %f : (!n, !m) -> !m
  %nf = graph.neg %mf : (!m) -> !m
  %h = graph.add %nf, %b : (!m, tensor<1x1x1x3x4xf32>) -> !m
  %y = graph.add %xf, %h : (!x, !m) -> !x
  return %y : !x
}

// -----

// Other dims, without the mean, and f16, whose sums need f32: unchanged.
// CHECK-LABEL: func.func @refused
// CHECK: graph.reduce_mean {{.*}}axes = array<i64: 2, 4>
// CHECK: graph.reduce_mean {{.*}}axes = array<i64: 2, 4>
// CHECK: graph.reduce_mean {{.*}}axes = array<i64: 1, 2, 4>
// CHECK: graph.reduce_mean {{.*}}axes = array<i64: 1, 2, 4>{{.*}} : (tensor<2x5x7x3x4xf16>)
// CHECK: graph.reduce_mean {{.*}}axes = array<i64: 1, 2, 4>{{.*}} : (tensor<2x5x7x3x4xf16>)
// CHECK-NOT: graph.reduce_mean
func.func @refused(%x: tensor<2x5x7x3x4xf32>, %h: tensor<2x5x7x3x4xf16>) -> (tensor<2x5x7x3x4xf32>, tensor<2x5x7x3x4xf32>, tensor<2x5x7x3x4xf16>) {
  %am = graph.reduce_mean %x {axes = array<i64: 2, 4>} : (tensor<2x5x7x3x4xf32>) -> tensor<2x5x1x3x1xf32>
  %ad = graph.sub %x, %am : (tensor<2x5x7x3x4xf32>, tensor<2x5x1x3x1xf32>) -> tensor<2x5x7x3x4xf32>
  %aq = graph.mul %ad, %ad : (tensor<2x5x7x3x4xf32>, tensor<2x5x7x3x4xf32>) -> tensor<2x5x7x3x4xf32>
  %av = graph.reduce_mean %aq {axes = array<i64: 2, 4>} : (tensor<2x5x7x3x4xf32>) -> tensor<2x5x1x3x1xf32>
  %ar = graph.sqrt %av : (tensor<2x5x1x3x1xf32>) -> tensor<2x5x1x3x1xf32>
  %a = graph.div %ad, %ar : (tensor<2x5x7x3x4xf32>, tensor<2x5x1x3x1xf32>) -> tensor<2x5x7x3x4xf32>
  %bq = graph.mul %x, %x : (tensor<2x5x7x3x4xf32>, tensor<2x5x7x3x4xf32>) -> tensor<2x5x7x3x4xf32>
  %bv = graph.reduce_mean %bq {axes = array<i64: 1, 2, 4>} : (tensor<2x5x7x3x4xf32>) -> tensor<2x1x1x3x1xf32>
  %br = graph.sqrt %bv : (tensor<2x1x1x3x1xf32>) -> tensor<2x1x1x3x1xf32>
  %b = graph.div %x, %br : (tensor<2x5x7x3x4xf32>, tensor<2x1x1x3x1xf32>) -> tensor<2x5x7x3x4xf32>
  %cm = graph.reduce_mean %h {axes = array<i64: 1, 2, 4>} : (tensor<2x5x7x3x4xf16>) -> tensor<2x1x1x3x1xf16>
  %cd = graph.sub %h, %cm : (tensor<2x5x7x3x4xf16>, tensor<2x1x1x3x1xf16>) -> tensor<2x5x7x3x4xf16>
  %cq = graph.mul %cd, %cd : (tensor<2x5x7x3x4xf16>, tensor<2x5x7x3x4xf16>) -> tensor<2x5x7x3x4xf16>
  %cv = graph.reduce_mean %cq {axes = array<i64: 1, 2, 4>} : (tensor<2x5x7x3x4xf16>) -> tensor<2x1x1x3x1xf16>
  %cr = graph.sqrt %cv : (tensor<2x1x1x3x1xf16>) -> tensor<2x1x1x3x1xf16>
  %c = graph.div %cd, %cr : (tensor<2x5x7x3x4xf16>, tensor<2x1x1x3x1xf16>) -> tensor<2x5x7x3x4xf16>
  return %a, %b, %c : tensor<2x5x7x3x4xf32>, tensor<2x5x7x3x4xf32>, tensor<2x5x7x3x4xf16>
}

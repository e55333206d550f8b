// RUN: aopt %s --graph-order-views --split-input-file | FileCheck %s

// Batch and heads that are merged by a reshape that also splits (torch's
// MultiheadAttention): separate, and merged after attention.
#x = affine_map<()[s0, s1] -> (s1, s0, 128)>
#m = affine_map<()[s0, s1] -> (s1, s0 * 4, 32)>
#t = affine_map<()[s0, s1] -> (s0 * 4, s1, 32)>
// CHECK-LABEL: func.func @merged
// CHECK-NEXT: %[[S:.*]] = graph.reshape %arg0 {{.*}} -> tensor<?x?x4x32xf32
// CHECK-NEXT: %[[T:.*]] = graph.transpose %[[S]] {perm = array<i64: 1, 2, 0, 3>}
// CHECK-NEXT: %[[A:.*]] = graph.attention %[[T]], %[[T]], %[[T]] {{.*}} -> tensor<?x4x?x32xf32
// CHECK-NEXT: %[[U:.*]] = graph.transpose %[[A]] {perm = array<i64: 2, 0, 1, 3>}
// CHECK-NEXT: graph.reshape %[[U]] {{.*}} -> tensor<?x?x32xf32
func.func @merged(%x: tensor<?x?x128xf32, #x>) -> tensor<?x?x32xf32, #m> attributes {graph.symbols = ["b", "s"]} {
  %0 = graph.reshape %x : (tensor<?x?x128xf32, #x>) -> tensor<?x?x32xf32, #m>
  %1 = graph.transpose %0 {perm = array<i64: 1, 0, 2>} : (tensor<?x?x32xf32, #m>) -> tensor<?x?x32xf32, #t>
  %2 = graph.attention %1, %1, %1 {scale = 1.0 : f64} : (tensor<?x?x32xf32, #t>, tensor<?x?x32xf32, #t>, tensor<?x?x32xf32, #t>) -> tensor<?x?x32xf32, #t>
  %3 = graph.transpose %2 {perm = array<i64: 1, 0, 2>} : (tensor<?x?x32xf32, #t>) -> tensor<?x?x32xf32, #m>
  return %3 : tensor<?x?x32xf32, #m>
}

// -----

// A mask per batch and head requires them merged.
// CHECK-LABEL: func.func @masked
// CHECK: graph.attention {{.*}} -> tensor<8x16x32xf32>
func.func @masked(%x: tensor<2x4x16x32xf32>, %bias: tensor<8x16x16xf32>) -> tensor<8x16x32xf32> {
  %0 = graph.reshape %x : (tensor<2x4x16x32xf32>) -> tensor<8x16x32xf32>
  %1 = graph.attention %0, %0, %0 bias %bias {scale = 1.0 : f64} : (tensor<8x16x32xf32>, tensor<8x16x32xf32>, tensor<8x16x32xf32>, tensor<8x16x16xf32>) -> tensor<8x16x32xf32>
  return %1 : tensor<8x16x32xf32>
}

// -----

// One projection of queries, keys and values, split after its transpose.
// CHECK-LABEL: func.func @packed
// CHECK-NEXT: %[[S:.*]] = graph.slice %arg0 {starts = array<i64: 0, 0, 1, 0, 0>
// CHECK-NEXT: %[[R:.*]] = graph.reshape %[[S]] {{.*}} -> tensor<2x16x4x32xf32>
// CHECK-NEXT: %[[T:.*]] = graph.transpose %[[R]] {perm = array<i64: 0, 2, 1, 3>}
// CHECK-NEXT: graph.attention %[[T]]
func.func @packed(%x: tensor<2x16x3x4x32xf32>) -> tensor<2x4x16x32xf32> {
  %0 = graph.transpose %x {perm = array<i64: 2, 0, 3, 1, 4>} : (tensor<2x16x3x4x32xf32>) -> tensor<3x2x4x16x32xf32>
  %1 = graph.slice %0 {starts = array<i64: 1, 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1, 1>} : (tensor<3x2x4x16x32xf32>) -> tensor<1x2x4x16x32xf32>
  %2 = graph.reshape %1 : (tensor<1x2x4x16x32xf32>) -> tensor<2x4x16x32xf32>
  %3 = graph.attention %2, %2, %2 {scale = 1.0 : f64} : (tensor<2x4x16x32xf32>, tensor<2x4x16x32xf32>, tensor<2x4x16x32xf32>) -> tensor<2x4x16x32xf32>
  return %3 : tensor<2x4x16x32xf32>
}

// -----

// With other users, a transpose stays, and so does one before which a merge of rows would
// remain.
// CHECK-LABEL: func.func @others
// CHECK-NEXT: %[[R:.*]] = graph.reshape %arg0
// CHECK-NEXT: %[[T:.*]] = graph.transpose %[[R]] {perm = array<i64: 1, 0, 2>}
// CHECK-NEXT: graph.softmax %[[T]]
// CHECK-NEXT: %[[I:.*]] = graph.reshape %arg1
// CHECK-NEXT: %[[U:.*]] = graph.transpose %[[I]] {perm = array<i64: 0, 1, 3, 2>}
// CHECK-NEXT: graph.attention %[[U]]
func.func @others(%x: tensor<16x2x128xf32>, %image: tensor<1x256x7x7xf32>) -> (tensor<8x16x32xf32>, tensor<1x8x49x32xf32>) {
  %0 = graph.reshape %x : (tensor<16x2x128xf32>) -> tensor<16x8x32xf32>
  %1 = graph.transpose %0 {perm = array<i64: 1, 0, 2>} : (tensor<16x8x32xf32>) -> tensor<8x16x32xf32>
  %2 = graph.softmax %1 {axis = 2 : i64} : (tensor<8x16x32xf32>) -> tensor<8x16x32xf32>
  %3 = graph.reshape %image : (tensor<1x256x7x7xf32>) -> tensor<1x8x32x49xf32>
  %4 = graph.transpose %3 {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x8x32x49xf32>) -> tensor<1x8x49x32xf32>
  %5 = graph.attention %4, %4, %4 {scale = 1.0 : f64} : (tensor<1x8x49x32xf32>, tensor<1x8x49x32xf32>, tensor<1x8x49x32xf32>) -> tensor<1x8x49x32xf32>
  return %2, %5 : tensor<8x16x32xf32>, tensor<1x8x49x32xf32>
}

// -----

// Rows merged only for a product, and dims of heads beside it (einsum).
#b = affine_map<()[s0] -> (s0, 5, 8)>
#r = affine_map<()[s0] -> (s0 * 5, 8)>
#p = affine_map<()[s0] -> (s0 * 5, 6)>
#h = affine_map<()[s0] -> (s0, 5, 3, 2)>
// CHECK-LABEL: func.func @rows
// CHECK-DAG: %[[P:.*]] = graph.matmul %arg0, %arg1 {{.*}} -> tensor<?x5x6xf32
// CHECK-DAG: %[[C:.*]] = graph.reshape {{.*}} -> tensor<6xf32>
// CHECK: %[[A:.*]] = graph.add %[[P]], %[[C]]
// CHECK: graph.reshape %[[A]] {{.*}} -> tensor<?x5x3x2xf32
func.func @rows(%x: tensor<?x5x8xf32, #b>, %w: tensor<8x6xf32>) -> tensor<?x5x3x2xf32, #h> attributes {graph.symbols = ["b"]} {
  %c = graph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %0 = graph.reshape %x : (tensor<?x5x8xf32, #b>) -> tensor<?x8xf32, #r>
  %1 = graph.matmul %0, %w : (tensor<?x8xf32, #r>, tensor<8x6xf32>) -> tensor<?x6xf32, #p>
  %2 = graph.reshape %1 : (tensor<?x6xf32, #p>) -> tensor<?x5x3x2xf32, #h>
  %3 = graph.add %2, %c : (tensor<?x5x3x2xf32, #h>, tensor<3x2xf32>) -> tensor<?x5x3x2xf32, #h>
  return %3 : tensor<?x5x3x2xf32, #h>
}

// -----

// Keys of each group for all of its heads.
// CHECK-LABEL: func.func @repeated
// CHECK: graph.broadcast_to {{.*}} -> tensor<2x1x3x2x4xf32>
// CHECK: graph.broadcast_to {{.*}} -> tensor<2x2x3x1x4xf32>
// CHECK: graph.gather
func.func @repeated(%x: tensor<2x3x4xf32>) -> (tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x4xf32>) {
  %i = graph.constant dense<[0, 0, 1, 1, 2, 2]> : tensor<6xi64>
  %j = graph.constant dense<[0, 0, 1, 2]> : tensor<4xi64>
  %0 = graph.gather %x, %i {axis = 1 : i64} : (tensor<2x3x4xf32>, tensor<6xi64>) -> tensor<2x6x4xf32>
  %1 = graph.concat %x, %x {axis = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x6x4xf32>
  %2 = graph.gather %x, %j {axis = 1 : i64} : (tensor<2x3x4xf32>, tensor<4xi64>) -> tensor<2x4x4xf32>
  return %0, %1, %2 : tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x4x4xf32>
}

// -----

// A reduction keeps the dims that a view adds back; other users get a view without them.
#x = affine_map<()[s0] -> (s0, 8, 16)>
#r = affine_map<()[s0] -> (s0, 16)>
#k = affine_map<()[s0] -> (s0, 1, 16)>
// CHECK-LABEL: func.func @kept
// CHECK-NEXT: %[[R:.*]] = graph.reduce_mean %arg0 {axes = array<i64: 1>} {{.*}} -> tensor<?x1x16xf32
// CHECK-NEXT: %[[V:.*]] = graph.reshape %[[R]] {{.*}} -> tensor<?x16xf32
// CHECK-NEXT: %[[S:.*]] = graph.sub %arg0, %[[R]]
// CHECK-NEXT: return %[[S]], %[[V]]
func.func @kept(%x: tensor<?x8x16xf32, #x>) -> (tensor<?x8x16xf32, #x>, tensor<?x16xf32, #r>) attributes {graph.symbols = ["n"]} {
  %0 = graph.reduce_mean %x {axes = array<i64: 1>, keepdims = false} : (tensor<?x8x16xf32, #x>) -> tensor<?x16xf32, #r>
  %1 = graph.reshape %0 : (tensor<?x16xf32, #r>) -> tensor<?x1x16xf32, #k>
  %2 = graph.sub %x, %1 : (tensor<?x8x16xf32, #x>, tensor<?x1x16xf32, #k>) -> tensor<?x8x16xf32, #x>
  return %2, %0 : tensor<?x8x16xf32, #x>, tensor<?x16xf32, #r>
}

// -----

// Not if the unit dim is elsewhere.
// CHECK-LABEL: func.func @elsewhere
// CHECK: keepdims = false
func.func @elsewhere(%x: tensor<4x8x16xf32>) -> tensor<4x16x1xf32> {
  %0 = graph.reduce_mean %x {axes = array<i64: 1>, keepdims = false} : (tensor<4x8x16xf32>) -> tensor<4x16xf32>
  %1 = graph.reshape %0 : (tensor<4x16xf32>) -> tensor<4x16x1xf32>
  return %1 : tensor<4x16x1xf32>
}

// -----

// Reassembled windows, with a factor per channel and a residual sum: computed before they
// are moved.
#x = affine_map<()[s0] -> (s0 * 4, 9, 32)>
#w = affine_map<()[s0] -> (s0, 2, 2, 3, 3, 32)>
#t = affine_map<()[s0] -> (s0, 2, 3, 2, 3, 32)>
#y = affine_map<()[s0] -> (s0, 36, 32)>
// CHECK-LABEL: func.func @moved
// CHECK-DAG: %[[T:.*]] = graph.transpose
// CHECK-DAG: %[[S:.*]] = graph.reshape %arg1 {{.*}} -> tensor<?x2x3x2x3x32xf32
// CHECK-DAG: %[[M:.*]] = graph.mul %[[T]], %arg2
// CHECK: %[[A:.*]] = graph.add %[[M]], %[[S]]
// CHECK-NEXT: %[[G:.*]] = graph.tanh %[[A]]
// CHECK-NEXT: %[[R:.*]] = graph.reshape %[[G]] {{.*}} -> tensor<?x36x32xf32
// CHECK-NEXT: return %[[R]]
func.func @moved(%x: tensor<?x9x32xf32, #x>, %s: tensor<?x36x32xf32, #y>, %c: tensor<32xf32>) -> tensor<?x36x32xf32, #y> attributes {graph.symbols = ["n"]} {
  %0 = graph.reshape %x : (tensor<?x9x32xf32, #x>) -> tensor<?x2x2x3x3x32xf32, #w>
  %1 = graph.transpose %0 {perm = array<i64: 0, 1, 3, 2, 4, 5>} : (tensor<?x2x2x3x3x32xf32, #w>) -> tensor<?x2x3x2x3x32xf32, #t>
  %2 = graph.reshape %1 : (tensor<?x2x3x2x3x32xf32, #t>) -> tensor<?x36x32xf32, #y>
  %3 = graph.mul %2, %c : (tensor<?x36x32xf32, #y>, tensor<32xf32>) -> tensor<?x36x32xf32, #y>
  %4 = graph.add %3, %s : (tensor<?x36x32xf32, #y>, tensor<?x36x32xf32, #y>) -> tensor<?x36x32xf32, #y>
  %5 = graph.tanh %4 : (tensor<?x36x32xf32, #y>) -> tensor<?x36x32xf32, #y>
  return %5 : tensor<?x36x32xf32, #y>
}

// -----

// Factors of merged channels; two pixels at once are enough for a sum and a bound, but
// not for a tanh.
// CHECK-LABEL: func.func @pixels
// CHECK: %[[T:.*]] = graph.transpose
// CHECK: %[[A:.*]] = graph.add %[[T]], {{.*}} : (tensor<1x3x4x2x4x2xf32>, tensor<3x1x1x1x1xf32>)
// CHECK-NEXT: %[[B:.*]] = graph.relu %[[A]]
// CHECK-NEXT: %[[R:.*]] = graph.reshape %[[B]]
// CHECK-NEXT: graph.tanh %[[R]]
// CHECK: %[[D:.*]] = graph.transpose %{{.*}} -> tensor<1x2x2x3x4x4xf32>
// CHECK: graph.mul %[[D]], {{.*}} : (tensor<1x2x2x3x4x4xf32>, tensor<2x2x3x1x1xf32>)
func.func @pixels(%x: tensor<1x3x2x2x4x4xf32>, %c: tensor<3x1x1xf32>, %z: tensor<1x3x4x2x4x2xf32>, %d: tensor<12x1x1xf32>) -> (tensor<1x3x8x8xf32>, tensor<1x12x4x4xf32>) {
  %0 = graph.transpose %x {perm = array<i64: 0, 1, 4, 2, 5, 3>} : (tensor<1x3x2x2x4x4xf32>) -> tensor<1x3x4x2x4x2xf32>
  %1 = graph.reshape %0 : (tensor<1x3x4x2x4x2xf32>) -> tensor<1x3x8x8xf32>
  %2 = graph.add %1, %c : (tensor<1x3x8x8xf32>, tensor<3x1x1xf32>) -> tensor<1x3x8x8xf32>
  %3 = graph.relu %2 : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  %4 = graph.tanh %3 : (tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  %5 = graph.transpose %z {perm = array<i64: 0, 3, 5, 1, 2, 4>} : (tensor<1x3x4x2x4x2xf32>) -> tensor<1x2x2x3x4x4xf32>
  %6 = graph.reshape %5 : (tensor<1x2x2x3x4x4xf32>) -> tensor<1x12x4x4xf32>
  %7 = graph.mul %6, %d : (tensor<1x12x4x4xf32>, tensor<12x1x1xf32>) -> tensor<1x12x4x4xf32>
  return %4, %7 : tensor<1x3x8x8xf32>, tensor<1x12x4x4xf32>
}

// -----

// Not if the transposed result or its view has other uses, with operands along a part of
// a merged dim, or if the other operand is moved, too.
// CHECK-LABEL: func.func @kept_views
// CHECK: graph.add {{.*}} -> tensor<8x16xf32>
// CHECK: graph.add {{.*}} -> tensor<6x16xf32>
// CHECK: %[[T:.*]] = graph.transpose %arg3
// CHECK: %[[R:.*]] = graph.reshape %[[T]] {{.*}} -> tensor<8x16xf32>
// CHECK: %[[U:.*]] = graph.transpose %arg4
// CHECK: graph.add %[[R]], %[[U]]
func.func @kept_views(%x: tensor<4x2x16xf32>, %s: tensor<8x16xf32>, %y: tensor<2x4x12xf32>, %a: tensor<4x2x16xf32>, %b: tensor<16x8xf32>, %c: tensor<6x1xf32>) -> (tensor<8x16xf32>, tensor<2x4x16xf32>, tensor<6x16xf32>, tensor<8x16xf32>) {
  %0 = graph.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<4x2x16xf32>) -> tensor<2x4x16xf32>
  %1 = graph.reshape %0 : (tensor<2x4x16xf32>) -> tensor<8x16xf32>
  %2 = graph.add %1, %s : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %3 = graph.transpose %y {perm = array<i64: 1, 0, 2>} : (tensor<2x4x12xf32>) -> tensor<4x2x12xf32>
  %4 = graph.reshape %3 : (tensor<4x2x12xf32>) -> tensor<6x16xf32>
  %5 = graph.add %4, %c : (tensor<6x16xf32>, tensor<6x1xf32>) -> tensor<6x16xf32>
  %6 = graph.transpose %a {perm = array<i64: 1, 0, 2>} : (tensor<4x2x16xf32>) -> tensor<2x4x16xf32>
  %7 = graph.reshape %6 : (tensor<2x4x16xf32>) -> tensor<8x16xf32>
  %8 = graph.transpose %b {perm = array<i64: 1, 0>} : (tensor<16x8xf32>) -> tensor<8x16xf32>
  %9 = graph.add %7, %8 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %2, %0, %5, %9 : tensor<8x16xf32>, tensor<2x4x16xf32>, tensor<6x16xf32>, tensor<8x16xf32>
}

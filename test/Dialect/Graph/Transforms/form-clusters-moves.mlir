// RUN: aopt %s --graph-form-clusters --split-input-file | FileCheck %s

// Reassembled windows: the product stores to the destinations of its rows, and the sum
// after it is part of its kernel. The last reshape is a view.
// CHECK-LABEL: func @windows
// CHECK: %[[R:.*]] = graph.cluster({{.*}}) anchor "matmul"
// CHECK: graph.matmul
// CHECK: graph.reshape
// CHECK: graph.transpose
// CHECK: graph.add
// CHECK: graph.yield
// CHECK-NOT: graph.cluster
#x = affine_map<()[s0] -> (s0 * 4, 49, 16)>
#a = affine_map<()[s0] -> (s0, 2, 2, 7, 7, 16)>
#b = affine_map<()[s0] -> (s0, 2, 7, 2, 7, 16)>
func.func @windows(%x: tensor<?x49x16xf32, #x>, %w: tensor<16x16xf32>, %r: tensor<?x2x7x2x7x16xf32, #b>) -> tensor<?x2x7x2x7x16xf32, #b> {
  %0 = graph.matmul %x, %w : (tensor<?x49x16xf32, #x>, tensor<16x16xf32>) -> tensor<?x49x16xf32, #x>
  %1 = graph.reshape %0 : (tensor<?x49x16xf32, #x>) -> tensor<?x2x2x7x7x16xf32, #a>
  %2 = graph.transpose %1 {perm = array<i64: 0, 1, 3, 2, 4, 5>} : (tensor<?x2x2x7x7x16xf32, #a>) -> tensor<?x2x7x2x7x16xf32, #b>
  %3 = graph.add %2, %r : (tensor<?x2x7x2x7x16xf32, #b>, tensor<?x2x7x2x7x16xf32, #b>) -> tensor<?x2x7x2x7x16xf32, #b>
  return %3 : tensor<?x2x7x2x7x16xf32, #b>
}

// -----

// Shuffled channels on the way to channels-first and back: channels-last, they are a few
// parts of a vector, so all of it is one store.
// CHECK-LABEL: func @shuffle
// CHECK: graph.cluster({{.*}}) anchor "conv"
// CHECK-COUNT-3: graph.transpose
// CHECK: graph.yield
// CHECK: graph.cluster({{.*}}) anchor "conv"
// CHECK-NOT: graph.cluster
func.func @shuffle(%x: tensor<1x8x8x96xf32>, %w: tensor<96x32x1x1xf32>, %d: tensor<96x1x3x3xf32>) -> tensor<1x8x8x96xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 3 : i64, layout = #graph.layout<nhwc>} : (tensor<1x8x8x96xf32>, tensor<96x32x1x1xf32>) -> tensor<1x8x8x96xf32>
  %1 = graph.transpose %0 {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x8x8x96xf32>) -> tensor<1x96x8x8xf32>
  %2 = graph.reshape %1 : (tensor<1x96x8x8xf32>) -> tensor<1x3x32x8x8xf32>
  %3 = graph.transpose %2 {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<1x3x32x8x8xf32>) -> tensor<1x32x3x8x8xf32>
  %4 = graph.reshape %3 : (tensor<1x32x3x8x8xf32>) -> tensor<1x96x8x8xf32>
  %5 = graph.transpose %4 {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x96x8x8xf32>) -> tensor<1x8x8x96xf32>
  %6 = graph.conv %5, %d {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 96 : i64, layout = #graph.layout<nhwc>} : (tensor<1x8x8x96xf32>, tensor<96x1x3x3xf32>) -> tensor<1x8x8x96xf32>
  return %6 : tensor<1x8x8x96xf32>
}

// -----

// Channels that become planes: each element of a vector would be stored separately, so
// another kernel moves the data.
// CHECK-LABEL: func @planes
// CHECK: graph.cluster({{.*}}) anchor "conv"
// CHECK-NOT: graph.transpose
// CHECK: graph.cluster({{.*}}) anchor "pointwise"
// CHECK: graph.transpose
func.func @planes(%x: tensor<1x8x8x32xf32>, %w: tensor<64x32x1x1xf32>) -> tensor<1x16x16x16xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x8x8x32xf32>, tensor<64x32x1x1xf32>) -> tensor<1x8x8x64xf32>
  %1 = graph.reshape %0 : (tensor<1x8x8x64xf32>) -> tensor<1x8x8x2x2x16xf32>
  %2 = graph.transpose %1 {perm = array<i64: 0, 5, 1, 3, 2, 4>} : (tensor<1x8x8x2x2x16xf32>) -> tensor<1x16x8x2x8x2xf32>
  %3 = graph.reshape %2 : (tensor<1x16x8x2x8x2xf32>) -> tensor<1x16x16x16xf32>
  return %3 : tensor<1x16x16x16xf32>
}

// -----

// Attention splits heads by its loads, and dynamic rows are not digits of an index.
// CHECK-LABEL: func @heads
// CHECK: graph.cluster({{.*}}) anchor "matmul"
// CHECK-NOT: graph.transpose
// CHECK: graph.yield
// CHECK: graph.cluster({{.*}}) anchor "attention"
// CHECK: graph.cluster({{.*}}) anchor "matmul"
// CHECK-NOT: graph.transpose
// CHECK: graph.yield
// CHECK: graph.cluster({{.*}}) anchor "pointwise"
#h = affine_map<()[s0, s1] -> (s0 * s1, 32)>
#i = affine_map<()[s0, s1] -> (s0, s1, 32)>
#j = affine_map<()[s0, s1] -> (s1, s0, 32)>
func.func @heads(%x: tensor<1x40x32xf32>, %w: tensor<32x32xf32>, %k: tensor<1x2x40x16xf32>, %y: tensor<?x32xf32, #h>) -> (tensor<1x2x40x16xf32>, tensor<?x?x32xf32, #j>) {
  %0 = graph.matmul %x, %w : (tensor<1x40x32xf32>, tensor<32x32xf32>) -> tensor<1x40x32xf32>
  %1 = graph.reshape %0 : (tensor<1x40x32xf32>) -> tensor<1x40x2x16xf32>
  %2 = graph.transpose %1 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x40x2x16xf32>) -> tensor<1x2x40x16xf32>
  %3 = graph.attention %2, %k, %k {scale = 0.25 : f64} : (tensor<1x2x40x16xf32>, tensor<1x2x40x16xf32>, tensor<1x2x40x16xf32>) -> tensor<1x2x40x16xf32>
  %4 = graph.matmul %y, %w : (tensor<?x32xf32, #h>, tensor<32x32xf32>) -> tensor<?x32xf32, #h>
  %5 = graph.reshape %4 : (tensor<?x32xf32, #h>) -> tensor<?x?x32xf32, #i>
  %6 = graph.transpose %5 {perm = array<i64: 1, 0, 2>} : (tensor<?x?x32xf32, #i>) -> tensor<?x?x32xf32, #j>
  return %3, %6 : tensor<1x2x40x16xf32>, tensor<?x?x32xf32, #j>
}

// -----

// A product without columns stores nothing: its movement stays separate.
// CHECK-LABEL: func.func @empty
// CHECK: graph.matmul
// CHECK-NOT: graph.transpose
// CHECK: graph.yield
func.func @empty(%x: tensor<6x1xf32>, %w: tensor<1x0xf32>) -> tensor<0x2x3xf32> {
  %0 = graph.matmul %x, %w : (tensor<6x1xf32>, tensor<1x0xf32>) -> tensor<6x0xf32>
  %1 = graph.reshape %0 : (tensor<6x0xf32>) -> tensor<2x3x0xf32>
  %2 = graph.transpose %1 {perm = array<i64: 2, 0, 1>} : (tensor<2x3x0xf32>) -> tensor<0x2x3xf32>
  return %2 : tensor<0x2x3xf32>
}

// -----

// The sum's other operand is moved too, and is an argument: no kernel computes values
// that are moved again after the sum.
// CHECK-LABEL: func.func @beside
// CHECK: graph.cluster({{.*}}) anchor "softmax"
// CHECK: graph.add
// CHECK-NEXT: graph.yield
// CHECK: graph.cluster({{.*}}) anchor "pointwise"
// CHECK: graph.transpose
func.func @beside(%x: tensor<64x6x64xf32>, %z: tensor<64x384xf32>) -> tensor<64x4x6x16xf32> {
  %0 = graph.softmax %x {axis = 2 : i64} : (tensor<64x6x64xf32>) -> tensor<64x6x64xf32>
  %1 = graph.reshape %z : (tensor<64x384xf32>) -> tensor<64x64x6xf32>
  %2 = graph.transpose %1 {perm = array<i64: 0, 2, 1>} : (tensor<64x64x6xf32>) -> tensor<64x6x64xf32>
  %3 = graph.add %2, %0 : (tensor<64x6x64xf32>, tensor<64x6x64xf32>) -> tensor<64x6x64xf32>
  %4 = graph.reshape %3 : (tensor<64x6x64xf32>) -> tensor<64x6x4x16xf32>
  %5 = graph.transpose %4 {perm = array<i64: 0, 2, 1, 3>} : (tensor<64x6x4x16xf32>) -> tensor<64x4x6x16xf32>
  return %5 : tensor<64x4x6x16xf32>
}

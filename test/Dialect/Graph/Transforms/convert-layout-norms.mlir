// Normalisations of channels-first data in channels-last layout.
// RUN: aopt %s --graph-convert-layout --split-input-file | FileCheck %s

// Each channel separately: sums along the outer dims, with transposes at the border only.
// The squared difference is a separate op.
// CHECK-LABEL: func.func @instance(
// CHECK: %[[X:.*]] = graph.conv
// CHECK: %[[M:.*]] = graph.reshape %[[X]] : {{.*}} -> tensor<2x64x4xf32>
// CHECK: %[[MEAN:.*]] = graph.reduce_mean %[[M]] {axes = array<i64: 1>{{.*}} -> tensor<2x1x4xf32>
// CHECK: %[[D:.*]] = graph.sub %[[M]], %[[MEAN]]
// CHECK: %[[Q:.*]] = graph.mul %[[D]], %[[D]]
// CHECK: graph.reduce_mean %[[Q]] {axes = array<i64: 1>
// CHECK: graph.sqrt
// CHECK-DAG: graph.neg %[[MEAN]]
// CHECK-DAG: graph.reciprocal
// CHECK: graph.add %[[X]], %{{.*}} : (tensor<2x8x8x4xf32>, tensor<2x1x1x4xf32>)
// CHECK: graph.mul
// CHECK: graph.mul %{{.*}}, %{{.*}} : (tensor<2x8x8x4xf32>, tensor<1x1x1x4xf32>)
// CHECK: graph.add %{{.*}}, %{{.*}} : (tensor<2x8x8x4xf32>, tensor<1x1x1x4xf32>)
// CHECK-NOT: graph.layer_norm
// CHECK: graph.transpose
// CHECK-NEXT: return
func.func @instance(%x: tensor<2x4x8x8xf32>, %s: tensor<4x1x1xf32>, %b: tensor<4x1x1xf32>) -> tensor<2x4x8x8xf32> {
  %filter = graph.constant dense<0.5> : tensor<4x4x3x3xf32>
  %p = graph.conv %x, %filter {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<2x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<2x4x8x8xf32>
  %n = graph.layer_norm %p scale %s bias %b {axis = 2 : i64} : (tensor<2x4x8x8xf32>, tensor<4x1x1xf32>, tensor<4x1x1xf32>) -> tensor<2x4x8x8xf32>
  return %n : tensor<2x4x8x8xf32>
}

// -----

// One group: a row of all elements in any order. A symbolic batch.
#x = affine_map<()[s0] -> (s0, 4, 8, 8)>
#r = affine_map<()[s0] -> (s0, 1, 256)>
// CHECK-LABEL: func.func @one_group(
// CHECK: graph.reduce_mean %{{.*}} {axes = array<i64: 1>{{.*}} : (tensor<?x256xf32
// CHECK: graph.reduce_mean %{{.*}} {axes = array<i64: 1>{{.*}} : (tensor<?x256xf32
// CHECK-NOT: graph.layer_norm
func.func @one_group(%x: tensor<?x4x8x8xf32, #x>) -> tensor<?x4x8x8xf32, #x> attributes {graph.symbols = ["n"]} {
  %filter = graph.constant dense<0.5> : tensor<4x4x3x3xf32>
  %p = graph.conv %x, %filter {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x4x8x8xf32, #x>, tensor<4x4x3x3xf32>) -> tensor<?x4x8x8xf32, #x>
  %r = graph.reshape %p : (tensor<?x4x8x8xf32, #x>) -> tensor<?x1x256xf32, #r>
  %n = graph.layer_norm %r {axis = 2 : i64} : (tensor<?x1x256xf32, #r>) -> tensor<?x1x256xf32, #r>
  %y = graph.reshape %n : (tensor<?x1x256xf32, #r>) -> tensor<?x4x8x8xf32, #x>
  return %y : tensor<?x4x8x8xf32, #x>
}

// -----

// Two groups of two channels, parameters per channel: statistics of channels over all
// positions, and of groups from these. Later ops are on elements in their own dims, so
// that they can be fused with their users.
// CHECK-LABEL: func.func @groups(
// CHECK: %[[X:.*]] = graph.conv
// CHECK: %[[M:.*]] = graph.reduce_mean %{{.*}} {axes = array<i64: 1>{{.*}} : (tensor<1x64x4xf32>) -> tensor<1x1x4xf32>
// CHECK: %[[V:.*]] = graph.reduce_mean %{{.*}} {axes = array<i64: 1>{{.*}} : (tensor<1x64x4xf32>) -> tensor<1x1x4xf32>
// CHECK: %[[MG:.*]] = graph.reshape %[[M]] : (tensor<1x1x4xf32>) -> tensor<1x2x2xf32>
// CHECK: %[[C:.*]] = graph.reduce_mean %[[MG]] {axes = array<i64: 2>
// CHECK: %[[D:.*]] = graph.sub %[[MG]], %[[C]]
// CHECK: %[[B:.*]] = graph.mul %[[D]], %[[D]]
// CHECK: %[[VG:.*]] = graph.reshape %[[V]] : (tensor<1x1x4xf32>) -> tensor<1x2x2xf32>
// CHECK: %[[S:.*]] = graph.add %[[VG]], %[[B]]
// CHECK: graph.reduce_mean %[[S]] {axes = array<i64: 2>
// CHECK: graph.add %[[X]], %{{.*}} : (tensor<1x8x8x4xf32>, tensor<1x1x1x4xf32>)
// CHECK: graph.mul %{{.*}}, %{{.*}} : (tensor<1x8x8x4xf32>, tensor<1x1x1x4xf32>)
// CHECK-NOT: graph.layer_norm
// CHECK: graph.transpose
// CHECK-NEXT: return
func.func @groups(%x: tensor<1x4x8x8xf32>, %s: tensor<2x2x1x1xf32>) -> tensor<1x4x8x8xf32> {
  %filter = graph.constant dense<0.5> : tensor<4x4x3x3xf32>
  %p = graph.conv %x, %filter {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  %r = graph.reshape %p : (tensor<1x4x8x8xf32>) -> tensor<1x2x2x8x8xf32>
  %n = graph.layer_norm %r scale %s {axis = 2 : i64} : (tensor<1x2x2x8x8xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x8x8xf32>
  %y = graph.reshape %n : (tensor<1x2x2x8x8xf32>) -> tensor<1x4x8x8xf32>
  return %y : tensor<1x4x8x8xf32>
}

// -----

// A scale per element, f16, whose sums need f32, rows of another kind, and a row of one
// position in either layout.
// CHECK-LABEL: func.func @refused(
// CHECK-COUNT-4: graph.layer_norm
func.func @refused(%x: tensor<1x4x8x8xf32>, %h: tensor<1x4x8x8xf16>, %s: tensor<8xf32>) -> (tensor<1x4x8x8xf32>, tensor<1x4x8x8xf16>, tensor<1x4x8x8xf32>, tensor<1x64x4xf32>) {
  %filter = graph.constant dense<0.5> : tensor<4x4x3x3xf32>
  %p = graph.conv %x, %filter {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x8x8xf32>
  %filter_q = graph.constant dense<0.5> : tensor<4x4x3x3xf16>
  %q = graph.conv %h, %filter_q {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf16>, tensor<4x4x3x3xf16>) -> tensor<1x4x8x8xf16>
  %a = graph.layer_norm %p scale %s {axis = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<8xf32>) -> tensor<1x4x8x8xf32>
  %b = graph.layer_norm %q {axis = 2 : i64} : (tensor<1x4x8x8xf16>) -> tensor<1x4x8x8xf16>
  %c = graph.layer_norm %p {axis = 3 : i64} : (tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %r = graph.reshape %p : (tensor<1x4x8x8xf32>) -> tensor<1x4x64xf32>
  %t = graph.transpose %r {perm = array<i64: 0, 2, 1>} : (tensor<1x4x64xf32>) -> tensor<1x64x4xf32>
  %d = graph.layer_norm %t {axis = 2 : i64} : (tensor<1x64x4xf32>) -> tensor<1x64x4xf32>
  return %a, %b, %c, %d : tensor<1x4x8x8xf32>, tensor<1x4x8x8xf16>, tensor<1x4x8x8xf32>, tensor<1x64x4xf32>
}

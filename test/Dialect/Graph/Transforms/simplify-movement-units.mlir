// Dims that are 1, or may be 1, with a concatenation.
// RUN: aopt %s --graph-simplify-movement --split-input-file | FileCheck %s

// Pairs that are computed and interleaved.
#x = affine_map<()[s0] -> (s0, 16)>
#u = affine_map<()[s0] -> (s0, 16, 1)>
#z = affine_map<()[s0] -> (s0, 16, 2)>
// CHECK-LABEL: func.func @interleaved
// CHECK-DAG: %[[X:.*]] = graph.reshape %arg0 : (tensor<?x16xf32, #{{.*}}>) -> tensor<?x16x1xf32, #{{.*}}>
// CHECK-DAG: %[[F:.*]] = graph.reshape %arg1 : (tensor<16xf32>) -> tensor<1x16x1xf32>
// CHECK-DAG: %[[M:.*]] = graph.mul %[[X]], %[[F]]
// CHECK-DAG: %[[S:.*]] = graph.sin %[[M]]
// CHECK: graph.concat %[[S]], %{{.*}} {axis = 2 : i64}
func.func @interleaved(%x: tensor<?x16xf32, #x>, %f: tensor<16xf32>) -> tensor<?x16x2xf32, #z> {
  %0 = graph.mul %x, %f : (tensor<?x16xf32, #x>, tensor<16xf32>) -> tensor<?x16xf32, #x>
  %1 = graph.sin %0 : (tensor<?x16xf32, #x>) -> tensor<?x16xf32, #x>
  %2 = graph.cos %0 : (tensor<?x16xf32, #x>) -> tensor<?x16xf32, #x>
  %3 = graph.reshape %1 : (tensor<?x16xf32, #x>) -> tensor<?x16x1xf32, #u>
  %4 = graph.reshape %2 : (tensor<?x16xf32, #x>) -> tensor<?x16x1xf32, #u>
  %5 = graph.concat %3, %4 {axis = 2 : i64} : (tensor<?x16x1xf32, #u>, tensor<?x16x1xf32, #u>) -> tensor<?x16x2xf32, #z>
  return %5 : tensor<?x16x2xf32, #z>
}

// -----

// A value that another kernel computes, or that is stored in any case, is viewed
// directly.
// CHECK-LABEL: func.func @stored
// CHECK: %[[A:.*]] = graph.add
// CHECK: graph.reshape %[[A]]
// CHECK: %[[N:.*]] = graph.neg
// CHECK: graph.reshape %[[N]]
func.func @stored(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> (tensor<4x8x2xf32>, tensor<4x8xf32>) {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = graph.add %0, %b : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = graph.reshape %1 : (tensor<4x8xf32>) -> tensor<4x8x1xf32>
  %3 = graph.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = graph.reshape %3 : (tensor<4x8xf32>) -> tensor<4x8x1xf32>
  %5 = graph.concat %2, %4 {axis = 2 : i64} : (tensor<4x8x1xf32>, tensor<4x8x1xf32>) -> tensor<4x8x2xf32>
  return %5, %3 : tensor<4x8x2xf32>, tensor<4x8xf32>
}

// -----

// An operand of dynamic size may broadcast to all parts: it is not sliced.
// CHECK-LABEL: func.func @may_be_one
// CHECK-NOT: graph.slice
// CHECK: %[[C:.*]] = graph.concat
// CHECK: graph.add %arg0, %[[C]]
func.func @may_be_one(%x: tensor<?xf32, affine_map<()[s0] -> (s0)>>, %y: tensor<4xf32>, %z: tensor<3xf32>) -> tensor<7xf32> {
  %0 = graph.concat %y, %z {axis = 0 : i64} : (tensor<4xf32>, tensor<3xf32>) -> tensor<7xf32>
  %1 = graph.add %x, %0 : (tensor<?xf32, affine_map<()[s0] -> (s0)>>, tensor<7xf32>) -> tensor<7xf32>
  return %1 : tensor<7xf32>
}

// -----

// Views of equal elements are broadcasts of one; those of a row are not.
// CHECK-LABEL: func.func @splat
// CHECK: %[[B:.*]] = graph.broadcast_to %arg0 : (tensor<f32>) -> tensor<?x3xf32
// CHECK: %[[R:.*]] = graph.broadcast_to %arg1 : (tensor<3xf32>) -> tensor<2x?x3xf32
// CHECK: %[[S:.*]] = graph.slice %[[R]]
// CHECK: return %[[B]], %[[S]]
#all = affine_map<()[s0] -> (2, s0, 3)>
#one = affine_map<()[s0] -> (1, s0, 3)>
#part = affine_map<()[s0] -> (s0, 3)>
func.func @splat(%x: tensor<f32>, %y: tensor<3xf32>, %n: tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> (tensor<?x3xf32, #part>, tensor<1x?x3xf32, #one>) {
  %0 = graph.broadcast_to %x : (tensor<f32>) -> tensor<2x?x3xf32, #all>
  %1 = graph.slice %0 {starts = array<i64: 1, 0, 0>, steps = array<i64: 1, 1, 1>} : (tensor<2x?x3xf32, #all>) -> tensor<1x?x3xf32, #one>
  %2 = graph.reshape %1 : (tensor<1x?x3xf32, #one>) -> tensor<?x3xf32, #part>
  %3 = graph.broadcast_to %y : (tensor<3xf32>) -> tensor<2x?x3xf32, #all>
  %4 = graph.slice %3 {starts = array<i64: 1, 0, 0>, steps = array<i64: 1, 1, 1>} : (tensor<2x?x3xf32, #all>) -> tensor<1x?x3xf32, #one>
  return %2, %4 : tensor<?x3xf32, #part>, tensor<1x?x3xf32, #one>
}

// -----

// A one-hot encoding of known depth: -1 is the last position. One of dynamic depth stays.
#n = affine_map<()[s0] -> (4, s0)>
// CHECK-LABEL: func.func @one_hot(
// CHECK: %[[NEGATIVE:.*]] = graph.less %arg0
// CHECK: %[[I:.*]] = graph.select %[[NEGATIVE]]
// CHECK: %[[P:.*]] = graph.range {{.*}} -> tensor<10xi64>
// CHECK: %[[ROW:.*]] = graph.reshape %[[P]] : {{.*}} -> tensor<1x10xi64>
// CHECK: %[[COLUMN:.*]] = graph.reshape %[[I]] : {{.*}} -> tensor<4x1xi64>
// CHECK: %[[HOT:.*]] = graph.equal %[[ROW]], %[[COLUMN]]
// CHECK: graph.select %[[HOT]]
// CHECK: graph.one_hot
func.func @one_hot(%i: tensor<4xi64>, %v: tensor<2xf32>) -> (tensor<4x10xf32>, tensor<4x?xf32, #n>) {
  %y = graph.one_hot %i, %v {axis = 1 : i64} : (tensor<4xi64>, tensor<2xf32>) -> tensor<4x10xf32>
  %z = graph.one_hot %i, %v {axis = 1 : i64} : (tensor<4xi64>, tensor<2xf32>) -> tensor<4x?xf32, #n>
  return %y, %z : tensor<4x10xf32>, tensor<4x?xf32, #n>
}

// RUN: aopt %s --graph-place-concat --split-input-file | FileCheck %s

// The example of the pass: what a kernel computes is inserted at once, what it
// reads is copied in the end.
// CHECK-LABEL: func.func @example
// CHECK: %[[P:.*]] = graph.matmul
// CHECK: %[[D:.*]] = graph.empty : () -> tensor<4x24xf32>
// CHECK: %[[ONE:.*]] = graph.insert_slice %[[P]], %[[D]] {axis = 1 : i64, offsets = array<i64: 8>}
// CHECK: %[[TWO:.*]] = graph.insert_slice %arg0, %[[ONE]] {axis = 1 : i64, offsets = array<i64: 0>}
// CHECK-NOT: graph.concat
// CHECK: return %[[TWO]]
func.func @example(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> tensor<4x24xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = graph.concat %x, %0 {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x16xf32>) -> tensor<4x24xf32>
  return %1 : tensor<4x24xf32>
}

// -----

// Rows that are symbols; the reader of a piece reads it at its place. The piece
// of unknown length is the last one: all offsets are known.
#x = affine_map<()[s0, s1] -> (s0, 8)>
#y = affine_map<()[s0, s1] -> (s0, 16)>
#z = affine_map<()[s0, s1] -> (s0, s1)>
#r = affine_map<()[s0, s1] -> (s0, s1 + 16)>
// CHECK-LABEL: func.func @symbolic
// CHECK: %[[P:.*]] = graph.matmul %arg0
// CHECK: %[[D:.*]] = graph.empty : () -> tensor<?x?xf32, #[[R:.*]]>
// CHECK: %[[ONE:.*]] = graph.insert_slice %[[P]], %[[D]] {axis = 1 : i64, offsets = array<i64: 0>}
// CHECK: %[[PART:.*]] = graph.slice %[[ONE]] {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} {{.*}} -> tensor<?x16xf32
// CHECK: %[[Q:.*]] = graph.softmax %[[PART]]
// CHECK: %[[TWO:.*]] = graph.insert_slice %arg1, %[[ONE]] {axis = 1 : i64, offsets = array<i64: 16>}
// CHECK: return %[[TWO]], %[[Q]]
func.func @symbolic(%x: tensor<?x8xf32, #x>, %z: tensor<?x?xf32, #z>, %w: tensor<8x16xf32>) -> (tensor<?x?xf32, #r>, tensor<?x16xf32, #y>) {
  %0 = graph.matmul %x, %w : (tensor<?x8xf32, #x>, tensor<8x16xf32>) -> tensor<?x16xf32, #y>
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<?x16xf32, #y>) -> tensor<?x16xf32, #y>
  %2 = graph.concat %0, %z {axis = 1 : i64} : (tensor<?x16xf32, #y>, tensor<?x?xf32, #z>) -> tensor<?x?xf32, #r>
  return %2, %1 : tensor<?x?xf32, #r>, tensor<?x16xf32, #y>
}

// -----

// Offsets that only the run can tell, pieces that one kernel computes from
// memory anyway, too little to place, several pieces that are computed but have
// no kernel of their own.
#z = affine_map<()[s0] -> (4, s0)>
#r = affine_map<()[s0] -> (4, s0 + 16)>
// CHECK-LABEL: func.func @stays
// CHECK-NOT: graph.insert_slice
// CHECK-COUNT-4: graph.concat
// CHECK-NOT: graph.insert_slice
func.func @stays(%x: tensor<4x8xf32>, %z: tensor<4x?xf32, #z>, %w: tensor<8x16xf32>, %l: tensor<4x99xf32>) -> (tensor<4x?xf32, #r>, tensor<4x16xf32>, tensor<4x115xf32>, tensor<4x32xf32>) {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %a = graph.concat %z, %0 {axis = 1 : i64} : (tensor<4x?xf32, #z>, tensor<4x16xf32>) -> tensor<4x?xf32, #r>
  %1 = graph.relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = graph.concat %1, %x {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  %c = graph.concat %0, %l {axis = 1 : i64} : (tensor<4x16xf32>, tensor<4x99xf32>) -> tensor<4x115xf32>
  %2 = graph.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = graph.tanh %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = graph.concat %0, %2, %3 {axis = 1 : i64} : (tensor<4x16xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x32xf32>
  return %a, %b, %c, %d : tensor<4x?xf32, #r>, tensor<4x16xf32>, tensor<4x115xf32>, tensor<4x32xf32>
}

// -----

// A piece that occurs twice is stored once; one that is a result by itself, or
// of two concats, is stored twice.
// CHECK-LABEL: func.func @shared
// CHECK: %[[P:.*]] = graph.matmul
// CHECK-DAG: %[[E1:.*]] = graph.empty : () -> tensor<4x40xf32>
// CHECK-DAG: %[[E2:.*]] = graph.empty : () -> tensor<4x24xf32>
// CHECK-DAG: %[[B:.*]] = graph.insert_slice %[[P]], %[[E1]] {axis = 1 : i64, offsets = array<i64: 8>}
// CHECK-DAG: %[[A:.*]] = graph.insert_slice %[[P]], %[[E2]] {axis = 1 : i64, offsets = array<i64: 0>}
// CHECK-DAG: %[[A1:.*]] = graph.insert_slice %arg0, %[[A]] {axis = 1 : i64, offsets = array<i64: 16>}
// CHECK-DAG: %[[B1:.*]] = graph.insert_slice %arg0, %[[P]], %[[B]] {axis = 1 : i64, offsets = array<i64: 0, 24>}
// CHECK: return %[[P]], %[[A1]], %[[B1]]
func.func @shared(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> (tensor<4x16xf32>, tensor<4x24xf32>, tensor<4x40xf32>) {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = graph.concat %0, %x {axis = 1 : i64} : (tensor<4x16xf32>, tensor<4x8xf32>) -> tensor<4x24xf32>
  %2 = graph.concat %x, %0, %0 {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x40xf32>
  return %0, %1, %2 : tensor<4x16xf32>, tensor<4x24xf32>, tensor<4x40xf32>
}

// -----

// A dense block: every concat begins with the one before, and all lie in the
// memory of the last.
// CHECK-LABEL: func.func @dense
// CHECK: %[[X:.*]] = graph.matmul %arg0
// CHECK: %[[D:.*]] = graph.empty : () -> tensor<4x24xf32>
// CHECK: %[[D1:.*]] = graph.insert_slice %[[X]], %[[D]] {axis = 1 : i64, offsets = array<i64: 0>}
// CHECK: %[[X0:.*]] = graph.slice %[[D1]] {{.*}} -> tensor<4x8xf32>
// CHECK: %[[Y:.*]] = graph.softmax %[[X0]]
// CHECK: %[[D2:.*]] = graph.insert_slice %[[Y]], %[[D1]] {axis = 1 : i64, offsets = array<i64: 8>}
// CHECK: %[[XY:.*]] = graph.slice %[[D2]] {starts = array<i64: 0, 0>, {{.*}} -> tensor<4x16xf32>
// CHECK: %[[R:.*]] = graph.relu %[[XY]]
// CHECK: %[[Z:.*]] = graph.matmul %[[R]]
// CHECK: %[[D3:.*]] = graph.insert_slice %[[Z]], %[[D2]] {axis = 1 : i64, offsets = array<i64: 16>}
// CHECK-NOT: graph.concat
// CHECK: return %[[D3]]
func.func @dense(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %v: tensor<16x8xf32>) -> tensor<4x24xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = graph.concat %0, %1 {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  %3 = graph.relu %2 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %4 = graph.matmul %3, %v : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %5 = graph.concat %0, %1, %4 {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x24xf32>
  return %5 : tensor<4x24xf32>
}

// RUN: aopt %s --graph-place-concat --split-input-file | FileCheck %s

// The example of the pass: computed operands are inserted at once, others are copied at
// the end.
// CHECK-DAG: #[[AT8:[a-z0-9]+]] = affine_map<() -> (8)>
// CHECK-DAG: #[[AT0:[a-z0-9]+]] = affine_map<() -> (0)>
// CHECK-LABEL: func.func @example
// CHECK: %[[P:.*]] = graph.matmul
// CHECK: %[[D:.*]] = graph.empty : () -> tensor<4x24xf32>
// CHECK: %[[ONE:.*]] = graph.insert_slice %[[P]], %[[D]] {axis = 1 : i64, offsets = #[[AT8]]}
// CHECK: %[[TWO:.*]] = graph.insert_slice %arg0, %[[ONE]] {axis = 1 : i64, offsets = #[[AT0]]}
// CHECK-NOT: graph.concat
// CHECK: return %[[TWO]]
func.func @example(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> tensor<4x24xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = graph.concat %x, %0 {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x16xf32>) -> tensor<4x24xf32>
  return %1 : tensor<4x24xf32>
}

// -----

// Rows that are symbols; the user of an operand reads it in place. The operand of dynamic
// length is the last one: all offsets are static.
#x = affine_map<()[s0, s1] -> (s0, 8)>
#y = affine_map<()[s0, s1] -> (s0, 16)>
#z = affine_map<()[s0, s1] -> (s0, s1)>
#r = affine_map<()[s0, s1] -> (s0, s1 + 16)>
// CHECK-DAG: #[[AT0:[a-z0-9]+]] = affine_map<() -> (0)>
// CHECK-DAG: #[[AT16:[a-z0-9]+]] = affine_map<() -> (16)>
// CHECK-LABEL: func.func @symbolic
// CHECK: %[[P:.*]] = graph.matmul %arg0
// CHECK: %[[D:.*]] = graph.empty : () -> tensor<?x?xf32, #[[R:.*]]>
// CHECK: %[[ONE:.*]] = graph.insert_slice %[[P]], %[[D]] {axis = 1 : i64, offsets = #[[AT0]]}
// CHECK: %[[PART:.*]] = graph.slice %[[ONE]] {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} {{.*}} -> tensor<?x16xf32
// CHECK: %[[Q:.*]] = graph.softmax %[[PART]]
// CHECK: %[[TWO:.*]] = graph.insert_slice %arg1, %[[ONE]] {axis = 1 : i64, offsets = #[[AT16]]}
// CHECK: return %[[TWO]], %[[Q]]
func.func @symbolic(%x: tensor<?x8xf32, #x>, %z: tensor<?x?xf32, #z>, %w: tensor<8x16xf32>) -> (tensor<?x?xf32, #r>, tensor<?x16xf32, #y>)
    attributes {graph.symbols = ["n", "m"], graph.symbol_ranges = [array<i64: 0, -1, -1>, array<i64: 0, -1, 16>]} {
  %0 = graph.matmul %x, %w : (tensor<?x8xf32, #x>, tensor<8x16xf32>) -> tensor<?x16xf32, #y>
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<?x16xf32, #y>) -> tensor<?x16xf32, #y>
  %2 = graph.concat %0, %z {axis = 1 : i64} : (tensor<?x16xf32, #y>, tensor<?x?xf32, #z>) -> tensor<?x?xf32, #r>
  return %2, %1 : tensor<?x?xf32, #r>, tensor<?x16xf32, #y>
}

// -----

// Too small at a typical size, operands that one kernel computes from memory in any case,
// too small with static sizes, several operands that are computed but have no separate
// kernel.
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

// An operand that occurs twice is stored once; one that is also a result, or of two
// concats, is stored twice.
// CHECK-DAG: #[[AT8:[a-z0-9]+]] = affine_map<() -> (8)>
// CHECK-DAG: #[[AT0:[a-z0-9]+]] = affine_map<() -> (0)>
// CHECK-DAG: #[[AT16:[a-z0-9]+]] = affine_map<() -> (16)>
// CHECK-DAG: #[[AT0_24:[a-z0-9]+]] = affine_map<() -> (0, 24)>
// CHECK-LABEL: func.func @shared
// CHECK: %[[P:.*]] = graph.matmul
// CHECK-DAG: %[[E1:.*]] = graph.empty : () -> tensor<4x40xf32>
// CHECK-DAG: %[[E2:.*]] = graph.empty : () -> tensor<4x24xf32>
// CHECK-DAG: %[[B:.*]] = graph.insert_slice %[[P]], %[[E1]] {axis = 1 : i64, offsets = #[[AT8]]}
// CHECK-DAG: %[[A:.*]] = graph.insert_slice %[[P]], %[[E2]] {axis = 1 : i64, offsets = #[[AT0]]}
// CHECK-DAG: %[[A1:.*]] = graph.insert_slice %arg0, %[[A]] {axis = 1 : i64, offsets = #[[AT16]]}
// CHECK-DAG: %[[B1:.*]] = graph.insert_slice %arg0, %[[P]], %[[B]] {axis = 1 : i64, offsets = #[[AT0_24]]}
// CHECK: return %[[P]], %[[A1]], %[[B1]]
func.func @shared(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>) -> (tensor<4x16xf32>, tensor<4x24xf32>, tensor<4x40xf32>) {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %1 = graph.concat %0, %x {axis = 1 : i64} : (tensor<4x16xf32>, tensor<4x8xf32>) -> tensor<4x24xf32>
  %2 = graph.concat %x, %0, %0 {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x40xf32>
  return %0, %1, %2 : tensor<4x16xf32>, tensor<4x24xf32>, tensor<4x40xf32>
}

// -----

// A dense block: every concat begins with the previous one, and all are in the memory of
// the last.
// CHECK-DAG: #[[AT0:[a-z0-9]+]] = affine_map<() -> (0)>
// CHECK-DAG: #[[AT8:[a-z0-9]+]] = affine_map<() -> (8)>
// CHECK-DAG: #[[AT16:[a-z0-9]+]] = affine_map<() -> (16)>
// CHECK-LABEL: func.func @dense
// CHECK: %[[X:.*]] = graph.matmul %arg0
// CHECK: %[[D:.*]] = graph.empty : () -> tensor<4x24xf32>
// CHECK: %[[D1:.*]] = graph.insert_slice %[[X]], %[[D]] {axis = 1 : i64, offsets = #[[AT0]]}
// CHECK: %[[X0:.*]] = graph.slice %[[D1]] {{.*}} -> tensor<4x8xf32>
// CHECK: %[[Y:.*]] = graph.softmax %[[X0]]
// CHECK: %[[D2:.*]] = graph.insert_slice %[[Y]], %[[D1]] {axis = 1 : i64, offsets = #[[AT8]]}
// CHECK: %[[XY:.*]] = graph.slice %[[D2]] {starts = array<i64: 0, 0>, {{.*}} -> tensor<4x16xf32>
// CHECK: %[[R:.*]] = graph.relu %[[XY]]
// CHECK: %[[Z:.*]] = graph.matmul %[[R]]
// CHECK: %[[D3:.*]] = graph.insert_slice %[[Z]], %[[D2]] {axis = 1 : i64, offsets = #[[AT16]]}
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

// -----

// Symbolic offsets: past keys are copied, the new ones stored after them. An operand with
// another user is read in place if its offset is static, in the second concat; the third
// one has no operand that a kernel computes.
#p = affine_map<()[s0, s1] -> (s0, 8)>
#n = affine_map<()[s0, s1] -> (s1, 8)>
#k = affine_map<()[s0, s1] -> (s0 + s1, 8)>
#two = affine_map<()[s0, s1] -> (s1 * 2, 8)>
#three = affine_map<()[s0, s1] -> (s0 + s1 * 2, 8)>
// CHECK-DAG: #[[ALL:[a-z0-9]+]] = affine_map<()[s0, s1] -> (s0 + s1, 8)>
// CHECK-DAG: #[[TWO:[a-z0-9]+]] = affine_map<()[s0, s1] -> (s1 * 2, 8)>
// CHECK-DAG: #[[PAST:[a-z0-9]+]] = affine_map<()[s0] -> (s0)>
// CHECK-DAG: #[[NEW:[a-z0-9]+]] = affine_map<()[s0, s1] -> (s1)>
// CHECK-DAG: #[[ZERO:[a-z0-9]+]] = affine_map<() -> (0)>
// CHECK-LABEL: func.func @dynamic
// CHECK: %[[Y:.*]] = graph.matmul
// CHECK-DAG: %[[D:.*]] = graph.empty : () -> tensor<?x8xf32, #[[ALL]]>
// CHECK-DAG: %[[ONE:.*]] = graph.insert_slice %[[Y]], %[[D]] {axis = 0 : i64, offsets = #[[PAST]]}
// CHECK-DAG: %[[D2:.*]] = graph.empty : () -> tensor<?x8xf32, #[[TWO]]>
// CHECK-DAG: %[[A:.*]] = graph.insert_slice %[[Y]], %[[D2]] {axis = 0 : i64, offsets = #[[ZERO]]}
// CHECK-DAG: %[[AT:.*]] = graph.slice %[[A]] {starts = array<i64: 0, 0>
// CHECK-DAG: graph.insert_slice %arg0, %[[ONE]] {axis = 0 : i64, offsets = #[[ZERO]]}
// CHECK-DAG: %[[S:.*]] = graph.softmax %[[AT]]
// CHECK-DAG: %[[B:.*]] = graph.insert_slice %[[S]], %[[A]] {axis = 0 : i64, offsets = #[[NEW]]}
// CHECK: graph.concat %arg0, %[[B]]
// CHECK-NOT: graph.concat
func.func @dynamic(%past: tensor<?x8xf32, #p>, %x: tensor<?x8xf32, #n>, %w: tensor<8x8xf32>) -> (tensor<?x8xf32, #k>, tensor<?x8xf32, #n>, tensor<?x8xf32, #three>) {
  %0 = graph.matmul %x, %w : (tensor<?x8xf32, #n>, tensor<8x8xf32>) -> tensor<?x8xf32, #n>
  %1 = graph.concat %past, %0 {axis = 0 : i64} : (tensor<?x8xf32, #p>, tensor<?x8xf32, #n>) -> tensor<?x8xf32, #k>
  %2 = graph.softmax %0 {axis = 1 : i64} : (tensor<?x8xf32, #n>) -> tensor<?x8xf32, #n>
  %3 = graph.concat %0, %2 {axis = 0 : i64} : (tensor<?x8xf32, #n>, tensor<?x8xf32, #n>) -> tensor<?x8xf32, #two>
  %4 = graph.concat %past, %3 {axis = 0 : i64} : (tensor<?x8xf32, #p>, tensor<?x8xf32, #two>) -> tensor<?x8xf32, #three>
  return %1, %2, %4 : tensor<?x8xf32, #k>, tensor<?x8xf32, #n>, tensor<?x8xf32, #three>
}

// -----

// At a common length of 16, a product of 16 rows is half of it; a data-dependent size has
// no memory when the first operand is computed.
#z = affine_map<()[s0] -> (4, s0)>
#r = affine_map<()[s0] -> (4, s0 + 16)>
#d = affine_map<()[s0, s1] -> (4, s1)>
#e = affine_map<()[s0, s1] -> (4, s1 + 16)>
// CHECK-LABEL: func.func @common
// CHECK: graph.insert_slice
// CHECK: graph.concat
// CHECK-NOT: graph.concat
func.func @common(%x: tensor<4x8xf32>, %z: tensor<4x?xf32, #z>, %w: tensor<8x16xf32>, %n: tensor<1xi64>) -> (tensor<4x?xf32, #r>, tensor<4x?xf32, #e>)
    attributes {graph.symbols = ["n", ""], graph.symbol_ranges = [array<i64: 0, -1, 16>, array<i64: 0, -1, 16>]} {
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %a = graph.concat %z, %0 {axis = 1 : i64} : (tensor<4x?xf32, #z>, tensor<4x16xf32>) -> tensor<4x?xf32, #r>
  graph.bind %n {symbols = array<i64: 1>} : tensor<1xi64>
  %one = graph.constant dense<1.0> : tensor<4x1xf32>
  %o = graph.broadcast_to %one : (tensor<4x1xf32>) -> tensor<4x?xf32, #d>
  %b = graph.concat %o, %0 {axis = 1 : i64} : (tensor<4x?xf32, #d>, tensor<4x16xf32>) -> tensor<4x?xf32, #e>
  return %a, %b : tensor<4x?xf32, #r>, tensor<4x?xf32, #e>
}

// -----

// An operand that occurs twice in an inner concat, or before it, is copied after all
// others are stored: before that, the inner concat is not a part of the outer one, and
// stays.
#n = affine_map<()[s0] -> (s0)>
#two = affine_map<()[s0] -> (s0 * 2)>
#four = affine_map<()[s0] -> (s0 * 4)>
// CHECK-LABEL: func.func @repeated
// CHECK: %[[S:.*]] = graph.softmax
// CHECK: %[[ONE:.*]] = graph.insert_slice %[[S]], %{{[0-9]+}} {
// CHECK: %[[TWO:.*]] = graph.insert_slice %[[S]], %[[ONE]] {
// CHECK: %[[Y:.*]] = graph.concat %[[TWO]], %[[TWO]]
// CHECK: return %[[Y]]
func.func @repeated(%x: tensor<?xf32, #n>) -> tensor<?xf32, #four> {
  %0 = graph.softmax %x {axis = 0 : i64} : (tensor<?xf32, #n>) -> tensor<?xf32, #n>
  %1 = graph.concat %0, %0 {axis = 0 : i64} : (tensor<?xf32, #n>, tensor<?xf32, #n>) -> tensor<?xf32, #two>
  %2 = graph.concat %1, %1 {axis = 0 : i64} : (tensor<?xf32, #two>, tensor<?xf32, #two>) -> tensor<?xf32, #four>
  return %2 : tensor<?xf32, #four>
}

// Sizes that are clamped at a bound, which may or may not be reached: if such a size must
// equal the unclamped one, it was not clamped, which the run checks, and is that size
// everywhere. Others are unchanged.
// RUN: aopt --graph-collect-assumptions --graph-solve-sizes --split-input-file %s | FileCheck %s

#x = affine_map<()[s0] -> (s0, 8)>
#cut = affine_map<()[s0] -> (-((s0 - 512) mod (-((s0 + 1) mod 513) + s0 + 2)) + s0, 8)>

// The first rows of a table.
// CHECK-DAG: #[[X:.*]] = affine_map<()[s0] -> (s0, 8)>
// CHECK-DAG: #[[BOUND:.*]] = affine_map<()[s0] -> (-s0 + 512)>
// CHECK-LABEL: func.func @table
// CHECK-SAME: graph.bounds = [#[[BOUND]]]
// CHECK: graph.slice {{.*}} -> tensor<?x8xf32, #[[X]]>
func.func @table(%t: tensor<512x8xf32>, %x: tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x> attributes {graph.symbols = ["n"]} {
  %0 = graph.slice %t {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<512x8xf32>) -> tensor<?x8xf32, #cut>
  %1 = graph.add %x, %0 : (tensor<?x8xf32, #x>, tensor<?x8xf32, #cut>) -> tensor<?x8xf32, #x>
  return %1 : tensor<?x8xf32, #x>
}

// -----

#x = affine_map<()[s0] -> (s0, 8)>
#cut = affine_map<()[s0] -> (-((s0 - 512) mod (-((s0 + 1) mod 513) + s0 + 2)) + s0, 8)>

// Nothing bounds the size by 512.
// CHECK: #[[CUT:.*]] = affine_map<()[s0] -> (-((s0 - 512) mod (-((s0 + 1) mod 513) + s0 + 2)) + s0, 8)>
// CHECK-LABEL: func.func @alone
// CHECK-NOT: graph.bounds
// CHECK: graph.relu {{.*}} -> tensor<?x8xf32, #[[CUT]]>
func.func @alone(%x: tensor<?x8xf32, #x>) -> tensor<?x8xf32, #cut> attributes {graph.symbols = ["n"]} {
  %0 = graph.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<?x8xf32, #x>) -> tensor<?x8xf32, #cut>
  %1 = graph.relu %0 : (tensor<?x8xf32, #cut>) -> tensor<?x8xf32, #cut>
  return %1 : tensor<?x8xf32, #cut>
}

// -----

#x = affine_map<()[s0] -> (s0, 8)>
#cut = affine_map<()[s0] -> (-((s0 - 512) mod (-((s0 + 1) mod 513) + s0 + 2)) + s0, 8)>

// A range bounds it.
// CHECK: #[[X:.*]] = affine_map<()[s0] -> (s0, 8)>
// CHECK-LABEL: func.func @ranged
// CHECK: graph.relu {{.*}} -> tensor<?x8xf32, #[[X]]>
func.func @ranged(%x: tensor<?x8xf32, #x>) -> tensor<?x8xf32, #cut> attributes {graph.symbols = ["n"], graph.symbol_ranges = [array<i64: 1, 400, -1>]} {
  %0 = graph.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<?x8xf32, #x>) -> tensor<?x8xf32, #cut>
  %1 = graph.relu %0 : (tensor<?x8xf32, #cut>) -> tensor<?x8xf32, #cut>
  return %1 : tensor<?x8xf32, #cut>
}

// -----

#x = affine_map<()[s0] -> (1, s0)>
#y = affine_map<()[s0, s1, s2] -> (s1, s2)>
#xy = affine_map<()[s0, s1] -> (1, -((s0 - s1) mod (-((s0 + 1) mod (s1 + 1)) + s0 + 2)) + s0)>
#xz = affine_map<()[s0, s1, s2] -> (1, -((s0 - s2) mod (-((s0 + 1) mod (s2 + 1)) + s0 + 2)) + s0)>
#all = affine_map<()[s0, s1] -> (2, -((s0 - s1) mod (-((s0 + 1) mod (s1 + 1)) + s0 + 2)) + s0)>

// Clamped to two sizes, and equal by either: only their equality is checked.
// CHECK-LABEL: func.func @both
// CHECK-NOT: graph.bounds
// CHECK-SAME: graph.equalities
func.func @both(%x: tensor<1x?xf32, #x>, %y: tensor<?x?xf32, #y>) -> tensor<2x?xf32, #all> attributes {graph.symbols = ["n", "m", "k"]} {
  %0 = graph.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<1x?xf32, #x>) -> tensor<1x?xf32, #xy>
  %1 = graph.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<1x?xf32, #x>) -> tensor<1x?xf32, #xz>
  %2 = graph.concat %0, %1 {axis = 0 : i64} : (tensor<1x?xf32, #xy>, tensor<1x?xf32, #xz>) -> tensor<2x?xf32, #all>
  return %2 : tensor<2x?xf32, #all>
}

// -----

#x = affine_map<()[s0] -> (s0, 8)>
#from = affine_map<()[s0] -> (-(((s0 - 1024) mod (-((s0 + 1) mod 1025) + s0 + 2)) * ((s0 - 513) mod (-((s0 + 1) mod 514) + s0 + 2))) + ((s0 - 1024) mod (-((s0 + 1) mod 1025) + s0 + 2)) * ((s0 - 512) mod (-((s0 + 1) mod 513) + s0 + 2)) + ((s0 - 513) mod (-((s0 + 1) mod 514) + s0 + 2)) * s0 - ((s0 - 512) mod (-((s0 + 1) mod 513) + s0 + 2)) * s0 - ((s0 - 513) mod (-((s0 + 1) mod 514) + s0 + 2)) * 1024 + ((s0 - 512) mod (-((s0 + 1) mod 513) + s0 + 2)) * 1025 - s0 + 512, 0)>
#cut = affine_map<()[s0] -> (((s0 - 1024) mod (-((s0 + 1) mod 1025) + s0 + 2)) * ((s0 - 513) mod (-((s0 + 1) mod 514) + s0 + 2)) - ((s0 - 1024) mod (-((s0 + 1) mod 1025) + s0 + 2)) * ((s0 - 512) mod (-((s0 + 1) mod 513) + s0 + 2)) - ((s0 - 513) mod (-((s0 + 1) mod 514) + s0 + 2)) * s0 + ((s0 - 512) mod (-((s0 + 1) mod 513) + s0 + 2)) * s0 + ((s0 - 513) mod (-((s0 + 1) mod 514) + s0 + 2)) * 1024 - ((s0 - 512) mod (-((s0 + 1) mod 513) + s0 + 2)) * 1025 + s0, 8)>

// From 512 - n on, which counts from the end if it is negative: 513 rows would begin at
// -1, which is one row. If a case is undecided at its border, the other one decides.
// CHECK-DAG: #[[X:.*]] = affine_map<()[s0] -> (s0, 8)>
// CHECK-DAG: #[[BOUND:.*]] = affine_map<()[s0] -> (-s0 + 512)>
// CHECK-DAG: #[[FROM:.*]] = affine_map<()[s0] -> (-s0 + 512, 0)>
// CHECK-LABEL: func.func @last_rows
// CHECK-SAME: graph.bounds = [{{.*}}#[[BOUND]]]
// CHECK: graph.slice %{{.*}} {starts = #[[FROM]], {{.*}} -> tensor<?x8xf32, #[[X]]>
func.func @last_rows(%t: tensor<512x8xf32>, %x: tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x> attributes {graph.symbols = ["n"]} {
  %0 = graph.slice %t {starts = #from, steps = array<i64: 1, 1>} : (tensor<512x8xf32>) -> tensor<?x8xf32, #cut>
  %1 = graph.add %x, %0 : (tensor<?x8xf32, #x>, tensor<?x8xf32, #cut>) -> tensor<?x8xf32, #x>
  return %1 : tensor<?x8xf32, #x>
}

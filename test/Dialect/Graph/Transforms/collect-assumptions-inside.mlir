// Assumptions in branches and loops, and about data-dependent sizes, are checked where
// they are reached.
// RUN: aopt --graph-collect-assumptions --split-input-file %s | FileCheck %s
// RUN: aopt --pass-pipeline='builtin.module(func.func(graph-collect-assumptions,graph-collect-assumptions))' --split-input-file %s | FileCheck %s
// RUN: aopt --adze-graph --split-input-file %s | FileCheck %s --check-prefix=STAGE
// RUN: aopt --adze-graph=O=0 --split-input-file %s | FileCheck %s --check-prefix=STAGE
// RUN: aopt --pass-pipeline='builtin.module(func.func(graph-collect-assumptions{branches=true}))' --split-input-file %s | FileCheck %s --check-prefix=EVERY

#n = affine_map<()[s0] -> (s0)>
#cut = affine_map<()[s0] -> (s0 - 3)>

// Assumptions of a branch are checked before all of its ops, unless they are checked
// outside; those of both branches, in each. Sizes of results as well: they could be
// negative.
// CHECK-DAG: #[[SUM:.*]] = affine_map<()[s0] -> (s0, 16)>
// CHECK-DAG: #[[OUTER:.*]] = affine_map<()[s0] -> (s0, 8)>
// CHECK-DAG: #[[CUT:.*]] = affine_map<()[s0] -> (s0 - 3)>
// CHECK-LABEL: func.func @branches
// CHECK-SAME: graph.broadcasts = [#[[OUTER]]], graph.symbols
// CHECK-NOT: graph.assume
// CHECK: graph.if
// CHECK-NEXT: graph.assume {broadcasts = [#[[SUM]]]}
// CHECK-NEXT: graph.assume {bounds = [#[[CUT]]]}
// CHECK-NEXT: graph.exp
// CHECK-NOT: graph.assume
// CHECK: } else {
// CHECK-NEXT: graph.assume {broadcasts = [#[[SUM]]]}
// CHECK-NOT: graph.assume
// CHECK: return
// STAGE-LABEL: func.func @branches
// STAGE: graph.if
// STAGE: graph.assume
// STAGE: } else {
// STAGE: graph.assume
// EVERY-LABEL: func.func @branches
// EVERY-NOT: graph.assume
// EVERY: return
func.func @branches(%x: tensor<?xf32, #n>, %y: tensor<16xf32>, %z: tensor<8xf32>, %c: tensor<i1>) -> (tensor<16xf32>, tensor<8xf32>)
    attributes {graph.symbols = ["n"]} {
  %0 = graph.add %x, %z : (tensor<?xf32, #n>, tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.if %c : (tensor<i1>) -> tensor<16xf32> {
    %2 = graph.exp %y : (tensor<16xf32>) -> tensor<16xf32>
    %3 = graph.add %x, %2 : (tensor<?xf32, #n>, tensor<16xf32>) -> tensor<16xf32>
    %4 = graph.mul %3, %x : (tensor<16xf32>, tensor<?xf32, #n>) -> tensor<16xf32>
    %5 = graph.slice %x {starts = array<i64: 3>, steps = array<i64: 1>} : (tensor<?xf32, #n>) -> tensor<?xf32, #cut>
    %6 = graph.reduce_max %5 {axes = array<i64: 0>, keepdims = true} : (tensor<?xf32, #cut>) -> tensor<1xf32>
    %7 = graph.add %4, %6 : (tensor<16xf32>, tensor<1xf32>) -> tensor<16xf32>
    graph.yield %7 : tensor<16xf32>
  } else {
    %2 = graph.sub %y, %x : (tensor<16xf32>, tensor<?xf32, #n>) -> tensor<16xf32>
    %3 = graph.add %x, %z : (tensor<?xf32, #n>, tensor<8xf32>) -> tensor<8xf32>
    graph.yield %2 : tensor<16xf32>
  }
  return %1, %0 : tensor<16xf32>, tensor<8xf32>
}

// -----

#n = affine_map<()[s0] -> (s0)>
#m = affine_map<()[s0, s1] -> (s1)>
#all = affine_map<()[s0, s1, s2, s3] -> (s2, s3)>
#slice = affine_map<()[s0, s1, s2, s3, s4] -> (s4)>

// Values become results of an If, loop-carried values (if their dims do not depend on
// them) and slices of one size.
// CHECK-DAG: #[[YIELD:.*]] = affine_map<()[s0, s1, s2, s3, s4] -> (s0, 5)>
// CHECK-DAG: #[[CARRY:.*]] = affine_map<()[s0, s1, s2, s3, s4] -> (s0, 4)>
// CHECK-DAG: #[[SLICE:.*]] = affine_map<()[s0, s1, s2, s3, s4] -> (s2 * s4, s2 * s3)>
// CHECK-LABEL: func.func @values
// CHECK-SAME: graph.equalities = [#[[CARRY]]], graph.symbols
// CHECK: graph.if
// CHECK-NEXT: graph.yield
// CHECK: else
// CHECK-NEXT: graph.assume {equalities = [#[[YIELD]]]}
// CHECK: "graph.loop"
// CHECK: graph.bind
// CHECK-NEXT: graph.assume {equalities = [#[[SLICE]]]}
// CHECK: graph.yield
func.func @values(%x: tensor<?xf32, #n>, %y: tensor<5xf32>, %c: tensor<i1>, %k: tensor<i64>, %s: tensor<1xi64>) -> (tensor<5xf32>, tensor<4xf32>, tensor<?xf32, #m>, tensor<?x?xf32, #all>)
    attributes {graph.symbols = ["n", "", "", "", ""]} {
  %0 = graph.if %c : (tensor<i1>) -> tensor<5xf32> {
    graph.yield %y : tensor<5xf32>
  } else {
    graph.yield %x : tensor<?xf32, #n>
  }
  %zero = graph.constant dense<0.0> : tensor<f32>
  %1:3 = "graph.loop"(%k, %x, %x) <{operandSegmentSizes = array<i32: 1, 0, 2>, count = 2 : i64, symbols = array<i64: 1, 2, 3>}> ({
  ^bb0(%i: tensor<i64>, %a: tensor<4xf32>, %b: tensor<?xf32, #m>):
    graph.bind %s {symbols = array<i64: 4>} : tensor<1xi64>
    %2 = graph.broadcast_to %zero : (tensor<f32>) -> tensor<?xf32, #slice>
    graph.yield %a, %2, %2 : tensor<4xf32>, tensor<?xf32, #slice>, tensor<?xf32, #slice>
  }) : (tensor<i64>, tensor<?xf32, #n>, tensor<?xf32, #n>) -> (tensor<4xf32>, tensor<?xf32, #m>, tensor<?x?xf32, #all>)
  return %0, %1#0, %1#1, %1#2 : tensor<5xf32>, tensor<4xf32>, tensor<?xf32, #m>, tensor<?x?xf32, #all>
}

// -----

#n = affine_map<()[s0] -> (s0)>
#late = affine_map<()[s0, s1] -> (s1)>

// A data-dependent size: checked as soon as it is known, once for all users, also in
// regions. Existing checks are not duplicated; conditions on inputs are checked before
// the run.
// CHECK-DAG: #[[EARLY:.*]] = affine_map<()[s0, s1] -> (s0, 16)>
// CHECK-DAG: #[[LATE:.*]] = affine_map<()[s0, s1] -> (s1, 16)>
// CHECK-DAG: #[[BOTH:.*]] = affine_map<()[s0, s1] -> (s0, s1)>
// CHECK-LABEL: func.func @data
// CHECK-SAME: graph.broadcasts = [#[[EARLY]]], graph.symbols
// CHECK: graph.bind
// CHECK-NEXT: graph.assume {equalities = [#[[BOTH]]]}
// CHECK-NEXT: graph.assume {broadcasts = [#[[LATE]]]}
// CHECK-NOT: graph.assume
// CHECK: return
func.func @data(%x: tensor<?xf32, #n>, %y: tensor<16xf32>, %c: tensor<i1>, %s: tensor<1xi64>) -> (tensor<16xf32>, tensor<16xf32>)
    attributes {graph.symbols = ["n", ""]} {
  %zero = graph.constant dense<0.0> : tensor<f32>
  graph.bind %s {symbols = array<i64: 1>} : tensor<1xi64>
  %0 = graph.broadcast_to %zero : (tensor<f32>) -> tensor<?xf32, #late>
  graph.assume {equalities = [affine_map<()[s0, s1] -> (s0, s1)>]}
  graph.assume {broadcasts = [affine_map<()[s0] -> (s0, 16)>]}
  %1 = graph.concat %x, %y {axis = 0 : i64} : (tensor<?xf32, #n>, tensor<16xf32>) -> tensor<?xf32, affine_map<()[s0] -> (s0 + 16)>>
  %2 = graph.if %c : (tensor<i1>) -> tensor<16xf32> {
    %4 = graph.mul %y, %0 : (tensor<16xf32>, tensor<?xf32, #late>) -> tensor<16xf32>
    graph.yield %4 : tensor<16xf32>
  } else {
    graph.yield %y : tensor<16xf32>
  }
  %3 = graph.add %y, %0 : (tensor<16xf32>, tensor<?xf32, #late>) -> tensor<16xf32>
  return %2, %3 : tensor<16xf32>, tensor<16xf32>
}

// Assumptions of ops about dynamic sizes become attributes of the function; the other
// functions have none, or none before they run.
// RUN: aopt --graph-collect-assumptions --split-input-file %s | FileCheck %s

// All pipelines preserve them, whatever is simplified, and only once.
// RUN: aopt --pass-pipeline='builtin.module(func.func(graph-collect-assumptions,graph-collect-assumptions))' --split-input-file %s | FileCheck %s
// RUN: aopt --adze-graph --split-input-file %s | FileCheck %s --check-prefix=STAGE
// RUN: aopt --adze-graph=O=0 --split-input-file %s | FileCheck %s --check-prefix=STAGE
// RUN: aopt --pass-pipeline='builtin.module(func.func(graph-collect-assumptions{branches=true}))' --split-input-file %s | FileCheck %s --check-prefix=EVERY

#n = affine_map<()[s0] -> (s0)>
#m = affine_map<()[s0, s1] -> (s1)>
#nm = affine_map<()[s0, s1, s2] -> (s0, s1)>
#k = affine_map<()[s0, s1, s2] -> (s2)>

// A dynamic size with a static one, two dynamic ones, and a static one that determines
// both.
// CHECK-DAG: #[[N16:.*]] = affine_map<()[s0, s1, s2] -> (s0, 16)>
// CHECK-DAG: #[[NM:.*]] = affine_map<()[s0, s1, s2] -> (s0, s1)>
// CHECK-DAG: #[[M16:.*]] = affine_map<()[s0, s1, s2] -> (s1, 16)>
// CHECK-LABEL: func.func @broadcasts
// CHECK-SAME: graph.broadcasts = [#[[N16]], #[[NM]], #[[M16]]]
// CHECK-NOT: graph.equalities
// STAGE-LABEL: func.func @broadcasts
// STAGE-SAME: graph.broadcasts = [#{{.*}}, #{{.*}}, #{{.*}}]
func.func @broadcasts(%x: tensor<?xf32, #n>, %y: tensor<?xf32, #m>, %z: tensor<16xf32>, %w: tensor<?xf32, #k>) -> tensor<16xf32>
    attributes {graph.symbols = ["n", "m", "k"]} {
  %0 = graph.add %x, %z : (tensor<?xf32, #n>, tensor<16xf32>) -> tensor<16xf32>
  %1 = graph.mul %x, %y : (tensor<?xf32, #n>, tensor<?xf32, #m>) -> tensor<?xf32, affine_map<()[s0, s1] -> ((s0 + s1 - ((2 floordiv (s0 + 1)) mod 2) - ((2 floordiv (s1 + 1)) mod 2) + ((2 floordiv (s0 + 1)) mod 2) * ((2 floordiv (s1 + 1)) mod 2)) floordiv (-((2 floordiv (s0 + 1)) mod 2) - ((2 floordiv (s1 + 1)) mod 2) + ((2 floordiv (s0 + 1)) mod 2) * ((2 floordiv (s1 + 1)) mod 2) + 2))>>
  %2 = graph.add %0, %y : (tensor<16xf32>, tensor<?xf32, #m>) -> tensor<16xf32>
  return %2 : tensor<16xf32>
}

// -----

#a = affine_map<()[s0, s1, s2, s3] -> (s0, s1)>
#b = affine_map<()[s0, s1, s2, s3] -> (s2, s3)>
#r = affine_map<()[s0, s1, s2, s3] -> (s0, s3)>
#c = affine_map<()[s0, s1, s2, s3] -> (s0 + s2, s1)>
#f = affine_map<()[s0, s1, s2, s3] -> (s0 * s1)>

// Inner sizes of a product; operands of a concat except along its axis; elements of a
// reshape. Existing attributes are kept.
// CHECK-DAG: #[[GIVEN:.*]] = affine_map<()[s0, s1, s2, s3] -> (s2, 4)>
// CHECK-DAG: #[[INNER:.*]] = affine_map<()[s0, s1, s2, s3] -> (s1, s2)>
// CHECK-DAG: #[[PIECES:.*]] = affine_map<()[s0, s1, s2, s3] -> (s3, s1)>
// CHECK-DAG: #[[ELEMENTS:.*]] = affine_map<()[s0, s1, s2, s3] -> (s0 * s1, 24)>
// CHECK-LABEL: func.func @equalities
// CHECK-SAME: graph.equalities = [#[[GIVEN]], #[[INNER]], #[[PIECES]], #[[ELEMENTS]]]
// STAGE-LABEL: func.func @equalities
// STAGE-SAME: graph.equalities = [#{{.*}}, #{{.*}}, #{{.*}}, #{{.*}}]
func.func @equalities(%x: tensor<?x?xf32, #a>, %y: tensor<?x?xf32, #b>) -> (tensor<?x?xf32, #r>, tensor<?x?xf32, #c>, tensor<2x12xf32>)
    attributes {graph.symbols = ["a", "b", "c", "d"], graph.equalities = [affine_map<()[s0, s1, s2] -> (s2, 4)>]} {
  %0 = graph.matmul %x, %y : (tensor<?x?xf32, #a>, tensor<?x?xf32, #b>) -> tensor<?x?xf32, #r>
  %1 = graph.concat %x, %y {axis = 0 : i64} : (tensor<?x?xf32, #a>, tensor<?x?xf32, #b>) -> tensor<?x?xf32, #c>
  %2 = graph.reshape %x : (tensor<?x?xf32, #a>) -> tensor<2x12xf32>
  %3 = graph.reshape %x : (tensor<?x?xf32, #a>) -> tensor<?xf32, #f>
  return %0, %1, %2 : tensor<?x?xf32, #r>, tensor<?x?xf32, #c>, tensor<2x12xf32>
}

// -----

#x = affine_map<()[s0, s1] -> (s0, 8)>
#y = affine_map<()[s0, s1] -> (s1, 8)>

// A part is within its whole: elements 4, 6, 8; 9, 8, 7; the first of a table; the
// greatest; rows that are looked up.
// CHECK-DAG: #[[UP:.*]] = affine_map<()[s0, s1] -> (s0 - 9)>
// CHECK-DAG: #[[DOWN:.*]] = affine_map<()[s0, s1] -> (s0 - 10)>
// CHECK-DAG: #[[TABLE:.*]] = affine_map<()[s0, s1] -> (s0 - s1)>
// CHECK-DAG: #[[GREATEST:.*]] = affine_map<()[s0, s1] -> (s0 - 5)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<()[s0, s1] -> ((s1 * s1) * -8 + s1 * 24)>
// CHECK-LABEL: func.func @bounds
// CHECK-SAME: graph.bounds = [#[[UP]], #[[DOWN]], #[[TABLE]], #[[GREATEST]], #[[ROWS]]]
// STAGE-LABEL: func.func @bounds
// STAGE-SAME: graph.bounds = [#{{.*}}, #{{.*}}, #{{.*}}, #{{.*}}, #{{.*}}]
func.func @bounds(%x: tensor<?x8xf32, #x>, %i: tensor<?x8xi64, #y>, %z: tensor<3x8xf32>) -> (tensor<3x8xf32>, tensor<3x8xf32>, tensor<?x8xf32, #y>, tensor<5x8xf32>, tensor<?x8xf32, #y>)
    attributes {graph.symbols = ["n", "m"]} {
  %0 = graph.slice %x {starts = array<i64: 4, 0>, steps = array<i64: 2, 1>} : (tensor<?x8xf32, #x>) -> tensor<3x8xf32>
  %1 = graph.slice %x {starts = array<i64: 9, 0>, steps = array<i64: -1, 1>} : (tensor<?x8xf32, #x>) -> tensor<3x8xf32>
  %2 = graph.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<?x8xf32, #x>) -> tensor<?x8xf32, #y>
  %3:2 = graph.top_k %x {axis = 0 : i64} : (tensor<?x8xf32, #x>) -> (tensor<5x8xf32>, tensor<5x8xi64>)
  %4 = graph.gather_elements %z, %i {axis = 1 : i64} : (tensor<3x8xf32>, tensor<?x8xi64, #y>) -> tensor<?x8xf32, #y>
  return %0, %1, %2, %3#0, %4 : tensor<3x8xf32>, tensor<3x8xf32>, tensor<?x8xf32, #y>, tensor<5x8xf32>, tensor<?x8xf32, #y>
}

// -----

#i = affine_map<()[s0, s1, s2] -> (1, s0, 9)>
#w = affine_map<()[s0, s1, s2] -> (4, s1, 3)>
#b = affine_map<()[s0, s1, s2] -> (s2)>

// Channels of a convolution, groups of 2, and a bias; a scale of channels; a scale that broadcasts.
// CHECK-DAG: #[[CHANNELS:.*]] = affine_map<()[s0, s1, s2] -> (s0, s1 * 2)>
// CHECK-DAG: #[[BIAS:.*]] = affine_map<()[s0, s1, s2] -> (s2, 4)>
// CHECK-DAG: #[[ALL:.*]] = affine_map<()[s0, s1, s2] -> (s2, s0)>
// CHECK-DAG: #[[SCALE:.*]] = affine_map<()[s0, s1, s2] -> (s2, 9)>
// CHECK-LABEL: func.func @layers
// CHECK-SAME: graph.broadcasts = [#[[SCALE]]]
// CHECK-SAME: graph.equalities = [#[[CHANNELS]], #[[BIAS]], #[[ALL]]]
// STAGE-LABEL: func.func @layers
// STAGE-SAME: graph.broadcasts = [#{{.*}}]
func.func @layers(%x: tensor<1x?x9xf32, #i>, %w: tensor<4x?x3xf32, #w>, %b: tensor<?xf32, #b>) -> (tensor<1x4x7xf32>, tensor<1x?x9xf32, #i>, tensor<1x?x9xf32, #i>)
    attributes {graph.symbols = ["c", "w", "b"]} {
  %0 = graph.conv %x, %w, %b {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 2 : i64} : (tensor<1x?x9xf32, #i>, tensor<4x?x3xf32, #w>, tensor<?xf32, #b>) -> tensor<1x4x7xf32>
  %1 = graph.instance_norm %x, %b, %b {epsilon = 1.0e-5 : f64} : (tensor<1x?x9xf32, #i>, tensor<?xf32, #b>, tensor<?xf32, #b>) -> tensor<1x?x9xf32, #i>
  %2 = graph.rms_norm %x, %b {axis = 2 : i64, epsilon = 1.0e-5 : f64} : (tensor<1x?x9xf32, #i>, tensor<?xf32, #b>) -> tensor<1x?x9xf32, #i>
  return %0, %1, %2 : tensor<1x4x7xf32>, tensor<1x?x9xf32, #i>, tensor<1x?x9xf32, #i>
}

// -----

#x = affine_map<()[s0, s1] -> (1, s0, 9)>
#f = affine_map<()[s0, s1] -> (s1, 1, 2)>
#y = affine_map<()[s0, s1] -> (1, s1, 8)>
#v = affine_map<()[s0, s1] -> (s0)>
#x8 = affine_map<()[s0, s1] -> (1, s0 * 8, 9)>
#v8 = affine_map<()[s0, s1] -> (s0 * 8)>

// Groups of channels have equal sizes, which are not checked if static.
// CHECK-DAG: #[[INPUT:.*]] = affine_map<()[s0, s1] -> (s0, 4)>
// CHECK-DAG: #[[OUTPUT:.*]] = affine_map<()[s0, s1] -> ((s1 floordiv 4) * 4, s1)>
// CHECK-DAG: #[[NORM:.*]] = affine_map<()[s0, s1] -> ((s0 floordiv 2) * 2, s0)>
// CHECK-LABEL: func.func @groups
// CHECK-SAME: graph.equalities = [#[[OUTPUT]], #[[INPUT]], #[[NORM]]]
// STAGE-LABEL: func.func @groups
func.func @groups(%x: tensor<1x?x9xf32, #x>, %f: tensor<?x1x2xf32, #f>, %v: tensor<?xf32, #v>, %x8: tensor<1x?x9xf32, #x8>, %v8: tensor<?xf32, #v8>) -> (tensor<1x?x8xf32, #y>, tensor<1x?x9xf32, #x>, tensor<1x?x9xf32, #x8>)
    attributes {graph.symbols = ["c", "m"]} {
  %0 = graph.conv %x, %f {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 4 : i64} : (tensor<1x?x9xf32, #x>, tensor<?x1x2xf32, #f>) -> tensor<1x?x8xf32, #y>
  %1 = graph.group_norm %x, %v, %v {groups = 2 : i64} : (tensor<1x?x9xf32, #x>, tensor<?xf32, #v>, tensor<?xf32, #v>) -> tensor<1x?x9xf32, #x>
  %2 = graph.group_norm %x8, %v8, %v8 {groups = 2 : i64} : (tensor<1x?x9xf32, #x8>, tensor<?xf32, #v8>, tensor<?xf32, #v8>) -> tensor<1x?x9xf32, #x8>
  return %0, %1, %2 : tensor<1x?x8xf32, #y>, tensor<1x?x9xf32, #x>, tensor<1x?x9xf32, #x8>
}

// -----

#q = affine_map<()[s0, s1, s2] -> (s0, 8, 5, 16)>
#k = affine_map<()[s0, s1, s2] -> (s0, 2, s1, 16)>
#v = affine_map<()[s0, s1, s2] -> (s0, 2, s2, 16)>

// As many keys as values; heads that share them are static.
// CHECK-DAG: #[[KEYS:.*]] = affine_map<()[s0, s1, s2] -> (s2, s1)>
// CHECK-LABEL: func.func @attention
// CHECK-SAME: graph.equalities = [#[[KEYS]]]
// CHECK-NOT: graph.broadcasts
// STAGE-LABEL: func.func @attention
func.func @attention(%q: tensor<?x8x5x16xf32, #q>, %k: tensor<?x2x?x16xf32, #k>, %v: tensor<?x2x?x16xf32, #v>) -> tensor<?x8x5x16xf32, #q>
    attributes {graph.symbols = ["b", "k", "v"]} {
  %0 = graph.attention %q, %k, %v {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, scale = 0.25 : f64} : (tensor<?x8x5x16xf32, #q>, tensor<?x2x?x16xf32, #k>, tensor<?x2x?x16xf32, #v>) -> tensor<?x8x5x16xf32, #q>
  return %0 : tensor<?x8x5x16xf32, #q>
}

// -----

#n = affine_map<()[s0, s1] -> (s0)>
#late = affine_map<()[s0, s1, s2] -> (s2)>

// No assumptions about equal or static sizes; those in a branch, and data-dependent ones,
// are unknown before the run.
// CHECK-LABEL: func.func @nothing
// CHECK-SAME: attributes {graph.symbols = ["n", "m", ""]}
// STAGE-LABEL: func.func @nothing
// STAGE-SAME: attributes {graph.symbols = ["n", "m", ""]}
func.func @nothing(%x: tensor<?xf32, #n>, %y: tensor<16xf32>, %c: tensor<i1>, %s: tensor<1xi64>, %t: tensor<f32>) -> (tensor<?xf32, #n>, tensor<16xf32>, tensor<16xf32>)
    attributes {graph.symbols = ["n", "m", ""]} {
  %0 = graph.add %x, %x : (tensor<?xf32, #n>, tensor<?xf32, #n>) -> tensor<?xf32, #n>
  %1 = graph.if %c : (tensor<i1>) -> tensor<16xf32> {
    %3 = graph.add %x, %y : (tensor<?xf32, #n>, tensor<16xf32>) -> tensor<16xf32>
    graph.yield %3 : tensor<16xf32>
  } else {
    graph.yield %y : tensor<16xf32>
  }
  graph.bind %s {symbols = array<i64: 2>} : tensor<1xi64>
  %4 = graph.broadcast_to %t : (tensor<f32>) -> tensor<?xf32, #late>
  %5 = graph.add %4, %y : (tensor<?xf32, #late>, tensor<16xf32>) -> tensor<16xf32>
  return %0, %1, %5 : tensor<?xf32, #n>, tensor<16xf32>, tensor<16xf32>
}

// -----

#n = affine_map<()[s0, s1] -> (s0)>

// The ops of a loop that has at least one iteration; those of others, and of branches, on
// request.
// CHECK-LABEL: func.func @loops
// CHECK-SAME: graph.broadcasts = [#{{[a-z0-9]+}}], graph.symbols
// STAGE-LABEL: func.func @loops
// EVERY: affine_map<()[s0, s1] -> (s0, 8)>
// EVERY: affine_map<()[s0, s1] -> (s0, 16)>
func.func @loops(%x: tensor<?xf32, #n>, %y: tensor<16xf32>, %z: tensor<8xf32>, %m: tensor<i64>) -> (tensor<8xf32>, tensor<16xf32>)
    attributes {graph.symbols = ["n", ""]} {
  %two = graph.constant dense<2> : tensor<i64>
  %0 = "graph.loop"(%two, %z) <{operandSegmentSizes = array<i32: 1, 0, 1>}> ({
  ^bb0(%i: tensor<i64>, %c: tensor<8xf32>):
    %2 = graph.add %c, %x : (tensor<8xf32>, tensor<?xf32, #n>) -> tensor<8xf32>
    graph.yield %2 : tensor<8xf32>
  }) : (tensor<i64>, tensor<8xf32>) -> tensor<8xf32>
  %1 = "graph.loop"(%m, %y) <{operandSegmentSizes = array<i32: 1, 0, 1>}> ({
  ^bb0(%i: tensor<i64>, %c: tensor<16xf32>):
    %2 = graph.add %c, %x : (tensor<16xf32>, tensor<?xf32, #n>) -> tensor<16xf32>
    graph.yield %2 : tensor<16xf32>
  }) : (tensor<i64>, tensor<16xf32>) -> tensor<16xf32>
  return %0, %1 : tensor<8xf32>, tensor<16xf32>
}

// -----

// A slice begins and ends within the tensor; for halves that is known.
#x = affine_map<()[s0, s1] -> (s0)>
#y = affine_map<()[s0, s1] -> (s1)>
#h = affine_map<()[s0, s1] -> (s0 - s0 floordiv 2)>
// CHECK: #[[BEGIN:.*]] = affine_map<()[s0, s1] -> (s0 - s1 * 2)>
// CHECK-LABEL: func.func @starts
// CHECK-SAME: graph.bounds = [#[[BEGIN]]]
func.func @starts(%x: tensor<?xf32, #x>, %y: tensor<?xf32, #y>) -> (tensor<?xf32, #y>, tensor<?xf32, #h>) attributes {graph.symbols = ["n", "m"]} {
  %0 = graph.slice %x {starts = affine_map<()[s0, s1] -> (s0 - s1 * 2)>, steps = array<i64: 1>} : (tensor<?xf32, #x>) -> tensor<?xf32, #y>
  %1 = graph.slice %x {starts = affine_map<()[s0, s1] -> (s0 floordiv 2)>, steps = array<i64: 1>} : (tensor<?xf32, #x>) -> tensor<?xf32, #h>
  return %0, %1 : tensor<?xf32, #y>, tensor<?xf32, #h>
}

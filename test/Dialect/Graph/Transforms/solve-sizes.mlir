// Conditions on sizes that are checked before the run are solved: one value replaces them
// in all types inside; arguments, results and the conditions are unchanged.
// RUN: aopt --graph-solve-sizes --split-input-file %s | FileCheck %s

// Text of any pipeline is a fixed point.
// RUN: aopt --pass-pipeline='builtin.module(func.func(graph-solve-sizes,graph-solve-sizes,canonicalize))' --split-input-file %s | FileCheck %s --check-prefix=TWICE

#n = affine_map<()[s0, s1] -> (s0, s1, 8)>
#f = affine_map<()[s0, s1] -> (s0 * s1, 8)>

// A reshape of [batch, seq, 8] to [1, seq, 8] fits one value of batch. (After it, the
// sequence is still dynamic.)
// CHECK-DAG: #[[N:.*]] = affine_map<()[s0, s1] -> (s0, s1, 8)>
// CHECK-DAG: #[[ONE:.*]] = affine_map<()[s0, s1] -> (1, s1, 8)>
// CHECK-DAG: #[[CHECK:.*]] = affine_map<()[s0, s1] -> (s0 * 128, 128)>
// CHECK-LABEL: func.func @number
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x8xf32, #[[N]]>) -> tensor<?x?x8xf32, #[[N]]>
// CHECK-SAME: graph.equalities = [#[[CHECK]]]
// CHECK: %[[IN:.*]] = graph.reshape %[[X]] : (tensor<?x?x8xf32, #[[N]]>) -> tensor<1x?x8xf32, #{{.*}}>
// CHECK: %[[Y:.*]] = graph.relu %[[IN]] : (tensor<1x?x8xf32, #[[M:.*]]>) -> tensor<1x?x8xf32, #[[M]]>
// CHECK: %[[VIEW:.*]] = graph.reshape %[[Y]] : (tensor<1x?x8xf32, #[[M]]>) -> tensor<?x8xf32, #{{.*}}>
// CHECK: graph.exp %[[VIEW]]
// CHECK: %[[OUT:.*]] = graph.reshape %{{.*}} : (tensor<1x?x8xf32, #[[M]]>) -> tensor<?x?x8xf32, #[[N]]>
// CHECK: return %[[OUT]]
// TWICE-LABEL: func.func @number
// TWICE-COUNT-3: graph.reshape
// TWICE: return
func.func @number(%x: tensor<?x?x8xf32, #n>) -> tensor<?x?x8xf32, #n>
    attributes {graph.symbols = ["batch", "seq"], graph.equalities = [affine_map<()[s0, s1] -> (s0 * 128, 128)>]} {
  %0 = graph.relu %x : (tensor<?x?x8xf32, #n>) -> tensor<?x?x8xf32, #n>
  %1 = graph.reshape %0 : (tensor<?x?x8xf32, #n>) -> tensor<?x8xf32, #f>
  %2 = graph.exp %1 : (tensor<?x8xf32, #f>) -> tensor<?x8xf32, #f>
  %3 = graph.reshape %2 : (tensor<?x8xf32, #f>) -> tensor<?x?x8xf32, #n>
  return %3 : tensor<?x?x8xf32, #n>
}

// -----

#a = affine_map<()[s0, s1, s2, s3] -> (s0)>
#b = affine_map<()[s0, s1, s2, s3] -> (s1)>
#c = affine_map<()[s0, s1, s2, s3] -> (s2)>
#d = affine_map<()[s0, s1, s2, s3] -> (s3)>

// The first of equal sizes replaces the others, and a sum replaces a symbol: a = b, total
// = b + d. Also the sum of sizes that is the offset of an insertion.
// CHECK-DAG: #[[A:.*]] = affine_map<()[s0] -> (s0)>
// CHECK-DAG: #[[SUM:.*]] = affine_map<()[s0, s1, s2, s3] -> (s0 + s3)>
// CHECK-DAG: #[[AT:.*]] = affine_map<()[s0, s1] -> (s0)>
// CHECK-LABEL: func.func @sums
// CHECK: %[[Y:.*]] = graph.reshape %arg1 : (tensor<?xf32, #{{.*}}>) -> tensor<?xf32, #[[A]]>
// CHECK: %[[Z:.*]] = graph.reshape %arg2 : (tensor<?xf32, #{{.*}}>) -> tensor<?xf32, #[[SUM]]>
// CHECK: graph.insert_slice %arg3, %[[Z]] {axis = 0 : i64, offsets = #[[AT]]}
// CHECK: graph.add %arg0, %[[Y]]
// CHECK-NOT: graph.reshape %arg0
func.func @sums(%x: tensor<?xf32, #a>, %y: tensor<?xf32, #b>, %z: tensor<?xf32, #c>, %w: tensor<?xf32, #d>) -> (tensor<?xf32, #c>, tensor<?xf32, #a>)
    attributes {graph.symbols = ["a", "b", "total", "d"],
                graph.equalities = [affine_map<()[s0, s1, s2, s3] -> (s2, s1 + s3)>, affine_map<()[s0, s1, s2, s3] -> (s0 * 8, s1 * 8)>]} {
  %0 = graph.insert_slice %w, %z {axis = 0 : i64, offsets = affine_map<()[s0, s1] -> (s1)>} : (tensor<?xf32, #d>, tensor<?xf32, #c>) -> tensor<?xf32, #c>
  %1 = graph.add %x, %y : (tensor<?xf32, #a>, tensor<?xf32, #b>) -> tensor<?xf32, #a>
  return %0, %1 : tensor<?xf32, #c>, tensor<?xf32, #a>
}

// -----

#a = affine_map<()[s0, s1, s2] -> (s0)>
#b = affine_map<()[s0, s1, s2] -> (s1)>
#c = affine_map<()[s0, s1, s2] -> (s2)>
#ab = affine_map<()[s0, s1] -> ((s0 + s1 - ((2 floordiv (s0 + 1)) mod 2) - ((2 floordiv (s1 + 1)) mod 2) + ((2 floordiv (s0 + 1)) mod 2) * ((2 floordiv (s1 + 1)) mod 2)) floordiv (-((2 floordiv (s0 + 1)) mod 2) - ((2 floordiv (s1 + 1)) mod 2) + ((2 floordiv (s0 + 1)) mod 2) * ((2 floordiv (s1 + 1)) mod 2) + 2))>

// Sizes that broadcast are equal if neither can be 1; and a size that broadcasts to a
// static one is that one.
// CHECK-DAG: #[[EITHER:.*]] = affine_map<()[s0, s1, s2] -> ({{.*}}floordiv
// CHECK-LABEL: func.func @broadcasts
// CHECK: %[[Y:.*]] = graph.reshape %arg1 : (tensor<?xf32, #{{.*}}>) -> tensor<?xf32, #[[A:.*]]>
// CHECK: graph.mul %arg0, %[[Y]] : (tensor<?xf32, #{{.*}}>, tensor<?xf32, #[[A]]>) -> tensor<?xf32, #[[A]]>
// CHECK: graph.add %arg0, %arg2 : (tensor<?xf32, #{{.*}}>, tensor<?xf32, #{{.*}}>) -> tensor<?xf32, #[[EITHER]]>
func.func @broadcasts(%x: tensor<?xf32, #a>, %y: tensor<?xf32, #b>, %z: tensor<?xf32, #c>) -> tensor<?xf32, #ab>
    attributes {graph.symbols = ["a", "b", "c"], graph.symbol_ranges = [array<i64: 2, 9, -1>, array<i64: 3, -1, -1>, array<i64: 1, -1, -1>],
                graph.broadcasts = [affine_map<()[s0, s1, s2] -> (s0, s1)>, affine_map<()[s0, s1, s2] -> (s0, s2)>]} {
  %0 = graph.mul %x, %y : (tensor<?xf32, #a>, tensor<?xf32, #b>) -> tensor<?xf32, #ab>
  %1 = graph.add %x, %z : (tensor<?xf32, #a>, tensor<?xf32, #c>) -> tensor<?xf32, affine_map<()[s0, s1, s2] -> ((s0 + s2 - ((2 floordiv (s0 + 1)) mod 2) - ((2 floordiv (s2 + 1)) mod 2) + ((2 floordiv (s0 + 1)) mod 2) * ((2 floordiv (s2 + 1)) mod 2)) floordiv (-((2 floordiv (s0 + 1)) mod 2) - ((2 floordiv (s2 + 1)) mod 2) + ((2 floordiv (s0 + 1)) mod 2) * ((2 floordiv (s2 + 1)) mod 2) + 2))>>
  return %0 : tensor<?xf32, #ab>
}

// -----

#a = affine_map<()[s0, s1, s2] -> (s0, s1, s2)>

#h = affine_map<()[s0] -> (s0, 4)>

// A multiple of 4 is not 1: where it broadcasts to 4 it is 4.
// CHECK-LABEL: func.func @multiple
// CHECK: graph.reshape %arg0 : {{.*}} -> tensor<1x4xf32>
func.func @multiple(%x: tensor<?x4xf32, #h>) -> tensor<?x4xf32, #h>
    attributes {graph.symbols = ["batch"], graph.broadcasts = [affine_map<()[s0] -> (s0 * 4, 4)>]} {
  %0 = graph.relu %x : (tensor<?x4xf32, #h>) -> tensor<?x4xf32, #h>
  return %0 : tensor<?x4xf32, #h>
}

// -----

#a = affine_map<()[s0, s1, s2] -> (s0, s1, s2)>

// A factor that is never 0 gives no condition, and a product of 1 is one of ones: b * (a
// - 4) = 0, a * c = 4.
// CHECK-LABEL: func.func @factors
// CHECK: graph.reshape %arg0 : {{.*}} -> tensor<4x?x1xf32
// CHECK-LABEL: func.func @ones
// CHECK: graph.reshape %arg0 : {{.*}} -> tensor<1x?x1xf32
func.func @factors(%x: tensor<?x?x?xf32, #a>) -> tensor<?x?x?xf32, #a>
    attributes {graph.symbols = ["a", "b", "c"], graph.symbol_ranges = [array<i64: 0, -1, -1>, array<i64: 1, -1, -1>, array<i64: 0, -1, -1>],
                graph.equalities = [affine_map<()[s0, s1, s2] -> (s0 * s2, 4)>, affine_map<()[s0, s1, s2] -> (s0 * s1, s1 * 4)>]} {
  %0 = graph.relu %x : (tensor<?x?x?xf32, #a>) -> tensor<?x?x?xf32, #a>
  return %0 : tensor<?x?x?xf32, #a>
}
func.func @ones(%x: tensor<?x?x?xf32, #a>) -> tensor<?x?x?xf32, #a>
    attributes {graph.symbols = ["a", "b", "c"], graph.equalities = [affine_map<()[s0, s1, s2] -> (s0 * s2 * 6, 6)>]} {
  %0 = graph.relu %x : (tensor<?x?x?xf32, #a>) -> tensor<?x?x?xf32, #a>
  return %0 : tensor<?x?x?xf32, #a>
}

// -----

#a = affine_map<()[s0, s1, s2] -> (s0, s1, s2)>

// Several solutions, none, one that the range excludes, a negative one, a factor that may
// be 0, a data-dependent size (not checked before the run), sizes that may be 1.
// CHECK-LABEL: func.func @unsolved
// CHECK-NOT: graph.reshape
func.func @unsolved(%x: tensor<?x?x?xf32, #a>) -> tensor<?x?x?xf32, #a>
    attributes {graph.symbols = ["a", "b", "c", "late"], graph.symbol_ranges = [array<i64: 0, 7, -1>, array<i64: 1, -1, -1>, array<i64: 0, -1, -1>, array<i64: 0, -1, -1>],
                graph.broadcasts = [affine_map<()[s0, s1, s2] -> (s1, 16)>, affine_map<()[s0, s1, s2] -> (s1, s2)>],
                graph.equalities = [affine_map<()[s0, s1, s2] -> (s0 * s1, 6)>, affine_map<()[s0, s1, s2] -> (s0 * 4, 6)>, affine_map<()[s0, s1, s2] -> (s0 * 4, 32)>,
                                    affine_map<()[s0, s1, s2] -> (s1 + 4, 2)>, affine_map<()[s0, s1, s2] -> (s0 * s2, s2 * 4)>, affine_map<()[s0, s1, s2] -> (s1 + s2, 5)>,
                                    affine_map<()[s0, s1, s2, s3] -> (s0, s3)>, affine_map<()[s0, s1, s2] -> ((s1 floordiv 4) * 4, s1)>]} {
  %0 = graph.relu %x : (tensor<?x?x?xf32, #a>) -> tensor<?x?x?xf32, #a>
  return %0 : tensor<?x?x?xf32, #a>
}

// -----

#n = affine_map<()[s0] -> (s0, 8)>

// Assumptions of a branch need not hold if it does not run: its reshape is not a
// condition of the function.
// CHECK-LABEL: func.func @branch
// CHECK-NOT: tensor<1x8xf32>) ->
// CHECK: graph.if
// CHECK: graph.reshape %arg1 : (tensor<?x8xf32, #{{.*}}>) -> tensor<8xf32>
// CHECK-LABEL: func.func @always
// RUN: aopt --pass-pipeline='builtin.module(func.func(graph-collect-assumptions,graph-solve-sizes))' --split-input-file %s | FileCheck %s --check-prefix=COLLECTED
// COLLECTED-LABEL: func.func @branch
// COLLECTED-NOT: tensor<1x8xf32>
// COLLECTED-LABEL: func.func @always
// COLLECTED: graph.reshape %arg1 : (tensor<?x8xf32, #{{.*}}>) -> tensor<1x8xf32>
// COLLECTED: graph.if
// COLLECTED: graph.relu %{{.*}} : (tensor<1x8xf32>) -> tensor<1x8xf32>
func.func @branch(%c: tensor<i1>, %x: tensor<?x8xf32, #n>) -> tensor<8xf32> attributes {graph.symbols = ["batch"]} {
  %z = graph.constant dense<0.0> : tensor<8xf32>
  %0 = graph.if %c : (tensor<i1>) -> tensor<8xf32> {
    %1 = graph.reshape %x : (tensor<?x8xf32, #n>) -> tensor<8xf32>
    graph.yield %1 : tensor<8xf32>
  } else {
    graph.yield %z : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
func.func @always(%c: tensor<i1>, %x: tensor<?x8xf32, #n>) -> (tensor<?x8xf32, #n>, tensor<8xf32>) attributes {graph.symbols = ["batch"]} {
  %1 = graph.reshape %x : (tensor<?x8xf32, #n>) -> tensor<8xf32>
  %0 = graph.if %c : (tensor<i1>) -> tensor<?x8xf32, #n> {
    %2 = graph.relu %x : (tensor<?x8xf32, #n>) -> tensor<?x8xf32, #n>
    graph.yield %2 : tensor<?x8xf32, #n>
  } else {
    graph.yield %x : tensor<?x8xf32, #n>
  }
  return %0, %1 : tensor<?x8xf32, #n>, tensor<8xf32>
}

// -----

#n = affine_map<()[s0, s1] -> (s0, 8)>

// A sequence has no view: its sizes stay, here and inside.
// CHECK-LABEL: func.func @sequence
// CHECK-NOT: graph.reshape
func.func @sequence(%s: tensor<!graph.sequence<tensor<?x8xf32, #n>>>, %x: tensor<?x8xf32, #n>) -> tensor<?x8xf32, #n>
    attributes {graph.symbols = ["batch", "other"], graph.equalities = [affine_map<()[s0, s1] -> (s0 * 8, 8)>]} {
  %0 = graph.relu %x : (tensor<?x8xf32, #n>) -> tensor<?x8xf32, #n>
  return %0 : tensor<?x8xf32, #n>
}

// -----

#n = affine_map<()[s0] -> (s0)>

// No size satisfies all conditions: each run is rejected, and the text is unchanged.
// Likewise for a branch with other assumptions that never runs.
// CHECK-LABEL: func.func @contradiction
// CHECK-NOT: graph.reshape
// CHECK-LABEL: func.func @other_branch
// CHECK-NOT: graph.reshape
func.func @contradiction(%x: tensor<?xf32, #n>, %y: tensor<8xf32>) -> tensor<8xf32>
    attributes {graph.symbols = ["n"], graph.broadcasts = [affine_map<()[s0] -> (s0, 8)>], graph.equalities = [affine_map<()[s0] -> (s0, 4)>]} {
  %0 = graph.add %x, %y : (tensor<?xf32, #n>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @other_branch(%c: tensor<i1>, %x: tensor<?xf32, #n>, %y: tensor<8xf32>) -> tensor<8xf32>
    attributes {graph.symbols = ["n"], graph.equalities = [affine_map<()[s0] -> (s0, 4)>]} {
  %0 = graph.if %c : (tensor<i1>) -> tensor<8xf32> {
    %1 = graph.add %x, %y : (tensor<?xf32, #n>, tensor<8xf32>) -> tensor<8xf32>
    graph.yield %1 : tensor<8xf32>
  } else {
    graph.yield %y : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// RUN: aopt %s --graph-eliminate-dead-code --split-input-file | FileCheck %s

// A chain without users.
// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.relu
  // CHECK-NEXT: return %[[R]]
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.log %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// A sequence of values without users is removed; a call that may fail stays.
// CHECK-LABEL: func.func @calls
func.func @calls(%x: tensor<4xf32>, %s: tensor<!graph.sequence<tensor<?xf32>>>, %i: tensor<i64>) -> tensor<4xf32> {
  // CHECK-NEXT: graph.call "sequence_erase"(%arg1, %arg2)
  // CHECK-NEXT: return %arg0
  %0 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.call "sequence_construct"(%x, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<!graph.sequence<tensor<?xf32>>>
  %2 = graph.call "sequence_erase"(%s, %i) : (tensor<!graph.sequence<tensor<?xf32>>>, tensor<i64>) -> tensor<!graph.sequence<tensor<?xf32>>>
  return %x : tensor<4xf32>
}

// -----

// Random numbers without users are removed; two with users stay two.
// CHECK-LABEL: func.func @entropy
func.func @entropy() -> (tensor<i64>, tensor<i64>) {
  // CHECK-NEXT: %[[A:.*]] = graph.entropy
  // CHECK-NEXT: %[[B:.*]] = graph.entropy
  // CHECK-NEXT: return %[[A]], %[[B]]
  %0 = graph.entropy : tensor<i64>
  %1 = graph.entropy : tensor<i64>
  %2 = graph.neg %1 : (tensor<i64>) -> tensor<i64>
  %3 = graph.entropy : tensor<i64>
  return %0, %3 : tensor<i64>, tensor<i64>
}

// -----

// A result of a cluster without users is removed, with ops that only it needs.
// CHECK-LABEL: func.func @cluster
func.func @cluster(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.cluster({{.*}}) {{.*}}-> tensor<4xf32>
  // CHECK: graph.relu
  // CHECK-NOT: graph.exp
  // CHECK: graph.yield %{{[^,]*}} : tensor<4xf32>
  %r:2 = graph.cluster(%a = %x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = graph.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    %1 = graph.relu %a : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// -----

// Values with users stay, with a symbolic dim too.
// CHECK-LABEL: func.func @alive
func.func @alive(%x: tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>> attributes {graph.symbols = ["n"]} {
  // CHECK: graph.exp
  // CHECK: graph.log
  %0 = graph.exp %x : (tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>>
  %1 = graph.log %0 : (tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>>
  return %1 : tensor<?xf32, affine_map<()[s0] -> (s0)>>
}

// -----

// A result of a branch without users is removed from both regions, with values that only
// it used; likewise in a nested branch.
// CHECK-LABEL: func.func @branch
func.func @branch(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: graph.tanh
  // CHECK: %[[R:.*]] = graph.if %arg0 : (tensor<i1>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[I:.*]] = graph.if %arg0 : (tensor<i1>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[E:.*]] = graph.exp
  // CHECK-NEXT: graph.yield %[[E]] : tensor<4xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: graph.yield %arg1 : tensor<4xf32>
  // CHECK: graph.yield %[[I]] : tensor<4xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: graph.yield %arg1 : tensor<4xf32>
  // CHECK: return %[[R]]
  %t = graph.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  %r:2 = graph.if %c : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
    %i:2 = graph.if %c : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
      %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      %1 = graph.log %t : (tensor<4xf32>) -> tensor<4xf32>
      graph.yield %1, %0 : tensor<4xf32>, tensor<4xf32>
    } else {
      graph.yield %x, %x : tensor<4xf32>, tensor<4xf32>
    }
    graph.yield %i#1, %i#0 : tensor<4xf32>, tensor<4xf32>
  } else {
    graph.yield %x, %t : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// -----

// A data-dependent size: the result that defines it stays while a type needs it, and is
// removed with its symbol otherwise.
#s = affine_map<()[s0] -> (s0)>
#t = affine_map<()[s0, s1] -> (s1)>
// CHECK-LABEL: func.func @sizes
func.func @sizes(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<8xf32>, %n: tensor<1xi64>) -> (tensor<?xf32, #s>, tensor<4xf32>) {
  // CHECK: %[[A:.*]]:2 = graph.if %arg0 {symbols = array<i64: 0>}
  // CHECK: graph.exp
  // CHECK: %[[B:.*]] = graph.if %arg0 : (tensor<i1>) -> tensor<4xf32> {
  // CHECK-NOT: graph.exp
  // CHECK: return %{{.*}}, %[[B]]
  %a:2 = graph.if %c {symbols = array<i64: 0>} : (tensor<i1>) -> (tensor<?xf32, #s>, tensor<4xf32>) {
    %0 = graph.exp %y : (tensor<8xf32>) -> tensor<8xf32>
    graph.yield %0, %x : tensor<8xf32>, tensor<4xf32>
  } else {
    graph.yield %x, %x : tensor<4xf32>, tensor<4xf32>
  }
  %zero = graph.constant dense<0.0> : tensor<1xf32>
  %f = graph.broadcast_to %zero : (tensor<1xf32>) -> tensor<?xf32, #s>
  %g = graph.add %f, %a#1 : (tensor<?xf32, #s>, tensor<4xf32>) -> tensor<?xf32, #s>
  %b:2 = graph.if %c {symbols = array<i64: 1>} : (tensor<i1>) -> (tensor<?xf32, #t>, tensor<4xf32>) {
    %0 = graph.exp %y : (tensor<8xf32>) -> tensor<8xf32>
    graph.yield %0, %x : tensor<8xf32>, tensor<4xf32>
  } else {
    %0 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %x, %0 : tensor<4xf32>, tensor<4xf32>
  }
  return %g, %b#1 : tensor<?xf32, #s>, tensor<4xf32>
}

// -----

// %b only depends on itself; %d is used by the condition, %e by %a, which has users.
// CHECK-LABEL: func.func @carried
func.func @carried(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<4xf32>, %k: tensor<1xf32>) -> tensor<4xf32> {
  // CHECK: %[[R:.*]]:3 = "graph.loop"(%arg0, %arg1, %arg2, %arg3, %arg2) <{operandSegmentSizes = array<i32: 1, 1, 3>, symbols = array<i64>}>
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<i64>, %[[A:.*]]: tensor<4xf32>, %[[D:.*]]: tensor<1xf32>, %[[E:.*]]: tensor<4xf32>):
  // CHECK-NEXT: %[[A1:.*]] = graph.add %[[A]], %[[E]]
  // CHECK-NEXT: %[[D1:.*]] = graph.add %[[D]], %[[D]]
  // CHECK-NEXT: %[[C1:.*]] = graph.less %[[D1]], %arg3
  // CHECK-NEXT: %[[E1:.*]] = graph.exp %[[E]]
  // CHECK-NEXT: graph.yield %[[C1]], %[[A1]], %[[D1]], %[[E1]]
  // CHECK: return %[[R]]#0
  %r:6 = "graph.loop"(%n, %c, %x, %x, %k, %x) <{count = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 4>, symbols = array<i64: 0, 1>}> ({
  ^bb0(%i: tensor<i64>, %a: tensor<4xf32>, %b: tensor<4xf32>, %d: tensor<1xf32>, %e: tensor<4xf32>):
    %a1 = graph.add %a, %e : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %b0 = graph.mul %b, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %b1 = graph.tanh %b0 : (tensor<4xf32>) -> tensor<4xf32>
    %d1 = graph.add %d, %d : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %c1 = graph.less %d1, %k : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xi1>
    %e1 = graph.exp %e : (tensor<4xf32>) -> tensor<4xf32>
    %s = graph.sqrt %b1 : (tensor<4xf32>) -> tensor<4xf32>
    graph.yield %c1, %a1, %b1, %d1, %e1, %s, %b1 : tensor<1xi1>, tensor<4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i64>, tensor<i1>, tensor<4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<4xf32>, tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>, tensor<?x4xf32, affine_map<()[s0, s1] -> (s1, 4)>>)
  return %r#0 : tensor<4xf32>
}

// -----

// A carried value whose size another one's elements need, and one that a check uses,
// stay; collected slices without users are removed, but their number is used.
#s = affine_map<()[s0] -> (s0)>
#d = affine_map<()[s0] -> (s0 * 2)>
#c = affine_map<()[s0, s1] -> (s1)>
// CHECK-LABEL: func.func @alive_in_loop
func.func @alive_in_loop(%n: tensor<i64>, %x: tensor<4xf32>, %k: tensor<1xf32>) -> (tensor<?xf32, #s>, tensor<?xf32, #c>) {
  // CHECK: "graph.loop"(%arg0, %arg1, %arg2) <{count = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 2>, symbols = array<i64: 0, 1>}>
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<?xf32, {{.*}}>, %{{.*}}: tensor<1xf32>):
  // CHECK: graph.check
  // CHECK-NOT: graph.exp
  // CHECK: }) : (tensor<i64>, tensor<4xf32>, tensor<1xf32>) -> (tensor<?xf32, {{.*}}>, tensor<1xf32>)
  %r:3 = "graph.loop"(%n, %x, %k) <{count = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 2>, symbols = array<i64: 0, 1>}> ({
  ^bb0(%i: tensor<i64>, %a: tensor<?xf32, #s>, %b: tensor<1xf32>):
    %a1 = graph.concat %a, %a {axis = 0 : i64} : (tensor<?xf32, #s>, tensor<?xf32, #s>) -> tensor<?xf32, #d>
    %b1 = graph.add %b, %b : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %ok = graph.less %b1, %k : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xi1>
    graph.check %ok, "too much" : tensor<1xi1>
    %e = graph.exp %b1 : (tensor<1xf32>) -> tensor<1xf32>
    graph.yield %a1, %b1, %e : tensor<?xf32, #d>, tensor<1xf32>, tensor<1xf32>
  }) : (tensor<i64>, tensor<4xf32>, tensor<1xf32>) -> (tensor<?xf32, #s>, tensor<1xf32>, tensor<?x1xf32, affine_map<()[s0, s1] -> (s1, 1)>>)
  %zero = graph.constant dense<0.0> : tensor<1xf32>
  %f = graph.broadcast_to %zero : (tensor<1xf32>) -> tensor<?xf32, #s>
  %g = graph.broadcast_to %zero : (tensor<1xf32>) -> tensor<?xf32, #c>
  return %f, %g : tensor<?xf32, #s>, tensor<?xf32, #c>
}

// -----

// Values in a check of sizes stay: the size of a carried value without users.
#s = affine_map<()[s0] -> (s0)>
#d = affine_map<()[s0] -> (s0 * 2)>
// CHECK-LABEL: func.func @checked_in_loop
func.func @checked_in_loop(%n: tensor<i64>, %x: tensor<4xf32>, %k: tensor<1xf32>) -> tensor<1xf32> {
  // CHECK: "graph.loop"(%arg0, %arg1, %arg2) <{operandSegmentSizes = array<i32: 1, 0, 2>, symbols = array<i64: 0>}>
  // CHECK: graph.assume
  // CHECK: graph.concat
  %r:2 = "graph.loop"(%n, %x, %k) <{operandSegmentSizes = array<i32: 1, 0, 2>, symbols = array<i64: 0>}> ({
  ^bb0(%i: tensor<i64>, %a: tensor<?xf32, #s>, %b: tensor<1xf32>):
    graph.assume {bounds = [affine_map<()[s0] -> (-s0 + 9)>]}
    %a1 = graph.concat %a, %a {axis = 0 : i64} : (tensor<?xf32, #s>, tensor<?xf32, #s>) -> tensor<?xf32, #d>
    %b1 = graph.add %b, %b : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    graph.yield %a1, %b1 : tensor<?xf32, #d>, tensor<1xf32>
  }) : (tensor<i64>, tensor<4xf32>, tensor<1xf32>) -> (tensor<?xf32, #s>, tensor<1xf32>)
  return %r#1 : tensor<1xf32>
}

// -----

// A branch that only checks is not dead.
// CHECK-LABEL: func.func @checked_in_branch
// CHECK: graph.if
// CHECK-NEXT: graph.assume
func.func @checked_in_branch(%c: tensor<i1>, %x: tensor<?xf32, affine_map<()[s0] -> (s0)>>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.if %c : (tensor<i1>) -> tensor<4xf32> {
    graph.assume {broadcasts = [affine_map<()[s0] -> (s0, 4)>]}
    %1 = graph.add %x, %y : (tensor<?xf32, affine_map<()[s0] -> (s0)>>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %1 : tensor<4xf32>
  } else {
    graph.yield %y : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// RUN: aopt %s --split-input-file --verify-diagnostics | aopt --split-input-file | FileCheck %s

#n = affine_map<()[s0, s1] -> (s1)>
// CHECK-LABEL: @bind
func.func @bind(%count: tensor<1xi64>, %x: tensor<4xi1>, %ok: tensor<i1>) -> tensor<1x?xi64, affine_map<()[s0, s1] -> (1, s1)>> {
  // CHECK: graph.check %{{.*}}, "expected so" : tensor<i1>
  graph.check %ok, "expected so" : tensor<i1>
  // CHECK: graph.bind %{{.*}} {symbols = array<i64: 1>} : tensor<1xi64>
  graph.bind %count {symbols = array<i64: 1>} : tensor<1xi64>
  %y = graph.non_zero %x : (tensor<4xi1>) -> tensor<1x?xi64, affine_map<()[s0, s1] -> (1, s1)>>
  return %y : tensor<1x?xi64, affine_map<()[s0, s1] -> (1, s1)>>
}

// -----

// Branches of different sizes: the result has a symbol of the op.
// CHECK-LABEL: @branch
func.func @branch(%c: tensor<i1>, %x: tensor<4xf32>, %y: tensor<3xf32>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>> {
  // CHECK: %[[R:.*]] = graph.if %{{.*}} {symbols = array<i64: 0>} : (tensor<i1>) -> tensor<?xf32, #{{.*}}> {
  // CHECK-NEXT: graph.yield %{{.*}} : tensor<4xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: graph.yield %{{.*}} : tensor<3xf32>
  %r = graph.if %c {symbols = array<i64: 0>} : (tensor<i1>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>> {
    graph.yield %x : tensor<4xf32>
  } else {
    graph.yield %y : tensor<3xf32>
  }
  return %r : tensor<?xf32, affine_map<()[s0] -> (s0)>>
}

// -----

// CHECK-LABEL: @loop
func.func @loop(%n: tensor<i64>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32, affine_map<()[s0, s1] -> (s1, 4)>>) {
  // CHECK: "graph.loop"
  %r:2 = "graph.loop"(%n, %x) <{count = 0 : i64, operandSegmentSizes = array<i32: 1, 0, 1>, symbols = array<i64: 0, 1>}> ({
  ^bb0(%i: tensor<i64>, %a: tensor<4xf32>):
    %b = graph.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    graph.yield %b, %a : tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i64>, tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32, affine_map<()[s0, s1] -> (s1, 4)>>)
  return %r#0, %r#1 : tensor<4xf32>, tensor<?x4xf32, affine_map<()[s0, s1] -> (s1, 4)>>
}

// -----

// CHECK-LABEL: @assign
// CHECK: graph.assign {symbols = array<i64: 2>, values = #{{.*}}}
func.func @assign(%x: tensor<?x?xf32, affine_map<()[s0, s1] -> (s0, s1)>>) {
  graph.assign {symbols = array<i64: 2>, values = affine_map<()[s0, s1] -> (s0 + s1)>}
  return
}

// -----

// CHECK-LABEL: @assume
// CHECK: graph.assume {bounds = [#{{.*}}], broadcasts = [#{{.*}}, #{{.*}}], equalities = [#{{.*}}]}
func.func @assume(%x: tensor<?x?xf32, affine_map<()[s0, s1] -> (s0, s1)>>) {
  graph.assume {broadcasts = [affine_map<()[s0] -> (s0, 16)>, affine_map<()[s0, s1] -> (s0, s1)>], equalities = [affine_map<()[s0, s1] -> (s0, s1)>], bounds = [affine_map<()[s0] -> (s0 - 3)>]}
  return
}

// -----

func.func @assume_dims() {
  // expected-error@+1 {{expected sizes in terms of symbols, but got affine_map<(d0) -> (d0)>}}
  graph.assume {bounds = [affine_map<(d0) -> (d0)>]}
  return
}

// -----

func.func @loop_results(%n: tensor<i64>, %x: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{expected 'tensor<8xf32>' from the region's arguments, but got 'tensor<4xf32>'}}
  %r = "graph.loop"(%n, %x) <{operandSegmentSizes = array<i32: 1, 0, 1>}> ({
  ^bb0(%i: tensor<i64>, %a: tensor<4xf32>):
    graph.yield %a : tensor<4xf32>
  }) : (tensor<i64>, tensor<4xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

func.func @slice_sizes(%n: tensor<i64>, %x: tensor<4xf32>) -> tensor<?x?xf32, affine_map<()[s0, s1] -> (s1, s0)>> {
  // expected-error@+1 {{expected sizes of slices that do not depend on carried values, but got 'tensor<?x?xf32, affine_map<()[s0, s1] -> (s1, s0)>>'}}
  %r:2 = "graph.loop"(%n, %x) <{count = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 1>, symbols = array<i64: 0, 1>}> ({
  ^bb0(%i: tensor<i64>, %a: tensor<?xf32, affine_map<()[s0] -> (s0)>>):
    graph.yield %a, %a : tensor<?xf32, affine_map<()[s0] -> (s0)>>, tensor<?xf32, affine_map<()[s0] -> (s0)>>
  }) : (tensor<i64>, tensor<4xf32>) -> (tensor<?xf32, affine_map<()[s0] -> (s0)>>, tensor<?x?xf32, affine_map<()[s0, s1] -> (s1, s0)>>)
  return %r#1 : tensor<?x?xf32, affine_map<()[s0, s1] -> (s1, s0)>>
}

// -----

func.func @assign_length() {
  // expected-error@+1 {{expected an expression of symbols for each of 2 symbols, but got affine_map<()[s0] -> (s0)>}}
  graph.assign {symbols = array<i64: 1, 2>, values = affine_map<()[s0] -> (s0)>}
  return
}

// -----

func.func @bind_length(%x: tensor<2xi64>) {
  // expected-error@+1 {{expected a 1-D tensor of 1 elements, but got 'tensor<2xi64>'}}
  graph.bind %x {symbols = array<i64: 1>} : tensor<2xi64>
  return
}

// -----

func.func @check_many(%x: tensor<2xi1>) {
  // expected-error@+1 {{expected one element, but got 'tensor<2xi1>'}}
  graph.check %x, "no" : tensor<2xi1>
  return
}

// -----

func.func @if_types(%c: tensor<i1>, %x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{expected 'tensor<3xf32>' from a branch, but got 'tensor<4xf32>'}}
  %r = graph.if %c : (tensor<i1>) -> tensor<3xf32> {
    graph.yield %x : tensor<4xf32>
  } else {
    graph.yield %x : tensor<4xf32>
  }
  return %r : tensor<3xf32>
}

// -----

func.func @loop_count(%n: tensor<i64>, %x: tensor<4xf32>) -> tensor<?x4xf32> {
  // expected-error@+1 {{expected a symbol that counts the iterations}}
  %r = "graph.loop"(%n) <{operandSegmentSizes = array<i32: 1, 0, 0>}> ({
  ^bb0(%i: tensor<i64>):
    graph.yield %x : tensor<4xf32>
  }) : (tensor<i64>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: @check_range
func.func @check_range(%x: tensor<i64>, %y: tensor<1xi32>) {
  // CHECK: graph.check_range %{{.*}}, %{{.*}}, "expected [{1}, {2}), but got {0}" {range = #{{.*}}} : tensor<i64>
  graph.check_range %x, %x, "expected [{1}, {2}), but got {0}" {range = affine_map<()[s0] -> (-s0, s0)>} : tensor<i64>
  graph.check_range %y, %y, "no" {range = affine_map<() -> (0, 4)>} : tensor<1xi32>
  return
}

// -----

func.func @check_range_many(%x: tensor<2xi64>) {
  // expected-error@+1 {{expected one element, but got 'tensor<2xi64>'}}
  graph.check_range %x, %x, "no" {range = affine_map<() -> (0, 4)>} : tensor<2xi64>
  return
}

// -----

func.func @check_range_bounds(%x: tensor<i64>) {
  // expected-error@+1 {{expected a map from symbols to two bounds, but got affine_map<()[s0] -> (s0)>}}
  graph.check_range %x, %x, "no" {range = affine_map<()[s0] -> (s0)>} : tensor<i64>
  return
}

// RUN: aopt --split-input-file --verify-diagnostics %s | FileCheck %s

// Strings are moved and compared; containers cross branches.
// CHECK-LABEL: func @strings
// CHECK-SAME: tensor<?xsi64, #{{[a-z0-9]+}}>
func.func @strings(%x: tensor<?xsi64, affine_map<()[s0] -> (s0)>>,
                   %c: tensor<1xsi64>) -> tensor<?xi1, affine_map<()[s0] -> (s0)>>
    attributes {graph.strings = ["", "a"], graph.symbols = [""]} {
  // CHECK: graph.equal %{{.*}}, %{{.*}} : (tensor<?xsi64
  %0 = graph.equal %x, %c : (tensor<?xsi64, affine_map<()[s0] -> (s0)>>, tensor<1xsi64>) -> tensor<?xi1, affine_map<()[s0] -> (s0)>>
  return %0 : tensor<?xi1, affine_map<()[s0] -> (s0)>>
}

// -----

// CHECK-LABEL: func @containers
// CHECK-SAME: tensor<!graph.sequence<tensor<?xf32>>>
func.func @containers(%s: tensor<!graph.sequence<tensor<?xf32>>>, %c: tensor<i1>, %i: tensor<i64>)
    -> (tensor<!graph.optional<tensor<!graph.sequence<tensor<?xf32>>>>>, tensor<?xf32, affine_map<()[s0] -> (s0)>>)
    attributes {graph.symbols = [""]} {
  // CHECK: graph.if
  // CHECK: graph.call "optional_construct"()
  %r = graph.if %c : (tensor<i1>) -> tensor<!graph.optional<tensor<!graph.sequence<tensor<?xf32>>>>> {
    graph.yield %s : tensor<!graph.sequence<tensor<?xf32>>>
  } else {
    %none = graph.call "optional_construct"() : () -> tensor<!graph.optional<tensor<!graph.sequence<tensor<?xf32>>>>>
    graph.yield %none : tensor<!graph.optional<tensor<!graph.sequence<tensor<?xf32>>>>>
  }
  // CHECK: graph.call "sequence_at"({{.*}}) {symbols = array<i64: 0>}
  %x = graph.call "sequence_at"(%s, %i) {symbols = array<i64: 0>} : (tensor<!graph.sequence<tensor<?xf32>>>, tensor<i64>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>>
  return %r, %x : tensor<!graph.optional<tensor<!graph.sequence<tensor<?xf32>>>>>, tensor<?xf32, affine_map<()[s0] -> (s0)>>
}

// -----

func.func @no_sum_of_strings(%x: tensor<2xsi64>) {
  // expected-error @+1 {{operand #0 must be}}
  %0 = graph.add %x, %x : (tensor<2xsi64>, tensor<2xsi64>) -> tensor<2xsi64>
  return
}

// -----

func.func @no_cast_of_strings(%x: tensor<2xsi64>) {
  // expected-error @+1 {{operand #0 must be}}
  %0 = graph.cast %x : (tensor<2xsi64>) -> tensor<2xf32>
  return
}

// -----

func.func @call_c1(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected symbol 1 to be a dim of a result}}
  %0 = graph.call "unique"(%x) {symbols = array<i64: 1>} : (tensor<2xf32>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>>
  return
}

// -----

func.func @call_c2(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected known dims, but got 'tensor<?xf32>'}}
  %0 = graph.call "unique"(%x) : (tensor<2xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @branches_differ(%s: tensor<!graph.sequence<tensor<?xf32>>>, %c: tensor<i1>) {
  // expected-error @+1 {{from a branch, but got}}
  %r = graph.if %c : (tensor<i1>) -> tensor<!graph.sequence<tensor<?xi64>>> {
    graph.yield %s : tensor<!graph.sequence<tensor<?xf32>>>
  } else {
    graph.yield %s : tensor<!graph.sequence<tensor<?xf32>>>
  }
  return
}

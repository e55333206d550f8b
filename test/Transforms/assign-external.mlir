// Functions and values of the program that runs a module: calls of its operators keep
// their attributes, and values of overridable weights become constants, which no op
// reads.
// RUN: aopt --split-input-file --assign-destinations --plan-memory %s | FileCheck %s

// CHECK-LABEL: func @operator
// CHECK: host.call "com.example.F"(%{{.*}}) {adze.operator = {attributes = {a = 1 : i64}, inputs = array<i64: -1, 0>}, dims = #{{[a-z0-9]+}}, ranks
func.func @operator(%x: tensor<?xf32, affine_map<()[s0] -> (s0)>> {graph.name = "x"})
    -> (tensor<?xf32, affine_map<()[s0] -> (s0)>> {graph.name = "y"}) attributes {graph.symbols = ["n"]} {
  %y = graph.call "com.example.F"(%x) {adze.operator = {attributes = {a = 1 : i64}, inputs = array<i64: -1, 0>}} : (tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>>
  return %y : tensor<?xf32, affine_map<()[s0] -> (s0)>>
}

// -----

// Equal values share their memory; a dynamic size of the model is the default's own
// there.
// CHECK-LABEL: func @weights
// CHECK-NOT: adze.default =
// CHECK-DAG: host.constant dense<1.000000e+00> : tensor<3xf32> {adze.default_of = 1 : i64, offset = 0 : i64} -> memref<3xf32>
// CHECK-DAG: host.constant dense<2.000000e+00> : tensor<3xf32> {adze.default_of = 2 : i64, offset = 64 : i64} -> memref<3xf32>
// CHECK-DAG: host.constant dense<1.000000e+00> : tensor<3xf32> {adze.default_of = 3 : i64, offset = 0 : i64} -> memref<3xf32>
func.func @weights(%x: tensor<3xf32> {graph.name = "x"},
                   %a: tensor<?xf32, affine_map<()[s0] -> (s0)>> {adze.default = dense<1.0> : tensor<3xf32>, graph.name = "a"},
                   %b: tensor<3xf32> {adze.default = dense<2.0> : tensor<3xf32>, graph.name = "b"},
                   %c: tensor<3xf32> {adze.default = dense<1.0> : tensor<3xf32>, graph.name = "c"})
    -> (tensor<?xf32, affine_map<()[s0] -> (s0)>> {graph.name = "y"}) attributes {graph.symbols = ["n"]} {
  return %a : tensor<?xf32, affine_map<()[s0] -> (s0)>>
}

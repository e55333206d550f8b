// Kernels that differ in their symbols only have one entry point, which takes only the
// symbols that it reads: each launch binds those of its kernel. A kernel of a static size
// takes none.
// RUN: atranslate %s --target=cuda:sm_90a --emit=ptx -o - | FileCheck %s
// RUN: atranslate %s --target=cuda:sm_90a --report %t.json -q -o %t.so
// RUN: FileCheck %s --check-prefix=REPORT < %t.json
// RUN: llvm-nm %t.so | FileCheck %s --check-prefix=BIND
// CHECK: .entry softmax_0(
// CHECK: .param .u64 softmax_0_param_2,
// CHECK-NEXT: .param .u64 softmax_0_param_3
// CHECK-NEXT: )
// CHECK: .entry softmax_2(
// CHECK: .param .u64 softmax_2_param_2
// CHECK-NEXT: )
// CHECK-NOT: .entry softmax_1(
// REPORT: "same_code_as": "softmax_0"
// BIND-DAG: bind_s0_sm_90a
// BIND-DAG: bind_s2_sm_90a
// BIND-DAG: bind_sm_90a
#a = affine_map<()[s0, s1, s2] -> (s0, 40)>
#b = affine_map<()[s0, s1, s2] -> (s2, 40)>
func.func @main(%a: tensor<?x40xf32, #a> {graph.name = "a"}, %b: tensor<?x40xf32, #b> {graph.name = "b"}, %c: tensor<6x40xf32> {graph.name = "c"},
                %d: tensor<?xf32, affine_map<()[s0, s1, s2] -> (s1)>> {graph.name = "d"})
    -> (tensor<?x40xf32, #a> {graph.name = "p"}, tensor<?x40xf32, #b> {graph.name = "q"}, tensor<6x40xf32> {graph.name = "r"},
        tensor<?xf32, affine_map<()[s0, s1, s2] -> (s1)>> {graph.name = "s"}) attributes {graph.symbols = ["n", "m", "k"]} {
  %p = graph.softmax %a {axis = 1 : i64} : (tensor<?x40xf32, #a>) -> tensor<?x40xf32, #a>
  %q = graph.softmax %b {axis = 1 : i64} : (tensor<?x40xf32, #b>) -> tensor<?x40xf32, #b>
  %r = graph.softmax %c {axis = 1 : i64} : (tensor<6x40xf32>) -> tensor<6x40xf32>
  return %p, %q, %r, %d : tensor<?x40xf32, #a>, tensor<?x40xf32, #b>, tensor<6x40xf32>, tensor<?xf32, affine_map<()[s0, s1, s2] -> (s1)>>
}

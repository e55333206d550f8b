// Buffers whose sizes grow at different rates share one arena, which is also correct at
// other sizes than the typical ones.
// RUN: atranslate %s -O0 -o %t.0.so --stats 2>&1 | FileCheck %s
// RUN: atranslate %s -O2 -o %t.2.so
// RUN: rm -rf %t && mkdir %t
// RUN: arun %t.0.so --random --shape x=3x5 --output-dir %t/a && arun %t.2.so --random --shape x=3x5 --expect y=%t/a/y.npy --range-tol 1e-5
// RUN: arun %t.0.so --random --shape x=1x1 --output-dir %t/b && arun %t.2.so --random --shape x=1x1 --expect y=%t/b/y.npy --range-tol 1e-5
// RUN: arun %t.0.so --random --shape x=2x300 --output-dir %t/c && arun %t.2.so --random --shape x=2x300 --expect y=%t/c/y.npy --range-tol 1e-5
// RUN: arun %t.0.so --random --shape x=700x6 --output-dir %t/d && arun %t.2.so --random --shape x=700x6 --expect y=%t/d/y.npy --range-tol 1e-5
// Both symbols are assumed to be 128: four buffers of 128 x 128 are live at once.
// CHECK: arena_bytes: 262144
// CHECK-NEXT: arena_lower_bound_bytes: 262144
// CHECK-NEXT: arena_at: n=128, m=128
#nm = affine_map<()[s0, s1] -> (s0, s1)>
#mn = affine_map<()[s0, s1] -> (s1, s0)>
#nn = affine_map<()[s0, s1] -> (s0, s0)>
func.func @main(%x: tensor<?x?xf32, #nm> {graph.name = "x"}) -> (tensor<?x?xf32, #nn> {graph.name = "y"})
    attributes {graph.symbols = ["n", "m"]} {
  %0 = graph.exp %x : (tensor<?x?xf32, #nm>) -> tensor<?x?xf32, #nm>
  %1 = graph.transpose %0 {perm = array<i64: 1, 0>} : (tensor<?x?xf32, #nm>) -> tensor<?x?xf32, #mn>
  %2 = graph.matmul %0, %1 : (tensor<?x?xf32, #nm>, tensor<?x?xf32, #mn>) -> tensor<?x?xf32, #nn>
  %3 = graph.sqrt %2 : (tensor<?x?xf32, #nn>) -> tensor<?x?xf32, #nn>
  %4 = graph.matmul %1, %3 : (tensor<?x?xf32, #mn>, tensor<?x?xf32, #nn>) -> tensor<?x?xf32, #mn>
  %5 = graph.tanh %4 : (tensor<?x?xf32, #mn>) -> tensor<?x?xf32, #mn>
  %6 = graph.matmul %x, %5 : (tensor<?x?xf32, #nm>, tensor<?x?xf32, #mn>) -> tensor<?x?xf32, #nn>
  %7 = graph.add %6, %2 : (tensor<?x?xf32, #nn>, tensor<?x?xf32, #nn>) -> tensor<?x?xf32, #nn>
  return %7 : tensor<?x?xf32, #nn>
}

// Kernels that differ in their symbols only are compiled once: the others call the first
// one with their own symbols. The results are those of separate kernels, with and without
// scratch memory, and for kernels with two symbols in another order.
// RUN: rm -rf %t && mkdir -p %t && cd %t
// RUN: atranslate -O0 %s -o 0.so && atranslate %s -o 2.so
// RUN: arun 0.so --random --shape a=5x40 --shape b=7x40 --shape c=3x9 --shape d=9x4 --output-dir .
// RUN: arun 2.so --random --shape a=5x40 --shape b=7x40 --shape c=3x9 --shape d=9x4 --range-tol 1e-5 --expect p=p.npy --expect q=q.npy --expect r=r.npy --expect s=s.npy | FileCheck %s --check-prefix=TAKEN
// RUN: atranslate %s --emit=obj -o 2.o && llvm-nm 2.o | FileCheck %s
// RUN: atranslate -O0 %s --emit=obj -o 0.o && llvm-nm 0.o | FileCheck %s
// TAKEN: output 's'
// CHECK-DAG:  softmax_0.body
// CHECK-DAG: v0.softmax_1{{$}}
// CHECK-NOT: softmax_1.body
// CHECK-NOT: transpose_1.body
func.func @main(%a: tensor<?x40xf32, affine_map<()[s0] -> (s0, 40)>> {graph.name = "a"}, %b: tensor<?x40xf32, affine_map<()[s0, s1] -> (s1, 40)>> {graph.name = "b"}, %c: tensor<?x?xf32, affine_map<()[s0, s1, s2, s3] -> (s2, s3)>> {graph.name = "c"}, %d: tensor<?x?xf32, affine_map<()[s0, s1, s2, s3, s4] -> (s3, s4)>> {graph.name = "d"})
    -> (tensor<?x40xf32, affine_map<()[s0] -> (s0, 40)>> {graph.name = "p"}, tensor<?x40xf32, affine_map<()[s0, s1] -> (s1, 40)>> {graph.name = "q"}, tensor<?x?xf32, affine_map<()[s0, s1, s2, s3] -> (s3, s2)>> {graph.name = "r"}, tensor<?x?xf32, affine_map<()[s0, s1, s2, s3, s4] -> (s4, s3)>> {graph.name = "s"}) attributes {graph.symbols = ["k", "l", "m", "n", "o"]} {
  %p = graph.softmax %a {axis = 1 : i64} : (tensor<?x40xf32, affine_map<()[s0] -> (s0, 40)>>) -> tensor<?x40xf32, affine_map<()[s0] -> (s0, 40)>>
  %q = graph.softmax %b {axis = 1 : i64} : (tensor<?x40xf32, affine_map<()[s0, s1] -> (s1, 40)>>) -> tensor<?x40xf32, affine_map<()[s0, s1] -> (s1, 40)>>
  %r = graph.transpose %c {perm = array<i64: 1, 0>} : (tensor<?x?xf32, affine_map<()[s0, s1, s2, s3] -> (s2, s3)>>) -> tensor<?x?xf32, affine_map<()[s0, s1, s2, s3] -> (s3, s2)>>
  %s = graph.transpose %d {perm = array<i64: 1, 0>} : (tensor<?x?xf32, affine_map<()[s0, s1, s2, s3, s4] -> (s3, s4)>>) -> tensor<?x?xf32, affine_map<()[s0, s1, s2, s3, s4] -> (s4, s3)>>
  return %p, %q, %r, %s : tensor<?x40xf32, affine_map<()[s0] -> (s0, 40)>>, tensor<?x40xf32, affine_map<()[s0, s1] -> (s1, 40)>>, tensor<?x?xf32, affine_map<()[s0, s1, s2, s3] -> (s3, s2)>>, tensor<?x?xf32, affine_map<()[s0, s1, s2, s3, s4] -> (s4, s3)>>
}

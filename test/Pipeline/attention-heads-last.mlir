// A bias with the heads last in memory is moved by a separate kernel, once for both
// users, also through a unit dim, with the results of the reference path for one query,
// few and many.
// RUN: rm -rf %t && mkdir -p %t/0
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// RUN: atranslate %s --emit=graph -o - | FileCheck %s
// RUN: arun %t/0.so --random --shape q=1x6x1x24 --shape k=1x6x70x24 --shape b=1x70x6 --output-dir %t/0
// RUN: arun %t/1.so --random --shape q=1x6x1x24 --shape k=1x6x70x24 --shape b=1x70x6 --range-tol 1e-5 --expect y=%t/0/y.npy
// RUN: arun %t/0.so --random --shape q=1x6x7x24 --shape k=1x6x9x24 --shape b=7x9x6 --output-dir %t/0
// RUN: arun %t/1.so --random --shape q=1x6x7x24 --shape k=1x6x9x24 --shape b=7x9x6 --range-tol 1e-5 --expect y=%t/0/y.npy
// RUN: arun %t/0.so --random --shape q=1x6x45x24 --shape k=1x6x66x24 --shape b=45x66x6 --output-dir %t/0
// RUN: arun %t/1.so --random --shape q=1x6x45x24 --shape k=1x6x66x24 --shape b=45x66x6 --range-tol 1e-5 --expect y=%t/0/y.npy

// CHECK: graph.transpose {{.*}}perm = array<i64: 2, 0, 1>
// CHECK: graph.attention
// CHECK-NOT: perm = array<i64: 2, 0, 1>
// CHECK: graph.attention

#q = affine_map<()[s0, s1] -> (1, 6, s0, 24)>
#k = affine_map<()[s0, s1] -> (1, 6, s1, 24)>
#b = affine_map<()[s0, s1] -> (s0, s1, 6)>
#h = affine_map<()[s0, s1] -> (6, s0, s1)>
#u = affine_map<()[s0, s1] -> (1, 6, s0, s1)>
func.func @main(%q: tensor<1x6x?x24xf32, #q> {graph.name = "q"}, %k: tensor<1x6x?x24xf32, #k> {graph.name = "k"}, %b: tensor<?x?x6xf32, #b> {graph.name = "b"})
    -> (tensor<1x6x?x24xf32, #q> {graph.name = "y"}) attributes {graph.symbols = ["queries", "keys"]} {
  %0 = graph.transpose %b {perm = array<i64: 2, 0, 1>} : (tensor<?x?x6xf32, #b>) -> tensor<6x?x?xf32, #h>
  %u = graph.reshape %0 : (tensor<6x?x?xf32, #h>) -> tensor<1x6x?x?xf32, #u>
  %1 = graph.attention %q, %k, %k bias %u {scale = 0.2 : f64} : (tensor<1x6x?x24xf32, #q>, tensor<1x6x?x24xf32, #k>, tensor<1x6x?x24xf32, #k>, tensor<1x6x?x?xf32, #u>) -> tensor<1x6x?x24xf32, #q>
  %2 = graph.attention %1, %k, %k bias %u {scale = 0.2 : f64} : (tensor<1x6x?x24xf32, #q>, tensor<1x6x?x24xf32, #k>, tensor<1x6x?x24xf32, #k>, tensor<1x6x?x?xf32, #u>) -> tensor<1x6x?x24xf32, #q>
  return %2 : tensor<1x6x?x24xf32, #q>
}

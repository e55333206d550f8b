// Keys and values with fewer batch dims than the queries, with the results of the
// reference path: one attention; and if a view merges batches and heads, so that every
// fourth one has the same keys, or a bias before it has other dims, two products.
// RUN: rm -rf %t && mkdir %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so --stats 2>&1 | FileCheck %s
// RUN: for s in "3x4x9x16 4x5x16" "1x4x1x16 4x1x16"; do set -- $s; arun %t/0.so --random --shape q=$1 --shape k=$2 --output-dir %t && \
// RUN:   arun %t/2.so --random --shape q=$1 --shape k=$2 --range-tol 1e-5 --expect y=%t/y.npy --expect z=%t/z.npy --expect u=%t/u.npy || exit 1; done
// CHECK: convert-host-to-llvm: launches = 7
#q = affine_map<()[s0, s1] -> (s0, 4, s1, 16)>
#k = affine_map<()[s0, s1, s2] -> (4, s2, 16)>
#s = affine_map<()[s0, s1, s2] -> (s0, 4, s1, s2)>
func.func @main(%q: tensor<?x4x?x16xf32, #q> {graph.name = "q"}, %k: tensor<4x?x16xf32, #k> {graph.name = "k"}, %p: tensor<2x4x5x16xf32> {graph.name = "p"}, %l: tensor<4x6x16xf32> {graph.name = "l"}, %v: tensor<8x6x16xf32> {graph.name = "v"}, %b: tensor<8x5x6xf32> {graph.name = "b"}, %e: tensor<2x2x2x5x16xf32> {graph.name = "e"}, %m: tensor<2x1x5x5xf32> {graph.name = "m"}, %n: tensor<2x4x5x5xf32> {graph.name = "n"}) -> (tensor<?x4x?x16xf32, #q> {graph.name = "y"}, tensor<8x5x16xf32> {graph.name = "z"}, tensor<2x4x5x16xf32> {graph.name = "u"}) attributes {graph.symbols = ["n", "s", "t"]} {
  %0 = graph.matmul %q, %k {transpose_b = true} : (tensor<?x4x?x16xf32, #q>, tensor<4x?x16xf32, #k>) -> tensor<?x4x?x?xf32, #s>
  %1 = graph.softmax %0 {axis = 3 : i64} : (tensor<?x4x?x?xf32, #s>) -> tensor<?x4x?x?xf32, #s>
  %y = graph.matmul %1, %k : (tensor<?x4x?x?xf32, #s>, tensor<4x?x16xf32, #k>) -> tensor<?x4x?x16xf32, #q>
  %2 = graph.matmul %p, %l {transpose_b = true} : (tensor<2x4x5x16xf32>, tensor<4x6x16xf32>) -> tensor<2x4x5x6xf32>
  %3 = graph.reshape %2 : (tensor<2x4x5x6xf32>) -> tensor<8x5x6xf32>
  %4 = graph.add %3, %b : (tensor<8x5x6xf32>, tensor<8x5x6xf32>) -> tensor<8x5x6xf32>
  %5 = graph.softmax %4 {axis = 2 : i64} : (tensor<8x5x6xf32>) -> tensor<8x5x6xf32>
  %z = graph.matmul %5, %v : (tensor<8x5x6xf32>, tensor<8x6x16xf32>) -> tensor<8x5x16xf32>
  %6 = graph.matmul %e, %e {transpose_b = true} : (tensor<2x2x2x5x16xf32>, tensor<2x2x2x5x16xf32>) -> tensor<2x2x2x5x5xf32>
  %7 = graph.add %6, %m : (tensor<2x2x2x5x5xf32>, tensor<2x1x5x5xf32>) -> tensor<2x2x2x5x5xf32>
  %8 = graph.reshape %7 : (tensor<2x2x2x5x5xf32>) -> tensor<2x4x5x5xf32>
  %9 = graph.add %8, %n : (tensor<2x4x5x5xf32>, tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %10 = graph.softmax %9 {axis = 3 : i64} : (tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %u = graph.matmul %10, %p : (tensor<2x4x5x5xf32>, tensor<2x4x5x16xf32>) -> tensor<2x4x5x16xf32>
  return %y, %z, %u : tensor<?x4x?x16xf32, #q>, tensor<8x5x16xf32>, tensor<2x4x5x16xf32>
}

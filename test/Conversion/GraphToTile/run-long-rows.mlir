// Rows in chunks: larger than the caches, of dynamic length along the last and along an
// inner dim, and norms; same results as the reference path, and the same bits on one and
// two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// DEFINE: %{shapes} = --shape a=3x7x40 --shape b=9x215 --shape c=3x32
// RUN: arun %t/0.so --random %{shapes} --output-dir %t/0
// RUN: arun %t/1.so --random %{shapes} --threads 1 --output-dir %t/1 --range-tol 1e-5 \
// RUN:   --expect a_y=%t/0/a_y.npy --expect b_y=%t/0/b_y.npy --expect c_y=%t/0/c_y.npy --expect d_y=%t/0/d_y.npy \
// RUN:   --expect e_y=%t/0/e_y.npy
// RUN: arun %t/1.so --random %{shapes} --threads 2 --output-dir %t/2
// RUN: diff -r %t/1 %t/2
#a = affine_map<()[s0, s1, s2, s3, s4, s5, s6] -> (s0, s1, s2)>
#b = affine_map<()[s0, s1, s2, s3, s4, s5, s6] -> (s3, s4)>
#s = affine_map<()[s0, s1, s2, s3, s4, s5, s6] -> (s4)>
#c = affine_map<()[s0, s1, s2, s3, s4, s5, s6] -> (s5, s6)>
func.func @main(
    %a: tensor<?x?x?xf32, #a> {graph.name = "a"},
    %b: tensor<?x?xf32, #b> {graph.name = "b"},
    %c: tensor<?x?xf32, #c> {graph.name = "c"},
    %d: tensor<3x140003xf32> {graph.name = "d"},
    %e: tensor<3x140003xf32> {graph.name = "e"}) -> (
    tensor<?x?x?xf32, #a> {graph.name = "a_y"},
    tensor<?x?xf32, #b> {graph.name = "b_y"},
    tensor<?x?xf32, #c> {graph.name = "c_y"},
    tensor<3x140003xf32> {graph.name = "d_y"},
    tensor<3x140003xf32> {graph.name = "e_y"})
    attributes {graph.symbols = ["a0", "a1", "a2", "b0", "b1", "c0", "c1"]} {
  %0 = graph.softmax %a {axis = 1 : i64} : (tensor<?x?x?xf32, #a>) -> tensor<?x?x?xf32, #a>
  %1 = graph.softmax %b {axis = 1 : i64} : (tensor<?x?xf32, #b>) -> tensor<?x?xf32, #b>
  %2 = graph.softmax %c {axis = 1 : i64} : (tensor<?x?xf32, #c>) -> tensor<?x?xf32, #c>
  %3 = graph.softmax %d {axis = 1 : i64} : (tensor<3x140003xf32>) -> tensor<3x140003xf32>
  %4 = graph.log_softmax %e {axis = 1 : i64} : (tensor<3x140003xf32>) -> tensor<3x140003xf32>
  return %0, %1, %2, %3, %4 : tensor<?x?x?xf32, #a>, tensor<?x?xf32, #b>, tensor<?x?xf32, #c>, tensor<3x140003xf32>, tensor<3x140003xf32>
}

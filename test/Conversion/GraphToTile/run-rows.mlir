// Rows and products of dynamic sizes, and of odd and long static ones, have the same
// results as the reference path, and the same bits on one and two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// DEFINE: %{shapes} = --shape a=37x93 --shape b=5x300 --shape c=19x128 --shape l=61x530 --shape r=530x77 --shape t=130x530
// RUN: arun %t/0.so --random %{shapes} --output-dir %t/0
// RUN: arun %t/1.so --random %{shapes} --threads 1 --output-dir %t/1 --range-tol 1e-5 \
// RUN:   --expect a_y=%t/0/a_y.npy --expect b_y=%t/0/b_y.npy --expect c_y=%t/0/c_y.npy --expect d_y=%t/0/d_y.npy \
// RUN:   --expect e_y=%t/0/e_y.npy --expect f_y=%t/0/f_y.npy --expect g_y=%t/0/g_y.npy --expect h_y=%t/0/h_y.npy
// RUN: arun %t/1.so --random %{shapes} --threads 2 --output-dir %t/2
// RUN: diff -r %t/1 %t/2
#ab = affine_map<()[s0, s1, s2, s3, s4, s5, s6, s7, s8, s9] -> (s0, s1)>
#cd = affine_map<()[s0, s1, s2, s3, s4, s5, s6, s7, s8, s9] -> (s2, s3)>
#ef = affine_map<()[s0, s1, s2, s3, s4, s5, s6, s7, s8, s9] -> (s4, s5)>
#mk = affine_map<()[s0, s1, s2, s3, s4, s5, s6, s7, s8, s9] -> (s6, s7)>
#kn = affine_map<()[s0, s1, s2, s3, s4, s5, s6, s7, s8, s9] -> (s7, s8)>
#mn = affine_map<()[s0, s1, s2, s3, s4, s5, s6, s7, s8, s9] -> (s6, s8)>
#nk = affine_map<()[s0, s1, s2, s3, s4, s5, s6, s7, s8, s9] -> (s9, s7)>
#mt = affine_map<()[s0, s1, s2, s3, s4, s5, s6, s7, s8, s9] -> (s6, s9)>
func.func @main(
    %a: tensor<?x?xf32, #ab> {graph.name = "a"},
    %b: tensor<?x?xf32, #cd> {graph.name = "b"},
    %c: tensor<?x?xf32, #ef> {graph.name = "c"},
    %d: tensor<3x20011xf32> {graph.name = "d"},
    %e: tensor<50x77xf32> {graph.name = "e"},
    %l: tensor<?x?xf32, #mk> {graph.name = "l"},
    %r: tensor<?x?xf32, #kn> {graph.name = "r"},
    %t: tensor<?x?xf32, #nk> {graph.name = "t"},
    %p: tensor<67x1030xf32> {graph.name = "p"},
    %q: tensor<1030x45xf32> {graph.name = "q"}) -> (
    tensor<?x?xf32, #ab> {graph.name = "a_y"},
    tensor<?x?xf32, #cd> {graph.name = "b_y"},
    tensor<?x?xf32, #ef> {graph.name = "c_y"},
    tensor<3x20011xf32> {graph.name = "d_y"},
    tensor<50x77xf32> {graph.name = "e_y"},
    tensor<?x?xf32, #mn> {graph.name = "f_y"},
    tensor<?x?xf32, #mt> {graph.name = "g_y"},
    tensor<67x45xf32> {graph.name = "h_y"})
    attributes {graph.symbols = ["a0", "a1", "b0", "b1", "c0", "c1", "m", "k", "n", "o"]} {
  %0 = graph.softmax %a {axis = 1 : i64} : (tensor<?x?xf32, #ab>) -> tensor<?x?xf32, #ab>
  %1 = graph.softmax %b {axis = 1 : i64} : (tensor<?x?xf32, #cd>) -> tensor<?x?xf32, #cd>
  %2 = graph.log_softmax %c {axis = 1 : i64} : (tensor<?x?xf32, #ef>) -> tensor<?x?xf32, #ef>
  %3 = graph.softmax %d {axis = 1 : i64} : (tensor<3x20011xf32>) -> tensor<3x20011xf32>
  %4 = graph.softmax %e {axis = 1 : i64} : (tensor<50x77xf32>) -> tensor<50x77xf32>
  %5 = graph.matmul %l, %r : (tensor<?x?xf32, #mk>, tensor<?x?xf32, #kn>) -> tensor<?x?xf32, #mn>
  %6 = graph.matmul %l, %t {transpose_b = true} : (tensor<?x?xf32, #mk>, tensor<?x?xf32, #nk>) -> tensor<?x?xf32, #mt>
  %7 = graph.matmul %p, %q : (tensor<67x1030xf32>, tensor<1030x45xf32>) -> tensor<67x45xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<?x?xf32, #ab>, tensor<?x?xf32, #cd>, tensor<?x?xf32, #ef>, tensor<3x20011xf32>, tensor<50x77xf32>, tensor<?x?xf32, #mn>, tensor<?x?xf32, #mt>, tensor<67x45xf32>
}

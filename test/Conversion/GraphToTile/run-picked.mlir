// Elements that are gathered by index, along the lanes and across them, of wide and
// narrow types, also by negative indices: same results as the reference path, and the
// same bits on one and two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2 %t/3
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so && atranslate --mcpu=x86-64-v3 %s -o %t/3.so
// DEFINE: %{run} = --random --ids 37 --shape d=5x37 --shape j=5x23
// DEFINE: %{expect} = --rtol 0 --atol 0 --expect p=%t/0/p.npy --expect q=%t/0/q.npy --expect r=%t/0/r.npy --expect s=%t/0/s.npy --expect t=%t/0/t.npy --expect u=%t/0/u.npy
// RUN: arun %t/0.so %{run} --output-dir %t/0
// RUN: arun %t/1.so %{run} --threads 1 --output-dir %t/1 %{expect}
// RUN: arun %t/1.so %{run} --threads 2 --output-dir %t/2
// RUN: diff -r %t/1 %t/2
// RUN: arun %t/3.so %{run} --threads 1 --output-dir %t/3 %{expect}
#d = affine_map<()[s0, s1, s2] -> (s0, s1)>
#j = affine_map<()[s0, s1, s2] -> (s0, s2)>
func.func @main(
    %a: tensor<3x7x37xf32> {graph.name = "a"}, %i: tensor<3x7x50xi64> {graph.name = "i"},
    %b: tensor<9x37xi8> {graph.name = "b"}, %k: tensor<21xi32> {graph.name = "k"},
    %d: tensor<?x?xf32, #d> {graph.name = "d"}, %j: tensor<?x?xi64, #j> {graph.name = "j"},
    %c: tensor<37x40xf64> {graph.name = "c"}, %l: tensor<19x40xi64> {graph.name = "l"}) -> (
    tensor<3x7x50xf32> {graph.name = "p"}, tensor<9x21xi8> {graph.name = "q"}, tensor<?x?xf32, #j> {graph.name = "r"},
    tensor<19x40xf64> {graph.name = "s"}, tensor<3x7x21xf32> {graph.name = "t"}, tensor<3x21x37xf32> {graph.name = "u"})
    attributes {graph.symbols = ["m", "n", "k"]} {
  // Negative indices count from the end.
  %n = graph.constant dense<20> : tensor<i64>
  %below = graph.sub %i, %n : (tensor<3x7x50xi64>, tensor<i64>) -> tensor<3x7x50xi64>
  %p0 = graph.gather_elements %a, %below {axis = 2 : i64} : (tensor<3x7x37xf32>, tensor<3x7x50xi64>) -> tensor<3x7x50xf32>
  %p = graph.neg %p0 : (tensor<3x7x50xf32>) -> tensor<3x7x50xf32>
  %q = graph.gather %b, %k {axis = 1 : i64} : (tensor<9x37xi8>, tensor<21xi32>) -> tensor<9x21xi8>
  %r = graph.gather_elements %d, %j {axis = 1 : i64} : (tensor<?x?xf32, #d>, tensor<?x?xi64, #j>) -> tensor<?x?xf32, #j>
  %s = graph.gather_elements %c, %l {axis = 0 : i64} : (tensor<37x40xf64>, tensor<19x40xi64>) -> tensor<19x40xf64>
  %t = graph.gather %a, %k {axis = 2 : i64} : (tensor<3x7x37xf32>, tensor<21xi32>) -> tensor<3x7x21xf32>
  %u = graph.gather %a, %k {axis = 1 : i64} : (tensor<3x7x37xf32>, tensor<21xi32>) -> tensor<3x21x37xf32>
  return %p, %q, %r, %s, %t, %u : tensor<3x7x50xf32>, tensor<9x21xi8>, tensor<?x?xf32, #j>, tensor<19x40xf64>, tensor<3x7x21xf32>, tensor<3x21x37xf32>
}

// Few rows by row-major and column-major matrices, of static and dynamic sizes that are
// not multiples of a vector, with computed operands and an epilogue; same results as the
// reference path, and the same bits on one and two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2 %t/3
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so && atranslate --mcpu=x86-64-v3 %s -o %t/3.so
// DEFINE: %{shapes} = --shape d=1x75 --shape e=83x75
// DEFINE: %{expect} = --expect p=%t/0/p.npy --expect q=%t/0/q.npy --expect r=%t/0/r.npy --expect s=%t/0/s.npy --expect t=%t/0/t.npy --expect u=%t/0/u.npy --expect v=%t/0/v.npy
// RUN: arun %t/0.so --random %{shapes} --output-dir %t/0
// RUN: arun %t/1.so --random %{shapes} --threads 1 --output-dir %t/1 --range-tol 1e-5 %{expect}
// RUN: arun %t/1.so --random %{shapes} --threads 2 --output-dir %t/2
// RUN: diff -r %t/1 %t/2
// RUN: arun %t/3.so --random %{shapes} --threads 1 --output-dir %t/3 --range-tol 1e-5 %{expect}
#d = affine_map<()[s0, s1] -> (1, s0)>
#e = affine_map<()[s0, s1] -> (s1, s0)>
#u = affine_map<()[s0, s1] -> (1, s1)>
func.func @main(
    %a: tensor<1x203xf32> {graph.name = "a"}, %b: tensor<101x203xf32> {graph.name = "b"},
    %c: tensor<203x333xf32> {graph.name = "c"}, %d: tensor<1x?xf32, #d> {graph.name = "d"},
    %e: tensor<?x?xf32, #e> {graph.name = "e"}, %f: tensor<3x5x64xf32> {graph.name = "f"},
    %g: tensor<3x37x64xf32> {graph.name = "g"}, %h: tensor<8x24xf64> {graph.name = "h"},
    %i: tensor<19x24xf64> {graph.name = "i"},
    %k: tensor<101xf32> {graph.name = "k"}, %l: tensor<2x70xi32> {graph.name = "l"}, %m: tensor<9x70xi32> {graph.name = "m"}) -> (
    tensor<1x101xf32> {graph.name = "p"}, tensor<1x333xf32> {graph.name = "q"},
    tensor<1x?xf32, #u> {graph.name = "r"}, tensor<3x5x37xf32> {graph.name = "s"},
    tensor<8x19xf64> {graph.name = "t"}, tensor<1x101xf32> {graph.name = "u"}, tensor<2x9xi32> {graph.name = "v"})
    attributes {graph.symbols = ["k", "n"]} {
  // Both operands and the stored value are computed.
  %a0 = graph.exp %a : (tensor<1x203xf32>) -> tensor<1x203xf32>
  %b0 = graph.exp %b : (tensor<101x203xf32>) -> tensor<101x203xf32>
  %p0 = graph.matmul %a0, %b0 {transpose_b = true} : (tensor<1x203xf32>, tensor<101x203xf32>) -> tensor<1x101xf32>
  %p2 = graph.log %p0 : (tensor<1x101xf32>) -> tensor<1x101xf32>
  %p1 = graph.add %p2, %k : (tensor<1x101xf32>, tensor<101xf32>) -> tensor<1x101xf32>
  %p = graph.sin %p1 : (tensor<1x101xf32>) -> tensor<1x101xf32>
  %q = graph.matmul %a, %c : (tensor<1x203xf32>, tensor<203x333xf32>) -> tensor<1x333xf32>
  %r = graph.matmul %d, %e {transpose_b = true} : (tensor<1x?xf32, #d>, tensor<?x?xf32, #e>) -> tensor<1x?xf32, #u>
  %s = graph.matmul %f, %g {transpose_b = true} : (tensor<3x5x64xf32>, tensor<3x37x64xf32>) -> tensor<3x5x37xf32>
  %t = graph.matmul %h, %i {transpose_b = true} : (tensor<8x24xf64>, tensor<19x24xf64>) -> tensor<8x19xf64>
  // By itself: one dim of size 1 is along two axes.
  %u0 = graph.matmul %a0, %a0 {transpose_b = true} : (tensor<1x203xf32>, tensor<1x203xf32>) -> tensor<1x1xf32>
  %u = graph.mul %u0, %k : (tensor<1x1xf32>, tensor<101xf32>) -> tensor<1x101xf32>
  %v = graph.matmul %l, %m {transpose_b = true} : (tensor<2x70xi32>, tensor<9x70xi32>) -> tensor<2x9xi32>
  return %p, %q, %r, %s, %t, %u, %v : tensor<1x101xf32>, tensor<1x333xf32>, tensor<1x?xf32, #u>, tensor<3x5x37xf32>, tensor<8x19xf64>, tensor<1x101xf32>, tensor<2x9xi32>
}

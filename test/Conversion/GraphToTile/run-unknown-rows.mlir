// Products of dynamic numbers of rows, divided into equal parts at run time: with bias
// and activation, of several matrices, into a part of a concat. One row, less and more
// than half a register block, one block and several: same results as the reference path,
// with one thread and two, and with AVX2.
// RUN: rm -rf %t && mkdir -p %t/0
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so && atranslate --mcpu=x86-64-v3 %s -o %t/2.so
// RUN: arun %t/0.so --random --shape x=1x96 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=1x96 --threads 1 --range-tol 1e-5 --expect y=%t/0/y.npy --expect v=%t/0/v.npy --expect u=%t/0/u.npy
// RUN: arun %t/2.so --random --shape x=1x96 --threads 1 --range-tol 1e-5 --expect y=%t/0/y.npy --expect v=%t/0/v.npy --expect u=%t/0/u.npy
// RUN: arun %t/0.so --random --shape x=12x96 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=12x96 --threads 2 --range-tol 1e-5 --expect y=%t/0/y.npy --expect v=%t/0/v.npy --expect u=%t/0/u.npy
// RUN: arun %t/2.so --random --shape x=12x96 --threads 2 --range-tol 1e-5 --expect y=%t/0/y.npy --expect v=%t/0/v.npy --expect u=%t/0/u.npy
// RUN: arun %t/0.so --random --shape x=93x96 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=93x96 --threads 2 --range-tol 1e-5 --expect y=%t/0/y.npy --expect v=%t/0/v.npy --expect u=%t/0/u.npy
// RUN: arun %t/0.so --random --shape x=259x96 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=259x96 --threads 2 --range-tol 1e-5 --expect y=%t/0/y.npy --expect v=%t/0/v.npy --expect u=%t/0/u.npy
// RUN: arun %t/2.so --random --shape x=259x96 --threads 1 --range-tol 1e-5 --expect y=%t/0/y.npy --expect v=%t/0/v.npy --expect u=%t/0/u.npy
// RUN: arun %t/1.so --random --shape x=0x96 --threads 2
#x = affine_map<()[s0] -> (s0, 96)>
#x3 = affine_map<()[s0] -> (3, s0, 32)>
#t3 = affine_map<()[s0] -> (3, 32, s0)>
#p = affine_map<()[s0] -> (s0, 3, 32)>
#s = affine_map<()[s0] -> (3, s0, s0)>
#c = affine_map<()[s0] -> (s0 * 2, 96)>
func.func @main(%x: tensor<?x96xf32, #x> {graph.name = "x"}, %w: tensor<96x96xf32> {graph.name = "w"}, %v: tensor<96xf32> {graph.name = "b"}) -> (tensor<?x96xf32, #x> {graph.name = "y"}, tensor<3x?x?xf32, #s> {graph.name = "v"}, tensor<?x96xf32, #c> {graph.name = "u"}) attributes {graph.symbols = ["m"]} {
  %k = graph.constant dense<0.125> : tensor<96x96xf32>
  %0 = graph.matmul %x, %w : (tensor<?x96xf32, #x>, tensor<96x96xf32>) -> tensor<?x96xf32, #x>
  %1 = graph.matmul %0, %k : (tensor<?x96xf32, #x>, tensor<96x96xf32>) -> tensor<?x96xf32, #x>
  %2 = graph.add %1, %v : (tensor<?x96xf32, #x>, tensor<96xf32>) -> tensor<?x96xf32, #x>
  %3 = graph.gelu %2 : (tensor<?x96xf32, #x>) -> tensor<?x96xf32, #x>
  %4 = graph.add %3, %x : (tensor<?x96xf32, #x>, tensor<?x96xf32, #x>) -> tensor<?x96xf32, #x>
  %shape = graph.constant dense<[-1, 3, 32]> : tensor<3xi64>
  %5 = graph.reshape %x, %shape : (tensor<?x96xf32, #x>, tensor<3xi64>) -> tensor<?x3x32xf32, #p>
  %6 = graph.transpose %5 {perm = array<i64: 1, 0, 2>} : (tensor<?x3x32xf32, #p>) -> tensor<3x?x32xf32, #x3>
  %7 = graph.transpose %5 {perm = array<i64: 1, 2, 0>} : (tensor<?x3x32xf32, #p>) -> tensor<3x32x?xf32, #t3>
  %8 = graph.matmul %6, %7 : (tensor<3x?x32xf32, #x3>, tensor<3x32x?xf32, #t3>) -> tensor<3x?x?xf32, #s>
  %9 = graph.concat %x, %1 {axis = 0 : i64} : (tensor<?x96xf32, #x>, tensor<?x96xf32, #x>) -> tensor<?x96xf32, #c>
  return %4, %8, %9 : tensor<?x96xf32, #x>, tensor<3x?x?xf32, #s>, tensor<?x96xf32, #c>
}

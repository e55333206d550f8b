// Reductions over rows of dynamic, prime and large length, in one pass and in two, over
// inner and outer dims; indices of the greatest and least elements, first and last, along
// the last dim and along others; same results as the reference path, and the same bits on
// one and two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// RUN: atranslate %s --emit=linalg -o %t/linalg.mlir
// RUN: FileCheck %s --check-prefix=LINALG --input-file=%t/linalg.mlir
// LINALG-NOT: linalg.generic
// DEFINE: %{shapes} = --shape a=5x83 --shape b=4x37x50
// DEFINE: %{first} = --expect p=%t/0/p.npy --expect q=%t/0/q.npy --expect r=%t/0/r.npy --expect s=%t/0/s.npy --expect t=%t/0/t.npy --expect u=%t/0/u.npy
// DEFINE: %{second} = --expect f=%t/0/f.npy --expect g=%t/0/g.npy --expect h=%t/0/h.npy --expect i=%t/0/i.npy --expect j=%t/0/j.npy --expect k=%t/0/k.npy
// RUN: arun %t/0.so --random %{shapes} --output-dir %t/0
// RUN: arun %t/1.so --random %{shapes} --threads 1 --output-dir %t/1 --range-tol 1e-5 %{first} %{second}
// RUN: arun %t/1.so --random %{shapes} --threads 2 --output-dir %t/2
// RUN: diff -r %t/1 %t/2
#a = affine_map<()[s0, s1, s2, s3, s4] -> (s0, s1)>
#p = affine_map<()[s0, s1, s2, s3, s4] -> (s0)>
#b = affine_map<()[s0, s1, s2, s3, s4] -> (s2, s3, s4)>
#q = affine_map<()[s0, s1, s2, s3, s4] -> (s3, 1)>
#r = affine_map<()[s0, s1, s2, s3, s4] -> (s2, s4)>
#s = affine_map<()[s0, s1, s2, s3, s4] -> (s4)>
func.func @main(%a: tensor<?x?xf32, #a> {graph.name = "a"}, %b: tensor<?x?x?xf32, #b> {graph.name = "b"},
    %c: tensor<9x20011xf32> {graph.name = "c"}, %d: tensor<3x7x13xi32> {graph.name = "d"}, %e: tensor<6x203xf16> {graph.name = "e"},
    %z: tensor<9x197xf32> {graph.name = "z"}) -> (
    tensor<?xf32, #p> {graph.name = "p"}, tensor<?x1xf32, #q> {graph.name = "q"}, tensor<?x?xf32, #r> {graph.name = "r"},
    tensor<?xf32, #s> {graph.name = "s"}, tensor<9xf32> {graph.name = "t"}, tensor<9x1xf32> {graph.name = "u"},
    tensor<?xi64, #p> {graph.name = "f"}, tensor<?x?xi64, #r> {graph.name = "g"}, tensor<9x1xi64> {graph.name = "h"},
    tensor<3x7xi64> {graph.name = "i"}, tensor<3x13xi64> {graph.name = "j"}, tensor<6xi64> {graph.name = "k"})
    attributes {graph.symbols = ["a0", "a1", "b0", "b1", "b2"]} {
  %p0 = graph.exp %a : (tensor<?x?xf32, #a>) -> tensor<?x?xf32, #a>
  %p = graph.reduce_mean %p0 {axes = array<i64: 1>, keepdims = false} : (tensor<?x?xf32, #a>) -> tensor<?xf32, #p>
  // The kept dim is between reduced ones.
  %q0 = graph.reduce_max %b {axes = array<i64: 0, 2>, keepdims = false} : (tensor<?x?x?xf32, #b>) -> tensor<?xf32, affine_map<()[s0, s1, s2, s3, s4] -> (s3)>>
  %q = graph.reshape %q0 : (tensor<?xf32, affine_map<()[s0, s1, s2, s3, s4] -> (s3)>>) -> tensor<?x1xf32, #q>
  %r = graph.reduce_l2 %b {axes = array<i64: 1>, keepdims = false} : (tensor<?x?x?xf32, #b>) -> tensor<?x?xf32, #r>
  %s = graph.reduce_log_sum_exp %b {axes = array<i64: 0, 1>, keepdims = false} : (tensor<?x?x?xf32, #b>) -> tensor<?xf32, #s>
  %t0 = graph.reduce_log_sum_exp %z {axes = array<i64: 1>, keepdims = false} : (tensor<9x197xf32>) -> tensor<9xf32>
  %t1 = graph.reduce_sum %c {axes = array<i64: 1>, keepdims = false} : (tensor<9x20011xf32>) -> tensor<9xf32>
  %t = graph.mul %t0, %t1 : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  %u = graph.reduce_min %c {axes = array<i64: 1>} : (tensor<9x20011xf32>) -> tensor<9x1xf32>
  %f = graph.arg_max %a {axis = 1 : i64, keepdims = false} : (tensor<?x?xf32, #a>) -> tensor<?xi64, #p>
  %g = graph.arg_min %b {axis = 1 : i64, keepdims = false} : (tensor<?x?x?xf32, #b>) -> tensor<?x?xi64, #r>
  %h = graph.arg_max %c {axis = 1 : i64} : (tensor<9x20011xf32>) -> tensor<9x1xi64>
  // Few different numbers, so that many are equal.
  %three = graph.constant dense<3> : tensor<i32>
  %d3 = graph.mod %d, %three : (tensor<3x7x13xi32>, tensor<i32>) -> tensor<3x7x13xi32>
  %i = graph.arg_max %d3 {axis = 2 : i64, keepdims = false, select_last = true} : (tensor<3x7x13xi32>) -> tensor<3x7xi64>
  %j = graph.arg_min %d3 {axis = 1 : i64, keepdims = false, select_last = true} : (tensor<3x7x13xi32>) -> tensor<3x13xi64>
  %k = graph.arg_min %e {axis = 1 : i64, keepdims = false} : (tensor<6x203xf16>) -> tensor<6xi64>
  return %p, %q, %r, %s, %t, %u, %f, %g, %h, %i, %j, %k : tensor<?xf32, #p>, tensor<?x1xf32, #q>, tensor<?x?xf32, #r>, tensor<?xf32, #s>, tensor<9xf32>, tensor<9x1xf32>, tensor<?xi64, #p>, tensor<?x?xi64, #r>, tensor<9x1xi64>, tensor<3x7xi64>, tensor<3x13xi64>, tensor<6xi64>
}

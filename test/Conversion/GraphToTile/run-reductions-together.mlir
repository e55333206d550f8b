// Reductions that share a pass: over channels, over rows and columns, of all elements, of
// rows of dynamic length, indices besides numbers, and values that depend on another
// reduction; same results as the reference path, and the same bits on one and two
// threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// RUN: atranslate %s --emit=linalg -o %t/linalg.mlir
// RUN: FileCheck %s --check-prefix=LINALG --input-file=%t/linalg.mlir
// LINALG-COUNT-5: host.launch
// LINALG-NOT: host.launch
// LINALG-NOT: linalg.generic
// DEFINE: %{shapes} = --shape a=5x83 --shape b=3x37x5x7
// DEFINE: %{first} = --expect p=%t/0/p.npy --expect q=%t/0/q.npy --expect r=%t/0/r.npy --expect s=%t/0/s.npy --expect t=%t/0/t.npy --expect u=%t/0/u.npy --expect v=%t/0/v.npy
// DEFINE: %{second} = --expect f=%t/0/f.npy --expect g=%t/0/g.npy --expect h=%t/0/h.npy --expect i=%t/0/i.npy --expect j=%t/0/j.npy --expect k=%t/0/k.npy
// RUN: arun %t/0.so --random %{shapes} --output-dir %t/0
// RUN: arun %t/1.so --random %{shapes} --threads 1 --output-dir %t/1 --range-tol 1e-5 %{first} %{second}
// RUN: arun %t/1.so --random %{shapes} --threads 2 --output-dir %t/2
// RUN: diff -r %t/1 %t/2
#a = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0, s1)>
#p = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s0)>
#b = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s2, s3, s4, s5)>
#r = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s2, 1, s4, s5)>
#s = affine_map<()[s0, s1, s2, s3, s4, s5] -> (s2, s4, s5)>
func.func @main(%a: tensor<?x?xf32, #a> {graph.name = "a"}, %b: tensor<?x?x?x?xf32, #b> {graph.name = "b"},
    %c: tensor<2x9x11x40xf32> {graph.name = "c"}, %d: tensor<80x1024xi32> {graph.name = "d"}) -> (
    tensor<?xf32, #p> {graph.name = "p"}, tensor<?xi32, #p> {graph.name = "q"}, tensor<?xf32, #p> {graph.name = "f"},
    tensor<?x1x?x?xf32, #r> {graph.name = "r"}, tensor<?x?x?xf32, #s> {graph.name = "s"}, tensor<?x1x?x?xi64, #r> {graph.name = "t"},
    tensor<2x1x1x40xf32> {graph.name = "u"}, tensor<2x40xf32> {graph.name = "v"}, tensor<2x40xf32> {graph.name = "g"}, tensor<2x1x1x40xf32> {graph.name = "h"},
    tensor<i32> {graph.name = "i"}, tensor<i32> {graph.name = "j"}, tensor<i32> {graph.name = "k"})
    attributes {graph.symbols = ["a0", "a1", "b0", "b1", "b2", "b3"]} {
  // Rows of dynamic length: one kernel.
  %a0 = graph.exp %a : (tensor<?x?xf32, #a>) -> tensor<?x?xf32, #a>
  %p = graph.reduce_mean %a0 {axes = array<i64: 1>, keepdims = false} : (tensor<?x?xf32, #a>) -> tensor<?xf32, #p>
  %q0 = graph.arg_max %a {axis = 1 : i64, keepdims = false} : (tensor<?x?xf32, #a>) -> tensor<?xi64, #p>
  %q = graph.cast %q0 : (tensor<?xi64, #p>) -> tensor<?xi32, #p>
  %f = graph.reduce_log_sum_exp %a {axes = array<i64: 1>, keepdims = false} : (tensor<?x?xf32, #a>) -> tensor<?xf32, #p>
  // Channels: one kernel.
  %b0 = graph.relu %b : (tensor<?x?x?x?xf32, #b>) -> tensor<?x?x?x?xf32, #b>
  %r0 = graph.reduce_mean %b0 {axes = array<i64: 1>} : (tensor<?x?x?x?xf32, #b>) -> tensor<?x1x?x?xf32, #r>
  %s = graph.reduce_max %b0 {axes = array<i64: 1>, keepdims = false} : (tensor<?x?x?x?xf32, #b>) -> tensor<?x?x?xf32, #s>
  %t = graph.arg_min %b0 {axis = 1 : i64, select_last = true} : (tensor<?x?x?x?xf32, #b>) -> tensor<?x1x?x?xi64, #r>
  %r = graph.sqrt %r0 : (tensor<?x1x?x?xf32, #r>) -> tensor<?x1x?x?xf32, #r>
  // Mean and variance, and others: one kernel.
  %u = graph.reduce_mean %c {axes = array<i64: 1, 2>} : (tensor<2x9x11x40xf32>) -> tensor<2x1x1x40xf32>
  %c0 = graph.sub %c, %u : (tensor<2x9x11x40xf32>, tensor<2x1x1x40xf32>) -> tensor<2x9x11x40xf32>
  %c1 = graph.mul %c0, %c0 : (tensor<2x9x11x40xf32>, tensor<2x9x11x40xf32>) -> tensor<2x9x11x40xf32>
  %v = graph.reduce_mean %c1 {axes = array<i64: 1, 2>, keepdims = false} : (tensor<2x9x11x40xf32>) -> tensor<2x40xf32>
  %g = graph.reduce_log_sum_exp %c {axes = array<i64: 1, 2>, keepdims = false} : (tensor<2x9x11x40xf32>) -> tensor<2x40xf32>
  %h = graph.reduce_l2 %c {axes = array<i64: 1, 2>} : (tensor<2x9x11x40xf32>) -> tensor<2x1x1x40xf32>
  // All elements: a kernel for partial results and one for their reduction.
  %d0 = graph.mul %d, %d : (tensor<80x1024xi32>, tensor<80x1024xi32>) -> tensor<80x1024xi32>
  %i = graph.reduce_sum %d0 {axes = array<i64: 0, 1>, keepdims = false} : (tensor<80x1024xi32>) -> tensor<i32>
  %j = graph.reduce_max %d0 {axes = array<i64: 0, 1>, keepdims = false} : (tensor<80x1024xi32>) -> tensor<i32>
  %k = graph.reduce_l1 %d {axes = array<i64: 0, 1>, keepdims = false} : (tensor<80x1024xi32>) -> tensor<i32>
  return %p, %q, %f, %r, %s, %t, %u, %v, %g, %h, %i, %j, %k : tensor<?xf32, #p>, tensor<?xi32, #p>, tensor<?xf32, #p>, tensor<?x1x?x?xf32, #r>, tensor<?x?x?xf32, #s>, tensor<?x1x?x?xi64, #r>, tensor<2x1x1x40xf32>, tensor<2x40xf32>, tensor<2x40xf32>, tensor<2x1x1x40xf32>, tensor<i32>, tensor<i32>, tensor<i32>
}

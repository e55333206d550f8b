// Reductions to a scalar and to few elements, in parts; same results as the reference
// path, and the same bits on one and two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// RUN: atranslate %s --emit=linalg -o %t/linalg.mlir
// RUN: FileCheck %s --check-prefix=LINALG --input-file=%t/linalg.mlir
// LINALG-NOT: linalg.generic
// DEFINE: %{shapes} = --shape b=13x5x201
// RUN: arun %t/0.so --random %{shapes} --output-dir %t/0
// RUN: arun %t/1.so --random %{shapes} --threads 1 --output-dir %t/1 --rtol 1e-4 --atol 1e-6 --expect y=%t/0/y.npy
// RUN: arun %t/1.so --random %{shapes} --threads 2 --output-dir %t/2
// RUN: diff -r %t/1 %t/2
#b = affine_map<()[s0, s1, s2] -> (s0, s1, s2)>
func.func @main(%a: tensor<300x500xf32> {graph.name = "a"}, %b: tensor<?x?x?xf32, #b> {graph.name = "b"}, %i: tensor<400x300xi32> {graph.name = "i"}) -> (tensor<9xf32> {graph.name = "y"}) attributes {graph.symbols = ["b0", "b1", "b2"]} {
  %0 = graph.reduce_mean %a {axes = array<i64: 0, 1>, keepdims = false} : (tensor<300x500xf32>) -> tensor<f32>
  %d = graph.sub %a, %0 : (tensor<300x500xf32>, tensor<f32>) -> tensor<300x500xf32>
  %q = graph.mul %d, %d : (tensor<300x500xf32>, tensor<300x500xf32>) -> tensor<300x500xf32>
  %1 = graph.reduce_mean %q {axes = array<i64: 0, 1>, keepdims = false} : (tensor<300x500xf32>) -> tensor<f32>
  %2 = graph.reduce_log_sum_exp %a {axes = array<i64: 0, 1>, keepdims = false} : (tensor<300x500xf32>) -> tensor<f32>
  %3 = graph.reduce_max %b {axes = array<i64: 0, 1, 2>, keepdims = false} : (tensor<?x?x?xf32, #b>) -> tensor<f32>
  %4 = graph.reduce_l2 %b {axes = array<i64: 0, 1, 2>, keepdims = false} : (tensor<?x?x?xf32, #b>) -> tensor<f32>
  %c = graph.cast %i : (tensor<400x300xi32>) -> tensor<400x300xi64>
  %5 = graph.reduce_sum %c {axes = array<i64: 0, 1>, keepdims = false} : (tensor<400x300xi64>) -> tensor<i64>
  %c5 = graph.cast %5 : (tensor<i64>) -> tensor<f32>
  %6 = graph.reduce_min %a {axes = array<i64: 0, 1>, keepdims = false} : (tensor<300x500xf32>) -> tensor<f32>
  %s = graph.reduce_sum_square %a {axes = array<i64: 0, 1>, keepdims = false} : (tensor<300x500xf32>) -> tensor<f32>
  %7 = graph.log %s : (tensor<f32>) -> tensor<f32>
  %8 = graph.reduce_log_sum %q {axes = array<i64: 0, 1>, keepdims = false} : (tensor<300x500xf32>) -> tensor<f32>
  %r0 = graph.reshape %0 : (tensor<f32>) -> tensor<1xf32>
  %r1 = graph.reshape %1 : (tensor<f32>) -> tensor<1xf32>
  %r2 = graph.reshape %2 : (tensor<f32>) -> tensor<1xf32>
  %r3 = graph.reshape %3 : (tensor<f32>) -> tensor<1xf32>
  %r4 = graph.reshape %4 : (tensor<f32>) -> tensor<1xf32>
  %r5 = graph.reshape %c5 : (tensor<f32>) -> tensor<1xf32>
  %r6 = graph.reshape %6 : (tensor<f32>) -> tensor<1xf32>
  %r7 = graph.reshape %7 : (tensor<f32>) -> tensor<1xf32>
  %r8 = graph.reshape %8 : (tensor<f32>) -> tensor<1xf32>
  %y = graph.concat %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8 {axis = 0 : i64} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<9xf32>
  return %y : tensor<9xf32>
}

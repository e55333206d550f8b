// The power of the first five frequencies of frames of 32 elements, with frames last in
// between: same results as the reference path, for static and dynamic numbers of frames. A
// cosine of 3 periods has the power (32 / 2)^2 at frequency 3, and none at others.
// RUN: rm -rf %t && mkdir -p %t/0
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so && atranslate %s --dim n=2 --dim l=7 -o %t/2.so
// RUN: arun %t/0.so --random --shape x=2x7x32 --output-dir %t/0
// RUN: arun %t/0.so --random --shape x=2x7x32 --range-tol 1e-6 --expect p=%t/0/known.npy
// RUN: arun %t/1.so --random --shape x=2x7x32 --range-tol 1e-6 --expect y=%t/0/y.npy --expect p=%t/0/known.npy
// RUN: arun %t/2.so --random --shape x=2x7x32 --range-tol 1e-6 --expect y=%t/0/y.npy --expect p=%t/0/known.npy
// RUN: arun %t/0.so --random --shape x=1x1x32 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=1x1x32 --range-tol 1e-6 --expect y=%t/0/y.npy --expect p=%t/0/known.npy
#x = affine_map<()[s0, s1] -> (s0, s1, 32)>
#f = affine_map<()[s0, s1] -> (s0, s1, 10)>
#t = affine_map<()[s0, s1] -> (s0, 10, s1)>
#v = affine_map<()[s0, s1] -> (s0, 2, 5, s1)>
#r = affine_map<()[s0, s1] -> (s0, 5, s1)>
#y = affine_map<()[s0, s1] -> (s0, s1, 5)>
func.func @main(%x: tensor<?x?x32xf32, #x> {graph.name = "x"}) -> (tensor<?x?x5xf32, #y> {graph.name = "y"}, tensor<1x1x5xf32> {graph.name = "p"}, tensor<1x1x5xf32> {graph.name = "known"}) attributes {graph.symbols = ["n", "l"]} {
  %zero = graph.constant dense<0> : tensor<i64>
  %n = graph.constant dense<32> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %0 = graph.range %zero, %n, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<32xi64>
  %1 = graph.cast %0 : (tensor<32xi64>) -> tensor<32xf32>
  %turn = graph.constant dense<0.19634954> : tensor<f32>
  %time = graph.mul %1, %turn : (tensor<32xf32>, tensor<f32>) -> tensor<32xf32>
  %rates = graph.constant dense<[[0.0], [1.0], [2.0], [3.0], [4.0], [0.0], [1.0], [2.0], [3.0], [4.0]]> : tensor<10x1xf32>
  %shifts = graph.constant dense<[[0.0], [0.0], [0.0], [0.0], [0.0], [1.57079637], [1.57079637], [1.57079637], [1.57079637], [1.57079637]]> : tensor<10x1xf32>
  %2 = graph.mul %rates, %time : (tensor<10x1xf32>, tensor<32xf32>) -> tensor<10x32xf32>
  %3 = graph.sub %2, %shifts : (tensor<10x32xf32>, tensor<10x1xf32>) -> tensor<10x32xf32>
  %w = graph.cos %3 : (tensor<10x32xf32>) -> tensor<10x32xf32>

  %4 = graph.matmul %x, %w {transpose_b = true} : (tensor<?x?x32xf32, #x>, tensor<10x32xf32>) -> tensor<?x?x10xf32, #f>
  %5 = graph.transpose %4 {perm = array<i64: 0, 2, 1>} : (tensor<?x?x10xf32, #f>) -> tensor<?x10x?xf32, #t>
  %6 = graph.reshape %5 : (tensor<?x10x?xf32, #t>) -> tensor<?x2x5x?xf32, #v>
  %7 = graph.reduce_sum_square %6 {axes = array<i64: 1>, keepdims = false} : (tensor<?x2x5x?xf32, #v>) -> tensor<?x5x?xf32, #r>
  %y = graph.transpose %7 {perm = array<i64: 0, 2, 1>} : (tensor<?x5x?xf32, #r>) -> tensor<?x?x5xf32, #y>

  %three = graph.constant dense<3.0> : tensor<1x1x1xf32>
  %8 = graph.mul %three, %time : (tensor<1x1x1xf32>, tensor<32xf32>) -> tensor<1x1x32xf32>
  %9 = graph.cos %8 : (tensor<1x1x32xf32>) -> tensor<1x1x32xf32>
  %10 = graph.matmul %9, %w {transpose_b = true} : (tensor<1x1x32xf32>, tensor<10x32xf32>) -> tensor<1x1x10xf32>
  %11 = graph.transpose %10 {perm = array<i64: 0, 2, 1>} : (tensor<1x1x10xf32>) -> tensor<1x10x1xf32>
  %12 = graph.reshape %11 : (tensor<1x10x1xf32>) -> tensor<1x2x5x1xf32>
  %13 = graph.reduce_sum_square %12 {axes = array<i64: 1>, keepdims = false} : (tensor<1x2x5x1xf32>) -> tensor<1x5x1xf32>
  %p = graph.transpose %13 {perm = array<i64: 0, 2, 1>} : (tensor<1x5x1xf32>) -> tensor<1x1x5xf32>
  %known = graph.constant dense<[[[0.0, 0.0, 0.0, 256.0, 0.0]]]> : tensor<1x1x5xf32>
  return %y, %p, %known : tensor<?x?x5xf32, #y>, tensor<1x1x5xf32>, tensor<1x1x5xf32>
}

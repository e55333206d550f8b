// Factors, summands and normalisations around products with constant weights on either
// side, after transposes too: one launch each, with the results of the reference path.
// RUN: rm -rf %t && mkdir -p %t/0
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// RUN: atranslate %s --emit=linalg -o %t/linalg.mlir
// RUN: FileCheck %s --input-file=%t/linalg.mlir
// CHECK-COUNT-4: host.launch
// CHECK-NOT: host.launch
// CHECK-NOT: arith.mulf
// DEFINE: %{shapes} = --shape x=3x6x7
// RUN: arun %t/0.so --random %{shapes} --output-dir %t/0
// RUN: arun %t/1.so --random %{shapes} --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy --range-tol 1e-5
#x = affine_map<()[s0, s1] -> (s0, 6, s1)>
#a = affine_map<()[s0, s1] -> (s0, 2, s1)>
#t = affine_map<()[s0, s1] -> (s0, s1, 2)>
func.func @main(%x: tensor<?x6x?xf32, #x> {graph.name = "x"}, %y: tensor<5x4x3xf32> {graph.name = "y"}, %z: tensor<9x2xf32> {graph.name = "z"}) -> (
    tensor<?x2x?xf32, #a> {graph.name = "a"}, tensor<?x?x2xf32, #t> {graph.name = "b"}, tensor<5x2x4xf32> {graph.name = "c"}, tensor<9x3xf32> {graph.name = "d"})
    attributes {graph.symbols = ["n", "l"]} {
  %w = graph.constant dense<[[2.0, 2.5, -1.0, 3.0, 0.5, 1.5], [4.0, -2.0, 0.25, 1.0, 2.0, -3.0]]> : tensor<2x6xf32>
  %s = graph.constant dense<[[3.0], [2.0], [0.5], [-1.0], [4.0], [1.0]]> : tensor<6x1xf32>
  %b = graph.constant dense<[[7.0], [8.0]]> : tensor<2x1xf32>
  %r = graph.constant dense<[[0.5], [3.0]]> : tensor<2x1xf32>
  %0 = graph.mul %x, %s : (tensor<?x6x?xf32, #x>, tensor<6x1xf32>) -> tensor<?x6x?xf32, #x>
  %1 = graph.matmul %w, %0 : (tensor<2x6xf32>, tensor<?x6x?xf32, #x>) -> tensor<?x2x?xf32, #a>
  %2 = graph.add %1, %b : (tensor<?x2x?xf32, #a>, tensor<2x1xf32>) -> tensor<?x2x?xf32, #a>
  %a = graph.div %2, %r : (tensor<?x2x?xf32, #a>, tensor<2x1xf32>) -> tensor<?x2x?xf32, #a>
  // The normalised dim is that of the left operand's rows, before and after a transpose.
  %u = graph.constant dense<[[1.0, 2.5, -1.0, 3.0, 0.5, 1.5], [4.0, -2.0, 0.75, 1.0, 2.0, -3.0]]> : tensor<2x6xf32>
  %n0 = graph.constant dense<[1.5, 2.0]> : tensor<2xf32>
  %n1 = graph.constant dense<[0.25, -0.5]> : tensor<2xf32>
  %n2 = graph.constant dense<[3.0, 0.75]> : tensor<2xf32>
  %3 = graph.matmul %u, %x : (tensor<2x6xf32>, tensor<?x6x?xf32, #x>) -> tensor<?x2x?xf32, #a>
  %4 = graph.batch_norm %3, %n0, %n1, %n1, %n2 {axis = 1 : i64, epsilon = 0.1 : f64} : (tensor<?x2x?xf32, #a>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2x?xf32, #a>
  %5 = graph.transpose %4 {perm = array<i64: 0, 2, 1>} : (tensor<?x2x?xf32, #a>) -> tensor<?x?x2xf32, #t>
  %b1 = graph.batch_norm %5, %n2, %n1, %n0, %n2 {axis = 2 : i64, epsilon = 0.1 : f64} : (tensor<?x?x2xf32, #t>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x?x2xf32, #t>
  // A bias and a normalisation after a transpose.
  %v = graph.constant dense<[[1.0, 2.5], [-1.0, 3.0], [0.5, 1.5]]> : tensor<3x2xf32>
  %6 = graph.matmul %y, %v : (tensor<5x4x3xf32>, tensor<3x2xf32>) -> tensor<5x4x2xf32>
  %7 = graph.add %6, %n0 : (tensor<5x4x2xf32>, tensor<2xf32>) -> tensor<5x4x2xf32>
  %8 = graph.transpose %7 {perm = array<i64: 0, 2, 1>} : (tensor<5x4x2xf32>) -> tensor<5x2x4xf32>
  %c = graph.batch_norm %8, %n0, %n1, %n1, %n2 {axis = 1 : i64, epsilon = 0.1 : f64} : (tensor<5x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<5x2x4xf32>
  // Two summands that are merged.
  %g = graph.constant dense<[[1.0, 2.5, 3.0], [-1.0, 3.0, 0.5]]> : tensor<2x3xf32>
  %h = graph.constant dense<[1.0, 2.0, -3.0]> : tensor<3xf32>
  %9 = graph.batch_norm %z, %n0, %n1, %n1, %n2 {axis = 1 : i64, epsilon = 0.1 : f64} : (tensor<9x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<9x2xf32>
  %10 = graph.matmul %9, %g : (tensor<9x2xf32>, tensor<2x3xf32>) -> tensor<9x3xf32>
  %d = graph.add %10, %h : (tensor<9x3xf32>, tensor<3xf32>) -> tensor<9x3xf32>
  return %a, %b1, %c, %d : tensor<?x2x?xf32, #a>, tensor<?x?x2xf32, #t>, tensor<5x2x4xf32>, tensor<9x3xf32>
}

// Rows of a product that are reordered by two dynamic sizes are moved first: same results
// as the reference path.
// RUN: rm -rf %t && mkdir -p %t/0
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// RUN: arun %t/0.so --random --shape x=1x19x40 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=1x19x40 --range-tol 1e-5 --expect y=%t/0/y.npy
// RUN: arun %t/0.so --random --shape x=5x7x40 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=5x7x40 --range-tol 1e-5 --expect y=%t/0/y.npy
// RUN: arun %t/0.so --random --shape x=33x1x40 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=33x1x40 --range-tol 1e-5 --expect y=%t/0/y.npy

#x = affine_map<()[s0, s1] -> (s0, s1, 40)>
#t = affine_map<()[s0, s1] -> (s1, s0, 40)>
#y = affine_map<()[s0, s1] -> (s1, s0, 24)>
func.func @main(%x: tensor<?x?x40xf32, #x> {graph.name = "x"}) -> (tensor<?x?x24xf32, #y> {graph.name = "y"}) attributes {graph.symbols = ["b", "s"]} {
  %w = graph.constant dense<0.25> : tensor<40x24xf32>
  %0 = graph.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<?x?x40xf32, #x>) -> tensor<?x?x40xf32, #t>
  %1 = graph.matmul %0, %w : (tensor<?x?x40xf32, #t>, tensor<40x24xf32>) -> tensor<?x?x24xf32, #y>
  return %1 : tensor<?x?x24xf32, #y>
}

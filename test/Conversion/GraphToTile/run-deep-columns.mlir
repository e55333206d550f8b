// Few rows by deep matrices whose columns are not whole vectors, or dynamic: copies of
// them fit their buffers; same results as the reference path.
// RUN: rm -rf %t && mkdir -p %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so
// RUN: arun %t/0.so --random --shape c=16384x21 --output-dir %t
// RUN: arun %t/2.so --random --shape c=16384x21 --range-tol 1e-5 --expect p=%t/p.npy --expect q=%t/q.npy --expect r=%t/r.npy
#c = affine_map<()[s0] -> (16384, s0)>
#r = affine_map<()[s0] -> (1, s0)>
func.func @main(%x: tensor<1x16384xf32> {graph.name = "x"}, %a: tensor<16384x4xf32> {graph.name = "a"},
    %y: tensor<2x2048xf64> {graph.name = "y"}, %b: tensor<2048x1000xf64> {graph.name = "b"},
    %c: tensor<16384x?xf32, #c> {graph.name = "c"})
    -> (tensor<1x4xf32> {graph.name = "p"}, tensor<2x1000xf64> {graph.name = "q"}, tensor<1x?xf32, #r> {graph.name = "r"}) attributes {graph.symbols = ["n"]} {
  %p = graph.matmul %x, %a : (tensor<1x16384xf32>, tensor<16384x4xf32>) -> tensor<1x4xf32>
  %q = graph.matmul %y, %b : (tensor<2x2048xf64>, tensor<2048x1000xf64>) -> tensor<2x1000xf64>
  %r = graph.matmul %x, %c : (tensor<1x16384xf32>, tensor<16384x?xf32, #c>) -> tensor<1x?xf32, #r>
  return %p, %q, %r : tensor<1x4xf32>, tensor<2x1000xf64>, tensor<1x?xf32, #r>
}

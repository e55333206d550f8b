// Rows of softmax are stored while the next row is computed, with an end that is not a
// whole vector, and a result that needs the sum only, with any number of threads; of
// dynamic sizes too.
// RUN: rm -rf %t && mkdir -p %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so --stats 2>&1 | FileCheck %s
// RUN: arun %t/0.so --random --shape w=37x301 --output-dir %t
// RUN: for t in 1 2; do arun %t/2.so --random --shape w=37x301 --threads $t --range-tol 1e-5 --expect y=%t/y.npy --expect z=%t/z.npy --expect v=%t/v.npy || exit 1; done
// CHECK: pipeline-rows: pipelined = {{[1-9]}}
#w = affine_map<()[s0, s1] -> (s0, s1)>
func.func @main(%x: tensor<43x1003xf32> {graph.name = "x"}, %w: tensor<?x?xf32, #w> {graph.name = "w"})
    -> (tensor<43x1003xf32> {graph.name = "y"}, tensor<43x1003xf32> {graph.name = "z"}, tensor<?x?xf32, #w> {graph.name = "v"}) attributes {graph.symbols = ["m", "n"]} {
  %y = graph.softmax %x {axis = 1 : i64} : (tensor<43x1003xf32>) -> tensor<43x1003xf32>
  %0 = graph.neg %x : (tensor<43x1003xf32>) -> tensor<43x1003xf32>
  %1 = graph.softmax %0 {axis = 1 : i64} : (tensor<43x1003xf32>) -> tensor<43x1003xf32>
  %z = graph.add %1, %x : (tensor<43x1003xf32>, tensor<43x1003xf32>) -> tensor<43x1003xf32>
  %v = graph.softmax %w {axis = 1 : i64} : (tensor<?x?xf32, #w>) -> tensor<?x?xf32, #w>
  return %y, %z, %v : tensor<43x1003xf32>, tensor<43x1003xf32>, tensor<?x?xf32, #w>
}

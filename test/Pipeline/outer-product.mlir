// Products over one element are one kernel with their producers and consumers: the angles
// of a rotary embedding, a layer of one input.
// RUN: rm -rf %t && mkdir %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so --stats 2>&1 | FileCheck %s
// RUN: for s in 3x7 1x1 2x40; do arun %t/0.so --random --shape p=$s --output-dir %t && arun %t/2.so --random --shape p=$s --range-tol 1e-6 --expect y=%t/y.npy --expect z=%t/z.npy || exit 1; done
// CHECK: convert-host-to-llvm: launches = 2
#p = affine_map<()[s0, s1] -> (s0, s1)>
#c = affine_map<()[s0, s1] -> (s0, s1, 1)>
#y = affine_map<()[s0, s1] -> (s0, s1, 8)>
#t = affine_map<()[s0, s1] -> (s0, 8, s1)>
func.func @main(%p: tensor<?x?xf32, #p> {graph.name = "p"}) -> (tensor<?x8x?xf32, #t> {graph.name = "y"}, tensor<?x?x8xf32, #y> {graph.name = "z"}) attributes {graph.symbols = ["n", "s"]} {
  %f = graph.constant dense<[[1.0, 0.5, -0.25, 0.125, 3.0, 0.0, -1.0, 7.0]]> : tensor<1x8xf32>
  %b = graph.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %0 = graph.reshape %p : (tensor<?x?xf32, #p>) -> tensor<?x?x1xf32, #c>
  %1 = graph.matmul %f, %0 {transpose_a = true, transpose_b = true} : (tensor<1x8xf32>, tensor<?x?x1xf32, #c>) -> tensor<?x8x?xf32, #t>
  %y = graph.cos %1 : (tensor<?x8x?xf32, #t>) -> tensor<?x8x?xf32, #t>
  %2 = graph.sigmoid %0 : (tensor<?x?x1xf32, #c>) -> tensor<?x?x1xf32, #c>
  %3 = graph.matmul %2, %f : (tensor<?x?x1xf32, #c>, tensor<1x8xf32>) -> tensor<?x?x8xf32, #y>
  %4 = graph.add %3, %b : (tensor<?x?x8xf32, #y>, tensor<8xf32>) -> tensor<?x?x8xf32, #y>
  %z = graph.relu %4 : (tensor<?x?x8xf32, #y>) -> tensor<?x?x8xf32, #y>
  return %y, %z : tensor<?x8x?xf32, #t>, tensor<?x?x8xf32, #y>
}

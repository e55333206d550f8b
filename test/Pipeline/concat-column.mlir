// A column that is an operand of a concat, and broadcast in another operand: one tile of
// it has a column, the other one is the same in all.
// RUN: rm -rf %t && mkdir %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so --stats 2>&1 | FileCheck %s
// RUN: for s in 1 3 40; do arun %t/0.so --random --shape x=${s}x1 --shape a=${s}x11 --output-dir %t && arun %t/2.so --random --shape x=${s}x1 --shape a=${s}x11 --range-tol 1e-6 --expect y=%t/y.npy --expect z=%t/z.npy || exit 1; done
// CHECK: convert-host-to-llvm: launches = 2
#x = affine_map<()[s0] -> (s0, 1)>
#a = affine_map<()[s0] -> (s0, 11)>
#m = affine_map<()[s0] -> (s0, 7)>
#y = affine_map<()[s0] -> (s0, 19)>
func.func @main(%x: tensor<?x1xf32, #x> {graph.name = "x"}, %a: tensor<?x11xf32, #a> {graph.name = "a"})
    -> (tensor<?x19xf32, #y> {graph.name = "y"}, tensor<?x19xf32, #y> {graph.name = "z"}) attributes {graph.symbol_ranges = [array<i64: 0, -1, -1>], graph.symbols = ["s"]} {
  %w = graph.constant dense<[[0.9, -0.5, -0.6, -0.4, -0.3, 1.3, -0.5]]> : tensor<1x7xf32>
  %0 = graph.mul %x, %w : (tensor<?x1xf32, #x>, tensor<1x7xf32>) -> tensor<?x7xf32, #m>
  %y = graph.concat %x, %0, %a {axis = 1 : i64} : (tensor<?x1xf32, #x>, tensor<?x7xf32, #m>, tensor<?x11xf32, #a>) -> tensor<?x19xf32, #y>
  %1 = graph.add %w, %x : (tensor<1x7xf32>, tensor<?x1xf32, #x>) -> tensor<?x7xf32, #m>
  %z = graph.concat %1, %a, %x {axis = 1 : i64} : (tensor<?x7xf32, #m>, tensor<?x11xf32, #a>, tensor<?x1xf32, #x>) -> tensor<?x19xf32, #y>
  return %y, %z : tensor<?x19xf32, #y>, tensor<?x19xf32, #y>
}

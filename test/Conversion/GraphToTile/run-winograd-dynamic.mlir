// Tiles of 2 and 4 with a symbolic batch, several blocks of rows and of channels, filters
// that are not constants: same results as the reference path, and the same bits on one
// and two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so --stats 2>&1 | FileCheck %s
// CHECK: convert-graph-to-tile: kernels = 2
// RUN: arun %t/0.so --random --shape x=3x13x10x48 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=3x13x10x48 --threads 1 --output-dir %t/1 --range-tol 1e-5 \
// RUN:   --expect y=%t/0/y.npy --expect z=%t/0/z.npy
// RUN: arun %t/1.so --random --shape x=3x13x10x48 --threads 2 --output-dir %t/2
// RUN: diff -r %t/1 %t/2
#x = affine_map<()[s0] -> (s0, 13, 10, 48)>
#y = affine_map<()[s0] -> (s0, 13, 10, 72)>
func.func @main(%x: tensor<?x13x10x48xf32, #x> {graph.name = "x"}, %u: tensor<16x48x72xf32> {graph.name = "u"}, %v: tensor<36x48x72xf32> {graph.name = "v"}) -> (tensor<?x13x10x72xf32, #y> {graph.name = "y"}, tensor<?x13x10x72xf32, #y> {graph.name = "z"}) attributes {graph.symbols = ["n"]} {
  %0 = graph.winograd_conv %x, %u {tile = 2 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<?x13x10x48xf32, #x>, tensor<16x48x72xf32>) -> tensor<?x13x10x72xf32, #y>
  %1 = graph.relu %0 : (tensor<?x13x10x72xf32, #y>) -> tensor<?x13x10x72xf32, #y>
  %2 = graph.winograd_conv %x, %v {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<?x13x10x48xf32, #x>, tensor<36x48x72xf32>) -> tensor<?x13x10x72xf32, #y>
  return %1, %2 : tensor<?x13x10x72xf32, #y>, tensor<?x13x10x72xf32, #y>
}

// Images of dynamic size: patches that extend beyond the image, images smaller than a
// patch, none; several blocks of patches of a batch. Same results as the reference path,
// and the same bits on one and two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so --stats 2>&1 | FileCheck %s
// CHECK: convert-graph-to-tile: kernels = 2
// RUN: arun %t/0.so --random --shape x=3x33x41x48 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=3x33x41x48 --threads 1 --output-dir %t/1 --range-tol 1e-5 \
// RUN:   --expect y=%t/0/y.npy --expect z=%t/0/z.npy
// RUN: arun %t/1.so --random --shape x=3x33x41x48 --threads 2 --output-dir %t/2
// RUN: diff -r %t/1 %t/2
// RUN: arun %t/0.so --random --shape x=1x2x3x48 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=1x2x3x48 --range-tol 1e-5 --expect y=%t/0/y.npy --expect z=%t/0/z.npy
// RUN: arun %t/0.so --random --shape x=2x0x5x48 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=2x0x5x48 --expect y=%t/0/y.npy --expect z=%t/0/z.npy
#x = affine_map<()[s0, s1, s2] -> (s0, s1, s2, 48)>
#y = affine_map<()[s0, s1, s2] -> (s0, s1, s2, 72)>
func.func @main(%x: tensor<?x?x?x48xf32, #x> {graph.name = "x"}, %u: tensor<16x48x72xf32> {graph.name = "u"}, %v: tensor<36x48x72xf32> {graph.name = "v"}) -> (tensor<?x?x?x72xf32, #y> {graph.name = "y"}, tensor<?x?x?x72xf32, #y> {graph.name = "z"}) attributes {graph.symbols = ["n", "h", "w"]} {
  %0 = graph.winograd_conv %x, %u {tile = 2 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<?x?x?x48xf32, #x>, tensor<16x48x72xf32>) -> tensor<?x?x?x72xf32, #y>
  %1 = graph.relu %0 : (tensor<?x?x?x72xf32, #y>) -> tensor<?x?x?x72xf32, #y>
  %2 = graph.winograd_conv %x, %v {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<?x?x?x48xf32, #x>, tensor<36x48x72xf32>) -> tensor<?x?x?x72xf32, #y>
  return %1, %2 : tensor<?x?x?x72xf32, #y>, tensor<?x?x?x72xf32, #y>
}

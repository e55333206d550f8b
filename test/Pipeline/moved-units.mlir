// A kernel stores to the destination of a transpose by dynamic sizes after a dropped unit
// dim (an image of one row, read as a sequence): also with arithmetic between, no kernel
// falls back to the reference path, and the results are those of that path.
// RUN: rm -rf %t && mkdir -p %t/0 && atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so --stats 2>&1 | FileCheck %s
// RUN: for s in 2x2x9x8 1x2x33x8 3x2x2x8; do arun %t/0.so --random --shape x=$s --output-dir %t/0 && arun %t/1.so --random --shape x=$s --range-tol 1e-5 --threads 2 --expect y=%t/0/y.npy --expect z=%t/0/z.npy || exit 1; done
// CHECK: convert-graph-to-tile: refused = 0
// CHECK: convert-host-to-llvm: launches = 4

#x = affine_map<()[s0, s1] -> (s0, 2, s1, 8)>
#c = affine_map<()[s0, s1] -> (s0, 1, s1 - 1, 40)>
#v = affine_map<()[s0, s1] -> (s0, s1 - 1, 40)>
#t = affine_map<()[s0, s1] -> (s1 - 1, s0, 40)>
#y = affine_map<()[s0, s1] -> (s1 - 1, s0, 24)>
func.func @main(%x: tensor<?x2x?x8xf32, #x> {graph.name = "x"}) -> (tensor<?x?x24xf32, #y> {graph.name = "y"}, tensor<?x?x24xf32, #y> {graph.name = "z"}) attributes {graph.symbols = ["b", "s"]} {
  %f = graph.constant dense<0.25> : tensor<40x8x2x2xf32>
  %g = graph.constant dense<-0.5> : tensor<40x8x2x2xf32>
  %w = graph.constant dense<0.125> : tensor<40x24xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %0 = graph.conv %x, %f {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<?x2x?x8xf32, #x>, tensor<40x8x2x2xf32>) -> tensor<?x1x?x40xf32, #c>
  %1 = graph.relu %0 : (tensor<?x1x?x40xf32, #c>) -> tensor<?x1x?x40xf32, #c>
  %2 = graph.reshape %1 : (tensor<?x1x?x40xf32, #c>) -> tensor<?x?x40xf32, #v>
  %3 = graph.transpose %2 {perm = array<i64: 1, 0, 2>} : (tensor<?x?x40xf32, #v>) -> tensor<?x?x40xf32, #t>
  %4 = graph.matmul %3, %w : (tensor<?x?x40xf32, #t>, tensor<40x24xf32>) -> tensor<?x?x24xf32, #y>
  %5 = graph.conv %x, %g {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<?x2x?x8xf32, #x>, tensor<40x8x2x2xf32>) -> tensor<?x1x?x40xf32, #c>
  %6 = graph.sigmoid %5 : (tensor<?x1x?x40xf32, #c>) -> tensor<?x1x?x40xf32, #c>
  %7 = graph.reshape %6 : (tensor<?x1x?x40xf32, #c>) -> tensor<?x?x40xf32, #v>
  %8 = graph.transpose %7 {perm = array<i64: 1, 0, 2>} : (tensor<?x?x40xf32, #v>) -> tensor<?x?x40xf32, #t>
  %9 = graph.mul %8, %two : (tensor<?x?x40xf32, #t>, tensor<f32>) -> tensor<?x?x40xf32, #t>
  %10 = graph.matmul %9, %w : (tensor<?x?x40xf32, #t>, tensor<40x24xf32>) -> tensor<?x?x24xf32, #y>
  return %4, %10 : tensor<?x?x24xf32, #y>, tensor<?x?x24xf32, #y>
}

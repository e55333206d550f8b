// Arithmetic after a view of moved data is computed where it is moved: reassembled
// windows with their residual, pixels of channels, channels of pixels and a product that
// is stored transposed. Same results as the reference path; the same bits with two
// threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so
// RUN: atranslate %s -o %t/1.so --stats 2>&1 | FileCheck %s
// RUN: for n in 1 3; do \
// RUN:   arun %t/0.so --random --shape x=${n}x4x4x7x7x40 --shape s=${n}x784x40 --output-dir %t/0 >/dev/null && \
// RUN:   arun %t/1.so --random --shape x=${n}x4x4x7x7x40 --shape s=${n}x784x40 --threads 1 --output-dir %t/1 --range-tol 1e-5 \
// RUN:     --expect windows=%t/0/windows.npy --expect pixels=%t/0/pixels.npy --expect channels=%t/0/channels.npy --expect product=%t/0/product.npy >/dev/null && \
// RUN:   arun %t/1.so --random --shape x=${n}x4x4x7x7x40 --shape s=${n}x784x40 --threads 2 --output-dir %t/2 >/dev/null && diff -r %t/1 %t/2 || exit 1; done

// CHECK: convert-graph-to-tile: refused = 0
// CHECK: convert-host-to-llvm: launches = 4

#w = affine_map<()[s0] -> (s0, 4, 4, 7, 7, 40)>
#t = affine_map<()[s0] -> (s0, 4, 7, 4, 7, 40)>
#y = affine_map<()[s0] -> (s0, 784, 40)>
func.func @main(%x: tensor<?x4x4x7x7x40xf32, #w> {graph.name = "x"}, %s: tensor<?x784x40xf32, #y> {graph.name = "s"},
    %p: tensor<1x12x9x11xf32> {graph.name = "p"}, %c: tensor<3x1x1xf32> {graph.name = "c"}, %i: tensor<1x3x18x22xf32> {graph.name = "i"},
    %d: tensor<12x1x1xf32> {graph.name = "d"}, %l: tensor<1x70x24xf32> {graph.name = "l"}, %r: tensor<24x40xf32> {graph.name = "r"}, %m: tensor<1x40x7x10xf32> {graph.name = "m"})
    -> (tensor<?x784x40xf32, #y> {graph.name = "windows"}, tensor<1x3x18x22xf32> {graph.name = "pixels"}, tensor<1x12x9x11xf32> {graph.name = "channels"}, tensor<1x40x7x10xf32> {graph.name = "product"})
    attributes {graph.symbols = ["n"]} {
  %1 = graph.transpose %x {perm = array<i64: 0, 1, 3, 2, 4, 5>} : (tensor<?x4x4x7x7x40xf32, #w>) -> tensor<?x4x7x4x7x40xf32, #t>
  %2 = graph.reshape %1 : (tensor<?x4x7x4x7x40xf32, #t>) -> tensor<?x784x40xf32, #y>
  %3 = graph.add %2, %s : (tensor<?x784x40xf32, #y>, tensor<?x784x40xf32, #y>) -> tensor<?x784x40xf32, #y>
  %4 = graph.tanh %3 : (tensor<?x784x40xf32, #y>) -> tensor<?x784x40xf32, #y>
  %5 = graph.reshape %p : (tensor<1x12x9x11xf32>) -> tensor<1x3x2x2x9x11xf32>
  %6 = graph.transpose %5 {perm = array<i64: 0, 1, 4, 2, 5, 3>} : (tensor<1x3x2x2x9x11xf32>) -> tensor<1x3x9x2x11x2xf32>
  %7 = graph.reshape %6 : (tensor<1x3x9x2x11x2xf32>) -> tensor<1x3x18x22xf32>
  %8 = graph.mul %7, %c : (tensor<1x3x18x22xf32>, tensor<3x1x1xf32>) -> tensor<1x3x18x22xf32>
  %9 = graph.relu %8 : (tensor<1x3x18x22xf32>) -> tensor<1x3x18x22xf32>
  %10 = graph.reshape %i : (tensor<1x3x18x22xf32>) -> tensor<1x3x9x2x11x2xf32>
  %11 = graph.transpose %10 {perm = array<i64: 0, 3, 5, 1, 2, 4>} : (tensor<1x3x9x2x11x2xf32>) -> tensor<1x2x2x3x9x11xf32>
  %12 = graph.reshape %11 : (tensor<1x2x2x3x9x11xf32>) -> tensor<1x12x9x11xf32>
  %13 = graph.add %12, %d : (tensor<1x12x9x11xf32>, tensor<12x1x1xf32>) -> tensor<1x12x9x11xf32>
  %14 = graph.matmul %l, %r : (tensor<1x70x24xf32>, tensor<24x40xf32>) -> tensor<1x70x40xf32>
  %15 = graph.transpose %14 {perm = array<i64: 0, 2, 1>} : (tensor<1x70x40xf32>) -> tensor<1x40x70xf32>
  %16 = graph.reshape %15 : (tensor<1x40x70xf32>) -> tensor<1x40x7x10xf32>
  %17 = graph.add %16, %m : (tensor<1x40x7x10xf32>, tensor<1x40x7x10xf32>) -> tensor<1x40x7x10xf32>
  return %4, %9, %13, %17 : tensor<?x784x40xf32, #y>, tensor<1x3x18x22xf32>, tensor<1x12x9x11xf32>, tensor<1x40x7x10xf32>
}

// Depthwise convolutions of channels-last images (a transpose on either side): pixels are
// the lanes, wide and narrow rows, several lines at once or one, strides, dilation,
// padding, a computed operand: same results as the reference path, and the same bits on
// one and two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s --mcache=64K,64K -o %t/1.so
// DEFINE: %{expect} = --expect ay=%t/0/ay.npy --expect by=%t/0/by.npy --expect cy=%t/0/cy.npy --expect dy=%t/0/dy.npy
// RUN: arun %t/0.so --random --output-dir %t/0
// RUN: arun %t/1.so --random --threads 1 --output-dir %t/1 --range-tol 1e-5 %{expect}
// RUN: arun %t/1.so --random --threads 2 --output-dir %t/2
// RUN: diff -r %t/1 %t/2
// For cores that load vectors in halves: overlapping loads become shuffles.
// RUN: atranslate %s --mcache=64K,64K,nontemporal_stores_stall,split_vector_loads -o %t/3.so && mkdir %t/3
// RUN: arun %t/3.so --random --threads 2 --output-dir %t/3 && diff -r %t/1 %t/3
// RUN: atranslate %s --mcache=64K,64K --emit=tile -o - | FileCheck %s

// One channel at a time, whole rows; lines with overlapping windows together.
// CHECK: tile.kernel
// CHECK: %[[LINES:.*]] = tile.param "LINES"
// CHECK-COUNT-9: tile.load %arg0[{{.*}}] sizes [320, 1, %[[LINES]]] dims [3, 1, 2]
// CHECK-NOT: tile.load %arg0
// CHECK: tile.kernel
// CHECK-NOT: LINES
// CHECK: tile.load %arg0[{{.*}}] sizes [22, 1] dims [3, 1] strides [2, 1]
// CHECK: tile.kernel
func.func @main(
    %a: tensor<2x5x33x320xf32> {graph.name = "a"}, %aw: tensor<5x1x3x3xf32> {graph.name = "aw"},
    %b: tensor<1x7x40x43xf32> {graph.name = "b"}, %bw: tensor<7x1x5x5xf32> {graph.name = "bw"},
    %bb: tensor<7xf32> {graph.name = "bb"},
    %c: tensor<1x9x11x9xf32> {graph.name = "c"}, %cw: tensor<9x1x3x3xf32> {graph.name = "cw"},
    %d: tensor<1x3x11x331xf32> {graph.name = "d"}, %dw: tensor<3x1x4x2xf32> {graph.name = "dw"}) -> (
    tensor<2x5x33x320xf32> {graph.name = "ay"}, tensor<1x7x20x22xf32> {graph.name = "by"},
    tensor<1x9x11x9xf32> {graph.name = "cy"}, tensor<1x3x11x331xf32> {graph.name = "dy"}) {
  %a0 = graph.transpose %a {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x5x33x320xf32>) -> tensor<2x33x320x5xf32>
  %a1 = graph.conv %a0, %aw {group = 5 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x33x320x5xf32>, tensor<5x1x3x3xf32>) -> tensor<2x33x320x5xf32>
  %ay = graph.transpose %a1 {perm = array<i64: 0, 3, 1, 2>} : (tensor<2x33x320x5xf32>) -> tensor<2x5x33x320xf32>
  %b0 = graph.transpose %b {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x7x40x43xf32>) -> tensor<1x40x43x7xf32>
  %b1 = graph.conv %b0, %bw, %bb {group = 7 : i64, strides = array<i64: 2, 2>, pads = array<i64: 4, 4, 3, 4>, dilations = array<i64: 2, 2>, layout = #graph.layout<nhwc>} : (tensor<1x40x43x7xf32>, tensor<7x1x5x5xf32>, tensor<7xf32>) -> tensor<1x20x22x7xf32>
  %b2 = graph.relu %b1 : (tensor<1x20x22x7xf32>) -> tensor<1x20x22x7xf32>
  %by = graph.transpose %b2 {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x20x22x7xf32>) -> tensor<1x7x20x22xf32>
  %c0 = graph.transpose %c {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x9x11x9xf32>) -> tensor<1x11x9x9xf32>
  %c1 = graph.conv %c0, %cw {group = 9 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x11x9x9xf32>, tensor<9x1x3x3xf32>) -> tensor<1x11x9x9xf32>
  %cy = graph.transpose %c1 {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x11x9x9xf32>) -> tensor<1x9x11x9xf32>
  %ds = graph.sigmoid %d : (tensor<1x3x11x331xf32>) -> tensor<1x3x11x331xf32>
  %d0 = graph.transpose %ds {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x11x331xf32>) -> tensor<1x11x331x3xf32>
  %d1 = graph.conv %d0, %dw {group = 3 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 0, 2, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x11x331x3xf32>, tensor<3x1x4x2xf32>) -> tensor<1x11x331x3xf32>
  %dy = graph.transpose %d1 {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x11x331x3xf32>) -> tensor<1x3x11x331xf32>
  return %ay, %by, %cy, %dy : tensor<2x5x33x320xf32>, tensor<1x7x20x22xf32>, tensor<1x9x11x9xf32>, tensor<1x3x11x331xf32>
}

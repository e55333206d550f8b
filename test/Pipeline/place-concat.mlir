// Concats whose operands are stored in place: windows, products, pooling, resizing and
// sums in channels-last images, operands with other users, in two concats and as results,
// a dense block, a copied input. Same results as the reference path, with a symbolic
// batch and a static one; the same bits with two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2 %t/s
// RUN: atranslate -O0 %s -o %t/0.so
// RUN: atranslate %s --report=%t/report.json -o %t/1.so --stats 2>&1 | FileCheck %s
// RUN: sed -e 's/?x/3x/g; s/, #[a-z]>/>/g; s/, affine_map<()\[s0\] -> ([^)]*)>//g' %s > %t/static.mlir
// RUN: atranslate %t/static.mlir -o %t/s.so
// RUN: arun %t/0.so --random --shape x=3x16x10x6 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=3x16x10x6 --threads 1 --output-dir %t/1 --range-tol 1e-5 \
// RUN:   --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy
// RUN: arun %t/1.so --random --shape x=3x16x10x6 --threads 2 --output-dir %t/2
// RUN: diff -r %t/1 %t/2
// RUN: arun %t/s.so --random --output-dir %t/s --range-tol 1e-5 \
// RUN:   --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t/report.json

// CHECK: convert-graph-to-tile: refused = 0
// CHECK: graph-place-concat: concats = 4

// A kernel reads and writes its operand, not the tensors around it; this one writes it to
// two.
// REPORT: "name": "slice_resize_insert_slice_insert_slice_0"
// REPORT: "bytes_read": 1440
// REPORT-NEXT: "bytes_written": 11520

#x = affine_map<()[s0] -> (s0, 16, 10, 6)>
#h = affine_map<()[s0] -> (s0, 16, 5, 3)>
#q = affine_map<()[s0] -> (s0, 8, 5, 3)>
#c = affine_map<()[s0] -> (s0, 24, 10, 6)>
#w = affine_map<()[s0] -> (s0, 40, 10, 6)>
#d = affine_map<()[s0] -> (s0, 40, 5, 3)>
func.func @main(%x: tensor<?x16x10x6xf32, #x> {graph.name = "x"}, %f: tensor<16x16x3x3xf32> {graph.name = "f"}, %g: tensor<8x16x1x1xf32> {graph.name = "g"}, %v: tensor<8x24x1x1xf32> {graph.name = "v"})
    -> (tensor<?x40x10x6xf32, #w> {graph.name = "a"}, tensor<?x24x10x6xf32, #c> {graph.name = "b"}, tensor<?x40x5x3xf32, #d> {graph.name = "c"}, tensor<?x16x10x6xf32, #x> {graph.name = "d"})
    attributes {graph.symbols = ["n"], graph.symbol_ranges = [array<i64: 1, 64, 3>]} {
  %0 = graph.conv %x, %f {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x16x10x6xf32, #x>, tensor<16x16x3x3xf32>) -> tensor<?x16x10x6xf32, #x>
  %1 = graph.silu %0 : (tensor<?x16x10x6xf32, #x>) -> tensor<?x16x10x6xf32, #x>
  %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x16x10x6xf32, #x>) -> tensor<?x16x5x3xf32, #h>
  %3 = graph.conv %2, %g {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x16x5x3xf32, #h>, tensor<8x16x1x1xf32>) -> tensor<?x8x5x3xf32, #q>
  %4 = graph.relu %3 : (tensor<?x8x5x3xf32, #q>) -> tensor<?x8x5x3xf32, #q>
  // A dense block.
  %5 = graph.concat %2, %4 {axis = 1 : i64} : (tensor<?x16x5x3xf32, #h>, tensor<?x8x5x3xf32, #q>) -> tensor<?x24x5x3xf32, affine_map<()[s0] -> (s0, 24, 5, 3)>>
  %6 = graph.tanh %5 : (tensor<?x24x5x3xf32, affine_map<()[s0] -> (s0, 24, 5, 3)>>) -> tensor<?x24x5x3xf32, affine_map<()[s0] -> (s0, 24, 5, 3)>>
  %7 = graph.conv %6, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x24x5x3xf32, affine_map<()[s0] -> (s0, 24, 5, 3)>>, tensor<8x24x1x1xf32>) -> tensor<?x8x5x3xf32, #q>
  %8 = graph.concat %2, %4, %7, %4 {axis = 1 : i64} : (tensor<?x16x5x3xf32, #h>, tensor<?x8x5x3xf32, #q>, tensor<?x8x5x3xf32, #q>, tensor<?x8x5x3xf32, #q>) -> tensor<?x40x5x3xf32, #d>
  // Repeated elements, a sum with the previous contents, an input.
  %9 = graph.resize %4 {mode = #graph.resize_mode<nearest>, coordinates = #graph.coordinates<asymmetric>, nearest_mode = #graph.nearest_mode<floor>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>} : (tensor<?x8x5x3xf32, #q>) -> tensor<?x8x10x6xf32, affine_map<()[s0] -> (s0, 8, 10, 6)>>
  %10 = graph.conv %1, %f {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x16x10x6xf32, #x>, tensor<16x16x3x3xf32>) -> tensor<?x16x10x6xf32, #x>
  %11 = graph.add %10, %1 : (tensor<?x16x10x6xf32, #x>, tensor<?x16x10x6xf32, #x>) -> tensor<?x16x10x6xf32, #x>
  %12 = graph.concat %1, %9, %11 {axis = 1 : i64} : (tensor<?x16x10x6xf32, #x>, tensor<?x8x10x6xf32, affine_map<()[s0] -> (s0, 8, 10, 6)>>, tensor<?x16x10x6xf32, #x>) -> tensor<?x40x10x6xf32, #w>
  %13 = graph.concat %9, %x {axis = 1 : i64} : (tensor<?x8x10x6xf32, affine_map<()[s0] -> (s0, 8, 10, 6)>>, tensor<?x16x10x6xf32, #x>) -> tensor<?x24x10x6xf32, #c>
  return %12, %13, %8, %11 : tensor<?x40x10x6xf32, #w>, tensor<?x24x10x6xf32, #c>, tensor<?x40x5x3xf32, #d>, tensor<?x16x10x6xf32, #x>
}

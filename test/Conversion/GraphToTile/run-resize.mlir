// Resizing along the lanes and across them, with each kind of neighbours, of static and
// dynamic sizes, besides other ops: same results as the reference path, and the same bits
// on one and two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2 %t/3
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so && atranslate --mcpu=x86-64-v3 %s -o %t/3.so
// DEFINE: %{shapes} = --shape d=1x11x20 --shape i=1x13x20
// DEFINE: %{expect} = --expect p=%t/0/p.npy --expect q=%t/0/q.npy --expect r=%t/0/r.npy --expect s=%t/0/s.npy --expect t=%t/0/t.npy --expect u=%t/0/u.npy --expect v=%t/0/v.npy --expect w=%t/0/w.npy
// RUN: arun %t/0.so --random %{shapes} --output-dir %t/0
// RUN: arun %t/1.so --random %{shapes} --threads 1 --output-dir %t/1 --range-tol 1e-5 %{expect}
// RUN: arun %t/1.so --random %{shapes} --threads 2 --output-dir %t/2
// RUN: diff -r %t/1 %t/2
// RUN: arun %t/3.so --random %{shapes} --threads 1 --output-dir %t/3 --range-tol 1e-5 %{expect}
#d = affine_map<()[s0, s1] -> (1, s0, 20)>
#i = affine_map<()[s0, s1] -> (1, s1, 20)>
func.func @main(
    %a: tensor<2x7x9x21xf32> {graph.name = "a"}, %b: tensor<1x3x8x10xf32> {graph.name = "b"},
    %c: tensor<2x5x6xf64> {graph.name = "c"}, %d: tensor<1x?x20xf32, #d> {graph.name = "d"},
    %i: tensor<1x?x20xf32, #i> {graph.name = "i"}, %f: tensor<1x6x5x32xf32> {graph.name = "f"}) -> (
    tensor<2x15x20x21xf32> {graph.name = "p"}, tensor<1x3x21x37xf32> {graph.name = "q"},
    tensor<2x9x14xf64> {graph.name = "r"}, tensor<1x?x20xf32, #i> {graph.name = "s"},
    tensor<1x12x10x32xf32> {graph.name = "t"}, tensor<1x3x2x3xf32> {graph.name = "u"},
    tensor<1x3x11x13xf32> {graph.name = "v"}, tensor<1x9x7x32xf32> {graph.name = "w"})
    attributes {graph.symbols = ["m", "n"]} {
  // With an epilogue that reads the same positions.
  %p0 = graph.resize %a {mode = #graph.resize_mode<linear>} : (tensor<2x7x9x21xf32>) -> tensor<2x15x20x21xf32>
  %p1 = graph.sin %p0 : (tensor<2x15x20x21xf32>) -> tensor<2x15x20x21xf32>
  %p = graph.mul %p0, %p1 : (tensor<2x15x20x21xf32>, tensor<2x15x20x21xf32>) -> tensor<2x15x20x21xf32>
  %q = graph.resize %b {mode = #graph.resize_mode<linear>, coordinates = #graph.coordinates<align_corners>} : (tensor<1x3x8x10xf32>) -> tensor<1x3x21x37xf32>
  %r = graph.resize %c {mode = #graph.resize_mode<cubic>, exclude_outside = true, coordinates = #graph.coordinates<pytorch_half_pixel>} : (tensor<2x5x6xf64>) -> tensor<2x9x14xf64>
  %s0 = graph.resize %d {mode = #graph.resize_mode<linear>} : (tensor<1x?x20xf32, #d>) -> tensor<1x?x20xf32, #i>
  %s = graph.add %s0, %i : (tensor<1x?x20xf32, #i>, tensor<1x?x20xf32, #i>) -> tensor<1x?x20xf32, #i>
  %t = graph.resize %f {mode = #graph.resize_mode<cubic>, scales = array<f64: 1.0, 2.0, 2.0, 1.0>} : (tensor<1x6x5x32xf32>) -> tensor<1x12x10x32xf32>
  // Smaller: each element depends on all that it covers.
  %u = graph.resize %b {mode = #graph.resize_mode<linear>, antialias = true} : (tensor<1x3x8x10xf32>) -> tensor<1x3x2x3xf32>
  %v = graph.resize %b {nearest_mode = #graph.nearest_mode<round_prefer_ceil>} : (tensor<1x3x8x10xf32>) -> tensor<1x3x11x13xf32>
  %w = graph.resize %f {coordinates = #graph.coordinates<half_pixel_symmetric>, nearest_mode = #graph.nearest_mode<ceil>} : (tensor<1x6x5x32xf32>) -> tensor<1x9x7x32xf32>
  return %p, %q, %r, %s, %t, %u, %v, %w : tensor<2x15x20x21xf32>, tensor<1x3x21x37xf32>, tensor<2x9x14xf64>, tensor<1x?x20xf32, #i>, tensor<1x12x10x32xf32>, tensor<1x3x2x3xf32>, tensor<1x3x11x13xf32>, tensor<1x9x7x32xf32>
}

// Convolutions of few outputs, whose pixels are the lanes: several inputs, one input and
// one output, windows that exceed the registers, dilation, a stride of the lines, uneven
// padding, one and three spatial dims, after a channels-last convolution, with an
// epilogue: same results as the reference path, and the same bits on one and two threads,
// for static and dynamic sizes.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// DEFINE: %{h} = 9
// DEFINE: %{w} = 40
// DEFINE: %{shape} = --shape u=2x3x%{h}x%{w}
// DEFINE: %{check} = arun %t/0.so --random %{shape} --output-dir %t/0 && \
// DEFINE:   arun %t/1.so --random %{shape} --threads 1 --output-dir %t/1 --range-tol 1e-5 --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy --expect e=%t/0/e.npy --expect f=%t/0/f.npy && \
// DEFINE:   arun %t/1.so --random %{shape} --threads 2 --output-dir %t/2 && \
// DEFINE:   diff -r %t/1 %t/2
// RUN: %{check}
// REDEFINE: %{h} = 1
// REDEFINE: %{w} = 1
// RUN: %{check}
// REDEFINE: %{h} = 4
// REDEFINE: %{w} = 16
// RUN: %{check}
// REDEFINE: %{h} = 3
// REDEFINE: %{w} = 131
// RUN: %{check}
// REDEFINE: %{h} = 17
// REDEFINE: %{w} = 515
// RUN: %{check}

#u = affine_map<()[s0, s1] -> (2, 3, s0, s1)>
#e = affine_map<()[s0, s1] -> (2, 2, s0, s1)>
#f = affine_map<()[s0, s1] -> (2, 12, s0, s1)>
func.func @main(
    %x: tensor<2x5x21x70xf32> {graph.name = "x"}, %xw: tensor<4x5x3x3xf32> {graph.name = "xw"}, %xb: tensor<4xf32> {graph.name = "xb"},
    %p: tensor<1x1x11x33xf32> {graph.name = "p"}, %pw: tensor<1x1x5x5xf32> {graph.name = "pw"},
    %l: tensor<1x9x300xf32> {graph.name = "l"}, %lw: tensor<2x9x7xf32> {graph.name = "lw"},
    %v: tensor<1x2x4x5x18xf32> {graph.name = "v"}, %vw: tensor<1x2x3x3x3xf32> {graph.name = "vw"},
    %u: tensor<2x3x?x?xf32, #u> {graph.name = "u"}, %uw: tensor<2x3x9x9xf32> {graph.name = "uw"}, %ub: tensor<2xf32> {graph.name = "ub"},
    %g: tensor<12x3x3x3xf32> {graph.name = "g"}, %gw: tensor<3x12x5x5xf32> {graph.name = "gw"}) -> (
    tensor<2x4x21x70xf32> {graph.name = "a"}, tensor<1x1x6x33xf32> {graph.name = "b"}, tensor<1x2x298xf32> {graph.name = "c"},
    tensor<1x1x4x5x18xf32> {graph.name = "d"}, tensor<2x2x?x?xf32, #e> {graph.name = "e"}, tensor<2x3x?x?xf32, #u> {graph.name = "f"})
    attributes {graph.symbols = ["h", "w"]} {
  %0 = graph.conv %x, %xw, %xb {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<2x5x21x70xf32>, tensor<4x5x3x3xf32>, tensor<4xf32>) -> tensor<2x4x21x70xf32>
  %a = graph.tanh %0 : (tensor<2x4x21x70xf32>) -> tensor<2x4x21x70xf32>
  %b = graph.conv %p, %pw {strides = array<i64: 2, 1>, pads = array<i64: 4, 4, 4, 4>, dilations = array<i64: 2, 2>} : (tensor<1x1x11x33xf32>, tensor<1x1x5x5xf32>) -> tensor<1x1x6x33xf32>
  %c = graph.conv %l, %lw {strides = array<i64: 1>, pads = array<i64: 0, 4>, dilations = array<i64: 1>} : (tensor<1x9x300xf32>, tensor<2x9x7xf32>) -> tensor<1x2x298xf32>
  %d = graph.conv %v, %vw {strides = array<i64: 1, 1, 1>, pads = array<i64: 1, 1, 1, 1, 1, 1>, dilations = array<i64: 1, 1, 1>} : (tensor<1x2x4x5x18xf32>, tensor<1x2x3x3x3xf32>) -> tensor<1x1x4x5x18xf32>
  %e = graph.conv %u, %uw, %ub {strides = array<i64: 1, 1>, pads = array<i64: 4, 4, 4, 4>, dilations = array<i64: 1, 1>} : (tensor<2x3x?x?xf32, #u>, tensor<2x3x9x9xf32>, tensor<2xf32>) -> tensor<2x2x?x?xf32, #e>
  %1 = graph.conv %u, %g {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<2x3x?x?xf32, #u>, tensor<12x3x3x3xf32>) -> tensor<2x12x?x?xf32, #f>
  %2 = graph.relu %1 : (tensor<2x12x?x?xf32, #f>) -> tensor<2x12x?x?xf32, #f>
  %3 = graph.conv %2, %gw {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>} : (tensor<2x12x?x?xf32, #f>, tensor<3x12x5x5xf32>) -> tensor<2x3x?x?xf32, #u>
  %f = graph.add %3, %u : (tensor<2x3x?x?xf32, #u>, tensor<2x3x?x?xf32, #u>) -> tensor<2x3x?x?xf32, #u>
  return %a, %b, %c, %d, %e, %f : tensor<2x4x21x70xf32>, tensor<1x1x6x33xf32>, tensor<1x2x298xf32>, tensor<1x1x4x5x18xf32>, tensor<2x2x?x?xf32, #e>, tensor<2x3x?x?xf32, #u>
}

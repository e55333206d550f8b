// Depthwise convolutions of dynamic height and width: the interior of a row is determined
// at run time, and blocks of pixels at its border read padding, and nothing after the
// last pixel. Rows of one pixel, of borders only, of a part of a block, of one block and
// of more, the last of which is whole, half or less, strides, dilation, uneven padding,
// channels that are not a multiple of a vector, a sum: same results as the reference
// path, and the same bits on one and two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// DEFINE: %{h} = 9
// DEFINE: %{w} = 40
// DEFINE: %{shape} = --shape x=2x%{h}x%{w}x40
// DEFINE: %{check} = arun %t/0.so --random %{shape} --output-dir %t/0 && \
// DEFINE:   arun %t/1.so --random %{shape} --threads 1 --output-dir %t/1 --range-tol 1e-5 --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy && \
// DEFINE:   arun %t/1.so --random %{shape} --threads 2 --output-dir %t/2 && \
// DEFINE:   diff -r %t/1 %t/2
// RUN: %{check}
// REDEFINE: %{h} = 1
// REDEFINE: %{w} = 1
// RUN: %{check}
// REDEFINE: %{h} = 4
// REDEFINE: %{w} = 2
// RUN: %{check}
// REDEFINE: %{w} = 7
// RUN: %{check}
// REDEFINE: %{w} = 12
// RUN: %{check}
// REDEFINE: %{w} = 21
// RUN: %{check}
// REDEFINE: %{w} = 131
// RUN: %{check}

#x = affine_map<()[s0, s1] -> (2, s0, s1, 40)>
#s = affine_map<()[s0, s1] -> (2, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 40)>
func.func @main(%x: tensor<2x?x?x40xf32, #x> {graph.name = "x"}, %u: tensor<40x1x3x3xf32> {graph.name = "u"},
                %v: tensor<40x1x5x5xf32> {graph.name = "v"}, %d: tensor<40xf32> {graph.name = "d"})
    -> (tensor<2x?x?x40xf32, #x> {graph.name = "a"}, tensor<2x?x?x40xf32, #s> {graph.name = "b"},
        tensor<2x?x?x40xf32, #x> {graph.name = "c"}) attributes {graph.symbols = ["h", "w"]} {
  %0 = graph.conv %x, %u, %d {group = 40 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x?x?x40xf32, #x>, tensor<40x1x3x3xf32>, tensor<40xf32>) -> tensor<2x?x?x40xf32, #x>
  %1 = graph.relu %0 : (tensor<2x?x?x40xf32, #x>) -> tensor<2x?x?x40xf32, #x>
  %a = graph.add %1, %x : (tensor<2x?x?x40xf32, #x>, tensor<2x?x?x40xf32, #x>) -> tensor<2x?x?x40xf32, #x>
  %b = graph.conv %x, %v {group = 40 : i64, strides = array<i64: 2, 2>, pads = array<i64: 1, 3, 3, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x?x?x40xf32, #x>, tensor<40x1x5x5xf32>) -> tensor<2x?x?x40xf32, #s>
  %c = graph.conv %x, %u {group = 40 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 2, 3, 2>, dilations = array<i64: 2, 2>, layout = #graph.layout<nhwc>} : (tensor<2x?x?x40xf32, #x>, tensor<40x1x3x3xf32>) -> tensor<2x?x?x40xf32, #x>
  return %a, %b, %c : tensor<2x?x?x40xf32, #x>, tensor<2x?x?x40xf32, #s>, tensor<2x?x?x40xf32, #x>
}

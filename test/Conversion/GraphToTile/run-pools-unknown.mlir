// Channels-last max pooling of dynamic height and width: blocks of pixels at the border
// of a row read padding that does not affect the maximum (all elements are negative), and
// store no pixel after the last one.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// DEFINE: %{h} = 6
// DEFINE: %{w} = 40
// DEFINE: %{shape} = --shape x=2x%{h}x%{w}x40
// DEFINE: %{check} = arun %t/0.so --random %{shape} --output-dir %t/0 && \
// DEFINE:   arun %t/1.so --random %{shape} --threads 1 --output-dir %t/1 --range-tol 0 --expect a=%t/0/a.npy --expect b=%t/0/b.npy && \
// DEFINE:   arun %t/1.so --random %{shape} --threads 2 --output-dir %t/2 && \
// DEFINE:   diff -r %t/1 %t/2
// RUN: %{check}
// REDEFINE: %{h} = 2
// REDEFINE: %{w} = 3
// RUN: %{check}
// REDEFINE: %{w} = 7
// RUN: %{check}
// REDEFINE: %{w} = 13
// RUN: %{check}
// REDEFINE: %{w} = 131
// RUN: %{check}

#x = affine_map<()[s0, s1] -> (2, s0, s1, 40)>
#s = affine_map<()[s0, s1] -> (2, (s0 + 1) floordiv 2, (s1 + 1) floordiv 2, 40)>
func.func @main(%x: tensor<2x?x?x40xf32, #x> {graph.name = "x"})
    -> (tensor<2x?x?x40xf32, #x> {graph.name = "a"}, tensor<2x?x?x40xf32, #s> {graph.name = "b"}) attributes {graph.symbols = ["h", "w"]} {
  %0 = graph.abs %x : (tensor<2x?x?x40xf32, #x>) -> tensor<2x?x?x40xf32, #x>
  %1 = graph.neg %0 : (tensor<2x?x?x40xf32, #x>) -> tensor<2x?x?x40xf32, #x>
  %a = graph.max_pool %1 {kernel = array<i64: 5, 5>, strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x?x?x40xf32, #x>) -> tensor<2x?x?x40xf32, #x>
  %b = graph.max_pool %1 {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x?x?x40xf32, #x>) -> tensor<2x?x?x40xf32, #s>
  return %a, %b : tensor<2x?x?x40xf32, #x>, tensor<2x?x?x40xf32, #s>
}

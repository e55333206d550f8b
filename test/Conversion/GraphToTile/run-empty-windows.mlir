// Windows that consist of padding have no step over the input; their results are stored
// nevertheless, to memory that had other contents before.
// RUN: rm -rf %t && mkdir -p %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so
// DEFINE: %{size} =
// DEFINE: %{check} = arun %t/0.so --random --shape x=%{size} --output-dir %t && arun %t/2.so --random --shape x=%{size} --range-tol 1e-5 --expect y=%t/y.npy
// REDEFINE: %{size} = 1x8x1x3
// RUN: %{check}
// REDEFINE: %{size} = 1x8x2x4
// RUN: %{check}
// REDEFINE: %{size} = 1x8x5x9
// RUN: %{check}
// REDEFINE: %{size} = 1x8x7x2
// RUN: %{check}
// REDEFINE: %{size} = 1x8x11x130
// RUN: %{check}
#in = affine_map<()[s0, s1] -> (1, 8, s0, s1)>
#half = affine_map<()[s0, s1] -> (1, 8, (s0 + 1) floordiv 2, s1)>
#conv = affine_map<()[s0, s1] -> (1, 16, (s0 + 3) floordiv 4 + 1, s1)>
#out = affine_map<()[s0, s1] -> (1, 16, (s0 + 7) floordiv 8, s1 floordiv 2)>
func.func @main(%x: tensor<1x8x?x?xf32, #in> {graph.name = "x"}) -> (tensor<1x16x?x?xf32, #out> {graph.name = "y"}) attributes {graph.symbols = ["", ""]} {
  %w = graph.constant dense<[[[[0.5, -2.0]]], [[[1.0, 0.25]]], [[[-1.5, 0.75]]], [[[2.0, 1.0]]], [[[0.5, 3.0]]], [[[1.0, -0.25]]], [[[1.5, 0.75]]], [[[-2.0, 1.0]]], [[[0.5, -2.0]]], [[[1.0, 0.5]]], [[[-1.5, 0.75]]], [[[2.0, 1.5]]], [[[0.5, 3.0]]], [[[1.0, -0.75]]], [[[1.5, 0.75]]], [[[-2.0, 1.0]]]]> : tensor<16x1x1x2xf32>
  %0 = graph.max_pool %x {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 1>, pads = array<i64: 0, 0, 2, 0>, strides = array<i64: 2, 1>} : (tensor<1x8x?x?xf32, #in>) -> tensor<1x8x?x?xf32, #half>
  %1 = graph.conv %0, %w {dilations = array<i64: 2, 1>, group = 8 : i64, pads = array<i64: 1, 1, 1, 0>, strides = array<i64: 2, 1>} : (tensor<1x8x?x?xf32, #half>, tensor<16x1x1x2xf32>) -> tensor<1x16x?x?xf32, #conv>
  %2 = graph.max_pool %1 {dilations = array<i64: 2, 2>, kernel = array<i64: 2, 3>, pads = array<i64: 0, 1, 1, 2>, strides = array<i64: 2, 2>} : (tensor<1x16x?x?xf32, #conv>) -> tensor<1x16x?x?xf32, #out>
  return %2 : tensor<1x16x?x?xf32, #out>
}

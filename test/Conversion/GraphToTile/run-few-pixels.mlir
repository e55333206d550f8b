// Winograd convolutions of images of dynamic size have the taps of the filter after its
// transformed form: images of few pixels use these, others Winograd. One pixel, a row, a
// column, images near the threshold, batches, none; constant filters and, for a tile of
// 2, others; a bias or a residual. Same results as the reference path, and the same bits
// on one and two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s --emit=tile -o %t.text.mlir && FileCheck %s < %t.text.mlir
// CHECK-COUNT-2: tile.kernel {{.*}}CHANNELS = 64
// RUN: atranslate %s -o %t/1.so
// DEFINE: %{shape} = 1x1x1x64
// DEFINE: %{check} = arun %t/0.so --random --shape x=%{shape} --output-dir %t/0 && \
// DEFINE:   arun %t/1.so --random --shape x=%{shape} --threads 1 --output-dir %t/1 --range-tol 1e-5 --expect y=%t/0/y.npy --expect z=%t/0/z.npy && \
// DEFINE:   arun %t/1.so --random --shape x=%{shape} --threads 2 --output-dir %t/2 && \
// DEFINE:   diff -r %t/1 %t/2
// RUN: %{check}
// REDEFINE: %{shape} = 1x1x9x64
// RUN: %{check}
// REDEFINE: %{shape} = 2x5x1x64
// RUN: %{check}
// REDEFINE: %{shape} = 1x2x2x64
// RUN: %{check}
// REDEFINE: %{shape} = 1x4x4x64
// RUN: %{check}
// REDEFINE: %{shape} = 1x5x7x64
// RUN: %{check}
// REDEFINE: %{shape} = 1x8x8x64
// RUN: %{check}
// REDEFINE: %{shape} = 7x1x1x64
// RUN: %{check}
// REDEFINE: %{shape} = 3x13x10x64
// RUN: %{check}
// REDEFINE: %{shape} = 2x0x3x64
// RUN: %{check}

#x = affine_map<()[s0, s1, s2] -> (s0, s1, s2, 64)>
func.func @main(%x: tensor<?x?x?x64xf32, #x> {graph.name = "x"}, %v: tensor<64x64x3x3xf32> {graph.name = "v"}, %d: tensor<64xf32> {graph.name = "d"})
    -> (tensor<?x?x?x64xf32, #x> {graph.name = "y"}, tensor<?x?x?x64xf32, #x> {graph.name = "z"}) attributes {graph.symbols = ["n", "h", "w"]} {
  %a = graph.constant dense<0.01> : tensor<64x64x3x3xf32>
  %taps = graph.constant dense<[[[[0.3, -0.2, 0.1], [0.6, -0.5, 0.4], [0.9, -0.8, 0.7]]]]> : tensor<1x1x3x3xf32>
  %outs = graph.constant dense<[[[[-0.4844]]], [[[0.0938]]], [[[-0.3281]]], [[[0.2500]]], [[[-0.1719]]], [[[0.4062]]], [[[-0.0156]]], [[[-0.4375]]], [[[0.1406]]], [[[-0.2812]]], [[[0.2969]]], [[[-0.1250]]], [[[0.4531]]], [[[0.0312]]], [[[-0.3906]]], [[[0.1875]]], [[[-0.2344]]], [[[0.3438]]], [[[-0.0781]]], [[[0.5000]]], [[[0.0781]]], [[[-0.3438]]], [[[0.2344]]], [[[-0.1875]]], [[[0.3906]]], [[[-0.0312]]], [[[-0.4531]]], [[[0.1250]]], [[[-0.2969]]], [[[0.2812]]], [[[-0.1406]]], [[[0.4375]]], [[[0.0156]]], [[[-0.4062]]], [[[0.1719]]], [[[-0.2500]]], [[[0.3281]]], [[[-0.0938]]], [[[0.4844]]], [[[0.0625]]], [[[-0.3594]]], [[[0.2188]]], [[[-0.2031]]], [[[0.3750]]], [[[-0.0469]]], [[[-0.4688]]], [[[0.1094]]], [[[-0.3125]]], [[[0.2656]]], [[[-0.1562]]], [[[0.4219]]], [[[0.0000]]], [[[-0.4219]]], [[[0.1562]]], [[[-0.2656]]], [[[0.3125]]], [[[-0.1094]]], [[[0.4688]]], [[[0.0469]]], [[[-0.3750]]], [[[0.2031]]], [[[-0.2188]]], [[[0.3594]]], [[[-0.0625]]]]> : tensor<64x1x1x1xf32>
  %ins = graph.constant dense<[[[[-0.4688]], [[-0.1094]], [[0.2500]], [[-0.3906]], [[-0.0312]], [[0.3281]], [[-0.3125]], [[0.0469]], [[0.4062]], [[-0.2344]], [[0.1250]], [[0.4844]], [[-0.1562]], [[0.2031]], [[-0.4375]], [[-0.0781]], [[0.2812]], [[-0.3594]], [[0.0000]], [[0.3594]], [[-0.2812]], [[0.0781]], [[0.4375]], [[-0.2031]], [[0.1562]], [[0.5156]], [[-0.1250]], [[0.2344]], [[-0.4062]], [[-0.0469]], [[0.3125]], [[-0.3281]], [[0.0312]], [[0.3906]], [[-0.2500]], [[0.1094]], [[0.4688]], [[-0.1719]], [[0.1875]], [[-0.4531]], [[-0.0938]], [[0.2656]], [[-0.3750]], [[-0.0156]], [[0.3438]], [[-0.2969]], [[0.0625]], [[0.4219]], [[-0.2188]], [[0.1406]], [[0.5000]], [[-0.1406]], [[0.2188]], [[-0.4219]], [[-0.0625]], [[0.2969]], [[-0.3438]], [[0.0156]], [[0.3750]], [[-0.2656]], [[0.0938]], [[0.4531]], [[-0.1875]], [[0.1719]]]]> : tensor<1x64x1x1xf32>
  %b = graph.add %a, %outs : (tensor<64x64x3x3xf32>, tensor<64x1x1x1xf32>) -> tensor<64x64x3x3xf32>
  %c = graph.add %b, %ins : (tensor<64x64x3x3xf32>, tensor<1x64x1x1xf32>) -> tensor<64x64x3x3xf32>
  %w = graph.mul %c, %taps : (tensor<64x64x3x3xf32>, tensor<1x1x3x3xf32>) -> tensor<64x64x3x3xf32>
  %0 = graph.conv %x, %w, %d {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<?x?x?x64xf32, #x>, tensor<64x64x3x3xf32>, tensor<64xf32>) -> tensor<?x?x?x64xf32, #x>
  %y = graph.relu %0 : (tensor<?x?x?x64xf32, #x>) -> tensor<?x?x?x64xf32, #x>
  %m = graph.constant dense<[[1.0, -0.5, -0.5, -0.0, -0.5, 0.25, 0.25, 0.0, -0.5, 0.25, 0.25, 0.0, -0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, -0.5, 0.5, -0.0, -0.0, 0.25, -0.25, 0.0, -0.0, 0.25, -0.25, 0.0, -0.0, 0.0, -0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, -0.5, -0.5, -1.0, -0.0, 0.25, 0.25, 0.5, -0.0, 0.25, 0.25, 0.5, -0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, -0.0, -0.0, -0.0, -0.5, 0.25, 0.25, 0.0, 0.5, -0.25, -0.25, -0.0, -0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, -0.0, 0.0, -0.0, -0.0, 0.25, -0.25, 0.0, 0.0, -0.25, 0.25, -0.0, -0.0, 0.0, -0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0, -0.0, -0.0, -0.0, -0.0, 0.25, 0.25, 0.5, 0.0, -0.25, -0.25, -0.5, -0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, -0.0, -0.0, -0.0, -0.5, 0.25, 0.25, 0.0, -0.5, 0.25, 0.25, 0.0, -1.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0], [0.0, -0.0, 0.0, -0.0, -0.0, 0.25, -0.25, 0.0, -0.0, 0.25, -0.25, 0.0, -0.0, 0.5, -0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0], [0.0, -0.0, -0.0, -0.0, -0.0, 0.25, 0.25, 0.5, -0.0, 0.25, 0.25, 0.5, -0.0, 0.5, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]> : tensor<9x25xf32>
  %1 = graph.reshape %v : (tensor<64x64x3x3xf32>) -> tensor<4096x9xf32>
  %2 = graph.matmul %1, %m : (tensor<4096x9xf32>, tensor<9x25xf32>) -> tensor<4096x25xf32>
  %3 = graph.reshape %2 : (tensor<4096x25xf32>) -> tensor<64x64x25xf32>
  %u = graph.transpose %3 {perm = array<i64: 2, 1, 0>} : (tensor<64x64x25xf32>) -> tensor<25x64x64xf32>
  %4 = graph.winograd_conv %x, %u {tile = 2 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<?x?x?x64xf32, #x>, tensor<25x64x64xf32>) -> tensor<?x?x?x64xf32, #x>
  %z = graph.add %4, %x : (tensor<?x?x?x64xf32, #x>, tensor<?x?x?x64xf32, #x>) -> tensor<?x?x?x64xf32, #x>
  return %y, %z : tensor<?x?x?x64xf32, #x>, tensor<?x?x?x64xf32, #x>
}

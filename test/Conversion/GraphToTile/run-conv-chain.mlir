// Consecutive convolutions in one kernel, row by row: padding at the border of the image
// and of bands, strides of 1 and 2, windows of 3 and 5 and dilated ones, padding on one
// side, none, heights that bands do not divide, channels that fill no vector, a residual,
// any number of images. Same results as the reference path, and the same bits on one and
// three threads, for bands of any height. (With small caches, which intermediate images
// exceed.)
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so
// RUN: atranslate %s --mcpu=x86-64-v3 --mcache=64K,64K --emit=tile -o %t/tile.mlir && FileCheck %s < %t/tile.mlir
// RUN: atranslate %s --mcpu=x86-64-v3 --mcache=64K,64K -o %t/1.so
// RUN: sed -E 's/BAND = [0-9]+/BAND = 3/g' %t/tile.mlir > %t/three.mlir
// RUN: atranslate %t/three.mlir --mcpu=x86-64-v3 --mcache=64K,64K -o %t/3.so
// RUN: atranslate %t/tile.mlir --mcache=64K,64K -o %t/2.so
// DEFINE: %{shape} = 1x61x27x16
// DEFINE: %{expect} = --range-tol 1e-5 --expect y=%t/0/y.npy --expect z=%t/0/z.npy --expect u=%t/0/u.npy --expect v=%t/0/v.npy
// DEFINE: %{check} = arun %t/0.so --random --shape x=%{shape} --output-dir %t/0 && \
// DEFINE:   arun %t/1.so --random --shape x=%{shape} --threads 1 --output-dir %t/1 %{expect} && \
// DEFINE:   arun %t/1.so --random --shape x=%{shape} --threads 3 --output-dir %t/2 && \
// DEFINE:   diff -r %t/1 %t/2 && \
// DEFINE:   arun %t/3.so --random --shape x=%{shape} --threads 3 --output-dir %t/2 && \
// DEFINE:   diff -r %t/1 %t/2 && \
// DEFINE:   arun %t/2.so --random --shape x=%{shape} %{expect}
// RUN: %{check}
// REDEFINE: %{shape} = 3x61x27x16
// RUN: %{check}
// REDEFINE: %{shape} = 0x61x27x16
// RUN: %{check}

// CHECK-COUNT-4: tile.kernel {{.*}}BAND = {{[0-9]+}}
// CHECK-NOT: tile.kernel {{.*}}conv
#x = affine_map<()[s0] -> (s0, 61, 27, 16)>
#e = affine_map<()[s0] -> (s0, 61, 27, 24)>
#s = affine_map<()[s0] -> (s0, 31, 14, 24)>
#d = affine_map<()[s0] -> (s0, 30, 13, 24)>
#v = affine_map<()[s0] -> (s0, 57, 23, 16)>
#w = affine_map<()[s0] -> (s0, 57, 23, 40)>
func.func @main(%x: tensor<?x61x27x16xf32, #x> {graph.name = "x"}, %a: tensor<24x16x1x1xf32> {graph.name = "a"}, %b: tensor<24xf32> {graph.name = "b"}, %c: tensor<24x1x3x3xf32> {graph.name = "c"}, %p: tensor<16x24x1x1xf32> {graph.name = "p"})
    -> (tensor<?x61x27x16xf32, #x> {graph.name = "y"}, tensor<?x31x14x24xf32, #s> {graph.name = "z"}, tensor<?x30x13x24xf32, #d> {graph.name = "u"}, tensor<?x57x23x40xf32, #w> {graph.name = "v"})
    attributes {graph.symbols = ["n"]} {
  %six = graph.constant dense<6.0> : tensor<f32>
  // Expanded, depthwise, projected, with a residual.
  %0 = graph.conv %x, %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<?x61x27x16xf32, #x>, tensor<24x16x1x1xf32>, tensor<24xf32>) -> tensor<?x61x27x24xf32, #e>
  %1 = graph.relu %0 : (tensor<?x61x27x24xf32, #e>) -> tensor<?x61x27x24xf32, #e>
  %2 = graph.minimum %1, %six : (tensor<?x61x27x24xf32, #e>, tensor<f32>) -> tensor<?x61x27x24xf32, #e>
  %3 = graph.conv %2, %c, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 24 : i64, layout = #graph.layout<nhwc>} : (tensor<?x61x27x24xf32, #e>, tensor<24x1x3x3xf32>, tensor<24xf32>) -> tensor<?x61x27x24xf32, #e>
  %4 = graph.tanh %3 : (tensor<?x61x27x24xf32, #e>) -> tensor<?x61x27x24xf32, #e>
  %5 = graph.conv %4, %p {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<?x61x27x24xf32, #e>, tensor<16x24x1x1xf32>) -> tensor<?x61x27x16xf32, #x>
  %6 = graph.add %5, %x : (tensor<?x61x27x16xf32, #x>, tensor<?x61x27x16xf32, #x>) -> tensor<?x61x27x16xf32, #x>
  // A dense window, then a depthwise one in steps of 2, padded on one side.
  %k = graph.constant dense<[[[[0.1, -0.2], [0.4, -0.5]]]]> : tensor<1x1x2x2xf32>
  %ones = graph.constant dense<1.0> : tensor<24x16x2x2xf32>
  %f = graph.mul %ones, %k : (tensor<24x16x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<24x16x2x2xf32>
  %7 = graph.conv %6, %f, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 2, 2>, layout = #graph.layout<nhwc>} : (tensor<?x61x27x16xf32, #x>, tensor<24x16x2x2xf32>, tensor<24xf32>) -> tensor<?x61x27x24xf32, #e>
  %8 = graph.sigmoid %7 : (tensor<?x61x27x24xf32, #e>) -> tensor<?x61x27x24xf32, #e>
  %g = graph.constant dense<0.125> : tensor<24x1x3x3xf32>
  %9 = graph.conv %8, %g {strides = array<i64: 2, 2>, pads = array<i64: 2, 2, 0, 0>, dilations = array<i64: 1, 1>, group = 24 : i64, layout = #graph.layout<nhwc>} : (tensor<?x61x27x24xf32, #e>, tensor<24x1x3x3xf32>) -> tensor<?x31x14x24xf32, #s>
  // Strides of the size of the window, which omit the last row and column.
  %10 = graph.conv %6, %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<?x61x27x16xf32, #x>, tensor<24x16x1x1xf32>, tensor<24xf32>) -> tensor<?x61x27x24xf32, #e>
  %11 = graph.sigmoid %10 : (tensor<?x61x27x24xf32, #e>) -> tensor<?x61x27x24xf32, #e>
  %h = graph.constant dense<[[[[0.5, -0.25], [0.75, -1.0]]]]> : tensor<1x1x2x2xf32>
  %many = graph.constant dense<1.0> : tensor<24x1x2x2xf32>
  %i = graph.mul %many, %h : (tensor<24x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<24x1x2x2xf32>
  %12 = graph.conv %11, %i {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 24 : i64, layout = #graph.layout<nhwc>} : (tensor<?x61x27x24xf32, #e>, tensor<24x1x2x2xf32>) -> tensor<?x30x13x24xf32, #d>
  // A depthwise convolution first, of the interior of the image.
  %l = graph.constant dense<0.0625> : tensor<16x1x5x5xf32>
  %13 = graph.conv %x, %l {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 16 : i64, layout = #graph.layout<nhwc>} : (tensor<?x61x27x16xf32, #x>, tensor<16x1x5x5xf32>) -> tensor<?x57x23x16xf32, #v>
  %14 = graph.exp %13 : (tensor<?x57x23x16xf32, #v>) -> tensor<?x57x23x16xf32, #v>
  %q = graph.constant dense<0.25> : tensor<40x16x1x1xf32>
  %15 = graph.conv %14, %q {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<?x57x23x16xf32, #v>, tensor<40x16x1x1xf32>) -> tensor<?x57x23x40xf32, #w>
  return %6, %9, %12, %15 : tensor<?x61x27x16xf32, #x>, tensor<?x31x14x24xf32, #s>, tensor<?x30x13x24xf32, #d>, tensor<?x57x23x40xf32, #w>
}

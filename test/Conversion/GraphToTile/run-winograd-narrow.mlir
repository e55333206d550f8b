// 3x3 convolutions in bf16 by Winograd's algorithm, of a known and of a dynamic image size
// (few pixels and many), compared with those in f32: the same bits on one and two threads,
// and close to f32.
// AMX computes direct convolutions, so the CPU is one without it.
// REQUIRES: host-bf16
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s --mcpu=cooperlake --precision=bf16 -o %t/1.so --stats 2>&1 | FileCheck %s
// CHECK: graph-winograd: small = 2
// RUN: atranslate %s --mcpu=cooperlake --precision=bf16 --emit=tile -o %t/t.mlir && FileCheck %s --check-prefix=TILE < %t/t.mlir
// TILE: tile.kernel @winograd_conv{{.*}}memref<{{16|25}}x64x64xbf16
// TILE: tile.dot {{.*}} : tensor<{{.*}}xbf16>, tensor<{{.*}}xbf16>, tensor<{{.*}}xf32>
// The filter of f32 is transformed before it is rounded, when the model is compiled.
// RUN: atranslate %s --mcpu=cooperlake --precision=bf16 --emit=graph -o %t/g.mlir && FileCheck %s --check-prefix=GRAPH < %t/g.mlir
// GRAPH-NOT: transform_filter
// GRAPH: graph.winograd_conv
// GRAPH-NOT: transform_filter
// DEFINE: %{shape} = 1x64x1x3
// DEFINE: %{check} = arun %t/0.so --random --shape x=%{shape} --output-dir %t/0 && \
// DEFINE:   arun %t/1.so --random --shape x=%{shape} --threads 1 --output-dir %t/1 --range-tol 1e-2 --expect y=%t/0/y.npy --expect z=%t/0/z.npy && \
// DEFINE:   arun %t/1.so --random --shape x=%{shape} --threads 2 --output-dir %t/2 && \
// DEFINE:   diff -r %t/1 %t/2
// RUN: %{check}
// REDEFINE: %{shape} = 2x64x5x4
// RUN: %{check}
// REDEFINE: %{shape} = 1x64x23x30
// RUN: %{check}
#x = affine_map<()[s0, s1, s2] -> (s0, 64, s1, s2)>
func.func @main(%i: tensor<1x64x27x29xf32> {graph.name = "i"}, %x: tensor<?x64x?x?xf32, #x> {graph.name = "x"}) -> (
    tensor<1x64x27x29xf32> {graph.name = "y"}, tensor<?x64x?x?xf32, #x> {graph.name = "z"})
    attributes {graph.symbols = ["n", "h", "w"]} {
  // Weights that are not a splat.
  %from = graph.constant dense<0.0> : tensor<f32>
  %to = graph.constant dense<36864.0> : tensor<f32>
  %by = graph.constant dense<1.0> : tensor<f32>
  %b = graph.constant dense<0.25> : tensor<64xf32>
  %t0 = graph.range %from, %to, %by : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<36864xf32>
  %t1 = graph.mul %t0, %t0 : (tensor<36864xf32>, tensor<36864xf32>) -> tensor<36864xf32>
  %t2 = graph.sin %t1 : (tensor<36864xf32>) -> tensor<36864xf32>
  %f = graph.reshape %t2 : (tensor<36864xf32>) -> tensor<64x64x3x3xf32>
  %0 = graph.conv %i, %f, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x27x29xf32>, tensor<64x64x3x3xf32>, tensor<64xf32>) -> tensor<1x64x27x29xf32>
  %1 = graph.relu %0 : (tensor<1x64x27x29xf32>) -> tensor<1x64x27x29xf32>
  %2 = graph.conv %x, %f {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x64x?x?xf32, #x>, tensor<64x64x3x3xf32>) -> tensor<?x64x?x?xf32, #x>
  return %1, %2 : tensor<1x64x27x29xf32>, tensor<?x64x?x?xf32, #x>
}

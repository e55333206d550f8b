// 3x3 convolutions of a model in bf16, whose filters the run time transforms, of a known
// and of a dynamic image size (few pixels and many), compared with direct convolutions: the
// same bits on one and two threads.
// AMX computes direct convolutions, so the CPU is one without it.
// REQUIRES: host-bf16
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s --mcpu=cooperlake -o %t/1.so --stats 2>&1 | FileCheck %s
// CHECK: graph-winograd: small = {{[12]}}
// DEFINE: %{shape} = 1x64x1x3
// DEFINE: %{check} = arun %t/0.so --random --shape x=%{shape} --output-dir %t/0 && \
// DEFINE:   arun %t/1.so --random --shape x=%{shape} --threads 1 --output-dir %t/1 --range-tol 2e-2 --expect y=%t/0/y.npy --expect z=%t/0/z.npy && \
// DEFINE:   arun %t/1.so --random --shape x=%{shape} --threads 2 --output-dir %t/2 && \
// DEFINE:   diff -r %t/1 %t/2
// RUN: %{check}
// REDEFINE: %{shape} = 2x64x5x4
// RUN: %{check}
// REDEFINE: %{shape} = 1x64x23x30
// RUN: %{check}
#x = affine_map<()[s0, s1, s2] -> (s0, 64, s1, s2)>
func.func @main(%i: tensor<1x64x27x29xbf16> {graph.name = "i"}, %x: tensor<?x64x?x?xbf16, #x> {graph.name = "x"}) -> (
    tensor<1x64x27x29xbf16> {graph.name = "y"}, tensor<?x64x?x?xbf16, #x> {graph.name = "z"})
    attributes {graph.symbols = ["n", "h", "w"]} {
  // Weights that are not a splat.
  %from = graph.constant dense<0.0> : tensor<f32>
  %to = graph.constant dense<36864.0> : tensor<f32>
  %by = graph.constant dense<1.0> : tensor<f32>
  %b = graph.constant dense<0.25> : tensor<64xbf16>
  %t0 = graph.range %from, %to, %by : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<36864xf32>
  %t1 = graph.mul %t0, %t0 : (tensor<36864xf32>, tensor<36864xf32>) -> tensor<36864xf32>
  %t2 = graph.sin %t1 : (tensor<36864xf32>) -> tensor<36864xf32>
  %t3 = graph.reshape %t2 : (tensor<36864xf32>) -> tensor<64x64x3x3xf32>
  %f = graph.cast %t3 : (tensor<64x64x3x3xf32>) -> tensor<64x64x3x3xbf16>
  %0 = graph.conv %i, %f, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x27x29xbf16>, tensor<64x64x3x3xbf16>, tensor<64xbf16>) -> tensor<1x64x27x29xbf16>
  %1 = graph.relu %0 : (tensor<1x64x27x29xbf16>) -> tensor<1x64x27x29xbf16>
  %2 = graph.conv %x, %f {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<?x64x?x?xbf16, #x>, tensor<64x64x3x3xbf16>) -> tensor<?x64x?x?xbf16, #x>
  return %1, %2 : tensor<1x64x27x29xbf16>, tensor<?x64x?x?xbf16, #x>
}

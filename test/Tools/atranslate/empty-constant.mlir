// An empty constant has no bytes in the weights, and does not share those of another one.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: atranslate %s -O0 -o o0.so && atranslate %s -o o2.so
// RUN: arun o0.so --random --output-dir a --format npy
// RUN: arun o2.so --random --expect y=a/y.npy | FileCheck %s
// RUN: cmp -i 128 a/w.npy a/y.npy
// CHECK: output 'y': f32 2x3: max error 0
func.func @main() -> (tensor<16x0xf32> {graph.name = "e"}, tensor<2x3xf32> {graph.name = "w"}, tensor<2x3xf32> {graph.name = "y"}) {
  %0 = graph.constant dense<> : tensor<16x0xf32>
  %1 = graph.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %2 = graph.abs %1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2 : tensor<16x0xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

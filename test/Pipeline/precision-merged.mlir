// Products of one operand are merged, and their weights are still constants: the product
// is in bf16.
// RUN: atranslate %s --mcpu=znver4 --precision=bf16 --emit=tile -o %t.mlir && FileCheck %s < %t.mlir
// CHECK: tile.dot {{.*}} : tensor<?x?xbf16>, tensor<?x?xbf16>, tensor<?x?xf32>
// CHECK-NOT: tile.dot
func.func @main(%x: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  %from = graph.constant dense<0.0> : tensor<f32>
  %to = graph.constant dense<4096.0> : tensor<f32>
  %by = graph.constant dense<1.0> : tensor<f32>
  %w0 = graph.range %from, %to, %by : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<4096xf32>
  %s = graph.sin %w0 : (tensor<4096xf32>) -> tensor<4096xf32>
  %c = graph.cos %w0 : (tensor<4096xf32>) -> tensor<4096xf32>
  %v = graph.reshape %s : (tensor<4096xf32>) -> tensor<64x64xf32>
  %w = graph.reshape %c : (tensor<4096xf32>) -> tensor<64x64xf32>
  %0 = graph.matmul %x, %v : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %1 = graph.matmul %x, %w : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  return %0, %1 : tensor<8x64xf32>, tensor<8x64xf32>
}

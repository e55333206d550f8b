// RUN: atranslate %s --target=cuda:sm_90a --emit=tile -o - | FileCheck %s

// Bias and activation are fused into the transform of the products, but no transposition to
// channels first: adjacent pixels of a patch would be stored by different instructions.
// CHECK: host.launch @winograd_input_0
// CHECK: host.launch @winograd_filter_0
// CHECK: host.launch @matmul_0
// CHECK: host.launch @winograd_output_add_relu_0
// CHECK: host.launch @transpose_
func.func @main(%x: tensor<32x128x28x28xf32>) -> tensor<32x128x28x28xf32> {
  %w = graph.constant dense<0.5> : tensor<128x128x3x3xf32>
  %b = graph.constant dense<1.0> : tensor<128xf32>
  %0 = graph.conv %x, %w, %b {dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<32x128x28x28xf32>, tensor<128x128x3x3xf32>, tensor<128xf32>) -> tensor<32x128x28x28xf32>
  %1 = graph.relu %0 : (tensor<32x128x28x28xf32>) -> tensor<32x128x28x28xf32>
  return %1 : tensor<32x128x28x28xf32>
}

// Kernels are measured on their units: those with AMX run in this process, which first
// requests permission for the registers.
// REQUIRES: host-bf16
// RUN: atranslate %s -o %t.so --precision=bf16 --tune=measure --max-compile-seconds 5 -v 2>&1 | FileCheck %s
// RUN: arun %t.so --random
// CHECK: tune: matmul{{.*}} cost
func.func @main(%x: tensor<96x64xf32> {graph.name = "x"}) -> (tensor<96x80xf32> {graph.name = "y"}) {
  %from = graph.constant dense<0.0> : tensor<f32>
  %to = graph.constant dense<5120.0> : tensor<f32>
  %by = graph.constant dense<1.0> : tensor<f32>
  %t0 = graph.range %from, %to, %by : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<5120xf32>
  %t1 = graph.sin %t0 : (tensor<5120xf32>) -> tensor<5120xf32>
  %w = graph.reshape %t1 : (tensor<5120xf32>) -> tensor<64x80xf32>
  %0 = graph.matmul %x, %w : (tensor<96x64xf32>, tensor<64x80xf32>) -> tensor<96x80xf32>
  return %0 : tensor<96x80xf32>
}

// RUN: aopt %s --split-input-file --verify-diagnostics | aopt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: graph.transform_filter %{{.*}} {matrix = dense<{{.*}}> : tensor<3x2xf32>} : (tensor<2x3x1x2xf16>) -> tensor<3x3x2xf16>
func.func @main() -> tensor<3x3x2xf16> {
  %w = graph.constant dense<0.5> : tensor<2x3x1x2xf16>
  %u = graph.transform_filter %w {matrix = dense<[[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]> : tensor<3x2xf32>} : (tensor<2x3x1x2xf16>) -> tensor<3x3x2xf16>
  return %u : tensor<3x3x2xf16>
}

// -----

func.func @main(%w: tensor<2x3x1x3xf32>) -> tensor<3x3x2xf32> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a filter [O, C, kernel..] and a matrix of f32 with as many columns as a window has elements, but got [2, 3, 1, 3] and}}
  %u = graph.transform_filter %w {matrix = dense<1.0> : tensor<3x2xf32>} : (tensor<2x3x1x3xf32>) -> tensor<3x3x2xf32>
  return %u : tensor<3x3x2xf32>
}

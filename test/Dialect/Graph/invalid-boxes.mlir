// RUN: aopt %s -split-input-file -verify-diagnostics

func.func @boxes(%b: tensor<2x5x4xf32>, %s: tensor<2x3x6xf32>) {
  // expected-error @+1 {{expected f32 boxes [B, 5, N], f32 scores [B, C, N] and a result [B, C, count], but got [2, 5, 4], [2, 3, 6] and [2, 3, 2]}}
  %y = graph.select_boxes %b, %s {overlap = 0.5 : f32, score = 0.3 : f32} : (tensor<2x5x4xf32>, tensor<2x3x6xf32>) -> tensor<2x3x2xi64>
  return
}

// -----

func.func @type(%b: tensor<2x5x4xf16>, %s: tensor<2x3x4xf32>) {
  // expected-error @+1 {{expected f32 boxes}}
  %y = graph.select_boxes %b, %s {overlap = 0.5 : f32, score = 0.3 : f32} : (tensor<2x5x4xf16>, tensor<2x3x4xf32>) -> tensor<2x3x2xi64>
  return
}

// -----

func.func @result(%b: tensor<2x5x4xf32>, %s: tensor<2x3x4xf32>) {
  // expected-error @+1 {{expected f32 boxes}}
  %y = graph.select_boxes %b, %s {overlap = 0.5 : f32, score = 0.3 : f32} : (tensor<2x5x4xf32>, tensor<2x3x4xf32>) -> tensor<2x4x2xi64>
  return
}

// RUN: aopt %s --split-input-file --verify-diagnostics

func.func @open_type(%p: tensor<2x4xf32>) {
  // expected-error @+1 {{expected the element type and dims of the operand but for one, but got 'tensor<2x4xf32>' and 'tensor<3x4xf16>'}}
  %0 = graph.open_state %p {state = 0 : i64} : (tensor<2x4xf32>) -> tensor<3x4xf16>
  return
}

// -----

func.func @close_dims(%p: tensor<2x4xf32>) {
  // expected-error @+1 {{expected the element type and dims of the operand but for one, but got 'tensor<2x4xf32>' and 'tensor<3x5xf32>'}}
  %0 = graph.close_state %p {state = 0 : i64} : (tensor<2x4xf32>) -> tensor<3x5xf32>
  return
}

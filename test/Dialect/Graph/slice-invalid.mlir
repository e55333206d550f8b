// RUN: aopt %s --split-input-file --verify-diagnostics

func.func @ranks(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{expected a result of rank 2 and as many starts and steps, but got rank 2, 1 starts and 2 steps}}
  %0 = graph.slice %x {starts = affine_map<()[s0] -> (s0)>, steps = array<i64: 1, 1>} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @dims(%x: tensor<?xf32>) {
  // expected-error @+1 {{expected starts of symbols alone, but got dims}}
  %0 = graph.slice %x {starts = affine_map<(d0) -> (d0)>, steps = array<i64: 1>} : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @twice(%x: tensor<?xf32>, %b: tensor<1xi64>) {
  // expected-error @+1 {{expected starts of symbols alone, but got an operand 'begin' as well}}
  %0 = graph.slice %x, %b {starts = affine_map<()[s0] -> (s0)>, steps = array<i64: 1>} : (tensor<?xf32>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

func.func @beyond(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{expected a slice within dim 1, but got elements 5 to 8 of [8]}}
  %0 = graph.slice %x {starts = affine_map<()[s0] -> (s0, 5)>, steps = array<i64: 1, 1>} : (tensor<?x8xf32>) -> tensor<?x4xf32>
  return
}

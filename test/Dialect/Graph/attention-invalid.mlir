// RUN: aopt %s --split-input-file --verify-diagnostics

func.func @rank(%q: tensor<9x16xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected operands of rank 3 or more, but got [9, 16]}}
  %0 = graph.attention %q, %q, %q {scale = 1.0 : f64} : (tensor<9x16xf32>, tensor<9x16xf32>, tensor<9x16xf32>) -> tensor<9x16xf32>
  return
}

// -----

func.func @groups(%q: tensor<4x9x16xf32>, %k: tensor<3x7x16xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a key with the batch dims of the query [4, 9, 16], but got [3, 7, 16]}}
  %0 = graph.attention %q, %k, %k {scale = 1.0 : f64} : (tensor<4x9x16xf32>, tensor<3x7x16xf32>, tensor<3x7x16xf32>) -> tensor<4x9x16xf32>
  return
}

// -----

func.func @keys(%q: tensor<4x9x16xf32>, %k: tensor<4x7x16xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected as many keys as values, but got [4, 7, 16] and [4, 9, 16]}}
  %0 = graph.attention %q, %k, %q {scale = 1.0 : f64} : (tensor<4x9x16xf32>, tensor<4x7x16xf32>, tensor<4x9x16xf32>) -> tensor<4x9x16xf32>
  return
}

// -----

func.func @depth(%q: tensor<4x9x16xf32>, %k: tensor<4x9x17xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected keys of the query's size, but got [4, 9, 16] and [4, 9, 17]}}
  %0 = graph.attention %q, %k, %q {scale = 1.0 : f64} : (tensor<4x9x16xf32>, tensor<4x9x17xf32>, tensor<4x9x16xf32>) -> tensor<4x9x16xf32>
  return
}

// -----

func.func @mask(%q: tensor<4x9x16xf32>, %m: tensor<2x1x9xi1>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected a mask that broadcasts to [4, 9, 9], but got [2, 1, 9]}}
  %0 = graph.attention %q, %q, %q mask %m {scale = 1.0 : f64} : (tensor<4x9x16xf32>, tensor<4x9x16xf32>, tensor<4x9x16xf32>, tensor<2x1x9xi1>) -> tensor<4x9x16xf32>
  return
}

// -----

// Symbols that differ for all values.
#k = affine_map<()[s0] -> (4, s0, 16)>
#v = affine_map<()[s0] -> (4, s0 + 1, 16)>
func.func @symbolic(%q: tensor<4x?x16xf32, #k>, %v: tensor<4x?x16xf32, #v>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected as many keys as values, but got}}
  %0 = graph.attention %q, %q, %v {scale = 1.0 : f64} : (tensor<4x?x16xf32, #k>, tensor<4x?x16xf32, #k>, tensor<4x?x16xf32, #v>) -> tensor<4x?x16xf32, #k>
  return
}

// RUN: aopt %s --split-input-file --verify-diagnostics

func.func @tree_words(%x: tensor<5x4xf64>, %n: tensor<8xi64>, %r: tensor<2xi32>, %s: tensor<1xi32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected nodes of 3 words, but got 'tensor<8xi64>'}}
  %0 = graph.tree_leaves %x, %n, %r, %s : (tensor<5x4xf64>, tensor<8xi64>, tensor<2xi32>, tensor<1xi32>) -> tensor<5x2xi32>
  return
}

// -----

func.func @tree_rows(%x: tensor<4xf32>, %n: tensor<6xi64>, %r: tensor<2xi32>, %s: tensor<1xi32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected features of rank 2, but got 'tensor<4xf32>'}}
  %0 = graph.tree_leaves %x, %n, %r, %s : (tensor<4xf32>, tensor<6xi64>, tensor<2xi32>, tensor<1xi32>) -> tensor<5x2xi32>
  return
}

// -----

func.func @tree_steps(%x: tensor<5x4xf32>, %n: tensor<6xi64>, %r: tensor<17xi32>, %s: tensor<1xi32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected an entry of the steps for 16 trees, but got 'tensor<1xi32>'}}
  %0 = graph.tree_leaves %x, %n, %r, %s : (tensor<5x4xf32>, tensor<6xi64>, tensor<17xi32>, tensor<1xi32>) -> tensor<5x17xi32>
  return
}

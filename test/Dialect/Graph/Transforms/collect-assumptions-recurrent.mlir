// The weights of a recurrent layer have as many matrices as its cell has gates.
// RUN: aopt --graph-collect-assumptions %s | FileCheck %s

#g = affine_map<()[s0] -> (s0, 8, 8)>

// CHECK: #[[GATES:.*]] = affine_map<()[s0] -> (s0, 3)>
// CHECK: func.func @dynamic
// CHECK-SAME: graph.equalities = [#[[GATES]]]
func.func @dynamic(%x: tensor<5x2x24xf32>, %w: tensor<?x8x8xf32, #g>, %h: tensor<2x8xf32>) -> tensor<5x2x8xf32>
    attributes {graph.symbols = ["n"]} {
  %y, %last = graph.recurrent %x weights %w state %h {activations = ["sigmoid", "tanh"], alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>, cell = #graph.cell<gru>} : (tensor<5x2x24xf32>, tensor<?x8x8xf32, #g>, tensor<2x8xf32>) -> (tensor<5x2x8xf32>, tensor<2x8xf32>)
  return %y : tensor<5x2x8xf32>
}

// CHECK: func.func @static
// CHECK-NOT: graph.equalities
func.func @static(%x: tensor<5x2x24xf32>, %w: tensor<3x8x8xf32>, %h: tensor<2x8xf32>) -> tensor<5x2x8xf32>
    attributes {graph.symbols = []} {
  %y, %last = graph.recurrent %x weights %w state %h {activations = ["sigmoid", "tanh"], alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>, cell = #graph.cell<gru>} : (tensor<5x2x24xf32>, tensor<3x8x8xf32>, tensor<2x8xf32>) -> (tensor<5x2x8xf32>, tensor<2x8xf32>)
  return %y : tensor<5x2x8xf32>
}

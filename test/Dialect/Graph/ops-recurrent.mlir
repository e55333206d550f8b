// RUN: aopt %s --split-input-file --verify-diagnostics | aopt --split-input-file | FileCheck %s
// RUN: aopt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | aopt --split-input-file | FileCheck %s

// Recurrent layers, regions of interest, and related ops.

#tb = affine_map<()[s0, s1] -> (s0, s1, 16)>
#out = affine_map<()[s0, s1] -> (s0, s1, 4)>
#b = affine_map<()[s0, s1] -> (s1, 4)>
#len = affine_map<()[s0, s1] -> (s1)>

// CHECK-LABEL: func @lstm
// CHECK: graph.recurrent %{{.*}} weights %{{.*}} state %{{.*}} memory %{{.*}} peephole %{{.*}} lengths %{{.*}} {activations = ["sigmoid", "tanh", "tanh"]
func.func @lstm(%x: tensor<?x?x16xf32, #tb>, %w: tensor<4x4x4xf32>, %h: tensor<?x4xf32, #b>, %p: tensor<12xf32>, %l: tensor<?xi32, #len>) -> tensor<?x?x4xf32, #out> {
  %y, %s, %c = graph.recurrent %x weights %w state %h memory %h peephole %p lengths %l {cell = #graph.cell<lstm>, activations = ["sigmoid", "tanh", "tanh"], alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>} : (tensor<?x?x16xf32, #tb>, tensor<4x4x4xf32>, tensor<?x4xf32, #b>, tensor<?x4xf32, #b>, tensor<12xf32>, tensor<?xi32, #len>) -> (tensor<?x?x4xf32, #out>, tensor<?x4xf32, #b>, tensor<?x4xf32, #b>)
  return %y : tensor<?x?x4xf32, #out>
}

// CHECK-LABEL: func @gru
// CHECK: bias %{{.*}} {activations = ["sigmoid", "tanh"]{{.*}}linear_before_reset = true
func.func @gru(%x: tensor<5x2x12xf16>, %w: tensor<3x4x4xf16>, %h: tensor<2x4xf16>, %b: tensor<4xf16>) {
  %y, %s = graph.recurrent %x weights %w state %h bias %b {cell = #graph.cell<gru>, activations = ["sigmoid", "tanh"], alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>, linear_before_reset = true} : (tensor<5x2x12xf16>, tensor<3x4x4xf16>, tensor<2x4xf16>, tensor<4xf16>) -> (tensor<5x2x4xf16>, tensor<2x4xf16>)
  return
}

// CHECK-LABEL: func @others
func.func @others(%x: tensor<1x3x10x10xf32>, %r: tensor<5x4xf32>, %q: tensor<5x5xf32>, %b: tensor<5xi64>, %m: tensor<2x3x3xf32>) {
  // CHECK: graph.roi_align %{{.*}} {samples = 2 : i64} : (tensor<1x3x10x10xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x3x7x7xf32>
  %0 = graph.roi_align %x, %r, %b {samples = 2 : i64} : (tensor<1x3x10x10xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x3x7x7xf32>
  // CHECK: graph.roi_pool %{{.*}} : (tensor<1x3x10x10xf32>, tensor<5x5xf32>) -> tensor<5x3x7x7xf32>
  %1 = graph.roi_pool %x, %q : (tensor<1x3x10x10xf32>, tensor<5x5xf32>) -> tensor<5x3x7x7xf32>
  // CHECK: graph.det %{{.*}} : (tensor<2x3x3xf32>) -> tensor<2xf32>
  %2 = graph.det %m : (tensor<2x3x3xf32>) -> tensor<2xf32>
  // CHECK: graph.cumprod %{{.*}} {axis = 1 : i64} : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  %3 = graph.cumprod %m {axis = 1 : i64} : (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>
  // CHECK: graph.bitcast %{{.*}} : (tensor<2x3x3xf32>) -> tensor<2x3x3xui32>
  %4 = graph.bitcast %m : (tensor<2x3x3xf32>) -> tensor<2x3x3xui32>
  // CHECK: graph.max_pool_index %{{.*}} {{.*}} : (tensor<1x3x10x10xf32>) -> tensor<1x3x5x5xi64>
  %5 = graph.max_pool_index %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x10x10xf32>) -> tensor<1x3x5x5xi64>
  // CHECK: graph.entropy : tensor<i64>
  %6 = graph.entropy : tensor<i64>
  return
}

// -----

func.func @shape(%x: tensor<5x2x12xf32>, %w: tensor<4x4x4xf32>, %h: tensor<2x4xf32>) {
  // expected-error @+1 {{expected operands and results to fit gates [5, 2, 12] and weights [4, 4, 4]}}
  %y, %s = graph.recurrent %x weights %w state %h {cell = #graph.cell<gru>, activations = ["sigmoid", "tanh"], alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>} : (tensor<5x2x12xf32>, tensor<4x4x4xf32>, tensor<2x4xf32>) -> (tensor<5x2x4xf32>, tensor<2x4xf32>)
  return
}

// -----

func.func @memory(%x: tensor<5x2x16xf32>, %w: tensor<4x4x4xf32>, %h: tensor<2x4xf32>) {
  // expected-error @+1 {{expected a memory of lstm cells only}}
  %y, %s = graph.recurrent %x weights %w state %h {cell = #graph.cell<lstm>, activations = ["sigmoid", "tanh", "tanh"], alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>} : (tensor<5x2x16xf32>, tensor<4x4x4xf32>, tensor<2x4xf32>) -> (tensor<5x2x4xf32>, tensor<2x4xf32>)
  return
}

// -----

func.func @bytes(%x: tensor<5x2x4xf32>, %w: tensor<1x4x4xi8>, %h: tensor<2x4xf32>) {
  // expected-error @+1 {{expected elements of one type, but got 'f32' and 'i8'}}
  %y, %s = graph.recurrent %x weights %w state %h {cell = #graph.cell<rnn>, activations = ["tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} : (tensor<5x2x4xf32>, tensor<1x4x4xi8>, tensor<2x4xf32>) -> (tensor<5x2x4xf32>, tensor<2x4xf32>)
  return
}

// -----

func.func @scales(%x: tensor<5x2x4xf32>, %w: tensor<1x4x4xf32>, %h: tensor<2x4xf32>, %c: tensor<1x4xf32>, %t: tensor<1x4xi32>) {
  // expected-error @+1 {{expected scales and sums with weights of i8 and gates of f32, but got weights of 'f32' and gates of 'f32'}}
  %y, %s = graph.recurrent %x weights %w state %h scales %c sums %t {cell = #graph.cell<rnn>, activations = ["tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} : (tensor<5x2x4xf32>, tensor<1x4x4xf32>, tensor<2x4xf32>, tensor<1x4xf32>, tensor<1x4xi32>) -> (tensor<5x2x4xf32>, tensor<2x4xf32>)
  return
}

// -----

func.func @activations(%x: tensor<5x2x4xf32>, %w: tensor<1x4x4xf32>, %h: tensor<2x4xf32>) {
  // expected-error @+1 {{expected 1 activations, each with alpha and beta, but got 2}}
  %y, %s = graph.recurrent %x weights %w state %h {cell = #graph.cell<rnn>, activations = ["tanh", "tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} : (tensor<5x2x4xf32>, tensor<1x4x4xf32>, tensor<2x4xf32>) -> (tensor<5x2x4xf32>, tensor<2x4xf32>)
  return
}

// -----

func.func @regions(%x: tensor<1x3x10x10xf32>, %r: tensor<5x5xf32>, %b: tensor<5xi64>) {
  // expected-error @+1 {{expected an input of rank 4 and regions of 4 numbers, but got [1, 3, 10, 10] and [5, 5]}}
  %0 = graph.roi_align %x, %r, %b : (tensor<1x3x10x10xf32>, tensor<5x5xf32>, tensor<5xi64>) -> tensor<5x3x7x7xf32>
  return
}

// -----

func.func @square(%m: tensor<2x3x4xf32>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{expected square matrices, but got [2, 3, 4]}}
  %0 = graph.det %m : (tensor<2x3x4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @bits(%m: tensor<2xf32>) {
  // expected-error @+1 {{expected elements of 32 bits, but got 'i64'}}
  %0 = graph.bitcast %m : (tensor<2xf32>) -> tensor<2xi64>
  return
}

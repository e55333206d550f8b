// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile=remarks=true --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sed -e '/^\/\/ Two dependent products of rows/,$d; s/^\/\/ -----//' %s | aopt --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile -o %t.mlir
// RUN: cuda-emulate %t.mlir --symbols=3,5 --tolerance=1e-4 | FileCheck %s --check-prefix=EMULATED
// RUN: aopt %t.mlir --tile-specialize=target=cuda --convert-tile-to-gpu | FileCheck %s --check-prefix=GPU

// The inputs of the gates and the cell are loaded first. One product has the weights of all
// gates, and the outputs of the previous step, which no program of this one stores, or the
// initial states.
// CHECK-LABEL: tile.kernel @lstm(
// CHECK-SAME: tile.params = {BLOCK_M = 1 : i64, BLOCK_N = 12 : i64}
// CHECK: %[[ID:.*]]:3 = tile.program_id(%{{.*}}, %{{.*}}, %c6) ordered grouped
// CHECK-COUNT-4: tile.load %arg0[%[[ID]]#2,
// CHECK: tile.load %arg7
// CHECK-NOT: tile.earlier
// CHECK: %[[H:.*]] = tile.load %arg5{{.*}} {tile.earlier}
// CHECK: %[[ALL:.*]] = arith.select %{{.*}}, %{{.*}}, %[[H]] : tensor<?x12xi1>, tensor<?x12xf32>
// CHECK: tile.load %arg1[0, 0, %{{.*}}] sizes [12, %{{.*}}, 4] dims [1, 2, 0]
// CHECK: %[[SUMS:.*]] = tile.dot %[[ALL]]
// CHECK: tile.reshape %[[SUMS]] to [%{{.*}}, %{{.*}}, 4]
// CHECK-COUNT-4: tile.reduce add
// CHECK: tile.store %{{.*}}, %arg5
// In a launch for each step, the first program of the step is an argument.
// GPU-LABEL: llvm.func @lstm(
// GPU-SAME: %[[FIRST:[^ ]*]]: i64) attributes {
// GPU-SAME: adze.ordered
// GPU: %[[B:.*]] = gpu.block_id x
// GPU: %[[F:.*]] = arith.index_cast %[[FIRST]] : i64 to index
// GPU: arith.addi %[[F]], %[[B]]
// EMULATED: lstm: 30 programs of {{.*}} agree
func.func private @lstm(%x: tensor<6x5x48xf32>, %w: tensor<4x12x12xf32>, %h: tensor<5x12xf32>, %c: tensor<5x12xf32>, %p: tensor<36xf32>) -> (tensor<6x5x12xf32>, tensor<5x12xf32>, tensor<5x12xf32>) attributes {adze.kernel} {
  %y, %a, %b = graph.recurrent %x weights %w state %h memory %c peephole %p {cell = #graph.cell<lstm>, activations = ["sigmoid", "tanh", "tanh"], alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>} : (tensor<6x5x48xf32>, tensor<4x12x12xf32>, tensor<5x12xf32>, tensor<5x12xf32>, tensor<36xf32>) -> (tensor<6x5x12xf32>, tensor<5x12xf32>, tensor<5x12xf32>)
  return %y, %a, %b : tensor<6x5x12xf32>, tensor<5x12xf32>, tensor<5x12xf32>
}

// -----

// Rows and steps of dynamic number, in reverse: without steps, the initial states are the
// results.
// CHECK-LABEL: tile.kernel @gru(
// CHECK: tile.program_id({{.*}}) ordered
// CHECK: scf.if
// CHECK: tile.dot
// CHECK-COUNT-3: tile.reduce add
// CHECK: } else {
// CHECK: tile.store
// EMULATED: gru: {{[0-9]+}} programs of {{.*}} agree
#x = affine_map<()[s0, s1] -> (s0, s1, 60)>
#y = affine_map<()[s0, s1] -> (s0, s1, 20)>
#h = affine_map<()[s0, s1] -> (s1, 20)>
func.func private @gru(%x: tensor<?x?x60xf32, #x>, %w: tensor<3x20x20xf32>, %h: tensor<?x20xf32, #h>, %b: tensor<20xf32>) -> (tensor<?x?x20xf32, #y>, tensor<?x20xf32, #h>) attributes {adze.kernel} {
  %y, %a = graph.recurrent %x weights %w state %h bias %b {cell = #graph.cell<gru>, activations = ["sigmoid", "tanh"], alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>, linear_before_reset = true, reverse = true} : (tensor<?x?x60xf32, #x>, tensor<3x20x20xf32>, tensor<?x20xf32, #h>, tensor<20xf32>) -> (tensor<?x?x20xf32, #y>, tensor<?x20xf32, #h>)
  return %y, %a : tensor<?x?x20xf32, #y>, tensor<?x20xf32, #h>
}

// Steps and rows of dynamic number with two dependent products.
// EMULATED: twofold_dynamic: {{[0-9]+}} programs of {{.*}} agree
func.func private @twofold_dynamic(%x: tensor<?x?x60xf32, #x>, %w: tensor<3x20x20xf32>, %h: tensor<?x20xf32, #h>, %b: tensor<20xf32>) -> (tensor<?x?x20xf32, #y>, tensor<?x20xf32, #h>) attributes {adze.kernel} {
  %y, %a = graph.recurrent %x weights %w state %h bias %b {cell = #graph.cell<gru>, activations = ["sigmoid", "tanh"], alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>, reverse = true} : (tensor<?x?x60xf32, #x>, tensor<3x20x20xf32>, tensor<?x20xf32, #h>, tensor<20xf32>) -> (tensor<?x?x20xf32, #y>, tensor<?x20xf32, #h>)
  return %y, %a : tensor<?x?x20xf32, #y>, tensor<?x20xf32, #h>
}

// -----

// Blocks of rows and of units.
// EMULATED: rnn: 160 programs of {{.*}} agree
func.func private @rnn(%x: tensor<4x40x64xf32>, %w: tensor<1x64x64xf32>) -> (tensor<4x40x64xf32>, tensor<40x64xf32>) attributes {adze.kernel} {
  %h = graph.constant dense<0.0> : tensor<40x64xf32>
  %y, %a = graph.recurrent %x weights %w state %h {cell = #graph.cell<rnn>, activations = ["tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} : (tensor<4x40x64xf32>, tensor<1x64x64xf32>, tensor<40x64xf32>) -> (tensor<4x40x64xf32>, tensor<40x64xf32>)
  return %y, %a : tensor<4x40x64xf32>, tensor<40x64xf32>
}

// -----

// Sequences of several lengths keep the last valid states. In reverse, rows begin late with
// a state of zeros.
// CHECK-LABEL: tile.kernel @lengths(
// CHECK: tile.load %arg3
// CHECK: arith.select
// CHECK-LABEL: tile.kernel @lengths_reverse(
// EMULATED: lengths: 30 programs of {{.*}} agree
// EMULATED: lengths_reverse: 30 programs of {{.*}} agree
func.func private @lengths(%x: tensor<6x5x12xf32>, %w: tensor<1x12x12xf32>, %h: tensor<5x12xf32>, %n: tensor<5xi32>) -> (tensor<6x5x12xf32>, tensor<5x12xf32>) attributes {adze.kernel} {
  %y, %a = graph.recurrent %x weights %w state %h lengths %n {cell = #graph.cell<rnn>, activations = ["tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} : (tensor<6x5x12xf32>, tensor<1x12x12xf32>, tensor<5x12xf32>, tensor<5xi32>) -> (tensor<6x5x12xf32>, tensor<5x12xf32>)
  return %y, %a : tensor<6x5x12xf32>, tensor<5x12xf32>
}
func.func private @lengths_reverse(%x: tensor<6x5x48xf32>, %w: tensor<4x12x12xf32>, %n: tensor<5xi32>) -> (tensor<6x5x12xf32>, tensor<5x12xf32>, tensor<5x12xf32>) attributes {adze.kernel} {
  %h = graph.constant dense<0.0> : tensor<5x12xf32>
  %y, %a, %b = graph.recurrent %x weights %w state %h memory %h lengths %n {cell = #graph.cell<lstm>, reverse = true, activations = ["sigmoid", "tanh", "tanh"], alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>} : (tensor<6x5x48xf32>, tensor<4x12x12xf32>, tensor<5x12xf32>, tensor<5x12xf32>, tensor<5xi32>) -> (tensor<6x5x12xf32>, tensor<5x12xf32>, tensor<5x12xf32>)
  return %y, %a, %b : tensor<6x5x12xf32>, tensor<5x12xf32>, tensor<5x12xf32>
}

// -----

// Two dependent products: two steps of the grid for each of the layer, and one that copies
// the last state.
// CHECK-LABEL: tile.kernel @twofold(
// CHECK: tile.program_id(%{{.*}}, %{{.*}}, %c13) ordered grouped
// CHECK: scf.if
// CHECK: } else {
// CHECK: scf.if
// CHECK: tile.dot
// CHECK: tile.store %{{.*}}, %arg4
// CHECK: } else {
// CHECK: tile.load %arg4{{.*}} {tile.earlier}
// CHECK: tile.dot
// EMULATED: twofold: 65 programs of {{.*}} agree
func.func private @twofold(%x: tensor<6x5x36xf32>, %w: tensor<3x12x12xf32>, %h: tensor<5x12xf32>) -> (tensor<6x5x12xf32>, tensor<5x12xf32>) attributes {adze.kernel} {
  %y, %a = graph.recurrent %x weights %w state %h {cell = #graph.cell<gru>, activations = ["sigmoid", "tanh"], alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>} : (tensor<6x5x36xf32>, tensor<3x12x12xf32>, tensor<5x12xf32>) -> (tensor<6x5x12xf32>, tensor<5x12xf32>)
  return %y, %a : tensor<6x5x12xf32>, tensor<5x12xf32>
}

// -----

// Weights of bytes: the states of a row are quantized.
// CHECK-LABEL: tile.kernel @bytes(
// CHECK: tile.dot {{.*}}ui8 * si8 + si32
// EMULATED: bytes: 30 programs of {{.*}} agree
func.func private @bytes(%x: tensor<6x5x48xf32>, %w: tensor<4x12x12xi8>, %h: tensor<5x12xf32>, %s: tensor<4x12xf32>, %t: tensor<4x12xi32>) -> (tensor<6x5x12xf32>, tensor<5x12xf32>, tensor<5x12xf32>) attributes {adze.kernel} {
  %y, %a, %b = graph.recurrent %x weights %w state %h memory %h scales %s sums %t {cell = #graph.cell<lstm>, activations = ["sigmoid", "tanh", "tanh"], alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>} : (tensor<6x5x48xf32>, tensor<4x12x12xi8>, tensor<5x12xf32>, tensor<5x12xf32>, tensor<4x12xf32>, tensor<4x12xi32>) -> (tensor<6x5x12xf32>, tensor<5x12xf32>, tensor<5x12xf32>)
  return %y, %a, %b : tensor<6x5x12xf32>, tensor<5x12xf32>, tensor<5x12xf32>
}

// -----

// Two dependent products of rows of several lengths are refused.
// expected-remark@below {{rows of several lengths run steps of two dependent products}}
func.func private @twofold_lengths(%x: tensor<6x5x36xf32>, %w: tensor<3x12x12xf32>, %h: tensor<5x12xf32>, %n: tensor<5xi32>) -> (tensor<6x5x12xf32>, tensor<5x12xf32>) attributes {adze.kernel} {
  %y, %a = graph.recurrent %x weights %w state %h lengths %n {cell = #graph.cell<gru>, activations = ["sigmoid", "tanh"], alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>} : (tensor<6x5x36xf32>, tensor<3x12x12xf32>, tensor<5x12xf32>, tensor<5xi32>) -> (tensor<6x5x12xf32>, tensor<5x12xf32>)
  return %y, %a : tensor<6x5x12xf32>, tensor<5x12xf32>
}

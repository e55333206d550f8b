// Kernels of the reference path as loops on the device, against their code for
// CPUs. Indices out of range are clamped on both.
// RUN: loops-emulate %s --symbols=5,7 | FileCheck %s
// RUN: loops-emulate %s --symbols=1,0 --data-seed=2 | FileCheck %s --check-prefix=EMPTY
// EMPTY-NOT: differs
// EMPTY-NOT: not converted

#nx8 = affine_map<()[s0, s1] -> (s0, 8)>
#m = affine_map<()[s0, s1] -> (s1)>
#mx1 = affine_map<()[s0, s1] -> (s1, 1)>
#mx8 = affine_map<()[s0, s1] -> (s1, 8)>

// CHECK: elements_add: 1 blocks of 32 threads agree
func.func private @elements_add(%x: tensor<9x30xf32>, %i: tensor<20x30xi64>, %u: tensor<20x30xf32>) -> tensor<9x30xf32> attributes {adze.kernel} {
  %0 = graph.scatter_elements %x, %i, %u {axis = 0 : i64, reduction = #graph.scatter<add>} : (tensor<9x30xf32>, tensor<20x30xi64>, tensor<20x30xf32>) -> tensor<9x30xf32>
  return %0 : tensor<9x30xf32>
}

// CHECK: elements_max: 1 blocks of 32 threads agree
func.func private @elements_max(%x: tensor<4x8xf16>, %i: tensor<4x20xi64>, %u: tensor<4x20xf16>) -> tensor<4x8xf16> attributes {adze.kernel} {
  %0 = graph.scatter_elements %x, %i, %u {axis = 1 : i64, reduction = #graph.scatter<max>} : (tensor<4x8xf16>, tensor<4x20xi64>, tensor<4x20xf16>) -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// CHECK: slices_mul: 1 blocks of 32 threads agree
func.func private @slices_mul(%x: tensor<?x8xf32, #nx8>, %i: tensor<?x1xi64, #mx1>, %u: tensor<?x8xf32, #mx8>) -> tensor<?x8xf32, #nx8> attributes {adze.kernel} {
  %0 = graph.scatter_nd %x, %i, %u {reduction = #graph.scatter<mul>} : (tensor<?x8xf32, #nx8>, tensor<?x1xi64, #mx1>, tensor<?x8xf32, #mx8>) -> tensor<?x8xf32, #nx8>
  return %0 : tensor<?x8xf32, #nx8>
}

// The operand is read elsewhere, too, so that the kernel copies it.
// CHECK: copied: 1 blocks of {{[0-9]+}} threads agree
func.func private @copied(%x: tensor<4x8xi32>, %i: tensor<4x8xi64>) -> tensor<4x8xi32> attributes {adze.kernel} {
  %0 = graph.scatter_elements %x, %i, %x {axis = 1 : i64, reduction = #graph.scatter<add>} : (tensor<4x8xi32>, tensor<4x8xi64>, tensor<4x8xi32>) -> tensor<4x8xi32>
  return %0 : tensor<4x8xi32>
}

// A heap, and rows that are sorted in shared memory.
// CHECK: heap: 1 blocks of 32 threads agree
func.func private @heap(%x: tensor<5x300xf32>) -> (tensor<5x7xf32>, tensor<5x7xi64>) attributes {adze.kernel} {
  %v, %i = graph.top_k %x {axis = 1 : i64} : (tensor<5x300xf32>) -> (tensor<5x7xf32>, tensor<5x7xi64>)
  return %v, %i : tensor<5x7xf32>, tensor<5x7xi64>
}
// CHECK: sorted: 5 blocks of {{[0-9]+}} threads agree
func.func private @sorted(%x: tensor<5x300xi32>) -> (tensor<5x200xi32>, tensor<5x200xi64>) attributes {adze.kernel} {
  %v, %i = graph.top_k %x {axis = 1 : i64, largest = false} : (tensor<5x300xi32>) -> (tensor<5x200xi32>, tensor<5x200xi64>)
  return %v, %i : tensor<5x200xi32>, tensor<5x200xi64>
}

// Steps in order, with barriers between the loops over units.
// CHECK: lstm: 1 blocks of {{[0-9]+}} threads agree
func.func private @lstm(%x: tensor<3x2x40xf32>, %w: tensor<4x10x10xf32>, %h: tensor<2x10xf32>, %c: tensor<2x10xf32>, %l: tensor<2xi32>) -> (tensor<3x2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>) attributes {adze.kernel} {
  %y, %s, %m = graph.recurrent %x weights %w state %h memory %c lengths %l {cell = #graph.cell<lstm>, activations = ["sigmoid", "tanh", "tanh"], alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>} : (tensor<3x2x40xf32>, tensor<4x10x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>, tensor<2xi32>) -> (tensor<3x2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>)
  return %y, %s, %m : tensor<3x2x10xf32>, tensor<2x10xf32>, tensor<2x10xf32>
}
// CHECK: gru: 1 blocks of {{[0-9]+}} threads agree
func.func private @gru(%x: tensor<3x2x30xf32>, %w: tensor<3x10x10xf32>, %h: tensor<2x10xf32>) -> (tensor<3x2x10xf32>, tensor<2x10xf32>) attributes {adze.kernel} {
  %y, %s = graph.recurrent %x weights %w state %h {cell = #graph.cell<gru>, activations = ["sigmoid", "tanh"], alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>, reverse = true} : (tensor<3x2x30xf32>, tensor<3x10x10xf32>, tensor<2x10xf32>) -> (tensor<3x2x10xf32>, tensor<2x10xf32>)
  return %y, %s : tensor<3x2x10xf32>, tensor<2x10xf32>
}

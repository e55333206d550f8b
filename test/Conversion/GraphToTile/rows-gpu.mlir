// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile --split-input-file | FileCheck %s
// RUN: sed -e 's/^\/\/ -----//' %s | aopt --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile | cuda-emulate - --symbols=5000 --tolerance=1e-4 | FileCheck %s --check-prefix=EMULATED

// The threads of a GPU hold longer rows than CPUs do.
// CHECK-LABEL: tile.kernel @whole(
// CHECK: tile.load %arg0[%{{.*}}, 0] sizes [1, 20000]
// EMULATED: whole: 2 programs of 512 threads agree
func.func private @whole(%x: tensor<2x20000xf32>) -> tensor<2x20000xf32> attributes {adze.kernel} {
  %0 = graph.softmax %x {axis = 1 : i64} : (tensor<2x20000xf32>) -> tensor<2x20000xf32>
  return %0 : tensor<2x20000xf32>
}

// -----

// Rows of dynamic length are read in chunks for all threads. A sum of exponentials and
// its maximum are found in one pass.
// CHECK-LABEL: tile.kernel @chunks(
// CHECK-SAME: BLOCK_N = 4096 : i64
// CHECK: scf.for
// CHECK: tile.reduce max
// CHECK: tile.reduce add
// CHECK: scf.for {{.*}} step %c4096
// EMULATED: chunks: 2 programs of 256 threads agree
#x = affine_map<()[s0] -> (2, s0)>
func.func private @chunks(%x: tensor<2x?xf32, #x>) -> tensor<2x?xf32, #x> attributes {adze.kernel} {
  %0 = graph.softmax %x {axis = 1 : i64} : (tensor<2x?xf32, #x>) -> tensor<2x?xf32, #x>
  return %0 : tensor<2x?xf32, #x>
}

// -----

// The index of the greatest element.
// CHECK-LABEL: tile.kernel @index(
// CHECK-SAME: BLOCK_N = 4096 : i64
// EMULATED: index: 3 programs of 256 threads agree
func.func private @index(%x: tensor<3x9001xf32>) -> tensor<3xi64> attributes {adze.kernel} {
  %0 = graph.arg_max %x {axis = 1 : i64, keepdims = false} : (tensor<3x9001xf32>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

// -----

// Sums along the first dim: lines of 64 results.
// CHECK-LABEL: tile.kernel @lines(
// CHECK-SAME: BLOCK_N = 64 : i64
// EMULATED: lines: 8 programs of 32 threads agree
func.func private @lines(%x: tensor<37x512xf16>) -> tensor<512xf16> attributes {adze.kernel} {
  %0 = graph.reduce_sum %x {axes = array<i64: 0>, keepdims = false} : (tensor<37x512xf16>) -> tensor<512xf16>
  return %0 : tensor<512xf16>
}

// On GPUs a program scans a row: the whole one, or chunks that continue the sums of those
// before them.
// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile=remarks=true --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sed -e '/^\/\/ Reversed/,$d; s/^\/\/ -----//' %s | aopt --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile | cuda-emulate - --symbols=70 | FileCheck %s --check-prefix=EMULATED

// CHECK-LABEL: tile.kernel @short(
// CHECK: %[[T:.*]] = tile.load %arg0[%{{.*}}, 0] sizes [700]
// CHECK: tile.scan add %[[T]] dim 0 : tensor<700xf32>
// CHECK-NOT: scf.for
// EMULATED: short: 3 programs of {{.*}} agree
func.func private @short(%x: tensor<3x700xf32>) -> tensor<3x700xf32> attributes {adze.kernel} {
  %0 = graph.cumsum %x {axis = 1 : i64} : (tensor<3x700xf32>) -> tensor<3x700xf32>
  return %0 : tensor<3x700xf32>
}

// -----

// CHECK-LABEL: tile.kernel @long(
// CHECK: scf.for {{.*}} step %c4096 iter_args(%[[BEFORE:.*]] = %{{.*}}) -> (tensor<i64>)
// CHECK: %[[T:.*]] = tile.load
// CHECK: %[[S:.*]] = tile.scan mul %[[T]] dim 0 : tensor<4096xi64>
// CHECK: %[[B:.*]] = tile.broadcast %[[BEFORE]] to [4096] dims []
// CHECK: arith.muli %[[B]], %[[S]]
// CHECK: tile.reduce mul %[[T]] dim 0
// EMULATED: long: 1 programs of {{.*}} agree
func.func private @long(%x: tensor<9000xi64>) -> tensor<9000xi64> attributes {adze.kernel} {
  %0 = graph.cumprod %x {axis = 0 : i64} : (tensor<9000xi64>) -> tensor<9000xi64>
  return %0 : tensor<9000xi64>
}

// -----

// EMULATED: dynamic: 6 programs of {{.*}} agree
#x = affine_map<()[s0] -> (2, 3, s0 * 100)>
func.func private @dynamic(%x: tensor<2x3x?xf32, #x>) -> tensor<2x3x?xf32, #x> attributes {adze.kernel} {
  %0 = graph.cumsum %x {axis = 2 : i64, exclusive = true} : (tensor<2x3x?xf32, #x>) -> tensor<2x3x?xf32, #x>
  return %0 : tensor<2x3x?xf32, #x>
}

// -----

// Reversed.
// expected-remark@below {{the scan is along the innermost dim}}
func.func private @reversed(%x: tensor<3x700xf32>) -> tensor<3x700xf32> attributes {adze.kernel} {
  %0 = graph.cumsum %x {axis = 1 : i64, reverse = true} : (tensor<3x700xf32>) -> tensor<3x700xf32>
  return %0 : tensor<3x700xf32>
}

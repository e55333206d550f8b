// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile=remarks=true --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sed -e '/^\/\/ Bytes/,$d; s/^\/\/ -----//' %s | aopt --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile | cuda-emulate - --symbols=3 | FileCheck %s --check-prefix=EMULATED

// A block holds a row, and selects its elements one after the other: each is the greatest
// one after the last that was selected, by key and index.
// CHECK-LABEL: tile.kernel @largest(
// CHECK: tile.load %arg0[%{{.*}}, 0] sizes [700]
// CHECK: %[[KEYS:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<1x700xi1>, tensor<1x700xi32>
// CHECK: tile.reduce max
// CHECK: tile.reduce min
// CHECK: tile.store %{{.*}}, %arg1[%{{.*}}, 0]
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1
// CHECK-NOT: tile.load
// CHECK: arith.cmpi slt, %[[KEYS]]
// CHECK: tile.store %{{.*}}, %arg2[
// EMULATED: largest: 3 programs of {{.*}} agree
func.func private @largest(%x: tensor<3x700xf32>) -> (tensor<3x5xf32>, tensor<3x5xi64>) attributes {adze.kernel} {
  %v, %i = graph.top_k %x {axis = 1 : i64} : (tensor<3x700xf32>) -> (tensor<3x5xf32>, tensor<3x5xi64>)
  return %v, %i : tensor<3x5xf32>, tensor<3x5xi64>
}

// -----

// The smallest of integers, of a dynamic number of rows; all elements of a vector of f16.
// EMULATED: smallest: 6 programs of {{.*}} agree
#x = affine_map<()[s0] -> (2, s0, 40)>
#y = affine_map<()[s0] -> (2, s0, 7)>
func.func private @smallest(%x: tensor<2x?x40xi32, #x>) -> (tensor<2x?x7xi32, #y>, tensor<2x?x7xi64, #y>) attributes {adze.kernel} {
  %v, %i = graph.top_k %x {axis = 2 : i64, largest = false} : (tensor<2x?x40xi32, #x>) -> (tensor<2x?x7xi32, #y>, tensor<2x?x7xi64, #y>)
  return %v, %i : tensor<2x?x7xi32, #y>, tensor<2x?x7xi64, #y>
}

// -----

// EMULATED: all: 1 programs of {{.*}} agree
func.func private @all(%x: tensor<33xf16>) -> (tensor<33xf16>, tensor<33xi64>) attributes {adze.kernel} {
  %v, %i = graph.top_k %x {axis = 0 : i64, largest = false} : (tensor<33xf16>) -> (tensor<33xf16>, tensor<33xi64>)
  return %v, %i : tensor<33xf16>, tensor<33xi64>
}

// -----

// Rows of another dim, of dynamic length, and many elements are ranked: a program counts
// the elements that are before each of its block, and stores it there.
// CHECK-LABEL: tile.kernel @axis(
// CHECK: %[[IDS:.*]]:2 = tile.program_id(%c11, %c7)
// CHECK: %[[OWN:.*]] = tile.load %arg0[%{{.*}}, %[[IDS]]#1] sizes [64] dims [0]
// CHECK: %[[RANKED:.*]] = arith.select
// CHECK: tile.load %arg0[%{{.*}}, %[[IDS]]#1] sizes [256] dims [0]
// CHECK: %[[BEFORE:.*]] = scf.for {{.*}} step %c256 {{.*}} -> (tensor<64x256xi32>)
// CHECK: arith.cmpi sge
// CHECK: %[[ALL:.*]] = scf.for {{.*}} step %c256 iter_args(%{{.*}} = %[[BEFORE]])
// CHECK: arith.cmpi sgt
// CHECK: %[[RANKS:.*]] = tile.reduce add %[[ALL]] dim 1
// CHECK: %[[PLACES:.*]] = arith.select %{{.*}}, %[[RANKS]], %{{.*}} : tensor<64xi1>, tensor<64xi32>
// CHECK: tile.scatter %[[OWN]], %arg1[0, %[[IDS]]#1] at %[[PLACES]] along 0 dims [-1]
// CHECK: tile.scatter %{{.*}}, %arg2[0, %[[IDS]]#1] at %[[PLACES]] along 0 dims [-1]
// EMULATED: axis: 77 programs of {{.*}} agree
func.func private @axis(%x: tensor<700x7xf32>) -> (tensor<5x7xf32>, tensor<5x7xi64>) attributes {adze.kernel} {
  %v, %i = graph.top_k %x {axis = 0 : i64} : (tensor<700x7xf32>) -> (tensor<5x7xf32>, tensor<5x7xi64>)
  return %v, %i : tensor<5x7xf32>, tensor<5x7xi64>
}

// -----

// EMULATED: dynamic: 5 programs of {{.*}} agree
#long = affine_map<()[s0] -> (s0 * 100)>
func.func private @dynamic(%x: tensor<?xf32, #long>) -> (tensor<5xf32>, tensor<5xi64>) attributes {adze.kernel} {
  %v, %i = graph.top_k %x {axis = 0 : i64} : (tensor<?xf32, #long>) -> (tensor<5xf32>, tensor<5xi64>)
  return %v, %i : tensor<5xf32>, tensor<5xi64>
}

// -----

// EMULATED: many: 47 programs of {{.*}} agree
func.func private @many(%x: tensor<3000xf32>) -> (tensor<500xf32>, tensor<500xi64>) attributes {adze.kernel} {
  %v, %i = graph.top_k %x {axis = 0 : i64, largest = false} : (tensor<3000xf32>) -> (tensor<500xf32>, tensor<500xi64>)
  return %v, %i : tensor<500xf32>, tensor<500xi64>
}

// -----

// Keys of 64 bits.
// CHECK-LABEL: tile.kernel @wide(
// CHECK: tensor<1x30xi64>
// EMULATED: wide: 1 programs of {{.*}} agree
func.func private @wide(%x: tensor<30xi64>) -> (tensor<5xi64>, tensor<5xi64>) attributes {adze.kernel} {
  %v, %i = graph.top_k %x {axis = 0 : i64} : (tensor<30xi64>) -> (tensor<5xi64>, tensor<5xi64>)
  return %v, %i : tensor<5xi64>, tensor<5xi64>
}

// -----

// Bytes.
// expected-remark@below {{no integer keys have the order of the elements}}
func.func private @narrow(%x: tensor<30xui8>) -> (tensor<5xui8>, tensor<5xi64>) attributes {adze.kernel} {
  %v, %i = graph.top_k %x {axis = 0 : i64} : (tensor<30xui8>) -> (tensor<5xui8>, tensor<5xi64>)
  return %v, %i : tensor<5xui8>, tensor<5xi64>
}

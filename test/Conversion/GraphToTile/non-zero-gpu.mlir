// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile=remarks=true --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sed -e '/^\/\/ An epilogue/,$d; s/^\/\/ -----//' %s | aopt --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile | cuda-emulate - --symbols=1500 | FileCheck %s --check-prefix=EMULATED
// RUN: aopt %s --split-input-file --convert-graph-to-tile | FileCheck %s --check-prefix=CPU
// CPU-NOT: tile.kernel

// A program counts the elements before its block that are not 0, in a loop, and scans
// those of the block. Elements that are 0 have a position out of bounds.
// CHECK-LABEL: tile.kernel @matrix(
// CHECK: %[[FLAT:.*]] = memref.collapse_shape %arg0
// CHECK: %[[SET:.*]] = arith.andi {{.*}} : tensor<2048xi1>
// CHECK: %[[COUNTS:.*]] = scf.for {{.*}} step %c2048 {{.*}} -> (tensor<2048xi32>)
// CHECK: tile.load %[[FLAT]][%{{.*}}] sizes [2048]
// CHECK: %[[EARLIER:.*]] = tile.reduce add %[[COUNTS]] dim 0
// CHECK: tile.scan add %{{.*}} dim 0 exclusive : tensor<2048xi32>
// CHECK: tile.broadcast %[[EARLIER]] to [2048] dims []
// CHECK: %[[PLACES:.*]] = arith.select %[[SET]], %{{.*}}, %{{.*}} : tensor<2048xi1>, tensor<2048xi32>
// CHECK: arith.remui
// CHECK: arith.divui
// CHECK: tile.scatter %{{.*}}, %arg1[1, 0] at %[[PLACES]] along 1 dims [-1]
// CHECK: tile.scatter %{{.*}}, %arg1[0, 0] at %[[PLACES]] along 1 dims [-1]
// EMULATED: matrix: 2 programs of {{.*}} agree
func.func private @matrix(%x: tensor<3x700xf32>) -> tensor<2x2000xi64> attributes {adze.kernel} {
  %v = graph.non_zero %x : (tensor<3x700xf32>) -> tensor<2x2000xi64>
  return %v : tensor<2x2000xi64>
}

// -----

// Of a dynamic size.
// EMULATED: bools: 3 programs of {{.*}} agree
#x = affine_map<()[s0] -> (s0 * 3)>
#y = affine_map<()[s0] -> (1, s0)>
func.func private @bools(%x: tensor<?xi1, #x>) -> tensor<1x?xi64, #y> attributes {adze.kernel} {
  %v = graph.non_zero %x : (tensor<?xi1, #x>) -> tensor<1x?xi64, #y>
  return %v : tensor<1x?xi64, #y>
}

// -----

// An epilogue.
// expected-remark@below {{non_zero has no epilogue}}
func.func private @epilogue(%x: tensor<40xf32>) -> tensor<1x30xi64> attributes {adze.kernel} {
  %v = graph.non_zero %x : (tensor<40xf32>) -> tensor<1x30xi64>
  %w = graph.neg %v : (tensor<1x30xi64>) -> tensor<1x30xi64>
  return %w : tensor<1x30xi64>
}

// In the order of indices: a program finds the least key that is selected, bit by bit, and
// a scan of those that are greater or equal gives the positions.
// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile=remarks=true --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sed -e '/^\/\/ Along another/,$d; s/^\/\/ -----//' %s | aopt --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile | cuda-emulate - --symbols=70 | FileCheck %s --check-prefix=EMULATED

// CHECK-LABEL: tile.kernel @whole(
// CHECK: %[[T:.*]] = tile.load %arg0[%{{.*}}, 0] sizes [700]
// CHECK: %[[LEAST:.*]] = scf.for %{{.*}} = %c0 to %c32 step %c1 iter_args(%{{.*}} = %{{.*}}) -> (tensor<i32>)
// CHECK-NOT: tile.load
// CHECK: arith.shli
// CHECK: arith.cmpi sge
// CHECK: tile.reduce add %{{.*}} dim 0 : tensor<700xi32>
// CHECK: arith.select %{{.*}} : tensor<i1>, tensor<i32>
// CHECK: tile.broadcast %[[LEAST]] to [700] dims []
// CHECK: tile.scan add %{{.*}} dim 0 exclusive : tensor<700xi32>
// CHECK: %[[PLACES:.*]] = arith.select {{.*}} : tensor<700xi1>, tensor<700xi32>
// CHECK: tile.scatter %[[T]], %arg1[%{{.*}}, 0] at %[[PLACES]] along 1 dims [-1]
// CHECK: tile.scatter %{{.*}}, %arg2[%{{.*}}, 0] at %[[PLACES]] along 1 dims [-1]
// EMULATED: whole: 3 programs of {{.*}} agree
func.func private @whole(%x: tensor<3x700xf32>) -> (tensor<3x45xf32>, tensor<3x45xi64>) attributes {adze.kernel} {
  %v, %i = graph.top_k %x {axis = 1 : i64, sorted = false} : (tensor<3x700xf32>) -> (tensor<3x45xf32>, tensor<3x45xi64>)
  return %v, %i : tensor<3x45xf32>, tensor<3x45xi64>
}

// -----

// A row that registers do not hold is read for each bit. Many elements are equal.
// CHECK-LABEL: tile.kernel @chunks(
// CHECK: scf.for %{{.*}} = %c0 to %c32
// CHECK: scf.for %{{.*}} = %c0 to %c20000 step %c16384
// CHECK: tile.load
// EMULATED: chunks: 1 programs of {{.*}} agree
func.func private @chunks(%x: tensor<20000xi32>) -> (tensor<500xi32>, tensor<500xi64>) attributes {adze.kernel} {
  %v, %i = graph.top_k %x {axis = 0 : i64, largest = false, sorted = false} : (tensor<20000xi32>) -> (tensor<500xi32>, tensor<500xi64>)
  return %v, %i : tensor<500xi32>, tensor<500xi64>
}

// -----

// Of a dynamic length, with keys of 64 bits.
// EMULATED: dynamic: 2 programs of {{.*}} agree
#x = affine_map<()[s0] -> (2, s0 * 100)>
func.func private @dynamic(%x: tensor<2x?xi64, #x>) -> (tensor<2x50xi64>, tensor<2x50xi64>) attributes {adze.kernel} {
  %v, %i = graph.top_k %x {axis = 1 : i64, sorted = false} : (tensor<2x?xi64, #x>) -> (tensor<2x50xi64>, tensor<2x50xi64>)
  return %v, %i : tensor<2x50xi64>, tensor<2x50xi64>
}

// -----

// Along another dim.
// expected-remark@below {{the selection is along another dim than the last one}}
func.func private @axis(%x: tensor<700x3xf32>) -> (tensor<45x3xf32>, tensor<45x3xi64>) attributes {adze.kernel} {
  %v, %i = graph.top_k %x {axis = 0 : i64, sorted = false} : (tensor<700x3xf32>) -> (tensor<45x3xf32>, tensor<45x3xi64>)
  return %v, %i : tensor<45x3xf32>, tensor<45x3xi64>
}

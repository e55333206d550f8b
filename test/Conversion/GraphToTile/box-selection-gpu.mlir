// Non-maximum suppression on GPUs: a program for each class holds the keys of all boxes,
// and drops the selected box and those that overlap it until none is left.
// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile=remarks=true --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sed -e '/^\/\/ A dynamic number of boxes/,$d; s/^\/\/ -----//' %s | aopt --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile | cuda-emulate - --symbols=3 | FileCheck %s --check-prefix=EMULATED
// RUN: aopt %s --split-input-file --convert-graph-to-tile | FileCheck %s --check-prefix=CPU
// CPU-NOT: tile.kernel

// CHECK-LABEL: tile.kernel @corners(
// CHECK: %[[S:.*]] = tile.load %arg1[%[[B:.*]], %[[C:.*]], 0] sizes [300]
// CHECK: arith.shli %{{.*}} : tensor<300xi64>
// CHECK: %[[IS:.*]] = arith.cmpf ogt, %[[S]]
// CHECK: %[[KEYS:.*]] = arith.select %[[IS]], %{{.*}} : tensor<300xi1>, tensor<300xi64>
// CHECK: %[[MOST:.*]] = tile.reduce max %[[KEYS]] dim 0
// CHECK: scf.for %[[K:.*]] = %c0 to %c20 {{.*}} iter_args(%[[REST:.*]] = %[[KEYS]], %[[NEXT:.*]] = %[[MOST]]) -> (tensor<300xi64>, tensor<i64>)
// CHECK: %[[KEY:.*]] = tensor.extract %[[NEXT]][] : tensor<i64>
// CHECK: memref.store %{{.*}}, %arg2[%[[B]], %[[C]], %[[K]]]
// CHECK: scf.if %{{.*}} -> (tensor<300xi64>, tensor<i64>)
// CHECK: scf.yield %[[REST]], %[[NEXT]]
// CHECK: } else {
// CHECK: memref.load %arg0[%[[B]], %c0, %{{.*}}] : memref<2x5x300xf32>
// CHECK: tile.load %arg0[%[[B]], 4, 0] sizes [300]
// CHECK: %[[LEFT:.*]] = arith.select %{{.*}}, %[[REST]] : tensor<300xi1>, tensor<300xi64>
// CHECK: tile.reduce max %[[LEFT]] dim 0
// EMULATED: corners: 6 programs of {{.*}} agree
func.func private @corners(%b: tensor<2x5x300xf32>, %s: tensor<2x3x300xf32>) -> tensor<2x3x20xi64> attributes {adze.kernel} {
  %y = graph.select_boxes %b, %s {overlap = 0.3 : f32, score = 0.1 : f32} : (tensor<2x5x300xf32>, tensor<2x3x300xf32>) -> tensor<2x3x20xi64>
  return %y : tensor<2x3x20xi64>
}

// -----

// More boxes than are left, and a dynamic number of images.
#b = affine_map<()[s0] -> (s0, 5, 40)>
#s = affine_map<()[s0] -> (s0, 2, 40)>
// CHECK-LABEL: tile.kernel @images(
// CHECK: scf.for {{.*}} to %c40 {{.*}} -> (tensor<40xi64>, tensor<i64>)
// EMULATED: images: 6 programs of {{.*}} agree
func.func private @images(%b: tensor<?x5x40xf32, #b>, %s: tensor<?x2x40xf32, #s>) -> tensor<?x2x40xi64, #s> attributes {adze.kernel} {
  %y = graph.select_boxes %b, %s {overlap = 0.0 : f32, score = 0.5 : f32} : (tensor<?x5x40xf32, #b>, tensor<?x2x40xf32, #s>) -> tensor<?x2x40xi64, #s>
  return %y : tensor<?x2x40xi64, #s>
}

// -----

// A dynamic number of boxes does not fit into registers.
#n = affine_map<()[s0] -> (1, 5, s0)>
#m = affine_map<()[s0] -> (1, 1, s0)>
// expected-remark@below {{falls back to the reference path: a program does not hold the scores of all boxes}}
func.func private @dynamic(%b: tensor<1x5x?xf32, #n>, %s: tensor<1x1x?xf32, #m>) -> tensor<1x1x8xi64> attributes {adze.kernel} {
  %y = graph.select_boxes %b, %s {overlap = 0.5 : f32, score = 0.1 : f32} : (tensor<1x5x?xf32, #n>, tensor<1x1x?xf32, #m>) -> tensor<1x1x8xi64>
  return %y : tensor<1x1x8xi64>
}

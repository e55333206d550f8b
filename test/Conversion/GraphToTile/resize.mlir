// RUN: aopt %s --convert-graph-to-tile=remarks=true --split-input-file --verify-diagnostics | FileCheck %s

// Channels are along the lanes: neighbours and weights are scalars.
// CHECK-LABEL: tile.kernel @channels
// CHECK: arith.divf %{{.*}} : f64
// CHECK: math.floor %{{.*}} : f64
// CHECK: %[[LOW:.*]] = arith.maxsi %{{.*}}, %{{.*}} : index
// CHECK: arith.minsi %[[LOW]], %{{.*}} : index
// CHECK-COUNT-4: tile.load %arg0[0, %{{.*}}, %{{.*}}, 0] sizes [48]
// CHECK-NOT: tile.load
// CHECK: tile.store
func.func private @channels(%x: tensor<1x7x9x48xf32>) -> tensor<1x14x20x48xf32> attributes {adze.kernel} {
  %0 = graph.resize %x {mode = #graph.resize_mode<linear>} : (tensor<1x7x9x48xf32>) -> tensor<1x14x20x48xf32>
  %1 = graph.relu %0 : (tensor<1x14x20x48xf32>) -> tensor<1x14x20x48xf32>
  return %1 : tensor<1x14x20x48xf32>
}

// -----

// Along the lanes they are tiles.
// CHECK-LABEL: tile.kernel @lanes
// CHECK: %[[AT:.*]] = arith.minsi %{{.*}}, %{{.*}} : tensor<{{.*}}xindex>
// CHECK-COUNT-4: tile.gather %arg0[0, %{{.*}}, %{{.*}}, 0] at %{{.*}} along 3 dims [-1]
// CHECK-NOT: tile.gather
func.func private @lanes(%x: tensor<1x3x7x9xf32>) -> tensor<1x3x14x20xf32> attributes {adze.kernel} {
  %0 = graph.resize %x {mode = #graph.resize_mode<linear>, coordinates = #graph.coordinates<align_corners>} : (tensor<1x3x7x9xf32>) -> tensor<1x3x14x20xf32>
  return %0 : tensor<1x3x14x20xf32>
}

// -----

// One neighbour of each dim, without a weight.
// CHECK-LABEL: tile.kernel @nearest
// CHECK-COUNT-1: tile.load
// CHECK-NOT: tile.load
// CHECK-NOT: arith.mulf %{{.*}} : tensor
func.func private @nearest(%x: tensor<1x7x9x48xi8>) -> tensor<1x10x20x48xi8> attributes {adze.kernel} {
  %0 = graph.resize %x : (tensor<1x7x9x48xi8>) -> tensor<1x10x20x48xi8>
  return %0 : tensor<1x10x20x48xi8>
}

// -----

// With dynamic sizes: if a dim is copied at run time, weights are 0.
// CHECK-LABEL: tile.kernel @dynamic
// CHECK: memref.dim %arg0
// CHECK: tile.load
// CHECK: arith.select %{{.*}} : tensor<{{.*}}xi1>, tensor<{{.*}}xf32>
#x = affine_map<()[s0, s1] -> (1, s0, 48)>
#y = affine_map<()[s0, s1] -> (1, s1, 48)>
func.func private @dynamic(%x: tensor<1x?x48xf32, #x>) -> tensor<1x?x48xf32, #y> attributes {adze.kernel} {
  %0 = graph.resize %x {mode = #graph.resize_mode<linear>} : (tensor<1x?x48xf32, #x>) -> tensor<1x?x48xf32, #y>
  return %0 : tensor<1x?x48xf32, #y>
}

// -----

// CHECK-LABEL: func.func private @integers
// expected-remark @+1 {{interpolation of integers has no tile form}}
func.func private @integers(%x: tensor<1x7x48xi32>) -> tensor<1x9x48xi32> attributes {adze.kernel} {
  %0 = graph.resize %x {mode = #graph.resize_mode<linear>} : (tensor<1x7x48xi32>) -> tensor<1x9x48xi32>
  return %0 : tensor<1x9x48xi32>
}

// -----

// CHECK-LABEL: func.func private @part
// expected-remark @+1 {{tf_crop_and_resize has no tile form}}
func.func private @part(%x: tensor<1x7x48xf32>) -> tensor<1x9x48xf32> attributes {adze.kernel} {
  %0 = graph.resize %x {mode = #graph.resize_mode<linear>, coordinates = #graph.coordinates<tf_crop_and_resize>, roi = array<f64: 0.0, 0.1, 0.0, 1.0, 0.8, 1.0>} : (tensor<1x7x48xf32>) -> tensor<1x9x48xf32>
  return %0 : tensor<1x9x48xf32>
}

// RUN: aopt %s --convert-graph-to-tile --split-input-file | FileCheck %s
// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile=remarks --split-input-file 2>&1 | FileCheck %s --check-prefix=GPU

// Pixels of some lines are the lanes, planes of the inputs are read one after the other,
// and outputs of one position are adjacent.
// CHECK-LABEL: tile.kernel @planes
// CHECK: %[[LINES:.*]] = tile.param "LINES"
// CHECK: %[[ID:.*]]:2 = tile.program_id(%c3{{.*}}, %{{.*}})
// CHECK: scf.for %[[C:.*]] = %c0{{.*}} to %c8
// CHECK-COUNT-9: tile.load %arg0[0, %[[C]], {{.*}}] sizes [64, %[[LINES]]] dims [3, 2]
// CHECK-NOT: tile.load %arg0
// CHECK: tile.load %arg2[%[[ID]]#0] sizes [1]
// CHECK: tile.store {{.*}}, %arg3[0, %[[ID]]#0, {{.*}}]
// GPU: only channels-last convolutions have a tile form
func.func private @planes(%x: tensor<1x8x32x64xf32>, %w: tensor<3x8x3x3xf32>, %b: tensor<3xf32>) -> tensor<1x3x32x64xf32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x8x32x64xf32>, tensor<3x8x3x3xf32>, tensor<3xf32>) -> tensor<1x3x32x64xf32>
  return %0 : tensor<1x3x32x64xf32>
}

// -----

// A single channel is a plane in either layout.
// CHECK-LABEL: tile.kernel @single
// CHECK-NOT: tile.dot
// CHECK: tile.load %arg0
// GPU-LABEL: tile.kernel @single
// GPU: tile.dot
func.func private @single(%x: tensor<1x16x64x1xf32>, %w: tensor<1x1x3x3xf32>) -> tensor<1x16x64x1xf32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x16x64x1xf32>, tensor<1x1x3x3xf32>) -> tensor<1x16x64x1xf32>
  return %0 : tensor<1x16x64x1xf32>
}

// RUN: aopt %s --convert-graph-to-tile=remarks=true --split-input-file --verify-diagnostics | FileCheck %s

// A phase for each remainder of the columns, with static taps: tap 1 of the first reads
// one pixel further than tap 3. Rows use the taps of their remainder that are in bounds.
// Pixels of a phase are stored with a stride.
// CHECK-DAG: #[[PACK:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 floordiv 32, d2, d3, d0, d1 mod 32)>
// CHECK: tile.kernel @phases(%[[X:.*]]: memref<1x14x14x64xf32>, %[[W:.*]]: memref<64x32x4x4xf32, #[[PACK]]>, %[[Y:.*]]: memref<1x28x28x32xf32>)
// CHECK: tile.program_id
// CHECK: tile.phase
// CHECK: scf.for
// CHECK: tile.load %[[X]][0, %[[ROW:.*]], 0, %[[C:.*]]] sizes [14, %{{.*}}]
// CHECK: tile.load %[[W]][%[[C]], %[[O:.*]], %[[R:.*]], 1] sizes [%{{.*}}, %{{.*}}]
// CHECK: tile.dot
// CHECK: tile.load %[[X]][0, %[[ROW]], -1, %[[C:.*]]] sizes
// CHECK: tile.load %[[W]][%[[C]], %[[O]], %[[R]], 3]
// CHECK: tile.store %{{.*}}, %[[Y]][0, %[[P:.*]], 0, %[[O]]] strides [2, 1]
// CHECK: tile.phase
// CHECK: tile.load %[[X]][0, %{{.*}}, 1, %{{.*}}]
// CHECK: tile.load %[[W]][%{{.*}}, %[[O]], %{{.*}}, 0]
// CHECK: tile.load %[[X]][0, %{{.*}}, 0, %{{.*}}]
// CHECK: tile.load %[[W]][%{{.*}}, %[[O]], %{{.*}}, 2]
// CHECK: tile.store %{{.*}}, %[[Y]][0, %[[P]], 1, %[[O]]] strides [2, 1]
func.func @main(%x: tensor<1x14x14x64xf32>) -> tensor<1x28x28x32xf32> {
  %w = graph.constant dense<1.0> : tensor<64x32x4x4xf32>
  %0 = host.launch @phases(%x, %w) : (tensor<1x14x14x64xf32>, tensor<64x32x4x4xf32>) -> tensor<1x28x28x32xf32>
  return %0 : tensor<1x28x28x32xf32>
}
func.func private @phases(%x: tensor<1x14x14x64xf32>, %w: tensor<64x32x4x4xf32>) -> tensor<1x28x28x32xf32> attributes {adze.kernel} {
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, layout = #graph.layout<nhwc>} : (tensor<1x14x14x64xf32>, tensor<64x32x4x4xf32>) -> tensor<1x28x28x32xf32>
  return %0 : tensor<1x28x28x32xf32>
}

// -----

// A single tap per phase needs a loop over the channels only, for any image size.
// CHECK-LABEL: tile.kernel @one_tap
// CHECK: tile.phase
// CHECK: scf.for %{{.*}} = %c0 to %c8
// CHECK-NOT: scf.for
// CHECK: tile.phase
// CHECK: scf.for %{{.*}} = %c0 to %c8
// CHECK-NOT: scf.for
// CHECK: tile.return
#x = affine_map<()[s0, s1] -> (1, s0, s1, 8)>
#y = affine_map<()[s0, s1] -> (1, s0 * 2, s1 * 2, 8)>
func.func private @one_tap(%x: tensor<1x?x?x8xf32, #x>, %w: tensor<8x8x2x2xf32>, %b: tensor<8xf32>) -> tensor<1x?x?x8xf32, #y> attributes {adze.kernel} {
  %0 = graph.conv_transpose %x, %w, %b {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, layout = #graph.layout<nhwc>} : (tensor<1x?x?x8xf32, #x>, tensor<8x8x2x2xf32>, tensor<8xf32>) -> tensor<1x?x?x8xf32, #y>
  %1 = graph.relu %0 : (tensor<1x?x?x8xf32, #y>) -> tensor<1x?x?x8xf32, #y>
  return %1 : tensor<1x?x?x8xf32, #y>
}

// -----

// With many phases, each is a separate program.
// CHECK-LABEL: tile.kernel @many
// CHECK: %[[BLOCKS:.*]] = arith.muli %{{.*}}, %c10
// CHECK: tile.program_id(%c3, %[[BLOCKS]])
// CHECK-NOT: tile.phase
// CHECK: tile.store {{.*}} strides [10, 1]
func.func private @many(%x: tensor<1x2x5x8xf32>, %w: tensor<8x8x2x20xf32>) -> tensor<1x3x60x8xf32> attributes {adze.kernel} {
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 1, 10>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>, layout = #graph.layout<nhwc>} : (tensor<1x2x5x8xf32>, tensor<8x8x2x20xf32>) -> tensor<1x3x60x8xf32>
  return %0 : tensor<1x3x60x8xf32>
}

// -----

// CHECK-LABEL: func.func private @nchw
// expected-remark @+1 {{only channels-last convolutions have a tile form}}
func.func private @nchw(%x: tensor<1x4x8x8xf32>, %w: tensor<4x4x2x2xf32>) -> tensor<1x4x16x16xf32> attributes {adze.kernel} {
  %0 = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x4x8x8xf32>, tensor<4x4x2x2xf32>) -> tensor<1x4x16x16xf32>
  return %0 : tensor<1x4x16x16xf32>
}

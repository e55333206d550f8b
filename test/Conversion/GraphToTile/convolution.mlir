// RUN: aopt %s --convert-graph-to-tile --split-input-file | FileCheck %s
// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile --split-input-file | FileCheck %s --check-prefix=ANY

// A window: a loop over its rows that are in bounds, with its columns unrolled, and the
// input channels carries the accumulator; a program computes a whole row of pixels, whose
// padding is that of loads; the filter is packed by a permuting map.
// CHECK-DAG: #[[PACK:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 floordiv 32, d2, d3, d1, d0 mod 32)>
// CHECK: tile.kernel @conv(%[[X:.*]]: memref<1x56x56x64xf32>, %[[W:.*]]: memref<64x64x3x3xf32, #[[PACK]]>, %[[Y:.*]]: memref<1x28x28x64xf32>)
// CHECK: %[[P:.*]]:2 = tile.program_id
// CHECK: %[[FIRST:.*]] = arith.maxsi
// CHECK: %[[LAST:.*]] = arith.minsi
// CHECK: %[[COUNT:.*]] = arith.subi %[[LAST]], %[[FIRST]]
// CHECK: scf.for %{{.*}} = %c0 to %[[COUNT]]
// CHECK: scf.for %[[C:.*]] = %c0 to %c64
// CHECK: tile.load %[[X]][0, %[[ROW:.*]], -1, %[[C]]] sizes [28, %{{.*}}] strides [2, 1]
// CHECK: tile.load %[[W]][%{{.*}}, %[[C]], %[[R:.*]], 0] sizes [%{{.*}}, %{{.*}}] dims [1, 0]
// CHECK: tile.dot
// CHECK: scf.for %[[C:.*]] = %c0 to %c64
// CHECK: tile.load %[[X]][0, %[[ROW]], 0, %[[C]]] sizes [28, %{{.*}}] strides [2, 1]
// CHECK: tile.load %[[W]][%{{.*}}, %[[C]], %[[R]], 1]
// CHECK: tile.dot
// CHECK: tile.load %[[X]][0, %[[ROW]], 1, %{{.*}}]
// CHECK: tile.store %{{.*}}, %[[Y]][0, %[[P]]#1, 0, %{{.*}}]
func.func @main(%x: tensor<1x56x56x64xf32>) -> tensor<1x28x28x64xf32> {
  %w = graph.constant dense<1.0> : tensor<64x64x3x3xf32>
  %0 = host.launch @conv(%x, %w) : (tensor<1x56x56x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x28x28x64xf32>
  return %0 : tensor<1x28x28x64xf32>
}
func.func private @conv(%x: tensor<1x56x56x64xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x28x28x64xf32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x56x56x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x28x28x64xf32>
  return %0 : tensor<1x28x28x64xf32>
}

// -----

// 1x1 without stride: a matrix product over the pixels of all images.
// CHECK-LABEL: tile.kernel @pointwise
// CHECK: %[[X:.*]] = memref.collapse_shape %arg0 {{\[\[}}0, 1, 2], [3]] : memref<1x56x56x64xf32> into memref<3136x64xf32>
// CHECK: %[[R:.*]] = memref.collapse_shape %arg3
// CHECK: %[[Y:.*]] = memref.collapse_shape %arg4
// CHECK: tile.load %[[X]]
// CHECK: tile.dot
// CHECK: tile.load %arg2
// CHECK: tile.load %[[R]]
// CHECK: tile.store %{{.*}}, %[[Y]]
func.func private @pointwise(%x: tensor<1x56x56x64xf32>, %w: tensor<256x64x1x1xf32>, %b: tensor<256xf32>, %r: tensor<1x56x56x256xf32>) -> tensor<1x56x56x256xf32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x56x56x64xf32>, tensor<256x64x1x1xf32>, tensor<256xf32>) -> tensor<1x56x56x256xf32>
  %1 = graph.add %0, %r : (tensor<1x56x56x256xf32>, tensor<1x56x56x256xf32>) -> tensor<1x56x56x256xf32>
  return %1 : tensor<1x56x56x256xf32>
}

// -----

// Depthwise: each channel separately; the sum is a carried tile.
// CHECK-LABEL: tile.kernel @depthwise
// CHECK-NOT: tile.dot
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: %[[X:.*]] = tile.load %arg0
// CHECK: %[[W:.*]] = tile.load %arg1
// CHECK: %[[WB:.*]] = tile.broadcast %[[W]] {{.*}} dims [1]
// CHECK: math.fma %[[X]], %[[WB]]
// CHECK-COUNT-2: math.fma
func.func private @depthwise(%x: tensor<1x56x56x32xf32>, %w: tensor<32x1x3x3xf32>) -> tensor<1x56x56x32xf32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {group = 32 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x56x56x32xf32>, tensor<32x1x3x3xf32>) -> tensor<1x56x56x32xf32>
  return %0 : tensor<1x56x56x32xf32>
}

// -----

// Channels first with a dynamic height: pixels of a row are the lanes, lines with
// overlapping windows are processed together, and each tap has separate code.
// CHECK-LABEL: tile.kernel @planes
// CHECK: %[[LINES:.*]] = tile.param "LINES"
// CHECK-NOT: scf.for
// CHECK-COUNT-9: tile.load %arg0[{{.*}}] sizes [56, 1, %[[LINES]]] dims [3, 1, 2]
func.func private @planes(%x: tensor<1x32x?x56xf32, affine_map<()[s0] -> (1, 32, s0, 56)>>, %w: tensor<32x1x3x3xf32>) -> tensor<1x32x?x56xf32, affine_map<()[s0] -> (1, 32, s0, 56)>> attributes {adze.kernel} {
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x32x?x56xf32, affine_map<()[s0] -> (1, 32, s0, 56)>>) -> tensor<1x?x56x32xf32, affine_map<()[s0] -> (1, s0, 56, 32)>>
  %1 = graph.conv %0, %w {group = 32 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x?x56x32xf32, affine_map<()[s0] -> (1, s0, 56, 32)>>, tensor<32x1x3x3xf32>) -> tensor<1x?x56x32xf32, affine_map<()[s0] -> (1, s0, 56, 32)>>
  %2 = graph.transpose %1 {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x?x56x32xf32, affine_map<()[s0] -> (1, s0, 56, 32)>>) -> tensor<1x32x?x56xf32, affine_map<()[s0] -> (1, 32, s0, 56)>>
  return %2 : tensor<1x32x?x56xf32, affine_map<()[s0] -> (1, 32, s0, 56)>>
}

// -----

// Groups: blocks are constants, as they must end with a group.
// CHECK-LABEL: tile.kernel @grouped
// CHECK-NOT: tile.param "BLOCK_N"
// CHECK: tile.load %arg0[0, %{{.*}}, 0, %{{.*}}] sizes [8, 6]
// CHECK: tile.load %arg1[%{{.*}}, {{.*}}] sizes [6, 28] dims [1, 0]
func.func private @grouped(%x: tensor<1x8x8x24xf32>, %w: tensor<112x6x1x1xf32>) -> tensor<1x8x8x112xf32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {group = 4 : i64, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x8x8x24xf32>, tensor<112x6x1x1xf32>) -> tensor<1x8x8x112xf32>
  return %0 : tensor<1x8x8x112xf32>
}

// -----

// Groups of few channels, several of which fit a vector: each channel reads the first
// input of its group, then the second, the third and the fourth. Only if no other target
// uses the kernel.
// ANY-LABEL: tile.kernel @grouped_lanes
// ANY-NOT: tile.gather
// ANY: tile.return
// CHECK-LABEL: tile.kernel @grouped_lanes
// CHECK: tile.param "BLOCK_N"
// CHECK-NOT: tile.dot
// CHECK: tile.iota
// CHECK: arith.divui
// CHECK: tile.gather %arg0[0, %{{.*}}, -1, %{{.*}}] at %{{.*}} along 3 dims [2, -1]
// CHECK: tile.load %arg1[%{{.*}}, 0, %{{.*}}, 0]
// CHECK: math.fma
// CHECK: tile.load %arg1[%{{.*}}, 3, %{{.*}}, 0]
// CHECK: math.fma
// CHECK-NOT: tile.dot
func.func private @grouped_lanes(%x: tensor<1x14x14x64xf32>, %w: tensor<64x4x3x3xf32>) -> tensor<1x14x14x64xf32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {group = 16 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x14x14x64xf32>, tensor<64x4x3x3xf32>) -> tensor<1x14x14x64xf32>
  return %0 : tensor<1x14x14x64xf32>
}

// -----

// With strides, the pixels are at that distance.
// CHECK-LABEL: tile.kernel @grouped_strided
// CHECK-COUNT-4: tile.gather %arg0[0, %{{.*}}, -1, %{{.*}}] at %{{.*}} along 3 dims [2, -1] strides [2, 1]
func.func private @grouped_strided(%x: tensor<1x14x14x64xf32>, %w: tensor<64x4x3x1xf32>) -> tensor<1x7x8x64xf32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {group = 16 : i64, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x14x14x64xf32>, tensor<64x4x3x1xf32>) -> tensor<1x7x8x64xf32>
  return %0 : tensor<1x7x8x64xf32>
}

// -----

// Unless the kernel computes the gathered values, or outputs fill vectors.
// CHECK-LABEL: tile.kernel @grouped_computed
// CHECK-NOT: tile.gather
// CHECK: tile.dot
func.func private @grouped_computed(%x: tensor<1x14x14x64xf32>, %w: tensor<64x4x3x3xf32>) -> tensor<1x14x14x64xf32> attributes {adze.kernel} {
  %r = graph.relu %x : (tensor<1x14x14x64xf32>) -> tensor<1x14x14x64xf32>
  %0 = graph.conv %r, %w {group = 16 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x14x14x64xf32>, tensor<64x4x3x3xf32>) -> tensor<1x14x14x64xf32>
  return %0 : tensor<1x14x14x64xf32>
}

// -----

// CHECK-LABEL: tile.kernel @grouped_wider
// CHECK-NOT: tile.gather
// CHECK: tile.dot
func.func private @grouped_wider(%x: tensor<1x14x14x64xf32>, %w: tensor<256x4x3x3xf32>) -> tensor<1x14x14x256xf32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {group = 16 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x14x14x64xf32>, tensor<256x4x3x3xf32>) -> tensor<1x14x14x256xf32>
  return %0 : tensor<1x14x14x256xf32>
}

// -----

// Groups with more outputs than inputs: a block of outputs begins at the first input of
// its first group.
// CHECK-LABEL: tile.kernel @grouped_multiple
// CHECK: %[[C:.*]] = arith.muli %{{.*}}#0, %{{.*}} : index
// CHECK: %[[GROUP:.*]] = arith.divui %[[C]], %c4
// CHECK: %[[FIRST:.*]] = arith.muli %[[GROUP]], %c2
// CHECK: tile.gather %arg0[0, %{{.*}}, -1, %[[FIRST]]]
// CHECK: tile.load %arg1[%[[C]], 0, %{{.*}}, 0]
func.func private @grouped_multiple(%x: tensor<1x14x14x64xf32>, %w: tensor<128x2x3x3xf32>) -> tensor<1x14x14x128xf32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {group = 32 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x14x14x64xf32>, tensor<128x2x3x3xf32>) -> tensor<1x14x14x128xf32>
  return %0 : tensor<1x14x14x128xf32>
}

// -----

// The first convolution reads the model's NCHW input in place. So few channels have no
// loop: the columns of the window have one.
// CHECK-LABEL: tile.kernel @border
// CHECK: scf.for %[[S:.*]] = %c0 to %c3
// CHECK: %[[AT:.*]] = arith.addi %c-1, %[[S]]
// CHECK: tile.load %arg0[0, %{{.*}}, %{{.*}}, %[[AT]]] sizes [112, %{{.*}}] dims [3, 1] strides [2, 1]
func.func private @border(%x: tensor<1x3x224x224xf32>, %w: tensor<32x3x3x3xf32>) -> tensor<1x112x112x32xf32> attributes {adze.kernel} {
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x224x224xf32>) -> tensor<1x224x224x3xf32>
  %1 = graph.conv %0, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x224x224x3xf32>, tensor<32x3x3x3xf32>) -> tensor<1x112x112x32xf32>
  return %1 : tensor<1x112x112x32xf32>
}

// -----

// Rows of dynamic width are tiled in blocks, and all taps are a loop.
// CHECK-LABEL: tile.kernel @dynamic
// CHECK: %[[P:.*]] = tile.param "BLOCK_P"
// CHECK: %[[H:.*]] = memref.dim %arg0, %c1
// CHECK: arith.minsi
// CHECK: %[[S:.*]] = scf.for %{{.*}} = %c0 to %c3
// CHECK: tile.load %arg0[0, %{{.*}}, %{{.*}}, %{{.*}}] sizes [%[[P]], %{{.*}}]
func.func private @dynamic(%x: tensor<1x?x?x64xf32, affine_map<()[s0, s1] -> (1, s0, s1, 64)>>, %w: tensor<32x64x3x3xf32>) -> tensor<1x?x?x32xf32, affine_map<()[s0, s1] -> (1, s0, s1, 32)>> attributes {adze.kernel} {
  %1 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x?x?x64xf32, affine_map<()[s0, s1] -> (1, s0, s1, 64)>>, tensor<32x64x3x3xf32>) -> tensor<1x?x?x32xf32, affine_map<()[s0, s1] -> (1, s0, s1, 32)>>
  return %1 : tensor<1x?x?x32xf32, affine_map<()[s0, s1] -> (1, s0, s1, 32)>>
}

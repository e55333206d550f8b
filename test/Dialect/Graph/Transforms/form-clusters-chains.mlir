// Consecutive convolutions, one of which is depthwise: one cluster if the intermediate
// image has more bytes.
// RUN: aopt %s --graph-form-clusters=chain-bytes=65536 --split-input-file | FileCheck %s
// RUN: aopt %s --graph-form-clusters --split-input-file | FileCheck %s --check-prefix=NEVER
// NEVER-LABEL: func @expanded
// NEVER-COUNT-3: graph.cluster

// Any number of images; the residual is part of the cluster.
// CHECK-LABEL: func @expanded
// CHECK: graph.cluster({{.*}}) anchor "conv"
// CHECK-NEXT: graph.conv
// CHECK-NEXT: graph.relu
// CHECK-NEXT: graph.conv
// CHECK-NEXT: graph.relu
// CHECK-NEXT: graph.conv
// CHECK-NEXT: graph.add
// CHECK-NOT: graph.cluster
#x = affine_map<()[s0] -> (s0, 56, 56, 16)>
#e = affine_map<()[s0] -> (s0, 56, 56, 64)>
func.func @expanded(%x: tensor<?x56x56x16xf32, #x>, %a: tensor<64x16x1x1xf32>, %d: tensor<64x1x3x3xf32>, %p: tensor<16x64x1x1xf32>) -> tensor<?x56x56x16xf32, #x> {
  %0 = graph.conv %x, %a {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<?x56x56x16xf32, #x>, tensor<64x16x1x1xf32>) -> tensor<?x56x56x64xf32, #e>
  %1 = graph.relu %0 : (tensor<?x56x56x64xf32, #e>) -> tensor<?x56x56x64xf32, #e>
  %2 = graph.conv %1, %d {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 64 : i64, layout = #graph.layout<nhwc>} : (tensor<?x56x56x64xf32, #e>, tensor<64x1x3x3xf32>) -> tensor<?x56x56x64xf32, #e>
  %3 = graph.relu %2 : (tensor<?x56x56x64xf32, #e>) -> tensor<?x56x56x64xf32, #e>
  %4 = graph.conv %3, %p {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<?x56x56x64xf32, #e>, tensor<16x64x1x1xf32>) -> tensor<?x56x56x16xf32, #x>
  %5 = graph.add %4, %x : (tensor<?x56x56x16xf32, #x>, tensor<?x56x56x16xf32, #x>) -> tensor<?x56x56x16xf32, #x>
  return %5 : tensor<?x56x56x16xf32, #x>
}

// -----

// Images with other users are stored in any case.
// CHECK-LABEL: func @read_twice
// CHECK-COUNT-2: graph.cluster
func.func @read_twice(%x: tensor<1x56x56x16xf32>, %a: tensor<64x16x1x1xf32>, %d: tensor<64x1x3x3xf32>) -> (tensor<1x56x56x64xf32>, tensor<1x56x56x64xf32>) {
  %0 = graph.conv %x, %a {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x56x56x16xf32>, tensor<64x16x1x1xf32>) -> tensor<1x56x56x64xf32>
  %1 = graph.conv %0, %d {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 64 : i64, layout = #graph.layout<nhwc>} : (tensor<1x56x56x64xf32>, tensor<64x1x3x3xf32>) -> tensor<1x56x56x64xf32>
  return %0, %1 : tensor<1x56x56x64xf32>, tensor<1x56x56x64xf32>
}

// -----

// Dense convolutions are compute-bound.
// CHECK-LABEL: func @dense
// CHECK-COUNT-2: graph.cluster
func.func @dense(%x: tensor<1x56x56x16xf32>, %a: tensor<64x16x1x1xf32>, %d: tensor<64x64x3x3xf32>) -> tensor<1x56x56x64xf32> {
  %0 = graph.conv %x, %a {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x56x56x16xf32>, tensor<64x16x1x1xf32>) -> tensor<1x56x56x64xf32>
  %1 = graph.conv %0, %d {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x56x56x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x56x56x64xf32>
  return %1 : tensor<1x56x56x64xf32>
}

// -----

// Rows of the first one would be recomputed several times for a large window.
// CHECK-LABEL: func @again
// CHECK-COUNT-2: graph.cluster
func.func @again(%x: tensor<1x28x56x256xf32>, %a: tensor<64x256x1x1xf32>, %d: tensor<64x1x9x9xf32>) -> tensor<1x28x56x64xf32> {
  %0 = graph.conv %x, %a {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x28x56x256xf32>, tensor<64x256x1x1xf32>) -> tensor<1x28x56x64xf32>
  %1 = graph.conv %0, %d {strides = array<i64: 1, 1>, pads = array<i64: 4, 4, 4, 4>, dilations = array<i64: 1, 1>, group = 64 : i64, layout = #graph.layout<nhwc>} : (tensor<1x28x56x64xf32>, tensor<64x1x9x9xf32>) -> tensor<1x28x56x64xf32>
  return %1 : tensor<1x28x56x64xf32>
}

// -----

// An op that is not elementwise; rows of dynamic width.
// CHECK-LABEL: func @apart
// CHECK-COUNT-4: graph.cluster
#x = affine_map<()[s0] -> (1, 56, s0, 16)>
#e = affine_map<()[s0] -> (1, 56, s0, 64)>
func.func @apart(%x: tensor<1x56x56x64xf32>, %u: tensor<1x56x?x16xf32, #x>, %a: tensor<64x16x1x1xf32>, %d: tensor<64x1x3x3xf32>) -> (tensor<1x56x56x64xf32>, tensor<1x56x?x64xf32, #e>) {
  %0 = graph.conv %x, %d {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 64 : i64, layout = #graph.layout<nhwc>} : (tensor<1x56x56x64xf32>, tensor<64x1x3x3xf32>) -> tensor<1x56x56x64xf32>
  %1 = graph.softmax %0 {axis = 3 : i64} : (tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
  %2 = graph.conv %u, %a {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x56x?x16xf32, #x>, tensor<64x16x1x1xf32>) -> tensor<1x56x?x64xf32, #e>
  %3 = graph.conv %2, %d {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 64 : i64, layout = #graph.layout<nhwc>} : (tensor<1x56x?x64xf32, #e>, tensor<64x1x3x3xf32>) -> tensor<1x56x?x64xf32, #e>
  return %1, %3 : tensor<1x56x56x64xf32>, tensor<1x56x?x64xf32, #e>
}

// -----

// The rows under a window must fit as well.
// CHECK-LABEL: func @wide
// CHECK-COUNT-2: graph.cluster
func.func @wide(%x: tensor<1x56x128x4xf32>, %a: tensor<64x4x1x1xf32>, %d: tensor<64x1x3x3xf32>) -> tensor<1x56x128x64xf32> {
  %0 = graph.conv %x, %a {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x56x128x4xf32>, tensor<64x4x1x1xf32>) -> tensor<1x56x128x64xf32>
  %1 = graph.conv %0, %d {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 64 : i64, layout = #graph.layout<nhwc>} : (tensor<1x56x128x64xf32>, tensor<64x1x3x3xf32>) -> tensor<1x56x128x64xf32>
  return %1 : tensor<1x56x128x64xf32>
}

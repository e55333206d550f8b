// RUN: aopt %s --graph-form-clusters --split-input-file | FileCheck %s
// RUN: aopt %s --graph-form-clusters --graph-outline-clusters --split-input-file | FileCheck %s --check-prefix=LAUNCH

// An insertion ends the kernel that computes its source; the destination is passed
// through. A user of a part, here a pooling, reads it from there; one that reads the
// whole tensor is a separate kernel.
// CHECK-LABEL: func.func @chain
// CHECK: %[[D:.*]] = graph.empty
// CHECK: %[[A:.*]] = graph.cluster({{.*}}%[[D]]) anchor "conv"
// CHECK: graph.relu
// CHECK-NEXT: %[[I:.*]] = graph.insert_slice
// CHECK-NEXT: graph.yield %[[I]] :
// CHECK: %[[B:.*]] = graph.cluster(%{{.*}} = %[[A]]) anchor "max_pool"
// CHECK-NEXT: graph.slice
// CHECK-NEXT: graph.max_pool
// CHECK-NEXT: graph.insert_slice
// CHECK: graph.cluster(%{{.*}} = %[[B]]) anchor "pointwise"
// CHECK-NEXT: graph.exp
// LAUNCH-LABEL: func.func @chain
// LAUNCH: host.launch @conv_relu_insert_slice_0({{.*}}adze.bytes_read = 384 : i64, adze.bytes_saved = 2048 : i64, adze.bytes_written = 512 : i64
// LAUNCH: host.launch @slice_max_pool_insert_slice_0({{.*}}adze.bytes_read = 512 : i64, {{.*}}adze.bytes_written = 512 : i64
// LAUNCH: host.launch @exp_0(
func.func @chain(%x: tensor<1x4x4x4xf32>, %w: tensor<8x4x1x1xf32>) -> tensor<1x4x4x16xf32> {
  %d = graph.empty : () -> tensor<1x4x4x16xf32>
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x4x4x4xf32>, tensor<8x4x1x1xf32>) -> tensor<1x4x4x8xf32>
  %1 = graph.relu %0 : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %2 = graph.insert_slice %1, %d {axis = 3 : i64, offsets = affine_map<() -> (0)>} : (tensor<1x4x4x8xf32>, tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32>
  %3 = graph.slice %2 {starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x4x4x16xf32>) -> tensor<1x4x4x8xf32>
  %4 = graph.max_pool %3 {kernel = array<i64: 3, 3>, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  %5 = graph.insert_slice %4, %2 {axis = 3 : i64, offsets = affine_map<() -> (8)>} : (tensor<1x4x4x8xf32>, tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32>
  %6 = graph.exp %5 : (tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32>
  return %6 : tensor<1x4x4x16xf32>
}

// -----

// A source that is inserted in two tensors is stored twice by one kernel; repeated
// elements are stored when they are read. Elements that are looked up one by one have a
// separate kernel.
#n = affine_map<()[s0] -> (s0, 4)>
#m = affine_map<()[s0] -> (s0, 12)>
// CHECK-LABEL: func.func @several
// CHECK: graph.cluster({{.*}}) anchor "pointwise"
// CHECK-NEXT: graph.relu
// CHECK-NEXT: graph.insert_slice
// CHECK-NEXT: graph.insert_slice
// CHECK-NEXT: graph.yield
// CHECK: graph.cluster({{.*}}) anchor "pointwise"
// CHECK-NEXT: graph.gather_elements
// CHECK-NEXT: graph.yield
// CHECK: graph.cluster({{.*}}) anchor "pointwise"
// CHECK-NEXT: graph.insert_slice
// CHECK-NEXT: graph.yield
func.func @several(%x: tensor<?x4xf32, #n>, %i: tensor<?x4xi64, #n>) -> (tensor<?x12xf32, #m>, tensor<?x12xf32, #m>) {
  %d = graph.empty : () -> tensor<?x12xf32, #m>
  %0 = graph.relu %x : (tensor<?x4xf32, #n>) -> tensor<?x4xf32, #n>
  %1 = graph.insert_slice %0, %d {axis = 1 : i64, offsets = affine_map<() -> (0)>} : (tensor<?x4xf32, #n>, tensor<?x12xf32, #m>) -> tensor<?x12xf32, #m>
  %2 = graph.insert_slice %0, %d {axis = 1 : i64, offsets = affine_map<() -> (8)>} : (tensor<?x4xf32, #n>, tensor<?x12xf32, #m>) -> tensor<?x12xf32, #m>
  %3 = graph.gather_elements %x, %i {axis = 1 : i64} : (tensor<?x4xf32, #n>, tensor<?x4xi64, #n>) -> tensor<?x4xf32, #n>
  %4 = graph.insert_slice %3, %1 {axis = 1 : i64, offsets = affine_map<() -> (4)>} : (tensor<?x4xf32, #n>, tensor<?x12xf32, #m>) -> tensor<?x12xf32, #m>
  return %4, %2 : tensor<?x12xf32, #m>, tensor<?x12xf32, #m>
}

// -----

// Parts of one shape that one kernel computes: it stores both.
// CHECK-LABEL: func.func @parts
// CHECK: graph.cluster
// CHECK: graph.reduce_mean
// CHECK: graph.insert_slice
// CHECK: graph.reduce_max
// CHECK: %[[BOTH:.*]] = graph.insert_slice
// CHECK: graph.yield %[[BOTH]] :
// CHECK-NOT: graph.cluster
#x = affine_map<()[s0] -> (s0, 64, 7)>
#y = affine_map<()[s0] -> (s0, 1, 7)>
#z = affine_map<()[s0] -> (s0, 2, 7)>
func.func @parts(%x: tensor<?x64x7xf32, #x>, %d: tensor<?x2x7xf32, #z>) -> tensor<?x2x7xf32, #z> {
  %0 = graph.reduce_mean %x {axes = array<i64: 1>} : (tensor<?x64x7xf32, #x>) -> tensor<?x1x7xf32, #y>
  %1 = graph.insert_slice %0, %d {axis = 1 : i64, offsets = affine_map<() -> (0)>} : (tensor<?x1x7xf32, #y>, tensor<?x2x7xf32, #z>) -> tensor<?x2x7xf32, #z>
  %2 = graph.reduce_max %x {axes = array<i64: 1>} : (tensor<?x64x7xf32, #x>) -> tensor<?x1x7xf32, #y>
  %3 = graph.insert_slice %2, %1 {axis = 1 : i64, offsets = affine_map<() -> (1)>} : (tensor<?x1x7xf32, #y>, tensor<?x2x7xf32, #z>) -> tensor<?x2x7xf32, #z>
  return %3 : tensor<?x2x7xf32, #z>
}

// -----

// Parts of different shapes, and one with users before the next is computed.
// CHECK-LABEL: func.func @unlike
// CHECK-COUNT-4: graph.cluster
func.func @unlike(%x: tensor<4x6xf32>, %y: tensor<4x1xf32>, %d: tensor<4x7xf32>, %f: tensor<4x12xf32>) -> (tensor<4x7xf32>, tensor<4x12xf32>, tensor<4x12xf32>) {
  %0 = graph.add %x, %y : (tensor<4x6xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
  %1 = graph.insert_slice %0, %d {axis = 1 : i64, offsets = affine_map<() -> (0)>} : (tensor<4x6xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
  %2 = graph.reduce_sum %0 {axes = array<i64: 1>} : (tensor<4x6xf32>) -> tensor<4x1xf32>
  %3 = graph.insert_slice %2, %1 {axis = 1 : i64, offsets = affine_map<() -> (6)>} : (tensor<4x1xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
  %4 = graph.relu %x : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %5 = graph.insert_slice %4, %f {axis = 1 : i64, offsets = affine_map<() -> (0)>} : (tensor<4x6xf32>, tensor<4x12xf32>) -> tensor<4x12xf32>
  %6 = graph.neg %4 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %7 = graph.insert_slice %6, %5 {axis = 1 : i64, offsets = affine_map<() -> (6)>} : (tensor<4x6xf32>, tensor<4x12xf32>) -> tensor<4x12xf32>
  return %3, %5, %7 : tensor<4x7xf32>, tensor<4x12xf32>, tensor<4x12xf32>
}

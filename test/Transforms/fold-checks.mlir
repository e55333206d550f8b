// Checks of indices are merged into the look-ups that read them.
// RUN: aopt %s --split-input-file --fold-checks | FileCheck %s

#n = affine_map<()[s0] -> (s0)>

// CHECK-LABEL: func.func @elements
func.func @elements(%x: tensor<4x8xf32>, %i: tensor<4x3xi64>) -> tensor<4x3xf32> {
  %0 = graph.reduce_min %i {axes = array<i64: 0, 1>, keepdims = false} : (tensor<4x3xi64>) -> tensor<i64>
  %1 = graph.reduce_max %i {axes = array<i64: 0, 1>, keepdims = false} : (tensor<4x3xi64>) -> tensor<i64>
  // CHECK-NOT: reduce
  // CHECK-NOT: check_range
  // CHECK: graph.gather_elements %{{.*}} {axis = 1 : i64, graph.message = "no {0}"}
  graph.check_range %0, %1, "no {0}" {range = affine_map<() -> (-8, 8)>} : tensor<i64>
  %2 = graph.gather_elements %x, %i {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x3xf32>
  %3 = graph.relu %2 : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %3 : tensor<4x3xf32>
}

// -----
#n = affine_map<()[s0] -> (s0)>
#rows = affine_map<()[s0] -> (s0, 8)>

// A dynamic size.
// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%x: tensor<?x8xf32, #rows>, %i: tensor<3xi32>) -> tensor<3x8xf32> {
  %0 = graph.reduce_min %i {axes = array<i64: 0>, keepdims = false} : (tensor<3xi32>) -> tensor<i32>
  %1 = graph.reduce_max %i {axes = array<i64: 0>, keepdims = false} : (tensor<3xi32>) -> tensor<i32>
  graph.check_range %0, %1, "no" {range = affine_map<()[s0] -> (-s0, s0)>} : tensor<i32>
  // CHECK-NOT: check_range
  // CHECK: graph.gather %{{.*}} {graph.message = "no"}
  %2 = graph.gather %x, %i {axis = 0 : i64} : (tensor<?x8xf32, #rows>, tensor<3xi32>) -> tensor<3x8xf32>
  return %2 : tensor<3x8xf32>
}

// -----
// Tuples have a check per column.
// CHECK-LABEL: func.func @tuples
func.func @tuples(%x: tensor<4x2x3xf32>, %i: tensor<5x2xi64>) -> tensor<5x3xf32> {
  %0 = graph.reduce_min %i {axes = array<i64: 0>, keepdims = false} : (tensor<5x2xi64>) -> tensor<2xi64>
  %1 = graph.reduce_max %i {axes = array<i64: 0>, keepdims = false} : (tensor<5x2xi64>) -> tensor<2xi64>
  %2 = graph.slice %0 {starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<2xi64>) -> tensor<1xi64>
  %3 = graph.slice %1 {starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<2xi64>) -> tensor<1xi64>
  graph.check_range %2, %3, "no" {range = affine_map<() -> (-4, 4)>} : tensor<1xi64>
  %4 = graph.slice %0 {starts = array<i64: 1>, steps = array<i64: 1>} : (tensor<2xi64>) -> tensor<1xi64>
  %5 = graph.slice %1 {starts = array<i64: 1>, steps = array<i64: 1>} : (tensor<2xi64>) -> tensor<1xi64>
  graph.check_range %4, %5, "no" {range = affine_map<() -> (-2, 2)>} : tensor<1xi64>
  // CHECK-NOT: check_range
  // CHECK: graph.gather_nd %{{.*}} {graph.message = "no"}
  %6 = graph.gather_nd %x, %i : (tensor<4x2x3xf32>, tensor<5x2xi64>) -> tensor<5x3xf32>
  return %6 : tensor<5x3xf32>
}

// -----
// The range differs from that of the look-up.
// CHECK-LABEL: func.func @other_range
func.func @other_range(%x: tensor<9xf32>, %i: tensor<4xi64>) -> tensor<4xf32> {
  %0 = graph.reduce_min %i {axes = array<i64: 0>, keepdims = false} : (tensor<4xi64>) -> tensor<i64>
  %1 = graph.reduce_max %i {axes = array<i64: 0>, keepdims = false} : (tensor<4xi64>) -> tensor<i64>
  // CHECK: check_range
  graph.check_range %0, %1, "no" {range = affine_map<() -> (0, 9)>} : tensor<i64>
  // CHECK-NOT: graph.message
  %2 = graph.gather %x, %i {axis = 0 : i64} : (tensor<9xf32>, tensor<4xi64>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----
// Only a part of the gathered elements is read: the kernel may not check the others.
// CHECK-LABEL: func.func @part
func.func @part(%x: tensor<9xf32>, %i: tensor<4xi64>) -> tensor<2xf32> {
  %0 = graph.reduce_min %i {axes = array<i64: 0>, keepdims = false} : (tensor<4xi64>) -> tensor<i64>
  %1 = graph.reduce_max %i {axes = array<i64: 0>, keepdims = false} : (tensor<4xi64>) -> tensor<i64>
  // CHECK: check_range
  graph.check_range %0, %1, "no" {range = affine_map<() -> (-9, 9)>} : tensor<i64>
  // CHECK-NOT: graph.message
  %2 = graph.gather %x, %i {axis = 0 : i64} : (tensor<9xf32>, tensor<4xi64>) -> tensor<4xf32>
  %3 = graph.slice %2 {starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<4xf32>) -> tensor<2xf32>
  return %3 : tensor<2xf32>
}

// -----
// All rows share the indices of an inner dim; without a row none is read.
// CHECK-LABEL: func.func @inner
func.func @inner(%x: tensor<3x9xf32>, %i: tensor<4xi64>) -> tensor<3x4xf32> {
  %0 = graph.reduce_min %i {axes = array<i64: 0>, keepdims = false} : (tensor<4xi64>) -> tensor<i64>
  %1 = graph.reduce_max %i {axes = array<i64: 0>, keepdims = false} : (tensor<4xi64>) -> tensor<i64>
  graph.check_range %0, %1, "no" {range = affine_map<() -> (-9, 9)>} : tensor<i64>
  // CHECK-NOT: check_range
  // CHECK: graph.gather %{{.*}} {axis = 1 : i64, graph.message = "no"}
  %2 = graph.gather %x, %i {axis = 1 : i64} : (tensor<3x9xf32>, tensor<4xi64>) -> tensor<3x4xf32>
  return %2 : tensor<3x4xf32>
}

// -----
#rows = affine_map<()[s0] -> (s0, 9)>
#out = affine_map<()[s0] -> (s0, 4)>
// CHECK-LABEL: func.func @dynamic_rows
func.func @dynamic_rows(%x: tensor<?x9xf32, #rows>, %i: tensor<4xi64>) -> tensor<?x4xf32, #out> {
  %0 = graph.reduce_min %i {axes = array<i64: 0>, keepdims = false} : (tensor<4xi64>) -> tensor<i64>
  %1 = graph.reduce_max %i {axes = array<i64: 0>, keepdims = false} : (tensor<4xi64>) -> tensor<i64>
  // CHECK: check_range
  graph.check_range %0, %1, "no" {range = affine_map<() -> (-9, 9)>} : tensor<i64>
  %2 = graph.gather %x, %i {axis = 1 : i64} : (tensor<?x9xf32, #rows>, tensor<4xi64>) -> tensor<?x4xf32, #out>
  return %2 : tensor<?x4xf32, #out>
}

// -----
// Tuples of one index.
// CHECK-LABEL: func.func @single
func.func @single(%x: tensor<9xf32>, %i: tensor<4x1xi64>) -> tensor<4xf32> {
  %0 = graph.reduce_min %i {axes = array<i64: 0, 1>, keepdims = false} : (tensor<4x1xi64>) -> tensor<i64>
  %1 = graph.reduce_max %i {axes = array<i64: 0, 1>, keepdims = false} : (tensor<4x1xi64>) -> tensor<i64>
  graph.check_range %0, %1, "no" {range = affine_map<() -> (-9, 9)>} : tensor<i64>
  // CHECK-NOT: check_range
  // CHECK: graph.gather_nd %{{.*}} {graph.message = "no"}
  %2 = graph.gather_nd %x, %i : (tensor<9xf32>, tensor<4x1xi64>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----
// CHECK-LABEL: func.func @scatter
func.func @scatter(%x: tensor<4x3xf32>, %i: tensor<1x3xi64>, %u: tensor<1x3xf32>) -> tensor<4x3xf32> {
  %0 = graph.reduce_min %i {axes = array<i64: 0, 1>, keepdims = false} : (tensor<1x3xi64>) -> tensor<i64>
  %1 = graph.reduce_max %i {axes = array<i64: 0, 1>, keepdims = false} : (tensor<1x3xi64>) -> tensor<i64>
  graph.check_range %0, %1, "no" {range = affine_map<() -> (-4, 4)>} : tensor<i64>
  // CHECK-NOT: check_range
  // CHECK: graph.scatter_elements %{{.*}} {graph.message = "no"}
  %2 = graph.scatter_elements %x, %i, %u {axis = 0 : i64} : (tensor<4x3xf32>, tensor<1x3xi64>, tensor<1x3xf32>) -> tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}

// -----
// A state's buffer has more rows than the range of an index.
#rows = affine_map<()[s0] -> (s0, 3)>
// CHECK-LABEL: func.func @state
func.func @state(%x: tensor<4x3xf32>, %i: tensor<1x3xi64>, %u: tensor<1x3xf32>) -> tensor<4x3xf32>
    attributes {graph.symbols = ["rows"]} {
  %0 = graph.reduce_min %i {axes = array<i64: 0, 1>, keepdims = false} : (tensor<1x3xi64>) -> tensor<i64>
  %1 = graph.reduce_max %i {axes = array<i64: 0, 1>, keepdims = false} : (tensor<1x3xi64>) -> tensor<i64>
  // CHECK: check_range
  graph.check_range %0, %1, "no" {range = affine_map<() -> (-4, 4)>} : tensor<i64>
  %2 = graph.open_state %x {state = 0 : i64} : (tensor<4x3xf32>) -> tensor<?x3xf32, #rows>
  // CHECK-NOT: graph.message
  %3 = graph.scatter_elements %2, %i, %u {axis = 0 : i64} : (tensor<?x3xf32, #rows>, tensor<1x3xi64>, tensor<1x3xf32>) -> tensor<?x3xf32, #rows>
  %4 = graph.close_state %3 {state = 0 : i64} : (tensor<?x3xf32, #rows>) -> tensor<4x3xf32>
  return %4 : tensor<4x3xf32>
}

// -----
// Kernels for devices check, too.
module attributes {tile.targets = [#tile.cuda<chip = "sm_90">]} {
  // CHECK-LABEL: func.func @device
  func.func @device(%x: tensor<9xf32>, %i: tensor<4xi64>) -> tensor<4xf32> {
    %0 = graph.reduce_min %i {axes = array<i64: 0>, keepdims = false} : (tensor<4xi64>) -> tensor<i64>
    %1 = graph.reduce_max %i {axes = array<i64: 0>, keepdims = false} : (tensor<4xi64>) -> tensor<i64>
    // CHECK-NOT: check_range
    // CHECK: graph.gather %{{.*}} {graph.message = "no"}
    graph.check_range %0, %1, "no" {range = affine_map<() -> (-9, 9)>} : tensor<i64>
    %2 = graph.gather %x, %i {axis = 0 : i64} : (tensor<9xf32>, tensor<4xi64>) -> tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}

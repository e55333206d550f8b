// RUN: aopt %s --graph-form-clusters --split-input-file | FileCheck %s

// Elements and a reduction of their row: the reduction, its operands and users of both
// are one kernel.
// CHECK-LABEL: func.func @unit_length
// CHECK: graph.cluster
// CHECK: graph.mul
// CHECK: graph.reduce_sum
// CHECK: graph.sqrt
// CHECK: graph.div
// CHECK-NOT: graph.cluster
func.func @unit_length(%x: tensor<6x32xf32>) -> tensor<6x32xf32> {
  %0 = graph.mul %x, %x : (tensor<6x32xf32>, tensor<6x32xf32>) -> tensor<6x32xf32>
  %1 = graph.reduce_sum %0 {axes = array<i64: 1>} : (tensor<6x32xf32>) -> tensor<6x1xf32>
  %2 = graph.sqrt %1 : (tensor<6x1xf32>) -> tensor<6x1xf32>
  %3 = graph.div %x, %2 : (tensor<6x32xf32>, tensor<6x1xf32>) -> tensor<6x32xf32>
  return %3 : tensor<6x32xf32>
}

// -----

// Reductions of the same rows share a pass, also if one depends on the other; rows are
// symbols, and both kinds of results are stored.
#x = affine_map<()[s0] -> (s0, 32)>
#r = affine_map<()[s0] -> (s0, 1)>
// CHECK-LABEL: func.func @moments
// CHECK: graph.cluster
// CHECK: graph.reduce_mean
// CHECK: graph.reduce_max
// CHECK: graph.sub
// CHECK: graph.reduce_sum_square
// CHECK: graph.yield %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x1xf32, {{.*}}>, tensor<?x32xf32, {{.*}}>, tensor<?x1xf32
// CHECK-NOT: graph.cluster
func.func @moments(%x: tensor<?x32xf32, #x>) -> (tensor<?x32xf32, #x>, tensor<?x1xf32, #r>, tensor<?x1xf32, #r>) {
  %0 = graph.reduce_mean %x {axes = array<i64: 1>} : (tensor<?x32xf32, #x>) -> tensor<?x1xf32, #r>
  %1 = graph.reduce_max %x {axes = array<i64: 1>} : (tensor<?x32xf32, #x>) -> tensor<?x1xf32, #r>
  %2 = graph.sub %x, %0 : (tensor<?x32xf32, #x>, tensor<?x1xf32, #r>) -> tensor<?x32xf32, #x>
  %3 = graph.reduce_sum_square %2 {axes = array<i64: 1>} : (tensor<?x32xf32, #x>) -> tensor<?x1xf32, #r>
  return %2, %1, %3 : tensor<?x32xf32, #x>, tensor<?x1xf32, #r>, tensor<?x1xf32, #r>
}

// -----

// Rows of an inner dim, as with channels-first: the mean, the difference of each element
// and its root are one kernel; the other sizes are symbols.
#c = affine_map<()[s0, s1] -> (s0, 24, s1)>
#d = affine_map<()[s0, s1] -> (s0, 1, s1)>
// CHECK-LABEL: func.func @inner
// CHECK: graph.cluster
// CHECK: graph.reduce_mean
// CHECK: graph.sub
// CHECK: graph.reduce_sum_square
// CHECK: graph.div
// CHECK-NOT: graph.cluster
func.func @inner(%x: tensor<?x24x?xf32, #c>) -> tensor<?x24x?xf32, #c> {
  %0 = graph.reduce_mean %x {axes = array<i64: 1>} : (tensor<?x24x?xf32, #c>) -> tensor<?x1x?xf32, #d>
  %1 = graph.sub %x, %0 : (tensor<?x24x?xf32, #c>, tensor<?x1x?xf32, #d>) -> tensor<?x24x?xf32, #c>
  %2 = graph.reduce_sum_square %1 {axes = array<i64: 1>} : (tensor<?x24x?xf32, #c>) -> tensor<?x1x?xf32, #d>
  %3 = graph.div %1, %2 : (tensor<?x24x?xf32, #c>, tensor<?x1x?xf32, #d>) -> tensor<?x24x?xf32, #c>
  return %3 : tensor<?x24x?xf32, #c>
}

// -----

// Too few adjacent numbers for the lanes, separate dims, rows that do not fit a tile, all
// elements of a tensor, and results of rows that broadcast along columns.
// CHECK-LABEL: func.func @stays
// CHECK-COUNT-10: graph.cluster
func.func @stays(%x: tensor<6x32xf32>, %y: tensor<4x20000xf32>, %z: tensor<8x8xf32>, %u: tensor<4x32x4xf32>) -> (tensor<4x32x4xf32>, tensor<4x32x4xf32>, tensor<4x20000xf32>, tensor<6x32xf32>, tensor<8x8xf32>) {
  %0 = graph.reduce_sum %u {axes = array<i64: 1>} : (tensor<4x32x4xf32>) -> tensor<4x1x4xf32>
  %1 = graph.div %u, %0 : (tensor<4x32x4xf32>, tensor<4x1x4xf32>) -> tensor<4x32x4xf32>
  %8 = graph.reduce_sum %u {axes = array<i64: 0, 2>} : (tensor<4x32x4xf32>) -> tensor<1x32x1xf32>
  %9 = graph.div %u, %8 : (tensor<4x32x4xf32>, tensor<1x32x1xf32>) -> tensor<4x32x4xf32>
  %2 = graph.reduce_sum %y {axes = array<i64: 1>} : (tensor<4x20000xf32>) -> tensor<4x1xf32>
  %3 = graph.div %y, %2 : (tensor<4x20000xf32>, tensor<4x1xf32>) -> tensor<4x20000xf32>
  %4 = graph.reduce_sum %x {axes = array<i64: 0, 1>} : (tensor<6x32xf32>) -> tensor<1x1xf32>
  %5 = graph.div %x, %4 : (tensor<6x32xf32>, tensor<1x1xf32>) -> tensor<6x32xf32>
  %6 = graph.reduce_sum %z {axes = array<i64: 1>, keepdims = false} : (tensor<8x8xf32>) -> tensor<8xf32>
  %7 = graph.div %z, %6 : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return %1, %9, %3, %5, %7 : tensor<4x32x4xf32>, tensor<4x32x4xf32>, tensor<4x20000xf32>, tensor<6x32xf32>, tensor<8x8xf32>
}

// -----

// Rows that are slices of longer ones, divided by their length: the kernel slices them
// when they are read, twice; rows are symbols.
#y = affine_map<()[s0] -> (s0, 128)>
#x = affine_map<()[s0] -> (s0, 64)>
#r = affine_map<()[s0] -> (s0, 1)>
// CHECK-LABEL: func.func @parts_of_rows
// CHECK: graph.cluster(%{{.*}} = %arg0) anchor "reduce_l2"
// CHECK: graph.reduce_l2
// CHECK: graph.div
// CHECK: graph.yield
// CHECK-NOT: graph.cluster
func.func @parts_of_rows(%y: tensor<?x128xf32, #y>) -> tensor<?x64xf32, #x> attributes {graph.symbols = ["n"]} {
  %least = graph.constant dense<1.0e-12> : tensor<f32>
  %0 = graph.slice %y {starts = array<i64: 0, 64>, steps = array<i64: 1, 1>} : (tensor<?x128xf32, #y>) -> tensor<?x64xf32, #x>
  %1 = graph.reduce_l2 %0 {axes = array<i64: 1>, keepdims = true} : (tensor<?x64xf32, #x>) -> tensor<?x1xf32, #r>
  %2 = graph.maximum %1, %least : (tensor<?x1xf32, #r>, tensor<f32>) -> tensor<?x1xf32, #r>
  %3 = graph.div %0, %2 : (tensor<?x64xf32, #x>, tensor<?x1xf32, #r>) -> tensor<?x64xf32, #x>
  return %3 : tensor<?x64xf32, #x>
}

// -----

// The result of a row for each of its elements, which are read as others: the kernel that
// computes it stores it so.
// CHECK-LABEL: func.func @repeated
// CHECK: graph.cluster({{.*}}) anchor "reduce_mean"
// CHECK: graph.reduce_mean
// CHECK: graph.neg
// CHECK: graph.broadcast_to
// CHECK: graph.yield
// CHECK-NEXT: }
// CHECK: graph.reshape
// CHECK: graph.cluster({{.*}}) anchor "pointwise"
// CHECK-NOT: graph.cluster
#n = affine_map<()[s0] -> (s0, 4, 10)>
#g = affine_map<()[s0] -> (s0, 4, 1)>
#c = affine_map<()[s0] -> (s0, 1, 40)>
#e = affine_map<()[s0, s1] -> (s0, s1, 40)>
func.func @repeated(%x: tensor<?x4x10xf32, #n>, %y: tensor<?x?x40xf32, #e>) -> tensor<?x?x40xf32, #e> {
  %0 = graph.reduce_mean %x {axes = array<i64: 2>} : (tensor<?x4x10xf32, #n>) -> tensor<?x4x1xf32, #g>
  %1 = graph.neg %0 : (tensor<?x4x1xf32, #g>) -> tensor<?x4x1xf32, #g>
  %2 = graph.broadcast_to %1 : (tensor<?x4x1xf32, #g>) -> tensor<?x4x10xf32, #n>
  %3 = graph.reshape %2 : (tensor<?x4x10xf32, #n>) -> tensor<?x1x40xf32, #c>
  %4 = graph.add %y, %3 : (tensor<?x?x40xf32, #e>, tensor<?x1x40xf32, #c>) -> tensor<?x?x40xf32, #e>
  return %4 : tensor<?x?x40xf32, #e>
}

// -----

// A kernel that reads the results broadcasts them itself; to other rows nothing is
// broadcast.
// CHECK-LABEL: func.func @read
// CHECK: graph.cluster({{.*}}) anchor "reduce_mean"
// CHECK-NOT: graph.broadcast_to
// CHECK: graph.yield
// CHECK: graph.cluster({{.*}}) anchor "matmul"
// CHECK: graph.broadcast_to
// CHECK: graph.cluster({{.*}}) anchor "pointwise"
// CHECK: graph.broadcast_to
func.func @read(%x: tensor<4x10xf32>, %w: tensor<10x8xf32>) -> (tensor<4x8xf32>, tensor<4x16xf32>) {
  %0 = graph.reduce_mean %x {axes = array<i64: 1>} : (tensor<4x10xf32>) -> tensor<4x1xf32>
  %1 = graph.broadcast_to %0 : (tensor<4x1xf32>) -> tensor<4x10xf32>
  %2 = graph.matmul %1, %w : (tensor<4x10xf32>, tensor<10x8xf32>) -> tensor<4x8xf32>
  %3 = graph.broadcast_to %0 : (tensor<4x1xf32>) -> tensor<4x16xf32>
  return %2, %3 : tensor<4x8xf32>, tensor<4x16xf32>
}

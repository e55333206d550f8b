// Tiles along a summed dim end with the slice: loads see the memory up to its end, and
// their pad beyond it.
// RUN: aopt %s --convert-graph-to-tile --split-input-file | FileCheck %s

// The first 1031 columns of 1100; the last 69 end with the memory.
// CHECK-LABEL: tile.kernel @first(
// CHECK-SAME: %[[X:.*]]: memref<4x1100xf32>, %[[Z:.*]]: memref<4x1100xf32>, %[[W:[a-z0-9]*]]: memref
// CHECK: %[[V:.*]] = memref.subview %[[X]][0, 0] [4, 1031] [1, 1] : memref<4x1100xf32> to memref<4x1031xf32, strided<[1100, 1]>>
// CHECK: tile.load %[[V]][
// CHECK-LABEL: tile.kernel @last(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<4x1100xf32>
// CHECK-NOT: subview
// CHECK: tile.load %[[X]][
// CHECK-NOT: subview
func.func @main(%x: tensor<4x1100xf32>, %w: tensor<1031x16xf32>, %u: tensor<69x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %0 = host.launch @first(%x, %x, %w) : (tensor<4x1100xf32>, tensor<4x1100xf32>, tensor<1031x16xf32>) -> tensor<4x16xf32>
  %1 = host.launch @last(%x, %u) : (tensor<4x1100xf32>, tensor<69x16xf32>) -> tensor<4x16xf32>
  return %0, %1 : tensor<4x16xf32>, tensor<4x16xf32>
}
func.func private @first(%x: tensor<4x1100xf32>, %z: tensor<4x1100xf32>, %w: tensor<1031x16xf32>) -> tensor<4x16xf32> attributes {adze.kernel} {
  %0 = graph.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<4x1100xf32>) -> tensor<4x1031xf32>
  %1 = graph.matmul %0, %w : (tensor<4x1031xf32>, tensor<1031x16xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}
func.func private @last(%x: tensor<4x1100xf32>, %w: tensor<69x16xf32>) -> tensor<4x16xf32> attributes {adze.kernel} {
  %0 = graph.slice %x {starts = array<i64: 0, 1031>, steps = array<i64: 1, 1>} : (tensor<4x1100xf32>) -> tensor<4x69xf32>
  %1 = graph.matmul %0, %w : (tensor<4x69xf32>, tensor<69x16xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// -----

// Rows are not summed: the remainder is not stored. A slice of a slice; the second step
// is in elements of the memory.
// CHECK-LABEL: tile.kernel @parts(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<9x40xf32>
// CHECK: %[[V:.*]] = memref.subview %[[X]][0, 0] [9, 28] [1, 1]
// CHECK-NOT: memref.subview
// CHECK: tile.load %[[V]][%{{.*}}, %{{.*}}] sizes [%{{.*}}, %{{.*}}] strides [1, 2]
func.func @main(%x: tensor<9x40xf32>, %w: tensor<10x16xf32>) -> tensor<4x16xf32> {
  %0 = host.launch @parts(%x, %w) : (tensor<9x40xf32>, tensor<10x16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
func.func private @parts(%x: tensor<9x40xf32>, %w: tensor<10x16xf32>) -> tensor<4x16xf32> attributes {adze.kernel} {
  %0 = graph.slice %x {starts = array<i64: 2, 4>, steps = array<i64: 1, 2>} : (tensor<9x40xf32>) -> tensor<6x17xf32>
  %1 = graph.slice %0 {starts = array<i64: 1, 2>, steps = array<i64: 1, 1>} : (tensor<6x17xf32>) -> tensor<4x10xf32>
  %2 = graph.matmul %1, %w : (tensor<4x10xf32>, tensor<10x16xf32>) -> tensor<4x16xf32>
  return %2 : tensor<4x16xf32>
}

// -----

// Dynamic sizes and starts: the view is created at the top.
// CHECK-LABEL: tile.kernel @dynamic(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<4x?xf32>
// CHECK: %[[END:.*]] = arith.addi
// CHECK: %[[V:.*]] = memref.subview %[[X]][0, 0] [4, %[[END]]] [1, 1]
// CHECK: scf.for
// CHECK: tile.load %[[V]][
#x = affine_map<()[s0] -> (4, s0)>
#k = affine_map<()[s0] -> (4, s0 floordiv 2)>
#w = affine_map<()[s0] -> (s0 floordiv 2, 16)>
func.func @main(%x: tensor<4x?xf32, #x>, %b: tensor<2xi64>, %w: tensor<?x16xf32, #w>) -> tensor<4x16xf32> attributes {graph.symbols = ["n"]} {
  %0 = host.launch @dynamic(%x, %b, %w) : (tensor<4x?xf32, #x>, tensor<2xi64>, tensor<?x16xf32, #w>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
func.func private @dynamic(%x: tensor<4x?xf32, #x>, %b: tensor<2xi64>, %w: tensor<?x16xf32, #w>) -> tensor<4x16xf32> attributes {adze.kernel} {
  %0 = graph.slice %x, %b {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<4x?xf32, #x>, tensor<2xi64>) -> tensor<4x?xf32, #k>
  %1 = graph.matmul %0, %w : (tensor<4x?xf32, #k>, tensor<?x16xf32, #w>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

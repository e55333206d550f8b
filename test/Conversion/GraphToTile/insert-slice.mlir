// RUN: aopt %s --convert-graph-to-tile=remarks=true --split-input-file --verify-diagnostics | FileCheck %s

// The product is stored to a view of its columns, whose bounds drop the remainder; the
// other parts of the tensor are neither read nor copied.
// CHECK-LABEL: tile.kernel @matmul
// CHECK-SAME: %[[D:[a-z0-9]*]]: memref<40x32xf32>, %[[OUT:[a-z0-9]*]]: memref<40x32xf32> {adze.tied = 2 : i64})
// CHECK-NOT: %[[D]]
// CHECK: %[[PART:.*]] = memref.subview %[[OUT]][0, 8] [40, 20] [1, 1] : memref<40x32xf32> to memref<40x20xf32, strided<[32, 1], offset: 8>>
// CHECK-NOT: %[[D]]
// CHECK: tile.store %{{.*}}, %[[PART]]
func.func private @matmul(%x: tensor<40x8xf32>, %w: tensor<8x20xf32>, %d: tensor<40x32xf32>) -> tensor<40x32xf32> attributes {adze.kernel} {
  %0 = graph.matmul %x, %w : (tensor<40x8xf32>, tensor<8x20xf32>) -> tensor<40x20xf32>
  %1 = graph.insert_slice %0, %d {axis = 1 : i64, offsets = affine_map<() -> (8)>} : (tensor<40x20xf32>, tensor<40x32xf32>) -> tensor<40x32xf32>
  return %1 : tensor<40x32xf32>
}

// -----

// Dims from the sliced one on are one dim of the view; the value is a result, too.
// CHECK-LABEL: tile.kernel @pointwise
// CHECK: %[[VIEW:.*]] = memref.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : memref<?x8x5xf32> into memref<?x40xf32>
// CHECK: memref.subview %[[VIEW]][0, 10] [%{{.*}}, 15] [1, 1]
// CHECK-COUNT-2: tile.store
#x = affine_map<()[s0] -> (s0, 3, 5)>
#d = affine_map<()[s0] -> (s0, 8, 5)>
func.func private @pointwise(%x: tensor<?x3x5xf32, #x>, %d: tensor<?x8x5xf32, #d>) -> (tensor<?x8x5xf32, #d>, tensor<?x3x5xf32, #x>) attributes {adze.kernel} {
  %0 = graph.exp %x : (tensor<?x3x5xf32, #x>) -> tensor<?x3x5xf32, #x>
  %1 = graph.insert_slice %0, %d {axis = 1 : i64, offsets = affine_map<() -> (2)>} : (tensor<?x3x5xf32, #x>, tensor<?x8x5xf32, #d>) -> tensor<?x8x5xf32, #d>
  return %1, %0 : tensor<?x8x5xf32, #d>, tensor<?x3x5xf32, #x>
}

// -----

// Several sources: each is copied to its offset.
// CHECK-LABEL: tile.kernel @pieces
// CHECK: memref.subview %{{.*}}[0, 8] [4, 4] [1, 1]
// CHECK: memref.subview %{{.*}}[0, 0] [4, 2] [1, 1]
func.func private @pieces(%x: tensor<4x4xf32>, %y: tensor<4x2xf32>, %d: tensor<4x12xf32>) -> tensor<4x12xf32> attributes {adze.kernel} {
  %0 = graph.insert_slice %x, %y, %d {axis = 1 : i64, offsets = affine_map<() -> (8, 0)>} : (tensor<4x4xf32>, tensor<4x2xf32>, tensor<4x12xf32>) -> tensor<4x12xf32>
  return %0 : tensor<4x12xf32>
}

// -----

// Users of the remaining part of a tensor may come later; with later users of the
// overwritten part, or of all of it, the kernel copies.
// CHECK-LABEL: func.func @readers
// CHECK-LABEL: tile.kernel @put
// CHECK-LABEL: tile.kernel @right
// CHECK-LABEL: tile.kernel @first
func.func @readers(%x: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %d = graph.empty : () -> tensor<8xf32>
  %0 = host.launch @first(%x, %d) : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = host.launch @put(%x, %0) : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = host.launch @right(%0) : (tensor<8xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<8xf32>, tensor<4xf32>
}
func.func private @put(%x: tensor<4xf32>, %d: tensor<8xf32>) -> tensor<8xf32> attributes {adze.kernel} {
  %0 = graph.insert_slice %x, %d {axis = 0 : i64, offsets = affine_map<() -> (0)>} : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @right(%x: tensor<8xf32>) -> tensor<4xf32> attributes {adze.kernel} {
  %0 = graph.slice %x {starts = array<i64: 4>, steps = array<i64: 1>} : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @first(%x: tensor<4xf32>, %d: tensor<8xf32>) -> tensor<8xf32> attributes {adze.kernel} {
  %0 = graph.insert_slice %x, %d {axis = 0 : i64, offsets = affine_map<() -> (4)>} : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @readers
func.func @readers(%x: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %d = graph.empty : () -> tensor<8xf32>
  %0 = host.launch @first(%x, %d) : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = host.launch @put(%x, %0) : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = host.launch @middle(%0) : (tensor<8xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<8xf32>, tensor<4xf32>
}
// CHECK-LABEL: func.func private @put
// expected-remark @+1 {{falls back to the reference path: a tensor is read after a slice of it is overwritten}}
func.func private @put(%x: tensor<4xf32>, %d: tensor<8xf32>) -> tensor<8xf32> attributes {adze.kernel} {
  %0 = graph.insert_slice %x, %d {axis = 0 : i64, offsets = affine_map<() -> (0)>} : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @middle(%x: tensor<8xf32>) -> tensor<4xf32> attributes {adze.kernel} {
  %0 = graph.slice %x {starts = array<i64: 3>, steps = array<i64: 1>} : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// CHECK-LABEL: tile.kernel @first
func.func private @first(%x: tensor<4xf32>, %d: tensor<8xf32>) -> tensor<8xf32> attributes {adze.kernel} {
  %0 = graph.insert_slice %x, %d {axis = 0 : i64, offsets = affine_map<() -> (4)>} : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// An argument of the model must not be overwritten, and neither must a result that is
// returned unchanged.
func.func @owned(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = host.launch @put(%x, %y) : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// expected-remark @+1 {{a tensor is read after a slice of it is overwritten}}
func.func private @put(%x: tensor<4xf32>, %d: tensor<8xf32>) -> tensor<8xf32> attributes {adze.kernel} {
  %0 = graph.insert_slice %x, %d {axis = 0 : i64, offsets = affine_map<() -> (0)>} : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @returned(%x: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %d = graph.empty : () -> tensor<8xf32>
  %0 = host.launch @first(%x, %d) : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = host.launch @second(%x, %0) : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
func.func private @first(%x: tensor<4xf32>, %d: tensor<8xf32>) -> tensor<8xf32> attributes {adze.kernel} {
  %0 = graph.insert_slice %x, %d {axis = 0 : i64, offsets = affine_map<() -> (4)>} : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// expected-remark @+1 {{a tensor is read after a slice of it is overwritten}}
func.func private @second(%x: tensor<4xf32>, %d: tensor<8xf32>) -> tensor<8xf32> attributes {adze.kernel} {
  %0 = graph.insert_slice %x, %d {axis = 0 : i64, offsets = affine_map<() -> (1)>} : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

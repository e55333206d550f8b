// RUN: aopt %s --convert-graph-to-tile=remarks=true --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sed '/^\/\/ -----/,$d' %s | aopt -tile-attach-targets=cuda=sm_90a --convert-graph-to-tile --tile-choose-schedule -o %t.mlir
// RUN: cuda-emulate %t.mlir --symbols=3,7 | FileCheck %s --check-prefix=EMULATED
// EMULATED: rows: 3 programs of {{.*}} agree

// A program stores the rows of the updates that have one index to its place; other rows are
// neither read nor copied. Both operands of the concatenation are stored there.
#x = affine_map<()[s0, s1] -> (s0, 2, 4)>
#w = affine_map<()[s0, s1] -> (s0, 2, 8)>
#i = affine_map<()[s0, s1] -> (s0, 1, 1)>
#d = affine_map<()[s0, s1] -> (s1, 2, 8)>
// CHECK-LABEL: tile.kernel @rows
// CHECK-SAME: %[[D:[a-z0-9]*]]: memref<?x2x8xf32>{{[^,]*}}, %[[I:[a-z0-9]*]]: memref<?x1x1xi64>{{[^,]*}}, %[[X:[a-z0-9]*]]: memref<?x2x4xf32>{{[^,]*}}, %[[OUT:[a-z0-9]*]]: memref<?x2x8xf32> {{{.*}}adze.tied = 0 : i64}
// CHECK: %[[ROWS:.*]] = tile.param "BLOCK_M"
// CHECK: %[[P:.*]]:3 = tile.program_id
// CHECK: %[[ROW:.*]] = arith.muli %[[P]]#1, %[[ROWS]]
// CHECK: %[[LEFT:.*]] = memref.subview %[[OUT]][0, 0, 0] [%{{.*}}, 2, 4]
// CHECK: %[[RIGHT:.*]] = memref.subview %[[OUT]][0, 0, 4] [%{{.*}}, 2, 4]
// CHECK: memref.load %[[I]][%[[P]]#2, %{{.*}}, %{{.*}}]
// CHECK: %[[LIMITED:.*]] = arith.minsi
// CHECK: %[[PLACE:.*]] = arith.maxsi %[[LIMITED]]
// CHECK: scf.if
// CHECK: tile.load %[[X]]
// CHECK: tile.store %{{.*}}, %[[LEFT]][%[[PLACE]], %[[ROW]], %{{.*}}]
// CHECK: tile.store %{{.*}}, %[[RIGHT]][%[[PLACE]], %[[ROW]], %{{.*}}]
func.func private @rows(%d: tensor<?x2x8xf32, #d>, %i: tensor<?x1x1xi64, #i>, %x: tensor<?x2x4xf32, #x>) -> tensor<?x2x8xf32, #d> attributes {adze.kernel} {
  %0 = graph.exp %x : (tensor<?x2x4xf32, #x>) -> tensor<?x2x4xf32, #x>
  %1 = graph.neg %x : (tensor<?x2x4xf32, #x>) -> tensor<?x2x4xf32, #x>
  %2 = graph.concat %0, %1 {axis = 2 : i64} : (tensor<?x2x4xf32, #x>, tensor<?x2x4xf32, #x>) -> tensor<?x2x8xf32, #w>
  %3 = graph.scatter_elements %d, %i, %2 {axis = 0 : i64} : (tensor<?x2x8xf32, #d>, tensor<?x1x1xi64, #i>, tensor<?x2x8xf32, #w>) -> tensor<?x2x8xf32, #d>
  return %3 : tensor<?x2x8xf32, #d>
}
func.func @main(%x: tensor<?x2x4xf32, #x>, %i: tensor<?x1x1xi64, #i>, %d: tensor<?x2x8xf32, #d>) -> tensor<?x2x8xf32, #d> {
  %0 = graph.open_state %d {state = 0 : i64} : (tensor<?x2x8xf32, #d>) -> tensor<?x2x8xf32, #d>
  %1 = host.launch @rows(%0, %i, %x) : (tensor<?x2x8xf32, #d>, tensor<?x1x1xi64, #i>, tensor<?x2x4xf32, #x>) -> tensor<?x2x8xf32, #d>
  return %1 : tensor<?x2x8xf32, #d>
}

// -----

// expected-remark @+1 {{falls back to the reference path: the indices of a scatter select single elements}}
func.func private @elements(%x: tensor<8x4xf32>, %i: tensor<2x4xi64>, %u: tensor<2x4xf32>) -> tensor<8x4xf32> attributes {adze.kernel} {
  %0 = graph.scatter_elements %x, %i, %u {axis = 0 : i64} : (tensor<8x4xf32>, tensor<2x4xi64>, tensor<2x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// An argument of the model keeps its elements, and so does a tensor with another reader
// after the launch.
// expected-remark @+1 {{falls back to the reference path: a tensor is read after a slice of it is overwritten}}
func.func private @argument(%x: tensor<8x4xf32>, %i: tensor<2x1xi64>, %u: tensor<2x4xf32>) -> tensor<8x4xf32> attributes {adze.kernel} {
  %0 = graph.scatter_elements %x, %i, %u {axis = 0 : i64} : (tensor<8x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
// expected-remark @+1 {{falls back to the reference path: a tensor is read after a slice of it is overwritten}}
func.func private @read(%x: tensor<8x4xf32>, %i: tensor<2x1xi64>, %u: tensor<2x4xf32>) -> tensor<8x4xf32> attributes {adze.kernel} {
  %0 = graph.scatter_elements %x, %i, %u {axis = 0 : i64} : (tensor<8x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
func.func private @exp(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {adze.kernel} {
  %0 = graph.exp %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
func.func @main(%x: tensor<8x4xf32>, %i: tensor<2x1xi64>, %u: tensor<2x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = host.launch @argument(%x, %i, %u) : (tensor<8x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %1 = host.launch @exp(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %2 = host.launch @read(%1, %i, %u) : (tensor<8x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %3 = host.launch @exp(%1) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0, %2, %3 : tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

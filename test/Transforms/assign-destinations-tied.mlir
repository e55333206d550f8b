// RUN: aopt %s --assign-destinations --split-input-file | FileCheck %s

// An op that replaces a part of a tensor shares its memory, from the empty tensor on; for
// a result of the model, this is the output.
func.func private @first(memref<4xf32>, memref<8xf32>, memref<8xf32> {adze.tied = 1 : i64}) attributes {adze.kernel}
func.func private @next(memref<8xf32>, memref<4xf32>, memref<8xf32> {adze.tied = 0 : i64}) attributes {adze.kernel}
func.func private @read(memref<8xf32>, memref<4xf32>) attributes {adze.kernel}

// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<4xf32>, %[[A:[a-z0-9]*]]: memref<8xf32>, %[[B:[a-z0-9]*]]: memref<4xf32>)
func.func @chain(%x: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %d = graph.empty : () -> tensor<8xf32>
  // CHECK-NEXT: host.launch @first(%[[X]], %[[A]], %[[A]])
  %0 = host.launch @first(%x, %d) : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: host.launch @next(%[[A]], %[[X]], %[[A]])
  %1 = host.launch @next(%0, %x) : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  // CHECK-NEXT: %[[S:.*]] = host.slot {size = 32 : i64}
  // CHECK-NEXT: host.launch @first(%[[X]], %[[S]], %[[S]])
  %2 = host.launch @first(%x, %d) : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: host.launch @next(%[[S]], %[[X]], %[[S]])
  %3 = host.launch @next(%2, %x) : (tensor<8xf32>, tensor<4xf32>) -> tensor<8xf32>
  // CHECK-NEXT: host.launch @read(%[[S]], %[[B]])
  %4 = host.launch @read(%3) : (tensor<8xf32>) -> tensor<4xf32>
  return %1, %4 : tensor<8xf32>, tensor<4xf32>
}

// -----

// Without the attribute the kernel copies: both have separate memory.
func.func private @copy(memref<4xf32>, memref<8xf32>, memref<8xf32>) attributes {adze.kernel}

// CHECK-LABEL: func.func @copying(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<4xf32>, %[[A:[a-z0-9]*]]: memref<8xf32>)
func.func @copying(%x: tensor<4xf32>) -> tensor<8xf32> {
  %d = graph.empty : () -> tensor<8xf32>
  // CHECK-NEXT: %[[S:.*]] = host.slot {size = 32 : i64}
  // CHECK-NEXT: host.launch @copy(%[[X]], %[[S]], %[[A]])
  %0 = host.launch @copy(%x, %d) : (tensor<4xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Sizes that are symbols.
#s = affine_map<()[s0] -> (s0, 8)>
func.func private @first(memref<4xf32>, memref<?x8xf32> {adze.dims = #s}, memref<?x8xf32> {adze.dims = #s, adze.tied = 1 : i64}) attributes {adze.kernel}
func.func private @read(memref<?x8xf32> {adze.dims = #s}, memref<4xf32>) attributes {adze.kernel}

// CHECK-LABEL: func.func @symbolic(
// CHECK: %[[S:.*]] = host.slot {size = #{{.*}}} : memref<?x8xf32>
// CHECK: host.launch @first(%{{.*}}, %[[S]], %[[S]])
func.func @symbolic(%x: tensor<4xf32>, %n: tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<4xf32> attributes {graph.symbols = ["n"]} {
  %d = graph.empty : () -> tensor<?x8xf32, #s>
  %0 = host.launch @first(%x, %d) : (tensor<4xf32>, tensor<?x8xf32, #s>) -> tensor<?x8xf32, #s>
  %1 = host.launch @read(%0) : (tensor<?x8xf32, #s>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

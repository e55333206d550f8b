// RUN: aopt %s --graph-form-clusters --split-input-file | FileCheck %s

// A bias and an activation run on the accumulator of the product; a splat constant is
// moved inside, the other one stays outside.
// CHECK-LABEL: func @epilogue
// CHECK-DAG: %[[W:.*]] = graph.constant dense<{{.*}}> : tensor<2x2xf32>
// CHECK: %[[R:.*]] = graph.cluster({{.*}}) anchor "matmul"
// CHECK-DAG: graph.matmul
// CHECK-DAG: graph.constant dense<5.000000e-01>
// CHECK: graph.add
// CHECK: graph.relu
// CHECK: graph.yield
// CHECK: return %[[R]]
func.func @epilogue(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = graph.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.matmul %x, %w : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %1 = graph.add %0, %half : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %2 = graph.relu %1 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return %2 : tensor<4x2xf32>
}

// -----

// The residual joins the last product; joining the first one would close a cycle.
// CHECK-LABEL: func @residual
// CHECK: %[[A:.*]] = graph.cluster
// CHECK: graph.matmul
// CHECK-NEXT: graph.relu
// CHECK-NEXT: graph.yield
// CHECK: %[[B:.*]] = graph.cluster
// CHECK: graph.matmul
// CHECK-NEXT: graph.add
// CHECK-NEXT: graph.yield
// CHECK-NOT: graph.cluster
func.func @residual(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = graph.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.relu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = graph.matmul %1, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = graph.add %2, %1 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// A reshape is a view: it stays outside and ends a cluster.
// CHECK-LABEL: func @view
// CHECK: graph.cluster
// CHECK: graph.relu
// CHECK: graph.reshape
// CHECK: graph.cluster
// CHECK: graph.tanh
func.func @view(%x: tensor<4x6xf32>) -> tensor<24xf32> {
  %0 = graph.relu %x : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = graph.reshape %0 : (tensor<4x6xf32>) -> tensor<24xf32>
  %2 = graph.tanh %1 : (tensor<24xf32>) -> tensor<24xf32>
  return %2 : tensor<24xf32>
}

// -----

// Dims are compared as expressions of symbols; a value with users outside is a second
// output.
#n = affine_map<()[s0] -> (s0)>
// CHECK-LABEL: func @dynamic
// CHECK: %{{.*}}:2 = graph.cluster
// CHECK: graph.sin
// CHECK: graph.exp
// CHECK: graph.yield %{{.*}}, %{{.*}} :
func.func @dynamic(%x: tensor<?xf32, #n>) -> (tensor<?xf32, #n>, tensor<?xf32, #n>)
    attributes {graph.symbols = ["n"]} {
  %0 = graph.sin %x : (tensor<?xf32, #n>) -> tensor<?xf32, #n>
  %1 = graph.exp %0 : (tensor<?xf32, #n>) -> tensor<?xf32, #n>
  return %0, %1 : tensor<?xf32, #n>, tensor<?xf32, #n>
}

// -----

// Attention includes the heads' transposes, and ops that only its mask needs; a unit dim
// between two movements moves with them.
// CHECK-LABEL: func.func @attention
// CHECK: graph.cluster
// CHECK-SAME: anchor "attention"
// CHECK: graph.slice
// CHECK: graph.reshape
// CHECK: graph.not
// CHECK: graph.attention
// CHECK: graph.transpose
// CHECK: graph.yield
// CHECK-NOT: graph.cluster
func.func @attention(%x: tensor<3x2x4x9x16xf32>, %m: tensor<9x9xi1>) -> tensor<2x9x4x16xf32> {
  %0 = graph.slice %x {starts = array<i64: 1, 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1, 1>} : (tensor<3x2x4x9x16xf32>) -> tensor<1x2x4x9x16xf32>
  %1 = graph.reshape %0 : (tensor<1x2x4x9x16xf32>) -> tensor<2x4x9x16xf32>
  %2 = graph.not %m : (tensor<9x9xi1>) -> tensor<9x9xi1>
  %3 = graph.attention %1, %1, %1 mask %2 {scale = 1.0 : f64} : (tensor<2x4x9x16xf32>, tensor<2x4x9x16xf32>, tensor<2x4x9x16xf32>, tensor<9x9xi1>) -> tensor<2x4x9x16xf32>
  %4 = graph.transpose %3 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x4x9x16xf32>) -> tensor<2x9x4x16xf32>
  return %4 : tensor<2x9x4x16xf32>
}

// -----

// Two parts of one tensor from one group: its kernel stores both.
// CHECK-LABEL: func.func @two_parts
// CHECK: graph.empty
// CHECK: graph.cluster
// CHECK: graph.insert_slice
// CHECK: %[[BOTH:.*]] = graph.insert_slice
// CHECK: graph.yield %[[BOTH]]
// CHECK-NOT: graph.cluster
func.func @two_parts(%x: tensor<8xf32>) -> tensor<16xf32> {
  %whole = graph.empty : () -> tensor<16xf32>
  %0 = graph.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.insert_slice %0, %whole {axis = 0 : i64, offsets = affine_map<() -> (0)>} : (tensor<8xf32>, tensor<16xf32>) -> tensor<16xf32>
  %2 = graph.sub %x, %0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = graph.insert_slice %2, %1 {axis = 0 : i64, offsets = affine_map<() -> (8)>} : (tensor<8xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %3 : tensor<16xf32>
}

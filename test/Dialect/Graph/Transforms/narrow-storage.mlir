// RUN: aopt %s -tile-attach-targets="cuda=sm_90a" --graph-narrow-storage --split-input-file | FileCheck %s
// RUN: aopt %s -tile-attach-targets="cpu=znver4" --graph-narrow-storage --split-input-file | FileCheck %s --check-prefixes=CHECK,CPU

// A product's result is stored in the type of its operands, and widened where it is read;
// a model's output keeps its type.
// CHECK-LABEL: func.func @product(
// CHECK: %[[P:.*]] = graph.cluster({{.*}}) anchor "matmul" : (tensor<2x8xf16>, tensor<8x4xf16>) -> tensor<2x4xf16>
// CHECK: %[[Y:.*]] = graph.matmul {{.*}} -> tensor<2x4xf32>
// CHECK: %[[N:.*]] = graph.cast %[[Y]] : (tensor<2x4xf32>) -> tensor<2x4xf16>
// CHECK: graph.yield %[[N]] : tensor<2x4xf16>
// CHECK: graph.cluster(%[[A:.*]] = %[[P]]) anchor "pointwise" : (tensor<2x4xf16>) -> tensor<2x4xf32>
// CHECK: %[[W:.*]] = graph.cast %[[A]] : (tensor<2x4xf16>) -> tensor<2x4xf32>
// CHECK: graph.relu %[[W]]
func.func @product(%x: tensor<2x8xf16>, %w: tensor<8x4xf16>) -> tensor<2x4xf32> {
  %0 = graph.cluster(%a = %x, %b = %w) anchor "matmul" : (tensor<2x8xf16>, tensor<8x4xf16>) -> tensor<2x4xf32> {
    %p = graph.matmul %a, %b {wide_result} : (tensor<2x8xf16>, tensor<8x4xf16>) -> tensor<2x4xf32>
    graph.yield %p : tensor<2x4xf32>
  }
  %1 = graph.cluster(%c = %0) anchor "pointwise" : (tensor<2x4xf32>) -> tensor<2x4xf32> {
    %q = graph.relu %c : (tensor<2x4xf32>) -> tensor<2x4xf32>
    graph.yield %q : tensor<2x4xf32>
  }
  return %1 : tensor<2x4xf32>
}

// -----

// A value that is stored in both types is stored once; a user that rounds it reads it
// directly. Sizes may be dynamic.
// CHECK-LABEL: func.func @both(
// CHECK: %[[S:.*]] = graph.cluster(%{{.*}} = %{{.*}}) anchor "pointwise" : (tensor<?x8xf32, {{.*}}>) -> tensor<?x8xf16
// CHECK: graph.cluster(%{{.*}} = %[[S]], %{{.*}} = %[[S]], %{{.*}} = %{{.*}}) anchor "matmul"
// CHECK-NOT: graph.cast {{.*}} -> tensor<?x8xf16
// CHECK: graph.cast {{.*}} -> tensor<?x8xf32
func.func @both(%x: tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, %w: tensor<8x8xf16>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>> {
  %0:2 = graph.cluster(%a = %x) anchor "pointwise" : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf16, affine_map<()[s0] -> (s0, 8)>>) {
    %p = graph.relu %a : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
    %q = graph.cast %p : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf16, affine_map<()[s0] -> (s0, 8)>>
    graph.yield %p, %q : tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf16, affine_map<()[s0] -> (s0, 8)>>
  }
  %1 = graph.cluster(%a = %0#0, %b = %0#1, %c = %w) anchor "matmul" : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf16, affine_map<()[s0] -> (s0, 8)>>, tensor<8x8xf16>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>> {
    %p = graph.matmul %b, %c {wide_result} : (tensor<?x8xf16, affine_map<()[s0] -> (s0, 8)>>, tensor<8x8xf16>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
    %q = graph.add %p, %a : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
    graph.yield %q : tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  }
  return %1 : tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
}

// -----

// Neither values of other ops than products, nor parts of a larger tensor.
// CHECK-LABEL: func.func @kept(
// CHECK-NOT: graph.cast
func.func @kept(%x: tensor<2x4xf32>, %w: tensor<4x4xf16>, %v: tensor<2x4xf16>, %d: tensor<2x8xf32>) -> (tensor<2x4xf32>, tensor<2x8xf32>) {
  %0 = graph.cluster(%a = %x) anchor "pointwise" : (tensor<2x4xf32>) -> tensor<2x4xf32> {
    %p = graph.relu %a : (tensor<2x4xf32>) -> tensor<2x4xf32>
    graph.yield %p : tensor<2x4xf32>
  }
  %1 = graph.cluster(%a = %0) anchor "pointwise" : (tensor<2x4xf32>) -> tensor<2x4xf32> {
    %p = graph.exp %a : (tensor<2x4xf32>) -> tensor<2x4xf32>
    graph.yield %p : tensor<2x4xf32>
  }
  %2 = graph.cluster(%a = %v, %b = %w, %c = %d) anchor "matmul" : (tensor<2x4xf16>, tensor<4x4xf16>, tensor<2x8xf32>) -> tensor<2x8xf32> {
    %p = graph.matmul %a, %b {wide_result} : (tensor<2x4xf16>, tensor<4x4xf16>) -> tensor<2x4xf32>
    %q = graph.insert_slice %p, %c {axis = 1 : i64, offsets = affine_map<() -> (0)>} : (tensor<2x4xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    graph.yield %q : tensor<2x8xf32>
  }
  %3 = graph.cluster(%a = %2) anchor "pointwise" : (tensor<2x8xf32>) -> tensor<2x8xf32> {
    %p = graph.relu %a : (tensor<2x8xf32>) -> tensor<2x8xf32>
    graph.yield %p : tensor<2x8xf32>
  }
  return %1, %3 : tensor<2x4xf32>, tensor<2x8xf32>
}

// -----

// A value that is only read to be rounded is rounded when it is stored, also through a
// view; the kernel that rounded it is removed.
// CHECK-LABEL: func.func @rounded(
// CHECK: graph.cluster({{.*}}) anchor "reduce" : (tensor<2x4xf32>) -> tensor<2x1xf16> {
// CHECK: %[[V:.*]] = graph.reshape {{.*}} : (tensor<2x1xf16>) -> tensor<1x2xf16>
// CHECK-NEXT: graph.cluster(%{{.*}} = %[[V]], {{.*}}) anchor "matmul"
func.func @rounded(%x: tensor<2x4xf32>, %w: tensor<2x4xf16>) -> tensor<1x4xf32> {
  %0 = graph.cluster(%a = %x) anchor "reduce" : (tensor<2x4xf32>) -> tensor<2x1xf32> {
    %p = graph.reduce_sum %a {axes = array<i64: 1>, keepdims = true} : (tensor<2x4xf32>) -> tensor<2x1xf32>
    graph.yield %p : tensor<2x1xf32>
  }
  %1 = graph.reshape %0 : (tensor<2x1xf32>) -> tensor<1x2xf32>
  %2 = graph.cluster(%a = %1) anchor "pointwise" : (tensor<1x2xf32>) -> tensor<1x2xf16> {
    %p = graph.cast %a : (tensor<1x2xf32>) -> tensor<1x2xf16>
    graph.yield %p : tensor<1x2xf16>
  }
  %3 = graph.cluster(%a = %2, %b = %w) anchor "matmul" : (tensor<1x2xf16>, tensor<2x4xf16>) -> tensor<1x4xf32> {
    %p = graph.matmul %a, %b {wide_result} : (tensor<1x2xf16>, tensor<2x4xf16>) -> tensor<1x4xf32>
    graph.yield %p : tensor<1x4xf32>
  }
  return %3 : tensor<1x4xf32>
}

// -----

// On CPUs, a product of two activations in f32 reads them unchanged.
// CPU-LABEL: func.func @activations(
// CPU-NOT: graph.cast
func.func @activations(%x: tensor<2x8xbf16>, %w: tensor<8x4xbf16>) -> tensor<2x2xf32> {
  %0 = graph.cluster(%a = %x, %b = %w) anchor "matmul" : (tensor<2x8xbf16>, tensor<8x4xbf16>) -> tensor<2x4xf32> {
    %p = graph.matmul %a, %b {wide_result} : (tensor<2x8xbf16>, tensor<8x4xbf16>) -> tensor<2x4xf32>
    graph.yield %p : tensor<2x4xf32>
  }
  %1 = graph.cluster(%a = %0) anchor "matmul" : (tensor<2x4xf32>) -> tensor<2x2xf32> {
    %p = graph.matmul %a, %a {transpose_b = true} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x2xf32>
    graph.yield %p : tensor<2x2xf32>
  }
  return %1 : tensor<2x2xf32>
}

// -----

// A recurrent layer keeps all of its results, in their type: its steps read them.
// CHECK-LABEL: func.func @recurrent(
// CHECK: graph.cluster({{.*}}) anchor "recurrent" : ({{.*}}) -> (tensor<6x5x12xf32>, tensor<5x12xf32>)
// CHECK: graph.yield %{{.*}}, %{{.*}} : tensor<6x5x12xf32>, tensor<5x12xf32>
func.func @recurrent(%x: tensor<6x5x12xf32>, %w: tensor<1x12x12xf32>, %h: tensor<5x12xf32>) -> tensor<6x5x12xf16> {
  %0:2 = graph.cluster(%a = %x, %b = %w, %c = %h) anchor "recurrent" : (tensor<6x5x12xf32>, tensor<1x12x12xf32>, tensor<5x12xf32>) -> (tensor<6x5x12xf32>, tensor<5x12xf32>) {
    %y, %l = graph.recurrent %a weights %b state %c {cell = #graph.cell<rnn>, activations = ["tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>} : (tensor<6x5x12xf32>, tensor<1x12x12xf32>, tensor<5x12xf32>) -> (tensor<6x5x12xf32>, tensor<5x12xf32>)
    graph.yield %y, %l : tensor<6x5x12xf32>, tensor<5x12xf32>
  }
  %1 = graph.cluster(%d = %0#0) anchor "pointwise" : (tensor<6x5x12xf32>) -> tensor<6x5x12xf16> {
    %z = graph.cast %d : (tensor<6x5x12xf32>) -> tensor<6x5x12xf16>
    graph.yield %z : tensor<6x5x12xf16>
  }
  return %1 : tensor<6x5x12xf16>
}

// RUN: aopt %s --graph-probe-precision --split-input-file --verify-diagnostics | FileCheck %s

// A product by constants rounds both operands if its flag is set; one of two activations
// and one in groups are unchanged. Dynamic dims count as 1.
// CHECK: module attributes {graph.probed_products = [{name = "first", work = 3.200000e+01 : f64}, {name = "second", work = 1.080000e+02 : f64}]
// CHECK-LABEL: func.func @products(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32, #{{.*}}>, %{{.*}}: tensor<1x1x4x9xf32>, %[[FLAGS:.*]]: tensor<2xi1> {graph.name = "adze.narrow"})
// CHECK: %[[FLAG:.*]] = graph.slice %[[FLAGS]] {starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<2xi1>) -> tensor<1xi1>
// CHECK: %[[XB:.*]] = graph.cast %[[X]] {{.*}} -> tensor<?x8xbf16
// CHECK: %[[XR:.*]] = graph.cast %[[XB]] {{.*}} -> tensor<?x8xf32
// CHECK: %[[XS:.*]] = graph.select %[[FLAG]], %[[XR]], %[[X]]
// CHECK: %[[WS:.*]] = graph.select %{{.*}} -> tensor<8x4xf32>
// CHECK: graph.matmul %[[XS]], %[[WS]] :
// CHECK: graph.slice %[[FLAGS]] {starts = array<i64: 1>
// CHECK: graph.conv
// CHECK: graph.matmul %arg0, %arg0 {transpose_b = true}
func.func @products(%x: tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, %i: tensor<1x1x4x9xf32>) -> (tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>, tensor<1x3x4x9xf32>, tensor<?x?xf32, affine_map<()[s0] -> (s0, s0)>>) {
  %w = graph.constant dense<0.5> : tensor<8x4xf32>
  %f = graph.constant dense<0.5> : tensor<3x1x1x1xf32>
  %y = graph.matmul %x, %w : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<8x4xf32>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>> loc("first")
  %z = graph.conv %i, %f {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1x4x9xf32>, tensor<3x1x1x1xf32>) -> tensor<1x3x4x9xf32> loc("second")
  %s = graph.matmul %x, %x {transpose_b = true} : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x?xf32, affine_map<()[s0] -> (s0, s0)>>
  return %y, %z, %s : tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>, tensor<1x3x4x9xf32>, tensor<?x?xf32, affine_map<()[s0] -> (s0, s0)>>
}

// -----

// Nothing to choose: no additional input.
// CHECK: graph.probed_products = []
// CHECK-LABEL: func.func @none(
// CHECK-SAME: %{{.*}}: tensor<4xf32>) ->
func.func @none(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Flags are not passed into bodies.
// expected-error @below {{unsupported: --precision=auto of products in bodies of If, Loop or Scan; name a type, such as --precision=bf16}}
func.func @body(%x: tensor<4x4xf32>, %c: tensor<i1>) -> tensor<4x4xf32> {
  %w = graph.constant dense<0.5> : tensor<4x4xf32>
  %0 = graph.if %c : (tensor<i1>) -> tensor<4x4xf32> {
    %1 = graph.matmul %x, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    graph.yield %1 : tensor<4x4xf32>
  } else {
    graph.yield %x : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

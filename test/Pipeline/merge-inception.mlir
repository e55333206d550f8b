// Branches of one input as in Inception and ResNet: reductions before windows, with
// different activations or none, become one convolution whose channels are read in
// place; same results as the reference path, NaN included.
// RUN: rm -rf %t && mkdir %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so --report=%t/r.json
// RUN: FileCheck %s < %t/r.json
// RUN: arun %t/0.so --random --shape x=2x24x12x12 --output-dir %t
// RUN: arun %t/2.so --random --shape x=2x24x12x12 --range-tol 1e-5 --expect y=%t/y.npy --expect z=%t/z.npy

// The merged branches; the first operand of the concat; two windows that are operands of
// it; the residual; the concat with its channels first again. No launch copies a branch,
// or computes an identity for it.
// CHECK: "launches": 6
// CHECK: "pattern": "merge-horizontal"
// CHECK-NEXT: "reason": "an operand of a concatenation is stored in place"
#x = affine_map<()[s0] -> (s0, 24, 12, 12)>
#a = affine_map<()[s0] -> (s0, 16, 12, 12)>
#b = affine_map<()[s0] -> (s0, 8, 12, 12)>
#y = affine_map<()[s0] -> (s0, 40, 12, 12)>
!x = tensor<?x24x12x12xf32, #x>
!a = tensor<?x16x12x12xf32, #a>
!b = tensor<?x8x12x12xf32, #b>
!y = tensor<?x40x12x12xf32, #y>
func.func @main(%x: !x {graph.name = "x"}) -> (!y {graph.name = "y"}, !a {graph.name = "z"}) attributes {graph.symbols = ["n"]} {
  %six = graph.constant dense<6.0> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %end = graph.constant dense<384.0> : tensor<f32>
  %step = graph.constant dense<1.0> : tensor<f32>
  %i = graph.range %zero, %end, %step : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<384xf32>
  %f0 = graph.constant dense<0.3> : tensor<f32>
  %p0 = graph.mul %i, %f0 : (tensor<384xf32>, tensor<f32>) -> tensor<384xf32>
  %s0 = graph.sin %p0 : (tensor<384xf32>) -> tensor<384xf32>
  %w0 = graph.reshape %s0 : (tensor<384xf32>) -> tensor<16x24x1x1xf32>
  %f1 = graph.constant dense<0.7> : tensor<f32>
  %p1 = graph.mul %i, %f1 : (tensor<384xf32>, tensor<f32>) -> tensor<384xf32>
  %s1 = graph.sin %p1 : (tensor<384xf32>) -> tensor<384xf32>
  %w1 = graph.reshape %s1 : (tensor<384xf32>) -> tensor<16x24x1x1xf32>
  %f2 = graph.constant dense<1.1> : tensor<f32>
  %p2 = graph.mul %i, %f2 : (tensor<384xf32>, tensor<f32>) -> tensor<384xf32>
  %s2 = graph.sin %p2 : (tensor<384xf32>) -> tensor<384xf32>
  %h2 = graph.slice %s2 {starts = array<i64: 9>, steps = array<i64: 1>} : (tensor<384xf32>) -> tensor<192xf32>
  %w2 = graph.reshape %h2 : (tensor<192xf32>) -> tensor<8x24x1x1xf32>
  %f3 = graph.constant dense<1.9> : tensor<f32>
  %p3 = graph.mul %i, %f3 : (tensor<384xf32>, tensor<f32>) -> tensor<384xf32>
  %s3 = graph.sin %p3 : (tensor<384xf32>) -> tensor<384xf32>
  %w3 = graph.reshape %s3 : (tensor<384xf32>) -> tensor<16x24x1x1xf32>
  %k3 = graph.constant dense<0.02> : tensor<16x16x3x3xf32>
  %k5 = graph.constant dense<-0.01> : tensor<8x8x5x5xf32>
  %k1 = graph.constant dense<0.03> : tensor<16x16x1x1xf32>
  %one = graph.constant dense<0.1> : tensor<16xf32>
  %eight = graph.constant dense<0.2> : tensor<8xf32>
  %c0 = graph.conv %x, %w0, %one {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (!x, tensor<16x24x1x1xf32>, tensor<16xf32>) -> !a
  %r0 = graph.relu %c0 : (!a) -> !a
  %c1 = graph.conv %x, %w1, %one {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (!x, tensor<16x24x1x1xf32>, tensor<16xf32>) -> !a
  %r1 = graph.relu %c1 : (!a) -> !a
  %c2 = graph.conv %x, %w2, %eight {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (!x, tensor<8x24x1x1xf32>, tensor<8xf32>) -> !b
  %l2 = graph.maximum %c2, %zero : (!b, tensor<f32>) -> !b
  %r2 = graph.minimum %l2, %six : (!b, tensor<f32>) -> !b
  %c3 = graph.conv %x, %w3, %one {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (!x, tensor<16x24x1x1xf32>, tensor<16xf32>) -> !a
  %d1 = graph.conv %r1, %k3 {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (!a, tensor<16x16x3x3xf32>) -> !a
  %d2 = graph.conv %r2, %k5 {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>} : (!b, tensor<8x8x5x5xf32>) -> !b
  %y = graph.concat %r0, %d1, %d2 {axis = 1 : i64} : (!a, !a, !b) -> !y
  %d3 = graph.conv %d1, %k1 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (!a, tensor<16x16x1x1xf32>) -> !a
  %s = graph.add %d3, %c3 : (!a, !a) -> !a
  %z = graph.relu %s : (!a) -> !a
  return %y, %z : !y, !a
}

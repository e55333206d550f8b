// RUN: aopt %s -tile-attach-targets="cpu=icelake-server" --graph-form-block-products --cse --split-input-file | FileCheck %s
// RUN: aopt %s -tile-attach-targets="cpu=sandybridge triple=x86_64" --graph-form-block-products --split-input-file | FileCheck %s --check-prefix=PLAIN
// RUN: aopt %s -tile-attach-targets="cpu=icelake-server" --graph-form-block-products=form=false --split-input-file | FileCheck %s --check-prefix=PLAIN

// Byte 0x21 has 1 in the low bits, which are first: the word of elements 1, 2, 1, 2, ..
// has 1, 2, 1, 2 in the low halves of its bytes, and in the high ones. Rows are rounded
// to one plane of bytes; the zero point is 8.
// CHECK-LABEL: func.func @products(
// CHECK: %[[W:.*]] = graph.constant dense<{{.*}}[571548177, 571548177{{.*}}[1056964608, 1056964608{{.*}}> : tensor<1x3x2xi32>
// CHECK: graph.reduce_max
// CHECK: graph.round
// CHECK: %[[WORDS:.*]] = graph.reshape {{.*}} -> tensor<5x1x4xi32>
// CHECK: %[[SUMS:.*]] = graph.reduce_sum
// CHECK: %[[EIGHT:.*]] = graph.constant dense<-8.0{{.*}}> : tensor<f32>
// CHECK: graph.mul %[[SUMS]], %[[EIGHT]]
// CHECK: graph.word_matmul %[[WORDS]], {{.*}}, %[[W]] {bits = 4 : i64, planes = 1 : i64}
// CHECK-NOT: graph.dequantize_blocks
// PLAIN-LABEL: func.func @products(
// PLAIN-NOT: graph.word_matmul
// PLAIN: graph.shift_right
// PLAIN: graph.sub
// PLAIN: graph.mul
// PLAIN: graph.matmul
// PLAIN-NOT: graph.dequantize_blocks
func.func @products(%x: tensor<5x16xf32>) -> tensor<5x2xf32> {
  %p = graph.constant dense<0x21> : tensor<2x1x8xui8>
  %s = graph.constant dense<0.5> : tensor<2x1xf32>
  %w = graph.dequantize_blocks %p, %s {bits = 4 : i64, block = 16 : i64, int8_products} : (tensor<2x1x8xui8>, tensor<2x1xf32>) -> tensor<2x16xf32>
  %y = graph.matmul %x, %w {transpose_b = true} : (tensor<5x16xf32>, tensor<2x16xf32>) -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}

// -----

// Exact products use three planes; two products of one operand quantize it once. Zero
// points are an operand; the missing part of the last block is 0.
// CHECK-LABEL: func.func @exact(
// CHECK: graph.pad
// CHECK: graph.round
// CHECK: graph.floor
// The bytes of words are read with a stride along whole rows.
// CHECK: graph.slice {{.*}} {starts = array<i64: 0, 1>, steps = array<i64: 1, 4>} : (tensor<?x64xf32{{.*}} -> tensor<?x16xf32
// CHECK: graph.floor
// CHECK-NOT: graph.round
// CHECK-COUNT-2: graph.word_matmul {{.*}}planes = 3{{.*}}tensor<?x2x24xi32{{.*}}tensor<2x9x4xi32>, tensor<2x4xui8>
func.func @exact(%x: tensor<?x60xf32, affine_map<()[s0] -> (s0, 60)>>, %z: tensor<4x2xui8>) -> (tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>, tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>) {
  %p = graph.constant dense<3> : tensor<4x2x32xui8>
  %s = graph.constant dense<0.5> : tensor<4x2xf32>
  %w = graph.dequantize_blocks %p, %s, %z {bits = 8 : i64, block = 32 : i64} : (tensor<4x2x32xui8>, tensor<4x2xf32>, tensor<4x2xui8>) -> tensor<4x60xf32>
  %a = graph.matmul %x, %w {transpose_b = true} : (tensor<?x60xf32, affine_map<()[s0] -> (s0, 60)>>, tensor<4x60xf32>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>
  %q = graph.constant dense<5> : tensor<4x2x32xui8>
  %v = graph.dequantize_blocks %q, %s, %z {bits = 8 : i64, block = 32 : i64} : (tensor<4x2x32xui8>, tensor<4x2xf32>, tensor<4x2xui8>) -> tensor<4x60xf32>
  %b = graph.matmul %x, %v {transpose_b = true} : (tensor<?x60xf32, affine_map<()[s0] -> (s0, 60)>>, tensor<4x60xf32>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>
  return %a, %b : tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>, tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>
}

// -----

// Dynamic weights, and users other than products.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: graph.word_matmul
// CHECK: graph.shift_right
// CHECK: graph.slice {{.*}} -> tensor<2x15xf32>
// CHECK: graph.matmul
// CHECK: graph.exp
func.func @others(%x: tensor<5x15xf32>, %p: tensor<2x1x8xui8>) -> (tensor<5x2xf32>, tensor<2x15xf32>) {
  %s = graph.constant dense<0.5> : tensor<2x1xf32>
  %w = graph.dequantize_blocks %p, %s {bits = 4 : i64, block = 16 : i64} : (tensor<2x1x8xui8>, tensor<2x1xf32>) -> tensor<2x15xf32>
  %y = graph.matmul %x, %w {transpose_b = true} : (tensor<5x15xf32>, tensor<2x15xf32>) -> tensor<5x2xf32>
  %e = graph.exp %w : (tensor<2x15xf32>) -> tensor<2x15xf32>
  return %y, %e : tensor<5x2xf32>, tensor<2x15xf32>
}

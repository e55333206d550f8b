// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --graph-form-block-products --split-input-file | FileCheck %s

// GPUs multiply floats by packed elements: the bytes become words, in whose halves
// adjacent elements are at equal places (1 to 8 are 0x86427531), and the left
// operand gets a dim for the blocks. Zero points stay. Where 8 bits suffice, the
// left operand may be rounded.
// CHECK-LABEL: func.func @products(
// CHECK-DAG: %[[W:.*]] = graph.constant dense<-2042464975> : tensor<2x2x2xi32>
// CHECK-DAG: %[[X:.*]] = graph.reshape %arg0 {{.*}} -> tensor<?x2x2x8xf32
// CHECK: graph.block_matmul %[[X]], %[[W]], %{{.*}}, %arg1 {bits = 4 : i64, graph.precision = bf16}
// CHECK-NOT: graph.dequantize_blocks
func.func @products(%x: tensor<?x32xf32, affine_map<()[s0] -> (s0, 32)>>, %z: tensor<2x2xui8>) -> tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>> {
  %p = graph.constant dense<"0x2143658721436587214365872143658721436587214365872143658721436587"> : tensor<2x2x8xui8>
  %s = graph.constant dense<0.5> : tensor<2x2xf32>
  %w = graph.dequantize_blocks %p, %s, %z {bits = 4 : i64, block = 16 : i64, int8_products} : (tensor<2x2x8xui8>, tensor<2x2xf32>, tensor<2x2xui8>) -> tensor<2x32xf32>
  %y = graph.matmul %x, %w {transpose_b = true} : (tensor<?x32xf32, affine_map<()[s0] -> (s0, 32)>>, tensor<2x32xf32>) -> tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>
  return %y : tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>
}

// -----

// Elements of 8 and of 2 bits.
// CHECK-LABEL: func.func @widths(
// CHECK-DAG: graph.constant dense<67240705> : tensor<2x2x4xi32>
// CHECK-DAG: graph.constant dense<-768438889> : tensor<2x2x1xi32>
func.func @widths(%x: tensor<5x32xf16>) -> (tensor<5x2xf16>, tensor<5x2xf16>) {
  %p = graph.constant dense<"0x01020304010203040102030401020304010203040102030401020304010203040102030401020304010203040102030401020304010203040102030401020304"> : tensor<2x2x16xui8>
  %q = graph.constant dense<"0x1b2d39e41b2d39e41b2d39e41b2d39e4"> : tensor<2x2x4xui8>
  %s = graph.constant dense<0.5> : tensor<2x2xf16>
  %v = graph.dequantize_blocks %p, %s {bits = 8 : i64, block = 16 : i64} : (tensor<2x2x16xui8>, tensor<2x2xf16>) -> tensor<2x32xf16>
  %w = graph.dequantize_blocks %q, %s {bits = 2 : i64, block = 16 : i64} : (tensor<2x2x4xui8>, tensor<2x2xf16>) -> tensor<2x32xf16>
  %y = graph.matmul %x, %v {transpose_b = true} : (tensor<5x32xf16>, tensor<2x32xf16>) -> tensor<5x2xf16>
  %z = graph.matmul %x, %w {transpose_b = true} : (tensor<5x32xf16>, tensor<2x32xf16>) -> tensor<5x2xf16>
  return %y, %z : tensor<5x2xf16>, tensor<5x2xf16>
}

// -----

// A depth that ends within a block.
// CHECK-LABEL: func.func @ragged(
// CHECK-NOT: graph.block_matmul
// CHECK: graph.matmul
func.func @ragged(%x: tensor<5x30xf32>) -> tensor<5x2xf32> {
  %p = graph.constant dense<0x21> : tensor<2x2x8xui8>
  %s = graph.constant dense<0.5> : tensor<2x2xf32>
  %w = graph.dequantize_blocks %p, %s {bits = 4 : i64, block = 16 : i64} : (tensor<2x2x8xui8>, tensor<2x2xf32>) -> tensor<2x30xf32>
  %y = graph.matmul %x, %w {transpose_b = true} : (tensor<5x30xf32>, tensor<2x30xf32>) -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}

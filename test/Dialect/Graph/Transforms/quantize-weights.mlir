// RUN: aopt %s -tile-attach-targets="cpu=icelake-server" --graph-quantize-weights="bits=4 block=16" --split-input-file | FileCheck %s
// RUN: aopt %s -tile-attach-targets="cpu=icelake-server" --graph-quantize-weights="bits=8 block=16" --split-input-file | FileCheck %s --check-prefix=BYTES
// RUN: aopt %s -tile-attach-targets="cpu=icelake-server" --graph-quantize-weights="bits=4 block=16" --split-input-file --remarks-filter-failed=.* --remarks-filter-analyse=.* 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not aopt %s -tile-attach-targets="cpu=sandybridge triple=x86_64" --graph-quantize-weights --split-input-file 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: error: unsupported: --weights-precision=int4: sandybridge has no instruction for products of 'ui8' by 'si8'; leave the flag out, or name another CPU by --mcpu
// RUN: not aopt %s -tile-attach-targets="cpu=icelake-server" --graph-quantize-weights="bits=3 block=16" --split-input-file 2>&1 | FileCheck %s --check-prefix=BITS
// BITS: error: expected 4 or 8 bits and a block of a multiple of 16, but got 3 and 16

// Integers that fit 4 bits are exact: -8 is 0, 1 is 9, the first of two in the low bits.
// Columns and rows of the matrix give the same integers.
// CHECK-LABEL: func.func @rows_and_columns(
// CHECK-DAG: %[[P:.*]] = graph.constant dense<{{\[\[}}[144, 186, 220, 254, 144, 186, 220, 254]]]> : tensor<1x1x8xui8>
// CHECK-DAG: %[[S:.*]] = graph.constant dense<1.000000e+00> : tensor<1x1xf32>
// CHECK: %[[W:.*]] = graph.dequantize_blocks %[[P]], %[[S]] {bits = 4 : i64, block = 16 : i64}
// CHECK: graph.matmul %{{.*}}, %[[W]] {transpose_b = true}
// CHECK: %[[P2:.*]] = graph.constant dense<{{\[\[}}[144, 186, 220, 254, 144, 186, 220, 254]]]> : tensor<1x1x8xui8>
// CHECK: graph.matmul %{{.*}}, %{{.*}} {transpose_b = true}
// CHECK: graph.matmul %{{.*}}, %{{.*}} {transpose_b = true}
// CHECK-NOT: graph.matmul
// BYTES-LABEL: func.func @rows_and_columns(
// BYTES: graph.dequantize_blocks {{.*}} {bits = 8 : i64, block = 16 : i64} : (tensor<1x1x16xui8>, tensor<1x1xf32>) -> tensor<1x16xf32>
// REMARK: remark: [Analysis] quantize-weights | Category:graph.matmul{{.*}}Bits=4, Block=16, RelativeError=0.000000e+00
func.func @rows_and_columns(%x: tensor<5x16xf32>) -> (tensor<5x1xf32>, tensor<5x1xf32>, tensor<5x1xf32>) {
  %w = graph.constant dense<[[-8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, -8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]]> : tensor<1x16xf32>
  %a = graph.matmul %x, %w {transpose_b = true} : (tensor<5x16xf32>, tensor<1x16xf32>) -> tensor<5x1xf32>
  %v = graph.constant dense<[[-8.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [-8.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0]]> : tensor<16x1xf32>
  %b = graph.matmul %x, %v : (tensor<5x16xf32>, tensor<16x1xf32>) -> tensor<5x1xf32>
  %t = graph.transpose %w {perm = array<i64: 1, 0>} : (tensor<1x16xf32>) -> tensor<16x1xf32>
  %c = graph.matmul %x, %t : (tensor<5x16xf32>, tensor<16x1xf32>) -> tensor<5x1xf32>
  return %a, %b, %c : tensor<5x1xf32>, tensor<5x1xf32>, tensor<5x1xf32>
}

// -----

// Dynamic rows, and a partial block: 4 elements are 0 there.
// Two products of one weight share it.
// CHECK-LABEL: func.func @dynamic(
// CHECK: graph.dequantize_blocks {{.*}} : (tensor<2x2x8xui8>, tensor<2x2xf32>) -> tensor<2x20xf32>
// CHECK-NOT: graph.dequantize_blocks
// CHECK-COUNT-2: graph.matmul {{.*}} {transpose_b = true} : (tensor<?x20xf32{{.*}}, tensor<2x20xf32>) -> tensor<?x2xf32
func.func @dynamic(%x: tensor<?x20xf32, affine_map<()[s0] -> (s0, 20)>>, %y: tensor<?x20xf32, affine_map<()[s0] -> (s0, 20)>>) -> (tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>, tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>) {
  %w = graph.constant dense<[[0.5, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0], [8.0, 9.0], [0.5, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0], [8.0, 9.0], [0.5, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0], [8.0, 9.0], [0.5, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0], [8.0, 9.0]]> : tensor<20x2xf32>
  %a = graph.matmul %x, %w : (tensor<?x20xf32, affine_map<()[s0] -> (s0, 20)>>, tensor<20x2xf32>) -> tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>
  %b = graph.matmul %y, %w : (tensor<?x20xf32, affine_map<()[s0] -> (s0, 20)>>, tensor<20x2xf32>) -> tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>
  return %a, %b : tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>, tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>
}

// -----

// Depths below a block, equal elements, numbers that are not finite, and dynamic weights
// are unchanged.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: graph.dequantize_blocks
// REMARK-DAG: remark: [Failure] quantize-weights | Category:graph.matmul{{.*}} | {{.*}}its depth is less than a block
// REMARK-DAG: remark: [Failure] quantize-weights | Category:graph.matmul{{.*}} | {{.*}}all elements of the weight are equal
// REMARK-DAG: remark: [Failure] quantize-weights | Category:graph.matmul{{.*}} | {{.*}}the weight has numbers that are not finite
func.func @others(%x: tensor<5x2xf32>, %y: tensor<5x16xf32>, %z: tensor<16x1xf32>) -> (tensor<5x1xf32>, tensor<5x1xf32>, tensor<5x1xf32>, tensor<5x1xf32>) {
  %u = graph.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %a = graph.matmul %x, %u : (tensor<5x2xf32>, tensor<2x1xf32>) -> tensor<5x1xf32>
  %v = graph.constant dense<1.0> : tensor<16x1xf32>
  %b = graph.matmul %y, %v : (tensor<5x16xf32>, tensor<16x1xf32>) -> tensor<5x1xf32>
  %w = graph.constant dense<[[1.0], [0x7F800000], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [1.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0]]> : tensor<16x1xf32>
  %c = graph.matmul %y, %w : (tensor<5x16xf32>, tensor<16x1xf32>) -> tensor<5x1xf32>
  %d = graph.matmul %y, %z : (tensor<5x16xf32>, tensor<16x1xf32>) -> tensor<5x1xf32>
  return %a, %b, %c, %d : tensor<5x1xf32>, tensor<5x1xf32>, tensor<5x1xf32>, tensor<5x1xf32>
}

// A window larger than its input: the run is rejected if an output or an intermediate
// tensor would have a negative size.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: atranslate output.mlir -O0 -o o0.so && atranslate output.mlir -o o2.so
// RUN: arun o0.so --random --shape input0=7x2x2 && arun o2.so --random --shape input0=7x2x2
// RUN: not arun o0.so --random --shape input0=7x2x0 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not arun o2.so --random --shape input0=7x2x1 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: error: {{.*}}output 'output1': dim 2 would be -1: expected larger inputs
// RUN: atranslate inside.mlir -O0 -o i0.so && atranslate inside.mlir -o i2.so
// RUN: arun i2.so --random --shape input0=1x2x4x4
// RUN: not arun i0.so --random --shape input0=1x2x1x1 2>&1 | FileCheck %s --check-prefix=INSIDE
// RUN: not arun i2.so --random --shape input0=1x2x1x1 2>&1 | FileCheck %s --check-prefix=INSIDE
// INSIDE: error: {{.*}}shapes {{.*}}too small
// If the smallest sizes, 1, are rejected, larger ones run nevertheless; only the arena at
// these sizes is not printed.
// RUN: atranslate apart.mlir -O0 -o a0.so && atranslate apart.mlir -o a2.so
// RUN: arun a0.so --info | FileCheck %s --check-prefix=INFO
// INFO: "arena_bytes": null,
// INFO-NEXT: "arena_lower_bound_bytes": null,
// INFO-NEXT: "arena_at": {"": 1}
// RUN: arun a0.so --random --shape input0=6 --output-dir . && arun a2.so --random --shape input0=6 --expect output1=output1.npy
// RUN: not arun a0.so --random --shape input0=2 2>&1 | FileCheck %s --check-prefix=INSIDE
// RUN: not arun a2.so --random --shape input0=2 2>&1 | FileCheck %s --check-prefix=INSIDE

//--- output.mlir
#in = affine_map<()[s0] -> (7, 2, s0)>
#out = affine_map<()[s0] -> (7, 2, s0 floordiv 2 - 1)>
func.func @main(%x: tensor<7x2x?xf32, #in>) -> tensor<7x2x?xf32, #out> attributes {graph.symbol_ranges = [array<i64: 0, -1, -1>], graph.symbols = [""]} {
  %w = graph.constant dense<0.5> : tensor<2x2x3xf32>
  %0 = graph.conv %x, %w {dilations = array<i64: 2>, pads = array<i64: 0, 1>, strides = array<i64: 2>} : (tensor<7x2x?xf32, #in>, tensor<2x2x3xf32>) -> tensor<7x2x?xf32, #out>
  return %0 : tensor<7x2x?xf32, #out>
}

//--- inside.mlir
#in = affine_map<()[s0, s1] -> (1, 2, s0, s1)>
#mid = affine_map<()[s0, s1] -> (1, 2, s0 - 2, s1 - 2)>
func.func @main(%x: tensor<1x2x?x?xf32, #in>) -> tensor<1x2x1x1xf32> attributes {graph.symbol_ranges = [array<i64: 0, -1, -1>, array<i64: 0, -1, -1>], graph.symbols = ["", ""]} {
  %w = graph.constant dense<0.5> : tensor<2x2x3x3xf32>
  %0 = graph.conv %x, %w {dilations = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x2x?x?xf32, #in>, tensor<2x2x3x3xf32>) -> tensor<1x2x?x?xf32, #mid>
  %1 = graph.reduce_sum %0 {axes = array<i64: 2, 3>, keepdims = true} : (tensor<1x2x?x?xf32, #mid>) -> tensor<1x2x1x1xf32>
  return %1 : tensor<1x2x1x1xf32>
}

//--- apart.mlir
#in = affine_map<()[s0] -> (s0)>
#cut = affine_map<()[s0] -> (s0 - 3)>
#mid = affine_map<()[s0] -> (s0 - 3, 16)>
func.func @main(%x: tensor<?xf32, #in>) -> tensor<16xf32> attributes {graph.symbol_ranges = [array<i64: 0, -1, -1>], graph.symbols = [""]} {
  %0 = graph.slice %x {starts = array<i64: 3>, steps = array<i64: 1>} : (tensor<?xf32, #in>) -> tensor<?xf32, #cut>
  %w = graph.constant dense<0.5> : tensor<1x16xf32>
  %1 = graph.reshape %0 : (tensor<?xf32, #cut>) -> tensor<?x1xf32, affine_map<()[s0] -> (s0 - 3, 1)>>
  %2 = graph.matmul %1, %w : (tensor<?x1xf32, affine_map<()[s0] -> (s0 - 3, 1)>>, tensor<1x16xf32>) -> tensor<?x16xf32, #mid>
  %3 = graph.softmax %2 {axis = 0 : i64} : (tensor<?x16xf32, #mid>) -> tensor<?x16xf32, #mid>
  %4 = graph.reduce_max %3 {axes = array<i64: 0>, keepdims = false} : (tensor<?x16xf32, #mid>) -> tensor<16xf32>
  return %4 : tensor<16xf32>
}

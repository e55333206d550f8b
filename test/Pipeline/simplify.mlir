// Rewrites of the simplifying passes have the results of the reference path.
// RUN: rm -rf %t && mkdir -p %t
// RUN: atranslate %s -O0 -o %t/o0.so && atranslate %s -o %t/o2.so --stats 2>&1 | FileCheck %s
// RUN: arun %t/o0.so --random --shape input0=5x8 --output-dir %t --threads 1
// RUN: arun %t/o2.so --random --shape input0=5x8 --range-tol 1e-6 --expect output1=%t/output1.npy --expect output2=%t/output2.npy --expect output3=%t/output3.npy
// CHECK: graph-order-views: ordered = 2
// CHECK: graph-simplify-algebra: simplified = 5
// CHECK: graph-simplify-control-flow: unrolled = 1
// CHECK: graph-simplify-movement: simplified = 3

#in = affine_map<()[s0] -> (s0, 8)>
#row = affine_map<()[s0] -> (s0)>
#cut = affine_map<()[s0] -> (s0, 4)>
func.func @main(%x: tensor<?x8xf32, #in>) -> (tensor<?xf32, #row>, tensor<?x4xf32, #cut>, tensor<8xf32>) attributes {graph.symbol_ranges = [array<i64: 1, -1, -1>], graph.symbols = [""]} {
  // algebra
  %one = graph.constant dense<1.0> : tensor<f32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %three = graph.constant dense<3.0> : tensor<f32>
  %eight = graph.constant dense<8.0> : tensor<f32>
  %0 = graph.pow %x, %three : (tensor<?x8xf32, #in>, tensor<f32>) -> tensor<?x8xf32, #in>
  %1 = graph.mul %0, %one : (tensor<?x8xf32, #in>, tensor<f32>) -> tensor<?x8xf32, #in>
  %2 = graph.div %1, %eight : (tensor<?x8xf32, #in>, tensor<f32>) -> tensor<?x8xf32, #in>
  %3 = graph.minimum %2, %three : (tensor<?x8xf32, #in>, tensor<f32>) -> tensor<?x8xf32, #in>
  %4 = graph.minimum %3, %two : (tensor<?x8xf32, #in>, tensor<f32>) -> tensor<?x8xf32, #in>
  %5 = graph.neg %4 : (tensor<?x8xf32, #in>) -> tensor<?x8xf32, #in>
  %6 = graph.neg %5 : (tensor<?x8xf32, #in>) -> tensor<?x8xf32, #in>
  // movement
  %last = graph.constant dense<-1> : tensor<i64>
  %even = graph.constant dense<[6, 4, 2, 0]> : tensor<4xi64>
  %7 = graph.concat %x, %6 {axis = 1 : i64} : (tensor<?x8xf32, #in>, tensor<?x8xf32, #in>) -> tensor<?x16xf32, affine_map<()[s0] -> (s0, 16)>>
  %8 = graph.slice %7 {starts = array<i64: 0, 8>, steps = array<i64: 1, 1>} : (tensor<?x16xf32, affine_map<()[s0] -> (s0, 16)>>) -> tensor<?x8xf32, #in>
  %9 = graph.gather %8, %last {axis = 1 : i64} : (tensor<?x8xf32, #in>, tensor<i64>) -> tensor<?xf32, #row>
  %10 = graph.gather %8, %even {axis = 1 : i64} : (tensor<?x8xf32, #in>, tensor<4xi64>) -> tensor<?x4xf32, #cut>
  %11 = graph.reverse %10 {axes = array<i64: 1>} : (tensor<?x4xf32, #cut>) -> tensor<?x4xf32, #cut>
  %12 = graph.reverse %11 {axes = array<i64: 1>} : (tensor<?x4xf32, #cut>) -> tensor<?x4xf32, #cut>
  // control flow
  %n = graph.constant dense<3> : tensor<i64>
  %sum = graph.reduce_sum %x {axes = array<i64: 0>, keepdims = false} : (tensor<?x8xf32, #in>) -> tensor<8xf32>
  %r = "graph.loop"(%n, %sum) <{operandSegmentSizes = array<i32: 1, 0, 1>, symbols = array<i64>}> ({
  ^bb0(%i: tensor<i64>, %a: tensor<8xf32>):
    %f = graph.cast %i : (tensor<i64>) -> tensor<f32>
    %b = graph.add %a, %f : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    graph.yield %b : tensor<8xf32>
  }) : (tensor<i64>, tensor<8xf32>) -> tensor<8xf32>
  return %9, %12, %r : tensor<?xf32, #row>, tensor<?x4xf32, #cut>, tensor<8xf32>
}

// Reductions with their producers and consumers as one kernel: unit length, a softmax
// without its maximum, moments of which both kinds of results are stored, over one and
// two dims, of integers. Same results as the reference path; the same bits with two
// threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2 %t/3
// RUN: atranslate -O0 %s -o %t/0.so
// RUN: atranslate %s -o %t/1.so --stats 2>&1 | FileCheck %s
// RUN: arun %t/0.so --random --shape x=7x5x12 --shape i=7x9 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=7x5x12 --shape i=7x9 --threads 1 --output-dir %t/1 --range-tol 1e-5 \
// RUN:   --expect unit=%t/0/unit.npy --expect soft=%t/0/soft.npy --expect moment=%t/0/moment.npy \
// RUN:   --expect centred=%t/0/centred.npy --expect two=%t/0/two.npy --expect whole=%t/0/whole.npy
// RUN: arun %t/1.so --random --shape x=7x5x12 --shape i=7x9 --threads 2 --output-dir %t/2
// RUN: diff -r %t/1 %t/2
// RUN: arun %t/0.so --random --shape x=1x5x12 --shape i=1x9 --output-dir %t/3
// RUN: arun %t/1.so --random --shape x=1x5x12 --shape i=1x9 --range-tol 1e-5 \
// RUN:   --expect unit=%t/3/unit.npy --expect moment=%t/3/moment.npy --expect two=%t/3/two.npy --expect whole=%t/3/whole.npy

// CHECK: convert-graph-to-tile: refused = 0
// CHECK: convert-host-to-llvm: launches = 3

#x = affine_map<()[s0] -> (s0, 5, 12)>
#r = affine_map<()[s0] -> (s0, 5, 1)>
#b = affine_map<()[s0] -> (s0, 1, 1)>
#i = affine_map<()[s0] -> (s0, 9)>
#j = affine_map<()[s0] -> (s0, 1)>
func.func @main(%x: tensor<?x5x12xf32, #x> {graph.name = "x"}, %i: tensor<?x9xi32, #i> {graph.name = "i"})
    -> (tensor<?x5x12xf32, #x> {graph.name = "unit"}, tensor<?x5x12xf32, #x> {graph.name = "soft"}, tensor<?x5x1xf32, #r> {graph.name = "moment"}, tensor<?x5x12xf32, #x> {graph.name = "centred"}, tensor<?x5x12xf32, #x> {graph.name = "two"}, tensor<?x9xi32, #i> {graph.name = "whole"})
    attributes {graph.symbols = ["n"]} {
  %0 = graph.reduce_l2 %x {axes = array<i64: 2>} : (tensor<?x5x12xf32, #x>) -> tensor<?x5x1xf32, #r>
  %1 = graph.div %x, %0 : (tensor<?x5x12xf32, #x>, tensor<?x5x1xf32, #r>) -> tensor<?x5x12xf32, #x>
  %2 = graph.exp %x : (tensor<?x5x12xf32, #x>) -> tensor<?x5x12xf32, #x>
  %3 = graph.reduce_sum %2 {axes = array<i64: 2>} : (tensor<?x5x12xf32, #x>) -> tensor<?x5x1xf32, #r>
  %4 = graph.div %2, %3 : (tensor<?x5x12xf32, #x>, tensor<?x5x1xf32, #r>) -> tensor<?x5x12xf32, #x>
  %t = graph.tanh %x : (tensor<?x5x12xf32, #x>) -> tensor<?x5x12xf32, #x>
  %5 = graph.reduce_mean %t {axes = array<i64: 2>} : (tensor<?x5x12xf32, #x>) -> tensor<?x5x1xf32, #r>
  %6 = graph.sub %t, %5 : (tensor<?x5x12xf32, #x>, tensor<?x5x1xf32, #r>) -> tensor<?x5x12xf32, #x>
  %7 = graph.reduce_log_sum_exp %6 {axes = array<i64: 2>} : (tensor<?x5x12xf32, #x>) -> tensor<?x5x1xf32, #r>
  %8 = graph.reduce_sum_square %x {axes = array<i64: 1, 2>} : (tensor<?x5x12xf32, #x>) -> tensor<?x1x1xf32, #b>
  %9 = graph.mul %x, %8 : (tensor<?x5x12xf32, #x>, tensor<?x1x1xf32, #b>) -> tensor<?x5x12xf32, #x>
  %10 = graph.reduce_max %i {axes = array<i64: 1>} : (tensor<?x9xi32, #i>) -> tensor<?x1xi32, #j>
  %11 = graph.reduce_min %i {axes = array<i64: 1>} : (tensor<?x9xi32, #i>) -> tensor<?x1xi32, #j>
  %12 = graph.sub %10, %11 : (tensor<?x1xi32, #j>, tensor<?x1xi32, #j>) -> tensor<?x1xi32, #j>
  %13 = graph.add %i, %12 : (tensor<?x9xi32, #i>, tensor<?x1xi32, #j>) -> tensor<?x9xi32, #i>
  return %1, %4, %7, %6, %9, %13 : tensor<?x5x12xf32, #x>, tensor<?x5x12xf32, #x>, tensor<?x5x1xf32, #r>, tensor<?x5x12xf32, #x>, tensor<?x5x12xf32, #x>, tensor<?x9xi32, #i>
}

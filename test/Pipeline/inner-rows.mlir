// Rows of inner dims with values computed from them as one kernel each: a softmax without
// its maximum over leading channels, the deviation of elements and its magnitude, both
// stored, two dims at once, and the first dim. Same results as the reference path; the
// same bits with two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so
// RUN: atranslate %s -o %t/1.so --stats 2>&1 | FileCheck %s
// RUN: for s in "7x21x13" "1x21x1" "2x21x200"; do \
// RUN:   arun %t/0.so --random --shape x=$s --output-dir %t/0 >/dev/null && \
// RUN:   arun %t/1.so --random --shape x=$s --threads 1 --output-dir %t/1 --range-tol 1e-5 \
// RUN:     --expect soft=%t/0/soft.npy --expect moment=%t/0/moment.npy --expect centred=%t/0/centred.npy \
// RUN:     --expect two=%t/0/two.npy --expect whole=%t/0/whole.npy && \
// RUN:   arun %t/1.so --random --shape x=$s --threads 2 --output-dir %t/2 >/dev/null && diff -r %t/1 %t/2 || exit 1; done

// CHECK: convert-graph-to-tile: refused = 0
// CHECK: convert-host-to-llvm: launches = 3

#x = affine_map<()[s0, s1] -> (s0, 21, s1)>
#r = affine_map<()[s0, s1] -> (s0, 1, s1)>
#q = affine_map<()[s0, s1] -> (s0, s1)>
#y = affine_map<()[s0, s1] -> (s0, 3, 7, s1)>
#t = affine_map<()[s0, s1] -> (s0, 1, 1, s1)>
func.func @main(%x: tensor<?x21x?xf32, #x> {graph.name = "x"}, %w: tensor<9x40xf32> {graph.name = "w"})
    -> (tensor<?x21x?xf32, #x> {graph.name = "soft"}, tensor<?x1x?xf32, #r> {graph.name = "moment"}, tensor<?x21x?xf32, #x> {graph.name = "centred"}, tensor<?x3x7x?xf32, #y> {graph.name = "two"}, tensor<9x40xf32> {graph.name = "whole"})
    attributes {graph.symbols = ["n", "m"]} {
  %0 = graph.exp %x : (tensor<?x21x?xf32, #x>) -> tensor<?x21x?xf32, #x>
  %1 = graph.reduce_sum %0 {axes = array<i64: 1>, keepdims = false} : (tensor<?x21x?xf32, #x>) -> tensor<?x?xf32, #q>
  %2 = graph.reshape %1 : (tensor<?x?xf32, #q>) -> tensor<?x1x?xf32, #r>
  %3 = graph.div %0, %2 : (tensor<?x21x?xf32, #x>, tensor<?x1x?xf32, #r>) -> tensor<?x21x?xf32, #x>
  %4 = graph.tanh %x : (tensor<?x21x?xf32, #x>) -> tensor<?x21x?xf32, #x>
  %5 = graph.reduce_mean %4 {axes = array<i64: 1>} : (tensor<?x21x?xf32, #x>) -> tensor<?x1x?xf32, #r>
  %6 = graph.sub %4, %5 : (tensor<?x21x?xf32, #x>, tensor<?x1x?xf32, #r>) -> tensor<?x21x?xf32, #x>
  %7 = graph.reduce_log_sum_exp %6 {axes = array<i64: 1>} : (tensor<?x21x?xf32, #x>) -> tensor<?x1x?xf32, #r>
  %8 = graph.reshape %x : (tensor<?x21x?xf32, #x>) -> tensor<?x3x7x?xf32, #y>
  %9 = graph.reduce_l2 %8 {axes = array<i64: 1, 2>} : (tensor<?x3x7x?xf32, #y>) -> tensor<?x1x1x?xf32, #t>
  %10 = graph.div %8, %9 : (tensor<?x3x7x?xf32, #y>, tensor<?x1x1x?xf32, #t>) -> tensor<?x3x7x?xf32, #y>
  %11 = graph.reduce_max %w {axes = array<i64: 0>} : (tensor<9x40xf32>) -> tensor<1x40xf32>
  %12 = graph.sub %w, %11 : (tensor<9x40xf32>, tensor<1x40xf32>) -> tensor<9x40xf32>
  return %3, %7, %6, %10, %12 : tensor<?x21x?xf32, #x>, tensor<?x1x?xf32, #r>, tensor<?x21x?xf32, #x>, tensor<?x3x7x?xf32, #y>, tensor<9x40xf32>
}

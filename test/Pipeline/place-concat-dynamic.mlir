// Concats along dynamic dims: new keys after past ones, and an operand after two others,
// whose offset is not in the operands of its kernel. Same results as the reference path;
// the same bits with two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2 %t/3 %t/4
// RUN: atranslate -O0 %s -o %t/0.so
// RUN: atranslate %s --state none -o %t/1.so --stats 2>&1 | FileCheck %s
// RUN: arun %t/0.so --random --shape past=5x8 --shape x=3x8 --output-dir %t/0
// RUN: arun %t/1.so --random --shape past=5x8 --shape x=3x8 --threads 1 --output-dir %t/1 --range-tol 1e-5 \
// RUN:   --expect keys=%t/0/keys.npy --expect three=%t/0/three.npy --expect soft=%t/0/soft.npy
// RUN: arun %t/1.so --random --shape past=5x8 --shape x=3x8 --threads 2 --output-dir %t/2
// RUN: diff -r %t/1 %t/2
// An empty past, and more than a block of it.
// RUN: arun %t/0.so --random --shape past=0x8 --shape x=129x8 --output-dir %t/3
// RUN: arun %t/1.so --random --shape past=0x8 --shape x=129x8 --range-tol 1e-5 \
// RUN:   --expect keys=%t/3/keys.npy --expect three=%t/3/three.npy --expect soft=%t/3/soft.npy
// RUN: arun %t/0.so --random --shape past=1000x8 --shape x=1x8 --output-dir %t/4
// RUN: arun %t/1.so --random --shape past=1000x8 --shape x=1x8 --range-tol 1e-5 \
// RUN:   --expect keys=%t/4/keys.npy --expect three=%t/4/three.npy --expect soft=%t/4/soft.npy

// CHECK: convert-graph-to-tile: refused = 0
// CHECK: graph-place-concat: concats = 2
// CHECK: graph-place-concat: placed = 3

#p = affine_map<()[s0, s1] -> (s0, 8)>
#n = affine_map<()[s0, s1] -> (s1, 8)>
#k = affine_map<()[s0, s1] -> (s0 + s1, 8)>
#t = affine_map<()[s0, s1] -> (s0 + s1 * 2, 8)>
func.func @main(%past: tensor<?x8xf32, #p> {graph.name = "past"}, %x: tensor<?x8xf32, #n> {graph.name = "x"}, %w: tensor<8x8xf32> {graph.name = "w"}, %v: tensor<8x8xf32> {graph.name = "v"})
    -> (tensor<?x8xf32, #k> {graph.name = "keys"}, tensor<?x8xf32, #t> {graph.name = "three"}, tensor<?x8xf32, #n> {graph.name = "soft"})
    attributes {graph.symbols = ["past", "new"]} {
  %0 = graph.matmul %x, %w : (tensor<?x8xf32, #n>, tensor<8x8xf32>) -> tensor<?x8xf32, #n>
  %1 = graph.concat %past, %0 {axis = 0 : i64} : (tensor<?x8xf32, #p>, tensor<?x8xf32, #n>) -> tensor<?x8xf32, #k>
  %2 = graph.matmul %x, %v : (tensor<?x8xf32, #n>, tensor<8x8xf32>) -> tensor<?x8xf32, #n>
  %3 = graph.tanh %2 : (tensor<?x8xf32, #n>) -> tensor<?x8xf32, #n>
  %4 = graph.softmax %0 {axis = 1 : i64} : (tensor<?x8xf32, #n>) -> tensor<?x8xf32, #n>
  %5 = graph.concat %4, %past, %3 {axis = 0 : i64} : (tensor<?x8xf32, #n>, tensor<?x8xf32, #p>, tensor<?x8xf32, #n>) -> tensor<?x8xf32, #t>
  return %1, %5, %4 : tensor<?x8xf32, #k>, tensor<?x8xf32, #t>, tensor<?x8xf32, #n>
}

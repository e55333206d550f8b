// Attention as a tile kernel against the reference path: heads in place, odd lengths,
// groups, masks of every shape, the triangle, few queries, f16.
// RUN: atranslate %s -O0 -o %t.0.so && atranslate %s -O2 -o %t.2.so
// RUN: atranslate %s -O2 --emit=tile -o - | FileCheck %s
// RUN: rm -rf %t.d && mkdir %t.d
// RUN: arun %t.0.so --random --shape q=2x75x4x64 --shape k=2x83x2x64 --output-dir %t.d
// RUN: arun %t.2.so --random --shape q=2x75x4x64 --shape k=2x83x2x64 --range-tol 1e-5 --threads 2 --expect plain=%t.d/plain.npy --expect masked=%t.d/masked.npy --expect causal=%t.d/causal.npy --expect odd=%t.d/odd.npy --expect few=%t.d/few.npy
// RUN: arun %t.2.so --random --shape q=2x75x4x64 --shape k=2x83x2x64 --range-tol 2e-3 --expect half=%t.d/half.npy
// RUN: rm -rf %t.d && mkdir %t.d
// RUN: arun %t.0.so --random --shape q=1x1x4x64 --shape k=1x130x2x64 --output-dir %t.d
// RUN: arun %t.2.so --random --shape q=1x1x4x64 --shape k=1x130x2x64 --range-tol 1e-5 --expect plain=%t.d/plain.npy --expect masked=%t.d/masked.npy --expect causal=%t.d/causal.npy

// CHECK-COUNT-6: tile.kernel
// CHECK-NOT: func.func private

#q = affine_map<()[s0, s1, s2] -> (s0, s1, 4, 64)>
#k = affine_map<()[s0, s1, s2] -> (s0, s2, 2, 64)>
#qt = affine_map<()[s0, s1, s2] -> (s0, 4, s1, 64)>
#kt = affine_map<()[s0, s1, s2] -> (s0, 2, s2, 64)>
#m = affine_map<()[s0, s1, s2] -> (s0, 1, s1, s2)>
#b = affine_map<()[s0, s1, s2] -> (4, s1, s2)>
!q = tensor<?x?x4x64xf32, #q>
!k = tensor<?x?x2x64xf32, #k>
!qt = tensor<?x4x?x64xf32, #qt>
!kt = tensor<?x2x?x64xf32, #kt>
func.func @main(%q: !q {graph.name = "q"}, %k: !k {graph.name = "k"}, %v: !k {graph.name = "v"},
                %m: tensor<?x1x?x?xi1, #m> {graph.name = "m"}, %b: tensor<4x?x?xf32, #b> {graph.name = "b"},
                %o: tensor<3x37x40xf32> {graph.name = "o"}, %ob: tensor<37x1xf32> {graph.name = "ob"},
                %f: tensor<2x3x256xf32> {graph.name = "f"}, %fk: tensor<2x256x45xf32> {graph.name = "fk"},
                %h: tensor<2x33x32xf16> {graph.name = "h"})
    -> (!q {graph.name = "plain"}, !q {graph.name = "masked"}, !qt {graph.name = "causal"}, tensor<3x37x40xf32> {graph.name = "odd"},
        tensor<2x3x256xf32> {graph.name = "few"}, tensor<2x33x32xf16> {graph.name = "half"})
    attributes {graph.symbols = ["b", "l", "s"]} {
  %qt = graph.transpose %q {perm = array<i64: 0, 2, 1, 3>} : (!q) -> !qt
  %kt = graph.transpose %k {perm = array<i64: 0, 2, 1, 3>} : (!k) -> !kt
  %vt = graph.transpose %v {perm = array<i64: 0, 2, 1, 3>} : (!k) -> !kt
  %0 = graph.attention %qt, %kt, %vt {scale = 0.125 : f64} : (!qt, !kt, !kt) -> !qt
  %1 = graph.transpose %0 {perm = array<i64: 0, 2, 1, 3>} : (!qt) -> !q
  %2 = graph.attention %qt, %kt, %vt bias %b mask %m {scale = 0.125 : f64, softcap = 5.0 : f64, zero_empty = true} : (!qt, !kt, !kt, tensor<4x?x?xf32, #b>, tensor<?x1x?x?xi1, #m>) -> !qt
  %3 = graph.transpose %2 {perm = array<i64: 0, 2, 1, 3>} : (!qt) -> !q
  %4 = graph.attention %qt, %kt, %vt {scale = 0.125 : f64, causal = #graph.causal<lower_right>} : (!qt, !kt, !kt) -> !qt
  %5 = graph.attention %o, %o, %o bias %ob {scale = 0.2 : f64, causal = #graph.causal<upper_left>} : (tensor<3x37x40xf32>, tensor<3x37x40xf32>, tensor<3x37x40xf32>, tensor<37x1xf32>) -> tensor<3x37x40xf32>
  %fkt = graph.transpose %fk {perm = array<i64: 0, 2, 1>} : (tensor<2x256x45xf32>) -> tensor<2x45x256xf32>
  %6 = graph.attention %f, %fkt, %fkt {scale = 0.0625 : f64} : (tensor<2x3x256xf32>, tensor<2x45x256xf32>, tensor<2x45x256xf32>) -> tensor<2x3x256xf32>
  %7 = graph.attention %h, %h, %h {scale = 0.2 : f64} : (tensor<2x33x32xf16>, tensor<2x33x32xf16>, tensor<2x33x32xf16>) -> tensor<2x33x32xf16>
  return %1, %3, %4, %5, %6, %7 : !q, !q, !qt, tensor<3x37x40xf32>, tensor<2x3x256xf32>, tensor<2x33x32xf16>
}

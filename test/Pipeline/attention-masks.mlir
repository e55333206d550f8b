// Forms of masks that become attention keep their results: factors of 0 and 1, scores
// bounded below, weights dropped after the softmax, keys repeated by a tile, queries of
// which a bias masks all keys; the second entry of the batch sees no key.
// RUN: rm -rf %t && mkdir %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so
// RUN: atranslate %s --emit=graph -o - | FileCheck %s
// RUN: arun %t/0.so --random --shape q=2x13x32 --shape m=2x1x13 --shape k=2x2x13x32 --output-dir %t
// RUN: arun %t/2.so --random --shape q=2x13x32 --shape m=2x1x13 --shape k=2x2x13x32 --range-tol 1e-5 --expect blend=%t/blend.npy --expect bounded=%t/bounded.npy --expect dropped=%t/dropped.npy --expect tiled=%t/tiled.npy --expect masked=%t/masked.npy

// CHECK-NOT: graph.softmax
// CHECK-COUNT-5: graph.attention
#q = affine_map<()[s0] -> (2, s0, 32)>
#m = affine_map<()[s0] -> (2, 1, s0)>
#s = affine_map<()[s0] -> (2, s0, s0)>
#k = affine_map<()[s0] -> (2, 2, s0, 32)>
#a = affine_map<()[s0] -> (1, 2, 1, 2, 1, 1, 1, s0, 1, 32)>
#t = affine_map<()[s0] -> (1, 2, 1, 2, 3, 1, 1, s0, 1, 32)>
#w = affine_map<()[s0] -> (2, 6, s0, 32)>
#ws = affine_map<()[s0] -> (2, 6, s0, s0)>
!q = tensor<2x?x32xf32, #q>
!m = tensor<2x1x?xf32, #m>
!c = tensor<2x1x?xi1, #m>
!s = tensor<2x?x?xf32, #s>
!k = tensor<2x2x?x32xf32, #k>
!w = tensor<2x6x?x32xf32, #w>
!ws = tensor<2x6x?x?xf32, #ws>
!f = tensor<f32>
func.func @main(%q: !q {graph.name = "q"}, %m: !m {graph.name = "m"}, %k: !k {graph.name = "k"})
    -> (!q {graph.name = "blend"}, !q {graph.name = "bounded"}, !q {graph.name = "dropped"}, !w {graph.name = "tiled"}, !q {graph.name = "masked"})
    attributes {graph.symbols = ["n"]} {
  %zero = graph.constant dense<0.0> : !f
  %one = graph.constant dense<1.0> : !f
  %far = graph.constant dense<1.0e4> : !f
  %low = graph.constant dense<-3.40282347E+38> : !f
  %none = graph.constant dense<0xFF800000> : !f
  %some = graph.constant dense<[[[true]], [[false]]]> : tensor<2x1x1xi1>
  %half = graph.constant dense<0.5> : !f
  %p = graph.less %m, %half : (!m, !f) -> !c
  %c = graph.and %p, %some : (!c, tensor<2x1x1xi1>) -> !c
  %sc = graph.matmul %q, %q {transpose_b = true} : (!q, !q) -> !s

  %f = graph.cast %c : (!c) -> !m
  %b0 = graph.mul %sc, %f : (!s, !m) -> !s
  %b1 = graph.sub %one, %f : (!f, !m) -> !m
  %b2 = graph.mul %far, %b1 : (!f, !m) -> !m
  %b3 = graph.sub %b0, %b2 : (!s, !m) -> !s
  %b4 = graph.softmax %b3 {axis = 2 : i64} : (!s) -> !s
  %blend = graph.matmul %b4, %q : (!s, !q) -> !q

  %qn = graph.neg %q : (!q) -> !q
  %sd = graph.matmul %qn, %q {transpose_b = true} : (!q, !q) -> !s
  %hide = graph.select %c, %m, %none : (!c, !m, !f) -> !m
  %c0 = graph.add %sd, %hide : (!s, !m) -> !s
  %c1 = graph.maximum %c0, %low : (!s, !f) -> !s
  %c2 = graph.softmax %c1 {axis = 2 : i64} : (!s) -> !s
  %bounded = graph.matmul %c2, %q : (!s, !q) -> !q

  %qa = graph.abs %q : (!q) -> !q
  %se = graph.matmul %qa, %q {transpose_b = true} : (!q, !q) -> !s
  %n = graph.not %c : (!c) -> !c
  %d0 = graph.select %n, %low, %se : (!c, !f, !s) -> !s
  %d1 = graph.softmax %d0 {axis = 2 : i64} : (!s) -> !s
  %d2 = graph.select %n, %zero, %d1 : (!c, !f, !s) -> !s
  %dropped = graph.matmul %d2, %q : (!s, !q) -> !q

  %ka = graph.reshape %k : (!k) -> tensor<1x2x1x2x1x1x1x?x1x32xf32, #a>
  %kt = graph.broadcast_to %ka : (tensor<1x2x1x2x1x1x1x?x1x32xf32, #a>) -> tensor<1x2x1x2x3x1x1x?x1x32xf32, #t>
  %kw = graph.reshape %kt : (tensor<1x2x1x2x3x1x1x?x1x32xf32, #t>) -> !w
  %qw = graph.abs %kw : (!w) -> !w
  %t0 = graph.matmul %qw, %kw {transpose_b = true} : (!w, !w) -> !ws
  %t1 = graph.softmax %t0 {axis = 3 : i64} : (!ws) -> !ws
  %tiled = graph.matmul %t1, %kw : (!ws, !w) -> !w

  %qr = graph.relu %q : (!q) -> !q
  %sf = graph.matmul %qr, %q {transpose_b = true} : (!q, !q) -> !s
  %bias = graph.select %c, %m, %none : (!c, !m, !f) -> !m
  %e0 = graph.add %sf, %bias : (!s, !m) -> !s
  %e1 = graph.softmax %e0 {axis = 2 : i64} : (!s) -> !s
  %most = graph.reduce_max %bias {axes = array<i64: 2>} : (!m) -> tensor<2x1x1xf32>
  %empty = graph.equal %most, %none : (tensor<2x1x1xf32>, !f) -> tensor<2x1x1xi1>
  %e2 = graph.select %empty, %zero, %e1 : (tensor<2x1x1xi1>, !f, !s) -> !s
  %masked = graph.matmul %e2, %q : (!s, !q) -> !q
  return %blend, %bounded, %dropped, %tiled, %masked : !q, !q, !q, !w, !q
}

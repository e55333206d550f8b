// Attention whose queries, keys and values are slices of one product: slices of a
// transposed tensor whose leading dim is dropped, the scale between them, any batch. A
// tile kernel with the results of the reference path.
// RUN: atranslate %s -O0 -o %t.0.so && atranslate %s -O2 -o %t.2.so
// RUN: atranslate %s -O2 --emit=tile -o - | FileCheck %s
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: arun %t.0.so --random --shape x=5x49x3x4x16 --output-dir %t/0
// RUN: arun %t.2.so --random --shape x=5x49x3x4x16 --threads 1 --output-dir %t/1 --range-tol 1e-5 --expect packed=%t/0/packed.npy --expect known=%t/0/known.npy --expect repeated=%t/0/repeated.npy
// RUN: arun %t.2.so --random --shape x=5x49x3x4x16 --threads 2 --output-dir %t/2
// RUN: diff -r %t/1 %t/2

// CHECK-NOT: func.func private
// CHECK: tile.kernel
// CHECK-NOT: func.func private
#x = affine_map<()[s0] -> (s0, 49, 3, 4, 16)>
#t = affine_map<()[s0] -> (3, s0, 4, 49, 16)>
#p = affine_map<()[s0] -> (1, s0, 4, 49, 16)>
#q = affine_map<()[s0] -> (s0, 4, 49, 16)>
#y = affine_map<()[s0] -> (s0, 49, 4, 16)>
!x = tensor<?x49x3x4x16xf32, #x>
!t = tensor<3x?x4x49x16xf32, #t>
!p = tensor<1x?x4x49x16xf32, #p>
!q = tensor<?x4x49x16xf32, #q>
!y = tensor<?x49x4x16xf32, #y>
!k = tensor<2x33x3x2x24xf32>
!kt = tensor<3x2x2x33x24xf32>
!kp = tensor<1x2x2x33x24xf32>
!kq = tensor<2x2x33x24xf32>
func.func @main(%x: !x {graph.name = "x"}, %k: !k {graph.name = "k"}) -> (!y {graph.name = "packed"}, !kq {graph.name = "known"}, !q {graph.name = "repeated"}) attributes {graph.symbols = ["batch"]} {
  %t = graph.transpose %x {perm = array<i64: 2, 0, 3, 1, 4>} : (!x) -> !t
  %qp = graph.slice %t {starts = array<i64: 0, 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1, 1>} : (!t) -> !p
  %kp = graph.slice %t {starts = array<i64: 1, 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1, 1>} : (!t) -> !p
  %vp = graph.slice %t {starts = array<i64: 2, 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1, 1>} : (!t) -> !p
  %q = graph.reshape %qp : (!p) -> !q
  %key = graph.reshape %kp : (!p) -> !q
  %v = graph.reshape %vp : (!p) -> !q
  %a = graph.attention %q, %key, %v {scale = 0.25 : f64} : (!q, !q, !q) -> !q
  %packed = graph.transpose %a {perm = array<i64: 0, 2, 1, 3>} : (!q) -> !y
  %kt = graph.transpose %k {perm = array<i64: 2, 0, 3, 1, 4>} : (!k) -> !kt
  %k0 = graph.slice %kt {starts = array<i64: 0, 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1, 1>} : (!kt) -> !kp
  %k1 = graph.slice %kt {starts = array<i64: 1, 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1, 1>} : (!kt) -> !kp
  %k2 = graph.slice %kt {starts = array<i64: 2, 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1, 1>} : (!kt) -> !kp
  %r0 = graph.reshape %k0 : (!kp) -> !kq
  %r1 = graph.reshape %k1 : (!kp) -> !kq
  %r2 = graph.reshape %k2 : (!kp) -> !kq
  %half = graph.constant dense<0.5> : tensor<f32>
  %s1 = graph.mul %r1, %half : (!kq, tensor<f32>) -> !kq
  %known = graph.attention %r0, %s1, %r2 {scale = 0.5 : f64} : (!kq, !kq, !kq) -> !kq
  %e = graph.exp %v : (!q) -> !q
  %repeated = graph.add %e, %q : (!q, !q) -> !q
  return %packed, %known, %repeated : !y, !kq, !q
}

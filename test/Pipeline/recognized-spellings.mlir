// Rare forms of norms and activations are one kernel each, with the results of the
// reference path; sizes are symbols. In the order of the results: flax's layer norm, an
// RMS norm by a sum of squares, an instance norm, gelu by the complement of erf, hard
// swish bounded from above first, and x / max(|x|, epsilon), which has no separate op.
// RUN: rm -rf %t && mkdir -p %t && atranslate %s -O0 -o %t/0.so && atranslate %s -o %t/2.so --stats >%t/stats 2>&1 && FileCheck %s <%t/stats
// RUN: for s in 3x4x40 1x4x129; do arun %t/0.so --random --shape x=$s --output-dir %t >/dev/null && arun %t/2.so --random --shape x=$s --range-tol 1e-5 \
// RUN:   --expect y0=%t/y0.npy --expect y1=%t/y1.npy --expect y2=%t/y2.npy --expect y3=%t/y3.npy --expect y4=%t/y4.npy --expect y5=%t/y5.npy >/dev/null || exit 1; done
// CHECK: convert-graph-to-tile: refused = 0
// CHECK: convert-host-to-llvm: launches = 6
// CHECK: graph-recognize-activations: recognized = 2
// CHECK: graph-recognize-normalization: recognized = 3

#x = affine_map<()[s0, s1] -> (s0, 4, s1)>
#r = affine_map<()[s0, s1] -> (s0, 4, 1)>
#c = affine_map<()[s0, s1] -> (s0, 4, 16)>
!x = tensor<?x4x?xf32, #x>
!r = tensor<?x4x1xf32, #r>
!c = tensor<?x4x16xf32, #c>
func.func @main(%x: !x {graph.name = "x"}) -> (!c {graph.name = "y0"}, !c {graph.name = "y1"}, !x {graph.name = "y2"}, !x {graph.name = "y3"}, !x {graph.name = "y4"}, !c {graph.name = "y5"})
    attributes {graph.symbols = ["n", "s"]} {
  %one = graph.constant dense<1.0> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %three = graph.constant dense<3.0> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %part = graph.constant dense<0.0625> : tensor<f32>
  %eps = graph.constant dense<1.0e-5> : tensor<f32>
  %tiny = graph.constant dense<1.0e-12> : tensor<f32>
  %root = graph.constant dense<0.707106769> : tensor<f32>
  %scale = graph.constant dense<[1.0, 0.5, 0.25, 2.0, 1.5, -1.0, 0.1, 3.0, 1.0, 0.5, 0.25, 2.0, 1.5, -1.0, 0.1, 3.0]> : tensor<16xf32>
  %channel = graph.constant dense<[[[1.0], [0.5], [-0.25], [2.0]]]> : tensor<1x4x1xf32>

  %c = graph.slice %x {starts = array<i64: 0, 0, 3>, steps = array<i64: 1, 1, 1>} : (!x) -> !c
  %a0 = graph.reduce_mean %c {axes = array<i64: 2>, keepdims = true} : (!c) -> !r
  %a1 = graph.mul %c, %c : (!c, !c) -> !c
  %a2 = graph.reduce_mean %a1 {axes = array<i64: 2>, keepdims = true} : (!c) -> !r
  %a3 = graph.mul %a0, %a0 : (!r, !r) -> !r
  %a4 = graph.sub %a2, %a3 : (!r, !r) -> !r
  %a5 = graph.maximum %zero, %a4 : (tensor<f32>, !r) -> !r
  %a6 = graph.add %a5, %eps : (!r, tensor<f32>) -> !r
  %a7 = graph.sqrt %a6 : (!r) -> !r
  %a8 = graph.reciprocal %a7 : (!r) -> !r
  %a9 = graph.mul %a8, %scale : (!r, tensor<16xf32>) -> !c
  %a10 = graph.sub %c, %a0 : (!c, !r) -> !c
  %a11 = graph.mul %a10, %a9 : (!c, !c) -> !c
  %a = graph.add %a11, %scale : (!c, tensor<16xf32>) -> !c

  %b0 = graph.reduce_sum_square %c {axes = array<i64: 2>, keepdims = true} : (!c) -> !r
  %b1 = graph.mul %part, %b0 : (tensor<f32>, !r) -> !r
  %b2 = graph.add %b1, %eps : (!r, tensor<f32>) -> !r
  %b3 = graph.sqrt %b2 : (!r) -> !r
  %b4 = graph.div %c, %b3 : (!c, !r) -> !c
  %b = graph.mul %scale, %b4 : (tensor<16xf32>, !c) -> !c

  %d0 = graph.reduce_mean %x {axes = array<i64: 2>, keepdims = true} : (!x) -> !r
  %d1 = graph.sub %x, %d0 : (!x, !r) -> !x
  %d2 = graph.mul %d1, %d1 : (!x, !x) -> !x
  %d3 = graph.reduce_mean %d2 {axes = array<i64: 2>, keepdims = true} : (!x) -> !r
  %d4 = graph.add %d3, %eps : (!r, tensor<f32>) -> !r
  %d5 = graph.sqrt %d4 : (!r) -> !r
  %d6 = graph.div %d1, %d5 : (!x, !r) -> !x
  %d7 = graph.mul %d6, %channel : (!x, tensor<1x4x1xf32>) -> !x
  %d = graph.add %d7, %channel : (!x, tensor<1x4x1xf32>) -> !x

  %e0 = graph.neg %x : (!x) -> !x
  %e1 = graph.mul %e0, %root : (!x, tensor<f32>) -> !x
  %e2 = graph.erf %e1 : (!x) -> !x
  %e3 = graph.sub %one, %e2 : (tensor<f32>, !x) -> !x
  %e4 = graph.mul %half, %x : (tensor<f32>, !x) -> !x
  %e = graph.mul %e3, %e4 : (!x, !x) -> !x

  %f0 = graph.add %three, %x : (tensor<f32>, !x) -> !x
  %f1 = graph.minimum %six, %f0 : (tensor<f32>, !x) -> !x
  %f2 = graph.relu %f1 : (!x) -> !x
  %f3 = graph.div %f2, %six : (!x, tensor<f32>) -> !x
  %f = graph.mul %f3, %x : (!x, !x) -> !x

  %g0 = graph.reduce_l2 %c {axes = array<i64: 2>, keepdims = true} : (!c) -> !r
  %g1 = graph.maximum %g0, %tiny : (!r, tensor<f32>) -> !r
  %g = graph.div %c, %g1 : (!c, !r) -> !c
  return %a, %b, %d, %e, %f, %g : !c, !c, !x, !x, !x, !c
}

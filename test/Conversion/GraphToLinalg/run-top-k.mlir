// The first elements of sorted rows, and those of a small heap: the same elements and
// indices, the first of equal ones, with NaN and zeros of both signs, for each type,
// along each dim, of static and dynamic sizes.
// RUN: rm -rf %t && mkdir -p %t && atranslate %s -o %t.so
// DEFINE: %{run} = --random --ids 90 --shape d=3x200
// RUN: arun %t.so %{run} --threads 1 --output-dir %t
// RUN: arun %t.so %{run} --threads 2 --rtol 0 --atol 0 --expect a=%t/p.npy --expect b=%t/q.npy --expect c=%t/r.npy --expect e=%t/s.npy --expect g=%t/t.npy --expect h=%t/u.npy --expect k=%t/v.npy --expect l=%t/w.npy
#d = affine_map<()[s0, s1] -> (s0, s1)>
func.func @main(
    %x: tensor<5x300xf32> {graph.name = "x"}, %y: tensor<200x3xi32> {graph.name = "y"}, %z: tensor<2x300xui8> {graph.name = "z"},
    %d: tensor<?x?xf32, #d> {graph.name = "d"}) -> (
    tensor<5x8xf32> {graph.name = "a"}, tensor<5x8xi64> {graph.name = "b"}, tensor<5x8xi64> {graph.name = "c"}, tensor<8x3xi32> {graph.name = "e"}, tensor<8x3xi64> {graph.name = "g"}, tensor<2x8xi64> {graph.name = "h"}, tensor<5x8xf16> {graph.name = "k"}, tensor<5x8xi64> {graph.name = "l"},
    tensor<5x8xf32> {graph.name = "p"}, tensor<5x8xi64> {graph.name = "q"}, tensor<5x8xi64> {graph.name = "r"}, tensor<8x3xi32> {graph.name = "s"}, tensor<8x3xi64> {graph.name = "t"}, tensor<2x8xi64> {graph.name = "u"}, tensor<5x8xf16> {graph.name = "v"}, tensor<5x8xi64> {graph.name = "w"},
    tensor<?x?xf32, #d> {graph.name = "o"}, tensor<?x?xi64, #d> {graph.name = "oi"})
    attributes {graph.symbols = ["m", "n"]} {
  // Many are equal; zeros have signs; square roots of negative numbers are NaN.
  %four = graph.constant dense<4.0> : tensor<f32>
  %quarter = graph.mul %x, %four : (tensor<5x300xf32>, tensor<f32>) -> tensor<5x300xf32>
  %round = graph.round %quarter : (tensor<5x300xf32>) -> tensor<5x300xf32>
  %minus = graph.constant dense<-2.6> : tensor<f32>
  %most = graph.sub %x, %minus : (tensor<5x300xf32>, tensor<f32>) -> tensor<5x300xf32>
  %root = graph.sqrt %most : (tensor<5x300xf32>) -> tensor<5x300xf32>
  %f = graph.mul %round, %root : (tensor<5x300xf32>, tensor<5x300xf32>) -> tensor<5x300xf32>
  %av, %ai = graph.top_k %f {axis = 1 : i64} : (tensor<5x300xf32>) -> (tensor<5x300xf32>, tensor<5x300xi64>)
  %pv, %pi = graph.top_k %f {axis = 1 : i64} : (tensor<5x300xf32>) -> (tensor<5x8xf32>, tensor<5x8xi64>)
  %a = graph.slice %av {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<5x300xf32>) -> tensor<5x8xf32>
  %b = graph.slice %ai {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<5x300xi64>) -> tensor<5x8xi64>
  %cv, %ci = graph.top_k %f {axis = 1 : i64, largest = false} : (tensor<5x300xf32>) -> (tensor<5x300xf32>, tensor<5x300xi64>)
  %rv, %ri = graph.top_k %f {axis = 1 : i64, largest = false} : (tensor<5x300xf32>) -> (tensor<5x8xf32>, tensor<5x8xi64>)
  %c = graph.slice %ci {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<5x300xi64>) -> tensor<5x8xi64>
  %forty = graph.constant dense<40> : tensor<i32>
  %signed = graph.sub %y, %forty : (tensor<200x3xi32>, tensor<i32>) -> tensor<200x3xi32>
  %ev, %ei = graph.top_k %signed {axis = 0 : i64} : (tensor<200x3xi32>) -> (tensor<200x3xi32>, tensor<200x3xi64>)
  %sv, %si = graph.top_k %signed {axis = 0 : i64} : (tensor<200x3xi32>) -> (tensor<8x3xi32>, tensor<8x3xi64>)
  %e = graph.slice %ev {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<200x3xi32>) -> tensor<8x3xi32>
  %g = graph.slice %ei {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<200x3xi64>) -> tensor<8x3xi64>
  %hv, %hi = graph.top_k %z {axis = 1 : i64} : (tensor<2x300xui8>) -> (tensor<2x200xui8>, tensor<2x200xi64>)
  %uv, %ui = graph.top_k %z {axis = 1 : i64} : (tensor<2x300xui8>) -> (tensor<2x8xui8>, tensor<2x8xi64>)
  %h = graph.slice %hi {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<2x200xi64>) -> tensor<2x8xi64>
  %half = graph.cast %f : (tensor<5x300xf32>) -> tensor<5x300xf16>
  %kv, %ki = graph.top_k %half {axis = 1 : i64, largest = false} : (tensor<5x300xf16>) -> (tensor<5x300xf16>, tensor<5x300xi64>)
  %vv, %vi = graph.top_k %half {axis = 1 : i64, largest = false} : (tensor<5x300xf16>) -> (tensor<5x8xf16>, tensor<5x8xi64>)
  %k = graph.slice %kv {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<5x300xf16>) -> tensor<5x8xf16>
  %l = graph.slice %ki {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<5x300xi64>) -> tensor<5x8xi64>
  // Dynamic sizes, sorted and not.
  %o, %oi = graph.top_k %d {axis = 1 : i64} : (tensor<?x?xf32, #d>) -> (tensor<?x?xf32, #d>, tensor<?x?xi64, #d>)
  return %a, %b, %c, %e, %g, %h, %k, %l, %pv, %pi, %ri, %sv, %si, %ui, %vv, %vi, %o, %oi : tensor<5x8xf32>, tensor<5x8xi64>, tensor<5x8xi64>, tensor<8x3xi32>, tensor<8x3xi64>, tensor<2x8xi64>, tensor<5x8xf16>, tensor<5x8xi64>, tensor<5x8xf32>, tensor<5x8xi64>, tensor<5x8xi64>, tensor<8x3xi32>, tensor<8x3xi64>, tensor<2x8xi64>, tensor<5x8xf16>, tensor<5x8xi64>, tensor<?x?xf32, #d>, tensor<?x?xi64, #d>
}

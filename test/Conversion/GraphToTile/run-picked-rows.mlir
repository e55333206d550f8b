// Rows of dynamic width that are resized or mirrored, by loads and permutes if these are
// sufficient and else by gathers: same results as the reference path, and the same bits
// on one and two threads, for rows shorter than a vector, of a few and of many, strongly
// enlarged and reduced, and pads wider than the repeated part.
// DEFINE: %{expect} = --expect a=%t/r/0/a.npy --expect b=%t/r/0/b.npy --expect c=%t/r/0/c.npy --expect d=%t/r/0/d.npy --expect e=%t/r/0/e.npy --expect f=%t/r/0/f.npy --expect g=%t/r/0/g.npy --expect h=%t/r/0/h.npy --expect i=%t/r/0/i.npy --expect j=%t/r/0/j.npy
// DEFINE: %{shapes} =
// RUN: rm -rf %t && mkdir -p %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so && atranslate --mcpu=x86-64-v3 %s -o %t/3.so
// REDEFINE: %{shapes} = --shape x=2x11x1x1 --shape y=2x11x1x3 --shape z=1x1 --shape l=2x5
// RUN: rm -rf %t/r && mkdir -p %t/r/0 %t/r/1 %t/r/2 %t/r/3 && arun %t/0.so --random %{shapes} --output-dir %t/r/0
// RUN: arun %t/1.so --random %{shapes} --threads 1 --output-dir %t/r/1 --range-tol 1e-5 %{expect}
// RUN: arun %t/1.so --random %{shapes} --threads 2 --output-dir %t/r/2 && diff -r %t/r/1 %t/r/2
// RUN: arun %t/3.so --random %{shapes} --output-dir %t/r/3 --range-tol 1e-5 %{expect}
// REDEFINE: %{shapes} = --shape x=2x11x3x5 --shape y=2x11x7x31 --shape z=4x3 --shape l=2x2
// RUN: rm -rf %t/r && mkdir -p %t/r/0 %t/r/1 %t/r/2 %t/r/3 && arun %t/0.so --random %{shapes} --output-dir %t/r/0
// RUN: arun %t/1.so --random %{shapes} --threads 1 --output-dir %t/r/1 --range-tol 1e-5 %{expect}
// RUN: arun %t/1.so --random %{shapes} --threads 2 --output-dir %t/r/2 && diff -r %t/r/1 %t/r/2
// RUN: arun %t/3.so --random %{shapes} --output-dir %t/r/3 --range-tol 1e-5 %{expect}
// REDEFINE: %{shapes} = --shape x=2x11x7x17 --shape y=2x11x9x16 --shape z=5x64 --shape l=1x23
// RUN: rm -rf %t/r && mkdir -p %t/r/0 %t/r/1 %t/r/2 %t/r/3 && arun %t/0.so --random %{shapes} --output-dir %t/r/0
// RUN: arun %t/1.so --random %{shapes} --threads 1 --output-dir %t/r/1 --range-tol 1e-5 %{expect}
// RUN: arun %t/1.so --random %{shapes} --threads 2 --output-dir %t/r/2 && diff -r %t/r/1 %t/r/2
// RUN: arun %t/3.so --random %{shapes} --output-dir %t/r/3 --range-tol 1e-5 %{expect}
// REDEFINE: %{shapes} = --shape x=2x11x9x33 --shape y=2x11x4x5 --shape z=34x65 --shape l=3x37
// RUN: rm -rf %t/r && mkdir -p %t/r/0 %t/r/1 %t/r/2 %t/r/3 && arun %t/0.so --random %{shapes} --output-dir %t/r/0
// RUN: arun %t/1.so --random %{shapes} --threads 1 --output-dir %t/r/1 --range-tol 1e-5 %{expect}
// RUN: arun %t/1.so --random %{shapes} --threads 2 --output-dir %t/r/2 && diff -r %t/r/1 %t/r/2
// RUN: arun %t/3.so --random %{shapes} --output-dir %t/r/3 --range-tol 1e-5 %{expect}
// REDEFINE: %{shapes} = --shape x=1x11x6x60 --shape y=1x11x5x139 --shape z=2x121 --shape l=2x70
// RUN: rm -rf %t/r && mkdir -p %t/r/0 %t/r/1 %t/r/2 %t/r/3 && arun %t/0.so --random %{shapes} --output-dir %t/r/0
// RUN: arun %t/1.so --random %{shapes} --threads 1 --output-dir %t/r/1 --range-tol 1e-5 %{expect}
// RUN: arun %t/1.so --random %{shapes} --threads 2 --output-dir %t/r/2 && diff -r %t/r/1 %t/r/2
// RUN: arun %t/3.so --random %{shapes} --output-dir %t/r/3 --range-tol 1e-5 %{expect}
// REDEFINE: %{shapes} = --shape x=1x11x2x1100 --shape y=1x11x3x90 --shape z=3x1300 --shape l=1x2100
// RUN: rm -rf %t/r && mkdir -p %t/r/0 %t/r/1 %t/r/2 %t/r/3 && arun %t/0.so --random %{shapes} --output-dir %t/r/0
// RUN: arun %t/1.so --random %{shapes} --threads 1 --output-dir %t/r/1 --range-tol 1e-5 %{expect}
// RUN: arun %t/1.so --random %{shapes} --threads 2 --output-dir %t/r/2 && diff -r %t/r/1 %t/r/2
// RUN: arun %t/3.so --random %{shapes} --output-dir %t/r/3 --range-tol 1e-5 %{expect}
#x = affine_map<()[s0, s1, s2] -> (s0, 11, s1, s2)>
#y = affine_map<()[s0, s1, s2, s3, s4] -> (s0, 11, s3, s4)>
#u = affine_map<()[s0, s1, s2] -> (s0, 11, s1 * 2, s2 * 2)>
#p = affine_map<()[s0, s1, s2] -> (s0, 11, s1 + 5, s2 + 9)>
#z = affine_map<()[s0, s1, s2, s3, s4, s5, s6] -> (s5, s6)>
#r = affine_map<()[s0, s1, s2, s3, s4, s5, s6] -> (s5 * 2, s6 * 3)>
#l = affine_map<()[s0, s1, s2, s3, s4, s5, s6, s7, s8] -> (s7, s8)>
#m = affine_map<()[s0, s1, s2, s3, s4, s5, s6, s7, s8] -> (s7, s8 + 33)>
#n = affine_map<()[s0, s1, s2, s3, s4, s5, s6, s7, s8] -> (s7, s8 * 4)>
func.func @main(
    %x: tensor<?x11x?x?xf32, #x> {graph.name = "x"}, %y: tensor<?x11x?x?xf32, #y> {graph.name = "y"},
    %z: tensor<?x?xf32, #z> {graph.name = "z"}, %l: tensor<?x?xi32, #l> {graph.name = "l"}) -> (
    tensor<?x11x?x?xf32, #u> {graph.name = "a"}, tensor<?x11x?x?xf32, #y> {graph.name = "b"},
    tensor<?x11x?x?xf32, #u> {graph.name = "c"}, tensor<?x11x?x?xf32, #y> {graph.name = "d"},
    tensor<?x11x?x?xf32, #p> {graph.name = "e"}, tensor<?x11x?x?xf32, #p> {graph.name = "f"},
    tensor<?x11x?x?xf32, #p> {graph.name = "g"}, tensor<?x?xf32, #r> {graph.name = "h"},
    tensor<?x?xi32, #m> {graph.name = "i"}, tensor<?x?xi32, #n> {graph.name = "j"})
    attributes {graph.symbols = ["n", "h", "w", "p", "q", "r", "s", "t", "u"]} {
  %a = graph.resize %x {mode = #graph.resize_mode<linear>, scales = array<f64: 1.0, 1.0, 2.0, 2.0>} : (tensor<?x11x?x?xf32, #x>) -> tensor<?x11x?x?xf32, #u>
  // Resized to another value, to which it is added.
  %b0 = graph.resize %x {mode = #graph.resize_mode<linear>, coordinates = #graph.coordinates<align_corners>} : (tensor<?x11x?x?xf32, #x>) -> tensor<?x11x?x?xf32, #y>
  %b = graph.add %b0, %y : (tensor<?x11x?x?xf32, #y>, tensor<?x11x?x?xf32, #y>) -> tensor<?x11x?x?xf32, #y>
  %c = graph.resize %x {scales = array<f64: 1.0, 1.0, 2.0, 2.0>} : (tensor<?x11x?x?xf32, #x>) -> tensor<?x11x?x?xf32, #u>
  %d = graph.resize %x {mode = #graph.resize_mode<cubic>} : (tensor<?x11x?x?xf32, #x>) -> tensor<?x11x?x?xf32, #y>
  %e = graph.pad %x {low = array<i64: 0, 0, 2, 4>, high = array<i64: 0, 0, 3, 5>, mode = #graph.pad_mode<reflect>} : (tensor<?x11x?x?xf32, #x>) -> tensor<?x11x?x?xf32, #p>
  %f = graph.pad %x {low = array<i64: 0, 0, 2, 4>, high = array<i64: 0, 0, 3, 5>, mode = #graph.pad_mode<wrap>} : (tensor<?x11x?x?xf32, #x>) -> tensor<?x11x?x?xf32, #p>
  %g = graph.pad %x {low = array<i64: 0, 0, 2, 4>, high = array<i64: 0, 0, 3, 5>, mode = #graph.pad_mode<edge>} : (tensor<?x11x?x?xf32, #x>) -> tensor<?x11x?x?xf32, #p>
  %h = graph.resize %z {coordinates = #graph.coordinates<asymmetric>, nearest_mode = #graph.nearest_mode<floor>, scales = array<f64: 2.0, 3.0>} : (tensor<?x?xf32, #z>) -> tensor<?x?xf32, #r>
  %i = graph.pad %l {low = array<i64: 0, 17>, high = array<i64: 0, 16>, mode = #graph.pad_mode<reflect>} : (tensor<?x?xi32, #l>) -> tensor<?x?xi32, #m>
  %j = graph.resize %l {nearest_mode = #graph.nearest_mode<round_prefer_ceil>, scales = array<f64: 1.0, 4.0>} : (tensor<?x?xi32, #l>) -> tensor<?x?xi32, #n>
  return %a, %b, %c, %d, %e, %f, %g, %h, %i, %j : tensor<?x11x?x?xf32, #u>, tensor<?x11x?x?xf32, #y>, tensor<?x11x?x?xf32, #u>, tensor<?x11x?x?xf32, #y>, tensor<?x11x?x?xf32, #p>, tensor<?x11x?x?xf32, #p>, tensor<?x11x?x?xf32, #p>, tensor<?x?xf32, #r>, tensor<?x?xi32, #m>, tensor<?x?xi32, #n>
}

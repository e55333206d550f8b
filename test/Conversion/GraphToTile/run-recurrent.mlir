// Recurrent layers, step by step on all threads: each cell, forwards and in reverse, with
// initial states, peepholes, clips, lengths and weights that are dynamic; one row, a
// register block and several, units that fill no vector, no step and no row. Same results
// as the reference path, with one thread and two, and with AVX2; also with static numbers
// of rows, for which threads keep their rows, share these, or share each step.
// RUN: rm -rf %t && mkdir -p %t/0
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so && atranslate --mcpu=x86-64-v3 %s -o %t/2.so
// RUN: atranslate %s --dim b=19 -o %t/3.so && atranslate --mcpu=x86-64-v3 %s --dim b=19 -o %t/4.so && atranslate %s --dim b=3 -o %t/5.so
// RUN: arun %t/0.so --random --shape x=7x1x160 --shape g=7x1x120 --shape s=1x40 --shape l=1 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=7x1x160 --shape g=7x1x120 --shape s=1x40 --shape l=1 --threads 1 --range-tol 1e-5 --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy --expect e=%t/0/e.npy --expect f=%t/0/f.npy --expect h=%t/0/h.npy --expect i=%t/0/i.npy --expect j=%t/0/j.npy --expect k=%t/0/k.npy --expect m=%t/0/m.npy
// RUN: arun %t/1.so --random --shape x=7x1x160 --shape g=7x1x120 --shape s=1x40 --shape l=1 --threads 2 --range-tol 1e-5 --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy --expect e=%t/0/e.npy --expect f=%t/0/f.npy --expect h=%t/0/h.npy --expect i=%t/0/i.npy --expect j=%t/0/j.npy --expect k=%t/0/k.npy --expect m=%t/0/m.npy
// RUN: arun %t/2.so --random --shape x=7x1x160 --shape g=7x1x120 --shape s=1x40 --shape l=1 --threads 2 --range-tol 1e-5 --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy --expect e=%t/0/e.npy --expect f=%t/0/f.npy --expect h=%t/0/h.npy --expect i=%t/0/i.npy --expect j=%t/0/j.npy --expect k=%t/0/k.npy --expect m=%t/0/m.npy
// RUN: arun %t/0.so --random --shape x=5x8x160 --shape g=5x8x120 --shape s=8x40 --shape l=8 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=5x8x160 --shape g=5x8x120 --shape s=8x40 --shape l=8 --threads 2 --range-tol 1e-5 --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy --expect e=%t/0/e.npy --expect f=%t/0/f.npy --expect h=%t/0/h.npy --expect i=%t/0/i.npy --expect j=%t/0/j.npy --expect k=%t/0/k.npy --expect m=%t/0/m.npy
// RUN: arun %t/2.so --random --shape x=5x8x160 --shape g=5x8x120 --shape s=8x40 --shape l=8 --threads 2 --range-tol 1e-5 --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy --expect e=%t/0/e.npy --expect f=%t/0/f.npy --expect h=%t/0/h.npy --expect i=%t/0/i.npy --expect j=%t/0/j.npy --expect k=%t/0/k.npy --expect m=%t/0/m.npy
// RUN: arun %t/0.so --random --shape x=3x19x160 --shape g=3x19x120 --shape s=19x40 --shape l=19 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=3x19x160 --shape g=3x19x120 --shape s=19x40 --shape l=19 --threads 1 --range-tol 1e-5 --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy --expect e=%t/0/e.npy --expect f=%t/0/f.npy --expect h=%t/0/h.npy --expect i=%t/0/i.npy --expect j=%t/0/j.npy --expect k=%t/0/k.npy --expect m=%t/0/m.npy
// RUN: arun %t/1.so --random --shape x=3x19x160 --shape g=3x19x120 --shape s=19x40 --shape l=19 --threads 2 --range-tol 1e-5 --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy --expect e=%t/0/e.npy --expect f=%t/0/f.npy --expect h=%t/0/h.npy --expect i=%t/0/i.npy --expect j=%t/0/j.npy --expect k=%t/0/k.npy --expect m=%t/0/m.npy
// RUN: arun %t/2.so --random --shape x=3x19x160 --shape g=3x19x120 --shape s=19x40 --shape l=19 --threads 2 --range-tol 1e-5 --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy --expect e=%t/0/e.npy --expect f=%t/0/f.npy --expect h=%t/0/h.npy --expect i=%t/0/i.npy --expect j=%t/0/j.npy --expect k=%t/0/k.npy --expect m=%t/0/m.npy
// RUN: arun %t/3.so --random --shape x=3x19x160 --shape g=3x19x120 --shape s=19x40 --shape l=19 --threads 1 --output-dir %t/31 --range-tol 1e-5 --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy --expect e=%t/0/e.npy --expect f=%t/0/f.npy --expect h=%t/0/h.npy --expect i=%t/0/i.npy --expect j=%t/0/j.npy --expect k=%t/0/k.npy --expect m=%t/0/m.npy
// RUN: arun %t/3.so --random --shape x=3x19x160 --shape g=3x19x120 --shape s=19x40 --shape l=19 --threads 2 --output-dir %t/32 --range-tol 1e-5 --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy --expect e=%t/0/e.npy --expect f=%t/0/f.npy --expect h=%t/0/h.npy --expect i=%t/0/i.npy --expect j=%t/0/j.npy --expect k=%t/0/k.npy --expect m=%t/0/m.npy
// RUN: diff -r %t/31 %t/32
// RUN: arun %t/3.so --random --shape x=3x19x160 --shape g=3x19x120 --shape s=19x40 --shape l=19 --threads 5 --output-dir %t/35
// RUN: diff -r %t/31 %t/35
// RUN: arun %t/4.so --random --shape x=3x19x160 --shape g=3x19x120 --shape s=19x40 --shape l=19 --threads 1 --output-dir %t/41 --range-tol 1e-5 --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy --expect e=%t/0/e.npy --expect f=%t/0/f.npy --expect h=%t/0/h.npy --expect i=%t/0/i.npy --expect j=%t/0/j.npy --expect k=%t/0/k.npy --expect m=%t/0/m.npy
// RUN: arun %t/4.so --random --shape x=3x19x160 --shape g=3x19x120 --shape s=19x40 --shape l=19 --threads 2 --output-dir %t/42 --range-tol 1e-5 --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy --expect e=%t/0/e.npy --expect f=%t/0/f.npy --expect h=%t/0/h.npy --expect i=%t/0/i.npy --expect j=%t/0/j.npy --expect k=%t/0/k.npy --expect m=%t/0/m.npy
// RUN: diff -r %t/41 %t/42
// RUN: arun %t/0.so --random --shape x=1x3x160 --shape g=1x3x120 --shape s=3x40 --shape l=3 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=1x3x160 --shape g=1x3x120 --shape s=3x40 --shape l=3 --threads 2 --range-tol 1e-5 --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy --expect e=%t/0/e.npy --expect f=%t/0/f.npy --expect h=%t/0/h.npy --expect i=%t/0/i.npy --expect j=%t/0/j.npy --expect k=%t/0/k.npy --expect m=%t/0/m.npy
// RUN: arun %t/2.so --random --shape x=1x3x160 --shape g=1x3x120 --shape s=3x40 --shape l=3 --threads 2 --range-tol 1e-5 --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy --expect e=%t/0/e.npy --expect f=%t/0/f.npy --expect h=%t/0/h.npy --expect i=%t/0/i.npy --expect j=%t/0/j.npy --expect k=%t/0/k.npy --expect m=%t/0/m.npy
// RUN: arun %t/5.so --random --shape x=1x3x160 --shape g=1x3x120 --shape s=3x40 --shape l=3 --threads 2 --range-tol 1e-5 --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy --expect e=%t/0/e.npy --expect f=%t/0/f.npy --expect h=%t/0/h.npy --expect i=%t/0/i.npy --expect j=%t/0/j.npy --expect k=%t/0/k.npy --expect m=%t/0/m.npy
// RUN: arun %t/5.so --random --shape x=7x3x160 --shape g=7x3x120 --shape s=3x40 --shape l=3 --threads 1 --output-dir %t/51
// RUN: arun %t/5.so --random --shape x=7x3x160 --shape g=7x3x120 --shape s=3x40 --shape l=3 --threads 5 --output-dir %t/55
// RUN: diff -r %t/51 %t/55
// RUN: arun %t/0.so --random --shape x=0x2x160 --shape g=0x2x120 --shape s=2x40 --shape l=2 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=0x2x160 --shape g=0x2x120 --shape s=2x40 --shape l=2 --threads 1 --range-tol 1e-5 --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy --expect e=%t/0/e.npy --expect f=%t/0/f.npy --expect h=%t/0/h.npy --expect i=%t/0/i.npy --expect j=%t/0/j.npy --expect k=%t/0/k.npy --expect m=%t/0/m.npy
#x = affine_map<()[s0, s1] -> (s0, s1, 160)>
#g = affine_map<()[s0, s1] -> (s0, s1, 120)>
#r = affine_map<()[s0, s1] -> (s0, s1, 40)>
#s = affine_map<()[s0, s1] -> (s1, 40)>
#l = affine_map<()[s0, s1] -> (s1)>
func.func @main(%x: tensor<?x?x160xf32, #x> {graph.name = "x"}, %g: tensor<?x?x120xf32, #g> {graph.name = "g"}, %s: tensor<?x40xf32, #s> {graph.name = "s"}, %l: tensor<?xi32, #l> {graph.name = "l"}, %w: tensor<4x40x40xf32> {graph.name = "w"}) -> (tensor<?x?x40xf32, #r> {graph.name = "a"}, tensor<?x40xf32, #s> {graph.name = "b"}, tensor<?x40xf32, #s> {graph.name = "c"}, tensor<?x?x40xf32, #r> {graph.name = "d"}, tensor<?x?x40xf32, #r> {graph.name = "e"}, tensor<?x?x40xf32, #r> {graph.name = "f"}, tensor<?x40xf32, #s> {graph.name = "h"}, tensor<?x?x40xf32, #r> {graph.name = "i"}, tensor<?x40xf32, #s> {graph.name = "j"}, tensor<?x?x40xf32, #r> {graph.name = "k"}, tensor<?x40xf32, #s> {graph.name = "m"}) attributes {graph.symbols = ["t", "b"]} {
  %i = graph.constant dense<0> : tensor<i64>
  %n = graph.constant dense<6400> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %0 = graph.range %i, %n, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<6400xi64>
  %1 = graph.cast %0 : (tensor<6400xi64>) -> tensor<6400xf32>
  %2 = graph.sin %1 : (tensor<6400xf32>) -> tensor<6400xf32>
  %tenth = graph.constant dense<0.2> : tensor<f32>
  %3 = graph.mul %2, %tenth : (tensor<6400xf32>, tensor<f32>) -> tensor<6400xf32>
  %w4s = graph.slice %3 {starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<6400xf32>) -> tensor<6400xf32>
  %w4d = graph.constant dense<[4, 40, 40]> : tensor<3xi64>
  %w4 = graph.reshape %w4s, %w4d : (tensor<6400xf32>, tensor<3xi64>) -> tensor<4x40x40xf32>
  %w3s = graph.slice %3 {starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<6400xf32>) -> tensor<4800xf32>
  %w3d = graph.constant dense<[3, 40, 40]> : tensor<3xi64>
  %w3 = graph.reshape %w3s, %w3d : (tensor<4800xf32>, tensor<3xi64>) -> tensor<3x40x40xf32>
  %w1s = graph.slice %3 {starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<6400xf32>) -> tensor<1600xf32>
  %w1d = graph.constant dense<[1, 40, 40]> : tensor<3xi64>
  %w1 = graph.reshape %w1s, %w1d : (tensor<1600xf32>, tensor<3xi64>) -> tensor<1x40x40xf32>
  %p = graph.slice %3 {starts = array<i64: 7>, steps = array<i64: 1>} : (tensor<6400xf32>) -> tensor<120xf32>
  %q = graph.slice %3 {starts = array<i64: 7>, steps = array<i64: 1>} : (tensor<6400xf32>) -> tensor<40xf32>
  // All results; the forget gate is coupled; peepholes.
  %a, %b, %c = graph.recurrent %x weights %w4 state %s memory %s peephole %p {cell = #graph.cell<lstm>, activations = ["sigmoid", "tanh", "tanh"], alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>} : (tensor<?x?x160xf32, #x>, tensor<4x40x40xf32>, tensor<?x40xf32, #s>, tensor<?x40xf32, #s>, tensor<120xf32>) -> (tensor<?x?x40xf32, #r>, tensor<?x40xf32, #s>, tensor<?x40xf32, #s>)
  %d, %d1, %d2 = graph.recurrent %x weights %w state %s memory %s {cell = #graph.cell<lstm>, activations = ["sigmoid", "tanh", "tanh"], alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>, reverse = true, input_forget = true, clip = 0.5 : f64} : (tensor<?x?x160xf32, #x>, tensor<4x40x40xf32>, tensor<?x40xf32, #s>, tensor<?x40xf32, #s>) -> (tensor<?x?x40xf32, #r>, tensor<?x40xf32, #s>, tensor<?x40xf32, #s>)
  // Rows of several lengths.
  %e, %e1, %e2 = graph.recurrent %x weights %w4 state %s memory %s lengths %l {cell = #graph.cell<lstm>, activations = ["sigmoid", "tanh", "tanh"], alphas = array<f64: 0.0, 0.0, 0.0>, betas = array<f64: 0.0, 0.0, 0.0>} : (tensor<?x?x160xf32, #x>, tensor<4x40x40xf32>, tensor<?x40xf32, #s>, tensor<?x40xf32, #s>, tensor<?xi32, #l>) -> (tensor<?x?x40xf32, #r>, tensor<?x40xf32, #s>, tensor<?x40xf32, #s>)
  %f, %f1 = graph.recurrent %g weights %w3 state %s bias %q {cell = #graph.cell<gru>, activations = ["sigmoid", "tanh"], alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>, linear_before_reset = true} : (tensor<?x?x120xf32, #g>, tensor<3x40x40xf32>, tensor<?x40xf32, #s>, tensor<40xf32>) -> (tensor<?x?x40xf32, #r>, tensor<?x40xf32, #s>)
  // Only the last state is used.
  %h0, %h = graph.recurrent %g weights %w3 state %s {cell = #graph.cell<gru>, activations = ["hard_sigmoid", "tanh"], alphas = array<f64: 0.2, 0.0>, betas = array<f64: 0.5, 0.0>, linear_before_reset = true, reverse = true} : (tensor<?x?x120xf32, #g>, tensor<3x40x40xf32>, tensor<?x40xf32, #s>) -> (tensor<?x?x40xf32, #r>, tensor<?x40xf32, #s>)
  // Dependent products, also in reverse.
  %y, %y1 = graph.recurrent %g weights %w3 state %s {cell = #graph.cell<gru>, activations = ["sigmoid", "tanh"], alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>} : (tensor<?x?x120xf32, #g>, tensor<3x40x40xf32>, tensor<?x40xf32, #s>) -> (tensor<?x?x40xf32, #r>, tensor<?x40xf32, #s>)
  %k, %m = graph.recurrent %g weights %w3 state %s {cell = #graph.cell<gru>, activations = ["sigmoid", "tanh"], alphas = array<f64: 0.0, 0.0>, betas = array<f64: 0.0, 0.0>, reverse = true, clip = 0.7 : f64} : (tensor<?x?x120xf32, #g>, tensor<3x40x40xf32>, tensor<?x40xf32, #s>) -> (tensor<?x?x40xf32, #r>, tensor<?x40xf32, #s>)
  %i1, %i2 = graph.recurrent %y weights %w1 state %s lengths %l {cell = #graph.cell<rnn>, activations = ["tanh"], alphas = array<f64: 0.0>, betas = array<f64: 0.0>, reverse = true} : (tensor<?x?x40xf32, #r>, tensor<1x40x40xf32>, tensor<?x40xf32, #s>, tensor<?xi32, #l>) -> (tensor<?x?x40xf32, #r>, tensor<?x40xf32, #s>)
  return %a, %b, %c, %d, %e, %f, %h, %i1, %y1, %k, %m : tensor<?x?x40xf32, #r>, tensor<?x40xf32, #s>, tensor<?x40xf32, #s>, tensor<?x?x40xf32, #r>, tensor<?x?x40xf32, #r>, tensor<?x?x40xf32, #r>, tensor<?x40xf32, #s>, tensor<?x?x40xf32, #r>, tensor<?x40xf32, #s>, tensor<?x?x40xf32, #r>, tensor<?x40xf32, #s>
}

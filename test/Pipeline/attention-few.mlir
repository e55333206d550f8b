// Attention with a dynamic number of queries has the results of the reference path for a
// single one, blocks of four, whole and partial, and many, and the same bits on one and
// two threads: with groups of heads, causal from both corners, a mask.
// DEFINE: %{queries} = 1
// DEFINE: %{keys} = 300
// DEFINE: %{shapes} = --random --shape q=2x6x%{queries}x24 --shape k=2x2x%{keys}x24 --shape v=2x2x%{keys}x24 --shape b=1x1x%{queries}x%{keys}
// DEFINE: %{expected} = --expect plain=%t/0/plain.npy --expect causal=%t/0/causal.npy --expect lower=%t/0/lower.npy
// DEFINE: %{check} = arun %t/0.so %{shapes} --output-dir %t/0 && \
// DEFINE:   arun %t/1.so %{shapes} --threads 1 --output-dir %t/1 --range-tol 1e-5 %{expected} && \
// DEFINE:   arun %t/1.so %{shapes} --threads 2 --output-dir %t/2 && diff -r %t/1 %t/2
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// RUN: %{check}
// REDEFINE: %{queries} = 2
// REDEFINE: %{keys} = 17
// RUN: %{check}
// REDEFINE: %{queries} = 3
// REDEFINE: %{keys} = 64
// RUN: %{check}
// REDEFINE: %{queries} = 4
// REDEFINE: %{keys} = 300
// RUN: %{check}
// REDEFINE: %{queries} = 5
// REDEFINE: %{keys} = 5
// RUN: %{check}
// REDEFINE: %{queries} = 7
// REDEFINE: %{keys} = 64
// RUN: %{check}
// REDEFINE: %{queries} = 8
// REDEFINE: %{keys} = 9
// RUN: %{check}
// REDEFINE: %{queries} = 20
// REDEFINE: %{keys} = 70
// RUN: %{check}
// REDEFINE: %{queries} = 21
// REDEFINE: %{keys} = 70
// RUN: %{check}
// REDEFINE: %{queries} = 33
// REDEFINE: %{keys} = 70
// RUN: %{check}

#q = affine_map<()[s0, s1] -> (2, 6, s0, 24)>
#k = affine_map<()[s0, s1] -> (2, 2, s1, 24)>
#m = affine_map<()[s0, s1] -> (1, 1, s0, s1)>
func.func @main(%q: tensor<2x6x?x24xf32, #q> {graph.name = "q"}, %k: tensor<2x2x?x24xf32, #k> {graph.name = "k"},
                %v: tensor<2x2x?x24xf32, #k> {graph.name = "v"}, %b: tensor<1x1x?x?xf32, #m> {graph.name = "b"})
    -> (tensor<2x6x?x24xf32, #q> {graph.name = "plain"}, tensor<2x6x?x24xf32, #q> {graph.name = "causal"},
        tensor<2x6x?x24xf32, #q> {graph.name = "lower"}) attributes {graph.symbols = ["queries", "keys"]} {
  %0 = graph.attention %q, %k, %v bias %b {scale = 0.2 : f64} : (tensor<2x6x?x24xf32, #q>, tensor<2x2x?x24xf32, #k>, tensor<2x2x?x24xf32, #k>, tensor<1x1x?x?xf32, #m>) -> tensor<2x6x?x24xf32, #q>
  %1 = graph.attention %q, %k, %v {scale = 0.2 : f64, causal = #graph.causal<upper_left>} : (tensor<2x6x?x24xf32, #q>, tensor<2x2x?x24xf32, #k>, tensor<2x2x?x24xf32, #k>) -> tensor<2x6x?x24xf32, #q>
  %2 = graph.attention %q, %k, %v {scale = 0.2 : f64, causal = #graph.causal<lower_right>} : (tensor<2x6x?x24xf32, #q>, tensor<2x2x?x24xf32, #k>, tensor<2x2x?x24xf32, #k>) -> tensor<2x6x?x24xf32, #q>
  return %0, %1, %2 : tensor<2x6x?x24xf32, #q>, tensor<2x6x?x24xf32, #q>, tensor<2x6x?x24xf32, #q>
}

// Reductions of a single row that depend on another reduction: a tile kernel, with the
// same results as the reference path, for a row of static length, of dynamic length, and
// of a multiple of 64 elements, which is reduced in parts.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so --report=%t/report.json
// RUN: not grep -q '"kind": "reference"' %t/report.json
// DEFINE: %{n} = 1
// DEFINE: %{h} = 1
// DEFINE: %{shape} = --shape y=1x%{n} --shape z=1x%{h}x7x64
// DEFINE: %{check} = arun %t/0.so --random %{shape} --output-dir %t/0 && \
// DEFINE:   arun %t/1.so --random %{shape} --threads 1 --output-dir %t/1 --rtol 1e-5 --expect xv=%t/0/xv.npy --expect yv=%t/0/yv.npy --expect zv=%t/0/zv.npy && \
// DEFINE:   arun %t/1.so --random %{shape} --threads 2 --output-dir %t/2 && \
// DEFINE:   diff -r %t/1 %t/2
// RUN: %{check}
// REDEFINE: %{n} = 100
// REDEFINE: %{h} = 13
// RUN: %{check}
// REDEFINE: %{n} = 5003
// REDEFINE: %{h} = 200
// RUN: %{check}

#y = affine_map<()[s0, s1] -> (1, s0)>
#z = affine_map<()[s0, s1] -> (1, s1, 7, 64)>
#r = affine_map<()[s0, s1] -> (1, s1 * 448)>
func.func @main(%x: tensor<1x5000xf32> {graph.name = "x"}, %y: tensor<1x?xf32, #y> {graph.name = "y"}, %z: tensor<1x?x7x64xf32, #z> {graph.name = "z"})
    -> (tensor<1x1xf32> {graph.name = "xv"}, tensor<1x1xf32> {graph.name = "yv"}, tensor<1x1xf32> {graph.name = "zv"}) attributes {graph.symbols = ["n", "h"]} {
  %xm = graph.reduce_mean %x {axes = array<i64: 1>} : (tensor<1x5000xf32>) -> tensor<1x1xf32>
  %xd = graph.sub %x, %xm : (tensor<1x5000xf32>, tensor<1x1xf32>) -> tensor<1x5000xf32>
  %xs = graph.mul %xd, %xd : (tensor<1x5000xf32>, tensor<1x5000xf32>) -> tensor<1x5000xf32>
  %xv = graph.reduce_mean %xs {axes = array<i64: 1>} : (tensor<1x5000xf32>) -> tensor<1x1xf32>
  %ym = graph.reduce_mean %y {axes = array<i64: 1>} : (tensor<1x?xf32, #y>) -> tensor<1x1xf32>
  %yd = graph.sub %y, %ym : (tensor<1x?xf32, #y>, tensor<1x1xf32>) -> tensor<1x?xf32, #y>
  %ys = graph.mul %yd, %yd : (tensor<1x?xf32, #y>, tensor<1x?xf32, #y>) -> tensor<1x?xf32, #y>
  %yv = graph.reduce_mean %ys {axes = array<i64: 1>} : (tensor<1x?xf32, #y>) -> tensor<1x1xf32>
  %zr = graph.reshape %z : (tensor<1x?x7x64xf32, #z>) -> tensor<1x?xf32, #r>
  %zm = graph.reduce_mean %zr {axes = array<i64: 1>} : (tensor<1x?xf32, #r>) -> tensor<1x1xf32>
  %zd = graph.sub %zr, %zm : (tensor<1x?xf32, #r>, tensor<1x1xf32>) -> tensor<1x?xf32, #r>
  %zs = graph.mul %zd, %zd : (tensor<1x?xf32, #r>, tensor<1x?xf32, #r>) -> tensor<1x?xf32, #r>
  %zv = graph.reduce_mean %zs {axes = array<i64: 1>} : (tensor<1x?xf32, #r>) -> tensor<1x1xf32>
  return %xv, %yv, %zv : tensor<1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>
}

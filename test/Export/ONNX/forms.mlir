// Ops that become several nodes, and those with dynamic sizes: the exported model passes
// ONNX's checker and has the same results for other sizes.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: for m in compute movement bytes trees; do \
// RUN:   atranslate $m.mlir -O0 --emit=onnx -o $m.onnx && onnx-check $m.onnx && \
// RUN:   atranslate $m.mlir -o m.so && atranslate $m.onnx -o e.so && \
// RUN:   for s in 1 6; do rm -rf out && arun m.so --random --shape x=${s}x4x5 --output-dir out && \
// RUN:   arun e.so --random --shape x=${s}x4x5 --range-tol 1e-5 $(for f in out/*.npy; do n=$(basename $f .npy); echo --expect $n=$f; done) \
// RUN:   || exit 1; done || exit 1; done
// Data-dependent sizes.
// RUN: onnx-as data.onnxtxt -o m.onnx && atranslate m.onnx --emit=onnx -o e.onnx && onnx-check e.onnx
// RUN: atranslate m.onnx -o m.so && atranslate e.onnx -o e.so && arun m.so --random --output-dir data
// RUN: arun e.so --random --expect y=data/y.npy --expect z=data/z.npy --expect p=data/p.npy
// RUN: adze-import compute.onnx | FileCheck compute.mlir
// RUN: adze-import movement.onnx | FileCheck movement.mlir

//--- compute.mlir
// CHECK: graph.sigmoid
// CHECK: graph.layer_norm
// CHECK: graph.reduce_mean
// CHECK: graph.transpose
#x = affine_map<()[s0] -> (s0, 4, 5)>
#s = affine_map<()[s0] -> (s0, 4, 4)>
func.func @main(%x: tensor<?x4x5xf32, #x> {graph.name = "x"})
    -> (tensor<?x4x5xf32, #x> {graph.name = "a"}, tensor<?x4x5xf32, #x> {graph.name = "b"},
        tensor<?x4x5xf32, #x> {graph.name = "c"}, tensor<?x4x5xf32, #x> {graph.name = "d"},
        tensor<?x4x4xf32, #s> {graph.name = "e"}, tensor<?x4x5xf32, #x> {graph.name = "f"},
        tensor<?x4x5xf32, #x> {graph.name = "g"}, tensor<?x4x5xf32, #x> {graph.name = "h"}) attributes {graph.symbols = ["N"]} {
  %w = graph.constant dense<[[0.5, 2.0, -1.0, 1.5, 1.0]]> : tensor<1x5xf32>
  %c4 = graph.constant dense<[0.5, 2.0, -1.0, 1.5]> : tensor<4xf32>
  %mask = graph.constant dense<[true, false, true, true]> : tensor<4xi1>
  %a = graph.silu %x : (tensor<?x4x5xf32, #x>) -> tensor<?x4x5xf32, #x>
  %b = graph.layer_norm %x {axis = 1 : i64} : (tensor<?x4x5xf32, #x>) -> tensor<?x4x5xf32, #x>
  %c = graph.layer_norm %x scale %w bias %w {axis = 2 : i64} : (tensor<?x4x5xf32, #x>, tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<?x4x5xf32, #x>
  %d = graph.rms_norm %x, %w {axis = 2 : i64, epsilon = 1.0e-3 : f64} : (tensor<?x4x5xf32, #x>, tensor<1x5xf32>) -> tensor<?x4x5xf32, #x>
  %e = graph.matmul %x, %x {transpose_b = true} : (tensor<?x4x5xf32, #x>, tensor<?x4x5xf32, #x>) -> tensor<?x4x4xf32, #s>
  %f = graph.attention %x, %a, %x mask %mask {scale = 0.25 : f64, softcap = 2.0 : f64, zero_empty = true, zero_masked = true} : (tensor<?x4x5xf32, #x>, tensor<?x4x5xf32, #x>, tensor<?x4x5xf32, #x>, tensor<4xi1>) -> tensor<?x4x5xf32, #x>
  %g = graph.instance_norm %x, %c4, %c4 : (tensor<?x4x5xf32, #x>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x5xf32, #x>
  %h = graph.lrn %x {size = 3 : i64, alpha = 0.1 : f64} : (tensor<?x4x5xf32, #x>) -> tensor<?x4x5xf32, #x>
  return %a, %b, %c, %d, %e, %f, %g, %h : tensor<?x4x5xf32, #x>, tensor<?x4x5xf32, #x>, tensor<?x4x5xf32, #x>, tensor<?x4x5xf32, #x>, tensor<?x4x4xf32, #s>, tensor<?x4x5xf32, #x>, tensor<?x4x5xf32, #x>, tensor<?x4x5xf32, #x>
}

//--- movement.mlir
// Dynamic sizes: slices, reshapes to several dynamic dims, Expand, Resize to sizes.
// CHECK: graph.slice %{{.*}} : (tensor<?x4x5xf32{{.*}}) -> tensor<?x4x2xf32
// CHECK: graph.broadcast_to %{{.*}} -> tensor<?x2x?xf32
// CHECK: graph.reshape %{{.*}} -> tensor<?x10xf32
#x = affine_map<()[s0] -> (s0, 4, 5)>
#half = affine_map<()[s0] -> (s0 - s0 floordiv 2, 4, 2)>
#down = affine_map<()[s0] -> (s0, 2, 5)>
#two = affine_map<()[s0] -> (s0 floordiv 2 + 1, 2, s0)>
#wide = affine_map<()[s0] -> (s0 floordiv 2 + 1, 2, s0)>
#flat = affine_map<()[s0] -> (s0 * 20)>
#split = affine_map<()[s0] -> (s0 * 2, 10)>
#big = affine_map<()[s0] -> (s0, 4, s0 * 3)>
#hot = affine_map<()[s0] -> (2, s0)>
#one = affine_map<()[s0] -> (s0, 4)>
#top = affine_map<()[s0] -> (s0, 4, 2)>
#line = affine_map<()[s0] -> (s0)>
func.func @main(%x: tensor<?x4x5xf32, #x> {graph.name = "x"})
    -> (tensor<?x4x2xf32, #half> {graph.name = "a"}, tensor<?x2x5xf32, #down> {graph.name = "b"},
        tensor<?x2x?xf32, #two> {graph.name = "c"}, tensor<?x10xf32, #split> {graph.name = "d"},
        tensor<?x4x?xf32, #big> {graph.name = "e"}, tensor<2x?xf32, #hot> {graph.name = "f"},
        tensor<?x4x2xf32, #top> {graph.name = "g"}, tensor<?x4x2xi64, #top> {graph.name = "h"},
        tensor<?x4xi64, #one> {graph.name = "i"}, tensor<?x4x5xf32, #x> {graph.name = "j"},
        tensor<?x4x5xf32, #x> {graph.name = "k"}, tensor<?x4x5xf32, #x> {graph.name = "l"}) attributes {graph.symbols = ["N"]} {
  %ones = graph.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %values = graph.constant dense<[-1.0, 1.0]> : tensor<2xf32>
  %indices = graph.constant dense<[0, -1]> : tensor<2xi64>
  %places = graph.constant dense<[[[0, 1, 2, 3, 4]]]> : tensor<1x1x5xi64>
  %updates = graph.constant dense<1.5> : tensor<1x1x5xf32>
  %a = graph.slice %x {starts = affine_map<()[s0] -> (s0 floordiv 2, 0, 1)>, steps = array<i64: 1, 1, 2>} : (tensor<?x4x5xf32, #x>) -> tensor<?x4x2xf32, #half>
  %b = graph.slice %x {starts = array<i64: 0, 3, 4>, steps = array<i64: 1, -2, -1>} : (tensor<?x4x5xf32, #x>) -> tensor<?x2x5xf32, #down>
  %line = graph.reshape %x : (tensor<?x4x5xf32, #x>) -> tensor<?xf32, #flat>
  %row = graph.slice %line {starts = array<i64: 1>, steps = array<i64: 1>} : (tensor<?xf32, #flat>) -> tensor<?xf32, #line>
  %c = graph.broadcast_to %row : (tensor<?xf32, #line>) -> tensor<?x2x?xf32, #wide>
  %d = graph.reshape %x : (tensor<?x4x5xf32, #x>) -> tensor<?x10xf32, #split>
  %e = graph.resize %x {mode = #graph.resize_mode<linear>} : (tensor<?x4x5xf32, #x>) -> tensor<?x4x?xf32, #big>
  %f = graph.one_hot %indices, %values {axis = 1 : i64} : (tensor<2xi64>, tensor<2xf32>) -> tensor<2x?xf32, #hot>
  %g, %h = graph.top_k %x {axis = 2 : i64} : (tensor<?x4x5xf32, #x>) -> (tensor<?x4x2xf32, #top>, tensor<?x4x2xi64, #top>)
  %i = graph.arg_min %x {axis = 2 : i64, keepdims = false} : (tensor<?x4x5xf32, #x>) -> tensor<?x4xi64, #one>
  %j = graph.reverse %x {axes = array<i64: 0, 2>} : (tensor<?x4x5xf32, #x>) -> tensor<?x4x5xf32, #x>
  %k0 = graph.cumsum %x {axis = 2 : i64, exclusive = true} : (tensor<?x4x5xf32, #x>) -> tensor<?x4x5xf32, #x>
  %k = graph.trilu %k0 {upper = false, k = 1 : i64} : (tensor<?x4x5xf32, #x>) -> tensor<?x4x5xf32, #x>
  %l = graph.scatter_elements %x, %places, %updates {axis = 2 : i64, reduction = #graph.scatter<add>} : (tensor<?x4x5xf32, #x>, tensor<1x1x5xi64>, tensor<1x1x5xf32>) -> tensor<?x4x5xf32, #x>
  return %a, %b, %c, %d, %e, %f, %g, %h, %i, %j, %k, %l : tensor<?x4x2xf32, #half>, tensor<?x2x5xf32, #down>, tensor<?x2x?xf32, #two>, tensor<?x10xf32, #split>, tensor<?x4x?xf32, #big>, tensor<2x?xf32, #hot>, tensor<?x4x2xf32, #top>, tensor<?x4x2xi64, #top>, tensor<?x4xi64, #one>, tensor<?x4x5xf32, #x>, tensor<?x4x5xf32, #x>, tensor<?x4x5xf32, #x>
}

//--- bytes.mlir
#x = affine_map<()[s0] -> (s0, 4, 5)>
#y = affine_map<()[s0] -> (s0, 2, 4)>
#m = affine_map<()[s0] -> (s0, 4, 2)>
func.func @main(%x: tensor<?x4x5xf32, #x> {graph.name = "x"})
    -> (tensor<?x2x4xi32, #y> {graph.name = "a"}, tensor<?x4x2xi32, #m> {graph.name = "b"}, tensor<?x4x5xui8, #x> {graph.name = "c"}) attributes {graph.symbols = ["N"]} {
  %w = graph.constant dense<[[[1, 2], [3, -4], [5, 6], [7, 8]], [[1, -2], [3, 4], [5, 6], [-7, 8]]]> : tensor<2x4x2xi8>
  %bias = graph.constant dense<[100, -100]> : tensor<2xi32>
  %v = graph.constant dense<[[1, 2, 3, 4, 5], [5, -4, 3, -2, 1]]> : tensor<2x5xi8>
  %two = graph.constant dense<2> : tensor<ui8>
  %abs = graph.abs %x : (tensor<?x4x5xf32, #x>) -> tensor<?x4x5xf32, #x>
  %u = graph.cast %abs : (tensor<?x4x5xf32, #x>) -> tensor<?x4x5xui8, #x>
  %a = graph.conv %u, %w, %bias {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<?x4x5xui8, #x>, tensor<2x4x2xi8>, tensor<2xi32>) -> tensor<?x2x4xi32, #y>
  %b = graph.matmul %u, %v {transpose_b = true} : (tensor<?x4x5xui8, #x>, tensor<2x5xi8>) -> tensor<?x4x2xi32, #m>
  %c = graph.shift_left %u, %two : (tensor<?x4x5xui8, #x>, tensor<ui8>) -> tensor<?x4x5xui8, #x>
  return %a, %b, %c : tensor<?x2x4xi32, #y>, tensor<?x4x2xi32, #m>, tensor<?x4x5xui8, #x>
}

//--- trees.mlir
#x = affine_map<()[s0] -> (s0, 4, 5)>
#r = affine_map<()[s0] -> (s0, 20)>
#y = affine_map<()[s0] -> (s0, 3)>
func.func @main(%x: tensor<?x4x5xf32, #x> {graph.name = "x"}) -> (tensor<?x3xi32, #y> {graph.name = "y"}) attributes {graph.symbols = ["s"]} {
  %n = graph.constant dense<[-3238002688, -4294967295, 82652954624, -4294967299]> : tensor<4xi64>
  %r = graph.constant dense<[0, 1, -2]> : tensor<3xi32>
  %s = graph.constant dense<[2]> : tensor<1xi32>
  %rows = graph.reshape %x : (tensor<?x4x5xf32, #x>) -> tensor<?x20xf32, #r>
  %y = graph.tree_leaves %rows, %n, %r, %s : (tensor<?x20xf32, #r>, tensor<4xi64>, tensor<3xi32>, tensor<1xi32>) -> tensor<?x3xi32, #y>
  return %y : tensor<?x3xi32, #y>
}

//--- data.onnxtxt
<ir_version: 10, opset_import: ["" : 21]>
g (float[3, 4] x, int64[4] pads, int64 n, float[1, 1, 2, 2] w) => (float[A, B] y, float[C] z, float[1, 1, 1, 1] p)
<int64 zero = {0}, int64 one = {1}, int64 three = {3}>
{
  y = Pad<mode = "edge">(x, pads)
  most = Add(n, three)
  r = Range(zero, most, one)
  z = Cast<to = 1>(r)
  # The second window would start in the padding.
  p = MaxPool<kernel_shape = [1, 1], strides = [2, 2], ceil_mode = 1>(w)
}

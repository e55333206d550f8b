// Winograd convolutions of odd sizes, with bias, sum and epilogue, have the same results
// as the reference path, and the same bits on one and two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so --stats 2>&1 | FileCheck %s
// CHECK: graph-winograd: large = {{[1-9]}}
// RUN: atranslate --winograd=off %s -o %t/off.so --stats 2>&1 | FileCheck %s --check-prefix=OFF
// OFF-NOT: graph-winograd
// RUN: arun %t/0.so --random --output-dir %t/0
// RUN: arun %t/1.so --random --threads 1 --output-dir %t/1 --range-tol 1e-5 \
// RUN:   --expect a_y=%t/0/a_y.npy --expect b_y=%t/0/b_y.npy --expect c_y=%t/0/c_y.npy \
// RUN:   --expect d_y=%t/0/d_y.npy --expect e_y=%t/0/e_y.npy
// RUN: arun %t/1.so --random --threads 2 --output-dir %t/2
// RUN: diff -r %t/1 %t/2
// RUN: not atranslate --winograd=maybe %s -o %t/x.so 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: error: expected --winograd=on or off, but got 'maybe'
func.func @main(
    %a: tensor<1x14x14x32xf32> {graph.name = "a"},
    %ab: tensor<40xf32> {graph.name = "ab"},
    %as: tensor<1x14x14x40xf32> {graph.name = "as"},
    %b: tensor<2x17x19x40xf32> {graph.name = "b"},
    %bb: tensor<40xf32> {graph.name = "bb"},
    %bs: tensor<2x15x17x40xf32> {graph.name = "bs"},
    %c: tensor<1x30x23x33xf32> {graph.name = "c"},
    %cb: tensor<41xf32> {graph.name = "cb"},
    %cs: tensor<1x31x22x41xf32> {graph.name = "cs"},
    %d: tensor<1x8x9x40xf32> {graph.name = "d"},
    %db: tensor<32xf32> {graph.name = "db"},
    %ds: tensor<1x8x9x32xf32> {graph.name = "ds"},
    %e: tensor<1x3x40x36xf32> {graph.name = "e"},
    %eb: tensor<36xf32> {graph.name = "eb"},
    %es: tensor<1x5x42x36xf32> {graph.name = "es"}) -> (
    tensor<1x14x14x40xf32> {graph.name = "a_y"},
    tensor<2x15x17x40xf32> {graph.name = "b_y"},
    tensor<1x31x22x41xf32> {graph.name = "c_y"},
    tensor<1x8x9x32xf32> {graph.name = "d_y"},
    tensor<1x5x42x36xf32> {graph.name = "e_y"}) attributes {graph.symbols = []} {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %an = graph.constant dense<11520.0> : tensor<f32>
  %ar = graph.range %zero, %an, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<11520xf32>
  %am = graph.mul %ar, %ar : (tensor<11520xf32>, tensor<11520xf32>) -> tensor<11520xf32>
  %aq = graph.sin %am : (tensor<11520xf32>) -> tensor<11520xf32>
  %aw = graph.reshape %aq : (tensor<11520xf32>) -> tensor<40x32x3x3xf32>
  %ac = graph.conv %a, %aw, %ab {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x14x14x32xf32>, tensor<40x32x3x3xf32>, tensor<40xf32>) -> tensor<1x14x14x40xf32>
  %at = graph.add %ac, %as : (tensor<1x14x14x40xf32>, tensor<1x14x14x40xf32>) -> tensor<1x14x14x40xf32>
  %ay = graph.relu %at : (tensor<1x14x14x40xf32>) -> tensor<1x14x14x40xf32>
  %bn = graph.constant dense<14400.0> : tensor<f32>
  %br = graph.range %zero, %bn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<14400xf32>
  %bm = graph.mul %br, %br : (tensor<14400xf32>, tensor<14400xf32>) -> tensor<14400xf32>
  %bq = graph.sin %bm : (tensor<14400xf32>) -> tensor<14400xf32>
  %bw = graph.reshape %bq : (tensor<14400xf32>) -> tensor<40x40x3x3xf32>
  %bc = graph.conv %b, %bw, %bb {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x17x19x40xf32>, tensor<40x40x3x3xf32>, tensor<40xf32>) -> tensor<2x15x17x40xf32>
  %bt = graph.add %bc, %bs : (tensor<2x15x17x40xf32>, tensor<2x15x17x40xf32>) -> tensor<2x15x17x40xf32>
  %by = graph.relu %bt : (tensor<2x15x17x40xf32>) -> tensor<2x15x17x40xf32>
  %cn = graph.constant dense<12177.0> : tensor<f32>
  %cr = graph.range %zero, %cn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<12177xf32>
  %cm = graph.mul %cr, %cr : (tensor<12177xf32>, tensor<12177xf32>) -> tensor<12177xf32>
  %cq = graph.sin %cm : (tensor<12177xf32>) -> tensor<12177xf32>
  %cw = graph.reshape %cq : (tensor<12177xf32>) -> tensor<41x33x3x3xf32>
  %cc = graph.conv %c, %cw, %cb {strides = array<i64: 1, 1>, pads = array<i64: 1, 0, 2, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x30x23x33xf32>, tensor<41x33x3x3xf32>, tensor<41xf32>) -> tensor<1x31x22x41xf32>
  %ct = graph.add %cc, %cs : (tensor<1x31x22x41xf32>, tensor<1x31x22x41xf32>) -> tensor<1x31x22x41xf32>
  %cy = graph.relu %ct : (tensor<1x31x22x41xf32>) -> tensor<1x31x22x41xf32>
  %dn = graph.constant dense<11520.0> : tensor<f32>
  %dr = graph.range %zero, %dn, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<11520xf32>
  %dm = graph.mul %dr, %dr : (tensor<11520xf32>, tensor<11520xf32>) -> tensor<11520xf32>
  %dq = graph.sin %dm : (tensor<11520xf32>) -> tensor<11520xf32>
  %dw = graph.reshape %dq : (tensor<11520xf32>) -> tensor<32x40x3x3xf32>
  %dc = graph.conv %d, %dw, %db {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x8x9x40xf32>, tensor<32x40x3x3xf32>, tensor<32xf32>) -> tensor<1x8x9x32xf32>
  %dt = graph.add %dc, %ds : (tensor<1x8x9x32xf32>, tensor<1x8x9x32xf32>) -> tensor<1x8x9x32xf32>
  %dy = graph.relu %dt : (tensor<1x8x9x32xf32>) -> tensor<1x8x9x32xf32>
  %en = graph.constant dense<11664.0> : tensor<f32>
  %er = graph.range %zero, %en, %one : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<11664xf32>
  %em = graph.mul %er, %er : (tensor<11664xf32>, tensor<11664xf32>) -> tensor<11664xf32>
  %eq = graph.sin %em : (tensor<11664xf32>) -> tensor<11664xf32>
  %ew = graph.reshape %eq : (tensor<11664xf32>) -> tensor<36x36x3x3xf32>
  %ec = graph.conv %e, %ew, %eb {strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x3x40x36xf32>, tensor<36x36x3x3xf32>, tensor<36xf32>) -> tensor<1x5x42x36xf32>
  %et = graph.add %ec, %es : (tensor<1x5x42x36xf32>, tensor<1x5x42x36xf32>) -> tensor<1x5x42x36xf32>
  %ey = graph.relu %et : (tensor<1x5x42x36xf32>) -> tensor<1x5x42x36xf32>
  return %ay, %by, %cy, %dy, %ey : tensor<1x14x14x40xf32>, tensor<2x15x17x40xf32>, tensor<1x31x22x41xf32>, tensor<1x8x9x32xf32>, tensor<1x5x42x36xf32>
}

// Groups of channels that are not a multiple of a vector: a panel of filters per group
// (20, 24, 48, 80 and 3 x 48 channels), whose last vector is masked. Same results as the
// reference path, also with AVX2 and for images of dynamic size.
// RUN: rm -rf %t && mkdir -p %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so && atranslate --mcpu=x86-64-v3 %s -o %t/2.so
// RUN: arun %t/0.so --random --shape x=1x144x7x9 --shape y=1x160x7x9 --shape z=1x288x7x9 --output-dir %t
// RUN: arun %t/1.so --random --shape x=1x144x7x9 --shape y=1x160x7x9 --shape z=1x288x7x9 --range-tol 1e-5 --expect a=%t/a.npy --expect b=%t/b.npy --expect c=%t/c.npy --expect d=%t/d.npy --expect e=%t/e.npy | FileCheck %s
// RUN: arun %t/2.so --random --shape x=1x144x7x9 --shape y=1x160x7x9 --shape z=1x288x7x9 --range-tol 1e-5 --expect a=%t/a.npy --expect b=%t/b.npy --expect c=%t/c.npy --expect d=%t/d.npy --expect e=%t/e.npy | FileCheck %s
// CHECK-COUNT-5: output
#x = affine_map<()[s0, s1] -> (1, 144, s0, s1)>
#y = affine_map<()[s0, s1] -> (1, 160, s0, s1)>
#z = affine_map<()[s0, s1] -> (1, 288, s0, s1)>
#o = affine_map<()[s0, s1] -> (1, 120, s0, s1)>
#p = affine_map<()[s0, s1] -> (1, 160, s0 - 2, s1 - 2)>
func.func @main(%x: tensor<1x144x?x?xf32, #x> {graph.name = "x"}, %y: tensor<1x160x?x?xf32, #y> {graph.name = "y"}, %z: tensor<1x288x?x?xf32, #z> {graph.name = "z"}) -> (tensor<1x144x?x?xf32, #x> {graph.name = "a"}, tensor<1x144x?x?xf32, #x> {graph.name = "b"}, tensor<1x160x?x?xf32, #p> {graph.name = "c"}, tensor<1x120x?x?xf32, #o> {graph.name = "d"}, tensor<1x288x?x?xf32, #z> {graph.name = "e"}) attributes {graph.symbols = ["h", "w"]} {
  %i = graph.constant dense<0> : tensor<i64>
  %n = graph.constant dense<115200> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %0 = graph.range %i, %n, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<115200xi64>
  %1 = graph.cast %0 : (tensor<115200xi64>) -> tensor<115200xf32>
  %2 = graph.sin %1 : (tensor<115200xf32>) -> tensor<115200xf32>
  %s24 = graph.slice %2 {starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<115200xf32>) -> tensor<31104xf32>
  %d24 = graph.constant dense<[144, 24, 3, 3]> : tensor<4xi64>
  %f24 = graph.reshape %s24, %d24 : (tensor<31104xf32>, tensor<4xi64>) -> tensor<144x24x3x3xf32>
  %s48 = graph.slice %2 {starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<115200xf32>) -> tensor<62208xf32>
  %d48 = graph.constant dense<[144, 48, 3, 3]> : tensor<4xi64>
  %f48 = graph.reshape %s48, %d48 : (tensor<62208xf32>, tensor<4xi64>) -> tensor<144x48x3x3xf32>
  %d80 = graph.constant dense<[160, 80, 3, 3]> : tensor<4xi64>
  %f80 = graph.reshape %2, %d80 : (tensor<115200xf32>, tensor<4xi64>) -> tensor<160x80x3x3xf32>
  %s20 = graph.slice %2 {starts = array<i64: 5>, steps = array<i64: 1>} : (tensor<115200xf32>) -> tensor<2880xf32>
  %d20 = graph.constant dense<[120, 24, 1, 1]> : tensor<4xi64>
  %f20 = graph.reshape %s20, %d20 : (tensor<2880xf32>, tensor<4xi64>) -> tensor<120x24x1x1xf32>
  %s144 = graph.slice %2 {starts = array<i64: 9>, steps = array<i64: 1>} : (tensor<115200xf32>) -> tensor<41472xf32>
  %d144 = graph.constant dense<[288, 144, 1, 1]> : tensor<4xi64>
  %f144 = graph.reshape %s144, %d144 : (tensor<41472xf32>, tensor<4xi64>) -> tensor<288x144x1x1xf32>
  %a = graph.conv %x, %f24 {group = 6 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x144x?x?xf32, #x>, tensor<144x24x3x3xf32>) -> tensor<1x144x?x?xf32, #x>
  %b = graph.conv %x, %f48 {group = 3 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x144x?x?xf32, #x>, tensor<144x48x3x3xf32>) -> tensor<1x144x?x?xf32, #x>
  %c = graph.conv %y, %f80 {group = 2 : i64, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x160x?x?xf32, #y>, tensor<160x80x3x3xf32>) -> tensor<1x160x?x?xf32, #p>
  %d = graph.conv %x, %f20 {group = 6 : i64, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x144x?x?xf32, #x>, tensor<120x24x1x1xf32>) -> tensor<1x120x?x?xf32, #o>
  %e = graph.conv %z, %f144 {group = 2 : i64, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x288x?x?xf32, #z>, tensor<288x144x1x1xf32>) -> tensor<1x288x?x?xf32, #z>
  return %a, %b, %c, %d, %e : tensor<1x144x?x?xf32, #x>, tensor<1x144x?x?xf32, #x>, tensor<1x160x?x?xf32, #p>, tensor<1x120x?x?xf32, #o>, tensor<1x288x?x?xf32, #z>
}

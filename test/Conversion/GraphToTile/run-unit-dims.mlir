// Windows over images one pixel wide, read and stored through transposes: the axis of the
// pixels is along a unit dim. All are tile kernels.
// RUN: rm -rf %t && mkdir -p %t
// RUN: atranslate %s --emit=tile -o - | FileCheck %s
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so
// RUN: arun %t/0.so --random --ids 4 --output-dir %t
// RUN: arun %t/2.so --random --ids 4 --range-tol 1e-5 --expect a=%t/a.npy --expect b=%t/b.npy \
// RUN:   --expect c=%t/c.npy --expect e=%t/e.npy --expect f=%t/f.npy
// CHECK-NOT: func.func private
func.func @main(%x: tensor<3x16x9x1xf32> {graph.name = "x"}, %u: tensor<3x1x9x9xf32> {graph.name = "u"}, %i: tensor<3x4x5x1xi64> {graph.name = "i"}, %w: tensor<24x16x3x1xf32> {graph.name = "w"}, %d: tensor<16x1x3x1xf32> {graph.name = "d"}) -> (tensor<3x4x5x1xf32> {graph.name = "a"}, tensor<3x16x5x1xf32> {graph.name = "b"}, tensor<3x1x5x9xf32> {graph.name = "c"}, tensor<3x24x9x1xf32> {graph.name = "e"}, tensor<3x16x9x1xf32> {graph.name = "f"}) {
  %0 = graph.max_pool %x {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 1>, pads = array<i64: 0, 0, 2, 0>, strides = array<i64: 2, 1>} : (tensor<3x16x9x1xf32>) -> tensor<3x16x5x1xf32>
  %a = graph.gather_elements %0, %i {axis = 1 : i64} : (tensor<3x16x5x1xf32>, tensor<3x4x5x1xi64>) -> tensor<3x4x5x1xf32>
  %1 = graph.avg_pool %x {count_include_pad = false, dilations = array<i64: 1, 1>, kernel = array<i64: 3, 2>, pads = array<i64: 0, 0, 2, 1>, strides = array<i64: 2, 1>} : (tensor<3x16x9x1xf32>) -> tensor<3x16x5x1xf32>
  %b = graph.relu %1 : (tensor<3x16x5x1xf32>) -> tensor<3x16x5x1xf32>
  %c = graph.max_pool %u {dilations = array<i64: 1, 1>, kernel = array<i64: 3, 1>, pads = array<i64: 0, 0, 2, 0>, strides = array<i64: 2, 1>} : (tensor<3x1x9x9xf32>) -> tensor<3x1x5x9xf32>
  %e = graph.conv %x, %w {dilations = array<i64: 1, 1>, pads = array<i64: 1, 0, 1, 0>, strides = array<i64: 1, 1>} : (tensor<3x16x9x1xf32>, tensor<24x16x3x1xf32>) -> tensor<3x24x9x1xf32>
  %f = graph.conv %x, %d {group = 16 : i64, dilations = array<i64: 1, 1>, pads = array<i64: 1, 0, 1, 0>, strides = array<i64: 1, 1>} : (tensor<3x16x9x1xf32>, tensor<16x1x3x1xf32>) -> tensor<3x16x9x1xf32>
  return %a, %b, %c, %e, %f : tensor<3x4x5x1xf32>, tensor<3x16x5x1xf32>, tensor<3x1x5x9xf32>, tensor<3x24x9x1xf32>, tensor<3x16x9x1xf32>
}

// Slices of summed values, of sizes that are not multiples of blocks, next to NaN: these
// are not read, not even multiplied by 0.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: head -c 4124 /dev/zero | tr '\0' '\077' > row && head -c 276 /dev/zero | tr '\0' '\377' >> row
// RUN: cat row row row row > x.bin
// RUN: head -c 25216 /dev/zero | tr '\0' '\075' > k.bin && head -c 384 /dev/zero | tr '\0' '\377' >> k.bin
// RUN: atranslate -O0 %s -o 0.so && atranslate %s -o 2.so --winograd=off
// RUN: arun 0.so --input x=x.bin --input k=k.bin --random --output-dir . | FileCheck %s
// RUN: arun 2.so --input x=x.bin --input k=k.bin --random --rtol 1e-5 --atol 1e-5 --expect a=a.npy --expect b=b.npy --expect c=c.npy --expect d=d.npy --expect e=e.npy --expect h=h.npy
// For any blocks of a search.
// RUN: atranslate --tune=model %s -o t.so --winograd=off
// RUN: arun t.so --input x=x.bin --input k=k.bin --random --rtol 1e-5 --atol 1e-5 --expect a=a.npy --expect b=b.npy --expect c=c.npy --expect d=d.npy --expect e=e.npy --expect h=h.npy
// CHECK: output 'a'
func.func @main(%x: tensor<4x1100xf32> {graph.name = "x"}, %k: tensor<200x32xf32> {graph.name = "k"}, %w: tensor<1031x16xf32> {graph.name = "w"}, %q: tensor<1x5x32xf32> {graph.name = "q"})
    -> (tensor<4x16xf32> {graph.name = "a"}, tensor<4x16xf32> {graph.name = "b"}, tensor<1x16x2x2xf32> {graph.name = "c"}, tensor<1x5x32xf32> {graph.name = "d"}, tensor<1x16x2x2xf32> {graph.name = "e"}, tensor<4x16xf32> {graph.name = "h"}) {
  %m = graph.constant dense<0.01> : tensor<1031x16xf32>
  %f = graph.constant dense<0.02> : tensor<16x1031x1x1xf32>
  %0 = graph.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<4x1100xf32>) -> tensor<4x1031xf32>
  %a = graph.matmul %0, %m : (tensor<4x1031xf32>, tensor<1031x16xf32>) -> tensor<4x16xf32>
  %b = graph.matmul %0, %w : (tensor<4x1031xf32>, tensor<1031x16xf32>) -> tensor<4x16xf32>
  %1 = graph.reshape %x : (tensor<4x1100xf32>) -> tensor<1x2x2x1100xf32>
  %2 = graph.transpose %1 {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x2x2x1100xf32>) -> tensor<1x1100x2x2xf32>
  %3 = graph.slice %2 {starts = array<i64: 0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x1100x2x2xf32>) -> tensor<1x1031x2x2xf32>
  %c = graph.conv %3, %f {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x1031x2x2xf32>, tensor<16x1031x1x1xf32>) -> tensor<1x16x2x2xf32>
  %4 = graph.slice %k {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<200x32xf32>) -> tensor<197x32xf32>
  %5 = graph.reshape %4 : (tensor<197x32xf32>) -> tensor<1x197x32xf32>
  %d = graph.attention %q, %5, %5 {scale = 0.2 : f64} : (tensor<1x5x32xf32>, tensor<1x197x32xf32>, tensor<1x197x32xf32>) -> tensor<1x5x32xf32>
  %g = graph.constant dense<0.03> : tensor<1031x16x1x1xf32>
  %e = graph.conv_transpose %3, %g {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x1031x2x2xf32>, tensor<1031x16x1x1xf32>) -> tensor<1x16x2x2xf32>
  // Every second one, from the first on.
  %second = graph.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 2>} : (tensor<4x1100xf32>) -> tensor<4x515xf32>
  %v = graph.slice %w {starts = array<i64: 3, 0>, steps = array<i64: 1, 1>} : (tensor<1031x16xf32>) -> tensor<515x16xf32>
  %h = graph.matmul %second, %v : (tensor<4x515xf32>, tensor<515x16xf32>) -> tensor<4x16xf32>
  return %a, %b, %c, %d, %e, %h : tensor<4x16xf32>, tensor<4x16xf32>, tensor<1x16x2x2xf32>, tensor<1x5x32xf32>, tensor<1x16x2x2xf32>, tensor<4x16xf32>
}

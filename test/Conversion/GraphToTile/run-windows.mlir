// Windows that exceed images one pixel wide, also read through a transpose, and depthwise
// convolutions between NCHW tensors.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// RUN: arun %t/0.so --random --output-dir %t/0
// RUN: arun %t/1.so --random --threads 1 --output-dir %t/1 --range-tol 1e-5 \
// RUN:   --expect p=%t/0/p.npy --expect q=%t/0/q.npy --expect r=%t/0/r.npy \
// RUN:   --expect s=%t/0/s.npy
// RUN: arun %t/1.so --random --threads 2 --output-dir %t/2
// RUN: diff -r %t/1 %t/2
func.func @main(%x: tensor<1x7x5x1xf32> {graph.name = "x"}, %y: tensor<2x5x1x20xf32> {graph.name = "y"}, %z: tensor<1x20x13x37xf32> {graph.name = "z"}, %f: tensor<20x1x3x3xf32> {graph.name = "f"}, %g: tensor<9x20x3x3xf32> {graph.name = "g"}) -> (tensor<1x7x5x1xf32> {graph.name = "p"}, tensor<2x5x2x20xf32> {graph.name = "q"}, tensor<1x20x13x37xf32> {graph.name = "r"}, tensor<2x5x1x9xf32> {graph.name = "s"}) attributes {graph.symbols = []} {
  %p = graph.max_pool %x {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 2>, pads = array<i64: 0, 1, 0, 0>, strides = array<i64: 1, 1>} : (tensor<1x7x5x1xf32>) -> tensor<1x7x5x1xf32>
  %q = graph.avg_pool %y {dilations = array<i64: 1, 1>, kernel = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 1>, strides = array<i64: 1, 1>, count_include_pad = true, layout = #graph.layout<nhwc>} : (tensor<2x5x1x20xf32>) -> tensor<2x5x2x20xf32>
  %r = graph.conv %z, %f {group = 20 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x20x13x37xf32>, tensor<20x1x3x3xf32>) -> tensor<1x20x13x37xf32>
  %s = graph.conv %y, %g {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x5x1x20xf32>, tensor<9x20x3x3xf32>) -> tensor<2x5x1x9xf32>
  return %p, %q, %r, %s : tensor<1x7x5x1xf32>, tensor<2x5x2x20xf32>, tensor<1x20x13x37xf32>, tensor<2x5x1x9xf32>
}

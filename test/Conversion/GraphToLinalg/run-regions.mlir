// Regions whose bins are two cells wide: the adaptive number of samples equals the
// requested two, which are located once for all channels. Some samples are outside of the
// image; regions of several images.
// RUN: rm -rf %t && mkdir -p %t && atranslate %s -o %t.so && atranslate -O0 %s -o %t0.so
// RUN: arun %t.so --random --threads 1 --output-dir %t
// RUN: arun %t.so --random --threads 2 --rtol 0 --atol 0 --expect a=%t/b.npy --expect c=%t/d.npy
// RUN: arun %t0.so --random --rtol 0 --atol 0 --expect a=%t/b.npy --expect c=%t/d.npy
func.func @main(%x: tensor<2x5x11x13xf32> {graph.name = "x"}) -> (
    tensor<4x5x3x4xf32> {graph.name = "a"}, tensor<4x5x3x4xf32> {graph.name = "b"}, tensor<4x5x3x4xf32> {graph.name = "c"}, tensor<4x5x3x4xf32> {graph.name = "d"})
    attributes {graph.symbols = []} {
  %r = graph.constant dense<[[0.5, 1.0, 8.5, 7.0], [-3.0, -2.5, 5.0, 3.5], [6.25, 7.0, 14.25, 13.0], [30.0, 30.0, 38.0, 36.0]]> : tensor<4x4xf32>
  %i = graph.constant dense<[0, 1, 1, 0]> : tensor<4xi64>
  %a = graph.roi_align %x, %r, %i {samples = 2 : i64, half_pixel = false} : (tensor<2x5x11x13xf32>, tensor<4x4xf32>, tensor<4xi64>) -> tensor<4x5x3x4xf32>
  %b = graph.roi_align %x, %r, %i {samples = 0 : i64, half_pixel = false} : (tensor<2x5x11x13xf32>, tensor<4x4xf32>, tensor<4xi64>) -> tensor<4x5x3x4xf32>
  %c = graph.roi_align %x, %r, %i {samples = 2 : i64, max = true} : (tensor<2x5x11x13xf32>, tensor<4x4xf32>, tensor<4xi64>) -> tensor<4x5x3x4xf32>
  %d = graph.roi_align %x, %r, %i {max = true} : (tensor<2x5x11x13xf32>, tensor<4x4xf32>, tensor<4xi64>) -> tensor<4x5x3x4xf32>
  return %a, %b, %c, %d : tensor<4x5x3x4xf32>, tensor<4x5x3x4xf32>, tensor<4x5x3x4xf32>, tensor<4x5x3x4xf32>
}

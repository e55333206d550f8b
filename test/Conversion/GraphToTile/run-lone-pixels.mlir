// Border rows of an image whose last vector has a single pixel.
// RUN: rm -rf %t && mkdir -p %t/0 && atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so && atranslate --mcpu=x86-64-v3 %s -o %t/3.so
// RUN: for n in 1 2; do arun %t/0.so --random --shape x=${n}x3x5x33 --output-dir %t/0 && for m in 1 3; do \
// RUN:   arun %t/$m.so --random --shape x=${n}x3x5x33 --range-tol 1e-6 --expect y=%t/0/y.npy --expect z=%t/0/z.npy || exit 1; done; done
#x = affine_map<()[s0] -> (s0, 3, 5, 33)>
#y = affine_map<()[s0] -> (s0, 1, 5, 33)>
func.func @main(%x: tensor<?x3x5x33xf32, #x> {graph.name = "x"}, %w: tensor<1x3x2x1xf32> {graph.name = "w"}, %b: tensor<1xf32> {graph.name = "b"}, %d: tensor<3x1x3x3xf32> {graph.name = "d"}) -> (tensor<?x1x5x33xf32, #y> {graph.name = "y"}, tensor<?x3x5x33xf32, #x> {graph.name = "z"}) attributes {graph.symbols = ["n"]} {
  %0 = graph.conv %x, %w, %b {dilations = array<i64: 1, 1>, pads = array<i64: 1, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<?x3x5x33xf32, #x>, tensor<1x3x2x1xf32>, tensor<1xf32>) -> tensor<?x1x5x33xf32, #y>
  %1 = graph.conv %x, %d {group = 3 : i64, dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (tensor<?x3x5x33xf32, #x>, tensor<3x1x3x3xf32>) -> tensor<?x3x5x33xf32, #x>
  return %0, %1 : tensor<?x1x5x33xf32, #y>, tensor<?x3x5x33xf32, #x>
}

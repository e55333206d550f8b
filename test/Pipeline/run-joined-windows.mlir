// Convolutions of a signal with few outputs, as products whose rows cover several windows:
// signals that end within a row and with it, of one window, of a static size, and two
// signals. Same results as the reference path.
// RUN: rm -rf %t && mkdir -p %t/0
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so && atranslate %s --dim l=1000 -o %t/2.so && atranslate --mcpu=x86-64-v3 %s -o %t/3.so
// RUN: arun %t/0.so --random --shape x=1x1x1 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=1x1x1 --range-tol 1e-6 --expect y=%t/0/y.npy --expect z=%t/0/z.npy
// RUN: arun %t/0.so --random --shape x=2x1x92 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=2x1x92 --range-tol 1e-6 --expect y=%t/0/y.npy --expect z=%t/0/z.npy
// RUN: arun %t/0.so --random --shape x=2x1x1000 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=2x1x1000 --range-tol 1e-6 --expect y=%t/0/y.npy --expect z=%t/0/z.npy
// RUN: arun %t/2.so --random --shape x=2x1x1000 --range-tol 1e-6 --expect y=%t/0/y.npy --expect z=%t/0/z.npy
// RUN: arun %t/3.so --random --shape x=2x1x1000 --range-tol 1e-6 --expect y=%t/0/y.npy --expect z=%t/0/z.npy
#x = affine_map<()[s0, s1] -> (s0, 1, s1)>
#y = affine_map<()[s0, s1] -> (s0, 1, (s1 + 3) floordiv 6 + 1)>
#z = affine_map<()[s0, s1] -> (s0, 2, (s1 + 1) floordiv 3 + 1)>
func.func @main(%x: tensor<?x1x?xf32, #x> {graph.name = "x"}) -> (tensor<?x1x?xf32, #y> {graph.name = "y"}, tensor<?x2x?xf32, #z> {graph.name = "z"}) attributes {graph.symbols = ["n", "l"]} {
  %zero = graph.constant dense<0> : tensor<i64>
  %n = graph.constant dense<80> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %0 = graph.range %zero, %n, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<80xi64>
  %1 = graph.cast %0 : (tensor<80xi64>) -> tensor<80xf32>
  %2 = graph.sin %1 : (tensor<80xf32>) -> tensor<80xf32>
  %dims = graph.constant dense<[1, 1, 80]> : tensor<3xi64>
  %w = graph.reshape %2, %dims : (tensor<80xf32>, tensor<3xi64>) -> tensor<1x1x80xf32>
  %halves = graph.constant dense<[2, 1, 40]> : tensor<3xi64>
  %v = graph.reshape %2, %halves : (tensor<80xf32>, tensor<3xi64>) -> tensor<2x1x40xf32>
  %b = graph.constant dense<[0.5, -2.0]> : tensor<2xf32>
  %y = graph.conv %x, %w {strides = array<i64: 6>, pads = array<i64: 37, 46>, dilations = array<i64: 1>} : (tensor<?x1x?xf32, #x>, tensor<1x1x80xf32>) -> tensor<?x1x?xf32, #y>
  %z = graph.conv %x, %v, %b {strides = array<i64: 3>, pads = array<i64: 20, 21>, dilations = array<i64: 1>} : (tensor<?x1x?xf32, #x>, tensor<2x1x40xf32>, tensor<2xf32>) -> tensor<?x2x?xf32, #z>
  return %y, %z : tensor<?x1x?xf32, #y>, tensor<?x2x?xf32, #z>
}

// Quotients and remainders by vectors through floats: bit-equal to the scalar divisions
// of the reference path, for all widths, small and large numbers, the least number by -1,
// and to the C library's fmod.
// DEFINE: %{expect} = --expect a=%t/a.npy --expect b=%t/b.npy --expect c=%t/c.npy --expect d=%t/d.npy --expect e=%t/e.npy --expect f=%t/f.npy --expect g=%t/g.npy --expect h=%t/h.npy
// RUN: rm -rf %t && mkdir -p %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so && atranslate --mcpu=x86-64-v3 %s -o %t/3.so
// RUN: arun %t/0.so --random --output-dir %t
// RUN: arun %t/1.so --random --threads 2 --rtol 0 --atol 0 %{expect}
// RUN: arun %t/3.so --random --rtol 0 --atol 0 %{expect}
func.func @main(%x: tensor<1003xi32> {graph.name = "x"}, %y: tensor<1003xi32> {graph.name = "y"}, %u: tensor<1003xf32> {graph.name = "u"}, %v: tensor<1003xf32> {graph.name = "v"}) -> (
    tensor<1003xi32> {graph.name = "a"}, tensor<1003xi32> {graph.name = "b"},
    tensor<1003xi64> {graph.name = "c"}, tensor<1003xi64> {graph.name = "d"},
    tensor<1003xui32> {graph.name = "e"}, tensor<1003xi16> {graph.name = "f"},
    tensor<1003xf32> {graph.name = "g"}, tensor<3x17xi32> {graph.name = "h"}) {
  %spread = graph.constant dense<-1640531527> : tensor<i32>
  %other = graph.constant dense<2146121005> : tensor<i32>
  %one = graph.constant dense<1> : tensor<i32>
  // Over the whole range; divisors are odd.
  %x2 = graph.mul %x, %spread : (tensor<1003xi32>, tensor<i32>) -> tensor<1003xi32>
  %y1 = graph.mul %y, %other : (tensor<1003xi32>, tensor<i32>) -> tensor<1003xi32>
  %y2 = graph.bitwise_or %y1, %one : (tensor<1003xi32>, tensor<i32>) -> tensor<1003xi32>
  %y3 = graph.bitwise_or %y, %one : (tensor<1003xi32>, tensor<i32>) -> tensor<1003xi32>
  %a = graph.div %x2, %y3 : (tensor<1003xi32>, tensor<1003xi32>) -> tensor<1003xi32>
  %b = graph.mod %x2, %y2 : (tensor<1003xi32>, tensor<1003xi32>) -> tensor<1003xi32>
  // 64-bit numbers, both small and large.
  %xl = graph.cast %x2 : (tensor<1003xi32>) -> tensor<1003xi64>
  %yl = graph.cast %y2 : (tensor<1003xi32>) -> tensor<1003xi64>
  %far = graph.mul %xl, %xl : (tensor<1003xi64>, tensor<1003xi64>) -> tensor<1003xi64>
  %c = graph.div %xl, %yl : (tensor<1003xi64>, tensor<1003xi64>) -> tensor<1003xi64>
  %d = graph.mod %far, %yl : (tensor<1003xi64>, tensor<1003xi64>) -> tensor<1003xi64>
  %xu = graph.cast %x2 : (tensor<1003xi32>) -> tensor<1003xui32>
  %yu = graph.cast %y2 : (tensor<1003xi32>) -> tensor<1003xui32>
  %e = graph.mod %xu, %yu : (tensor<1003xui32>, tensor<1003xui32>) -> tensor<1003xui32>
  %xs = graph.cast %x2 : (tensor<1003xi32>) -> tensor<1003xi16>
  %ys = graph.cast %y2 : (tensor<1003xi32>) -> tensor<1003xi16>
  %f = graph.div %xs, %ys : (tensor<1003xi16>, tensor<1003xi16>) -> tensor<1003xi16>
  // Quotients of all magnitudes.
  %w1 = graph.mul %v, %v : (tensor<1003xf32>, tensor<1003xf32>) -> tensor<1003xf32>
  %w2 = graph.mul %w1, %w1 : (tensor<1003xf32>, tensor<1003xf32>) -> tensor<1003xf32>
  %w = graph.mul %w2, %w2 : (tensor<1003xf32>, tensor<1003xf32>) -> tensor<1003xf32>
  %g = graph.fmod %u, %w : (tensor<1003xf32>, tensor<1003xf32>) -> tensor<1003xf32>
  %ends = graph.constant dense<[[-2147483648], [2147483647], [-7]]> : tensor<3x1xi32>
  %by = graph.constant dense<[[-1, 1, 2, -2, 3, -3, 7, -7, 2147483647, -2147483647, -2147483648, 65536, 46341, -46341, 1073741824, 5, -5]]> : tensor<1x17xi32>
  %few = graph.reduce_min %x {axes = array<i64: 0>, keepdims = false} : (tensor<1003xi32>) -> tensor<i32>
  %none = graph.sub %few, %few : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %from = graph.add %ends, %none : (tensor<3x1xi32>, tensor<i32>) -> tensor<3x1xi32>
  %to = graph.add %by, %none : (tensor<1x17xi32>, tensor<i32>) -> tensor<1x17xi32>
  %h = graph.div %from, %to : (tensor<3x1xi32>, tensor<1x17xi32>) -> tensor<3x17xi32>
  return %a, %b, %c, %d, %e, %f, %g, %h : tensor<1003xi32>, tensor<1003xi32>, tensor<1003xi64>, tensor<1003xi64>, tensor<1003xui32>, tensor<1003xi16>, tensor<1003xf32>, tensor<3x17xi32>
}

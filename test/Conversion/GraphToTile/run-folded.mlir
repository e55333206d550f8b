// Ops that fold to constants in a kernel of dynamic sizes.
// RUN: rm -rf %t && mkdir -p %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so
// RUN: arun %t/0.so --random --shape x=2x7x3 --output-dir %t
// RUN: arun %t/2.so --random --shape x=2x7x3 --expect y=%t/y.npy --expect z=%t/z.npy
#m = affine_map<()[s0] -> (2, s0, 3)>
func.func @main(%x: tensor<2x?x3xi64, #m> {graph.name = "x"}) -> (tensor<2x?x3xi64, #m> {graph.name = "y"}, tensor<2x?x3xi64, #m> {graph.name = "z"}) attributes {graph.symbols = ["a"], graph.symbol_ranges = [array<i64: 0, -1, -1>]} {
  %0 = graph.bitwise_xor %x, %x : (tensor<2x?x3xi64, #m>, tensor<2x?x3xi64, #m>) -> tensor<2x?x3xi64, #m>
  %1 = graph.sub %x, %x : (tensor<2x?x3xi64, #m>, tensor<2x?x3xi64, #m>) -> tensor<2x?x3xi64, #m>
  %2 = graph.add %1, %x : (tensor<2x?x3xi64, #m>, tensor<2x?x3xi64, #m>) -> tensor<2x?x3xi64, #m>
  return %0, %2 : tensor<2x?x3xi64, #m>, tensor<2x?x3xi64, #m>
}

// A product over no elements is zero for any previous contents of memory: dynamic
// lengths, also 0, with a bias and a later user.
// RUN: rm -rf %t && mkdir -p %t
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/2.so
// DEFINE: %{k} =
// DEFINE: %{check} = arun %t/0.so --random --shape x=40x%{k} --shape w=%{k}x64 --output-dir %t && arun %t/2.so --random --shape x=40x%{k} --shape w=%{k}x64 --range-tol 1e-5 --expect y=%t/y.npy --expect z=%t/z.npy
// REDEFINE: %{k} = 0
// RUN: %{check}
// REDEFINE: %{k} = 1
// RUN: %{check}
// REDEFINE: %{k} = 300
// RUN: %{check}
#x = affine_map<()[s0] -> (40, s0)>
#w = affine_map<()[s0] -> (s0, 64)>
func.func @main(%x: tensor<40x?xf32, #x> {graph.name = "x"}, %w: tensor<?x64xf32, #w> {graph.name = "w"}, %v: tensor<64x96xf32> {graph.name = "v"}) -> (tensor<40x64xf32> {graph.name = "y"}, tensor<40x96xf32> {graph.name = "z"}) attributes {graph.symbol_ranges = [array<i64: 0, -1, -1>], graph.symbols = ["k"]} {
  %b = graph.constant dense<0.25> : tensor<64xf32>
  %0 = graph.matmul %x, %w : (tensor<40x?xf32, #x>, tensor<?x64xf32, #w>) -> tensor<40x64xf32>
  %1 = graph.add %0, %b : (tensor<40x64xf32>, tensor<64xf32>) -> tensor<40x64xf32>
  %2 = graph.matmul %1, %v : (tensor<40x64xf32>, tensor<64x96xf32>) -> tensor<40x96xf32>
  return %1, %2 : tensor<40x64xf32>, tensor<40x96xf32>
}

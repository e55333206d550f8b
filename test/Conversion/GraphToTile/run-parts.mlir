// A kernel that stores several parts of one tensor: adjacent reductions over channels, a
// product after its negative, on CPUs also of dynamic sizes; same results as the
// reference path.
// RUN: rm -rf %t && mkdir -p %t/0
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// RUN: atranslate %s --emit=linalg -o %t/linalg.mlir
// RUN: FileCheck %s --check-prefix=LINALG --input-file=%t/linalg.mlir
// LINALG-COUNT-3: host.launch
// LINALG-NOT: host.launch
// LINALG-NOT: linalg.generic
// DEFINE: %{shapes} = --shape x=3x37x5x7
// RUN: arun %t/0.so --random %{shapes} --output-dir %t/0
// RUN: arun %t/1.so --random %{shapes} --expect y=%t/0/y.npy --expect z=%t/0/z.npy --expect w=%t/0/w.npy --range-tol 1e-5
#x = affine_map<()[s0, s1, s2, s3] -> (s0, s1, s2, s3)>
#r = affine_map<()[s0, s1, s2, s3] -> (s0, 1, s2, s3)>
#y = affine_map<()[s0, s1, s2, s3] -> (s0, 2, s2, s3)>
func.func @main(%x: tensor<?x?x?x?xf32, #x> {graph.name = "x"}, %a: tensor<9x40xf32> {graph.name = "a"}, %b: tensor<40x24xf32> {graph.name = "b"}, %c: tensor<6x10x16xf32> {graph.name = "c"}) -> (
    tensor<?x2x?x?xf32, #y> {graph.name = "y"}, tensor<9x48xf32> {graph.name = "z"}, tensor<6x30x16xf32> {graph.name = "w"})
    attributes {graph.symbols = ["n", "c", "h", "w"]} {
  %0 = graph.exp %x : (tensor<?x?x?x?xf32, #x>) -> tensor<?x?x?x?xf32, #x>
  %1 = graph.reduce_mean %0 {axes = array<i64: 1>} : (tensor<?x?x?x?xf32, #x>) -> tensor<?x1x?x?xf32, #r>
  %2 = graph.reduce_max %0 {axes = array<i64: 1>} : (tensor<?x?x?x?xf32, #x>) -> tensor<?x1x?x?xf32, #r>
  %y = graph.concat %1, %2 {axis = 1 : i64} : (tensor<?x1x?x?xf32, #r>, tensor<?x1x?x?xf32, #r>) -> tensor<?x2x?x?xf32, #y>
  %3 = graph.matmul %a, %b : (tensor<9x40xf32>, tensor<40x24xf32>) -> tensor<9x24xf32>
  %4 = graph.neg %3 : (tensor<9x24xf32>) -> tensor<9x24xf32>
  %5 = graph.relu %4 : (tensor<9x24xf32>) -> tensor<9x24xf32>
  %6 = graph.relu %3 : (tensor<9x24xf32>) -> tensor<9x24xf32>
  %z = graph.concat %6, %5 {axis = 1 : i64} : (tensor<9x24xf32>, tensor<9x24xf32>) -> tensor<9x48xf32>
  %7 = graph.exp %c : (tensor<6x10x16xf32>) -> tensor<6x10x16xf32>
  %8 = graph.sqrt %7 : (tensor<6x10x16xf32>) -> tensor<6x10x16xf32>
  %9 = graph.tanh %7 : (tensor<6x10x16xf32>) -> tensor<6x10x16xf32>
  %w = graph.concat %8, %9, %7 {axis = 1 : i64} : (tensor<6x10x16xf32>, tensor<6x10x16xf32>, tensor<6x10x16xf32>) -> tensor<6x30x16xf32>
  return %y, %z, %w : tensor<?x2x?x?xf32, #y>, tensor<9x48xf32>, tensor<6x30x16xf32>
}

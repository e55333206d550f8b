// RUN: split-file %s %t
// RUN: not atranslate %t/nonzero.mlir -o %t/nonzero.so 2> %t/err; FileCheck %s < %t/err
// RUN: not test -e %t/nonzero.so

// An output whose size only the data tells must not run with size 0.
// CHECK: error: {{.*}}unsupported: dim 1 of output 0 depends on the values of a tensor

//--- nonzero.mlir
func.func @main(%x: tensor<4xf32> {graph.name = "x"}) -> (tensor<1x?xi64, affine_map<()[s0] -> (1, s0)>> {graph.name = "y"}) attributes {graph.symbols = [""]} {
  %y = graph.non_zero %x : (tensor<4xf32>) -> tensor<1x?xi64, affine_map<()[s0] -> (1, s0)>>
  return %y : tensor<1x?xi64, affine_map<()[s0] -> (1, s0)>>
}

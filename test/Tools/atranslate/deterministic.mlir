// Results never depend on threads: other code cannot be requested, and the module has the
// same bytes with the flag and without.
// RUN: atranslate %s -o %t.1.so && atranslate %s --deterministic -o %t.2.so
// RUN: cmp %t.1.so %t.2.so
// RUN: atranslate %s --deterministic=false -o %t.2.so 2> %t.err; test $? = 2
// RUN: FileCheck %s --check-prefix=OFF < %t.err
// OFF: error: expected --deterministic, but got --deterministic=false: results never depend on the number of threads

func.func @main(%x: tensor<64x64xf32>) -> tensor<64xf32> {
  %0 = graph.reduce_sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<64x64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

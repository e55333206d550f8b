// Leave to differ from run to run is taken, and not made use of: the module has
// the same bytes. Precisions that are not there are refused.
// RUN: atranslate %s -o %t.1.so && atranslate %s --deterministic=false -o %t.2.so
// RUN: cmp %t.1.so %t.2.so
// RUN: not atranslate %s --precision=bf16 -o %t.3.so 2>&1 | FileCheck %s
// CHECK: error: unsupported: --precision=bf16

func.func @main(%x: tensor<64x64xf32>) -> tensor<64xf32> {
  %0 = graph.reduce_sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<64x64xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

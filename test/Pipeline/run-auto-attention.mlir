// The error of attention counts for the bound of --precision=auto, also without
// other products.
// REQUIRES: host-amx
// RUN: atranslate %s --precision=auto --max-error=.05 -v -o %t.so 2>&1 | FileCheck %s --check-prefix=LOOSE
// RUN: atranslate %s --precision=auto --max-error=1e-9 -v -o %t.so 2>&1 | FileCheck %s --check-prefix=TIGHT
// LOOSE: 0 of 0 products in bf16, error 0.0
// TIGHT: 0 of 0 products in bf16, error 0 of the range (bound 1e-09)

func.func @main(%q: tensor<2x64x32xf32>, %k: tensor<2x64x32xf32>) -> tensor<2x64x32xf32> {
  %y = graph.attention %q, %k, %k {scale = 1.250000e-01 : f64} : (tensor<2x64x32xf32>, tensor<2x64x32xf32>, tensor<2x64x32xf32>) -> tensor<2x64x32xf32>
  return %y : tensor<2x64x32xf32>
}

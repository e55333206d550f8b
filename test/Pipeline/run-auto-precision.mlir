// --precision=auto keeps products with a large error in f32: one whose results are scaled
// up, but not the other one.
// REQUIRES: host-bf16
// RUN: rm -rf %t && mkdir -p %t/0 %t/1
// RUN: atranslate %s -o %t/0.so && arun %t/0.so --random --output-dir %t/0
// RUN: atranslate %s -o %t/all.so --precision=auto --max-error=.1 -v 2>&1 | FileCheck %s --check-prefix=ALL
// ALL: run-auto-precision.mlir: --precision=auto: 2 of 2 products in bf16, error {{.*}} of the range (bound 0.1)
// ALL-NOT: in f32
// RUN: atranslate %s -o %t/one.so --precision=auto --max-error=1e-3 --stats --report=%t/one.json 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: --precision=auto: 1 of 2 products in bf16, error {{.*}} of the range (bound 0.001)
// ONE-NEXT: in f32: 'delicate', which alone loses
// ONE-NOT: in f32
// RUN: FileCheck %s --check-prefix=REPORT <%t/one.json
// REPORT: "precision": [
// REPORT: "name": "delicate",
// REPORT-NEXT: "error": 0.{{.*}},
// REPORT-NEXT: "type": "f32"
// REPORT: "name": "coarse",
// REPORT-NEXT: "error": {{.*}},
// REPORT-NEXT: "type": "bf16"
// RUN: arun %t/one.so --random --output-dir %t/1 --range-tol 1e-3 --expect y=%t/0/y.npy
// RUN: atranslate %s -o %t/none.so --precision=auto --max-error=1e-6 --stats 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: --precision=auto: 0 of 2 products in bf16, error {{.*}} of the range (bound 1e-06)
// RUN: arun %t/none.so --random --output-dir %t/1 --range-tol 1e-6 --expect y=%t/0/y.npy
func.func @main(%x: tensor<8x64xf32> {graph.name = "x"}) -> (tensor<8x32xf32> {graph.name = "y"}) {
  // Weights that are not a splat.
  %from = graph.constant dense<0.0> : tensor<f32>
  %to = graph.constant dense<1433.6> : tensor<f32>
  %by = graph.constant dense<0.7> : tensor<f32>
  %t0 = graph.range %from, %to, %by : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<2048xf32>
  %t1 = graph.sin %t0 : (tensor<2048xf32>) -> tensor<2048xf32>
  %t = graph.reshape %t1 : (tensor<2048xf32>) -> tensor<64x32xf32>
  %u1 = graph.cos %t0 : (tensor<2048xf32>) -> tensor<2048xf32>
  %u = graph.reshape %u1 : (tensor<2048xf32>) -> tensor<64x32xf32>
  %small = graph.constant dense<0.001> : tensor<f32>
  %xx = graph.exp %x : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %0 = graph.matmul %x, %t : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32> loc("delicate")
  %1 = graph.matmul %xx, %u : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32> loc("coarse")
  %2 = graph.mul %1, %small : (tensor<8x32xf32>, tensor<f32>) -> tensor<8x32xf32>
  %3 = graph.add %0, %2 : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
  return %3 : tensor<8x32xf32>
}

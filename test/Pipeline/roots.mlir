// Powers of 1/2 and -1/2 are roots: same results as the reference path's power, for -inf,
// -0 and negative numbers, too.
// RUN: rm -rf %t && mkdir -p %t && for o in 0 2; do atranslate %s -O$o -o %t/$o.so || exit 1; done
// RUN: arun %t/0.so --random --output-dir %t && arun %t/2.so --random --rtol 3e-7 --atol 0 \
// RUN:   --expect y0=%t/y0.npy --expect y1=%t/y1.npy --expect y2=%t/y2.npy
// RUN: aopt %s --adze-graph | FileCheck %s
// CHECK: graph.sqrt
// CHECK-NOT: graph.pow

!x = tensor<4x257xf32>
func.func @main(%in: !x {graph.name = "x"}) -> (!x {graph.name = "y0"}, !x {graph.name = "y1"}, !x {graph.name = "y2"}) {
  %half = graph.constant dense<0.5> : tensor<f32>
  %minus = graph.constant dense<-0.5> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %low = graph.constant dense<-1.0> : tensor<f32>
  %least = graph.constant dense<0xFF800000> : tensor<f32>
  %zero = graph.constant dense<0x80000000> : tensor<f32>
  %great = graph.greater %in, %one : (!x, tensor<f32>) -> tensor<4x257xi1>
  %small = graph.less %in, %low : (!x, tensor<f32>) -> tensor<4x257xi1>
  %0 = graph.select %great, %least, %in : (tensor<4x257xi1>, tensor<f32>, !x) -> !x
  %x = graph.select %small, %zero, %0 : (tensor<4x257xi1>, tensor<f32>, !x) -> !x
  %y0 = graph.pow %x, %half : (!x, tensor<f32>) -> !x
  %y1 = graph.pow %x, %minus : (!x, tensor<f32>) -> !x
  %y2 = graph.div %one, %y0 : (tensor<f32>, !x) -> !x
  return %y0, %y1, %y2 : !x, !x, !x
}

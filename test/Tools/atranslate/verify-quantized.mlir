// The tolerance of a model that rounds to 8-bit integers is a tenth of the range, so a
// wrong result is still detected. quantized-test tests that a rounding may differ by a
// step.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: atranslate %s -o m.so --verify=differential
// RUN: atranslate %s -o m.so --verify=differential --inject-fault 2> err; test $? = 70
// RUN: FileCheck %s < err
// CHECK: error: {{.*}}verify-quantized.mlir: the module differs from the reference path (seed 1, dynamic dims near 5): output 'y': element {{[0-9]+}}: expected {{.*}}, a difference of {{.*}} of the range

#in = affine_map<()[s0] -> (s0, 16)>
func.func @main(%x: tensor<?x16xf32, #in> {graph.name = "x"}) -> (tensor<?x16xui8, #in> {graph.name = "y"}) attributes {graph.symbols = ["n"]} {
  %s = graph.constant dense<0.03> : tensor<f32>
  %z = graph.constant dense<128.0> : tensor<f32>
  %low = graph.constant dense<0.0> : tensor<f32>
  %high = graph.constant dense<255.0> : tensor<f32>
  %0 = graph.div %x, %s : (tensor<?x16xf32, #in>, tensor<f32>) -> tensor<?x16xf32, #in>
  %1 = graph.round %0 : (tensor<?x16xf32, #in>) -> tensor<?x16xf32, #in>
  %2 = graph.add %1, %z : (tensor<?x16xf32, #in>, tensor<f32>) -> tensor<?x16xf32, #in>
  %3 = graph.maximum %2, %low : (tensor<?x16xf32, #in>, tensor<f32>) -> tensor<?x16xf32, #in>
  %4 = graph.minimum %3, %high : (tensor<?x16xf32, #in>, tensor<f32>) -> tensor<?x16xf32, #in>
  %5 = graph.cast %4 : (tensor<?x16xf32, #in>) -> tensor<?x16xui8, #in>
  return %5 : tensor<?x16xui8, #in>
}

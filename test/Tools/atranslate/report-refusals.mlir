// The report lists missed fusions and near matches, by ONNX node, with the reason.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: atranslate %s -o m.so --report=r.json && FileCheck %s < r.json
// RUN: atranslate %s -o m.so --report=r.html && FileCheck %s --check-prefix=HTML < r.html

// CHECK: "refusals": [
// CHECK-NEXT: {
// CHECK-NEXT: "op": "graph.mul",
// CHECK-NEXT: "node": "swish",
// CHECK-NEXT: "pattern": "ProductOfInput",
// CHECK-NEXT: "reason": "expected no constant factor on x * sigmoid(x)"
// CHECK-NEXT: },
// CHECK-NEXT: {
// CHECK-NEXT: "op": "graph.matmul",
// CHECK-NEXT: "node": "second",
// CHECK-NEXT: "pattern": "fusion",
// CHECK-NEXT: "producer": "graph.mul",
// CHECK-NEXT: "producer_node": "swish",
// CHECK-NEXT: "reason": "both are anchor ops, and a kernel has one"
// CHECK-NEXT: }
// CHECK-NEXT: ]
// HTML: "refusals": [
// HTML: "reason": "expected no constant factor on x * sigmoid(x)"
// HTML: "reason": "both are anchor ops, and a kernel has one"

#x = affine_map<()[s0] -> (s0, 8)>
!x = tensor<?x8xf32, #x>
func.func @main(%x: !x {graph.name = "x"}) -> (!x {graph.name = "y"}) attributes {graph.symbols = ["n"]} {
  %w = graph.constant dense<0.5> : tensor<8x8xf32>
  %third = graph.constant dense<0.3> : tensor<f32>
  %0 = graph.matmul %x, %w : (!x, tensor<8x8xf32>) -> !x loc("first"("m.onnx":0:0))
  %1 = graph.sigmoid %0 : (!x) -> !x loc("sigmoid"("m.onnx":1:0))
  %2 = graph.mul %0, %1 : (!x, !x) -> !x loc("product"("m.onnx":2:0))
  %3 = graph.mul %2, %third : (!x, tensor<f32>) -> !x loc("swish"("m.onnx":3:0))
  %4 = graph.matmul %3, %w : (!x, tensor<8x8xf32>) -> !x loc("second"("m.onnx":4:0))
  return %4 : !x
}

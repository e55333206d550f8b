// Ops without an ONNX operator are reported by name, and no file is written.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: atranslate op.mlir --emit=onnx -o e.onnx 2> err; test $? = 3
// RUN: FileCheck op.mlir < err
// RUN: atranslate form.mlir --emit=onnx -o e.onnx 2> err; test $? = 3
// RUN: FileCheck form.mlir < err
// RUN: atranslate sizes.mlir --emit=onnx -o e.onnx 2> err; test $? = 3
// RUN: FileCheck sizes.mlir < err
// RUN: atranslate two.mlir --emit=onnx -o e.onnx 2> err; test $? = 3
// RUN: FileCheck two.mlir < err
// RUN: not test -e e.onnx

//--- op.mlir
// CHECK: error: {{.*}}unsupported: no ONNX operator for 'graph.bitcast'
func.func @main(%x: tensor<4xf32>) -> tensor<4xi32> {
  %0 = graph.bitcast %x : (tensor<4xf32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
//--- form.mlir
// CHECK: error: {{.*}}unsupported: no ONNX operator for 'graph.mod' of floats
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.mod %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
//--- sizes.mlir
// CHECK: error: {{.*}}unsupported: no ONNX operator for 'graph.broadcast_to' of sizes [s0, 4] that no earlier value has
func.func @main(%x: tensor<4xf32>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>> attributes {graph.symbols = ["N"]} {
  %0 = graph.broadcast_to %x : (tensor<4xf32>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>
  return %0 : tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>
}
//--- two.mlir
// CHECK: error: {{.*}}unsupported: expected one function of graph ops to be exported, but got 2
func.func private @k(%x: memref<4xf32>) attributes {adze.kernel} {
  return
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

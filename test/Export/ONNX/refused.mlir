// What has no ONNX operator is named, and no file is left.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: atranslate op.mlir --emit=onnx -o e.onnx 2> err; test $? = 3
// RUN: FileCheck op.mlir < err
// RUN: atranslate form.mlir --emit=onnx -o e.onnx 2> err; test $? = 3
// RUN: FileCheck form.mlir < err
// RUN: atranslate two.mlir --emit=onnx -o e.onnx 2> err; test $? = 3
// RUN: FileCheck two.mlir < err
// RUN: not test -e e.onnx

//--- op.mlir
// CHECK: error: {{.*}}unsupported: no ONNX operator for 'graph.reverse'
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.reverse %x {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
//--- form.mlir
// CHECK: error: {{.*}}unsupported: no ONNX operator for 'graph.matmul' with transposed operands of other than 2 dims
func.func @main(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) -> tensor<2x3x5xf32> {
  %0 = graph.matmul %x, %y {transpose_b = true} : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}
//--- two.mlir
// CHECK: error: {{.*}}unsupported: expected one function of graph ops to be exported, but got 2
func.func private @k(%x: memref<4xf32>) attributes {adze.kernel} {
  return
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

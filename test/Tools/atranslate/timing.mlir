// The kernels with the longest LLVM time, with their nodes. The sum of four elements
// takes little time compared with the product: it is compiled by quick code generation.
// RUN: atranslate %s -o %t.so --timing 2>&1 | FileCheck %s
// CHECK: LLVM on kernels: {{[0-9.]+}} seconds of all threads, 2 kernels, 1 of them light
// CHECK-DAG: {{[0-9]+\.[0-9]+}}  matmul_0  product
// CHECK-DAG: {{[0-9]+\.[0-9]+}}  add_0  sum
func.func @main(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>)
    -> (tensor<256x256xf32>, tensor<4xf32>) {
  %0 = graph.matmul %a, %b : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32> loc("product"("m.onnx":1:0))
  %1 = graph.add %c, %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("sum"("m.onnx":2:0))
  return %0, %1 : tensor<256x256xf32>, tensor<4xf32>
}

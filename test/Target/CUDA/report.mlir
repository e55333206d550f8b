// The report of a module for a GPU has the figures of ptxas for each kernel; without
// ptxas, those of the compiler.
// REQUIRES: cuda-toolkit
// RUN: atranslate %s --target=cuda:sm_90a --report=%t.json -o %t.so && FileCheck %s < %t.json
// RUN: env CUDA_HOME=%t.none atranslate %s --target=cuda:sm_90a --report=%t.json -o %t.so && FileCheck %s --check-prefix=PTX < %t.json

// CHECK: "functions": {
// CHECK: "device_code": {
// CHECK-NEXT: "cuda:sm_90a": {
// CHECK-NEXT: "threads": {{[1-9][0-9]*}},
// CHECK-NEXT: "shared_bytes": {{[0-9]+}},
// CHECK-NEXT: "registers": {{[1-9][0-9]*}},
// CHECK-NEXT: "spill_bytes": 0
// PTX: "device_code": {
// PTX-NOT: "registers"

func.func @main(%x: tensor<9x16xf32> {graph.name = "x"}) -> (tensor<9x16xf32> {graph.name = "y"}) {
  %0 = graph.relu %x : (tensor<9x16xf32>) -> tensor<9x16xf32>
  return %0 : tensor<9x16xf32>
}

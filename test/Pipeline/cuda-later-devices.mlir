// A cubin runs on the SMs of its major version. Additional PTX is for later ones, but
// useless if the target is a single SM.
// REQUIRES: cuda-toolkit
// RUN: atranslate %s --target=cuda:sm_80 --target=cuda:sm_90a -o %t.so
// RUN: arun %t.so --info --json | FileCheck %s
// RUN: grep -c '^\.target sm_80' %t.so
// RUN: not grep -c '^\.target sm_90a' %t.so

// CHECK: "device_images": [{"target": "cuda:sm_80", "form": "cubin", "bytes": {{[0-9]+}}}, {"target": "cuda:sm_80", "form": "ptx", "bytes": {{[0-9]+}}}, {"target": "cuda:sm_90a", "form": "cubin", "bytes": {{[0-9]+}}}]

func.func @main(%x: tensor<8x16xf32> {graph.name = "x"}) -> (tensor<8x16xf32> {graph.name = "y"}) {
  %0 = graph.relu %x : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

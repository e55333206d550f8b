// Of the versions of a kernel one runs: the totals of the report count it once.
// RUN: python3 -c "print(open('%s').read().replace('0xWORDS', '0x' + '003C0040' * 3072))" > %t.mlir
// RUN: atranslate %t.mlir --target=cuda:sm_90a -q --report=%t.json -o %t.so && FileCheck %s < %t.json

// CHECK: "launches": 1,
// CHECK: "flops": [[FLOPS:[0-9]+]]
// CHECK: "kernels":
// CHECK: "name": "matmul_0",
// CHECK: "flops": [[FLOPS]],
// CHECK-NOT: other_version
// CHECK: "name": "matmul_0_to_1024",
// CHECK: "other_version": true
// CHECK: "name": "matmul_0_to_256",
// CHECK: "other_version": true
// CHECK: "name": "matmul_0_few",
// CHECK: "flops": [[FLOPS]],
// CHECK-NEXT: "other_version": true

#x = affine_map<()[s0] -> (s0, 256)>
#y = affine_map<()[s0] -> (s0, 24)>
func.func @main(%x: tensor<?x256xf16, #x> {graph.name = "x"}) -> (tensor<?x24xf16, #y> {graph.name = "y"}) attributes {graph.symbols = ["N"]} {
  %w = graph.constant dense<"0xWORDS"> : tensor<256x24xf16>
  %0 = graph.matmul %x, %w : (tensor<?x256xf16, #x>, tensor<256x24xf16>) -> tensor<?x24xf16, #y>
  return %0 : tensor<?x24xf16, #y>
}

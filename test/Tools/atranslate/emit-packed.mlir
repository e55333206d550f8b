// A module with packed weights can be printed at each level.
// RUN: atranslate %s --emit=llvm -o - | FileCheck %s
// RUN: atranslate %s --emit=obj -o %t.o && llvm-nm %t.o | FileCheck %s --check-prefix=OBJECT
// CHECK: llvm.func @adze_run
// CHECK: llvm.func {{.*}}@matmul_0(
// OBJECT: adze_run

func.func @main(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %w = graph.constant dense<0.5> : tensor<64x64xf32>
  %0 = graph.matmul %x, %w : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// Kernels with vectors of 32 bytes or more align the stack to a cache line, so that no spilled
// vector is in two lines, whatever the caller's stack.
// RUN: atranslate %s --mcpu=x86-64-v4 -o %t.so && llvm-objdump -d --no-show-raw-insn %t.so | FileCheck %s
// RUN: atranslate %s --mcpu=x86-64-v3 -o %t.so && llvm-objdump -d --no-show-raw-insn %t.so | FileCheck %s
// CHECK: <{{.*}}matmul_0{{.*}}>:
// CHECK: andq $-0x40, %rsp
func.func @main(%x: tensor<64x256xf32> {graph.name = "x"}, %w: tensor<256x512xf32> {graph.name = "w"}) -> (tensor<64x512xf32> {graph.name = "y"}) {
  %y = graph.matmul %x, %w : (tensor<64x256xf32>, tensor<256x512xf32>) -> tensor<64x512xf32>
  return %y : tensor<64x512xf32>
}

// A module for another machine, without its sysroot.
// RUN: atranslate %s -o %t.so --mtriple=aarch64-linux-gnu
// RUN: llvm-readelf -h %t.so | FileCheck %s
// RUN: llvm-nm -D --undefined-only %t.so | count 0
// CHECK: Machine: AArch64

func.func private @k(%x: memref<4096xf32>, %w: memref<4xf32>, %y: memref<4096xf32>) attributes {adze.kernel} {
  memref.copy %x, %y : memref<4096xf32> to memref<4096xf32>
  return
}
func.func @main(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %w = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = host.launch @k(%x, %w) : (tensor<4096xf32>, tensor<4xf32>) -> tensor<4096xf32>
  return %0 : tensor<4096xf32>
}

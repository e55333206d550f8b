// Products of words of random bytes: bounded by a mask, unsigned by signed, and signed by
// signed. The results of each level equal those of the reference path, which multiplies
// element by element. Levels without an instruction for four bytes multiply pairs.
// RUN: rm -rf %t && mkdir -p %t && atranslate -O0 %s -o %t/0.so
// RUN: arun %t/0.so --random --ids 2147483647 --output-dir %t
// DEFINE: %{check} = arun %t/1.so --random --ids 2147483647 --rtol 0 --atol 0 --expect a=%t/a.npy --expect b=%t/b.npy --expect c=%t/c.npy
// RUN: atranslate %s -o %t/1.so && %{check} | FileCheck %s
// RUN: atranslate --mcpu=x86-64 %s -o %t/1.so && %{check} | FileCheck %s
// RUN: llvm-objdump -d %t/1.so | FileCheck %s --check-prefix=NARROW
// RUN: atranslate --mcpu=x86-64-v3 %s -o %t/1.so && %{check} | FileCheck %s
// RUN: llvm-objdump -d %t/1.so | FileCheck %s --check-prefix=PAIRS --implicit-check-not=vpmulld
// CHECK-COUNT-3: output
// NARROW: pmaddwd
// PAIRS: vpmaddubsw
// PAIRS: vpmaddwd

tile.kernel @bounded(%x: memref<6x9xi32>, %w: memref<9x40xi32>, %y: memref<6x40xi32>) {
  %zero = arith.constant dense<0> : tensor<6x40xi32>
  %mask = arith.constant dense<0x7f0f7f7f> : tensor<9x40xi32>
  %a = tile.load %x[0, 0] sizes [6, 9] : memref<6x9xi32> -> tensor<6x9xi32>
  %b = tile.load %w[0, 0] sizes [9, 40] : memref<9x40xi32> -> tensor<9x40xi32>
  %low = arith.andi %b, %mask : tensor<9x40xi32>
  %d = tile.dot %a, %low, %zero compute <si8 * ui8 + si32> : tensor<6x9xi32>, tensor<9x40xi32>, tensor<6x40xi32>
  tile.store %d, %y[0, 0] : tensor<6x40xi32>, memref<6x40xi32>
  tile.return
}

tile.kernel @unsigned(%x: memref<6x9xi32>, %w: memref<9x40xi32>, %y: memref<6x40xi32>) {
  %zero = arith.constant dense<0> : tensor<6x40xi32>
  %a = tile.load %x[0, 0] sizes [6, 9] : memref<6x9xi32> -> tensor<6x9xi32>
  %b = tile.load %w[0, 0] sizes [9, 40] : memref<9x40xi32> -> tensor<9x40xi32>
  %d = tile.dot %a, %b, %zero compute <ui8 * si8 + si32> : tensor<6x9xi32>, tensor<9x40xi32>, tensor<6x40xi32>
  tile.store %d, %y[0, 0] : tensor<6x40xi32>, memref<6x40xi32>
  tile.return
}

tile.kernel @signed(%x: memref<6x9xi32>, %w: memref<9x40xi32>, %y: memref<6x40xi32>) {
  %zero = arith.constant dense<0> : tensor<6x40xi32>
  %a = tile.load %x[0, 0] sizes [6, 9] : memref<6x9xi32> -> tensor<6x9xi32>
  %b = tile.load %w[0, 0] sizes [9, 40] : memref<9x40xi32> -> tensor<9x40xi32>
  %d = tile.dot %a, %b, %zero compute <si8 * si8 + si32> : tensor<6x9xi32>, tensor<9x40xi32>, tensor<6x40xi32>
  tile.store %d, %y[0, 0] : tensor<6x40xi32>, memref<6x40xi32>
  tile.return
}

func.func @main(%x: tensor<6x9xi32> {graph.name = "x"}, %w: tensor<9x40xi32> {graph.name = "w"})
    -> (tensor<6x40xi32> {graph.name = "a"}, tensor<6x40xi32> {graph.name = "b"}, tensor<6x40xi32> {graph.name = "c"}) {
  %a = host.launch @bounded(%x, %w) : (tensor<6x9xi32>, tensor<9x40xi32>) -> tensor<6x40xi32>
  %b = host.launch @unsigned(%x, %w) : (tensor<6x9xi32>, tensor<9x40xi32>) -> tensor<6x40xi32>
  %c = host.launch @signed(%x, %w) : (tensor<6x9xi32>, tensor<9x40xi32>) -> tensor<6x40xi32>
  return %a, %b, %c : tensor<6x40xi32>, tensor<6x40xi32>, tensor<6x40xi32>
}

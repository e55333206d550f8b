// A kernel written by hand, compiled and run: no tool but atranslate and arun.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: atranslate %s -o m.so
// RUN: arun m.so --info | FileCheck %s --check-prefix=INFO
// RUN: arun m.so --random --shape x=3x4 --output-dir out --format npy
// RUN: test -s out/y.npy

// One exported symbol, no dependencies.
// RUN: llvm-nm -D m.so | FileCheck %s --check-prefix=SYMBOLS
// RUN: llvm-nm -D --undefined-only m.so | count 0
// RUN: llvm-readelf -d m.so | FileCheck %s --check-prefix=DYNAMIC
// RUN: llvm-readelf -n m.so | FileCheck %s --check-prefix=NOTE

// Temporary files are removed.
// RUN: ls | FileCheck %s --check-prefix=FILES

// The bytes do not depend on threads, folders and runs.
// RUN: mkdir other && cp %s other/kernel-text.mlir
// RUN: atranslate -j1 other/kernel-text.mlir -o other/a.so
// RUN: cd other && atranslate -j2 kernel-text.mlir -o b.so && cmp a.so b.so && cmp a.so ../m.so
// RUN: not grep -q %t b.so

// INFO: input 'x': f32 n x 4
// INFO: "kernels": 2
// SYMBOLS: T adze_module_query
// SYMBOLS-NOT: {{.}}
// DYNAMIC-NOT: NEEDED
// NOTE: Adze
// FILES: m.so
// FILES-NEXT: out
// FILES-NOT: {{.}}

#rows = affine_map<()[s0] -> (s0, 4)>
!rows = tensor<?x4xf32, #rows>

func.func private @gauss(%x: memref<?x4xf32> {adze.dims = #rows}, %w: memref<4xf32>, %y: memref<?x4xf32> {adze.dims = #rows}) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      %a = memref.load %x[%i, %j] : memref<?x4xf32>
      %b = memref.load %w[%j] : memref<4xf32>
      %c = arith.mulf %a, %b : f32
      %d = math.powf %c, %b : f32
      %e = math.atan2 %d, %b : f32
      memref.store %e, %y[%i, %j] : memref<?x4xf32>
    }
  }
  return
}

func.func @main(%x: !rows {graph.name = "x"}) -> (!rows {graph.name = "y"}) attributes {graph.symbols = ["n"]} {
  %w = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = host.launch @gauss(%x, %w) : (!rows, tensor<4xf32>) -> !rows
  %1 = host.launch @gauss(%0, %w) : (!rows, tensor<4xf32>) -> !rows
  return %1 : !rows
}

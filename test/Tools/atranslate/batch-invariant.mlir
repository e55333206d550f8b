// --batch-invariant: a row's bits do not depend on the number of rows. The 64 rows of one
// module are computed again 1 and 7 at a time by others.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: atranslate %s -o dyn.so --batch-invariant
// RUN: sed 's/?x40/64x40/g; s/?x24/64x24/g; s/, #in>/>/g; s/, #out>/>/g' %s > s64.mlir
// RUN: sed 's/?x40/1x40/g; s/?x24/1x24/g; s/, #in>/>/g; s/, #out>/>/g' %s > s1.mlir
// RUN: atranslate s64.mlir -o s64.so --batch-invariant
// RUN: atranslate s1.mlir -o s1.so --batch-invariant
// The first row of random inputs is the same for any number of rows.
// RUN: arun s64.so --random --output-dir a --format npy
// RUN: arun dyn.so --random --shape x=64x40 --expect y=a/y.npy --rtol 0 --atol 0
// RUN: arun dyn.so --random --shape x=1x40 --output-dir b && arun s1.so --random --expect y=b/y.npy --rtol 0 --atol 0
// The bytes of the first row: 24 floats after a header of 128 bytes.
// RUN: cmp -i 128 -n 96 a/y.npy b/y.npy

// The blocks do not depend on the number of rows.
// RUN: atranslate s64.mlir --emit=tile -o - --batch-invariant | FileCheck %s
// RUN: atranslate s1.mlir --emit=tile -o - --batch-invariant | FileCheck %s
// RUN: atranslate s1.mlir --emit=tile -o - | FileCheck %s --check-prefix=LOOKS
// CHECK: tile.kernel @matmul{{.*}}BLOCK_M = {{[1-9][0-9]+}} : i64
// LOOKS: tile.kernel @matmul{{.*}}BLOCK_M = 1 : i64

#in = affine_map<()[s0] -> (s0, 40)>
#out = affine_map<()[s0] -> (s0, 24)>
func.func @main(%x: tensor<?x40xf32, #in> {graph.name = "x"}) -> (tensor<?x24xf32, #out> {graph.name = "y"}) attributes {graph.symbols = ["n"]} {
  %w = graph.constant dense<0.37> : tensor<40x24xf32>
  %0 = graph.exp %x : (tensor<?x40xf32, #in>) -> tensor<?x40xf32, #in>
  %1 = graph.matmul %0, %w : (tensor<?x40xf32, #in>, tensor<40x24xf32>) -> tensor<?x24xf32, #out>
  %2 = graph.tanh %1 : (tensor<?x24xf32, #out>) -> tensor<?x24xf32, #out>
  return %2 : tensor<?x24xf32, #out>
}

// Rows that are scattered into a tensor: a negative index counts from the end, and the
// values are computed where they are stored.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: printf '\000\000\100\100\000\000\200\100\000\000\100\300\000\000\200\300' > y.bin
// RUN: printf '\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000' >> y.bin
// RUN: printf '\000\000\200\077\000\000\000\100\000\000\200\277\000\000\000\300' >> y.bin
// RUN: printf '\000\000\200\077\000\000\000\100\000\000\100\100\000\000\200\100' > x.bin
// RUN: printf '\002\000\000\000\000\000\000\000\375\377\377\377\377\377\377\377' > i.bin
// RUN: printf '\000\000\000\000' > f.bin
// RUN: atranslate known.mlir --emit=tile -o - | FileCheck %s --check-prefix=KERNEL
// RUN: atranslate known.mlir -o known.so && arun known.so --input x=x.bin --input i=i.bin --input f=f.bin --output-dir . && tail -c 48 y.npy | cmp - y.bin
// RUN: atranslate -O0 known.mlir -o known0.so && arun known0.so --input x=x.bin --input i=i.bin --input f=f.bin --output-dir . && tail -c 48 y.npy | cmp - y.bin
// KERNEL: tile.kernel @{{.*}}scatter_elements
// RUN: atranslate -O0 rows.mlir -o 0.so && atranslate rows.mlir -o 2.so
// RUN: arun 0.so --random --ids 6 --shape x=1x2x70 --output-dir .
// RUN: arun 2.so --random --ids 6 --shape x=1x2x70 --rtol 0 --atol 0 --expect y=y.npy | FileCheck %s
// RUN: arun 2.so --random --ids 6 --shape x=0x2x70 | FileCheck %s
// RUN: atranslate -O0 dynamic.mlir -o d0.so && atranslate dynamic.mlir -o d2.so
// RUN: arun d0.so --random --ids 5 --shape x=1x2x8 --shape d=5x2x16 --output-dir .
// RUN: arun d2.so --random --ids 5 --shape x=1x2x8 --shape d=5x2x16 --rtol 0 --atol 0 --expect y=y.npy | FileCheck %s
// CHECK: output 'y'

//--- known.mlir
func.func @main(%x: tensor<2x1x2xf32> {graph.name = "x"}, %i: tensor<2x1x1xi64> {graph.name = "i"}, %f: tensor<f32> {graph.name = "f"}) -> (tensor<3x1x4xf32> {graph.name = "y"}) {
  %d = graph.broadcast_to %f : (tensor<f32>) -> tensor<3x1x4xf32>
  %0 = graph.neg %x : (tensor<2x1x2xf32>) -> tensor<2x1x2xf32>
  %1 = graph.concat %x, %0 {axis = 2 : i64} : (tensor<2x1x2xf32>, tensor<2x1x2xf32>) -> tensor<2x1x4xf32>
  %2 = graph.scatter_elements %d, %i, %1 {axis = 0 : i64} : (tensor<3x1x4xf32>, tensor<2x1x1xi64>, tensor<2x1x4xf32>) -> tensor<3x1x4xf32>
  return %2 : tensor<3x1x4xf32>
}

//--- rows.mlir
#x = affine_map<()[s0] -> (s0, 2, 70)>
#w = affine_map<()[s0] -> (s0, 2, 140)>
#i = affine_map<()[s0] -> (s0, 1, 1)>
func.func @main(%x: tensor<?x2x70xf32, #x> {graph.name = "x"}, %i: tensor<?x1x1xi64, #i> {graph.name = "i"}, %f: tensor<f32> {graph.name = "f"}) -> (tensor<6x2x140xf32> {graph.name = "y"}) attributes {graph.symbols = ["n"]} {
  %d = graph.broadcast_to %f : (tensor<f32>) -> tensor<6x2x140xf32>
  %0 = graph.abs %x : (tensor<?x2x70xf32, #x>) -> tensor<?x2x70xf32, #x>
  %1 = graph.neg %x : (tensor<?x2x70xf32, #x>) -> tensor<?x2x70xf32, #x>
  %2 = graph.concat %0, %1 {axis = 2 : i64} : (tensor<?x2x70xf32, #x>, tensor<?x2x70xf32, #x>) -> tensor<?x2x140xf32, #w>
  %3 = graph.scatter_elements %d, %i, %2 {axis = 0 : i64} : (tensor<6x2x140xf32>, tensor<?x1x1xi64, #i>, tensor<?x2x140xf32, #w>) -> tensor<6x2x140xf32>
  return %3 : tensor<6x2x140xf32>
}

//--- dynamic.mlir
#x = affine_map<()[s0, s1] -> (s0, 2, 8)>
#w = affine_map<()[s0, s1] -> (s0, 2, 16)>
#i = affine_map<()[s0, s1] -> (s0, 1, 1)>
#d = affine_map<()[s0, s1] -> (s1, 2, 16)>
func.func @main(%x: tensor<?x2x8xf32, #x> {graph.name = "x"}, %i: tensor<?x1x1xi64, #i> {graph.name = "i"}, %d: tensor<?x2x16xf32, #d> {graph.name = "d"}) -> (tensor<?x2x16xf32, #d> {graph.name = "y"}) attributes {graph.symbols = ["n", "m"]} {
  %0 = graph.abs %d : (tensor<?x2x16xf32, #d>) -> tensor<?x2x16xf32, #d>
  %1 = graph.neg %x : (tensor<?x2x8xf32, #x>) -> tensor<?x2x8xf32, #x>
  %2 = graph.concat %1, %x {axis = 2 : i64} : (tensor<?x2x8xf32, #x>, tensor<?x2x8xf32, #x>) -> tensor<?x2x16xf32, #w>
  %3 = graph.scatter_elements %0, %i, %2 {axis = 0 : i64} : (tensor<?x2x16xf32, #d>, tensor<?x1x1xi64, #i>, tensor<?x2x16xf32, #w>) -> tensor<?x2x16xf32, #d>
  return %3 : tensor<?x2x16xf32, #d>
}

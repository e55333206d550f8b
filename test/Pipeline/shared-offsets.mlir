// If at least 16 kernels differ in the offsets that they read only, one is compiled with
// the offsets as symbols: slices with an epilogue, slices of a tensor of dynamic height,
// large ones that are tiled in blocks. Fewer (the slices of z) are compiled separately.
// Same results as the reference path for any number of threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2 && cd %t
// RUN: atranslate -O0 %s -o 0.so && atranslate %s -o 2.so
// RUN: arun 0.so --random --shape y=5x52 --output-dir 0
// RUN: arun 2.so --random --shape y=5x52 --threads 1 --output-dir 1 && diff -r 0 1
// RUN: arun 2.so --random --shape y=5x52 --threads 2 --output-dir 2 && diff -r 0 2
// RUN: arun 0.so --random --shape y=700x52 --output-dir 0 && arun 2.so --random --shape y=700x52 --output-dir 1 && diff -r 0 1
// RUN: atranslate %s --emit=obj -o 2.o && llvm-nm 2.o | FileCheck %s
// CHECK-DAG: v0.slice_relu_0{{$}}
// CHECK-DAG: v0.slice_relu_16{{$}}
// CHECK-DAG: slice_relu_0_anywhere
// CHECK-DAG: slice_0_anywhere.body
// CHECK-DAG: slice_17.body
// CHECK-DAG: slice_33_anywhere.body
// CHECK-NOT: slice_34.body
// CHECK-NOT: slice_relu_1.body
#y = affine_map<()[s0] -> (s0, 52)>
#p = affine_map<()[s0] -> (s0, 3)>
func.func @main(%x: tensor<4x68xf32> {graph.name = "x"}, %y: tensor<?x52xf32, #y> {graph.name = "y"}, %z: tensor<30xf32> {graph.name = "z"}, %w: tensor<2x153000xf32> {graph.name = "w"}) -> (
    tensor<4x4xf32> {graph.name = "b0"}, tensor<4x4xf32> {graph.name = "b1"}, tensor<4x4xf32> {graph.name = "b2"}, tensor<4x4xf32> {graph.name = "b3"}, tensor<4x4xf32> {graph.name = "b4"}, tensor<4x4xf32> {graph.name = "b5"}, tensor<4x4xf32> {graph.name = "b6"}, tensor<4x4xf32> {graph.name = "b7"}, tensor<4x4xf32> {graph.name = "b8"}, tensor<4x4xf32> {graph.name = "b9"}, tensor<4x4xf32> {graph.name = "b10"}, tensor<4x4xf32> {graph.name = "b11"}, tensor<4x4xf32> {graph.name = "b12"}, tensor<4x4xf32> {graph.name = "b13"}, tensor<4x4xf32> {graph.name = "b14"}, tensor<4x4xf32> {graph.name = "b15"}, tensor<4x4xf32> {graph.name = "b16"}, tensor<?x3xf32, #p> {graph.name = "c0"}, tensor<?x3xf32, #p> {graph.name = "c1"}, tensor<?x3xf32, #p> {graph.name = "c2"}, tensor<?x3xf32, #p> {graph.name = "c3"}, tensor<?x3xf32, #p> {graph.name = "c4"}, tensor<?x3xf32, #p> {graph.name = "c5"}, tensor<?x3xf32, #p> {graph.name = "c6"}, tensor<?x3xf32, #p> {graph.name = "c7"}, tensor<?x3xf32, #p> {graph.name = "c8"}, tensor<?x3xf32, #p> {graph.name = "c9"}, tensor<?x3xf32, #p> {graph.name = "c10"}, tensor<?x3xf32, #p> {graph.name = "c11"}, tensor<?x3xf32, #p> {graph.name = "c12"}, tensor<?x3xf32, #p> {graph.name = "c13"}, tensor<?x3xf32, #p> {graph.name = "c14"}, tensor<?x3xf32, #p> {graph.name = "c15"}, tensor<?x3xf32, #p> {graph.name = "c16"}, tensor<2xf32> {graph.name = "d0"}, tensor<2xf32> {graph.name = "d1"}, tensor<2xf32> {graph.name = "d2"}, tensor<2xf32> {graph.name = "d3"}, tensor<2xf32> {graph.name = "d4"}, tensor<2xf32> {graph.name = "d5"}, tensor<2xf32> {graph.name = "d6"}, tensor<2xf32> {graph.name = "d7"}, tensor<2xf32> {graph.name = "d8"}, tensor<2xf32> {graph.name = "d9"}, tensor<2xf32> {graph.name = "d10"}, tensor<2xf32> {graph.name = "d11"}, tensor<2xf32> {graph.name = "d12"}, tensor<2xf32> {graph.name = "d13"}, tensor<2xf32> {graph.name = "d14"}, tensor<2x9000xf32> {graph.name = "e0"}, tensor<2x9000xf32> {graph.name = "e1"}, tensor<2x9000xf32> {graph.name = "e2"}, tensor<2x9000xf32> {graph.name = "e3"}, tensor<2x9000xf32> {graph.name = "e4"}, tensor<2x9000xf32> {graph.name = "e5"}, tensor<2x9000xf32> {graph.name = "e6"}, tensor<2x9000xf32> {graph.name = "e7"}, tensor<2x9000xf32> {graph.name = "e8"}, tensor<2x9000xf32> {graph.name = "e9"}, tensor<2x9000xf32> {graph.name = "e10"}, tensor<2x9000xf32> {graph.name = "e11"}, tensor<2x9000xf32> {graph.name = "e12"}, tensor<2x9000xf32> {graph.name = "e13"}, tensor<2x9000xf32> {graph.name = "e14"}, tensor<2x9000xf32> {graph.name = "e15"}, tensor<2x9000xf32> {graph.name = "e16"})
    attributes {graph.symbols = ["n"]} {
  %a0 = graph.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<4x68xf32>) -> tensor<4x4xf32>
  %b0 = graph.relu %a0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a1 = graph.slice %x {starts = array<i64: 0, 4>, steps = array<i64: 1, 1>} : (tensor<4x68xf32>) -> tensor<4x4xf32>
  %b1 = graph.relu %a1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a2 = graph.slice %x {starts = array<i64: 0, 8>, steps = array<i64: 1, 1>} : (tensor<4x68xf32>) -> tensor<4x4xf32>
  %b2 = graph.relu %a2 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a3 = graph.slice %x {starts = array<i64: 0, 12>, steps = array<i64: 1, 1>} : (tensor<4x68xf32>) -> tensor<4x4xf32>
  %b3 = graph.relu %a3 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a4 = graph.slice %x {starts = array<i64: 0, 16>, steps = array<i64: 1, 1>} : (tensor<4x68xf32>) -> tensor<4x4xf32>
  %b4 = graph.relu %a4 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a5 = graph.slice %x {starts = array<i64: 0, 20>, steps = array<i64: 1, 1>} : (tensor<4x68xf32>) -> tensor<4x4xf32>
  %b5 = graph.relu %a5 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a6 = graph.slice %x {starts = array<i64: 0, 24>, steps = array<i64: 1, 1>} : (tensor<4x68xf32>) -> tensor<4x4xf32>
  %b6 = graph.relu %a6 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a7 = graph.slice %x {starts = array<i64: 0, 28>, steps = array<i64: 1, 1>} : (tensor<4x68xf32>) -> tensor<4x4xf32>
  %b7 = graph.relu %a7 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a8 = graph.slice %x {starts = array<i64: 0, 32>, steps = array<i64: 1, 1>} : (tensor<4x68xf32>) -> tensor<4x4xf32>
  %b8 = graph.relu %a8 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a9 = graph.slice %x {starts = array<i64: 0, 36>, steps = array<i64: 1, 1>} : (tensor<4x68xf32>) -> tensor<4x4xf32>
  %b9 = graph.relu %a9 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a10 = graph.slice %x {starts = array<i64: 0, 40>, steps = array<i64: 1, 1>} : (tensor<4x68xf32>) -> tensor<4x4xf32>
  %b10 = graph.relu %a10 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a11 = graph.slice %x {starts = array<i64: 0, 44>, steps = array<i64: 1, 1>} : (tensor<4x68xf32>) -> tensor<4x4xf32>
  %b11 = graph.relu %a11 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a12 = graph.slice %x {starts = array<i64: 0, 48>, steps = array<i64: 1, 1>} : (tensor<4x68xf32>) -> tensor<4x4xf32>
  %b12 = graph.relu %a12 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a13 = graph.slice %x {starts = array<i64: 0, 52>, steps = array<i64: 1, 1>} : (tensor<4x68xf32>) -> tensor<4x4xf32>
  %b13 = graph.relu %a13 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a14 = graph.slice %x {starts = array<i64: 0, 56>, steps = array<i64: 1, 1>} : (tensor<4x68xf32>) -> tensor<4x4xf32>
  %b14 = graph.relu %a14 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a15 = graph.slice %x {starts = array<i64: 0, 60>, steps = array<i64: 1, 1>} : (tensor<4x68xf32>) -> tensor<4x4xf32>
  %b15 = graph.relu %a15 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %a16 = graph.slice %x {starts = array<i64: 0, 64>, steps = array<i64: 1, 1>} : (tensor<4x68xf32>) -> tensor<4x4xf32>
  %b16 = graph.relu %a16 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c0 = graph.slice %y {starts = array<i64: 0, 1>, steps = array<i64: 1, 1>} : (tensor<?x52xf32, #y>) -> tensor<?x3xf32, #p>
  %c1 = graph.slice %y {starts = array<i64: 0, 4>, steps = array<i64: 1, 1>} : (tensor<?x52xf32, #y>) -> tensor<?x3xf32, #p>
  %c2 = graph.slice %y {starts = array<i64: 0, 7>, steps = array<i64: 1, 1>} : (tensor<?x52xf32, #y>) -> tensor<?x3xf32, #p>
  %c3 = graph.slice %y {starts = array<i64: 0, 10>, steps = array<i64: 1, 1>} : (tensor<?x52xf32, #y>) -> tensor<?x3xf32, #p>
  %c4 = graph.slice %y {starts = array<i64: 0, 13>, steps = array<i64: 1, 1>} : (tensor<?x52xf32, #y>) -> tensor<?x3xf32, #p>
  %c5 = graph.slice %y {starts = array<i64: 0, 16>, steps = array<i64: 1, 1>} : (tensor<?x52xf32, #y>) -> tensor<?x3xf32, #p>
  %c6 = graph.slice %y {starts = array<i64: 0, 19>, steps = array<i64: 1, 1>} : (tensor<?x52xf32, #y>) -> tensor<?x3xf32, #p>
  %c7 = graph.slice %y {starts = array<i64: 0, 22>, steps = array<i64: 1, 1>} : (tensor<?x52xf32, #y>) -> tensor<?x3xf32, #p>
  %c8 = graph.slice %y {starts = array<i64: 0, 25>, steps = array<i64: 1, 1>} : (tensor<?x52xf32, #y>) -> tensor<?x3xf32, #p>
  %c9 = graph.slice %y {starts = array<i64: 0, 28>, steps = array<i64: 1, 1>} : (tensor<?x52xf32, #y>) -> tensor<?x3xf32, #p>
  %c10 = graph.slice %y {starts = array<i64: 0, 31>, steps = array<i64: 1, 1>} : (tensor<?x52xf32, #y>) -> tensor<?x3xf32, #p>
  %c11 = graph.slice %y {starts = array<i64: 0, 34>, steps = array<i64: 1, 1>} : (tensor<?x52xf32, #y>) -> tensor<?x3xf32, #p>
  %c12 = graph.slice %y {starts = array<i64: 0, 37>, steps = array<i64: 1, 1>} : (tensor<?x52xf32, #y>) -> tensor<?x3xf32, #p>
  %c13 = graph.slice %y {starts = array<i64: 0, 40>, steps = array<i64: 1, 1>} : (tensor<?x52xf32, #y>) -> tensor<?x3xf32, #p>
  %c14 = graph.slice %y {starts = array<i64: 0, 43>, steps = array<i64: 1, 1>} : (tensor<?x52xf32, #y>) -> tensor<?x3xf32, #p>
  %c15 = graph.slice %y {starts = array<i64: 0, 46>, steps = array<i64: 1, 1>} : (tensor<?x52xf32, #y>) -> tensor<?x3xf32, #p>
  %c16 = graph.slice %y {starts = array<i64: 0, 49>, steps = array<i64: 1, 1>} : (tensor<?x52xf32, #y>) -> tensor<?x3xf32, #p>
  %d0 = graph.slice %z {starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<30xf32>) -> tensor<2xf32>
  %d1 = graph.slice %z {starts = array<i64: 2>, steps = array<i64: 1>} : (tensor<30xf32>) -> tensor<2xf32>
  %d2 = graph.slice %z {starts = array<i64: 4>, steps = array<i64: 1>} : (tensor<30xf32>) -> tensor<2xf32>
  %d3 = graph.slice %z {starts = array<i64: 6>, steps = array<i64: 1>} : (tensor<30xf32>) -> tensor<2xf32>
  %d4 = graph.slice %z {starts = array<i64: 8>, steps = array<i64: 1>} : (tensor<30xf32>) -> tensor<2xf32>
  %d5 = graph.slice %z {starts = array<i64: 10>, steps = array<i64: 1>} : (tensor<30xf32>) -> tensor<2xf32>
  %d6 = graph.slice %z {starts = array<i64: 12>, steps = array<i64: 1>} : (tensor<30xf32>) -> tensor<2xf32>
  %d7 = graph.slice %z {starts = array<i64: 14>, steps = array<i64: 1>} : (tensor<30xf32>) -> tensor<2xf32>
  %d8 = graph.slice %z {starts = array<i64: 16>, steps = array<i64: 1>} : (tensor<30xf32>) -> tensor<2xf32>
  %d9 = graph.slice %z {starts = array<i64: 18>, steps = array<i64: 1>} : (tensor<30xf32>) -> tensor<2xf32>
  %d10 = graph.slice %z {starts = array<i64: 20>, steps = array<i64: 1>} : (tensor<30xf32>) -> tensor<2xf32>
  %d11 = graph.slice %z {starts = array<i64: 22>, steps = array<i64: 1>} : (tensor<30xf32>) -> tensor<2xf32>
  %d12 = graph.slice %z {starts = array<i64: 24>, steps = array<i64: 1>} : (tensor<30xf32>) -> tensor<2xf32>
  %d13 = graph.slice %z {starts = array<i64: 26>, steps = array<i64: 1>} : (tensor<30xf32>) -> tensor<2xf32>
  %d14 = graph.slice %z {starts = array<i64: 28>, steps = array<i64: 1>} : (tensor<30xf32>) -> tensor<2xf32>
  %e0 = graph.slice %w {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<2x153000xf32>) -> tensor<2x9000xf32>
  %e1 = graph.slice %w {starts = array<i64: 0, 9000>, steps = array<i64: 1, 1>} : (tensor<2x153000xf32>) -> tensor<2x9000xf32>
  %e2 = graph.slice %w {starts = array<i64: 0, 18000>, steps = array<i64: 1, 1>} : (tensor<2x153000xf32>) -> tensor<2x9000xf32>
  %e3 = graph.slice %w {starts = array<i64: 0, 27000>, steps = array<i64: 1, 1>} : (tensor<2x153000xf32>) -> tensor<2x9000xf32>
  %e4 = graph.slice %w {starts = array<i64: 0, 36000>, steps = array<i64: 1, 1>} : (tensor<2x153000xf32>) -> tensor<2x9000xf32>
  %e5 = graph.slice %w {starts = array<i64: 0, 45000>, steps = array<i64: 1, 1>} : (tensor<2x153000xf32>) -> tensor<2x9000xf32>
  %e6 = graph.slice %w {starts = array<i64: 0, 54000>, steps = array<i64: 1, 1>} : (tensor<2x153000xf32>) -> tensor<2x9000xf32>
  %e7 = graph.slice %w {starts = array<i64: 0, 63000>, steps = array<i64: 1, 1>} : (tensor<2x153000xf32>) -> tensor<2x9000xf32>
  %e8 = graph.slice %w {starts = array<i64: 0, 72000>, steps = array<i64: 1, 1>} : (tensor<2x153000xf32>) -> tensor<2x9000xf32>
  %e9 = graph.slice %w {starts = array<i64: 0, 81000>, steps = array<i64: 1, 1>} : (tensor<2x153000xf32>) -> tensor<2x9000xf32>
  %e10 = graph.slice %w {starts = array<i64: 0, 90000>, steps = array<i64: 1, 1>} : (tensor<2x153000xf32>) -> tensor<2x9000xf32>
  %e11 = graph.slice %w {starts = array<i64: 0, 99000>, steps = array<i64: 1, 1>} : (tensor<2x153000xf32>) -> tensor<2x9000xf32>
  %e12 = graph.slice %w {starts = array<i64: 0, 108000>, steps = array<i64: 1, 1>} : (tensor<2x153000xf32>) -> tensor<2x9000xf32>
  %e13 = graph.slice %w {starts = array<i64: 0, 117000>, steps = array<i64: 1, 1>} : (tensor<2x153000xf32>) -> tensor<2x9000xf32>
  %e14 = graph.slice %w {starts = array<i64: 0, 126000>, steps = array<i64: 1, 1>} : (tensor<2x153000xf32>) -> tensor<2x9000xf32>
  %e15 = graph.slice %w {starts = array<i64: 0, 135000>, steps = array<i64: 1, 1>} : (tensor<2x153000xf32>) -> tensor<2x9000xf32>
  %e16 = graph.slice %w {starts = array<i64: 0, 144000>, steps = array<i64: 1, 1>} : (tensor<2x153000xf32>) -> tensor<2x9000xf32>
  return %b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7, %b8, %b9, %b10, %b11, %b12, %b13, %b14, %b15, %b16, %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7, %c8, %c9, %c10, %c11, %c12, %c13, %c14, %c15, %c16, %d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7, %d8, %d9, %d10, %d11, %d12, %d13, %d14, %e0, %e1, %e2, %e3, %e4, %e5, %e6, %e7, %e8, %e9, %e10, %e11, %e12, %e13, %e14, %e15, %e16 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<?x3xf32, #p>, tensor<?x3xf32, #p>, tensor<?x3xf32, #p>, tensor<?x3xf32, #p>, tensor<?x3xf32, #p>, tensor<?x3xf32, #p>, tensor<?x3xf32, #p>, tensor<?x3xf32, #p>, tensor<?x3xf32, #p>, tensor<?x3xf32, #p>, tensor<?x3xf32, #p>, tensor<?x3xf32, #p>, tensor<?x3xf32, #p>, tensor<?x3xf32, #p>, tensor<?x3xf32, #p>, tensor<?x3xf32, #p>, tensor<?x3xf32, #p>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x9000xf32>, tensor<2x9000xf32>, tensor<2x9000xf32>, tensor<2x9000xf32>, tensor<2x9000xf32>, tensor<2x9000xf32>, tensor<2x9000xf32>, tensor<2x9000xf32>, tensor<2x9000xf32>, tensor<2x9000xf32>, tensor<2x9000xf32>, tensor<2x9000xf32>, tensor<2x9000xf32>, tensor<2x9000xf32>, tensor<2x9000xf32>, tensor<2x9000xf32>, tensor<2x9000xf32>
}

// Texts of stages are inputs: the constants that the compiler computed stay in the folder,
// which may be moved.
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: atranslate %s --dump-phases=%t.dir/one -o %t.dir/m.so
// RUN: mv %t.dir/one %t.dir/two
// RUN: FileCheck %s --input-file=%t.dir/two/2-tile.mlir
// RUN: atranslate %t.dir/two/1-graph.mlir -o %t.dir/graph.so
// RUN: atranslate %t.dir/two/2-tile.mlir -o %t.dir/tile.so
// RUN: atranslate %t.dir/two/3-linalg.mlir -o %t.dir/linalg.so
// RUN: atranslate %t.dir/two/4-host.mlir -o %t.dir/host.so
// RUN: atranslate %t.dir/two/6-llvm.mlir -o %t.dir/llvm.so
// RUN: aopt %t.dir/two/4-host.mlir -o /dev/null
// RUN: arun %t.dir/m.so --random --seed=1 --output-dir %t.dir/first
// RUN: arun %t.dir/graph.so --random --seed=1 --output-dir %t.dir/again && diff -r %t.dir/first %t.dir/again
// RUN: arun %t.dir/tile.so --random --seed=1 --output-dir %t.dir/again && diff -r %t.dir/first %t.dir/again
// RUN: arun %t.dir/linalg.so --random --seed=1 --output-dir %t.dir/again && diff -r %t.dir/first %t.dir/again
// RUN: arun %t.dir/host.so --random --seed=1 --output-dir %t.dir/again && diff -r %t.dir/first %t.dir/again
// RUN: arun %t.dir/llvm.so --random --seed=1 --output-dir %t.dir/again && diff -r %t.dir/first %t.dir/again

// If no constant is computed, there is no such file.
// RUN: atranslate %examples/models/tour.onnx --dump-phases=%t.dir/three -o %t.dir/tour.so
// RUN: ls %t.dir/three | FileCheck %s --check-prefix=NONE --implicit-check-not=weights
// NONE: 0-import.mlir

// CHECK: #graph.blob<"constants.weights", 0, 65536
func.func @main(%x: tensor<4x128xf32> {adze.name = "x"}) -> (tensor<4x128xf32> {adze.name = "y"}) {
  %a = graph.constant dense<0.0> : tensor<f32>
  %b = graph.constant dense<16384.0> : tensor<f32>
  %c = graph.constant dense<1.0> : tensor<f32>
  %r = graph.range %a, %b, %c : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<16384xf32>
  %w = graph.reshape %r : (tensor<16384xf32>) -> tensor<128x128xf32>
  %y = graph.matmul %x, %w : (tensor<4x128xf32>, tensor<128x128xf32>) -> tensor<4x128xf32>
  return %y : tensor<4x128xf32>
}

// A module for CPUs and GPUs has a program for each: that for CPUs is, after each stage,
// the one of a module for CPUs only.
// RUN: rm -rf %t && mkdir -p %t/one %t/two
// RUN: cd %t/one && atranslate %s --mcpu=x86-64-v3 --target=cpu --emit=llvm --dump-phases=. -o m.mlir
// RUN: cd %t/two && atranslate %s --mcpu=x86-64-v3 --target=cpu --target=cuda:sm_90a --emit=llvm --dump-phases=. -o m.mlir
// RUN: cd %t/one && for f in [0-9]*.mlir; do diff $f %t/two/$f || exit 1; done
// RUN: ls %t/two | FileCheck %s --check-prefix=FILES
// RUN: FileCheck %s --check-prefix=CPU < %t/two/2-tile.mlir
// RUN: FileCheck %s --check-prefix=GPU < %t/two/2-devices.tile.mlir

// FILES: 0-import.mlir
// FILES: 1-devices.graph.mlir
// FILES: 1-graph.mlir
// FILES: 6-devices.llvm.mlir
// FILES: 6-llvm.mlir

// Planes, Winograd and chains are choices for CPUs.
// CPU: tile.targets = [#tile.cpu<
// CPU-NOT: #tile.cuda
// GPU: tile.targets = [#tile.cuda<
// GPU: BLOCK_Y

// The text of all programs is one module, and can be compiled for any of them.
// RUN: atranslate %s --mcpu=x86-64-v3 --target=cpu --target=cuda:sm_90a --emit=tile -o %t/both.mlir
// RUN: FileCheck %s --check-prefix=BOTH < %t/both.mlir
// RUN: atranslate %t/both.mlir --mcpu=x86-64-v3 --target=cpu -o %t/cpu.so && arun %t/cpu.so --random
// RUN: atranslate %t/both.mlir --target=cuda:sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=PTX
// RUN: atranslate %s --target=cpu --target=cuda:sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=PTX
// BOTH: module {
// BOTH: module attributes {tile.targets = [#tile.cpu<
// BOTH: tile.kernel
// BOTH: module attributes {tile.targets = [#tile.cuda<
// BOTH: tile.kernel
// PTX: wgmma

// RUN: printf 'module { module {} }' > %t/none.mlir
// RUN: atranslate %t/none.mlir --target=cuda:sm_90a -o %t/none.so 2> %t/err; test $? = 1
// RUN: FileCheck %s --check-prefix=NONE < %t/err
// NONE: error: {{.*}}expected the text to have a module for GPUs (#tile.cuda)

// Weights that both have are stored once; the filter's panels differ.
// RUN: atranslate %s --mcpu=x86-64-v3 --target=cpu -o %t/one.so && atranslate %s --target=cuda:sm_90a -o %t/gpu.so
// RUN: atranslate %s --mcpu=x86-64-v3 --target=cpu --target=cuda:sm_90a -o %t/two.so
// RUN: arun %t/two.so --info --json | FileCheck %s --check-prefix=INFO
// INFO: "variants": [{"name": "x86-64-v3"
// INFO: "device_images": [{"target": "cuda:sm_90a"

func.func @main(%x: tensor<1x64x56x56xf16> {graph.name = "x"}) -> (tensor<1x16x14x14xf16> {graph.name = "y"}) {
  %from = graph.constant dense<0.0> : tensor<f32>
  %to = graph.constant dense<9216.0> : tensor<f32>
  %by = graph.constant dense<1.0> : tensor<f32>
  %0 = graph.range %from, %to, %by : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<9216xf32>
  %1 = graph.sin %0 : (tensor<9216xf32>) -> tensor<9216xf32>
  %2 = graph.reshape %1 : (tensor<9216xf32>) -> tensor<16x64x3x3xf32>
  %w = graph.cast %2 : (tensor<16x64x3x3xf32>) -> tensor<16x64x3x3xf16>
  %p = graph.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x64x56x56xf16>) -> tensor<1x64x28x28xf16>
  %3 = graph.conv %p, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x28x28xf16>, tensor<16x64x3x3xf16>) -> tensor<1x16x28x28xf16>
  %4 = graph.relu %3 : (tensor<1x16x28x28xf16>) -> tensor<1x16x28x28xf16>
  %5 = graph.max_pool %4 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x16x28x28xf16>) -> tensor<1x16x14x14xf16>
  return %5 : tensor<1x16x14x14xf16>
}

// The pipeline of device code, and a module for a device alone.
// RUN: aopt %s --adze-graph --adze-tile --adze-cuda | FileCheck %s
// RUN: not aopt %s --adze-cuda=target=cuda:sm_1 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: atranslate %s --target=cuda:sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=PTX
// RUN: atranslate %s --emit=ptx -o - 2> %t.err; test $? = 2
// RUN: FileCheck %s --check-prefix=USAGE < %t.err
// RUN: atranslate %s --target=cpu --emit=ptx -o - 2> %t.err; test $? = 2
// RUN: atranslate %s --target=cuda:sm_1 --emit=ptx -o - 2> %t.err; test $? = 2

// CHECK: gpu.module
// CHECK: llvm.func @[[KERNEL:[a-z]*matmul[a-z0-9_]*]](%{{.*}}: !llvm.ptr<1>
// CHECK-SAME: adze.threads
// CHECK: llvm.call_intrinsic "llvm.fma"
// CHECK: llvm.func @[[KERNEL]]_cuda_programs(
// CHECK-NOT: tile.kernel
// TARGET: sm_1
// PTX: .target sm_90a
// PTX: .entry
// PTX: fma.rn.f32
// USAGE: error: --emit=ptx needs a --target=cuda:sm_NN

// The module has no kernel for a CPU, and requesting one fails.
// RUN: atranslate %s --target=cuda:sm_90a -o %t.so
// RUN: arun %t.so --info --json | FileCheck %s --check-prefix=INFO
// RUN: llvm-nm -D --undefined-only %t.so | count 0
// RUN: not arun %t.so --random 2>&1 | FileCheck %s --check-prefix=CPU
// INFO: "variants": []
// INFO: "device_images": [{{.*}}"cuda:sm_90a"
// CPU: module has no code for cpu that runs here; it has cuda:sm_90a

// Kernels without device code require a CPU target as well, and the flag.
// RUN: atranslate %s -O0 --target=cuda:sm_90a --target=cpu -o %t.0.so 2> %t.err; test $? = 1
// RUN: FileCheck %s --check-prefix=REFUSED < %t.err
// RUN: atranslate %s -O0 --target=cuda:sm_90a --target=cpu --allow-host-fallback -o %t.0.so && arun %t.0.so --random
// REFUSED: error: {{.*}}kernel '{{.*}}' has no code for cuda:sm_90a: {{.*}}; --target=cpu with --allow-host-fallback runs it on the CPU

func.func @main(%x: tensor<8x16xf32> {graph.name = "x"}) -> (tensor<8x4xf32> {graph.name = "y"}) {
  %w = graph.constant dense<0.5> : tensor<16x4xf32>
  %0 = graph.matmul %x, %w : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %1 = graph.relu %0 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// A toolkit that is set but missing: PTX, which the driver assembles.
// RUN: env CUDA_HOME=%t.none atranslate %s -v --target=cuda:sm_90a -o %t.p.so 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: arun %t.p.so --info --json | FileCheck %s --check-prefix=INFO
// RUN: grep -c '.target sm_90a' %t.p.so
// NONE: remark: {{.*}}no ptxas was found: the module has PTX

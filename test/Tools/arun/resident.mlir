// --bench on a device times runs whose tensors stay there, or with copies. The driver is
// a fake one.
// RUN: atranslate %s -O0 --target=cuda:sm_90a --target=cpu --allow-host-fallback -o %t.so
// DEFINE: %{bench} = env LD_LIBRARY_PATH=%fake_cuda arun %t.so --random --bench --iterations 3 --device cuda:0
// RUN: rm -rf %t && arun %t.so --random --output-dir %t
// RUN: %{bench} --expect y=%t/y.npy | FileCheck %s --check-prefix=RESIDENT
// RUN: %{bench} --resident --json | FileCheck %s --check-prefix=JSON
// RUN: %{bench} --with-copies --expect y=%t/y.npy | FileCheck %s --check-prefix=COPIES
// RESIDENT: output 'y': f32 4x8: max error 0
// RESIDENT: latency of 3 runs, ms: {{.*}}, tensors on the device
// JSON: "device": "cuda:0", "resident": true, "threads": 1}
// COPIES: latency of 3 runs, ms: {{.*}}, with copies
// On a CPU the flags have no effect.
// RUN: arun %t.so --random --bench --iterations 3 --resident | FileCheck %s --check-prefix=CPU
// RUN: arun %t.so --random --bench --iterations 3 --with-copies | FileCheck %s --check-prefix=CPU
// CPU: latency of 3 runs, ms: {{.*}} mean {{[0-9.e-]+$}}
// RUN: sh -c 'arun %t.so --random --with-copies; [ $? = 2 ]' 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: sh -c 'arun %t.so --random --bench --with-copies --resident; [ $? = 2 ]' 2>&1 | FileCheck %s --check-prefix=BOTH
// ALONE: arun: --with-copies: expected --bench
// BOTH: arun: --resident: does not go with --with-copies
func.func @main(%x: tensor<4x8xf32> {graph.name = "x"}) -> (tensor<4x8xf32> {graph.name = "y"}) {
  %y = graph.relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Kernels whose results use non-temporal stores: same results as the reference path, for
// large and small sizes, and the same bits on one and two threads.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s --mcache=64K,64K -o %t/1.so
// DEFINE: %{n} = 1003
// DEFINE: %{check} = arun %t/0.so --random --shape x=%{n}x64 --output-dir %t/0 && \
// DEFINE:   arun %t/1.so --random --shape x=%{n}x64 --threads 1 --output-dir %t/1 --rtol 1e-4 --atol 1e-6 --expect y=%t/0/y.npy --expect z=%t/0/z.npy && \
// DEFINE:   arun %t/1.so --random --shape x=%{n}x64 --threads 2 --output-dir %t/2 && \
// DEFINE:   diff -r %t/1 %t/2
// RUN: %{check}
// REDEFINE: %{n} = 3
// RUN: %{check}
// RUN: llvm-objdump -d %t/1.so | FileCheck %s
// CHECK: {{vmovntps|movntps}}

#x = affine_map<()[s0] -> (s0, 64)>
func.func @main(%x: tensor<?x64xf32, #x> {graph.name = "x"})
    -> (tensor<?x64xf32, #x> {graph.name = "y"}, tensor<?x64xf32, #x> {graph.name = "z"})
    attributes {graph.symbols = ["n"]} {
  %0 = graph.softmax %x {axis = 1 : i64} : (tensor<?x64xf32, #x>) -> tensor<?x64xf32, #x>
  %1 = graph.exp %x : (tensor<?x64xf32, #x>) -> tensor<?x64xf32, #x>
  return %0, %1 : tensor<?x64xf32, #x>, tensor<?x64xf32, #x>
}

// Twenty layers that differ in a number have the kernels of one, at -O0 and at -O2, and
// the results of a model whose numbers are an input.
// RUN: rm -rf %t && mkdir -p %t
// RUN: awk -v n=20 -f %S/Inputs/layers.awk >%t/m.mlir
// RUN: awk -v n=20 -v input=1 -f %S/Inputs/layers.awk >%t/input.mlir
// RUN: atranslate %s -o %t/c.so && arun %t/c.so --output-dir %t
// RUN: atranslate %t/m.mlir -O0 -o %t/0.so --stats 2>&1 | FileCheck %s --check-prefix=O0
// RUN: atranslate %t/m.mlir -o %t/2.so --stats 2>&1 | FileCheck %s --check-prefix=O2
// RUN: atranslate %t/input.mlir -O0 -o %t/i.so
// RUN: arun %t/i.so --random --input c=%t/c.npy --output-dir %t
// RUN: arun %t/0.so --random --range-tol 1e-5 --expect y=%t/y.npy
// RUN: arun %t/2.so --random --range-tol 1e-5 --expect y=%t/y.npy

// O0: graph-outline-clusters: kernels = 2
// O0: graph-share-kernels: saved = 19
// O2: graph-outline-clusters: kernels = 3
// O2: graph-share-kernels: saved = 17
func.func @main() -> (tensor<20x1xf32> {graph.name = "c"}) {
  %0 = graph.constant dense<[[9.050], [9.175], [9.300], [9.425], [9.550], [9.675], [9.800], [9.925], [10.050], [10.175], [10.300], [10.425], [10.550], [10.675], [10.800], [10.925], [11.050], [11.175], [11.300], [11.425]]> : tensor<20x1xf32>
  return %0 : tensor<20x1xf32>
}

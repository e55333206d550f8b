// Text with computed constants requires a file for these: OUT.weights.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: atranslate %S/Inputs/cumulative-sum.mlir --emit=graph -o - > out 2> err; test $? = 2
// RUN: FileCheck %s < err && count 0 < out
// CHECK: error: expected -o FILE, but got -o -: the text has constants that the compiler computed, which go to FILE.weights
// RUN: atranslate %S/Inputs/cumulative-sum.mlir --emit=graph -o m.mlir
// RUN: ls | FileCheck %s --check-prefix=FILES
// FILES: m.mlir
// FILES-NEXT: m.weights
// RUN: atranslate m.mlir -o m.so && arun m.so --random --output-dir out.d
// Without such constants it can be printed.
// RUN: atranslate %S/Inputs/cumulative-sum.mlir -O0 --emit=graph -o - | FileCheck %s --check-prefix=TEXT
// TEXT: graph.cumsum

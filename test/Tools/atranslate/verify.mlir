// --verify=differential compares the module with -O0.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: atranslate %s -o m.so --verify=differential && arun m.so --random --shape x=3x4
// RUN: atranslate %s -O0 -o m.so --verify=differential
// RUN: atranslate %s -o m.so --verify=none --inject-fault && test -s m.so

// A module with different results is reported and removed.
// RUN: atranslate %s -o m.so --weights=file --verify=differential --inject-fault 2> err; test $? = 70
// RUN: FileCheck %s < err
// RUN: ls | FileCheck %s --check-prefix=FILES
// CHECK: error: {{.*}}verify.mlir: the module differs from the reference path (seed 1, dynamic dims near 5): output '{{[yn]}}': {{.*}} expected {{.*}}, but got
// FILES: err
// FILES-NOT: m.

// RUN: atranslate %s -o - --emit=tile --verify=differential 2> err; test $? = 2
// RUN: FileCheck %s --check-prefix=USAGE < err
// RUN: atranslate %s -o m.so --verify=all 2> err; test $? = 2
// RUN: atranslate %s -o m.so --mtriple=aarch64-linux-gnu --mcpu=generic --verify=differential 2> err; test $? = 3
// RUN: FileCheck %s --check-prefix=ELSEWHERE < err
// USAGE: error: --verify=differential needs --emit=so
// ELSEWHERE: error: unsupported: --verify=differential of a module that does not run here

#in = affine_map<()[s0] -> (s0, 4)>
func.func @main(%x: tensor<?x4xf32, #in> {graph.name = "x"}, %i: tensor<?x4xi64, #in> {graph.name = "i"})
    -> (tensor<?x4xf32, #in> {graph.name = "y"}, tensor<?x4xi64, #in> {graph.name = "n"}) attributes {graph.symbols = ["n"]} {
  %0 = graph.exp %x : (tensor<?x4xf32, #in>) -> tensor<?x4xf32, #in>
  %1 = graph.add %0, %x : (tensor<?x4xf32, #in>, tensor<?x4xf32, #in>) -> tensor<?x4xf32, #in>
  %2 = graph.add %i, %i : (tensor<?x4xi64, #in>, tensor<?x4xi64, #in>) -> tensor<?x4xi64, #in>
  return %1, %2 : tensor<?x4xf32, #in>, tensor<?x4xi64, #in>
}

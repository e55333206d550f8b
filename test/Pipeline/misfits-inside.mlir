// Sizes that do not fit in a branch or in a loop, or are data-dependent: the run ends
// with an error where they are reached, at every level, and only then; otherwise kernels
// would access memory beyond the end of a tensor.
// RUN: rm -rf %t && mkdir -p %t && printf '\0' > %t/no.bin && printf '\1' > %t/yes.bin
// RUN: for n in 0 1 2 3; do printf '\00'$n'\0\0\0\0\0\0\0' > %t/$n.bin; done
// RUN: printf '\020\0\0\0\0\0\0\0' > %t/16.bin
// RUN: for o in 0 2 3; do atranslate -O$o %s -o %t/$o.so || exit 1; done
// Sizes that fit have the same results at all levels.
// RUN: arun %t/0.so --random --shape x=16 --input c=%t/yes.bin --input n=%t/2.bin --input m=%t/16.bin --output-dir %t
// RUN: for o in 2 3; do arun %t/$o.so --random --shape x=16 --input c=%t/yes.bin --input n=%t/2.bin --input m=%t/16.bin --expect branch=%t/branch.npy --expect loop=%t/loop.npy --expect data=%t/data.npy --expect cut=%t/cut.npy || exit 1; done
// A misfit in code that does not run is not an error: the other branch, a loop without
// iterations.
// RUN: for o in 0 2 3; do for x in 1 2 7; do arun %t/$o.so --random --shape x=$x --input c=%t/no.bin --input n=%t/0.bin --input m=%t/1.bin || exit 1; done; done
// In the branch that runs; and a slice of a tensor that is too short.
// RUN: for o in 0 2 3; do for x in 7 2; do not arun %t/$o.so --random --shape x=$x --input c=%t/yes.bin --input n=%t/0.bin --input m=%t/1.bin 2> %t/error && FileCheck %s < %t/error || exit 1; done; done
// In the first iteration.
// RUN: for o in 0 2 3; do not arun %t/$o.so --random --shape x=7 --input c=%t/no.bin --input n=%t/1.bin --input m=%t/1.bin 2> %t/error && FileCheck %s < %t/error || exit 1; done
// Data-dependent.
// RUN: for o in 0 2 3; do for m in 0 2 3; do not arun %t/$o.so --random --shape x=16 --input c=%t/no.bin --input n=%t/0.bin --input m=%t/$m.bin 2> %t/error && FileCheck %s < %t/error || exit 1; done; done
// CHECK: error: {{.*}}expected {{shapes that broadcast|larger sizes}}

#n = affine_map<()[s0] -> (s0)>
#cut = affine_map<()[s0] -> (s0 - 3)>
#m = affine_map<()[s0, s1] -> (s1)>
func.func @main(%x: tensor<?xf32, #n> {graph.name = "x"}, %c: tensor<i1> {graph.name = "c"}, %n: tensor<i64> {graph.name = "n"}, %m: tensor<1xi64> {graph.name = "m"}) -> (
    tensor<16xf32> {graph.name = "branch"}, tensor<16xf32> {graph.name = "loop"}, tensor<16xf32> {graph.name = "data"}, tensor<f32> {graph.name = "cut"})
    attributes {graph.symbols = ["n", ""]} {
  %ones = graph.constant dense<1.0> : tensor<16xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0:2 = graph.if %c : (tensor<i1>) -> (tensor<16xf32>, tensor<f32>) {
    %t = graph.add %x, %ones : (tensor<?xf32, #n>, tensor<16xf32>) -> tensor<16xf32>
    %p = graph.slice %x {starts = array<i64: 3>, steps = array<i64: 1>} : (tensor<?xf32, #n>) -> tensor<?xf32, #cut>
    %e = graph.exp %p : (tensor<?xf32, #cut>) -> tensor<?xf32, #cut>
    %q = graph.softmax %e {axis = 0 : i64} : (tensor<?xf32, #cut>) -> tensor<?xf32, #cut>
    %r = graph.reduce_max %q {axes = array<i64: 0>, keepdims = false} : (tensor<?xf32, #cut>) -> tensor<f32>
    graph.yield %t, %r : tensor<16xf32>, tensor<f32>
  } else {
    graph.yield %ones, %zero : tensor<16xf32>, tensor<f32>
  }
  %1 = "graph.loop"(%n, %ones) <{operandSegmentSizes = array<i32: 1, 0, 1>}> ({
  ^bb0(%i: tensor<i64>, %a: tensor<16xf32>):
    %b = graph.mul %a, %x : (tensor<16xf32>, tensor<?xf32, #n>) -> tensor<16xf32>
    graph.yield %b : tensor<16xf32>
  }) : (tensor<i64>, tensor<16xf32>) -> tensor<16xf32>
  graph.bind %m {symbols = array<i64: 1>} : tensor<1xi64>
  %wide = graph.broadcast_to %zero : (tensor<f32>) -> tensor<?xf32, #m>
  %2 = graph.cos %wide : (tensor<?xf32, #m>) -> tensor<?xf32, #m>
  %3 = graph.add %2, %ones : (tensor<?xf32, #m>, tensor<16xf32>) -> tensor<16xf32>
  return %0#0, %1, %3, %0#1 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<f32>
}

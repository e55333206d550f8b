// The text of the LLVM dialect has the host program as an attribute, so that it compiles to
// a module with the same tables and results. Upstream tools read it.
// RUN: rm -rf %t.dir && mkdir -p %t.dir/text %t.dir/again
// RUN: atranslate %s -o %t.dir/m.so && atranslate %s --emit=llvm -o %t.dir/text/llvm-text.mlir
// RUN: FileCheck %s --input-file=%t.dir/text/llvm-text.mlir
// RUN: mlir-translate --mlir-to-llvmir %t.dir/text/llvm-text.mlir -o /dev/null
// RUN: atranslate %t.dir/text/llvm-text.mlir -o %t.dir/again.so
// RUN: arun %t.dir/m.so --info > %t.dir/info && arun %t.dir/again.so --info > %t.dir/info.again
// RUN: diff <(grep -v build %t.dir/info) <(grep -v build %t.dir/info.again)
// RUN: arun %t.dir/m.so --random --seed=1 --shape x=5x300 --output-dir %t.dir/first
// RUN: arun %t.dir/again.so --random --seed=1 --shape x=5x300 --output-dir %t.dir/second && diff -r %t.dir/first %t.dir/second

// With dumps in another folder, too.
// RUN: atranslate %s --emit=llvm --dump-phases=%t.dir/dumps -o %t.dir/both.mlir
// RUN: atranslate %t.dir/both.mlir -o %t.dir/both.so && atranslate %t.dir/dumps/6-llvm.mlir -o %t.dir/dumped.so
// RUN: atranslate %t.dir/dumps/4-host.mlir -o %t.dir/host.so

// The text of that module is simplified, and compiles, too.
// RUN: atranslate %t.dir/text/llvm-text.mlir --emit=llvm -o %t.dir/again/llvm-text.mlir && atranslate %t.dir/again/llvm-text.mlir -o %t.dir/third.so
// RUN: arun %t.dir/third.so --random --seed=1 --shape x=5x300 --output-dir %t.dir/second && diff -r %t.dir/first %t.dir/second

// Constants that the compiler computed are in a file, so there is no host program on
// standard output with them.
// RUN: atranslate %s --emit=llvm -o - | FileCheck %s --check-prefix=STDOUT

// RUN: sed -e 's/func.func @main/func.odd @main/' %t.dir/text/llvm-text.mlir > %t.dir/broken.mlir
// RUN: not atranslate %t.dir/broken.mlir -o %t.dir/none.so 2>&1 | FileCheck %s --check-prefix=BROKEN
// RUN: not atranslate %t.dir/text/llvm-text.mlir --target=cuda:sm_90a -o %t.dir/none.so 2>&1 | FileCheck %s --check-prefix=GPU
// RUN: not ls %t.dir/none.so

// CHECK: module attributes {adze.host_program = "
// CHECK-DAG: llvm.func @adze_run
// CHECK-NOT: func.func
// STDOUT-NOT: host_program
// STDOUT: llvm.func @adze_run
// BROKEN: error: {{.*}}expected the text of a host program in 'adze.host_program'
// GPU: error: {{.*}}unsupported: code of the LLVM dialect for a GPU; the text of an earlier stage (--emit=tile) can be compiled for it
#x = affine_map<()[s0] -> (s0, 300)>
#s = affine_map<()[s0] -> (s0, 1)>
#y = affine_map<()[s0] -> (s0, 16384)>
func.func @main(%x: tensor<?x300xf32, #x> {graph.name = "x"}) -> (tensor<?x16384xf32, #y> {graph.name = "y"}, tensor<?x300xf32, #x> {graph.name = "z"}) {
  %a = graph.constant dense<0.0> : tensor<f32>
  %b = graph.constant dense<16384.0> : tensor<f32>
  %c = graph.constant dense<1.0> : tensor<f32>
  %r = graph.range %a, %b, %c : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<16384xf32>
  %s = graph.reduce_sum %x {axes = array<i64: 1>} : (tensor<?x300xf32, #x>) -> tensor<?x1xf32, #s>
  %y = graph.add %s, %r : (tensor<?x1xf32, #s>, tensor<16384xf32>) -> tensor<?x16384xf32, #y>
  %z = graph.softmax %x {axis = 1 : i64} : (tensor<?x300xf32, #x>) -> tensor<?x300xf32, #x>
  return %y, %z : tensor<?x16384xf32, #y>, tensor<?x300xf32, #x>
}

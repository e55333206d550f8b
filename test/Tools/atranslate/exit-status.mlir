// Each way to end has its status, and only complete outputs are written.
// RUN: rm -rf %t && mkdir %t && cd %t

// Usage.
// RUN: atranslate --no-such-flag %s -o m.so 2> err; test $? = 2
// RUN: FileCheck %s --check-prefix=FLAG < err
// FLAG: Unknown command line argument '--no-such-flag'
// RUN: atranslate %s 2> err; test $? = 2
// RUN: FileCheck %s --check-prefix=NO-OUTPUT < err
// NO-OUTPUT: error: expected -o FILE
// RUN: atranslate %s -o - 2> err; test $? = 2
// RUN: atranslate %s -o m.so --target=abacus 2> err; test $? = 2
// RUN: atranslate %s -o - --emit=ptx 2> err; test $? = 2
// RUN: atranslate %s -o m.so --mcpu=z80 2> err; test $? = 2
// RUN: FileCheck %s --check-prefix=CPU < err
// CPU-NOT: not a recognized processor
// CPU: error: unknown CPU 'z80' for {{.*}}; --mcpu takes LLVM's names, such as x86-64-v3, znver4 and sapphirerapids
// RUN: atranslate %s -o m.so --target=cuda:sm_1 2> err; test $? = 2
// RUN: FileCheck %s --check-prefix=CUDA < err
// CUDA: error: expected a CUDA target of {{.*}}sm_90a{{.*}}, but got 'cuda:sm_1'
// RUN: atranslate %s -o m.so --precision=f9 2> err; test $? = 2
// RUN: FileCheck %s --check-prefix=PRECISION < err
// PRECISION: error: expected --precision=f32, tf32, bf16, f16 or auto, but got 'f9'
// RUN: atranslate %s -o m.so --weights-precision=int8:24 2> err; test $? = 2
// RUN: FileCheck %s --check-prefix=WEIGHTS < err
// WEIGHTS: error: expected --weights-precision=f32, int8 or int4, with a block of a multiple of 16 after a colon, but got 'int8:24'
// LLVM's own flags are not supported.
// RUN: atranslate %s -o m.so --debug-pass=Structure 2> err; test $? = 2

// Known, but unavailable: rejected, not ignored.
// RUN: atranslate %s -o m.so --max-error=.1 2> err; test $? = 2
// RUN: FileCheck %s --check-prefix=NO-AUTO < err
// NO-AUTO: error: --max-error needs --precision=auto
// RUN: atranslate %s -o m.so --precision=auto --max-error=2 2> err; test $? = 2
// RUN: FileCheck %s --check-prefix=MAX-ERROR < err
// MAX-ERROR: error: expected --max-error=E, a number above 0 and up to 1, but got '2'
// RUN: atranslate %s -o - --emit=tile --precision=auto 2> err; test $? = 2
// RUN: FileCheck %s --check-prefix=AUTO < err
// AUTO: error: --precision=auto needs --emit=so for the CPU alone, at -O1 or above
// RUN: atranslate %s -o m.so --mcpu=x86-64-v4 --precision=auto 2> err; test $? = 3
// RUN: not ls m.so
// RUN: atranslate %s -o m.so --mcpu=x86-64-v3 --precision=f16 2> err; test $? = 3
// RUN: FileCheck %s --check-prefix=REFUSED < err
// REFUSED: error: unsupported: --precision=f16: x86-64-v3 has no instruction for products of 'f16'; leave the flag out, or name another CPU by --mcpu
// RUN: atranslate %s -o m.so --mcpu=x86-64-v4 --precision=bf16 2> err; test $? = 3
// RUN: FileCheck %s --check-prefix=NO-UNIT < err
// NO-UNIT: error: unsupported: --precision=bf16: x86-64-v4 has no instruction for products of 'bf16'
// RUN: test ! -e m.so

// Errors of the input.
// RUN: echo "func.func @f(" > bad.mlir
// RUN: atranslate bad.mlir -o m.so 2> err; test $? = 1
// RUN: FileCheck %s --check-prefix=BAD < err
// BAD: error: bad.mlir:
// RUN: atranslate nothing.onnx -o m.so 2> err; test $? = 1
// RUN: atranslate %s -o no/such/folder/m.so 2> err; test $? = 1

// Defects of the compiler: a reproducer, status 70, no other files.
// RUN: env TMPDIR=%t atranslate %s -o m.so --inject-crash 2> err; test $? = 70
// RUN: FileCheck %s --check-prefix=CRASH < err
// CRASH: error: a crash was asked for
// CRASH: error: internal error; please report it with the reproducer [[PATH:.*\.mlir]]
// RUN: grep -q "atranslate.*inject-crash" atranslate-reproducer-*.mlir
// RUN: rm atranslate-reproducer-*.mlir

// RUN: ls | FileCheck %s --check-prefix=LEFT
// LEFT: bad.mlir
// LEFT-NEXT: err
// LEFT-NOT: {{.}}

func.func private @k(%x: memref<4xf32>, %y: memref<4xf32>) attributes {adze.kernel} {
  memref.copy %x, %y : memref<4xf32> to memref<4xf32>
  return
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = host.launch @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Block sizes from rules, from a cost model, and from measurements: the same results
// within rounding.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: atranslate %s -o off.so && arun off.so --random --output-dir expected
// RUN: atranslate %s -o model.so --tune=model -v --verify=differential 2>&1 | FileCheck %s --check-prefix=MODEL
// RUN: arun model.so --random --expect y=expected/y.npy --range-tol 1e-5
// RUN: atranslate %s -o again.so --tune=model && cmp model.so again.so
// Whole registers of columns, and enough rows to use them.
// MODEL: tune: matmul{{.*}} BLOCK_K={{[0-9]+}} BLOCK_M={{[0-9][0-9]+|8}} BLOCK_N={{(16|32|64|80|128)}} cost

// Measurements are stored, and reused: no second measurement, and the same module.
// RUN: atranslate %s -o m.so --tune=measure --max-compile-seconds 5 --tune-db=db.json -v 2>&1 | FileCheck %s --check-prefix=MEASURE
// RUN: arun m.so --random --expect y=expected/y.npy --range-tol 1e-5
// RUN: FileCheck %s --check-prefix=DB < db.json
// RUN: cp db.json before.json
// RUN: atranslate %s -o n.so --tune=measure --tune-db=db.json -v 2>&1 | FileCheck %s --check-prefix=KNOWN
// RUN: cmp m.so n.so && cmp db.json before.json
// MEASURE: tune: matmul{{.*}} cost
// MEASURE-NOT: (known)
// DB: "entries": {
// DB: "kernel": "matmul{{.*}}",
// DB: "ns": {{[0-9.]+}},
// DB: "parameters": {
// DB-NEXT: "BLOCK_K": {{[1-9]}}
// KNOWN: tune: matmul{{.*}} (known)

// The kernel uses the parameters in the log.
// RUN: sed 's/"BLOCK_M": [0-9]*/"BLOCK_M": 8/' db.json > db8.json
// RUN: atranslate %s -o o.so --tune=measure --tune-db=db8.json -v 2>&1 | FileCheck %s --check-prefix=EIGHT
// EIGHT: BLOCK_M=8{{.*}} (known)

// Values that the kernel cannot have are errors that name the log.
// RUN: sed 's/"BLOCK_M": [0-9]*/"BLOCK_M": 9223372036854775807/' db.json > large.json
// RUN: atranslate %s -o x.so --tune=measure --tune-db=large.json 2> err; test $? = 1
// RUN: FileCheck %s --check-prefix=LARGE < err
// RUN: sed 's/"BLOCK_M": [0-9]*/"BLOCK_Q": 8/' db.json > other.json
// RUN: atranslate %s -o x.so --tune=measure --tune-db=other.json 2> err; test $? = 1
// RUN: FileCheck %s --check-prefix=OTHER < err
// RUN: sed 's/"BLOCK_M": [0-9]*,//' db.json > less.json
// RUN: atranslate %s -o x.so --tune=measure --tune-db=less.json 2> err; test $? = 1
// RUN: FileCheck %s --check-prefix=LESS < err
// RUN: sed 's/"BLOCK_M": [0-9]*/"BLOCK_M": "all"/' db.json > words.json
// RUN: atranslate %s -o x.so --tune=measure --tune-db=words.json 2> err; test $? = 1
// RUN: FileCheck %s --check-prefix=WORDS < err
// WORDS: error: {{.*}}words.json: expected an integer for 'BLOCK_M' of entry
// LARGE: error: {{.*}}large.json: entry '{{.*}}' of kernel 'matmul{{.*}}': expected BLOCK_M to be from 1 to 1073741824, but got 9223372036854775807
// OTHER: error: {{.*}}other.json: entry '{{.*}}' of kernel 'matmul{{.*}}': the kernel has no parameter 'BLOCK_Q'
// LESS: error: {{.*}}less.json: entry '{{.*}}' of kernel 'matmul{{.*}}': expected a value for the parameter 'BLOCK_M'

// RUN: echo '{"entries": 3}' > bad.json
// RUN: atranslate %s -o x.so --tune=measure --tune-db=bad.json 2> err; test $? = 1
// RUN: FileCheck %s --check-prefix=BAD < err
// RUN: atranslate %s -o x.so --tune-db=db.json 2> err; test $? = 2
// RUN: atranslate %s -o x.so --max-compile-seconds 3 2> err; test $? = 2
// RUN: atranslate %s -o x.so --tune=guess 2> err; test $? = 2
// RUN: atranslate %s -o x.so --tune=measure --mtriple=aarch64-linux-gnu --mcpu=generic 2> err; test $? = 3
// RUN: FileCheck %s --check-prefix=ELSEWHERE < err
// RUN: atranslate %s -o x.so --tune=measure --target=cuda:sm_80 --target=cuda:sm_90a 2> err; test $? = 3
// RUN: FileCheck %s --check-prefix=SEVERAL < err
// RUN: not test -e x.so
// BAD: error: {{.*}}bad.json: expected an object with 'entries'
// SEVERAL: error: unsupported: --tune=measure for several GPUs; compile for one of them at a time
// ELSEWHERE: error: unsupported: --tune=measure for a CPU that is not this one

func.func @main(%x: tensor<2x48x64xf32> {graph.name = "x"}) -> (tensor<2x48x80xf32> {graph.name = "y"}) {
  %w = graph.constant dense<0.5> : tensor<64x80xf32>
  %v = graph.exp %x : (tensor<2x48x64xf32>) -> tensor<2x48x64xf32>
  %0 = graph.matmul %v, %w : (tensor<2x48x64xf32>, tensor<64x80xf32>) -> tensor<2x48x80xf32>
  %1 = graph.relu %0 : (tensor<2x48x80xf32>) -> tensor<2x48x80xf32>
  return %1 : tensor<2x48x80xf32>
}

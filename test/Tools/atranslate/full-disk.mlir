// A full disk, for any output: status 1 and the system's message, no crash, and no
// partial file.
// RUN: rm -rf %t && mkdir %t && cd %t && ln -s /dev/full full.json && ln -s /dev/full full.html

// Standard output, for anything written to it.
// RUN: atranslate %s --emit=graph -o - > /dev/full 2> err; test $? = 1
// RUN: FileCheck %s --check-prefix=STDOUT < err
// RUN: atranslate --help > /dev/full 2> err; test $? = 1
// RUN: FileCheck %s --check-prefix=STDOUT < err
// RUN: aopt %s > /dev/full 2> err; test $? = 1
// RUN: FileCheck %s --check-prefix=STDOUT < err
// RUN: aopt --help > /dev/full 2> err; test $? = 1
// RUN: FileCheck %s --check-prefix=STDOUT < err
// STDOUT-NOT: Stack dump
// STDOUT: error: {{.*}}standard output{{.*}}: No space left on device
// STDOUT-NOT: {{.}}

// Devices are written in place.
// RUN: atranslate %s --emit=llvm -o /dev/full 2> err; test $? = 1
// RUN: FileCheck %s --check-prefix=DEVICE < err
// RUN: aopt %s -o /dev/full 2> err; test $? = 1
// RUN: FileCheck %s --check-prefix=DEVICE < err
// RUN: atranslate %s -o m.so --report=full.json 2> err; test $? = 1
// RUN: FileCheck %s --check-prefix=DEVICE < err
// RUN: atranslate %s -o m.so --report=full.html 2> err; test $? = 1
// RUN: FileCheck %s --check-prefix=DEVICE < err
// DEVICE-NOT: Stack dump
// DEVICE: error: {{.*}}full{{.*}}: No space left on device
// DEVICE-NOT: {{.}}

// Files: none may have more than 1 KB. Existing files are kept.
// RUN: echo old > kept.so && (ulimit -f 1; for emit in graph tile linalg llvm obj so; do \
// RUN:   atranslate %s --emit=$emit -o kept.so 2> err; test $? = 1 || exit 1; \
// RUN:   FileCheck %s --check-prefix=LIMIT < err || exit 1; \
// RUN:   test "$(cat kept.so)" = old || exit 1; done)
// RUN: (ulimit -f 0; atranslate %s --emit=onnx -o m.onnx; test $? = 1) 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: (ulimit -f 0; atranslate %s --weights=file -o m.so; test $? = 1) 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: (ulimit -f 0; atranslate %s --dump-phases=phases -o m.so; test $? = 1) 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: (ulimit -f 0; aopt %s -o m.mlir; test $? = 1) 2>&1 | FileCheck %s --check-prefix=NOTHING
// LIMIT-NOT: Stack dump
// LIMIT: error: {{.*}}: File too large
// LIMIT-NOT: {{.}}
// NOTHING: error: {{.*}}: File too large

// Constants that are folded during compilation, to a file next to the text or a temporary
// one.
// RUN: (ulimit -f 2; atranslate %S/Inputs/cumulative-sum.mlir --emit=graph -o m.mlir 2> err; test $? = 1 && FileCheck %s --check-prefix=LIMIT < err)
// RUN: (ulimit -f 2; env TMPDIR=%t atranslate %S/Inputs/cumulative-sum.mlir --emit=so -o m.so 2> err; test $? = 1 && FileCheck %s --check-prefix=LIMIT < err)

// No other files remain.
// RUN: rmdir phases && ls | FileCheck %s --check-prefix=LEFT
// LEFT: err
// LEFT-NEXT: full.html
// LEFT-NEXT: full.json
// LEFT-NEXT: kept.so
// LEFT-NOT: {{.}}

func.func @main(%x: tensor<2x16xf32> {graph.name = "x"}) -> (tensor<2x16xf32> {graph.name = "y"}) {
  %w = graph.constant dense<[[0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0],
                             [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7]]> : tensor<2x16xf32>
  %0 = graph.add %x, %w : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %1 = graph.exp %0 : (tensor<2x16xf32>) -> tensor<2x16xf32>
  return %1 : tensor<2x16xf32>
}

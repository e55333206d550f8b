// A module comes from the cache if the same compiler compiled the same content with the
// same options, and not otherwise.
// RUN: rm -rf %t && mkdir -p %t/other && cd %t && cp %s m.mlir
// RUN: atranslate m.mlir -o cold.so --cache=c -v 2>&1 | FileCheck %s --check-prefix=COLD --allow-empty
// RUN: atranslate m.mlir -o warm.so --cache=c -v 2>&1 | FileCheck %s --check-prefix=WARM
// RUN: atranslate m.mlir -o none.so && cmp cold.so warm.so && cmp cold.so none.so
// RUN: arun warm.so --random
// In another folder it is the same model; an older output is replaced.
// RUN: cp m.mlir other/m.mlir && echo old > other/m.so
// RUN: atranslate other/m.mlir -o other/m.so --cache=c -v 2>&1 | FileCheck %s --check-prefix=WARM
// RUN: atranslate other/m.mlir -o other/m.so --cache=c -v 2>&1 | FileCheck %s --check-prefix=WARM
// RUN: cmp cold.so other/m.so
// COLD-NOT: taken from the cache
// WARM: remark: taken from the cache in c

// Another level, another CPU, another name, another content.
// RUN: atranslate m.mlir -O1 -o x.so --cache=c -v 2>&1 | FileCheck %s --check-prefix=COLD --allow-empty
// RUN: atranslate m.mlir --mcpu=x86-64 -o x.so --cache=c -v 2>&1 | FileCheck %s --check-prefix=COLD --allow-empty
// RUN: cp m.mlir n.mlir && atranslate n.mlir -o x.so --cache=c -v 2>&1 | FileCheck %s --check-prefix=COLD --allow-empty
// RUN: sed s/0.5/0.25/ %s > m.mlir && atranslate m.mlir -o x.so --cache=c -v 2>&1 | FileCheck %s --check-prefix=COLD --allow-empty
// Diagnostics of a compilation require compilation.
// RUN: cp %s m.mlir && atranslate m.mlir -o x.so --cache=c --stats 2>&1 | FileCheck %s --check-prefix=STATS
// STATS: arena_bytes:

// Damaged entries are ignored, and replaced.
// RUN: rm -rf c && atranslate m.mlir -o cold.so --cache=c && cp cold.so good.so
// RUN: for f in c/*.bin; do cp $f $f.new; echo damage >> $f.new; mv $f.new $f; done
// RUN: atranslate m.mlir -o x.so --cache=c -v 2>&1 | FileCheck %s --check-prefix=COLD --allow-empty
// RUN: cmp x.so good.so
// RUN: atranslate m.mlir -o y.so --cache=c -v 2>&1 | FileCheck %s --check-prefix=WARM
// RUN: cmp y.so good.so
// RUN: for f in c/*.digest; do echo nonsense > $f; done
// RUN: atranslate m.mlir -o x.so --cache=c -v 2>&1 | FileCheck %s --check-prefix=COLD --allow-empty

// A cache that cannot be written is not an error; text has none.
// RUN: echo file > notafolder && atranslate m.mlir -o x.so --cache=notafolder 2>&1 | FileCheck %s --check-prefix=WARNING
// RUN: cmp x.so good.so
// RUN: atranslate m.mlir --emit=tile -o - --cache=c 2> err; test $? = 2
// WARNING: warning: cache in notafolder:
// No other files remain.
// RUN: ls | FileCheck %s --check-prefix=FILES
// FILES-NOT: tmp

func.func @main(%x: tensor<8x16xf32> {graph.name = "x"}) -> (tensor<8x4xf32> {graph.name = "y"}) {
  %w = graph.constant dense<0.5> : tensor<16x4xf32>
  %0 = graph.matmul %x, %w : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

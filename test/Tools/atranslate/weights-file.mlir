// Weights in a separate file: the same results, found next to the module, and rejected if
// they are not the module's.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: atranslate %s -o a.so && arun a.so --random --output-dir expected
// RUN: atranslate %s -o m.so --weights=file
// RUN: ls | FileCheck %s --check-prefix=FILES
// RUN: arun m.so --random --expect y=expected/y.npy
// RUN: arun m.so --info --json | FileCheck %s --check-prefix=INFO
// RUN: llvm-nm -D --undefined-only m.so | count 0
// RUN: mkdir there && mv m.so m.weights there && ln -s there/m.so link.so
// RUN: arun link.so --random --expect y=expected/y.npy
// FILES: a.so
// FILES-NEXT: expected
// FILES-NEXT: m.so
// FILES-NEXT: m.weights
// FILES-NOT: tmp
// INFO: "weights_bytes": 256

// Byte-identical again; both files come from a cache.
// RUN: atranslate %s -o m.so --weights=file --cache=c && cmp m.so there/m.so && cmp m.weights there/m.weights
// RUN: rm m.so m.weights && atranslate %s -o m.so --weights=file --cache=c -v 2>&1 | FileCheck %s --check-prefix=WARM
// RUN: cmp m.so there/m.so && cmp m.weights there/m.weights
// WARM: taken from the cache

// A damaged byte of the weights, in their file and in the module.
// RUN: cp there/m.so there/m.weights . && printf X | dd of=m.weights bs=1 seek=4100 conv=notrunc status=none
// RUN: not arun m.so --random 2>&1 | FileCheck %s --check-prefix=DAMAGED
// RUN: cp a.so d.so && printf X | dd of=d.so bs=1 conv=notrunc status=none \
// RUN:   seek=$((0x$(llvm-nm d.so | sed -n 's/ . adze.weights$//p') + 4))
// RUN: not arun d.so --random 2>&1 | FileCheck %s --check-prefix=EMBEDDED
// DAMAGED: m.weights: damaged weights: bytes [0, 256): expected checksum {{[0-9a-f]+}}, but got
// EMBEDDED: d.so: damaged weights: bytes [0, 256): expected checksum

// Missing, truncated, foreign, with a damaged header, and another model's.
// RUN: cd there && mv m.weights w && not arun m.so --random 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: head -c 4200 w > m.weights && not arun m.so --random 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: tail -c 4352 m.so > m.weights && not arun m.so --random 2>&1 | FileCheck %s --check-prefix=FOREIGN
// RUN: sed s/0.5/0.25/g %s > o.mlir && atranslate o.mlir -o o.so --weights=file
// RUN: cp w m.weights && printf X | dd of=m.weights bs=1 seek=30 conv=notrunc status=none
// RUN: not arun m.so --random 2>&1 | FileCheck %s --check-prefix=HEADER
// RUN: cp o.weights m.weights && not arun m.so --random 2>&1 | FileCheck %s --check-prefix=OTHER
// MISSING: m.weights: No such file or directory (the module's weights)
// SHORT: m.weights: expected a file of weights of 4352 bytes, but got 4200
// FOREIGN: m.weights: not a file of weights
// HEADER: m.weights: damaged header of a file of weights: expected checksum {{[0-9a-f]+}}, but got
// OTHER: m.weights: expected the weights {{[0-9a-f]+}}, but got {{[0-9a-f]+}}: it belongs to another module

// RUN: atranslate %s -o - --emit=graph --weights=file 2> err; test $? = 2
// RUN: atranslate %s -o m.o --emit=obj --weights=file 2> err; test $? = 3
// RUN: atranslate %s -o m.so --weights=elsewhere 2> err; test $? = 2

func.func @main(%x: tensor<2x4xf32> {graph.name = "x"}) -> (tensor<2x5xf32> {graph.name = "y"}) {
  %w = graph.constant dense<[[0.5, 1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0, 9.0], [0.1, 0.2, 0.3, 0.4, 0.5], [1.5, 2.5, 3.5, 4.5, 5.5]]> : tensor<4x5xf32>
  %0 = graph.matmul %x, %w : (tensor<2x4xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

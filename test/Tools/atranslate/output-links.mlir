// A symbolic link at -o is kept, and its target is replaced, as other tools do; a device
// is written, not replaced.
// RUN: rm -rf %t && mkdir -p %t/there %t/tmp && cd %t && atranslate %s -o plain.so && atranslate %s -o plain.o --emit=obj

// RUN: echo old > there/m.so && ln -s there/m.so link.so && atranslate %s -o link.so
// RUN: test -L link.so && test ! -L there/m.so && cmp there/m.so plain.so && arun link.so --random
// A link to a file that does not exist yet, through another link.
// RUN: ln -s there/new.o one.o && ln -s %t/one.o two.o && atranslate %s -o two.o --emit=obj
// RUN: test -L two.o && test -L one.o && cmp there/new.o plain.o

// The weights are written next to the module, where the run time searches, not next to
// the link.
// RUN: ln -s there/w.so w.so && atranslate %s -o w.so --weights=file && test -L w.so && arun w.so --random
// RUN: test ! -e w.weights && test -f there/w.weights

// Also from a cache.
// RUN: ln -s there/c.so c.so && for i in 1 2; do atranslate %s -o c.so --cache=cache -v 2> err && test -L c.so && cmp there/c.so plain.so || exit 1; done
// RUN: FileCheck %s --check-prefix=WARM < err
// WARM: taken from the cache

// The module is written to a pipe; nothing is stored in a cache.
// RUN: mkfifo pipe && (cat pipe > piped.so & env TMPDIR=%t/tmp atranslate %s -o pipe --cache=cache2 && wait) && cmp piped.so plain.so && test -p pipe
// RUN: not ls cache2
// RUN: atranslate %s -o /dev/full 2> err; test $? = 1
// RUN: FileCheck %s --check-prefix=FULL < err
// FULL: error: /dev/full: No space left on device

// After a failure the link is unchanged, and there are no other files.
// RUN: (ulimit -f 1; atranslate %s -o link.so; test $? = 1) && test -L link.so && cmp there/m.so plain.so
// RUN: ls . there tmp | FileCheck %s --check-prefix=LEFT
// LEFT-NOT: .tmp-
// LEFT-NOT: module

func.func @main(%x: tensor<2x4xf32> {graph.name = "x"}) -> (tensor<2x5xf32> {graph.name = "y"}) {
  %w = graph.constant dense<[[0.5, 1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0, 9.0], [0.1, 0.2, 0.3, 0.4, 0.5], [1.5, 2.5, 3.5, 4.5, 5.5]]> : tensor<4x5xf32>
  %0 = graph.matmul %x, %w : (tensor<2x4xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

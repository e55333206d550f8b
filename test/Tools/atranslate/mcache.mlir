// Blocks depend on the caches of the target: those of its name, or as given; they are
// part of the key of the cache of modules.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: atranslate %s --emit=tile -o small.mlir --mcpu=haswell --mcache=256K,8M && FileCheck %s --check-prefix=SMALL < small.mlir
// RUN: atranslate %s --emit=tile -o large.mlir --mcache=2M,64M && FileCheck %s --check-prefix=LARGE < large.mlir
// RUN: atranslate %s --emit=tile -o named.mlir --mcpu=haswell && diff small.mlir named.mlir
// RUN: atranslate %s -o a.so --cache=c --mcache=256K,8M && atranslate %s -o b.so --cache=c --mcache=2M,64M
// RUN: not cmp a.so b.so
// RUN: atranslate %s -o c.so --mcache=2M,64M && cp c.so a.so && cmp a.so c.so
// SMALL: BLOCK_K = 256
// LARGE: BLOCK_K = 1024

// RUN: atranslate %s -o m.so --mcache=1M 2> err; test $? = 2
// RUN: FileCheck %s --check-prefix=ONE < err
// RUN: atranslate %s -o m.so --mcache=1M,512K 2> err; test $? = 2
// RUN: FileCheck %s --check-prefix=ORDER < err
// ONE: error: expected the sizes of the second and third level as in 1M,32M, but got '1M'
// ORDER: error: expected the sizes of the second and third level as in 1M,32M, but got '1M,512K'

func.func @main(%x: tensor<512x1024xf32> {graph.name = "x"}, %y: tensor<1024x512xf32> {graph.name = "y"})
    -> (tensor<512x512xf32> {graph.name = "z"}) {
  %0 = graph.matmul %x, %y : (tensor<512x1024xf32>, tensor<1024x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// Another program that loads the compiler: entries of the cache depend on the library,
// not on the program.
// RUN: rm -rf %t && mkdir %t
// RUN: cp $(dirname $(which atranslate))/../lib/libadze_compiler.so %t/one.so
// RUN: cp %t/one.so %t/other.so && printf x >> %t/other.so
// RUN: python3 %S/Inputs/compile-with.py %t/one.so %s %t/cache && ls %t/cache | wc -l > %t/count
// RUN: python3 %S/Inputs/compile-with.py %t/one.so %s %t/cache && ls %t/cache | wc -l | diff %t/count -
// RUN: python3 %S/Inputs/compile-with.py %t/other.so %s %t/cache && ls %t/cache | wc -l > %t/more
// RUN: test $(cat %t/more) = $((2 * $(cat %t/count)))
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Products of unsigned integers of each width, with numbers that use all bits, against
// the reference path.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so
// RUN: arun %t/0.so --random --ids 2000000000 --output-dir %t/0
// RUN: arun %t/1.so --random --ids 2000000000 --output-dir %t/1
// RUN: diff -r %t/0 %t/1
func.func @main(%a: tensor<5x8xui8> {graph.name = "a"}, %b: tensor<5x8xui16> {graph.name = "b"},
    %c: tensor<5x8xui32> {graph.name = "c"}, %d: tensor<5x8xui64> {graph.name = "d"}) -> (
    tensor<5x3xui8> {graph.name = "p"}, tensor<5x3xui16> {graph.name = "q"},
    tensor<5x3xui32> {graph.name = "r"}, tensor<5x3xui64> {graph.name = "s"}) {
  %ta = graph.transpose %a {perm = array<i64: 1, 0>} : (tensor<5x8xui8>) -> tensor<8x5xui8>
  %tb = graph.transpose %b {perm = array<i64: 1, 0>} : (tensor<5x8xui16>) -> tensor<8x5xui16>
  %tc = graph.transpose %c {perm = array<i64: 1, 0>} : (tensor<5x8xui32>) -> tensor<8x5xui32>
  %td = graph.transpose %d {perm = array<i64: 1, 0>} : (tensor<5x8xui64>) -> tensor<8x5xui64>
  %0 = graph.matmul %a, %ta : (tensor<5x8xui8>, tensor<8x5xui8>) -> tensor<5x5xui8>
  %1 = graph.matmul %b, %tb : (tensor<5x8xui16>, tensor<8x5xui16>) -> tensor<5x5xui16>
  %2 = graph.matmul %c, %tc : (tensor<5x8xui32>, tensor<8x5xui32>) -> tensor<5x5xui32>
  %3 = graph.matmul %d, %td : (tensor<5x8xui64>, tensor<8x5xui64>) -> tensor<5x5xui64>
  %p = graph.slice %0 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<5x5xui8>) -> tensor<5x3xui8>
  %q = graph.slice %1 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<5x5xui16>) -> tensor<5x3xui16>
  %r = graph.slice %2 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<5x5xui32>) -> tensor<5x3xui32>
  %s = graph.slice %3 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<5x5xui64>) -> tensor<5x3xui64>
  return %p, %q, %r, %s : tensor<5x3xui8>, tensor<5x3xui16>, tensor<5x3xui32>, tensor<5x3xui64>
}

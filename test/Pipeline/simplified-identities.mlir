// Replacements of redundant ops have the bits of the reference path, also with NaN and
// infinities; rows are symbols, also 0.
// RUN: rm -rf %t && mkdir -p %t && for o in 0 2; do atranslate %s -O$o -o %t/$o.so || exit 1; done
// RUN: for n in 0 1 7; do arun %t/0.so --random --shape x=${n}x1x6 --shape k=${n}x1x6 --output-dir %t >/dev/null && arun %t/2.so --random \
// RUN:   --shape x=${n}x1x6 --shape k=${n}x1x6 --rtol 0 --atol 0 --expect y0=%t/y0.npy --expect y1=%t/y1.npy --expect y2=%t/y2.npy --expect y3=%t/y3.npy \
// RUN:   --expect y4=%t/y4.npy >/dev/null || exit 1; done

#x = affine_map<()[s0] -> (s0, 1, 6)>
#h = affine_map<()[s0] -> (s0, 1, 3)>
#r = affine_map<()[s0] -> (s0, 6)>
!x = tensor<?x1x6xf32, #x>
!h = tensor<?x1x3xf32, #h>
!k = tensor<?x1x6xi64, #x>
!b = tensor<?x1x6xi1, #x>
!r = tensor<?x6xf32, #r>
func.func @main(%in: !x {graph.name = "x"}, %k: !k {graph.name = "k"}) -> (!x {graph.name = "y0"}, !h {graph.name = "y1"}, !b {graph.name = "y2"}, !k {graph.name = "y3"}, !r {graph.name = "y4"})
    attributes {graph.symbols = ["n"]} {
  %nan = graph.constant dense<0x7FC00000> : tensor<f32>
  %inf = graph.constant dense<0x7F800000> : tensor<f32>
  %less = graph.constant dense<0xFF800000> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %high = graph.constant dense<1.0> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %none = graph.constant dense<0> : tensor<i64>
  %gap = graph.greater %in, %high : (!x, tensor<f32>) -> !b
  %low = graph.less %in, %half : (!x, tensor<f32>) -> !b
  %some = graph.select %low, %in, %less : (!b, !x, tensor<f32>) -> !x
  %x = graph.select %gap, %nan, %some : (!b, tensor<f32>, !x) -> !x
  %0 = graph.reverse %x {axes = array<i64: 1>} : (!x) -> !x
  %1 = graph.cumsum %0 {axis = 1 : i64, reverse = true} : (!x) -> !x
  %2 = graph.resize %1 {scales = array<f64: 1.0, 1.0, 1.0>, mode = #graph.resize_mode<linear>} : (!x) -> !x
  %3 = graph.minimum %2, %inf : (!x, tensor<f32>) -> !x
  %4 = graph.neg %3 : (!x) -> !x
  %5 = graph.sub %in, %4 : (!x, !x) -> !x
  %6 = graph.max_pool %5 {kernel = array<i64: 1>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (!x) -> !h
  %7 = graph.pow %6, %zero : (!h, tensor<f32>) -> !h
  %8 = graph.add %7, %6 : (!h, !h) -> !h
  %9 = graph.less %x, %x : (!x, !x) -> !b
  %10 = graph.less_equal %k, %none : (!k, tensor<i64>) -> !b
  %11 = graph.not %10 : (!b) -> !b
  %12 = graph.or %9, %11 : (!b, !b) -> !b
  %13 = graph.mul %k, %none : (!k, tensor<i64>) -> !k
  %14 = graph.sub %k, %k : (!k, !k) -> !k
  %15 = graph.add %13, %14 : (!k, !k) -> !k
  %16 = graph.arg_max %x {axis = 1 : i64} : (!x) -> !k
  %17 = graph.add %15, %16 : (!k, !k) -> !k
  %18 = graph.reduce_sum_square %x {axes = array<i64: 1>, keepdims = false} : (!x) -> !r
  %19 = graph.reduce_l1 %x {axes = array<i64: 1>, keepdims = false} : (!x) -> !r
  %20 = graph.floor %19 : (!r) -> !r
  %21 = graph.ceil %20 : (!r) -> !r
  %22 = graph.add %18, %21 : (!r, !r) -> !r
  return %5, %8, %12, %17, %22 : !x, !h, !b, !k, !r
}

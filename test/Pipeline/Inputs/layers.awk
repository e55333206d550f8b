# n layers: softmax of a number times what is before. The numbers are constants,
# 9.05 + i / 8, or the input c.
BEGIN {
  type = "tensor<3x8xf32>"
  print "func.func @main(%x0: " type " {graph.name = \"x\"}" (input ? ", %c: tensor<" n "x1xf32> {graph.name = \"c\"}" : "") ") -> (" type " {graph.name = \"y\"}) {"
  for (i = 0; i < n; ++i) {
    one = input ? "tensor<1x1xf32>" : "tensor<f32>"
    if (input)
      printf "  %%c%d = graph.slice %%c {starts = array<i64: %d, 0>, steps = array<i64: 1, 1>} : (tensor<%dx1xf32>) -> %s\n", i, i, n, one
    else
      printf "  %%c%d = graph.constant dense<%.3f> : %s\n", i, 9.05 + i / 8, one
    printf "  %%m%d = graph.mul %%x%d, %%c%d : (%s, %s) -> %s\n", i, i, i, type, one, type
    printf "  %%x%d = graph.softmax %%m%d {axis = 1 : i64} : (%s) -> %s\n", i + 1, i, type, type
  }
  printf "  return %%x%d : %s\n}\n", n, type
}

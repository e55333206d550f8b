// Unsorted selections, by a heap and by sorted rows, have the elements of sorted ones in
// the order of their indices. Many of 90 integers are equal.
// RUN: rm -rf %t && mkdir -p %t && atranslate %s -o %t.so
// RUN: arun %t.so --random --ids 90 --output-dir %t && cmp %t/a.npy %t/b.npy && cmp %t/c.npy %t/d.npy && cmp %t/e.npy %t/g.npy
func.func @main(%x: tensor<5x400xi32> {graph.name = "x"}) -> (
    tensor<5x8xi64> {graph.name = "a"}, tensor<5x8xi64> {graph.name = "b"}, tensor<5x90xi64> {graph.name = "c"}, tensor<5x90xi64> {graph.name = "d"},
    tensor<5x90xi32> {graph.name = "e"}, tensor<5x90xi32> {graph.name = "g"}) {
  %0, %a = graph.top_k %x {axis = 1 : i64, sorted = false} : (tensor<5x400xi32>) -> (tensor<5x8xi32>, tensor<5x8xi64>)
  %1, %i = graph.top_k %x {axis = 1 : i64} : (tensor<5x400xi32>) -> (tensor<5x8xi32>, tensor<5x8xi64>)
  %b, %2 = graph.top_k %i {axis = 1 : i64, largest = false} : (tensor<5x8xi64>) -> (tensor<5x8xi64>, tensor<5x8xi64>)
  %e, %c = graph.top_k %x {axis = 1 : i64, largest = false, sorted = false} : (tensor<5x400xi32>) -> (tensor<5x90xi32>, tensor<5x90xi64>)
  %3, %j = graph.top_k %x {axis = 1 : i64, largest = false} : (tensor<5x400xi32>) -> (tensor<5x90xi32>, tensor<5x90xi64>)
  %d, %4 = graph.top_k %j {axis = 1 : i64, largest = false} : (tensor<5x90xi64>) -> (tensor<5x90xi64>, tensor<5x90xi64>)
  %g = graph.gather_elements %x, %d {axis = 1 : i64} : (tensor<5x400xi32>, tensor<5x90xi64>) -> tensor<5x90xi32>
  return %a, %b, %c, %d, %e, %g : tensor<5x8xi64>, tensor<5x8xi64>, tensor<5x90xi64>, tensor<5x90xi64>, tensor<5x90xi32>, tensor<5x90xi32>
}

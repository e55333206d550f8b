// Rows whose results go past the caches, of known and unknown lengths, aligned
// and not, norms and softmax: the numbers of the reference path, and the same
// bits on one and two threads. Long rows take several passes.
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s --mcache=64K,64K -o %t/1.so
// DEFINE: %{n} = 19
// DEFINE: %{m} = 1040
// DEFINE: %{shapes} = --shape x=%{n}x2048 --shape y=%{n}x%{m}
// DEFINE: %{check} = arun %t/0.so --random %{shapes} --output-dir %t/0 && \
// DEFINE:   arun %t/1.so --random %{shapes} --threads 1 --output-dir %t/1 --range-tol 1e-5 --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy --expect e=%t/0/e.npy && \
// DEFINE:   arun %t/1.so --random %{shapes} --threads 2 --output-dir %t/2 && \
// DEFINE:   diff -r %t/1 %t/2
// RUN: %{check}
// REDEFINE: %{m} = 1003
// RUN: %{check}
// REDEFINE: %{n} = 1
// REDEFINE: %{m} = 5
// RUN: %{check}

#x = affine_map<()[s0, s1] -> (s0, 2048)>
#y = affine_map<()[s0, s1] -> (s0, s1)>
func.func @main(%x: tensor<?x2048xf32, #x> {graph.name = "x"}, %y: tensor<?x?xf32, #y> {graph.name = "y"},
                %s: tensor<2048xf32> {graph.name = "s"}, %z: tensor<33x2048xf32> {graph.name = "z"})
    -> (tensor<?x2048xf32, #x> {graph.name = "a"}, tensor<?x?xf32, #y> {graph.name = "b"},
        tensor<?x?xf32, #y> {graph.name = "c"}, tensor<33x2048xf32> {graph.name = "d"},
        tensor<33x2048xf32> {graph.name = "e"})
    attributes {graph.symbols = ["n", "m"]} {
  %0 = graph.layer_norm %x scale %s bias %s {axis = 1 : i64} : (tensor<?x2048xf32, #x>, tensor<2048xf32>, tensor<2048xf32>) -> tensor<?x2048xf32, #x>
  %1 = graph.softmax %y {axis = 1 : i64} : (tensor<?x?xf32, #y>) -> tensor<?x?xf32, #y>
  %2 = graph.log_softmax %y {axis = 1 : i64} : (tensor<?x?xf32, #y>) -> tensor<?x?xf32, #y>
  %3 = graph.rms_norm %z, %s {axis = 1 : i64} : (tensor<33x2048xf32>, tensor<2048xf32>) -> tensor<33x2048xf32>
  %4 = graph.softmax %z {axis = 1 : i64} : (tensor<33x2048xf32>) -> tensor<33x2048xf32>
  return %0, %1, %2, %3, %4 : tensor<?x2048xf32, #x>, tensor<?x?xf32, #y>, tensor<?x?xf32, #y>, tensor<33x2048xf32>, tensor<33x2048xf32>
}

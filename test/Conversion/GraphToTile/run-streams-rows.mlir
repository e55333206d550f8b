// Rows whose results use non-temporal stores, of static and dynamic lengths, aligned and
// not, norms and softmax: same results as the reference path, and the same bits on one
// and two threads. Long rows take several passes. Also for cores whose row passes
// prefetch the next rows (apart).
// RUN: rm -rf %t && mkdir -p %t/0 %t/1 %t/2 %t/3 %t/4
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s --mcache=64K,64K -o %t/1.so && atranslate %s --mcache=64K,64K,nontemporal_stores_stall -o %t/2.so
// DEFINE: %{n} = 19
// DEFINE: %{m} = 1040
// DEFINE: %{shapes} = --shape x=%{n}x2048 --shape y=%{n}x%{m} --shape u=%{n}x512 --shape v=%{n}x5120
// DEFINE: %{expect} = --range-tol 1e-5 --expect a=%t/0/a.npy --expect b=%t/0/b.npy --expect c=%t/0/c.npy --expect d=%t/0/d.npy --expect e=%t/0/e.npy --expect f=%t/0/f.npy --expect g=%t/0/g.npy --expect h=%t/0/h.npy
// DEFINE: %{check} = arun %t/0.so --random %{shapes} --output-dir %t/0 && \
// DEFINE:   arun %t/1.so --random %{shapes} --threads 1 --output-dir %t/1 %{expect} && \
// DEFINE:   arun %t/1.so --random %{shapes} --threads 2 --output-dir %t/2 && \
// DEFINE:   diff -r %t/1 %t/2 && \
// DEFINE:   arun %t/2.so --random %{shapes} --threads 1 --output-dir %t/3 %{expect} && \
// DEFINE:   arun %t/2.so --random %{shapes} --threads 2 --output-dir %t/4 && \
// DEFINE:   diff -r %t/3 %t/4
// RUN: %{check}
// REDEFINE: %{m} = 1003
// RUN: %{check}
// REDEFINE: %{n} = 1
// REDEFINE: %{m} = 5
// RUN: %{check}

#x = affine_map<()[s0, s1] -> (s0, 2048)>
#y = affine_map<()[s0, s1] -> (s0, s1)>
#u = affine_map<()[s0, s1] -> (s0, 512)>
#v = affine_map<()[s0, s1] -> (s0, 5120)>
func.func @main(%x: tensor<?x2048xf32, #x> {graph.name = "x"}, %y: tensor<?x?xf32, #y> {graph.name = "y"},
                %s: tensor<2048xf32> {graph.name = "s"}, %z: tensor<33x2048xf32> {graph.name = "z"},
                %u: tensor<?x512xf32, #u> {graph.name = "u"}, %v: tensor<?x5120xf32, #v> {graph.name = "v"},
                %t: tensor<512xf32> {graph.name = "t"}, %w: tensor<5120xf32> {graph.name = "w"})
    -> (tensor<?x2048xf32, #x> {graph.name = "a"}, tensor<?x?xf32, #y> {graph.name = "b"},
        tensor<?x?xf32, #y> {graph.name = "c"}, tensor<33x2048xf32> {graph.name = "d"},
        tensor<33x2048xf32> {graph.name = "e"}, tensor<?x2048xf32, #x> {graph.name = "f"},
        tensor<?x512xf32, #u> {graph.name = "g"}, tensor<?x5120xf32, #v> {graph.name = "h"})
    attributes {graph.symbols = ["n", "m"]} {
  %0 = graph.layer_norm %x scale %s bias %s {axis = 1 : i64} : (tensor<?x2048xf32, #x>, tensor<2048xf32>, tensor<2048xf32>) -> tensor<?x2048xf32, #x>
  %1 = graph.softmax %y {axis = 1 : i64} : (tensor<?x?xf32, #y>) -> tensor<?x?xf32, #y>
  %2 = graph.log_softmax %y {axis = 1 : i64} : (tensor<?x?xf32, #y>) -> tensor<?x?xf32, #y>
  %3 = graph.rms_norm %z, %s {axis = 1 : i64} : (tensor<33x2048xf32>, tensor<2048xf32>) -> tensor<33x2048xf32>
  %4 = graph.softmax %z {axis = 1 : i64} : (tensor<33x2048xf32>) -> tensor<33x2048xf32>
  %5 = graph.softmax %x {axis = 1 : i64} : (tensor<?x2048xf32, #x>) -> tensor<?x2048xf32, #x>
  %6 = graph.layer_norm %u scale %t bias %t {axis = 1 : i64} : (tensor<?x512xf32, #u>, tensor<512xf32>, tensor<512xf32>) -> tensor<?x512xf32, #u>
  %7 = graph.rms_norm %v, %w {axis = 1 : i64} : (tensor<?x5120xf32, #v>, tensor<5120xf32>) -> tensor<?x5120xf32, #v>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<?x2048xf32, #x>, tensor<?x?xf32, #y>, tensor<?x?xf32, #y>, tensor<33x2048xf32>, tensor<33x2048xf32>, tensor<?x2048xf32, #x>, tensor<?x512xf32, #u>, tensor<?x5120xf32, #v>
}

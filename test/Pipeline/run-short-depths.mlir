// Batched products whose rows, depth and columns are dynamic, with depths far below those
// of blocks. Same results as the reference path.
// RUN: rm -rf %t && mkdir -p %t/0
// RUN: atranslate -O0 %s -o %t/0.so && atranslate %s -o %t/1.so && atranslate --mcpu=x86-64-v3 %s -o %t/2.so
// RUN: arun %t/0.so --random --shape x=6x1x1 --shape y=6x1x32 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=6x1x1 --shape y=6x1x32 --range-tol 1e-6 --expect z=%t/0/z.npy --expect t=%t/0/t.npy
// RUN: arun %t/2.so --random --shape x=6x1x1 --shape y=6x1x32 --range-tol 1e-6 --expect z=%t/0/z.npy --expect t=%t/0/t.npy
// RUN: arun %t/0.so --random --shape x=3x5x17 --shape y=3x17x32 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=3x5x17 --shape y=3x17x32 --range-tol 1e-6 --expect z=%t/0/z.npy --expect t=%t/0/t.npy
// RUN: arun %t/2.so --random --shape x=3x5x17 --shape y=3x17x32 --range-tol 1e-6 --expect z=%t/0/z.npy --expect t=%t/0/t.npy
// RUN: arun %t/0.so --random --shape x=2x11x2500 --shape y=2x2500x32 --output-dir %t/0
// RUN: arun %t/1.so --random --shape x=2x11x2500 --shape y=2x2500x32 --range-tol 1e-5 --expect z=%t/0/z.npy --expect t=%t/0/t.npy
// RUN: arun %t/2.so --random --shape x=2x11x2500 --shape y=2x2500x32 --range-tol 1e-5 --expect z=%t/0/z.npy --expect t=%t/0/t.npy
#x = affine_map<()[s0, s1, s2] -> (s0, s1, s2)>
#y = affine_map<()[s0, s1, s2] -> (s0, s2, 32)>
#z = affine_map<()[s0, s1, s2] -> (s0, s1, 32)>
func.func @main(%x: tensor<?x?x?xf32, #x> {graph.name = "x"}, %y: tensor<?x?x32xf32, #y> {graph.name = "y"}) -> (tensor<?x?x32xf32, #z> {graph.name = "z"}, tensor<?x?x32xf32, #z> {graph.name = "t"}) attributes {graph.symbols = ["b", "m", "k"]} {
  %0 = graph.matmul %x, %y : (tensor<?x?x?xf32, #x>, tensor<?x?x32xf32, #y>) -> tensor<?x?x32xf32, #z>
  %1 = graph.tanh %x : (tensor<?x?x?xf32, #x>) -> tensor<?x?x?xf32, #x>
  %2 = graph.matmul %1, %y : (tensor<?x?x?xf32, #x>, tensor<?x?x32xf32, #y>) -> tensor<?x?x32xf32, #z>
  return %0, %2 : tensor<?x?x32xf32, #z>, tensor<?x?x32xf32, #z>
}

// A kernel that stores elements at computed positions, and one that reads them at the
// inverse ones: 5 i and 13 i modulo 16. Positions outside of the result are dropped: its
// last 3 elements are those of the load out of bounds.
// RUN: rm -rf %t && mkdir -p %t && atranslate %s -o %t.so
// RUN: arun %t.so --random --output-dir %t && cmp %t/y.npy %t/z.npy
func.func @main(%x: tensor<16xf32> {graph.name = "x"}) -> (tensor<13xf32> {graph.name = "y"}, tensor<13xf32> {graph.name = "z"}) {
  %y = host.launch @scatter(%x) : (tensor<16xf32>) -> tensor<13xf32>
  %z = host.launch @gather(%x) : (tensor<16xf32>) -> tensor<13xf32>
  return %y, %z : tensor<13xf32>, tensor<13xf32>
}

tile.kernel @scatter(%x: memref<16xf32>, %y: memref<13xf32>) {
  %t = tile.load %x[0] sizes [16] : memref<16xf32> -> tensor<16xf32>
  %i = tile.iota dim 0 to [16] : tensor<16xi32>
  %f = arith.constant dense<5> : tensor<16xi32>
  %n = arith.constant dense<15> : tensor<16xi32>
  %p = arith.muli %i, %f : tensor<16xi32>
  %at = arith.andi %p, %n : tensor<16xi32>
  tile.scatter %t, %y[0] at %at along 0 dims [-1] : tensor<16xf32>, memref<13xf32>, tensor<16xi32>
  tile.return
}

tile.kernel @gather(%x: memref<16xf32>, %y: memref<13xf32>) {
  %i = tile.iota dim 0 to [16] : tensor<16xi32>
  %f = arith.constant dense<13> : tensor<16xi32>
  %n = arith.constant dense<15> : tensor<16xi32>
  %p = arith.muli %i, %f : tensor<16xi32>
  %at = arith.andi %p, %n : tensor<16xi32>
  %t = tile.gather %x[0] at %at along 0 dims [-1] : memref<16xf32>, tensor<16xi32> -> tensor<16xf32>
  tile.store %t, %y[0] : tensor<16xf32>, memref<13xf32>
  tile.return
}

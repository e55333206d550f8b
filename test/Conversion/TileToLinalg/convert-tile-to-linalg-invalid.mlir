// RUN: aopt %s -convert-tile-to-linalg -verify-diagnostics

tile.kernel @unbound(%x: memref<8xf32>) {
  // expected-error @+1 {{expected a specialised tile op}}
  %b = tile.param "B" : index
  %t = tile.load %x[0] sizes [8] : memref<8xf32> -> tensor<8xf32>
  tile.store %t, %x[%b] : tensor<8xf32>, memref<8xf32>
  tile.return
}

// RUN: aopt %s -tile-specialize=params=B=16 -split-input-file -verify-diagnostics

tile.kernel @unbound() {
  // expected-error @+1 {{expected a binding for 'C', but got none}}
  %c = tile.param "C" : index
  tile.return
}

// -----
tile.kernel @menu() {
  // expected-error @+1 {{expected one of 8, 32 for 'B', but got 16}}
  %c = tile.param "B" in [8, 32] : index
  tile.return
}

// -----
// expected-error @+1 {{expected an integer for 'C', but got "x"}}
tile.kernel @dictionary() attributes {tile.params = {C = "x"}} {
  tile.return
}

// -----
tile.kernel @sizes(%x: memref<64xf32>, %y: memref<64xf32>) {
  %b = tile.param "B" : index
  %c8 = arith.constant 8 : index
  %t = tile.load %x[0] sizes [%b] : memref<64xf32> -> tensor<?xf32>
  %u = tile.load %x[0] sizes [%c8] : memref<64xf32> -> tensor<?xf32>
  // expected-error @+1 {{expected tiles of one size, but got 16 and 8}}
  %v = arith.addf %t, %u : tensor<?xf32>
  tile.store %v, %y[0] : tensor<?xf32>, memref<64xf32>
  tile.return
}

// -----
tile.kernel @carried(%x: memref<64xf32>, %y: memref<64xf32>, %n: index) {
  %b = tile.param "B" : index
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %t = tile.load %x[0] sizes [%b] : memref<64xf32> -> tensor<?xf32>
  // expected-error @+1 {{expected the loop to yield a tile of type 'tensor<16xf32>', but got 'tensor<8xf32>'}}
  %r = scf.for %i = %c0 to %n step %c8 iter_args(%a = %t) -> tensor<?xf32> {
    %u = tile.load %x[%i] sizes [%c8] : memref<64xf32> -> tensor<?xf32>
    scf.yield %u : tensor<?xf32>
  }
  tile.store %r, %y[0] : tensor<?xf32>, memref<64xf32>
  tile.return
}

// -----
tile.kernel @dynamic(%x: memref<64xf32>, %y: memref<64xf32>, %n: index) {
  // expected-error @+1 {{expected a static tile after binding, but got 'tensor<?xf32>'}}
  %t = tile.load %x[0] sizes [%n] : memref<64xf32> -> tensor<?xf32>
  tile.store %t, %y[0] : tensor<?xf32>, memref<64xf32>
  tile.return
}

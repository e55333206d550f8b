// RUN: aopt %s -convert-tile-to-vector -split-input-file -verify-diagnostics

tile.kernel @diagonal(%x: memref<8x8xf32>, %y: memref<8x8xf32>) {
  // expected-error @+1 {{expected no tile with two dimensions that run together}}
  %t = tile.load %x[0, 0] sizes [8, 8] : memref<8x8xf32> -> tensor<8x8xf32>
  %u = tile.transpose %t perm [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
  %s = arith.addf %t, %u : tensor<8x8xf32>
  tile.store %s, %y[0, 0] : tensor<8x8xf32>, memref<8x8xf32>
  tile.return
}

// -----
tile.kernel @huge(%x: memref<1000000xf32>, %y: memref<1000000xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %t = tile.load %x[0] sizes [1000000] : memref<1000000xf32> -> tensor<1000000xf32>
  // expected-error @+1 {{expected tiles that fit 512 KB of scratch}}
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %t) -> tensor<1000000xf32> {
    %b = tile.reduce add %a dim 0 : tensor<1000000xf32> -> tensor<f32>
    %c = tile.broadcast %b to [1000000] dims [] : tensor<f32> -> tensor<1000000xf32>
    scf.yield %c : tensor<1000000xf32>
  }
  tile.store %r, %y[0] : tensor<1000000xf32>, memref<1000000xf32>
  tile.return
}

// -----
tile.kernel @prints_a_tile(%x: memref<8xf32>) {
  %t = tile.load %x[0] sizes [8] : memref<8xf32> -> tensor<8xf32>
  // expected-error @+1 {{expected no tile.print, whose kernel convert-tile-to-linalg lowers}}
  tile.print "x", %t : tensor<8xf32>
  tile.return
}

// -----
// A scalar would be printed once for each slice of the program.
tile.kernel @prints_a_scalar(%x: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{expected no tile.print, whose kernel convert-tile-to-linalg lowers}}
  tile.print "one", %c1 : index
  tile.return
}

// -----
func.func private @consume(tensor<8xf32>)
tile.kernel @consumed(%x: memref<8xf32>) {
  %t = tile.load %x[0] sizes [8] : memref<8xf32> -> tensor<8xf32>
  // expected-error @+1 {{expected tile.store or tile.check as the only ops over tiles without a result}}
  func.call @consume(%t) : (tensor<8xf32>) -> ()
  tile.return
}

// -----

// Kernels that read an element of a tile are lowered op by op.
tile.kernel @element(%x: memref<8xf32>, %y: memref<f32>) {
  %t = tile.load %x[0] sizes [8] : memref<8xf32> -> tensor<8xf32>
  %m = tile.reduce max %t dim 0 : tensor<8xf32> -> tensor<f32>
  // expected-error @+1 {{expected a tile as the result of an op over tiles}}
  %s = tensor.extract %m[] : tensor<f32>
  memref.store %s, %y[] : memref<f32>
  tile.return
}

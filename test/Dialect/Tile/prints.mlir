// The op that prints, and errors of its verifier.
// RUN: aopt %s -split-input-file -verify-diagnostics | aopt -split-input-file | FileCheck %s

// CHECK-LABEL: tile.kernel @print
tile.kernel @print(%x: memref<?xf16>, %m: memref<2xf64>, %n: index) {
  %b = tile.param "B" : index
  %t = tile.load %x[0] sizes [%b] : memref<?xf16> -> tensor<?xf16>
  // CHECK: tile.print "x", %{{.*}} : tensor<?xf16>
  tile.print "x", %t : tensor<?xf16>
  // CHECK: tile.print "n" of[%{{.*}}], %{{.*}} : index
  tile.print "n" of [%n], %n : index
  // CHECK: tile.print "m", %{{.*}} : memref<2xf64>
  tile.print "m", %m : memref<2xf64>
  tile.return
}

// -----
tile.kernel @print_c1(%x: memref<?xf32>) {
  // expected-error @+1 {{expected a scalar, a tile or memory of static shape, but got 'memref<?xf32>'}}
  tile.print "x", %x : memref<?xf32>
  tile.return
}

// -----
tile.kernel @print_c2(%x: i128) {
  // expected-error @+1 {{expected elements of at most 64 bits, but got 'i128'}}
  tile.print "x", %x : i128
  tile.return
}

// -----
tile.kernel @print_c3(%n: index) {
  // expected-error @+1 {{expected a label of one line}}
  tile.print "two\nlines", %n : index
  tile.return
}

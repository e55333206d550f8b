// RUN: aopt %s | aopt | FileCheck %s

// CHECK-LABEL: tile.kernel @copy
tile.kernel @copy(%x: memref<64xf32>, %y: memref<64xf32>) {
  %c16 = arith.constant 16 : index
  %c4 = arith.constant 4 : index
  // CHECK: tile.program_id
  %p = tile.program_id (%c4) : index
  %o = arith.muli %p, %c16 : index
  // CHECK: tile.load %{{.*}}[%{{.*}}] sizes [16]
  %t = tile.load %x[%o] sizes [16] : memref<64xf32> -> tensor<16xf32>
  tile.store %t, %y[%o] : tensor<16xf32>, memref<64xf32>
  tile.return
}

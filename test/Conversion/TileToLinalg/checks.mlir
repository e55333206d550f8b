// Checks of tiles, one position at a time; those of one position stay.
// RUN: aopt %s -convert-tile-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @tile(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[AT:.*]] = tensor.extract
// CHECK: tile.check %[[AT]] below %{{.*}} fault 1 : index
tile.kernel @tile(%i: memref<8x64xindex>) {
  %c9 = arith.constant 9 : index
  %t = tile.load %i[0, 0] sizes [8, 64] : memref<8x64xindex> -> tensor<8x64xindex>
  tile.check %t below %c9 fault 1 : tensor<8x64xindex>
  tile.return
}

// CHECK-LABEL: func.func @one(
// CHECK-NOT: scf.if
// CHECK: tile.check %{{.*}} below %{{.*}} fault 0 : index
tile.kernel @one(%i: memref<8xindex>) {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %at = memref.load %i[%c0] : memref<8xindex>
  tile.check %at below %c9 fault 0 : index
  tile.return
}

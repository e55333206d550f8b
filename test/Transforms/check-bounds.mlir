// Windows of tile kernels that begin out of bounds.
// RUN: aopt %s -check-bounds -split-input-file | FileCheck %s

// A store and a load without pad are checked, in each dim whose offset is not a constant
// in bounds; sizes are dynamic or static.
// CHECK-LABEL: tile.kernel @copy(
// CHECK-SAME: %[[X:arg[0-9]+]]: memref<?x4xf32>
// CHECK: tile.program_id
// CHECK: %[[N:.*]] = memref.dim %[[X]], %{{.*}} : memref<?x4xf32>
// CHECK: tile.check absolute %[[AT:[0-9]+]] below %[[N]] fault 0 : index
// CHECK: tile.load %[[X]][%[[AT]], 0]
// CHECK: tile.check absolute %[[AT]] below %{{.*}} fault 1 : index
// CHECK: %[[C4:.*]] = arith.constant 4 : index
// CHECK: tile.check absolute %{{.*}} below %[[C4]] fault 2 : index
// CHECK: tile.store
// CHECK-NOT: tile.check
tile.kernel @copy(%x: memref<?x4xf32>, %y: memref<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  %id = tile.program_id (%n) : index
  %at = arith.muli %id, %id : index
  %t = tile.load %x[%at, 0] sizes [2, 4] : memref<?x4xf32> -> tensor<2x4xf32>
  tile.store %t, %y[%at, 7] : tensor<2x4xf32>, memref<?x4xf32>
  tile.return
}
// The launch has the messages, after its own. They name its nodes, or else its kernel.
// CHECK-LABEL: func.func @main
// CHECK: host.launch @copy(%{{.*}}) {adze.checks = [
// CHECK-SAME: ["copy", "tile.load of argument 0 at {{.*}}check-bounds.mlir:[[#@LINE-7]]:{{[0-9]+}}: expected an offset of dimension 0 in [{1}, {2}), but got {0}"]
// CHECK-SAME: ["copy", "tile.store of argument 1 {{.*}}: expected an offset of dimension 0 in
// CHECK-SAME: ["copy", "tile.store of argument 1 {{.*}}: expected an offset of dimension 1 in
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = host.launch @copy(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// A load with a pad may begin anywhere, and scratch is not memory of the caller.
// CHECK-LABEL: tile.kernel @halo(
// CHECK-NOT: tile.check
// CHECK: host.launch @halo(%{{.*}}) : (
tile.kernel @halo(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %id = tile.program_id (%c1) : index
  %at = arith.subi %id, %c1 : index
  %s = tile.scratch [8] : memref<8xf32>
  %t = tile.load %x[%at] sizes [8] pad 0.0 : f32 : memref<8xf32> -> tensor<8xf32>
  tile.store %t, %s[%id] : tensor<8xf32>, memref<8xf32>
  tile.store %t, %y[0] : tensor<8xf32>, memref<8xf32>
  tile.return
}
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = host.launch @halo(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A gather checks its indices. Its faults follow those of the launch.
// CHECK-LABEL: tile.kernel @rows(
// CHECK: %[[I:.*]] = tile.load
// CHECK: tile.check %{{.*}} below %{{.*}} fault 0 : index
// CHECK: %[[AT:.*]] = arith.index_cast %[[I]] : tensor<4xi64> to tensor<4xindex>
// CHECK: tile.check absolute %[[AT]] below %{{.*}} fault 1 : tensor<4xindex>
// CHECK: tile.gather
// CHECK: adze.checks = {{\[}}["node", "first"], ["rows", "tile.gather of argument 0 {{.*}} expected an index of dimension 0
tile.kernel @rows(%x: memref<9xf32>, %i: memref<4xi64>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %t = tile.load %i[0] sizes [4] : memref<4xi64> -> tensor<4xi64>
  tile.check %c0 below %c9 fault 0 : index
  %g = tile.gather %x[0] at %t along 0 dims [-1] : memref<9xf32>, tensor<4xi64> -> tensor<4xf32>
  tile.store %g, %y[0] : tensor<4xf32>, memref<4xf32>
  tile.return
}
func.func @main(%x: tensor<9xf32>, %i: tensor<4xi64>) -> tensor<4xf32> {
  %0 = host.launch @rows(%x, %i) {adze.checks = [["node", "first"]]} : (tensor<9xf32>, tensor<4xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

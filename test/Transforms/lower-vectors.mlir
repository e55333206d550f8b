// RUN: aopt %s --lower-vectors --split-input-file | FileCheck %s

// The leading dim of one element is dropped.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: (%[[A:.*]]: vector<1x4xf32>, %[[B:.*]]: vector<1x4xf32>)
// CHECK-DAG: %[[X:.*]] = vector.extract %[[A]][0]
// CHECK-DAG: %[[Z:.*]] = vector.extract %[[B]][0]
// CHECK: %[[SUM:.*]] = vector.fma %{{.*}}, %{{.*}}, %[[Z]] : vector<4xf32>
// CHECK: vector.insert %[[SUM]], %{{.*}} [0]
func.func @rows(%a: vector<1x4xf32>, %b: vector<1x4xf32>) -> vector<1x4xf32> {
  %sum = vector.fma %a, %a, %b : vector<1x4xf32>
  return %sum : vector<1x4xf32>
}

// -----

// The last vector of a dynamic row is partial, which becomes a mask.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: (%[[M:.*]]: memref<?xf32>, %[[I:.*]]: index, %[[PAD:.*]]: f32)
// CHECK: %[[N:.*]] = memref.dim %[[M]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[N]], %[[I]]
// CHECK: %[[MASK:.*]] = arith.cmpi sgt
// CHECK: %[[REST:.*]] = vector.broadcast %[[PAD]]
// CHECK: vector.maskedload %[[M]][%[[I]]], %[[MASK]], %[[REST]]
func.func @dynamic(%m: memref<?xf32>, %i: index, %pad: f32) -> vector<8xf32> {
  %x = vector.transfer_read %m[%i], %pad : memref<?xf32>, vector<8xf32>
  return %x : vector<8xf32>
}

// -----

// These have a form in LLVM.
// CHECK-LABEL: func.func @unchanged
// CHECK-NEXT: vector.load %{{.*}} : memref<?xf32>, vector<4xf32>
// CHECK-NEXT: vector.fma %{{.*}} : vector<4xf32>
// CHECK-NEXT: return
func.func @unchanged(%m: memref<?xf32>, %i: index, %b: vector<4xf32>) -> vector<4xf32> {
  %a = vector.load %m[%i] : memref<?xf32>, vector<4xf32>
  %sum = vector.fma %a, %a, %b : vector<4xf32>
  return %sum : vector<4xf32>
}

// -----

// A transfer of two dims becomes one for each row.
// CHECK-LABEL: func.func @matrix
// CHECK-COUNT-2: vector.maskedload %{{.*}} : memref<?x?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
// CHECK-NOT: vector.transfer_read
func.func @matrix(%m: memref<?x?xf32>, %i: index, %pad: f32) -> vector<2x4xf32> {
  %x = vector.transfer_read %m[%i, %i], %pad : memref<?x?xf32>, vector<2x4xf32>
  return %x : vector<2x4xf32>
}

// -----

// The offset of a view is computed.
// CHECK-LABEL: func.func @view
// CHECK-SAME: (%[[M:.*]]: memref<?x8xf32>, %[[I:.*]]: index)
// CHECK: %[[BASE:.*]], %{{.*}}, %{{.*}}:2, %{{.*}}:2 = memref.extract_strided_metadata %[[M]]
// CHECK: %[[AT:.*]] = affine.apply
// CHECK: memref.reinterpret_cast %[[BASE]] to offset: [%[[AT]]]
// CHECK-NOT: memref.subview
func.func @view(%m: memref<?x8xf32>, %i: index) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %v = memref.subview %m[%i, 4] [2, 4] [1, 1] : memref<?x8xf32> to memref<2x4xf32, strided<[8, 1], offset: ?>>
  %x = vector.load %v[%c0, %c0] : memref<2x4xf32, strided<[8, 1], offset: ?>>, vector<4xf32>
  return %x : vector<4xf32>
}

// RUN: aopt %s -tile-attach-targets=cuda=sm_90a -hoist-scratch | FileCheck %s
// RUN: aopt %s -hoist-scratch | FileCheck %s --check-prefix=CPU
// CPU-COUNT-4: memref.alloc

#n = affine_map<()[s0] -> (s0)>

// The dynamic one becomes a result of the launch; the small one stays.
// CHECK-LABEL: func.func private @dynamic(
// CHECK-SAME: memref<?xf32> {adze.dims = #[[N:[a-z0-9]*]]}, %[[S:[a-z0-9]*]]: memref<?x4xf32> {adze.dims = #[[NX4:[a-z0-9]*]]}) attributes
// CHECK: memref.alloc() : memref<8xf32>
// CHECK: memref.store %{{.*}}, %[[S]]
func.func private @dynamic(%x: memref<?xf32> {adze.dims = #n}, %y: memref<?xf32> {adze.dims = #n}) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %s = memref.alloc(%n) : memref<?x4xf32>
  %t = memref.alloc() : memref<8xf32>
  %0 = memref.load %t[%c0] : memref<8xf32>
  memref.store %0, %s[%c0, %c0] : memref<?x4xf32>
  return
}

// Each program has a part of a large one.
// CHECK-LABEL: func.func private @programs(
// CHECK-SAME: %[[S:[a-z0-9]*]]: memref<3x100000xf32>) attributes
// CHECK-NOT: memref.alloc
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[PART:.*]] = memref.subview %[[S]][%[[I]], 0] [1, 100000] [1, 1]
// CHECK: memref.store %{{.*}}, %[[PART]]
func.func private @programs(%x: memref<3xf32>, %y: memref<3xf32>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %s = memref.alloc() : memref<100000xf32>
  scf.for %i = %c0 to %c3 step %c1 {
    %0 = memref.load %x[%i] : memref<3xf32>
    memref.store %0, %s[%i] : memref<100000xf32>
  } {adze.programs}
  return
}

// Its size is data of the kernel, so it stays.
// CHECK-LABEL: func.func private @loaded(
// CHECK: memref.alloc(
func.func private @loaded(%x: memref<3xindex>, %y: memref<3xf32>) attributes {adze.kernel} {
  %c0 = arith.constant 0 : index
  %n = memref.load %x[%c0] : memref<3xindex>
  %s = memref.alloc(%n) : memref<?xf32>
  return
}

// CHECK-LABEL: func.func @main(
// CHECK: %[[Y:.*]]:2 = host.launch @dynamic(%arg0) {num_outputs = 2 : i64} : (tensor<?xf32, #[[N]]>) -> (tensor<?xf32, #[[N]]>, tensor<?x4xf32, #[[NX4]]>)
// CHECK: return %[[Y]]#0
func.func @main(%x: tensor<?xf32, #n>) -> tensor<?xf32, #n> {
  %0 = host.launch @dynamic(%x) : (tensor<?xf32, #n>) -> tensor<?xf32, #n>
  return %0 : tensor<?xf32, #n>
}

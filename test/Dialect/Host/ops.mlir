// RUN: aopt %s | aopt | FileCheck %s
// RUN: aopt %s --mlir-print-op-generic | aopt | FileCheck %s

func.func private @add(memref<4xf32>, memref<4xf32>, memref<4xf32>) attributes {adze.kernel}

// CHECK-LABEL: @tensors
func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: host.launch @add(%{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = host.launch @add(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @places
func.func @places(%x: memref<4xf32>, %y: memref<2x2xf32>) {
  // CHECK: %[[SLOT:.*]] = host.slot {size = 16 : i64} : memref<4xf32>
  %slot = host.slot {size = 16 : i64} : memref<4xf32>
  // CHECK: %[[CONSTANT:.*]] = host.constant dense<1.000000e+00> : tensor<4xf32> -> memref<4xf32>
  %constant = host.constant dense<1.0> : tensor<4xf32> -> memref<4xf32>
  // CHECK: host.launch @add(%{{.*}}, %[[CONSTANT]], %[[SLOT]])
  host.launch @add(%x, %constant, %slot) : (memref<4xf32>, memref<4xf32>, memref<4xf32>) -> ()
  // CHECK: %[[VIEW:.*]] = host.view %[[SLOT]] : memref<4xf32> -> memref<2x2xf32>
  %view = host.view %slot : memref<4xf32> -> memref<2x2xf32>
  // CHECK: host.copy %[[VIEW]] to %{{.*}} {size = 16 : i64} : memref<2x2xf32> to memref<2x2xf32>
  host.copy %view to %y {size = 16 : i64} : memref<2x2xf32> to memref<2x2xf32>
  return
}

// CHECK-LABEL: @symbolic
func.func @symbolic() {
  // CHECK: host.slot {offset = 0 : i64, size = #{{.*}}} : memref<?xf32>
  %slot = host.slot {size = affine_map<()[s0] -> (s0 * 4)>, offset = 0 : i64} : memref<?xf32>
  // CHECK: %[[FIRST:.*]] = host.slot {offset = 0 : i64, size = 8 : i64}
  %first = host.slot {size = 8 : i64, offset = 0 : i64} : memref<2xf32>
  // CHECK: host.slot behind(%{{.*}}, %[[FIRST]] : memref<?xf32>, memref<2xf32>) {size = 16 : i64} : memref<4xf32>
  %second = host.slot behind(%slot, %first : memref<?xf32>, memref<2xf32>) {size = 16 : i64} : memref<4xf32>
  return
}

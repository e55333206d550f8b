// RUN: aopt %s --convert-graph-to-linalg | FileCheck %s

// Results become trailing arguments, which are written directly.
// CHECK-LABEL: func.func private @broadcast(
// CHECK-SAME: %[[X:.*]]: memref<4x8xf32>, %[[Y:.*]]: memref<8xf32>, %[[R:.*]]: memref<4x8xf32>) attributes {adze.kernel}
// CHECK-NOT: memref.alloc
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[Y]] : memref<4x8xf32>, memref<8xf32>) outs(%[[R]] : memref<4x8xf32>)
// CHECK: arith.addf
func.func private @broadcast(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> tensor<4x8xf32> attributes {adze.kernel} {
  %0 = graph.add %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// f16 is computed in f32, and unsigned elements become signless.
// CHECK-LABEL: func.func private @types(
// CHECK-SAME: memref<4xf16>, %{{.*}}: memref<4xf16>, %{{.*}}: memref<4xi8>)
// CHECK: arith.extf
// CHECK: math.exp %{{.*}} : f32
// CHECK: arith.truncf
// CHECK: arith.fptosi %{{.*}} : f16 to i64
// CHECK: arith.trunci %{{.*}} : i64 to i8
func.func private @types(%x: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xui8>) attributes {adze.kernel} {
  %0 = graph.exp %x : (tensor<4xf16>) -> tensor<4xf16>
  %1 = graph.cast %x : (tensor<4xf16>) -> tensor<4xui8>
  return %0, %1 : tensor<4xf16>, tensor<4xui8>
}

// Dims keep their expressions; the value between two ops is a temporary.
// CHECK-LABEL: func.func private @dynamic(
// CHECK-SAME: memref<?x16xf32> {adze.dims = affine_map<()[s0] -> (s0 * 2, 16)>}
// CHECK-SAME: memref<?x16xf32> {adze.dims = affine_map<()[s0] -> (s0 * 2, 16)>}
// CHECK: %[[DIM:.*]] = memref.dim %{{.*}}
// CHECK: memref.alloc(%[[DIM]]) {alignment = 64 : i64} : memref<?x16xf32>
func.func private @dynamic(%x: tensor<?x16xf32, affine_map<()[s0] -> (s0 * 2, 16)>>) -> tensor<?x16xf32, affine_map<()[s0] -> (s0 * 2, 16)>> attributes {adze.kernel} {
  %0 = graph.exp %x : (tensor<?x16xf32, affine_map<()[s0] -> (s0 * 2, 16)>>) -> tensor<?x16xf32, affine_map<()[s0] -> (s0 * 2, 16)>>
  %1 = graph.neg %0 : (tensor<?x16xf32, affine_map<()[s0] -> (s0 * 2, 16)>>) -> tensor<?x16xf32, affine_map<()[s0] -> (s0 * 2, 16)>>
  return %1 : tensor<?x16xf32, affine_map<()[s0] -> (s0 * 2, 16)>>
}

// A reshaped result is written through the reshape; no copy remains.
// CHECK-LABEL: func.func private @reshape(
// CHECK-SAME: %[[X:.*]]: memref<2x6xf32>, %[[R:.*]]: memref<3x4xf32>)
// CHECK: %[[FLAT:.*]] = memref.collapse_shape %[[R]]
// CHECK: %[[VIEW:.*]] = memref.expand_shape %[[FLAT]]
// CHECK: linalg.generic {{.*}} outs(%[[VIEW]] : memref<2x6xf32>)
// CHECK-NOT: memref.copy
// CHECK: return
func.func private @reshape(%x: tensor<2x6xf32>) -> tensor<3x4xf32> attributes {adze.kernel} {
  %0 = graph.exp %x : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %1 = graph.reshape %0 : (tensor<2x6xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// Without expressions, the broadcast operand is determined at run time.
// CHECK-LABEL: func.func private @unknown(
// CHECK: linalg.index 0
// CHECK: arith.cmpi eq
// CHECK: memref.load
func.func private @unknown(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> attributes {adze.kernel} {
  %0 = graph.mul %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// Not a kernel.
// CHECK-LABEL: func.func @main
// CHECK: graph.neg
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Several data-dependent dims.
// CHECK-LABEL: func.func private @reshape_dynamic(
// CHECK-SAME: %[[X:.*]]: memref<2x3x4xf32>, %{{.*}}: memref<3xi64>, %[[R:.*]]: memref<?x?x4xf32>
// CHECK: %[[S:.*]] = arith.muli
// CHECK: %[[V:.*]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [%{{.*}}, %{{.*}}, 4], strides: [%[[S]], 4, 1]
// CHECK: memref.copy %[[V]], %[[R]]
func.func private @reshape_dynamic(%x: tensor<2x3x4xf32>, %s: tensor<3xi64>) -> tensor<?x?x4xf32, affine_map<()[s0, s1] -> (s0, s1, 4)>> attributes {adze.kernel} {
  %0 = graph.reshape %x, %s : (tensor<2x3x4xf32>, tensor<3xi64>) -> tensor<?x?x4xf32, affine_map<()[s0, s1] -> (s0, s1, 4)>>
  return %0 : tensor<?x?x4xf32, affine_map<()[s0, s1] -> (s0, s1, 4)>>
}

// Sizes that are not dims of an operand or result, and quotients by sizes that may be 0,
// are requested from the module.
// CHECK-LABEL: func.func private @product(
// CHECK-DAG: %[[ROWS:.*]] = host.size {value = #{{.*}}}
// CHECK-DAG: %[[COLUMNS:.*]] = host.size {value = #{{.*}}}
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [0], sizes: [%[[ROWS]], %[[COLUMNS]]], strides: [%[[COLUMNS]], 1]
// CHECK: memref.alloc(%[[ROWS]]) {alignment = 64 : i64} : memref<?x1xf32>
#flat = affine_map<()[s0, s1] -> (s0 * s1)>
#rows = affine_map<()[s0, s1] -> (s0, s1)>
#sums = affine_map<()[s0] -> (s0, 1)>
func.func private @product(%x: tensor<?xf32, #flat>) -> tensor<?xf32, #flat> attributes {adze.kernel} {
  %0 = graph.reshape %x : (tensor<?xf32, #flat>) -> tensor<?x?xf32, #rows>
  %1 = graph.reduce_sum %0 {axes = array<i64: 1>, keepdims = true} : (tensor<?x?xf32, #rows>) -> tensor<?x1xf32, #sums>
  %2 = graph.sub %0, %1 : (tensor<?x?xf32, #rows>, tensor<?x1xf32, #sums>) -> tensor<?x?xf32, #rows>
  %3 = graph.reshape %2 : (tensor<?x?xf32, #rows>) -> tensor<?xf32, #flat>
  return %3 : tensor<?xf32, #flat>
}
// CHECK-LABEL: func.func private @quotient(
// CHECK: %[[QUOTIENT:.*]] = host.size {value = #{{.*}}}
// CHECK: memref.alloc(%[[QUOTIENT]])
#quotient = affine_map<()[s0, s1] -> (s0 floordiv s1)>
func.func private @quotient(%x: tensor<?x?xf32, #rows>) -> tensor<f32> attributes {adze.kernel} {
  %0 = graph.constant dense<1.0> : tensor<f32>
  %1 = graph.broadcast_to %0 : (tensor<f32>) -> tensor<?xf32, #quotient>
  %2 = graph.reduce_sum %1 {axes = array<i64: 0>, keepdims = false} : (tensor<?xf32, #quotient>) -> tensor<f32>
  return %2 : tensor<f32>
}

// The number of neighbours of an antialiased position depends on dynamic sizes: a loop
// carries their sum and that of their weights. Neighbours of weight 0 are ignored.
// CHECK-LABEL: func.func private @antialias(
// CHECK: scf.for
// CHECK: %[[SUMS:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (f64, f64)
// CHECK: %[[NONE:.*]] = arith.cmpf oeq
// CHECK: arith.select %[[NONE]]
// CHECK: arith.divf %[[SUMS]]#0, %[[SUMS]]#1 : f64
func.func private @antialias(%x: tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<?xf32, affine_map<()[s0, s1] -> (s1)>> attributes {adze.kernel} {
  %0 = graph.resize %x {antialias = true, mode = #graph.resize_mode<linear>} : (tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>
  return %0 : tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>
}

// No view of an empty tensor, as no position is in bounds.
// CHECK-LABEL: func.func private @empty_pieces(
// CHECK-NOT: memref.subview
// CHECK: return
func.func private @empty_pieces(%x: tensor<2x5x0xf32>, %y: tensor<2x0x0xf32>) -> tensor<2x10x0xf32> attributes {adze.kernel} {
  %0 = graph.concat %x, %y, %x {axis = 1 : i64} : (tensor<2x5x0xf32>, tensor<2x0x0xf32>, tensor<2x5x0xf32>) -> tensor<2x10x0xf32>
  return %0 : tensor<2x10x0xf32>
}

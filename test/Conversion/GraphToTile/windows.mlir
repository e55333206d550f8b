// RUN: aopt %s --convert-graph-to-tile --split-input-file | FileCheck %s

// Padding never affects a maximum.
// CHECK-LABEL: tile.kernel @max
// CHECK: %[[LAST:.*]] = arith.minsi %c3
// CHECK: %[[COUNT:.*]] = arith.subi %[[LAST]]
// CHECK: scf.for %{{.*}} = %c0 to %[[COUNT]]
// CHECK-NOT: scf.for
// CHECK: tile.load %arg0[0, %{{.*}}, -1, %{{.*}}] sizes [28, %{{.*}}] strides [2, 1] pad 0xFF800000
// CHECK: arith.maximumf
// CHECK: tile.load %arg0[0, %{{.*}}, 0, %{{.*}}]
func.func private @max(%x: tensor<1x56x56x64xf32>) -> tensor<1x28x28x64xf32> attributes {adze.kernel} {
  %0 = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x56x56x64xf32>) -> tensor<1x28x28x64xf32>
  return %0 : tensor<1x28x28x64xf32>
}

// -----

// Windows at the border have fewer elements: pixels one by one, counted.
// CHECK-LABEL: tile.kernel @average
// CHECK: tile.load %arg0{{.*}} sizes [%{{.*}}] : memref<1x28x28x24xf32> -> tensor<?xf32>
// CHECK: arith.addf
// CHECK: arith.minsi
// CHECK: arith.sitofp
// CHECK: arith.divf
func.func private @average(%x: tensor<1x28x28x24xf32>) -> tensor<1x14x14x24xf32> attributes {adze.kernel} {
  %0 = graph.avg_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x28x28x24xf32>) -> tensor<1x14x14x24xf32>
  return %0 : tensor<1x14x14x24xf32>
}

// -----

// CHECK-LABEL: tile.kernel @lrn
// CHECK: scf.for {{.*}} to %c5
// CHECK: math.fma
// CHECK: math.log
// CHECK: math.exp
func.func private @lrn(%x: tensor<1x27x27x64xf32>) -> tensor<1x27x27x64xf32> attributes {adze.kernel} {
  %0 = graph.lrn %x {size = 5 : i64, axis = 3 : i64} : (tensor<1x27x27x64xf32>) -> tensor<1x27x27x64xf32>
  return %0 : tensor<1x27x27x64xf32>
}

// -----

// The last dim is kept: a loop over the pixels carries a tile of channels.
// CHECK-LABEL: tile.kernel @global
// CHECK: memref.collapse_shape %arg0 {{\[\[}}0], [1, 2], [3]]
// CHECK: scf.for {{.*}} to %c49
// CHECK: arith.addf
// CHECK: arith.divf
func.func private @global(%x: tensor<1x7x7x2048xf32>) -> tensor<1x1x1x2048xf32> attributes {adze.kernel} {
  %0 = graph.reduce_mean %x {axes = array<i64: 1, 2>} : (tensor<1x7x7x2048xf32>) -> tensor<1x1x1x2048xf32>
  return %0 : tensor<1x1x1x2048xf32>
}

// -----

// The last dim is reduced: each tile is reduced along it.
// CHECK-LABEL: tile.kernel @rows
// CHECK: tile.load %arg0{{.*}} sizes [%{{.*}}, 96]
// CHECK: tile.reduce max %{{.*}} dim 1
func.func private @rows(%x: tensor<32x96xf32>) -> tensor<32xf32> attributes {adze.kernel} {
  %0 = graph.reduce_max %x {axes = array<i64: 1>, keepdims = false} : (tensor<32x96xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}

// RUN: aopt %s --convert-graph-to-tile | FileCheck %s

// A program computes a band of rows. It keeps the three rows of the first result that a
// window covers, with a pixel of padding on both sides. The first row of a band computes
// all three, others one; rows outside of the image are zeros. The result of the depthwise
// convolution is kept for the product.
// CHECK: tile.kernel @chain(%[[X:.*]]: memref<?x56x56x16xf32> {{.*}}, %[[Y:.*]]: memref<?x56x56x16xf32> {{.*}}BAND = 14
// CHECK-DAG: %[[P:.*]]:2 = tile.program_id
// CHECK-DAG: %[[ROWS:.*]] = tile.scratch [{{.*}}] : memref<1x1x56x64xf32>
// CHECK-DAG: %[[KEPT:.*]] = tile.scratch [{{.*}}] : memref<1x3x58x64xf32>
// CHECK: scf.for
// CHECK: tile.phase
// CHECK-DAG: tile.store %{{.*}}, %[[KEPT]][0, %{{.*}}, 0, 0]
// CHECK-DAG: tile.store %{{.*}}, %[[KEPT]][0, %{{.*}}, 57, 0]
// CHECK: scf.for
// CHECK: %[[SKIPPED:.*]] = arith.select %{{.*}}, %c0{{.*}}, %c2
// CHECK: %[[MADE:.*]] = arith.subi %c3, %[[SKIPPED]]
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %[[MADE]]
// CHECK: %[[AT:.*]] = arith.remui %{{.*}}, %c3
// CHECK: scf.if
// CHECK: tile.load %[[X]][%[[P]]#1, %{{.*}}, 0, 0] sizes [56, 16]
// CHECK: tile.dot
// CHECK: tile.store %{{.*}}, %[[KEPT]][0, %[[AT]], 1, 0]
// CHECK: else
// CHECK: tile.store %{{.*}}, %[[KEPT]][0, %[[AT]], 1, 0]
// CHECK-COUNT-9: tile.load %[[KEPT]]
// CHECK: tile.store %{{.*}}, %[[ROWS]][0, 0, 0, 0]
// CHECK: tile.load %[[ROWS]][0, 0, 0, 0] sizes [56, 64]
// CHECK: tile.dot
// CHECK: tile.store %{{.*}}, %[[Y]][%[[P]]#1, %{{.*}}, 0, 0]
#x = affine_map<()[s0] -> (s0, 56, 56, 16)>
#e = affine_map<()[s0] -> (s0, 56, 56, 64)>
func.func private @chain(%x: tensor<?x56x56x16xf32, #x>, %a: tensor<64x16x1x1xf32>, %d: tensor<64x1x3x3xf32>, %p: tensor<16x64x1x1xf32>) -> tensor<?x56x56x16xf32, #x> attributes {adze.kernel} {
  %0 = graph.conv %x, %a {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<?x56x56x16xf32, #x>, tensor<64x16x1x1xf32>) -> tensor<?x56x56x64xf32, #e>
  %1 = graph.relu %0 : (tensor<?x56x56x64xf32, #e>) -> tensor<?x56x56x64xf32, #e>
  %2 = graph.conv %1, %d {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 64 : i64, layout = #graph.layout<nhwc>} : (tensor<?x56x56x64xf32, #e>, tensor<64x1x3x3xf32>) -> tensor<?x56x56x64xf32, #e>
  %3 = graph.conv %2, %p {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<?x56x56x64xf32, #e>, tensor<16x64x1x1xf32>) -> tensor<?x56x56x16xf32, #x>
  return %3 : tensor<?x56x56x16xf32, #x>
}

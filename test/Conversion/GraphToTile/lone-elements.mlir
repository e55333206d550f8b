// Elements that are stored one by one through a view.
// RUN: aopt %s --convert-graph-to-tile | FileCheck %s
// RUN: aopt %s --convert-graph-to-tile --verify-each | aopt --convert-tile-to-linalg -o /dev/null

// CHECK-LABEL: tile.kernel @apart
// CHECK: %[[FLAT:.*]] = memref.collapse_shape %arg1 {{.*}} into memref<?xf32>
// CHECK: %[[X:.*]] = memref.load %arg0
// CHECK: memref.store %[[X]], %[[FLAT]][%{{[a-z0-9]+}}] : memref<?xf32>
#x = affine_map<()[s0] -> (s0, 3, 13, 33)>
#z = affine_map<()[s0] -> (s0, 3, 2, 1)>
#v = affine_map<()[s0] -> (s0, 3, 2)>
#y = affine_map<()[s0] -> (s0, 2, 3)>
func.func private @apart(%x: tensor<?x3x13x33xf32, #x>) -> tensor<?x2x3xf32, #y> attributes {adze.kernel} {
  %0 = graph.slice %x {starts = array<i64: 0, 0, 6, 1>, steps = array<i64: 1, 1, 1, -2>} : (tensor<?x3x13x33xf32, #x>) -> tensor<?x3x2x1xf32, #z>
  %1 = graph.reshape %0 : (tensor<?x3x2x1xf32, #z>) -> tensor<?x3x2xf32, #v>
  %2 = graph.transpose %1 {perm = array<i64: 0, 2, 1>} : (tensor<?x3x2xf32, #v>) -> tensor<?x2x3xf32, #y>
  return %2 : tensor<?x2x3xf32, #y>
}

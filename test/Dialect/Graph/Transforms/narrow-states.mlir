// Caches of f32 are stored in few bits: new rows are rounded, and users of all rows widen
// them.
// RUN: aopt %s -graph-narrow-states=type=f16 -split-input-file | FileCheck %s --check-prefixes=ALL,F16
// RUN: aopt %s -graph-narrow-states=type=int8 -split-input-file | FileCheck %s --check-prefixes=ALL,I8

#past = affine_map<()[s0, s1, s2] -> (s0, 2, s1, 4)>
#new = affine_map<()[s0, s1, s2] -> (s0, 2, s2, 4)>
#all = affine_map<()[s0, s1, s2] -> (s0, 2, s1 + s2, 4)>

// A dim of the past's shape is read from the narrow cache.
// ALL-LABEL: func.func @append(
// F16-SAME: %[[P:[^:]+]]: tensor<?x2x?x4xf16, {{.*}} {graph.name = "past"}
// F16: %[[ROWS:[^ ]+]] = graph.cast %{{[^ ]+}} : {{.*}} -> tensor<?x2x?x4xf16
// F16: %[[PRESENT:[^ ]+]] = graph.concat %[[P]], %[[ROWS]] {axis = 2 : i64}
// F16: %[[WIDE:[^ ]+]] = graph.cast %[[PRESENT]] : {{.*}} -> tensor<?x2x?x4xf32
// F16: graph.neg %[[WIDE]]
// F16: return %[[PRESENT]], %
// I8-SAME: %[[P:[^:]+]]: tensor<?x2x?x4xi8, {{.*}} {graph.name = "past"}
// I8-SAME: %[[S:[^:]+]]: tensor<?x2x?xf32, {{.*}} {graph.name = "past.scale"}
// I8-SAME: -> (tensor<?x2x?x4xi8, {{.*}} {graph.name = "present"}, tensor<?x2x?x4xf32, {{.*}} {graph.name = "y"}, tensor<?x2x?xf32, {{.*}} {graph.name = "present.scale"})
// I8: %[[MOST:[^ ]+]] = graph.reduce_max %{{[^ ]+}} {axes = array<i64: 3>}
// I8: %[[PART:[^ ]+]] = graph.mul %[[MOST]], %
// I8: %[[SCALES:[^ ]+]] = graph.reshape %[[PART]] : {{.*}} -> tensor<?x2x?xf32
// I8: graph.round
// I8: %[[ROWS:[^ ]+]] = graph.cast %{{[^ ]+}} : {{.*}} -> tensor<?x2x?x4xi8
// I8: %[[PRESENT:[^ ]+]] = graph.concat %[[P]], %[[ROWS]] {axis = 2 : i64}
// I8: %[[SUM:[^ ]+]] = graph.concat %[[S]], %[[SCALES]] {axis = 2 : i64}
// I8: %[[WIDE:[^ ]+]] = graph.cast %[[PRESENT]]
// I8: %[[FACTORS:[^ ]+]] = graph.reshape %[[SUM]] : {{.*}} -> tensor<?x2x?x1xf32
// I8: %[[READ:[^ ]+]] = graph.mul %[[WIDE]], %[[FACTORS]]
// I8: graph.neg %[[READ]]
// I8: return %[[PRESENT]], %{{[^ ]+}}, %[[SUM]]
func.func @append(%past: tensor<?x2x?x4xf32, #past> {graph.name = "past"}, %x: tensor<?x2x?x4xf32, #new> {graph.name = "x"})
    -> (tensor<?x2x?x4xf32, #all> {graph.name = "present"}, tensor<?x2x?x4xf32, #all> {graph.name = "y"}) {
  %0 = graph.exp %x : (tensor<?x2x?x4xf32, #new>) -> tensor<?x2x?x4xf32, #new>
  %1 = graph.concat %past, %0 {axis = 2 : i64} : (tensor<?x2x?x4xf32, #past>, tensor<?x2x?x4xf32, #new>) -> tensor<?x2x?x4xf32, #all>
  %2 = graph.neg %1 : (tensor<?x2x?x4xf32, #all>) -> tensor<?x2x?x4xf32, #all>
  return %1, %2 : tensor<?x2x?x4xf32, #all>, tensor<?x2x?x4xf32, #all>
}

// -----

// Rows of zeros stay zeros. The index of a row is also that of its scale.
// ALL-LABEL: func.func @write(
// F16: %[[ZERO:[^ ]+]] = graph.constant dense<0.000000e+00> : tensor<f16>
// F16: %[[ZEROS:[^ ]+]] = graph.broadcast_to %[[ZERO]] : {{.*}} -> tensor<1x2x3x4xf16>
// F16: %[[DATA:[^ ]+]] = graph.concat %{{[^ ]+}}, %[[ZEROS]] {axis = 2 : i64}
// F16: graph.scatter_elements %[[DATA]], %{{[^ ]+}}, %{{[^ ]+}} {axis = 2 : i64} : (tensor<1x2x8x4xf16>, tensor<1x1x3x1xi64>, tensor<1x2x3x4xf16>)
// I8: %[[INDEX:[^ ]+]] = graph.reshape %arg2 : (tensor<1x1x3x1xi64>) -> tensor<1x1x3xi64>
// I8: graph.scatter_elements {{.*}} : (tensor<1x2x8x4xi8>, tensor<1x1x3x1xi64>, tensor<1x2x3x4xi8>)
// I8: graph.scatter_elements %{{[^ ]+}}, %[[INDEX]], %{{[^ ]+}} {axis = 2 : i64} : (tensor<1x2x8xf32>, tensor<1x1x3xi64>, tensor<1x2x3xf32>)
func.func @write(%past: tensor<1x2x5x4xf32> {graph.name = "past"}, %x: tensor<1x2x3x4xf32> {graph.name = "x"}, %i: tensor<1x1x3x1xi64>)
    -> (tensor<1x2x8x4xf32> {graph.name = "present"}) {
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.broadcast_to %zero : (tensor<f32>) -> tensor<1x2x3x4xf32>
  %1 = graph.concat %past, %0 {axis = 2 : i64} : (tensor<1x2x5x4xf32>, tensor<1x2x3x4xf32>) -> tensor<1x2x8x4xf32>
  %3 = graph.scatter_elements %1, %i, %x {axis = 2 : i64} : (tensor<1x2x8x4xf32>, tensor<1x1x3x1xi64>, tensor<1x2x3x4xf32>) -> tensor<1x2x8x4xf32>
  return %3 : tensor<1x2x8x4xf32>
}

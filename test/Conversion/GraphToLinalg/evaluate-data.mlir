// RUN: aopt %s --graph-fold-constants | FileCheck %s

// Indices from the end; out-of-bounds ones are clamped.
// CHECK-LABEL: func @gather
// CHECK-DAG: dense<[30, 10, 30]> : tensor<3xi32>
// CHECK-DAG: dense<{{\[}}[2, 1], [3, 3]]> : tensor<2x2xi32>
// CHECK-DAG: dense<[4, 1]> : tensor<2xi32>
func.func @gather() -> (tensor<3xi32>, tensor<2x2xi32>, tensor<2xi32>) {
  %x = graph.constant dense<[10, 20, 30]> : tensor<3xi32>
  %i = graph.constant dense<[-1, 0, 7]> : tensor<3xi64>
  %m = graph.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %e = graph.constant dense<[[1, 0], [0, 0]]> : tensor<2x2xi64>
  %t = graph.constant dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>
  %0 = graph.gather %x, %i : (tensor<3xi32>, tensor<3xi64>) -> tensor<3xi32>
  %1 = graph.gather_elements %m, %e {axis = 1 : i64} : (tensor<2x2xi32>, tensor<2x2xi64>) -> tensor<2x2xi32>
  %2 = graph.gather_nd %m, %t : (tensor<2x2xi32>, tensor<2x2xi64>) -> tensor<2xi32>
  return %0, %1, %2 : tensor<3xi32>, tensor<2x2xi32>, tensor<2xi32>
}

// NaN selects the second child of a node that tracks missing values.
// CHECK-LABEL: func @tree_leaves
// CHECK: dense<{{\[}}[0, 2, 1], [1, 1, 1], [0, 2, 1], [2, 2, 1]]> : tensor<4x3xi32>
func.func @tree_leaves() -> tensor<4x3xi32> {
  %x = graph.constant dense<[[0.0, 9.0], [1.0, 2.0], [0x7FC00000, 3.0], [1.0, 0x7FC00000]]> : tensor<4x2xf32>
  // Feature -1 (0, with NaN) at most 0.5: node 1 or leaf 0; feature 1 at most 2.0: leaf 2 or 1.
  %n = graph.constant dense<[-3238002688, -4294967295, 5368709120, -4294967299]> : tensor<4xi64>
  %r = graph.constant dense<[0, 1, -2]> : tensor<3xi32>
  %s = graph.constant dense<[2]> : tensor<1xi32>
  %0 = graph.tree_leaves %x, %n, %r, %s : (tensor<4x2xf32>, tensor<4xi64>, tensor<3xi32>, tensor<1xi32>) -> tensor<4x3xi32>
  return %0 : tensor<4x3xi32>
}

// CHECK-LABEL: func @scatter
// CHECK-DAG: dense<[1, 15, 3]> : tensor<3xi32>
// CHECK-DAG: dense<{{\[}}[1, 2], [8, 9]]> : tensor<2x2xi32>
func.func @scatter() -> (tensor<3xi32>, tensor<2x2xi32>) {
  %x = graph.constant dense<[1, 2, 3]> : tensor<3xi32>
  %i = graph.constant dense<[1, -2]> : tensor<2xi64>
  %u = graph.constant dense<[6, 7]> : tensor<2xi32>
  %m = graph.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %t = graph.constant dense<[[1]]> : tensor<1x1xi64>
  %v = graph.constant dense<[[8, 9]]> : tensor<1x2xi32>
  %0 = graph.scatter_elements %x, %i, %u {axis = 0 : i64, reduction = #graph.scatter<add>} : (tensor<3xi32>, tensor<2xi64>, tensor<2xi32>) -> tensor<3xi32>
  %1 = graph.scatter_nd %m, %t, %v : (tensor<2x2xi32>, tensor<1x1xi64>, tensor<1x2xi32>) -> tensor<2x2xi32>
  return %0, %1 : tensor<3xi32>, tensor<2x2xi32>
}

// CHECK-LABEL: func @pad
// CHECK-DAG: dense<[9, 9, 1, 2, 3, 9]> : tensor<6xi32>
// CHECK-DAG: dense<[3, 2, 1, 2, 3, 2]> : tensor<6xi32>
// CHECK-DAG: dense<[1, 1, 1, 2, 3, 3]> : tensor<6xi32>
// CHECK-DAG: dense<[2, 3, 1, 2, 3, 1]> : tensor<6xi32>
// CHECK-DAG: dense<[2, 3, 0]> : tensor<3xi32>
func.func @pad() -> (tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<3xi32>) {
  %x = graph.constant dense<[1, 2, 3]> : tensor<3xi32>
  %v = graph.constant dense<9> : tensor<i32>
  %0 = graph.pad %x, %v {low = array<i64: 2>, high = array<i64: 1>} : (tensor<3xi32>, tensor<i32>) -> tensor<6xi32>
  %1 = graph.pad %x {low = array<i64: 2>, high = array<i64: 1>, mode = #graph.pad_mode<reflect>} : (tensor<3xi32>) -> tensor<6xi32>
  %2 = graph.pad %x {low = array<i64: 2>, high = array<i64: 1>, mode = #graph.pad_mode<edge>} : (tensor<3xi32>) -> tensor<6xi32>
  %3 = graph.pad %x {low = array<i64: 2>, high = array<i64: 1>, mode = #graph.pad_mode<wrap>} : (tensor<3xi32>) -> tensor<6xi32>
  %4 = graph.pad %x {low = array<i64: -1>, high = array<i64: 1>} : (tensor<3xi32>) -> tensor<3xi32>
  return %0, %1, %2, %3, %4 : tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<6xi32>, tensor<3xi32>
}

// CHECK-LABEL: func @rearrange
// CHECK-DAG: dense<[4, 2]> : tensor<2xi32>
// CHECK-DAG: dense<[4, 3, 2, 1]> : tensor<4xi32>
// CHECK-DAG: dense<{{\[}}[1, 2], [0, 4]]> : tensor<2x2xi32>
// CHECK-DAG: dense<[1, 4, 7]> : tensor<3xi64>
// CHECK-DAG: dense<{{\[}}[0, 1, 0], [0, 0, 1]]> : tensor<2x3xi32>
func.func @rearrange() -> (tensor<2xi32>, tensor<4xi32>, tensor<2x2xi32>, tensor<3xi64>, tensor<2x3xi32>) {
  %x = graph.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %m = graph.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %a = graph.constant dense<1> : tensor<i64>
  %b = graph.constant dense<9> : tensor<i64>
  %d = graph.constant dense<3> : tensor<i64>
  %i = graph.constant dense<[1, -1]> : tensor<2xi64>
  %v = graph.constant dense<[0, 1]> : tensor<2xi32>
  %0 = graph.slice %x {starts = array<i64: 3>, steps = array<i64: -2>} : (tensor<4xi32>) -> tensor<2xi32>
  %1 = graph.reverse %x {axes = array<i64: 0>} : (tensor<4xi32>) -> tensor<4xi32>
  %2 = graph.trilu %m : (tensor<2x2xi32>) -> tensor<2x2xi32>
  %3 = graph.range %a, %b, %d : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<3xi64>
  %4 = graph.one_hot %i, %v {axis = 1 : i64} : (tensor<2xi64>, tensor<2xi32>) -> tensor<2x3xi32>
  return %0, %1, %2, %3, %4 : tensor<2xi32>, tensor<4xi32>, tensor<2x2xi32>, tensor<3xi64>, tensor<2x3xi32>
}

// The first one of equal elements.
// CHECK-LABEL: func @top_k
// CHECK-DAG: dense<[5, 5, 4]> : tensor<3xi32>
// CHECK-DAG: dense<[1, 3, 2]> : tensor<3xi64>
func.func @top_k() -> (tensor<3xi32>, tensor<3xi64>) {
  %x = graph.constant dense<[1, 5, 4, 5]> : tensor<4xi32>
  %0, %1 = graph.top_k %x {axis = 0 : i64} : (tensor<4xi32>) -> (tensor<3xi32>, tensor<3xi64>)
  return %0, %1 : tensor<3xi32>, tensor<3xi64>
}

// The least elements along a middle dim, all of them sorted, and none; NaN is the
// greatest.
// CHECK-LABEL: func @top_k_least
// CHECK-DAG: dense<{{\[}}[{{\[}}0.000000e+00, 2.000000e+00], [1.000000e+00, 3.000000e+00], [4.000000e+00, 7.000000e+00]]]> : tensor<1x3x2xf32>
// CHECK-DAG: dense<{{\[}}[{{\[}}1, 3], [4, 0], [0, 1]]]> : tensor<1x3x2xi64>
// CHECK-DAG: dense<[0x7FC00000, 9.000000e+00, 7.000000e+00, 7.000000e+00, 2.000000e+00, 1.000000e+00, -3.000000e+00]> : tensor<7xf32>
// CHECK-DAG: dense<[3, 5, 1, 4, 0, 6, 2]> : tensor<7xi64>
// CHECK-DAG: dense<> : tensor<0xf32>
func.func @top_k_least() -> (tensor<1x3x2xf32>, tensor<1x3x2xi64>, tensor<7xf32>, tensor<7xi64>, tensor<0xf32>) {
  %x = graph.constant dense<[[[4.0, 3.0], [0.0, 7.0], [9.0, 8.0], [8.0, 2.0], [1.0, 9.0]]]> : tensor<1x5x2xf32>
  %0, %1 = graph.top_k %x {axis = 1 : i64, largest = false} : (tensor<1x5x2xf32>) -> (tensor<1x3x2xf32>, tensor<1x3x2xi64>)
  %y = graph.constant dense<[2.0, 7.0, -3.0, 0x7FC00000, 7.0, 9.0, 1.0]> : tensor<7xf32>
  %2, %3 = graph.top_k %y {axis = 0 : i64} : (tensor<7xf32>) -> (tensor<7xf32>, tensor<7xi64>)
  %4, %5 = graph.top_k %y {axis = 0 : i64} : (tensor<7xf32>) -> (tensor<0xf32>, tensor<0xi64>)
  return %0, %1, %2, %3, %4 : tensor<1x3x2xf32>, tensor<1x3x2xi64>, tensor<7xf32>, tensor<7xi64>, tensor<0xf32>
}

// Rows of several vectors, and elements equal to the worst selected one: the first of
// equal ones, also in one vector.
// CHECK-LABEL: func @top_k_vectors
// CHECK-DAG: dense<{{\[}}[0x7FC00000, 1.900000e+01, 1.900000e+01, 1.900000e+01], [2.500000e+01, 2.500000e+01, 1.900000e+01, 1.900000e+01]]> : tensor<2x4xf32>
// CHECK-DAG: dense<{{\[}}[37, 13, 20, 33], [18, 44, 24, 39]]> : tensor<2x4xi64>
// CHECK-DAG: dense<[0, 0, 1, 3, 3]> : tensor<5xui8>
// CHECK-DAG: dense<[123, 149, 64, 70, 130]> : tensor<5xi64>
func.func @top_k_vectors() -> (tensor<2x4xf32>, tensor<2x4xi64>, tensor<5xui8>, tensor<5xi64>) {
  %x = graph.constant dense<[[4.0, -17.0, -12.0, -20.0, 1.0, -1.0, -10.0, -10.0, 1.0, 18.0, 12.0, 0.0, 9.0, 19.0, -6.0, 6.0, -3.0, 6.0, 2.0, -18.0, 19.0, -19.0, 6.0, -15.0, 13.0, 9.0, 4.0, -13.0, 13.0, -5.0, 17.0, 0.0, 10.0, 19.0, -6.0, 8.0, -20.0, 0x7FC00000, -2.0, 17.0, -13.0, 17.0, 13.0, -19.0, 1.0], [-10.0, 16.0, 15.0, 7.0, -4.0, -4.0, 12.0, -4.0, -2.0, -9.0, 12.0, 11.0, -7.0, 17.0, 10.0, 13.0, -18.0, 8.0, 25.0, 6.0, -10.0, 16.0, 7.0, 1.0, 19.0, 9.0, 12.0, -11.0, 13.0, 4.0, -9.0, 0.0, -10.0, -4.0, -8.0, -16.0, -1.0, -4.0, 14.0, 19.0, -19.0, 15.0, -19.0, -2.0, 25.0]]> : tensor<2x45xf32>
  %0, %1 = graph.top_k %x {axis = 1 : i64} : (tensor<2x45xf32>) -> (tensor<2x4xf32>, tensor<2x4xi64>)
  %b = graph.constant dense<[215, 227, 148, 62, 209, 22, 220, 235, 135, 185, 225, 171, 32, 252, 92, 60, 144, 27, 53, 107, 8, 20, 8, 152, 206, 76, 19, 100, 137, 26, 178, 60, 133, 212, 247, 95, 233, 106, 81, 9, 32, 141, 254, 44, 71, 92, 36, 125, 170, 200, 252, 26, 152, 148, 62, 172, 158, 145, 116, 32, 181, 86, 39, 60, 1, 32, 215, 88, 161, 124, 3, 51, 90, 207, 92, 11, 246, 233, 252, 17, 179, 71, 13, 95, 196, 222, 63, 41, 13, 205, 96, 216, 60, 175, 164, 183, 234, 184, 213, 198, 87, 220, 12, 156, 111, 110, 138, 139, 35, 213, 220, 49, 72, 217, 34, 11, 89, 248, 217, 187, 132, 85, 221, 0, 184, 94, 173, 199, 97, 226, 3, 162, 250, 238, 29, 170, 7, 222, 158, 76, 203, 246, 167, 57, 177, 245, 231, 108, 172, 0]> : tensor<150xui8>
  %2, %3 = graph.top_k %b {axis = 0 : i64, largest = false} : (tensor<150xui8>) -> (tensor<5xui8>, tensor<5xi64>)
  return %0, %1, %2, %3 : tensor<2x4xf32>, tensor<2x4xi64>, tensor<5xui8>, tensor<5xi64>
}

// CHECK-LABEL: func @resize
// CHECK-DAG: dense<[1.000000e+00, 1.000000e+00, 3.000000e+00, 3.000000e+00]> : tensor<4xf32>
// CHECK-DAG: dense<[1.000000e+00, 1.500000e+00, 2.500000e+00, 3.000000e+00]> : tensor<4xf32>
// CHECK-DAG: dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<3xf32>
func.func @resize() -> (tensor<4xf32>, tensor<4xf32>, tensor<3xf32>) {
  %x = graph.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %0 = graph.resize %x {scales = array<f64: 2.0>, coordinates = #graph.coordinates<asymmetric>, nearest_mode = #graph.nearest_mode<floor>} : (tensor<2xf32>) -> tensor<4xf32>
  %1 = graph.resize %x {scales = array<f64: 2.0>, mode = #graph.resize_mode<linear>} : (tensor<2xf32>) -> tensor<4xf32>
  %2 = graph.resize %x {mode = #graph.resize_mode<linear>, coordinates = #graph.coordinates<align_corners>} : (tensor<2xf32>) -> tensor<3xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<3xf32>
}

// Of five boxes, the second and the last one are nearly the first one, the third one
// overlaps by a third of the union, and the fourth one has no area. Scores at the bound and
// NaN are no candidates; of equal scores the first one is selected.
// CHECK-LABEL: func @select_boxes
// CHECK-DAG: dense<{{\[\[}}[0, 2, 3, -1], [1, 3, -1, -1]]]> : tensor<1x2x4xi64>
// CHECK-DAG: dense<{{\[\[}}[0, 3], [1, 3]]]> : tensor<1x2x2xi64>
func.func @select_boxes() -> (tensor<1x2x4xi64>, tensor<1x2x2xi64>) {
  %b = graph.constant dense<[[[0.0, 0.0, 0.0, 0.5, 0.1], [0.0, 0.1, 1.0, 0.5, 0.0], [2.0, 2.0, 2.0, 0.5, 2.0], [2.0, 2.0, 3.0, 1.5, 2.0], [4.0, 3.8, 4.0, 0.0, 3.8]]]> : tensor<1x5x5xf32>
  %s = graph.constant dense<[[[0.9, 0.8, 0.7, 0.6, 0.9], [0.2, 0.9, 0x7FC00000, 0.6, 0.7]]]> : tensor<1x2x5xf32>
  %0 = graph.select_boxes %b, %s {overlap = 0.5 : f32, score = 0.2 : f32} : (tensor<1x5x5xf32>, tensor<1x2x5xf32>) -> tensor<1x2x4xi64>
  %1 = graph.select_boxes %b, %s {overlap = 0.3 : f32, score = 0.2 : f32} : (tensor<1x5x5xf32>, tensor<1x2x5xf32>) -> tensor<1x2x2xi64>
  return %0, %1 : tensor<1x2x4xi64>, tensor<1x2x2xi64>
}

// RUN: aopt %s --graph-split-reductions --split-input-file | FileCheck %s

// To a scalar: parts, whose results are summed. Elementwise producers are split as well,
// a scalar operand is not.
// CHECK-LABEL: func.func @scalar
// CHECK: %[[X:.*]] = graph.reshape %arg0 : (tensor<512x256xf32>) -> tensor<1x8x16384xf32>
// CHECK: %[[D:.*]] = graph.sub %[[X]], %arg1 : (tensor<1x8x16384xf32>, tensor<f32>) -> tensor<1x8x16384xf32>
// CHECK: %[[M:.*]] = graph.mul %[[D]], %[[D]]
// CHECK: %[[P:.*]] = graph.reduce_l1 %[[M]] {axes = array<i64: 2>, keepdims = false}
// CHECK: %[[S:.*]] = graph.reduce_sum %[[P]] {axes = array<i64: 1>, keepdims = false} : (tensor<1x8xf32>) -> tensor<1xf32>
// CHECK: %[[R:.*]] = graph.reshape %[[S]] : (tensor<1xf32>) -> tensor<f32>
// CHECK: return %[[R]]
func.func @scalar(%x: tensor<512x256xf32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = graph.sub %x, %y : (tensor<512x256xf32>, tensor<f32>) -> tensor<512x256xf32>
  %1 = graph.mul %0, %0 : (tensor<512x256xf32>, tensor<512x256xf32>) -> tensor<512x256xf32>
  %2 = graph.reduce_l1 %1 {axes = array<i64: 0, 1>, keepdims = false} : (tensor<512x256xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// To few elements, of middle dims. Values with other users are unchanged.
// CHECK-LABEL: func.func @few
// CHECK: %[[E:.*]] = graph.exp %arg0
// CHECK: %[[X:.*]] = graph.reshape %[[E]] : (tensor<2x500x300x3xf32>) -> tensor<2x50x3000x3xf32>
// CHECK: %[[P:.*]] = graph.reduce_mean %[[X]] {axes = array<i64: 2>, keepdims = false} : (tensor<2x50x3000x3xf32>) -> tensor<2x50x3xf32>
// CHECK: graph.reduce_mean %[[P]] {axes = array<i64: 1>, keepdims = false} : (tensor<2x50x3xf32>) -> tensor<2x3xf32>
// CHECK: graph.reshape {{.*}} -> tensor<2x1x1x3xf32>
func.func @few(%x: tensor<2x500x300x3xf32>) -> (tensor<2x1x1x3xf32>, tensor<2x500x300x3xf32>) {
  %0 = graph.exp %x : (tensor<2x500x300x3xf32>) -> tensor<2x500x300x3xf32>
  %1 = graph.reduce_mean %0 {axes = array<i64: 1, 2>} : (tensor<2x500x300x3xf32>) -> tensor<2x1x1x3xf32>
  return %1, %0 : tensor<2x1x1x3xf32>, tensor<2x500x300x3xf32>
}

// -----

// Dynamic sizes: the first dim determines the parts.
// CHECK-LABEL: func.func @unknown
// CHECK: graph.reshape %arg0 : {{.*}} -> tensor<1x?x?xf32,
// CHECK: graph.reduce_max {{.*}} {axes = array<i64: 2>, keepdims = false}
// CHECK: graph.reduce_max {{.*}} {axes = array<i64: 1>, keepdims = false}
#x = affine_map<()[s0, s1] -> (s0, s1)>
func.func @unknown(%x: tensor<?x?xf32, #x>) -> tensor<f32> {
  %0 = graph.reduce_max %x {axes = array<i64: 0, 1>, keepdims = false} : (tensor<?x?xf32, #x>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// A dynamic size that is a multiple of a number: as many parts.
// CHECK-LABEL: func.func @multiple
// CHECK: graph.reshape %arg0 : {{.*}} -> tensor<1x48x?xf32,
// CHECK: graph.reduce_sum {{.*}} {axes = array<i64: 2>, keepdims = false}
// CHECK: graph.reduce_sum {{.*}} {axes = array<i64: 1>, keepdims = false}
// CHECK: graph.reduce_max %arg1 {axes = array<i64: 1>}
#x = affine_map<()[s0, s1] -> (1, s0 * s1 * 96)>
#y = affine_map<()[s0, s1] -> (1, s0 * 6)>
func.func @multiple(%x: tensor<1x?xf32, #x>, %y: tensor<1x?xf32, #y>) -> (tensor<1x1xf32>, tensor<1x1xf32>) {
  %0 = graph.reduce_sum %x {axes = array<i64: 1>} : (tensor<1x?xf32, #x>) -> tensor<1x1xf32>
  %1 = graph.reduce_max %y {axes = array<i64: 1>} : (tensor<1x?xf32, #y>) -> tensor<1x1xf32>
  return %0, %1 : tensor<1x1xf32>, tensor<1x1xf32>
}

// -----

// Few elements, many results, a prime number, means of integers: unchanged, except that a
// scalar keeps a dim.
// CHECK-LABEL: func.func @not
// CHECK: %[[S:.*]] = graph.reduce_sum %arg0 {axes = array<i64: 0, 1>} : (tensor<5x7xf32>) -> tensor<1x1xf32>
// CHECK: graph.reshape %[[S]] : (tensor<1x1xf32>) -> tensor<f32>
// CHECK-NOT: graph.reshape
// CHECK: return
func.func @not(%a: tensor<5x7xf32>, %b: tensor<16x65536xf32>, %c: tensor<1x131101xf32>, %d: tensor<1x65536xi32>) -> (tensor<f32>, tensor<16xf32>, tensor<1xf32>, tensor<1xi32>) {
  %0 = graph.reduce_sum %a {axes = array<i64: 0, 1>, keepdims = false} : (tensor<5x7xf32>) -> tensor<f32>
  %1 = graph.reduce_sum %b {axes = array<i64: 1>, keepdims = false} : (tensor<16x65536xf32>) -> tensor<16xf32>
  %2 = graph.reduce_sum %c {axes = array<i64: 1>, keepdims = false} : (tensor<1x131101xf32>) -> tensor<1xf32>
  %3 = graph.reduce_mean %d {axes = array<i64: 1>, keepdims = false} : (tensor<1x65536xi32>) -> tensor<1xi32>
  return %0, %1, %2, %3 : tensor<f32>, tensor<16xf32>, tensor<1xf32>, tensor<1xi32>
}

// -----

// The sums of parts of f16 are f32, as those within a kernel are, so that the result is
// rounded once. A maximum is exact.
// CHECK-LABEL: func.func @narrow
// CHECK: %[[X:.*]] = graph.reshape %arg0 : (tensor<1x65536xf16>) -> tensor<1x4x16384xf16>
// CHECK: %[[W:.*]] = graph.cast %[[X]] : {{.*}} -> tensor<1x4x16384xf32>
// CHECK: %[[P:.*]] = graph.reduce_sum %[[W]] {axes = array<i64: 2>, keepdims = false} : {{.*}} -> tensor<1x4xf32>
// CHECK: %[[S:.*]] = graph.reduce_sum %[[P]] {axes = array<i64: 1>, keepdims = false} : {{.*}} -> tensor<1xf32>
// CHECK: graph.cast %[[S]] : (tensor<1xf32>) -> tensor<1xf16>
// CHECK-NOT: graph.cast
// CHECK: graph.reduce_max {{.*}} : (tensor<1x4xf16>) -> tensor<1xf16>
func.func @narrow(%x: tensor<1x65536xf16>) -> (tensor<1xf16>, tensor<1xf16>) {
  %0 = graph.reduce_sum %x {axes = array<i64: 1>, keepdims = false} : (tensor<1x65536xf16>) -> tensor<1xf16>
  %1 = graph.reduce_max %x {axes = array<i64: 1>, keepdims = false} : (tensor<1x65536xf16>) -> tensor<1xf16>
  return %0, %1 : tensor<1xf16>, tensor<1xf16>
}

// -----

// One element of more dims than the parts have.
// CHECK-LABEL: func.func @ranks
// CHECK: %[[M:.*]] = graph.reshape %arg1 : (tensor<1x1x1x1xf32>) -> tensor<1x1x1xf32>
// CHECK: graph.sub %{{.*}}, %[[M]]
#y = affine_map<()[s0, s1, s2, s3] -> (s0, s1, s2, s3)>
func.func @ranks(%x: tensor<?x?x?x?xf32, #y>, %m: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %0 = graph.sub %x, %m : (tensor<?x?x?x?xf32, #y>, tensor<1x1x1x1xf32>) -> tensor<?x?x?x?xf32, #y>
  %1 = graph.reduce_mean %0 {axes = array<i64: 0, 1, 2, 3>} : (tensor<?x?x?x?xf32, #y>) -> tensor<1x1x1x1xf32>
  return %1 : tensor<1x1x1x1xf32>
}

// -----

// Reductions of one tensor share its view, and their common producers.
// CHECK-LABEL: func.func @together
// CHECK: %[[X:.*]] = graph.reshape %arg0 : (tensor<80x1024xf32>) -> tensor<1x5x16384xf32>
// CHECK: %[[T:.*]] = graph.tanh %[[X]]
// CHECK: graph.reduce_mean %[[T]] {axes = array<i64: 2>
// CHECK-NOT: graph.reshape %arg0
// CHECK: %[[S:.*]] = graph.mul %[[T]], %[[T]]
// CHECK: graph.reduce_max %[[S]] {axes = array<i64: 2>
// CHECK-NOT: graph.tanh
func.func @together(%x: tensor<80x1024xf32>) -> (tensor<f32>, tensor<f32>) {
  %0 = graph.tanh %x : (tensor<80x1024xf32>) -> tensor<80x1024xf32>
  %1 = graph.reduce_mean %0 {axes = array<i64: 0, 1>, keepdims = false} : (tensor<80x1024xf32>) -> tensor<f32>
  %2 = graph.mul %0, %0 : (tensor<80x1024xf32>, tensor<80x1024xf32>) -> tensor<80x1024xf32>
  %3 = graph.reduce_max %2 {axes = array<i64: 0, 1>, keepdims = false} : (tensor<80x1024xf32>) -> tensor<f32>
  return %1, %3 : tensor<f32>, tensor<f32>
}

// RUN: aopt %s -graph-fold-requantization -graph-fold-constants -canonicalize -split-input-file | FileCheck %s

// Bias, activation and scale become one factor, one summand and one pair of bounds: relu6 is
// [10, 22] in steps of 0.5. The zero point is added after the rounding, which is less exact
// for greater numbers.
// CHECK-LABEL: @relu6
// CHECK-DAG: %[[SCALE:.*]] = graph.constant dense<{{\[\[}}4.000000e+00, 8.000000e+00]]> : tensor<1x2xf32>
// CHECK-DAG: %[[SHIFT:.*]] = graph.constant dense<[2.000000e+00, 4.000000e+00]> : tensor<2xf32>
// CHECK-DAG: %[[ZERO:.*]] = graph.constant dense<1.000000e+01> : tensor<f32>
// CHECK-DAG: %[[HIGH:.*]] = graph.constant dense<2.200000e+01> : tensor<f32>
// CHECK: %[[WIDE:.*]] = graph.cast %arg0
// CHECK: %[[SCALED:.*]] = graph.mul %[[WIDE]], %[[SCALE]]
// CHECK: %[[SHIFTED:.*]] = graph.add %[[SCALED]], %[[SHIFT]]
// CHECK: %[[ROUND:.*]] = graph.round %[[SHIFTED]]
// CHECK: %[[MOVED:.*]] = graph.add %[[ROUND]], %[[ZERO]]
// CHECK: %[[MAX:.*]] = graph.maximum %[[MOVED]], %[[ZERO]]
// CHECK: %[[MIN:.*]] = graph.minimum %[[MAX]], %[[HIGH]]
// CHECK: %[[CAST:.*]] = graph.cast %[[MIN]]
// CHECK: return %[[CAST]]
func.func @relu6(%sum: tensor<?x2xi32, affine_map<()[s0] -> (s0, 2)>>) -> tensor<?x2xui8, affine_map<()[s0] -> (s0, 2)>> {
  %s = graph.constant dense<[[2.0, 4.0]]> : tensor<1x2xf32>
  %b = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %six = graph.constant dense<6.0> : tensor<f32>
  %t = graph.constant dense<0.5> : tensor<f32>
  %z = graph.constant dense<10.0> : tensor<f32>
  %most = graph.constant dense<255.0> : tensor<f32>
  %0 = graph.cast %sum : (tensor<?x2xi32, affine_map<()[s0] -> (s0, 2)>>) -> tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>
  %1 = graph.mul %0, %s : (tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>, tensor<1x2xf32>) -> tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>
  %2 = graph.add %1, %b : (tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>, tensor<2xf32>) -> tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>
  %3 = graph.maximum %2, %zero : (tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>, tensor<f32>) -> tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>
  %4 = graph.minimum %3, %six : (tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>, tensor<f32>) -> tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>
  %5 = graph.div %4, %t : (tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>, tensor<f32>) -> tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>
  %6 = graph.round %5 : (tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>) -> tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>
  %7 = graph.add %6, %z : (tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>, tensor<f32>) -> tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>
  %8 = graph.maximum %7, %zero : (tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>, tensor<f32>) -> tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>
  %9 = graph.minimum %8, %most : (tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>, tensor<f32>) -> tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>
  %10 = graph.cast %9 : (tensor<?x2xf32, affine_map<()[s0] -> (s0, 2)>>) -> tensor<?x2xui8, affine_map<()[s0] -> (s0, 2)>>
  return %10 : tensor<?x2xui8, affine_map<()[s0] -> (s0, 2)>>
}

// -----

// A sum of two dequantized tensors.
// CHECK-LABEL: @sum
// CHECK-DAG: %[[A:.*]] = graph.constant dense<2.000000e+00> : tensor<f32>
// CHECK-DAG: %[[B:.*]] = graph.constant dense<4.000000e+00> : tensor<f32>
// CHECK-DAG: %[[SHIFT:.*]] = graph.constant dense<-1.600000e+01> : tensor<f32>
// CHECK-DAG: %[[ZERO:.*]] = graph.constant dense<3.000000e+00> : tensor<f32>
// CHECK: %[[WA:.*]] = graph.cast %arg0
// CHECK: %[[WB:.*]] = graph.cast %arg1
// CHECK: %[[SA:.*]] = graph.mul %[[WA]], %[[A]]
// CHECK: %[[SB:.*]] = graph.mul %[[WB]], %[[B]]
// CHECK: %[[SUM:.*]] = graph.add %[[SA]], %[[SB]]
// CHECK: %[[SHIFTED:.*]] = graph.add %[[SUM]], %[[SHIFT]]
// CHECK: %[[ROUND:.*]] = graph.round %[[SHIFTED]]
// CHECK: graph.add %[[ROUND]], %[[ZERO]]
func.func @sum(%a: tensor<8xui8>, %b: tensor<8xui8>) -> tensor<8xui8> {
  %s = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %eight = graph.constant dense<8.0> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %three = graph.constant dense<3.0> : tensor<f32>
  %most = graph.constant dense<255.0> : tensor<f32>
  %0 = graph.cast %a : (tensor<8xui8>) -> tensor<8xf32>
  %1 = graph.sub %0, %eight : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = graph.cast %b : (tensor<8xui8>) -> tensor<8xf32>
  %3 = graph.mul %2, %two : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %4 = graph.add %1, %3 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %5 = graph.div %4, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %6 = graph.round %5 : (tensor<8xf32>) -> tensor<8xf32>
  %7 = graph.add %6, %three : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %8 = graph.maximum %7, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %9 = graph.minimum %8, %most : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %10 = graph.cast %9 : (tensor<8xf32>) -> tensor<8xui8>
  return %10 : tensor<8xui8>
}

// -----

// Factors are rounded once: 0.1 * 0.7 / 0.3 in f32 is 0.233333334 if each step is rounded.
// CHECK-LABEL: @rounded_once
// CHECK-DAG: graph.constant dense<0.233333319> : tensor<f32>
func.func @rounded_once(%sum: tensor<8xi32>) -> tensor<8xi8> {
  %s = graph.constant dense<0.1> : tensor<f32>
  %t = graph.constant dense<0.7> : tensor<f32>
  %u = graph.constant dense<0.3> : tensor<f32>
  %least = graph.constant dense<-128.0> : tensor<f32>
  %most = graph.constant dense<127.0> : tensor<f32>
  %0 = graph.cast %sum : (tensor<8xi32>) -> tensor<8xf32>
  %1 = graph.mul %0, %s : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = graph.mul %1, %t : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = graph.div %2, %u : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %4 = graph.round %3 : (tensor<8xf32>) -> tensor<8xf32>
  %5 = graph.maximum %4, %least : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %6 = graph.minimum %5, %most : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %7 = graph.cast %6 : (tensor<8xf32>) -> tensor<8xi8>
  return %7 : tensor<8xi8>
}

// -----

// Values that are not computed from integers are divided; also a sum with other users.
// CHECK-LABEL: @refused
// CHECK-COUNT-2: graph.div
func.func @refused(%x: tensor<8xf32>, %a: tensor<8xui8>) -> (tensor<8xui8>, tensor<8xui8>, tensor<8xf32>) {
  %half = graph.constant dense<0.3> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %most = graph.constant dense<255.0> : tensor<f32>
  %0 = graph.div %x, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = graph.round %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = graph.maximum %1, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = graph.minimum %2, %most : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %4 = graph.cast %3 : (tensor<8xf32>) -> tensor<8xui8>
  %5 = graph.cast %a : (tensor<8xui8>) -> tensor<8xf32>
  %6 = graph.exp %5 : (tensor<8xf32>) -> tensor<8xf32>
  %7 = graph.add %5, %6 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %8 = graph.div %7, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %9 = graph.round %8 : (tensor<8xf32>) -> tensor<8xf32>
  %10 = graph.maximum %9, %zero : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %11 = graph.minimum %10, %most : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %12 = graph.cast %11 : (tensor<8xf32>) -> tensor<8xui8>
  return %4, %12, %7 : tensor<8xui8>, tensor<8xui8>, tensor<8xf32>
}

// -----

// Bytes that are quantized by the scale and zero point that they were dequantized by stay
// as they are; those with another zero point or scale, or bounds within their range, don't.
// CHECK-LABEL: @same
// CHECK-SAME: (%[[X:[^:]*]]:
// CHECK-COUNT-3: graph.round
// CHECK-NOT: graph.round
// CHECK: return %[[X]],
func.func @same(%x: tensor<?x8xui8, affine_map<()[s0] -> (s0, 8)>>) -> (tensor<?x8xui8, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xui8, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xui8, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xui8, affine_map<()[s0] -> (s0, 8)>>) {
  %s = graph.constant dense<0.3> : tensor<f32>
  %t = graph.constant dense<0.4> : tensor<f32>
  %z = graph.constant dense<100.0> : tensor<f32>
  %y = graph.constant dense<101.0> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %most = graph.constant dense<255.0> : tensor<f32>
  %0 = graph.cast %x : (tensor<?x8xui8, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %1 = graph.sub %0, %z : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<f32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %2 = graph.mul %1, %s : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<f32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %3 = graph.relu %2 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %a0 = graph.div %2, %s : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<f32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %a1 = graph.round %a0 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %a2 = graph.add %a1, %z : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<f32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %a3 = graph.maximum %a2, %zero : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<f32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %a4 = graph.minimum %a3, %most : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<f32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %a5 = graph.cast %a4 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xui8, affine_map<()[s0] -> (s0, 8)>>
  %b0 = graph.div %2, %s : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<f32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %b1 = graph.round %b0 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %b2 = graph.add %b1, %y : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<f32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %b3 = graph.maximum %b2, %zero : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<f32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %b4 = graph.minimum %b3, %most : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<f32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %b5 = graph.cast %b4 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xui8, affine_map<()[s0] -> (s0, 8)>>
  %c0 = graph.div %2, %t : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<f32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %c1 = graph.round %c0 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %c2 = graph.add %c1, %z : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<f32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %c3 = graph.maximum %c2, %zero : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<f32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %c4 = graph.minimum %c3, %most : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<f32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %c5 = graph.cast %c4 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xui8, affine_map<()[s0] -> (s0, 8)>>
  %d0 = graph.div %3, %s : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<f32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %d1 = graph.round %d0 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %d2 = graph.add %d1, %z : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<f32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %d3 = graph.maximum %d2, %zero : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<f32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %d4 = graph.minimum %d3, %most : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<f32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %d5 = graph.cast %d4 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xui8, affine_map<()[s0] -> (s0, 8)>>
  return %a5, %b5, %c5, %d5 : tensor<?x8xui8, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xui8, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xui8, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xui8, affine_map<()[s0] -> (s0, 8)>>
}

// -----

// Operands of a product of two activations: the bytes are converted before they are moved,
// except those with another use, and in a product of dynamic sizes.
// CHECK-LABEL: @moved
// CHECK: %[[BYTES:.*]] = graph.cast %{{.*}} : (tensor<2x16x8xf32>) -> tensor<2x16x8xui8>
// CHECK: %[[WIDE:.*]] = graph.cast %[[BYTES]] : (tensor<2x16x8xui8>) -> tensor<2x16x8xf16>
// CHECK: %[[LESS:.*]] = graph.sub %[[WIDE]], %{{.*}} : (tensor<2x16x8xf16>, tensor<f16>)
// CHECK-DAG: %[[SPLIT:.*]] = graph.reshape %[[LESS]] : (tensor<2x16x8xf16>) -> tensor<2x16x2x4xf16>
// CHECK-DAG: %[[LEFT:.*]] = graph.transpose %[[SPLIT]]
// CHECK-DAG: graph.transpose %{{.*}} : (tensor<2x4x2x16xui8>) -> tensor<2x2x4x16xui8>
// CHECK: graph.matmul %[[LEFT]], %{{.*}} {wide_result}
func.func @moved(%x: tensor<2x16x8xf32>, %y: tensor<2x4x2x16xf32>) -> (tensor<2x2x16x16xf32>, tensor<2x4x2x16xui8>) {
  %z = graph.constant dense<3.0> : tensor<f16>
  %q = graph.cast %x : (tensor<2x16x8xf32>) -> tensor<2x16x8xui8>
  %0 = graph.reshape %q : (tensor<2x16x8xui8>) -> tensor<2x16x2x4xui8>
  %1 = graph.transpose %0 {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x16x2x4xui8>) -> tensor<2x2x16x4xui8>
  %2 = graph.cast %1 : (tensor<2x2x16x4xui8>) -> tensor<2x2x16x4xf16>
  %3 = graph.sub %2, %z : (tensor<2x2x16x4xf16>, tensor<f16>) -> tensor<2x2x16x4xf16>
  %r = graph.cast %y : (tensor<2x4x2x16xf32>) -> tensor<2x4x2x16xui8>
  %4 = graph.transpose %r {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x4x2x16xui8>) -> tensor<2x2x4x16xui8>
  %5 = graph.cast %4 : (tensor<2x2x4x16xui8>) -> tensor<2x2x4x16xf16>
  %6 = graph.matmul %3, %5 {wide_result} : (tensor<2x2x16x4xf16>, tensor<2x2x4x16xf16>) -> tensor<2x2x16x16xf32>
  return %6, %r : tensor<2x2x16x16xf32>, tensor<2x4x2x16xui8>
}

// -----

#rows = affine_map<()[s0] -> (s0, 2, 4)>
#turned = affine_map<()[s0] -> (2, s0, 4)>
#result = affine_map<()[s0] -> (2, s0, 16)>
// CHECK-LABEL: @dynamic
// CHECK: graph.transpose %{{.*}} -> tensor<2x?x4xui8, #map
func.func @dynamic(%x: tensor<?x2x4xf32, #rows>, %w: tensor<2x4x16xf16>) -> tensor<2x?x16xf32, #result> {
  %q = graph.cast %x : (tensor<?x2x4xf32, #rows>) -> tensor<?x2x4xui8, #rows>
  %0 = graph.transpose %q {perm = array<i64: 1, 0, 2>} : (tensor<?x2x4xui8, #rows>) -> tensor<2x?x4xui8, #turned>
  %1 = graph.cast %0 : (tensor<2x?x4xui8, #turned>) -> tensor<2x?x4xf16, #turned>
  %2 = graph.matmul %1, %w {wide_result} : (tensor<2x?x4xf16, #turned>, tensor<2x4x16xf16>) -> tensor<2x?x16xf32, #result>
  return %2 : tensor<2x?x16xf32, #result>
}

// RUN: aopt %s -graph-form-byte-tables -canonicalize | FileCheck %s

// The square of a byte, saturated: 0, 1, 4, 9, .. 225 = 0xE1, 255. Bytes of any shape.
// CHECK-LABEL: @square
// CHECK-NEXT: %[[R:.*]] = graph.byte_lookup %arg0 {table = dense<"0x00010409101924314051647990A9C4E1FFFF
// CHECK-SAME: tensor<256xui8>} : (tensor<?x4xui8, #map>) -> tensor<?x4xui8, #map>
// CHECK-NEXT: return %[[R]]
#dims = affine_map<()[s0] -> (s0, 4)>
func.func @square(%x: tensor<?x4xui8, #dims>) -> tensor<?x4xui8, #dims> {
  %two = graph.constant dense<2.0> : tensor<f32>
  %most = graph.constant dense<255.0> : tensor<1xf32>
  %0 = graph.cast %x : (tensor<?x4xui8, #dims>) -> tensor<?x4xf32, #dims>
  %1 = graph.pow %0, %two : (tensor<?x4xf32, #dims>, tensor<f32>) -> tensor<?x4xf32, #dims>
  %2 = graph.minimum %1, %most : (tensor<?x4xf32, #dims>, tensor<1xf32>) -> tensor<?x4xf32, #dims>
  %3 = graph.cast %2 : (tensor<?x4xf32, #dims>) -> tensor<?x4xui8, #dims>
  return %3 : tensor<?x4xui8, #dims>
}

// The terms are quantized to bytes of their own: x * (x^2 mod 256), as signed bytes; entry 128 is
// that of -128. A scale may be computed from constants.
// CHECK-LABEL: @terms
// CHECK-NEXT: %[[R:.*]] = graph.byte_lookup %arg0 {table = dense<"0x0001081B407DD857
// CHECK-SAME: tensor<256xi8>} : (tensor<8xi8>) -> tensor<8xi8>
// CHECK-NEXT: return %[[R]]
func.func @terms(%x: tensor<8xi8>) -> tensor<8xi8> {
  %two = graph.constant dense<2> : tensor<ui8>
  %scale = graph.cast %two : (tensor<ui8>) -> tensor<f32>
  %0 = graph.cast %x : (tensor<8xi8>) -> tensor<8xf32>
  %1 = graph.pow %0, %scale : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = graph.cast %1 : (tensor<8xf32>) -> tensor<8xi32>
  %3 = graph.cast %2 : (tensor<8xi32>) -> tensor<8xi8>
  %4 = graph.mul %x, %3 : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
  return %4 : tensor<8xi8>
}

// Bytes that are dequantized again, for a sum with something else.
// CHECK-LABEL: @residual
// CHECK: graph.byte_lookup %arg0 {table = dense<"0x0001040910
// CHECK: graph.add %{{.*}}, %arg1
func.func @residual(%x: tensor<8xui8>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %two = graph.constant dense<2.0> : tensor<f32>
  %0 = graph.cast %x : (tensor<8xui8>) -> tensor<8xf32>
  %1 = graph.pow %0, %two : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = graph.cast %1 : (tensor<8xf32>) -> tensor<8xui8>
  %3 = graph.cast %2 : (tensor<8xui8>) -> tensor<8xf32>
  %4 = graph.mul %3, %two : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %5 = graph.add %4, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %5 : tensor<8xf32>
}

// No function; a constant for each column; two sources; a result that is no byte, or has another
// shape.
// CHECK-LABEL: @others
// CHECK-NOT: graph.byte_lookup
func.func @others(%x: tensor<2x4xui8>, %y: tensor<2x4xui8>, %z: tensor<ui8>) -> (tensor<2x4xui8>, tensor<2x4xui8>, tensor<2x4xui8>, tensor<2x4xf32>, tensor<1xui8>) {
  %two = graph.constant dense<2.0> : tensor<f32>
  %some = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = graph.cast %x : (tensor<2x4xui8>) -> tensor<2x4xf32>
  %1 = graph.mul %0, %two : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %2 = graph.cast %1 : (tensor<2x4xf32>) -> tensor<2x4xui8>
  %3 = graph.pow %0, %some : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %4 = graph.cast %3 : (tensor<2x4xf32>) -> tensor<2x4xui8>
  %5 = graph.cast %y : (tensor<2x4xui8>) -> tensor<2x4xf32>
  %6 = graph.pow %0, %5 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %7 = graph.cast %6 : (tensor<2x4xf32>) -> tensor<2x4xui8>
  %8 = graph.pow %0, %two : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %one = graph.constant dense<2.0> : tensor<1xf32>
  %9 = graph.cast %z : (tensor<ui8>) -> tensor<f32>
  %10 = graph.pow %9, %one : (tensor<f32>, tensor<1xf32>) -> tensor<1xf32>
  %11 = graph.cast %10 : (tensor<1xf32>) -> tensor<1xui8>
  return %2, %4, %7, %8, %11 : tensor<2x4xui8>, tensor<2x4xui8>, tensor<2x4xui8>, tensor<2x4xf32>, tensor<1xui8>
}

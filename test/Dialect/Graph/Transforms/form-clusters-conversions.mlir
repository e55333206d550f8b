// RUN: aopt %s --graph-form-clusters --split-input-file | FileCheck %s

// Values converted from 8-bit integers are stored as integers, and converted by the
// kernel that reads them.
// CHECK-LABEL: func.func @reader(
// CHECK: %[[BYTES:.*]] = graph.cluster{{.*}} anchor "matmul" : {{.*}} -> tensor<?x8xui8
// CHECK-NOT: xui8{{.*}} -> tensor<?x8xf32
// CHECK: graph.cluster({{.*}} = %[[BYTES]]{{.*}}) anchor "matmul"
// CHECK: graph.cast %{{.*}} : (tensor<?x8xui8, {{.*}}) -> tensor<?x8xf32
// CHECK: graph.mul
// CHECK: graph.add
func.func @reader(%a: tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>, %b: tensor<4x8xf32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.matmul %a, %b : (tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>, tensor<4x8xf32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %1 = graph.cast %0 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xui8, affine_map<()[s0] -> (s0, 8)>>
  %2 = graph.cast %1 : (tensor<?x8xui8, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %3 = graph.mul %2, %s : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<f32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %4 = graph.exp %a : (tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>
  %5 = graph.matmul %4, %b : (tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>, tensor<4x8xf32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %6 = graph.add %5, %3 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  return %6 : tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
}

// -----

// An operand of a product is not computed in its kernel.
// CHECK-LABEL: func.func @operand(
// CHECK: graph.cluster{{.*}} anchor "matmul" : {{.*}} -> tensor<4x4xf32>
// CHECK: graph.cast %{{.*}} : (tensor<4x4xui8>) -> tensor<4x4xf32>
// CHECK: graph.cluster{{.*}} anchor "matmul" : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NOT: graph.cast
// CHECK: return
func.func @operand(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.matmul %a, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.cast %0 : (tensor<4x4xf32>) -> tensor<4x4xui8>
  %2 = graph.cast %1 : (tensor<4x4xui8>) -> tensor<4x4xf32>
  %3 = graph.mul %2, %s : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %4 = graph.matmul %3, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// An integer between bounds is equal as f32: within a kernel it is not converted to 8
// bits and back.
// CHECK-LABEL: func.func @rounded(
// CHECK: %[[MIN:.*]] = graph.minimum
// CHECK-NOT: graph.cast
// CHECK: graph.mul %[[MIN]]
func.func @rounded(%x: tensor<8xf32>) -> tensor<8xf32> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %low = graph.constant dense<0.0> : tensor<f32>
  %high = graph.constant dense<255.0> : tensor<f32>
  %0 = graph.round %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.maximum %0, %low : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = graph.minimum %1, %high : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = graph.cast %2 : (tensor<8xf32>) -> tensor<8xui8>
  %4 = graph.cast %3 : (tensor<8xui8>) -> tensor<8xf32>
  %5 = graph.mul %4, %s : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %5 : tensor<8xf32>
}

// -----

// A sum of constants that was not folded converts nothing.
// CHECK-LABEL: func.func @constants(
// CHECK: graph.cluster
// CHECK: graph.add
func.func @constants() -> tensor<8xf32> {
  %0 = graph.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
  %1 = graph.constant dense<3.0> : tensor<f32>
  %2 = graph.add %0, %1 : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// The zero point of such an integer moves to the summand of the sum: 100 * 0.5 - 50 is zero.
// CHECK-LABEL: func.func @zero_point(
// CHECK: %[[ROUND:.*]] = graph.round
// CHECK: %[[LOW:.*]] = graph.constant dense<-1.000000e+02> : tensor<f32>
// CHECK: %[[MAX:.*]] = graph.maximum %[[ROUND]], %[[LOW]]
// CHECK: %[[HIGH:.*]] = graph.constant dense<1.550000e+02> : tensor<f32>
// CHECK: %[[MIN:.*]] = graph.minimum %[[MAX]], %[[HIGH]]
// CHECK: %[[SCALED:.*]] = graph.mul %[[MIN]]
// CHECK: %[[SUM:.*]] = graph.add %{{.*}}, %[[SCALED]]
// CHECK: graph.round %[[SUM]]
func.func @zero_point(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %s = graph.constant dense<0.5> : tensor<f32>
  %o = graph.constant dense<-50.0> : tensor<f32>
  %z = graph.constant dense<100.0> : tensor<f32>
  %low = graph.constant dense<0.0> : tensor<f32>
  %high = graph.constant dense<255.0> : tensor<f32>
  %0 = graph.round %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.add %0, %z : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = graph.maximum %1, %low : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = graph.minimum %2, %high : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %4 = graph.cast %3 : (tensor<8xf32>) -> tensor<8xui8>
  %5 = graph.cast %4 : (tensor<8xui8>) -> tensor<8xf32>
  %6 = graph.mul %5, %s : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %7 = graph.add %y, %6 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %8 = graph.add %7, %o : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %9 = graph.round %8 : (tensor<8xf32>) -> tensor<8xf32>
  return %9 : tensor<8xf32>
}

// -----

// Another summand stays: 100 * 0.5 - 40. A value that is read otherwise, too, keeps its
// zero point.
// CHECK-LABEL: func.func @other_zero_points(
// CHECK-DAG: graph.constant dense<-1.000000e+02> : tensor<f32>
// CHECK-DAG: graph.constant dense<1.000000e+01> : tensor<f32>
// CHECK-DAG: graph.constant dense<1.000000e+02> : tensor<f32>
// CHECK-DAG: graph.constant dense<-4.000000e+01> : tensor<f32>
func.func @other_zero_points(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xui8>) {
  %s = graph.constant dense<0.5> : tensor<f32>
  %o = graph.constant dense<-40.0> : tensor<f32>
  %z = graph.constant dense<100.0> : tensor<f32>
  %low = graph.constant dense<0.0> : tensor<f32>
  %high = graph.constant dense<255.0> : tensor<f32>
  %0 = graph.round %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.add %0, %z : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = graph.maximum %1, %low : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = graph.minimum %2, %high : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %4 = graph.cast %3 : (tensor<8xf32>) -> tensor<8xui8>
  %5 = graph.cast %4 : (tensor<8xui8>) -> tensor<8xf32>
  %6 = graph.mul %5, %s : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %7 = graph.add %6, %o : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %8 = graph.round %y : (tensor<8xf32>) -> tensor<8xf32>
  %9 = graph.add %8, %z : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %10 = graph.maximum %9, %low : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %11 = graph.minimum %10, %high : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %12 = graph.cast %11 : (tensor<8xf32>) -> tensor<8xui8>
  %13 = graph.cast %12 : (tensor<8xui8>) -> tensor<8xf32>
  %14 = graph.mul %13, %s : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %15 = graph.add %14, %o : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %7, %15, %12 : tensor<8xf32>, tensor<8xf32>, tensor<8xui8>
}

// -----

// Each kernel that reads a value widened from 16 bits converts it, so that it reads half
// the bytes.
// CHECK-LABEL: func.func @bias(
// CHECK: graph.cluster({{.*}} = %arg3) anchor "reduce_max" : (tensor<1x4x64x64xf16>) -> tensor<1x4x64x1xf32>
// CHECK-NEXT: graph.cast
// CHECK: graph.cluster({{.*}} = %arg3{{.*}}) anchor "attention"
// CHECK: %[[BIAS:.*]] = graph.cast %{{.*}} : (tensor<1x4x64x64xf16>) -> tensor<1x4x64x64xf32>
// CHECK: graph.attention {{.*}} bias %[[BIAS]]
func.func @bias(%q: tensor<2x4x64x32xf32>, %k: tensor<2x4x64x32xf32>, %v: tensor<2x4x64x32xf32>, %b: tensor<1x4x64x64xf16>) -> (tensor<2x4x64x32xf32>, tensor<1x4x64x1xf32>) {
  %0 = graph.cast %b : (tensor<1x4x64x64xf16>) -> tensor<1x4x64x64xf32>
  %1 = graph.reduce_max %0 {axes = array<i64: 3>} : (tensor<1x4x64x64xf32>) -> tensor<1x4x64x1xf32>
  %2 = graph.attention %q, %k, %v bias %0 {scale = 0.125 : f64} : (tensor<2x4x64x32xf32>, tensor<2x4x64x32xf32>, tensor<2x4x64x32xf32>, tensor<1x4x64x64xf32>) -> tensor<2x4x64x32xf32>
  return %2, %1 : tensor<2x4x64x32xf32>, tensor<1x4x64x1xf32>
}

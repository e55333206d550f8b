// RUN: aopt %s --convert-graph-to-tile --split-input-file | FileCheck %s

// A sum of scaled integers that is converted to integers is computed by fused multiply-adds,
// except for one product.
// CHECK-LABEL: tile.kernel @requantized(
// CHECK: %[[X:.*]] = arith.uitofp
// CHECK: %[[SCALED:.*]] = arith.mulf %[[X]]
// CHECK: %[[Y:.*]] = arith.sitofp
// CHECK: %[[SUM:.*]] = math.fma %[[Y]], %{{.*}}, %[[SCALED]]
// CHECK: %[[MOVED:.*]] = arith.addf %[[SUM]]
// CHECK: math.roundeven %[[MOVED]]
func.func @requantized(%x: tensor<64xui8>, %y: tensor<64xi8>) -> tensor<64xui8> attributes {adze.kernel} {
  %s = graph.constant dense<0.7> : tensor<f32>
  %t = graph.constant dense<1.3> : tensor<f32>
  %o = graph.constant dense<-4.1> : tensor<f32>
  %low = graph.constant dense<0.0> : tensor<f32>
  %high = graph.constant dense<255.0> : tensor<f32>
  %0 = graph.cast %x : (tensor<64xui8>) -> tensor<64xf32>
  %1 = graph.mul %0, %s : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %2 = graph.cast %y : (tensor<64xi8>) -> tensor<64xf32>
  %3 = graph.mul %2, %t : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %4 = graph.add %1, %3 : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %5 = graph.add %4, %o : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %6 = graph.round %5 : (tensor<64xf32>) -> tensor<64xf32>
  %7 = graph.maximum %6, %low : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %8 = graph.minimum %7, %high : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %9 = graph.cast %8 : (tensor<64xf32>) -> tensor<64xui8>
  return %9 : tensor<64xui8>
}

// -----

// Products of other floats, and sums that stay floats, are rounded as ONNX defines.
// CHECK-LABEL: tile.kernel @others(
// CHECK-NOT: math.fma
// CHECK: tile.return
func.func @others(%x: tensor<64xf32>, %y: tensor<64xi8>) -> (tensor<64xui8>, tensor<64xf32>) attributes {adze.kernel} {
  %s = graph.constant dense<0.7> : tensor<f32>
  %low = graph.constant dense<0.0> : tensor<f32>
  %high = graph.constant dense<255.0> : tensor<f32>
  %0 = graph.mul %x, %s : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %1 = graph.add %0, %x : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %2 = graph.round %1 : (tensor<64xf32>) -> tensor<64xf32>
  %3 = graph.maximum %2, %low : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %4 = graph.minimum %3, %high : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %5 = graph.cast %4 : (tensor<64xf32>) -> tensor<64xui8>
  %6 = graph.cast %y : (tensor<64xi8>) -> tensor<64xf32>
  %7 = graph.mul %6, %s : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %8 = graph.add %7, %x : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %5, %8 : tensor<64xui8>, tensor<64xf32>
}

// -----

// A scaled integer that is rounded between bounds, and read as a float, is rounded by adding
// 3 * 2^22: a fused multiply-add. One that is converted to an integer is not.
// CHECK-LABEL: tile.kernel @inner(
// CHECK: %[[X:.*]] = arith.sitofp
// CHECK: arith.constant 0x4B400000 : f32
// CHECK: %[[SUM:.*]] = math.fma %[[X]]
// CHECK: arith.constant 0x4B3FFF9C : f32
// CHECK: %[[MAX:.*]] = arith.maximumf %[[SUM]]
// CHECK: arith.constant 0x4B40009B : f32
// CHECK: %[[MIN:.*]] = arith.minimumf %[[MAX]]
// CHECK: %[[WHOLE:.*]] = arith.subf %[[MIN]]
// CHECK: arith.mulf %[[WHOLE]]
// CHECK: math.roundeven
// CHECK-NOT: math.roundeven
func.func @inner(%x: tensor<64xi32>) -> tensor<64xi8> attributes {adze.kernel} {
  %s = graph.constant dense<0.7> : tensor<f32>
  %t = graph.constant dense<0.3> : tensor<f32>
  %low = graph.constant dense<-100.0> : tensor<f32>
  %high = graph.constant dense<155.0> : tensor<f32>
  %least = graph.constant dense<-128.0> : tensor<f32>
  %most = graph.constant dense<127.0> : tensor<f32>
  %0 = graph.cast %x : (tensor<64xi32>) -> tensor<64xf32>
  %1 = graph.mul %0, %s : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %2 = graph.round %1 : (tensor<64xf32>) -> tensor<64xf32>
  %3 = graph.maximum %2, %low : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %4 = graph.minimum %3, %high : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %5 = graph.mul %4, %t : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %6 = graph.round %5 : (tensor<64xf32>) -> tensor<64xf32>
  %7 = graph.maximum %6, %least : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %8 = graph.minimum %7, %most : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %9 = graph.cast %8 : (tensor<64xf32>) -> tensor<64xi8>
  return %9 : tensor<64xi8>
}

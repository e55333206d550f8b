// RUN: aopt %s | aopt | FileCheck %s
// RUN: aopt %s --mlir-print-op-generic | aopt | FileCheck %s

// CHECK-LABEL: func @unary
func.func @unary(%x: tensor<4x8xf32>, %b: tensor<4xi1>, %i: tensor<4xi32>) {
  // CHECK: graph.exp %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %exp = graph.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.log %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %log = graph.log %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.sqrt %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %sqrt = graph.sqrt %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.reciprocal %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %reciprocal = graph.reciprocal %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.floor %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %floor = graph.floor %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.ceil %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %ceil = graph.ceil %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.round %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %round = graph.round %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.sin %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %sin = graph.sin %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.cos %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %cos = graph.cos %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.tan %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %tan = graph.tan %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.asin %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %asin = graph.asin %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.acos %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %acos = graph.acos %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.atan %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %atan = graph.atan %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.sinh %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %sinh = graph.sinh %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.cosh %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %cosh = graph.cosh %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.tanh %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %tanh = graph.tanh %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.asinh %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %asinh = graph.asinh %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.acosh %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %acosh = graph.acosh %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.atanh %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %atanh = graph.atanh %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.erf %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %erf = graph.erf %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.sigmoid %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %sigmoid = graph.sigmoid %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.softplus %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %softplus = graph.softplus %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.softsign %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %softsign = graph.softsign %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.silu %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %silu = graph.silu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.hard_swish %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %hard_swish = graph.hard_swish %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.mish %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %mish = graph.mish %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.relu %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %relu = graph.relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.gelu %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %gelu = graph.gelu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.hard_sigmoid %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %hard_sigmoid = graph.hard_sigmoid %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.leaky_relu %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %leaky_relu = graph.leaky_relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.elu %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %elu = graph.elu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.selu %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %selu = graph.selu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.celu %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %celu = graph.celu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.thresholded_relu %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %thresholded_relu = graph.thresholded_relu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.abs %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %abs = graph.abs %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.neg %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %neg = graph.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.sign %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %sign = graph.sign %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.gelu %{{.*}} {approximate = #graph.gelu<tanh>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = graph.gelu %x {approximate = #graph.gelu<tanh>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.leaky_relu %{{.*}} {alpha = 2.000000e-01 : f64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = graph.leaky_relu %x {alpha = 2.000000e-01 : f64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.not %{{.*}} : (tensor<4xi1>) -> tensor<4xi1>
  %2 = graph.not %b : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK: graph.bitwise_not %{{.*}} : (tensor<4xi32>) -> tensor<4xi32>
  %3 = graph.bitwise_not %i : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK: graph.is_nan %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xi1>
  %4 = graph.is_nan %x : (tensor<4x8xf32>) -> tensor<4x8xi1>
  // CHECK: graph.is_inf %{{.*}} {detect_negative = false} : (tensor<4x8xf32>) -> tensor<4x8xi1>
  %5 = graph.is_inf %x {detect_negative = false} : (tensor<4x8xf32>) -> tensor<4x8xi1>
  // CHECK: graph.cast %{{.*}} : (tensor<4x8xf32>) -> tensor<4x8xui8>
  %6 = graph.cast %x : (tensor<4x8xf32>) -> tensor<4x8xui8>
  return
}

// CHECK-LABEL: func @binary
func.func @binary(%x: tensor<4x8xf32>, %y: tensor<8xf32>, %i: tensor<4xui8>, %j: tensor<1xui8>, %b: tensor<4xi1>) {
  // CHECK: graph.add %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %0 = graph.add %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.sub %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = graph.sub %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.mul %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = graph.mul %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.div %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %3 = graph.div %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.mod %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %4 = graph.mod %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.fmod %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %5 = graph.fmod %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.pow %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %6 = graph.pow %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.minimum %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %7 = graph.minimum %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.maximum %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %8 = graph.maximum %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.prelu %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %9 = graph.prelu %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  // CHECK: graph.and %{{.*}}, %{{.*}} : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %10 = graph.and %b, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK: graph.or %{{.*}}, %{{.*}} : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %11 = graph.or %b, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK: graph.xor %{{.*}}, %{{.*}} : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %12 = graph.xor %b, %b : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK: graph.bitwise_and %{{.*}}, %{{.*}} : (tensor<4xui8>, tensor<1xui8>) -> tensor<4xui8>
  %13 = graph.bitwise_and %i, %j : (tensor<4xui8>, tensor<1xui8>) -> tensor<4xui8>
  // CHECK: graph.bitwise_or %{{.*}}, %{{.*}} : (tensor<4xui8>, tensor<1xui8>) -> tensor<4xui8>
  %14 = graph.bitwise_or %i, %j : (tensor<4xui8>, tensor<1xui8>) -> tensor<4xui8>
  // CHECK: graph.bitwise_xor %{{.*}}, %{{.*}} : (tensor<4xui8>, tensor<1xui8>) -> tensor<4xui8>
  %15 = graph.bitwise_xor %i, %j : (tensor<4xui8>, tensor<1xui8>) -> tensor<4xui8>
  // CHECK: graph.shift_left %{{.*}}, %{{.*}} : (tensor<4xui8>, tensor<1xui8>) -> tensor<4xui8>
  %16 = graph.shift_left %i, %j : (tensor<4xui8>, tensor<1xui8>) -> tensor<4xui8>
  // CHECK: graph.shift_right %{{.*}}, %{{.*}} : (tensor<4xui8>, tensor<1xui8>) -> tensor<4xui8>
  %17 = graph.shift_right %i, %j : (tensor<4xui8>, tensor<1xui8>) -> tensor<4xui8>
  // CHECK: graph.byte_lookup %{{.*}} {table = dense<7> : tensor<256xi8>} : (tensor<4xui8>) -> tensor<4xi8>
  %lookup = graph.byte_lookup %i {table = dense<7> : tensor<256xi8>} : (tensor<4xui8>) -> tensor<4xi8>
  // CHECK: graph.equal %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %18 = graph.equal %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  // CHECK: graph.less %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %19 = graph.less %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  // CHECK: graph.less_equal %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %20 = graph.less_equal %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  // CHECK: graph.greater %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %21 = graph.greater %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  // CHECK: graph.greater_equal %{{.*}}, %{{.*}} : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  %22 = graph.greater_equal %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
  return
}

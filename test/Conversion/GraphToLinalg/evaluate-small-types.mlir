// RUN: aopt %s --graph-fold-constants --split-input-file --verify-diagnostics | FileCheck %s

// Floats of 8 bits or less, and elements that share bytes.

// Ties are rounded to even; numbers beyond the greatest one become it.
// CHECK-LABEL: func @e4m3
// CHECK-DAG: dense<[0.000000e+00, -0.000000e+00, 1.000000e+00, 1.600000e+01, 2.000000e+01, 4.480000e+02, -4.480000e+02, 4.480000e+02, 0.001953125, 0.000000e+00]> : tensor<10xf32>
// Without saturation a NaN; 460 is nearer to 448.
// CHECK-DAG: dense<[4.480000e+02, 0x7FC00000, 0xFFC00000, 0x7FC00000]> : tensor<4xf32>
func.func @e4m3() -> (tensor<10xf32>, tensor<4xf32>) {
  %x = graph.constant dense<[0.0, -0.0, 1.0, 17.0, 19.0, 448.0, -500.0, 0x7F800000, 0.001, 0.0009]> : tensor<10xf32>
  %0 = graph.cast %x : (tensor<10xf32>) -> tensor<10xf8E4M3FN>
  %1 = graph.cast %0 : (tensor<10xf8E4M3FN>) -> tensor<10xf32>
  %y = graph.constant dense<[460.0, 500.0, -500.0, 0x7F800000]> : tensor<4xf32>
  %2 = graph.cast %y {saturate = false} : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  %3 = graph.cast %2 : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  return %1, %3 : tensor<10xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: func @others
// CHECK-DAG: dense<[5.734400e+04, -5.734400e+04, 1.52587891E-5]> : tensor<3xf32>
// CHECK-DAG: dense<[0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<3xf32>
// No -0, whose encoding is the only NaN.
// CHECK-DAG: dense<[0.000000e+00, 2.400000e+02, 0x7FC00000]> : tensor<3xf32>
// CHECK-DAG: dense<[0.000000e+00, 1.000000e+00, 4.000000e+00, 6.000000e+00, -1.500000e+00, -0.000000e+00]> : tensor<6xf32>
// CHECK-DAG: dense<[4.000000e+00, 1.000000e+00, 1.000000e+00]> : tensor<3xf32>
// CHECK-DAG: dense<[2.000000e+00, 1.000000e+00, 5.000000e-01]> : tensor<3xf32>
func.func @others() -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<6xf32>, tensor<3xf32>, tensor<3xf32>) {
  %a = graph.constant dense<[1.0e9, -1.0e9, 1.5e-5]> : tensor<3xf32>
  %0 = graph.cast %a : (tensor<3xf32>) -> tensor<3xf8E5M2>
  %1 = graph.cast %0 : (tensor<3xf8E5M2>) -> tensor<3xf32>
  %b = graph.constant dense<[1.0e9, -1.0e9, 0x7FC00000]> : tensor<3xf32>
  %2 = graph.cast %b {saturate = false} : (tensor<3xf32>) -> tensor<3xf8E5M2>
  %3 = graph.cast %2 : (tensor<3xf8E5M2>) -> tensor<3xf32>
  %c = graph.constant dense<[-0.0, 1.0e9, 0x7FC00000]> : tensor<3xf32>
  %4 = graph.cast %c : (tensor<3xf32>) -> tensor<3xf8E4M3FNUZ>
  %5 = graph.cast %4 : (tensor<3xf8E4M3FNUZ>) -> tensor<3xf32>
  %d = graph.constant dense<[0.25, 0.75, 5.0, 100.0, -1.5, 0x7FC00000]> : tensor<6xf32>
  %6 = graph.cast %d : (tensor<6xf32>) -> tensor<6xf4E2M1FN>
  %7 = graph.cast %6 : (tensor<6xf4E2M1FN>) -> tensor<6xf32>
  %e = graph.constant dense<[3.0, 1.0, 0.75]> : tensor<3xf32>
  %8 = graph.cast %e : (tensor<3xf32>) -> tensor<3xf8E8M0FNU>
  %9 = graph.cast %8 : (tensor<3xf8E8M0FNU>) -> tensor<3xf32>
  %10 = graph.cast %e {round = #graph.rounding<down>} : (tensor<3xf32>) -> tensor<3xf8E8M0FNU>
  %11 = graph.cast %10 : (tensor<3xf8E8M0FNU>) -> tensor<3xf32>
  return %1, %3, %5, %7, %9, %11 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<6xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

// Low bits first, an odd number of elements; integers keep their low bits.
// CHECK-LABEL: func @packed
// CHECK-DAG: dense<{{\[}}[-8, 7, 3], [-1, 1, -8]]> : tensor<2x3xi32>
// CHECK-DAG: dense<[3, 1, 2, 0, 1]> : tensor<5xi32>
// CHECK-DAG: dense<{{\[}}[-8, 7, 3], [-1, 1, -8]]> : tensor<2x3xi4>
func.func @packed() -> (tensor<2x3xi32>, tensor<5xi32>, tensor<2x3xi4>) {
  %x = graph.constant dense<[[-8, 7, 3], [-1, 1, 200]]> : tensor<2x3xi32>
  %0 = graph.cast %x : (tensor<2x3xi32>) -> tensor<2x3xi4>
  %1 = graph.cast %0 : (tensor<2x3xi4>) -> tensor<2x3xi32>
  %y = graph.constant dense<[3.0, 1.0, 2.0, 0.0, 5.0]> : tensor<5xf32>
  %2 = graph.cast %y : (tensor<5xf32>) -> tensor<5xui2>
  %3 = graph.cast %2 : (tensor<5xui2>) -> tensor<5xi32>
  return %1, %3, %0 : tensor<2x3xi32>, tensor<5xi32>, tensor<2x3xi4>
}

// -----

// No arithmetic on these types: the importer converts them.
func.func @arithmetic() -> tensor<2xi4> {
  %x = graph.constant dense<[1, 2]> : tensor<2xi4>
  // expected-error @+1 {{expected elements that can be computed with, but got types that are only stored and converted}}
  %0 = graph.add %x, %x : (tensor<2xi4>, tensor<2xi4>) -> tensor<2xi4>
  return %0 : tensor<2xi4>
}

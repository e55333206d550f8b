// Constant subgraphs are computed by the reference path at compile time.
// RUN: aopt %s --graph-fold-constants | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[C:.*]] = graph.constant dense<[3.000000e+00, 5.000000e+00, 7.000000e+00, 9.000000e+00]> : tensor<4xf32>
// CHECK-NEXT: %[[Y:.*]] = graph.add %{{.*}}, %[[C]]
// CHECK-NEXT: return %[[Y]]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<4xf32>
  %b = graph.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %c = graph.add %b, %one : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = graph.add %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

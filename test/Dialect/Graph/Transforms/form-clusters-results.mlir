// RUN: aopt %s --graph-form-clusters | FileCheck %s

// The number of results of a kernel is limited: 20 with other users are two kernels, each
// of which reads their common operands.
// CHECK-LABEL: func.func @results(
// CHECK: %{{.*}}:16 = graph.cluster
// CHECK: graph.cluster
// CHECK-NOT: graph.cluster
// CHECK: return
func.func @results(%x: tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) attributes {graph.symbols = ["n"]} {
  %y0 = graph.exp %x : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %y1 = graph.tanh %y0 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %y2 = graph.sigmoid %y1 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %y3 = graph.tanh %y2 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %y4 = graph.sigmoid %y3 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %y5 = graph.tanh %y4 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %y6 = graph.sigmoid %y5 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %y7 = graph.tanh %y6 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %y8 = graph.sigmoid %y7 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %y9 = graph.tanh %y8 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %y10 = graph.sigmoid %y9 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %y11 = graph.tanh %y10 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %y12 = graph.sigmoid %y11 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %y13 = graph.tanh %y12 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %y14 = graph.sigmoid %y13 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %y15 = graph.tanh %y14 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %y16 = graph.sigmoid %y15 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %y17 = graph.tanh %y16 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %y18 = graph.sigmoid %y17 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  %y19 = graph.tanh %y18 : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
  return %y0, %y1, %y2, %y3, %y4, %y5, %y6, %y7, %y8, %y9, %y10, %y11, %y12, %y13, %y14, %y15, %y16, %y17, %y18, %y19 : tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>, tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
}

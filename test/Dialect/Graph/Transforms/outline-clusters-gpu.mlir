// On a GPU, all updates of a launch run at the same time, so that a launch before it
// copies the tensor of which it replaces elements.
// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --graph-outline-clusters --split-input-file | FileCheck %s
// RUN: aopt %s --graph-outline-clusters --split-input-file | FileCheck %s --check-prefix=CPU
// CPU-NOT: _copy

// An input is copied. The result of a launch without other uses is not.
// CHECK-LABEL: func.func @main(
// CHECK: %[[X:.*]] = host.launch @scatter_elements_0_copy(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK: %[[Y:.*]] = host.launch @scatter_elements_0(%[[X]], %arg1, %arg2)
// CHECK: %[[Z:.*]] = host.launch @scatter_elements_0(%[[Y]], %arg1, %arg2)
// CHECK: return %[[Z]]
// CHECK: func.func private @scatter_elements_0_copy(%[[A:.*]]: tensor<8xf32>)
// CHECK-NEXT: return %[[A]]
func.func @main(%x: tensor<8xf32>, %i: tensor<3xi64>, %u: tensor<3xf32>) -> tensor<8xf32> {
  %0 = graph.cluster(%a = %x, %b = %i, %c = %u) anchor "scatter_elements" : (tensor<8xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<8xf32> {
    %y = graph.scatter_elements %a, %b, %c {axis = 0 : i64} : (tensor<8xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<8xf32>
    graph.yield %y : tensor<8xf32>
  }
  %1 = graph.cluster(%a = %0, %b = %i, %c = %u) anchor "scatter_elements" : (tensor<8xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<8xf32> {
    %y = graph.scatter_elements %a, %b, %c {axis = 0 : i64} : (tensor<8xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<8xf32>
    graph.yield %y : tensor<8xf32>
  }
  return %1 : tensor<8xf32>
}

// -----

// A constant is stored by a launch, and the kernel has an argument instead; a result that
// is read later is copied. Sizes may be dynamic.
#n = affine_map<()[s0] -> (s0)>
// CHECK-LABEL: func.func @constant(
// CHECK: %[[ZERO:.*]] = host.launch @scatter_nd_0_copy() : () -> tensor<8xf32>
// CHECK: %[[Y:.*]] = host.launch @scatter_nd_0(%arg0, %arg1, %[[ZERO]])
// CHECK: %[[COPY:.*]] = host.launch @scatter_nd_1_copy(%[[Y]])
// CHECK: %[[Z:.*]] = host.launch @scatter_nd_1(%[[COPY]], %arg0, %arg1)
// CHECK: return %[[Y]], %[[Z]]
// CHECK: func.func private @scatter_nd_0_copy() -> tensor<8xf32>
// CHECK-NEXT: %[[C:.*]] = graph.constant dense<0.000000e+00>
// CHECK-NEXT: return %[[C]]
// CHECK: func.func private @scatter_nd_0(%{{.*}}, %{{.*}}, %[[D:.*]]: tensor<8xf32>)
// CHECK: graph.scatter_nd %[[D]]
#i = affine_map<()[s0] -> (s0, 1)>
func.func @constant(%i: tensor<?x1xi64, #i>, %u: tensor<?xf32, #n>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = graph.cluster(%b = %i, %c = %u) anchor "scatter_nd" : (tensor<?x1xi64, #i>, tensor<?xf32, #n>) -> tensor<8xf32> {
    %z = graph.constant dense<0.0> : tensor<8xf32>
    %y = graph.scatter_nd %z, %b, %c : (tensor<8xf32>, tensor<?x1xi64, #i>, tensor<?xf32, #n>) -> tensor<8xf32>
    graph.yield %y : tensor<8xf32>
  }
  %1 = graph.cluster(%a = %0, %b = %i, %c = %u) anchor "scatter_nd" : (tensor<8xf32>, tensor<?x1xi64, #i>, tensor<?xf32, #n>) -> tensor<8xf32> {
    %y = graph.scatter_nd %a, %b, %c : (tensor<8xf32>, tensor<?x1xi64, #i>, tensor<?xf32, #n>) -> tensor<8xf32>
    graph.yield %y : tensor<8xf32>
  }
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// A kernel that also reads the tensor gets a copy of it.
// CHECK-LABEL: func.func @read(
// CHECK: %[[COPY:.*]] = host.launch @abs_scatter_elements_0_copy(%arg0)
// CHECK: host.launch @abs_scatter_elements_0(%arg0, %arg1, %[[COPY]])
// CHECK: func.func private @abs_scatter_elements_0(%[[X:.*]]: tensor<8xf32>, %[[I:.*]]: tensor<8xi64>, %[[D:.*]]: tensor<8xf32>)
// CHECK: %[[U:.*]] = graph.abs %[[X]]
// CHECK: graph.scatter_elements %[[D]], %[[I]], %[[U]]
func.func @read(%x: tensor<8xf32>, %i: tensor<8xi64>) -> tensor<8xf32> {
  %0 = graph.cluster(%a = %x, %b = %i) anchor "scatter_elements" : (tensor<8xf32>, tensor<8xi64>) -> tensor<8xf32> {
    %u = graph.abs %a : (tensor<8xf32>) -> tensor<8xf32>
    %y = graph.scatter_elements %a, %b, %u {axis = 0 : i64} : (tensor<8xf32>, tensor<8xi64>, tensor<8xf32>) -> tensor<8xf32>
    graph.yield %y : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// RUN: aopt %s --graph-form-clusters=mode=single --graph-outline-clusters --split-input-file | FileCheck %s

// Equal bodies share a function; it is named after its ops.
// CHECK-LABEL: func @shared
// CHECK: %[[A:.*]] = host.launch @relu_0(%{{.*}}) {adze.flops = 8 : i64} : (tensor<8xf32>) -> tensor<8xf32>
// CHECK: %[[B:.*]] = host.launch @relu_0(%[[A]])
// CHECK: host.launch @tanh_0(%[[B]])
// CHECK: func.func private @relu_0(%[[X:.*]]: tensor<8xf32>) -> tensor<8xf32> attributes {adze.kernel}
// CHECK-NEXT: %[[Y:.*]] = graph.relu %[[X]]
// CHECK-NEXT: return %[[Y]]
// CHECK: func.func private @tanh_0
// CHECK-NOT: func.func
func.func @shared(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.relu %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = graph.tanh %1 : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// Other types or attributes make another kernel; an existing name is not reused.
// CHECK-LABEL: func @different
// CHECK: host.launch @leaky_relu_0
// CHECK: host.launch @leaky_relu_2
// CHECK: host.launch @leaky_relu_3
func.func @different(%x: tensor<8xf32>, %y: tensor<4xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<4xf32>) {
  %0 = graph.leaky_relu %x {alpha = 0.1 : f64} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = graph.leaky_relu %x {alpha = 0.2 : f64} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = graph.leaky_relu %y {alpha = 0.1 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<4xf32>
}
func.func private @leaky_relu_1()

// -----

// Sizes of one expression are one kernel's; another symbol makes another one, which the
// launches' costs distinguish.
// CHECK-DAG: #[[N:[a-z0-9]+]] = affine_map<()[s0] -> (s0 * 8)>
// CHECK-DAG: #[[M:[a-z0-9]+]] = affine_map<()[s0, s1] -> (s1 * 8)>
// CHECK-LABEL: func @dynamic
// CHECK: host.launch @relu_0(%{{.*}}) {adze.flops = #[[N]]}
// CHECK: host.launch @relu_0(%{{.*}}) {adze.flops = #[[N]]}
// CHECK: host.launch @relu_1(%{{.*}}) {adze.flops = #[[M]]}
// CHECK-COUNT-2: func.func private @relu_
// CHECK-NOT: func.func
#n = affine_map<()[s0] -> (s0, 8)>
#m = affine_map<()[s0, s1] -> (s1, 8)>
func.func @dynamic(%x: tensor<?x8xf32, #n>, %y: tensor<?x8xf32, #m>) -> (tensor<?x8xf32, #n>, tensor<?x8xf32, #m>) attributes {graph.symbols = ["n", "m"]} {
  %0 = graph.relu %x : (tensor<?x8xf32, #n>) -> tensor<?x8xf32, #n>
  %1 = graph.relu %0 : (tensor<?x8xf32, #n>) -> tensor<?x8xf32, #n>
  %2 = graph.relu %y : (tensor<?x8xf32, #m>) -> tensor<?x8xf32, #m>
  return %1, %2 : tensor<?x8xf32, #n>, tensor<?x8xf32, #m>
}

// -----
// Look-ups that check their indices are numbered; their messages are the launch's, so
// that both share one kernel. Tuples have a fault per column.
// CHECK-LABEL: func.func @checks
// CHECK: host.launch @[[KERNEL:.*]](%{{.*}}) {adze.checks = {{\[}}["a", "no"]],
// CHECK: host.launch @[[KERNEL]](%{{.*}}) {adze.checks = {{\[}}["b", "nothing"]],
// CHECK: host.launch @{{.*}}(%{{.*}}) {adze.checks = {{\[}}["c", "none"], ["c", "none"]],
// CHECK: func.func private @[[KERNEL]]
// CHECK: graph.gather {{.*}} {graph.fault = 0 : i64}
// CHECK: graph.gather_nd {{.*}} {graph.fault = 0 : i64}
func.func @checks(%x: tensor<9x8xf32>, %i: tensor<4xi64>, %j: tensor<5x2xi64>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<5xf32>) {
  %0 = graph.cluster(%a = %x, %b = %i) anchor "pointwise" : (tensor<9x8xf32>, tensor<4xi64>) -> tensor<4x8xf32> {
    %3 = graph.gather %a, %b {axis = 0 : i64, graph.message = "no"} : (tensor<9x8xf32>, tensor<4xi64>) -> tensor<4x8xf32> loc("a"("m.onnx":0:0))
    graph.yield %3 : tensor<4x8xf32>
  }
  %1 = graph.cluster(%a = %x, %b = %i) anchor "pointwise" : (tensor<9x8xf32>, tensor<4xi64>) -> tensor<4x8xf32> {
    %3 = graph.gather %a, %b {axis = 0 : i64, graph.message = "nothing"} : (tensor<9x8xf32>, tensor<4xi64>) -> tensor<4x8xf32> loc("b"("m.onnx":0:0))
    graph.yield %3 : tensor<4x8xf32>
  }
  %2 = graph.cluster(%a = %x, %b = %j) anchor "pointwise" : (tensor<9x8xf32>, tensor<5x2xi64>) -> tensor<5xf32> {
    %3 = graph.gather_nd %a, %b {graph.message = "none"} : (tensor<9x8xf32>, tensor<5x2xi64>) -> tensor<5xf32> loc("c"("m.onnx":0:0))
    graph.yield %3 : tensor<5xf32>
  }
  return %0, %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<5xf32>
}

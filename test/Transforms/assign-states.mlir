// RUN: aopt %s --assign-destinations --split-input-file --verify-diagnostics | FileCheck %s

#past = affine_map<()[s0, s1] -> (s0, 4)>
#all = affine_map<()[s0, s1] -> (s0 + 1, 4)>
#buffer = affine_map<()[s0, s1] -> (s1, 4)>

// New rows are stored to the buffer of the caller, and its returned part is not copied.
func.func private @insert(memref<1x4xf32>, memref<?x4xf32>, memref<?x4xf32> {adze.tied = 1 : i64}) attributes {adze.kernel}
func.func private @read(memref<?x4xf32>, memref<4xf32>) attributes {adze.kernel}

// CHECK-LABEL: func.func @append(
// CHECK-SAME: %{{.*}}: memref<?x4xf32> {{.*}}, %[[X:.*]]: memref<1x4xf32>, %{{.*}}: memref<?x4xf32> {{.*}}, %[[Y:.*]]: memref<4xf32>)
func.func @append(%p: tensor<?x4xf32, #past>, %x: tensor<1x4xf32>) -> (tensor<?x4xf32, #all>, tensor<4xf32>)
    attributes {graph.states = [#graph.state<input = 0, output = 0, kind = rows, pitch = 1, rows = affine_map<()[s0] -> (s0 + 1)>, drop = affine_map<() -> (0)>>], graph.symbols = ["past", ""]} {
  // CHECK-NEXT: %[[B:.*]] = host.state 0 {pitch = 1 : i64} : memref<?x4xf32>
  %0 = graph.open_state %p {state = 0 : i64} : (tensor<?x4xf32, #past>) -> tensor<?x4xf32, #buffer>
  // CHECK-NEXT: host.launch @insert(%[[X]], %[[B]], %[[B]])
  %1 = host.launch @insert(%x, %0) : (tensor<1x4xf32>, tensor<?x4xf32, #buffer>) -> tensor<?x4xf32, #buffer>
  // CHECK-NEXT: host.launch @read(%[[B]], %[[Y]])
  %2 = host.launch @read(%1) : (tensor<?x4xf32, #buffer>) -> tensor<4xf32>
  %3 = graph.close_state %1 {state = 0 : i64} : (tensor<?x4xf32, #buffer>) -> tensor<?x4xf32, #all>
  // CHECK-NEXT: return
  return %3, %2 : tensor<?x4xf32, #all>, tensor<4xf32>
}

// -----

// expected-error @+1 {{expected an input and an output of one element type and rank, and pitch, rows and drop of kind rows, but got #graph.state<input = 3, output = 0, kind = whole>}}
func.func @no_input(%x: tensor<4xf32>) -> tensor<4xf32> attributes {graph.states = [#graph.state<input = 3, output = 0, kind = whole>]} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{pitch, rows and drop of kind rows}}
func.func @no_rows(%x: tensor<4xf32>) -> tensor<4xf32> attributes {graph.states = [#graph.state<input = 0, output = 0, kind = rows>]} {
  return %x : tensor<4xf32>
}

// -----

func.func @no_state(%x: tensor<4xf32>) -> tensor<4xf32> attributes {graph.states = [#graph.state<input = 0, output = 0, kind = whole>]} {
  // expected-error @+1 {{expected a state of the function, of kind rows, but got 0}}
  %0 = graph.open_state %x {state = 0 : i64} : (tensor<4xf32>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>>
  return %x : tensor<4xf32>
}

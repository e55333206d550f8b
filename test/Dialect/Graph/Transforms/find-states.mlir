// Results that are an argument with rows appended or replaced become updates of a buffer
// of the caller.
// RUN: aopt %s -graph-find-states -split-input-file | FileCheck %s
// RUN: aopt %s -graph-find-states -split-input-file --remarks-filter-failed=.* 2>&1 >/dev/null | FileCheck %s --check-prefix=WHY
// RUN: aopt %s -graph-find-states=pairs=none -split-input-file | FileCheck %s --check-prefix=OFF

// OFF-NOT: graph.states
// OFF-NOT: graph.open_state

#past = affine_map<()[s0, s1, s2] -> (s0, 2, s1, 4)>
#new = affine_map<()[s0, s1, s2] -> (s0, 2, s2, 4)>
#all = affine_map<()[s0, s1, s2] -> (s0, 2, s1 + s2, 4)>

// Keys and values of one shape have one pitch. Users of all rows read the buffer.
// CHECK-LABEL: func.func @append(
// CHECK-SAME: %[[K:[^:]+]]: tensor<?x2x?x4xf32
// CHECK-SAME: graph.states = [#graph.state<input = 0, output = 1, kind = rows, axis = 2, pitch = 3, rows = #[[ROWS:[^,]+]], drop = #[[ZERO:[^>]+]]>, #graph.state<input = 1, output = 2, kind = rows, axis = 2, pitch = 3
// CHECK-DAG: %[[OK:[^ ]+]] = graph.open_state %[[K]] {state = 0 : i64}
// CHECK: %[[IK:[^ ]+]] = graph.insert_slice %{{[^ ]+}}, %[[OK]] {axis = 2 : i64, offsets = #{{[^}]+}}
// CHECK: %[[CK:[^ ]+]] = graph.close_state %[[IK]] {state = 0 : i64}
// CHECK: %[[AK:[^ ]+]] = graph.slice %[[IK]] {{.*}} -> tensor<?x2x?x4xf32, #{{.*}}>
// CHECK: graph.neg %[[AK]]
// CHECK-NOT: graph.concat
// CHECK: return %{{[^ ,]+}}, %[[CK]]
func.func @append(%k: tensor<?x2x?x4xf32, #past>, %v: tensor<?x2x?x4xf32, #past>, %x: tensor<?x2x?x4xf32, #new>)
    -> (tensor<?x2x?x4xf32, #all>, tensor<?x2x?x4xf32, #all>, tensor<?x2x?x4xf32, #all>) {
  %0 = graph.exp %x : (tensor<?x2x?x4xf32, #new>) -> tensor<?x2x?x4xf32, #new>
  %1 = graph.concat %k, %0 {axis = 2 : i64} : (tensor<?x2x?x4xf32, #past>, tensor<?x2x?x4xf32, #new>) -> tensor<?x2x?x4xf32, #all>
  %2 = graph.concat %v, %0 {axis = 2 : i64} : (tensor<?x2x?x4xf32, #past>, tensor<?x2x?x4xf32, #new>) -> tensor<?x2x?x4xf32, #all>
  %3 = graph.neg %1 : (tensor<?x2x?x4xf32, #all>) -> tensor<?x2x?x4xf32, #all>
  return %3, %1, %2 : tensor<?x2x?x4xf32, #all>, tensor<?x2x?x4xf32, #all>, tensor<?x2x?x4xf32, #all>
}

// -----

// The last rows of a window. A user of the past after the update reads the buffer as
// well.
// CHECK-LABEL: func.func @slide(
// CHECK-SAME: drop = #{{[^>]+}}>
// CHECK: graph.open_state
// CHECK: %[[I:[^ ]+]] = graph.insert_slice
// CHECK: graph.close_state %[[I]] {state = 0 : i64} : {{.*}} -> tensor<1x3x4xf32>
// CHECK: %[[P:[^ ]+]] = graph.slice %[[I]] {{.*}} -> tensor<1x3x4xf32>
// CHECK: graph.neg %[[P]]
func.func @slide(%p: tensor<1x3x4xf32> {graph.name = "past_conv"}, %x: tensor<1x2x4xf32> {graph.name = "x"})
    -> (tensor<1x3x4xf32> {graph.name = "present_conv"}, tensor<1x3x4xf32> {graph.name = "y"}) {
  %0 = graph.exp %x : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %1 = graph.concat %p, %0 {axis = 1 : i64} : (tensor<1x3x4xf32>, tensor<1x2x4xf32>) -> tensor<1x5x4xf32>
  %2 = graph.slice %1 {starts = array<i64: 0, 2, 0>, steps = array<i64: 1, 1, 1>} : (tensor<1x5x4xf32>) -> tensor<1x3x4xf32>
  %3 = graph.neg %p : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
  return %2, %3 : tensor<1x3x4xf32>, tensor<1x3x4xf32>
}

// -----

#past = affine_map<()[s0, s1] -> (s0, 4)>
#all = affine_map<()[s0, s1] -> (s0 + s1, 4)>
#rest = affine_map<()[s0, s1] -> (s1, 4)>

// Rows at data-dependent indices, none of them from the end, in an argument that is
// followed by zeros.
// CHECK-LABEL: func.func @write(
// CHECK-SAME: #graph.state<input = 0, output = 0, kind = rows, pitch = 2, rows = #{{[^,]+}}, drop = #{{[^,]+}}, zeroed = true>
// CHECK: %[[O:[^ ]+]] = graph.open_state
// CHECK: graph.scatter_elements %[[O]]
// CHECK-NOT: graph.concat
func.func @write(%p: tensor<?x4xf32, #past>, %r: tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>, %i: tensor<1x4xi64>, %x: tensor<1x4xf32>) -> tensor<?x4xf32, #all> {
  %z = graph.constant dense<0.0> : tensor<f32>
  %zeros = graph.broadcast_to %z : (tensor<f32>) -> tensor<?x4xf32, #rest>
  %none = graph.constant dense<0> : tensor<i64>
  %at = graph.maximum %i, %none : (tensor<1x4xi64>, tensor<i64>) -> tensor<1x4xi64>
  %0 = graph.concat %p, %zeros {axis = 0 : i64} : (tensor<?x4xf32, #past>, tensor<?x4xf32, #rest>) -> tensor<?x4xf32, #all>
  %1 = graph.scatter_elements %0, %at, %x {axis = 0 : i64} : (tensor<?x4xf32, #all>, tensor<1x4xi64>, tensor<1x4xf32>) -> tensor<?x4xf32, #all>
  return %1 : tensor<?x4xf32, #all>
}

// -----

// By names, a result replaces an argument.
// CHECK-LABEL: func.func @whole(
// CHECK-SAME: graph.states = [#graph.state<input = 0, output = 1, kind = whole>, #graph.state<input = 1, output = 2, kind = keep>]
func.func @whole(%h: tensor<4xf32> {graph.name = "state"}, %c: tensor<4xf32> {graph.name = "cross_in"}, %x: tensor<4xf32> {graph.name = "x"})
    -> (tensor<4xf32> {graph.name = "y"}, tensor<4xf32> {graph.name = "stateN"}, tensor<4xf32> {graph.name = "cross_out"}) {
  %0 = graph.add %h, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = graph.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %0, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Elements of less than a byte have no address in a buffer.
// CHECK-LABEL: func.func @packed(
// CHECK-NOT: graph.states
// CHECK: return
func.func @packed(%h: tensor<4xi4> {graph.name = "h_in"}, %x: tensor<4xi4> {graph.name = "x"}) -> (tensor<4xi4> {graph.name = "h_out"}) {
  %0 = graph.maximum %h, %x : (tensor<4xi4>, tensor<4xi4>) -> tensor<4xi4>
  return %0 : tensor<4xi4>
}

// -----

#past = affine_map<()[s0] -> (s0, 4)>
#all = affine_map<()[s0] -> (s0 + 1, 4)>

// The new row depends on the past, which is read before the update.
// WHY: find-states {{.*}}the input is read before the update, or replaced where it is read
// CHECK-LABEL: func.func @read_before(
// CHECK-NOT: graph.open_state
func.func @read_before(%p: tensor<?x4xf32, #past> {graph.name = "past"}) -> (tensor<?x4xf32, #all> {graph.name = "present"}) {
  %0 = graph.reduce_sum %p {axes = array<i64: 0>, keepdims = true} : (tensor<?x4xf32, #past>) -> tensor<1x4xf32>
  %1 = graph.concat %p, %0 {axis = 0 : i64} : (tensor<?x4xf32, #past>, tensor<1x4xf32>) -> tensor<?x4xf32, #all>
  return %1 : tensor<?x4xf32, #all>
}

// A concatenation of two arguments is not a cache.
// CHECK-LABEL: func.func @beside(
// CHECK-NOT: graph.open_state
func.func @beside(%p: tensor<?x4xf32, #past>, %x: tensor<1x4xf32>) -> tensor<?x4xf32, #all> {
  %1 = graph.concat %p, %x {axis = 0 : i64} : (tensor<?x4xf32, #past>, tensor<1x4xf32>) -> tensor<?x4xf32, #all>
  return %1 : tensor<?x4xf32, #all>
}

// Prepended rows would move the past.
// CHECK-LABEL: func.func @in_front(
// CHECK-NOT: graph.open_state
func.func @in_front(%p: tensor<?x4xf32, #past>, %x: tensor<1x4xf32>) -> tensor<?x4xf32, #all> {
  %0 = graph.exp %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = graph.concat %0, %p {axis = 0 : i64} : (tensor<1x4xf32>, tensor<?x4xf32, #past>) -> tensor<?x4xf32, #all>
  return %1 : tensor<?x4xf32, #all>
}

// Sums of rows are not new rows; with dynamic rows, an index may count from the end.
// CHECK-LABEL: func.func @scattered(
// CHECK-NOT: graph.open_state
func.func @scattered(%p: tensor<8x4xf32> {graph.name = "past"}, %q: tensor<?x4xf32, #past> {graph.name = "past.1"}, %i: tensor<1x4xi64>, %x: tensor<1x4xf32>)
    -> (tensor<8x4xf32> {graph.name = "present"}, tensor<?x4xf32, #past> {graph.name = "present.1"}) {
  %0 = graph.scatter_elements %p, %i, %x {axis = 0 : i64, reduction = #graph.scatter<add>} : (tensor<8x4xf32>, tensor<1x4xi64>, tensor<1x4xf32>) -> tensor<8x4xf32>
  %1 = graph.scatter_elements %q, %i, %x {axis = 0 : i64} : (tensor<?x4xf32, #past>, tensor<1x4xi64>, tensor<1x4xf32>) -> tensor<?x4xf32, #past>
  return %0, %1 : tensor<8x4xf32>, tensor<?x4xf32, #past>
}

// -----

// With static rows, an index from the end is converted to one from the beginning. An
// input with an equal name is new rows, and sizes may be read before the update.
#past = affine_map<()[s0, s1] -> (2, s0, 4)>
#solved = affine_map<()[s0, s1] -> (2, s1, 4)>
#all = affine_map<()[s0, s1] -> (2, s1 + 1, 4)>
#none = affine_map<()[s0, s1] -> (2, s0 + 1, 4)>
// CHECK-LABEL: func.func @from_end(
// CHECK-DAG: %[[NONE:.*]] = graph.constant dense<0> : tensor<2xi64>
// CHECK-DAG: %[[SIZES:.*]] = graph.constant dense<[0, 8]> : tensor<2xi64>
// CHECK-DAG: graph.shape %arg1
// CHECK-DAG: %[[B:.*]] = graph.open_state %arg0 {state = 0 : i64}
// CHECK-DAG: %[[L:.*]] = graph.less %arg2, %[[NONE]]
// CHECK-DAG: %[[A:.*]] = graph.add %arg2, %[[SIZES]]
// CHECK-DAG: %[[I:.*]] = graph.select %[[L]], %[[A]], %arg2
// CHECK: graph.scatter_nd %[[B]], %[[I]], %arg3
// CHECK: %[[P:.*]] = graph.reshape %arg1
// CHECK: graph.open_state %[[P]] {state = 1 : i64}
// CHECK: graph.close_state {{.*}} -> tensor<2x?x4xf32, #{{.*}}>
func.func @from_end(%p: tensor<2x8x4xf32> {graph.name = "past.0"}, %q: tensor<2x?x4xf32, #past> {graph.name = "past.1"}, %i: tensor<3x2xi64>, %x: tensor<3x4xf32>, %y: tensor<2x1x4xf32>, %r: tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>)
    -> (tensor<2x8x4xf32> {graph.name = "present.0"}, tensor<2x?x4xf32, #none> {graph.name = "present.1"}, tensor<3xi64> {graph.name = "sizes"}) {
  %s = graph.shape %q : (tensor<2x?x4xf32, #past>) -> tensor<3xi64>
  %0 = graph.scatter_nd %p, %i, %x : (tensor<2x8x4xf32>, tensor<3x2xi64>, tensor<3x4xf32>) -> tensor<2x8x4xf32>
  %1 = graph.reshape %q : (tensor<2x?x4xf32, #past>) -> tensor<2x?x4xf32, #solved>
  %2 = graph.concat %1, %y {axis = 1 : i64} : (tensor<2x?x4xf32, #solved>, tensor<2x1x4xf32>) -> tensor<2x?x4xf32, #all>
  %3 = graph.reshape %2 : (tensor<2x?x4xf32, #all>) -> tensor<2x?x4xf32, #none>
  return %0, %3, %s : tensor<2x8x4xf32>, tensor<2x?x4xf32, #none>, tensor<3xi64>
}

// -----

// A transpose and its inverse around the update are removed; the update is then along the
// dim of the rows.
// CHECK-LABEL: func.func @transposed(
// CHECK-SAME: #graph.state<input = 0, output = 0, kind = rows, axis = 2
// CHECK: %[[U:.*]] = graph.transpose %arg2 {perm = array<i64: 1, 2, 0, 3>} : (tensor<1x3x2x4xf32>) -> tensor<3x2x1x4xf32>
// CHECK: %[[R:.*]] = graph.reshape %arg1 : (tensor<1x1xi64>) -> tensor<1x1x1x1xi64>
// CHECK: %[[B:.*]] = graph.open_state %arg0
// CHECK: graph.scatter_elements %[[B]], %{{.*}}, %[[U]] {axis = 2 : i64} : (tensor<3x2x?x4xf32, {{.*}}>, tensor<1x1x1x1xi64>,
// CHECK-NOT: graph.scatter_nd
func.func @transposed(%p: tensor<3x2x8x4xf32> {graph.name = "past"}, %i: tensor<1x1xi64>, %u: tensor<1x3x2x4xf32>) -> (tensor<3x2x8x4xf32> {graph.name = "present"}) {
  %0 = graph.transpose %p {perm = array<i64: 2, 0, 1, 3>} : (tensor<3x2x8x4xf32>) -> tensor<8x3x2x4xf32>
  %1 = graph.scatter_nd %0, %i, %u : (tensor<8x3x2x4xf32>, tensor<1x1xi64>, tensor<1x3x2x4xf32>) -> tensor<8x3x2x4xf32>
  %2 = graph.transpose %1 {perm = array<i64: 1, 2, 0, 3>} : (tensor<8x3x2x4xf32>) -> tensor<3x2x8x4xf32>
  return %2 : tensor<3x2x8x4xf32>
}

// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --graph-parallelize --split-input-file | FileCheck %s
// RUN: aopt %s --graph-parallelize --split-input-file | FileCheck %s --check-prefix=CPU
// CPU-NOT: graph.gather
// CPU-NOT: graph.bitcast
// CPU-NOT: graph.select_boxes

// A scan of few long rows: its parts are scanned, and the sums of those before are added.
// Sums of f16 are f32.
// CHECK-LABEL: func.func @scan(
// CHECK: %[[V:.*]] = graph.reshape %arg0 : (tensor<5x65536xf16>) -> tensor<5x16x4096xf16>
// CHECK: %[[W:.*]] = graph.cast %[[V]] : {{.*}} -> tensor<5x16x4096xf32>
// CHECK: %[[OWN:.*]] = graph.cumsum %[[W]] {axis = 2 : i64}
// CHECK: %[[SUMS:.*]] = graph.reduce_sum %[[W]] {axes = array<i64: 2>, keepdims = false} : {{.*}} -> tensor<5x16xf32>
// CHECK: %[[SCAN:.*]] = graph.cumsum %[[SUMS]] {axis = 1 : i64, exclusive = true}
// CHECK: %[[BEFORE:.*]] = graph.reshape %[[SCAN]] : {{.*}} -> tensor<5x16x1xf32>
// CHECK: %[[ALL:.*]] = graph.add %[[OWN]], %[[BEFORE]]
// CHECK: %[[N:.*]] = graph.cast %[[ALL]] : {{.*}} -> tensor<5x16x4096xf16>
// CHECK: graph.reshape %[[N]] : {{.*}} -> tensor<5x65536xf16>
func.func @scan(%x: tensor<5x65536xf16>) -> tensor<5x65536xf16> {
  %0 = graph.cumsum %x {axis = 1 : i64} : (tensor<5x65536xf16>) -> tensor<5x65536xf16>
  return %0 : tensor<5x65536xf16>
}

// -----

// From the end, also along rows of dynamic length.
// CHECK-LABEL: func.func @reversed(
// CHECK: %[[R:.*]] = graph.reverse %arg0 {axes = array<i64: 1>}
// CHECK: %[[S:.*]] = graph.cumprod %[[R]] {axis = 1 : i64, exclusive = true}
// CHECK: graph.reverse %[[S]] {axes = array<i64: 1>}
#x = affine_map<()[s0] -> (4, s0)>
func.func @reversed(%x: tensor<4x?xf32, #x>) -> tensor<4x?xf32, #x> {
  %0 = graph.cumprod %x {axis = 1 : i64, exclusive = true, reverse = true} : (tensor<4x?xf32, #x>) -> tensor<4x?xf32, #x>
  return %0 : tensor<4x?xf32, #x>
}

// -----

// Scans along other dims, of many rows, and along rows of dynamic length are unchanged, as
// those of a prime number of elements.
// CHECK-LABEL: func.func @unchanged(
// CHECK: graph.cumsum %arg0 {axis = 0 : i64}
// CHECK: graph.cumsum %arg1 {axis = 1 : i64}
// CHECK: graph.cumsum %arg2 {axis = 1 : i64}
// CHECK: graph.cumsum %arg3 {axis = 0 : i64}
#x = affine_map<()[s0] -> (4, s0)>
func.func @unchanged(%x: tensor<512x8xf32>, %y: tensor<4x?xf32, #x>, %z: tensor<64x65536xf32>, %p: tensor<10007xf32>) -> (tensor<512x8xf32>, tensor<4x?xf32, #x>, tensor<64x65536xf32>, tensor<10007xf32>) {
  %0 = graph.cumsum %x {axis = 0 : i64} : (tensor<512x8xf32>) -> tensor<512x8xf32>
  %1 = graph.cumsum %y {axis = 1 : i64} : (tensor<4x?xf32, #x>) -> tensor<4x?xf32, #x>
  %2 = graph.cumsum %z {axis = 1 : i64} : (tensor<64x65536xf32>) -> tensor<64x65536xf32>
  %3 = graph.cumsum %p {axis = 0 : i64} : (tensor<10007xf32>) -> tensor<10007xf32>
  return %0, %1, %2, %3 : tensor<512x8xf32>, tensor<4x?xf32, #x>, tensor<64x65536xf32>, tensor<10007xf32>
}

// -----

// A selection from a row that no tile holds: from the selections of its parts, whose
// indices begin at those of the parts.
// CHECK-LABEL: func.func @selection(
// CHECK: %[[V:.*]] = graph.reshape %arg0 : (tensor<2x40000xf32>) -> tensor<2x2x20000xf32>
// CHECK: %[[OWN:.*]], %[[AT:.*]] = graph.top_k %[[V]] {axis = 2 : i64}
// CHECK: %[[START:.*]] = graph.constant dense<{{\[\[}}0], [20000]]>
// CHECK: %[[PLACES:.*]] = graph.add %[[AT]], %[[START]]
// CHECK: %[[FLAT:.*]] = graph.reshape %[[OWN]] : {{.*}} -> tensor<2x10xf32>
// CHECK: %[[ALL:.*]], %[[OF:.*]] = graph.top_k %[[FLAT]] {axis = 1 : i64}
// CHECK: %[[P:.*]] = graph.reshape %[[PLACES]] : {{.*}} -> tensor<2x10xi64>
// CHECK: %[[I:.*]] = graph.gather_elements %[[P]], %[[OF]] {axis = 1 : i64}
// CHECK: return %[[ALL]], %[[I]]
func.func @selection(%x: tensor<2x40000xf32>) -> (tensor<2x5xf32>, tensor<2x5xi64>) {
  %v, %i = graph.top_k %x {axis = 1 : i64} : (tensor<2x40000xf32>) -> (tensor<2x5xf32>, tensor<2x5xi64>)
  return %v, %i : tensor<2x5xf32>, tensor<2x5xi64>
}

// -----

// Shorter rows have a tile.
// CHECK-LABEL: func.func @whole(
// CHECK: graph.top_k %arg
// CHECK-NOT: graph.top_k
func.func @whole(%x: tensor<2x32000xf32>) -> tensor<2x5xf32> {
  %v, %i = graph.top_k %x {axis = 1 : i64} : (tensor<2x32000xf32>) -> (tensor<2x5xf32>, tensor<2x5xi64>)
  return %v : tensor<2x5xf32>
}

// -----

// Many elements are selected from parts in the order of their indices, then from parts of
// those, and the last ones are ranked.
// CHECK-LABEL: func.func @parts(
// CHECK: %[[OWN:.*]], %[[AT:.*]] = graph.top_k %{{.*}} {axis = 2 : i64, sorted = false} : (tensor<1x8x15000xf32>) -> (tensor<1x8x1000xf32>, tensor<1x8x1000xi64>)
// CHECK: %[[FLAT:.*]] = graph.reshape %[[OWN]] : {{.*}} -> tensor<1x8000xf32>
// CHECK: %[[W:.*]] = graph.reshape %[[FLAT]] : {{.*}} -> tensor<1x2x4000xf32>
// CHECK: %[[NEXT:.*]], %{{.*}} = graph.top_k %[[W]] {axis = 2 : i64, sorted = false}
// CHECK: %[[LAST:.*]] = graph.reshape %[[NEXT]] : {{.*}} -> tensor<1x2000xf32>
// CHECK: %[[V:.*]], %[[OF:.*]] = graph.top_k %[[LAST]] {axis = 1 : i64}
// CHECK: %[[I:.*]] = graph.gather_elements %{{.*}}, %[[OF]]
// CHECK: return %[[V]], %{{.*}}
func.func @parts(%x: tensor<1x120000xf32>) -> (tensor<1x1000xf32>, tensor<1x1000xi64>) {
  %v, %i = graph.top_k %x {axis = 1 : i64} : (tensor<1x120000xf32>) -> (tensor<1x1000xf32>, tensor<1x1000xi64>)
  return %v, %i : tensor<1x1000xf32>, tensor<1x1000xi64>
}

// -----

// One part, whose indices stay: of a prime number of elements, and of many rows.
// CHECK-LABEL: func.func @whole_rows(
// CHECK: graph.top_k %{{.*}} {axis = 2 : i64, sorted = false} : (tensor<1x1x65537xf32>)
// CHECK-NOT: graph.add
// CHECK: graph.top_k %{{.*}} {axis = 1 : i64} : (tensor<1x500xf32>)
// CHECK: graph.top_k %{{.*}} {axis = 2 : i64, sorted = false} : (tensor<132x1x16000xf32>)
func.func @whole_rows(%x: tensor<1x65537xf32>, %y: tensor<132x16000xf32>) -> (tensor<1x500xf32>, tensor<132x50xf32>) {
  %u, %i = graph.top_k %x {axis = 1 : i64} : (tensor<1x65537xf32>) -> (tensor<1x500xf32>, tensor<1x500xi64>)
  %v, %j = graph.top_k %y {axis = 1 : i64} : (tensor<132x16000xf32>) -> (tensor<132x50xf32>, tensor<132x50xi64>)
  return %u, %v : tensor<1x500xf32>, tensor<132x50xf32>
}

// -----

// A kernel ranks all elements if these are few, or if the length is dynamic.
// CHECK-LABEL: func.func @ranked(
// CHECK-COUNT-2: graph.top_k %arg
// CHECK-NOT: graph.top_k
#x = affine_map<()[s0] -> (1, s0)>
func.func @ranked(%x: tensor<1x4000xf32>, %y: tensor<1x?xf32, #x>) -> (tensor<1x500xf32>, tensor<1x500xf32>) {
  %u, %i = graph.top_k %x {axis = 1 : i64} : (tensor<1x4000xf32>) -> (tensor<1x500xf32>, tensor<1x500xi64>)
  %v, %j = graph.top_k %y {axis = 1 : i64} : (tensor<1x?xf32, #x>) -> (tensor<1x500xf32>, tensor<1x500xi64>)
  return %u, %v : tensor<1x500xf32>, tensor<1x500xf32>
}

// -----

// Updates are multiples of a fraction of the largest one of their element, in powers of
// two: the bits of the largest, its exponent, and 2^51 multiples of it for 1000 updates.
// CHECK-LABEL: func.func @scattered_sums(
// CHECK: %[[BITS:.*]] = graph.bitcast %arg2 : {{.*}} -> tensor<1000xi32>
// CHECK: %[[MOST:.*]] = graph.constant dense<2147483647> : tensor<i32>
// CHECK: %[[MAGNITUDE:.*]] = graph.bitwise_and %[[BITS]], %[[MOST]]
// CHECK: %[[LARGEST:.*]] = graph.scatter_elements %{{.*}}, %arg1, %[[MAGNITUDE]] {graph.message = "expected {0}", reduction = #graph.scatter<max>}
// CHECK: %[[OWN:.*]] = graph.gather_elements %[[LARGEST]], %arg1
// CHECK: dense<0x4320000000000000> : tensor<f64>
// CHECK: %[[MULTIPLES:.*]] = graph.cast %{{.*}} -> tensor<1000xi64>
// CHECK: %[[COUNTED:.*]] = graph.select %{{.*}}, %[[MULTIPLES]]
// CHECK: %[[SUM:.*]] = graph.scatter_elements %{{.*}}, %arg1, %[[COUNTED]] {reduction = #graph.scatter<add>}
// CHECK: graph.cast %[[SUM]] : (tensor<50xi64>) -> tensor<50xf64>
// CHECK: graph.cast %{{.*}} -> tensor<50xf32>
func.func @scattered_sums(%x: tensor<50xf32>, %i: tensor<1000xi64>, %u: tensor<1000xf32>) -> tensor<50xf32> {
  %y = graph.scatter_elements %x, %i, %u {axis = 0 : i64, graph.message = "expected {0}", reduction = #graph.scatter<add>} : (tensor<50xf32>, tensor<1000xi64>, tensor<1000xf32>) -> tensor<50xf32>
  return %y : tensor<50xf32>
}

// -----

// Rows of f16, a dynamic number; indices of rows are gathered for each element. Sums of
// f64 and products stay.
#i = affine_map<()[s0] -> (s0, 1)>
#u = affine_map<()[s0] -> (s0, 8)>
// CHECK-LABEL: func.func @scattered_rows(
// CHECK: graph.cast %arg2 : {{.*}} -> tensor<?x8xf32, #{{.*}}>
// CHECK: graph.broadcast_to %arg1
// CHECK: dense<0x41D0000000000000> : tensor<f64>
// CHECK: graph.cast %{{.*}} -> tensor<50x8xf16>
// CHECK: graph.scatter_nd %{{.*}} {reduction = #graph.scatter<mul>}
func.func @scattered_rows(%x: tensor<50x8xf16>, %i: tensor<?x1xi64, #i>, %u: tensor<?x8xf16, #u>) -> tensor<50x8xf16> {
  %y = graph.scatter_elements %x, %i, %u {axis = 0 : i64, reduction = #graph.scatter<add>} : (tensor<50x8xf16>, tensor<?x1xi64, #i>, tensor<?x8xf16, #u>) -> tensor<50x8xf16>
  %z = graph.scatter_nd %y, %i, %u {reduction = #graph.scatter<mul>} : (tensor<50x8xf16>, tensor<?x1xi64, #i>, tensor<?x8xf16, #u>) -> tensor<50x8xf16>
  return %z : tensor<50x8xf16>
}

// -----

// Keys have 32 or 64 bits and a sign.
// CHECK-LABEL: func.func @narrow_keys(
// CHECK: %[[X:.*]] = graph.cast %arg0 : (tensor<64xui32>) -> tensor<64xi64>
// CHECK: %[[V:.*]], %[[I:.*]] = graph.top_k %[[X]]
// CHECK: %[[R:.*]] = graph.cast %[[V]] : (tensor<3xi64>) -> tensor<3xui32>
// CHECK: return %[[R]], %[[I]]
func.func @narrow_keys(%x: tensor<64xui32>) -> (tensor<3xui32>, tensor<3xi64>) {
  %v, %i = graph.top_k %x {axis = 0 : i64} : (tensor<64xui32>) -> (tensor<3xui32>, tensor<3xi64>)
  return %v, %i : tensor<3xui32>, tensor<3xi64>
}

// -----

// A known number of boxes is selected at most, of which 5 are fewer than 100: their indices
// are counted and gathered, as triples of batch, class and box. A dynamic limit stays.
#r = affine_map<()[s0] -> (s0, 3)>
// CHECK-LABEL: func.func @boxes(
// CHECK: %[[T:.*]] = graph.transpose %arg0 {perm = array<i64: 0, 2, 1>}
// CHECK: %[[FROM:.*]] = graph.slice %[[T]] {{.*}} -> tensor<2x2x5xf32>
// CHECK: %[[TO:.*]] = graph.slice %[[T]] {{.*}}array<i64: 0, 2, 0>
// CHECK: %[[LOW:.*]] = graph.minimum %[[FROM]], %[[TO]]
// CHECK: %[[HIGH:.*]] = graph.maximum %[[FROM]], %[[TO]]
// CHECK: %[[AREA:.*]] = graph.mul
// CHECK: %[[BOXES:.*]] = graph.concat %[[LOW]], %[[HIGH]], %[[AREA]] {axis = 1 : i64}
// CHECK: %[[S:.*]] = graph.select_boxes %[[BOXES]], %arg1 {overlap = 5.000000e-01 : f32, score = 3.000000e-01 : f32} : (tensor<2x5x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xi64>
// CHECK: %[[IS:.*]] = graph.greater_equal %[[S]]
// CHECK: %[[N:.*]] = graph.reduce_sum {{.*}} -> tensor<1xi64>
// CHECK: graph.bind %[[N]] {symbols = array<i64: 0>}
// CHECK: %[[AT:.*]] = graph.non_zero %[[IS]] : (tensor<2x3x5xi1>) -> tensor<3x?xi64, #{{.*}}>
// CHECK: %[[ROWS:.*]] = graph.transpose %[[AT]]
// CHECK: %[[PICKED:.*]] = graph.gather_nd %[[S]], %[[ROWS]]
// CHECK: graph.concat %{{.*}}, %{{.*}} {axis = 1 : i64} : {{.*}} -> tensor<?x3xi64, #{{.*}}>
// CHECK: graph.call "non_max_suppression"
func.func @boxes(%b: tensor<2x5x4xf32>, %s: tensor<2x3x5xf32>, %m: tensor<i64>) -> (tensor<?x3xi64, #r>, tensor<?x3xi64, affine_map<()[s0, s1] -> (s1, 3)>>) {
  %limit = graph.constant dense<100> : tensor<i64>
  %overlap = graph.constant dense<0.5> : tensor<f32>
  %score = graph.constant dense<0.3> : tensor<f32>
  %corners = graph.constant dense<0> : tensor<i64>
  %y = graph.call "non_max_suppression"(%b, %s, %limit, %overlap, %score, %corners) {symbols = array<i64: 0>} : (tensor<2x5x4xf32>, tensor<2x3x5xf32>, tensor<i64>, tensor<f32>, tensor<f32>, tensor<i64>) -> tensor<?x3xi64, #r>
  %z = graph.call "non_max_suppression"(%b, %s, %m, %overlap, %score, %corners) {symbols = array<i64: 1>} : (tensor<2x5x4xf32>, tensor<2x3x5xf32>, tensor<i64>, tensor<f32>, tensor<f32>, tensor<i64>) -> tensor<?x3xi64, affine_map<()[s0, s1] -> (s1, 3)>>
  return %y, %z : tensor<?x3xi64, #r>, tensor<?x3xi64, affine_map<()[s0, s1] -> (s1, 3)>>
}

// -----

// Centers and sizes.
// CHECK-LABEL: func.func @centers(
// CHECK: %[[HALF:.*]] = graph.mul
// CHECK: graph.sub %{{.*}}, %[[HALF]]
// CHECK: graph.add %{{.*}}, %[[HALF]]
// CHECK: graph.select_boxes
func.func @centers(%b: tensor<1x5x4xf32>, %s: tensor<1x1x5xf32>) -> tensor<?x3xi64, affine_map<()[s0] -> (s0, 3)>> {
  %limit = graph.constant dense<2> : tensor<i64>
  %number = graph.constant dense<0.5> : tensor<f32>
  %center = graph.constant dense<1> : tensor<i64>
  %y = graph.call "non_max_suppression"(%b, %s, %limit, %number, %number, %center) {symbols = array<i64: 0>} : (tensor<1x5x4xf32>, tensor<1x1x5xf32>, tensor<i64>, tensor<f32>, tensor<f32>, tensor<i64>) -> tensor<?x3xi64, affine_map<()[s0] -> (s0, 3)>>
  return %y : tensor<?x3xi64, affine_map<()[s0] -> (s0, 3)>>
}

// -----

// Sizes that do not depend on each other are read at once, and the ops between them follow.
#m = affine_map<()[s0] -> (1, s0)>
#n = affine_map<()[s0, s1] -> (1, s1)>
// CHECK-LABEL: func.func @reads(
// CHECK: %[[A:.*]] = graph.reduce_sum %arg0
// CHECK: %[[B:.*]] = graph.reduce_sum %arg1
// CHECK: %[[ALL:.*]] = graph.concat %[[A]], %[[B]] {axis = 0 : i64}
// CHECK: graph.bind %[[ALL]] {symbols = array<i64: 0, 1>} : tensor<2xi64>
// CHECK-NOT: graph.bind
// CHECK: graph.non_zero %arg0
// CHECK: graph.non_zero %arg1
func.func @reads(%x: tensor<8xi64>, %y: tensor<8xi64>) -> (tensor<1x?xi64, #m>, tensor<1x?xi64, #n>) {
  %a = graph.reduce_sum %x {axes = array<i64: 0>} : (tensor<8xi64>) -> tensor<1xi64>
  graph.bind %a {symbols = array<i64: 0>} : tensor<1xi64>
  %p = graph.non_zero %x : (tensor<8xi64>) -> tensor<1x?xi64, #m>
  %b = graph.reduce_sum %y {axes = array<i64: 0>} : (tensor<8xi64>) -> tensor<1xi64>
  graph.bind %b {symbols = array<i64: 1>} : tensor<1xi64>
  %q = graph.non_zero %y : (tensor<8xi64>) -> tensor<1x?xi64, #n>
  return %p, %q : tensor<1x?xi64, #m>, tensor<1x?xi64, #n>
}

// -----

// The second size depends on the first one, and the third one comes after a check.
#m = affine_map<()[s0] -> (1, s0)>
// CHECK-LABEL: func.func @dependent(
// CHECK: graph.bind %{{.*}} {symbols = array<i64: 0>}
// CHECK: graph.bind %{{.*}} {symbols = array<i64: 1>}
// CHECK: graph.check
// CHECK: graph.bind %{{.*}} {symbols = array<i64: 2>}
func.func @dependent(%x: tensor<8xi64>, %c: tensor<1xi1>, %d: tensor<1xi64>) -> tensor<1x?xi64, #m> {
  %a = graph.reduce_sum %x {axes = array<i64: 0>} : (tensor<8xi64>) -> tensor<1xi64>
  graph.bind %a {symbols = array<i64: 0>} : tensor<1xi64>
  %p = graph.non_zero %x : (tensor<8xi64>) -> tensor<1x?xi64, #m>
  %b = graph.reduce_max %p {axes = array<i64: 0, 1>, keepdims = false} : (tensor<1x?xi64, #m>) -> tensor<i64>
  %f = graph.reshape %b : (tensor<i64>) -> tensor<1xi64>
  graph.bind %f {symbols = array<i64: 1>} : tensor<1xi64>
  graph.check %c, "expected c" : tensor<1xi1>
  graph.bind %d {symbols = array<i64: 2>} : tensor<1xi64>
  return %p : tensor<1x?xi64, #m>
}

// RUN: aopt %s --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @transposes
func.func @transposes(%x: tensor<2x3x4xf32>) -> tensor<4x3x2xf32> {
  // CHECK-NEXT: %[[T:.*]] = graph.transpose %arg0 {perm = array<i64: 2, 1, 0>}
  // CHECK-NEXT: return %[[T]]
  %0 = graph.transpose %x {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = graph.transpose %0 {perm = array<i64: 1, 0, 2>} : (tensor<3x4x2xf32>) -> tensor<4x3x2xf32>
  return %1 : tensor<4x3x2xf32>
}

// -----

// A transpose and its inverse.
// CHECK-LABEL: func.func @inverse
func.func @inverse(%x: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  // CHECK-NEXT: return %arg0
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = graph.transpose %0 {perm = array<i64: 0, 3, 1, 2>} : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
  return %1 : tensor<2x3x4x5xf32>
}

// -----

// Only a dim of size 1 moves; the batch is symbolic.
// CHECK-LABEL: func.func @unit
func.func @unit(%x: tensor<?x1x1x8xf32, affine_map<()[s0] -> (s0, 1, 1, 8)>>) -> tensor<?x8x1x1xf32, affine_map<()[s0] -> (s0, 8, 1, 1)>> attributes {graph.symbols = ["batch"]} {
  // CHECK-NEXT: graph.reshape
  // CHECK-NEXT: return
  %0 = graph.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<?x1x1x8xf32, affine_map<()[s0] -> (s0, 1, 1, 8)>>) -> tensor<?x8x1x1xf32, affine_map<()[s0] -> (s0, 8, 1, 1)>>
  return %0 : tensor<?x8x1x1xf32, affine_map<()[s0] -> (s0, 8, 1, 1)>>
}

// -----

// Two dims that are not 1 are swapped, which moves data.
// CHECK-LABEL: func.func @moves
func.func @moves(%x: tensor<1x3x1x5xf32>) -> tensor<1x5x1x3xf32> {
  // CHECK-NEXT: graph.transpose
  %0 = graph.transpose %x {perm = array<i64: 0, 3, 2, 1>} : (tensor<1x3x1x5xf32>) -> tensor<1x5x1x3xf32>
  return %0 : tensor<1x5x1x3xf32>
}

// -----

// CHECK-LABEL: func.func @reshapes
func.func @reshapes(%x: tensor<2x12xf32>) -> tensor<4x6xf32> {
  // CHECK-NEXT: %[[R:.*]] = graph.reshape %arg0 : (tensor<2x12xf32>) -> tensor<4x6xf32>
  // CHECK-NEXT: return %[[R]]
  %0 = graph.reshape %x : (tensor<2x12xf32>) -> tensor<24xf32>
  %1 = graph.reshape %0 : (tensor<24xf32>) -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// -----

// Elements 1, 4, 7, of which the last two in reverse.
// CHECK-LABEL: func.func @slices
func.func @slices(%x: tensor<10xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: graph.slice %arg0 {starts = array<i64: 7>, steps = array<i64: -3>} : (tensor<10xf32>) -> tensor<2xf32>
  %0 = graph.slice %x {starts = array<i64: 1>, steps = array<i64: 3>} : (tensor<10xf32>) -> tensor<3xf32>
  %1 = graph.slice %0 {starts = array<i64: 2>, steps = array<i64: -1>} : (tensor<3xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// The parts of a dim that is sliced first: the slice becomes an offset of its user, and
// the reshape is a view.
// CHECK-LABEL: func.func @split_of_slice
// CHECK: %[[V:.*]] = graph.reshape %arg0 : (tensor<2x96xf32>) -> tensor<2x12x8xf32>
// CHECK: %[[S:.*]] = graph.slice %[[V]] {starts = array<i64: 0, 4, 0>, steps = array<i64: 1, 1, 1>} : (tensor<2x12x8xf32>) -> tensor<2x4x8xf32>
// CHECK: return %[[S]]
func.func @split_of_slice(%x: tensor<2x96xf32>) -> tensor<2x4x8xf32> {
  %0 = graph.slice %x {starts = array<i64: 0, 32>, steps = array<i64: 1, 1>} : (tensor<2x96xf32>) -> tensor<2x32xf32>
  %1 = graph.reshape %0 : (tensor<2x32xf32>) -> tensor<2x4x8xf32>
  return %1 : tensor<2x4x8xf32>
}

// The slice splits a part.
// CHECK-LABEL: func.func @cut_part
// CHECK: graph.slice %arg0
// CHECK: graph.reshape
func.func @cut_part(%x: tensor<2x96xf32>) -> tensor<2x4x8xf32> {
  %0 = graph.slice %x {starts = array<i64: 0, 30>, steps = array<i64: 1, 1>} : (tensor<2x96xf32>) -> tensor<2x32xf32>
  %1 = graph.reshape %0 : (tensor<2x32xf32>) -> tensor<2x4x8xf32>
  return %1 : tensor<2x4x8xf32>
}

// -----

// Slices that continue the previous one are merged, or are the tensor; not along another
// dim, with a gap, or with steps.
// CHECK-LABEL: func.func @rejoined
// CHECK: %[[A:.*]] = graph.concat %arg0, %arg1 {axis = 1 : i64} : (tensor<2x8xf32>, tensor<2x4xf32>) -> tensor<2x12xf32>
// CHECK: %[[MID:.*]] = graph.slice %arg0 {starts = array<i64: 0, 2>, steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x4xf32>
// CHECK: %[[B:.*]] = graph.concat %arg1, %[[MID]] {axis = 1 : i64}
// CHECK: %[[C:.*]] = graph.concat %{{.*}}, %{{.*}} {axis = 1 : i64} : (tensor<2x4xf32>, tensor<2x2xf32>)
// CHECK: %[[D:.*]] = graph.concat %{{.*}}, %{{.*}} {axis = 0 : i64}
// CHECK: return %[[A]], %[[B]], %[[C]], %[[D]]
func.func @rejoined(%x: tensor<2x8xf32>, %y: tensor<2x4xf32>) -> (tensor<2x12xf32>, tensor<2x8xf32>, tensor<2x6xf32>, tensor<4x4xf32>) {
  %0 = graph.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %1 = graph.slice %x {starts = array<i64: 0, 4>, steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %2 = graph.slice %x {starts = array<i64: 0, 2>, steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x2xf32>
  %3 = graph.slice %x {starts = array<i64: 0, 4>, steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x2xf32>
  %4 = graph.slice %x {starts = array<i64: 0, 6>, steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x2xf32>
  %a = graph.concat %0, %1, %y {axis = 1 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x12xf32>
  %b = graph.concat %y, %2, %3 {axis = 1 : i64} : (tensor<2x4xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x8xf32>
  %c = graph.concat %0, %4 {axis = 1 : i64} : (tensor<2x4xf32>, tensor<2x2xf32>) -> tensor<2x6xf32>
  %d = graph.concat %0, %1 {axis = 0 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  return %a, %b, %c, %d : tensor<2x12xf32>, tensor<2x8xf32>, tensor<2x6xf32>, tensor<4x4xf32>
}

// -----

// Tokens as an image, channels last, and back: views. Sizes may be symbols.
#t = affine_map<()[s0, s1] -> (2, s0 * s1, 6)>
#c = affine_map<()[s0, s1] -> (2, 6, s0 * s1)>
#i = affine_map<()[s0, s1] -> (2, 6, s0, s1)>
#l = affine_map<()[s0, s1] -> (2, s0, s1, 6)>
// CHECK-LABEL: func.func @tokens_as_image(
// CHECK-NOT: graph.transpose
// CHECK: graph.reshape %arg0 {{.*}} -> tensor<2x?x?x6xf32
// CHECK: graph.exp
// CHECK-NOT: graph.transpose
// CHECK: graph.reshape {{.*}} -> tensor<2x?x6xf32
// CHECK-NEXT: return
func.func @tokens_as_image(%x: tensor<2x?x6xf32, #t>) -> tensor<2x?x6xf32, #t> attributes {graph.symbols = ["h", "w"]} {
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<2x?x6xf32, #t>) -> tensor<2x6x?xf32, #c>
  %1 = graph.reshape %0 : (tensor<2x6x?xf32, #c>) -> tensor<2x6x?x?xf32, #i>
  %2 = graph.transpose %1 {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x6x?x?xf32, #i>) -> tensor<2x?x?x6xf32, #l>
  %3 = graph.exp %2 : (tensor<2x?x?x6xf32, #l>) -> tensor<2x?x?x6xf32, #l>
  %4 = graph.transpose %3 {perm = array<i64: 0, 3, 1, 2>} : (tensor<2x?x?x6xf32, #l>) -> tensor<2x6x?x?xf32, #i>
  %5 = graph.reshape %4 : (tensor<2x6x?x?xf32, #i>) -> tensor<2x6x?xf32, #c>
  %6 = graph.transpose %5 {perm = array<i64: 0, 2, 1>} : (tensor<2x6x?xf32, #c>) -> tensor<2x?x6xf32, #t>
  return %6 : tensor<2x?x6xf32, #t>
}

// -----

// Not if elements move: rows and columns of the image are swapped, or the reshape splits
// channels.
// CHECK-LABEL: func.func @image_moves(
// CHECK-COUNT-3: graph.transpose
func.func @image_moves(%x: tensor<2x20x6xf32>) -> (tensor<2x5x4x6xf32>, tensor<2x8x5x3xf32>) {
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<2x20x6xf32>) -> tensor<2x6x20xf32>
  %1 = graph.reshape %0 : (tensor<2x6x20xf32>) -> tensor<2x6x4x5xf32>
  %2 = graph.transpose %1 {perm = array<i64: 0, 3, 2, 1>} : (tensor<2x6x4x5xf32>) -> tensor<2x5x4x6xf32>
  %3 = graph.reshape %0 : (tensor<2x6x20xf32>) -> tensor<2x3x8x5xf32>
  %4 = graph.transpose %3 {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x3x8x5xf32>) -> tensor<2x8x5x3xf32>
  return %2, %4 : tensor<2x5x4x6xf32>, tensor<2x8x5x3xf32>
}

// -----

// Conditions that hold for all sizes are not checked; some of the others stay.
// CHECK-DAG: #[[LEFT:.*]] = affine_map<()[s0, s1] -> (s0, s1)>
// CHECK-LABEL: func.func @assume
// CHECK-NEXT: graph.assume {equalities = [#[[LEFT]]]}
// CHECK-NEXT: graph.assume {bounds = [#{{.*}}], broadcasts = [#{{.*}}]}
// CHECK-NEXT: return
func.func @assume(%x: tensor<?x?xf32, affine_map<()[s0, s1] -> (s0, s1)>>) {
  graph.assume {broadcasts = [affine_map<()[s0] -> (s0, 1)>, affine_map<()[s0] -> (s0 * 2, s0 + s0)>], equalities = [affine_map<()[s0] -> (s0 + 1 - 1, s0)>], bounds = [affine_map<()[s0] -> (s0 + 3)>]}
  graph.assume {equalities = [affine_map<()[s0] -> (s0, s0)>, affine_map<()[s0, s1] -> (s0, s1)>]}
  graph.assume {broadcasts = [affine_map<()[s0] -> (3, 4)>], bounds = [affine_map<()[s0] -> (s0 - 3)>]}
  return
}

// -----

// Starts are added, and lengths computed, also if these are symbolic.
#x = affine_map<()[s0, s1] -> (s0, s1 * 4)>
#a = affine_map<()[s0, s1] -> (s0 - s0 floordiv 2, s1 * 4)>
#b = affine_map<()[s0, s1] -> (s0 - s0 floordiv 2 - 1, s1 * 4)>
#y = affine_map<()[s0, s1] -> (s0, s1 * 2)>
#z = affine_map<()[s0, s1] -> (s0, 2, s1)>
// CHECK: #[[FROM:.*]] = affine_map<()[s0] -> (s0 floordiv 2 + 1, 0)>
// CHECK-LABEL: func.func @by_sizes
// CHECK-DAG: graph.slice %arg0 {starts = #[[FROM]], steps = array<i64: 1, 1>}
// CHECK-DAG: %[[V:.*]] = graph.reshape %arg0 : (tensor<?x?xf32, #{{.*}}>) -> tensor<?x4x?xf32, #{{.*}}>
// CHECK-DAG: graph.slice %[[V]] {starts = array<i64: 0, 2, 0>, steps = array<i64: 1, 1, 1>}
func.func @by_sizes(%x: tensor<?x?xf32, #x>) -> (tensor<?x?xf32, #b>, tensor<?x2x?xf32, #z>) {
  %0 = graph.slice %x {starts = affine_map<()[s0, s1] -> (s0 floordiv 2, 0)>, steps = array<i64: 1, 1>} : (tensor<?x?xf32, #x>) -> tensor<?x?xf32, #a>
  %1 = graph.slice %0 {starts = array<i64: 1, 0>, steps = array<i64: 1, 1>} : (tensor<?x?xf32, #a>) -> tensor<?x?xf32, #b>
  %2 = graph.slice %x {starts = affine_map<()[s0, s1] -> (0, s1 * 2)>, steps = array<i64: 1, 1>} : (tensor<?x?xf32, #x>) -> tensor<?x?xf32, #y>
  %3 = graph.reshape %2 : (tensor<?x?xf32, #y>) -> tensor<?x2x?xf32, #z>
  return %1, %3 : tensor<?x?xf32, #b>, tensor<?x2x?xf32, #z>
}

// -----

// Values in range need no check, by their own bounds or those of their operands; others
// do.
// CHECK-LABEL: @check_range
func.func @check_range(%x: tensor<i64>) {
  %two = graph.constant dense<2> : tensor<i64>
  %five = graph.constant dense<5> : tensor<i64>
  // CHECK-NOT: "static"
  graph.check_range %two, %five, "static" {range = affine_map<() -> (2, 6)>} : tensor<i64>
  // CHECK: "above"
  graph.check_range %two, %five, "above" {range = affine_map<() -> (2, 5)>} : tensor<i64>
  // CHECK: "below"
  graph.check_range %two, %five, "below" {range = affine_map<() -> (3, 6)>} : tensor<i64>
  // CHECK: "dynamic"
  graph.check_range %two, %five, "dynamic" {range = affine_map<()[s0] -> (0, s0)>} : tensor<i64>
  // CHECK: "data-dependent"
  graph.check_range %x, %x, "data-dependent" {range = affine_map<() -> (0, 6)>} : tensor<i64>
  return
}

// -----

// An earlier op checks the same values; others have another value or range.
// CHECK-LABEL: @repeated_checks
// CHECK-COUNT-3: graph.check_range
// CHECK-NOT: graph.check_range
func.func @repeated_checks(%x: tensor<i64>, %y: tensor<i64>) {
  graph.check_range %x, %x, "first" {range = affine_map<() -> (0, 6)>} : tensor<i64>
  graph.check_range %x, %y, "value" {range = affine_map<() -> (0, 6)>} : tensor<i64>
  graph.check_range %x, %x, "range" {range = affine_map<() -> (0, 5)>} : tensor<i64>
  graph.check_range %x, %x, "second" {range = affine_map<() -> (0, 6)>} : tensor<i64>
  return
}

// CHECK-LABEL: @check_range_of_counters
#n = affine_map<()[s0] -> (s0)>
func.func @check_range_of_counters(%x: tensor<?xf32, #n>, %c: tensor<?xi1, #n>) {
  %zero = graph.constant dense<0> : tensor<i64>
  %one = graph.constant dense<1> : tensor<i64>
  %dims = graph.shape %x : (tensor<?xf32, #n>) -> tensor<1xi64>
  %size = graph.reshape %dims : (tensor<1xi64>) -> tensor<i64>
  %count = graph.range %zero, %size, %one : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<?xi64, #n>
  %picked = graph.select %c, %count, %zero : (tensor<?xi1, #n>, tensor<?xi64, #n>, tensor<i64>) -> tensor<?xi64, #n>
  %least = graph.reduce_min %picked {axes = array<i64: 0>, keepdims = false} : (tensor<?xi64, #n>) -> tensor<i64>
  %greatest = graph.reduce_max %picked {axes = array<i64: 0>, keepdims = false} : (tensor<?xi64, #n>) -> tensor<i64>
  // CHECK-NOT: "counters"
  graph.check_range %least, %greatest, "counters" {range = affine_map<()[s0] -> (-s0, s0 + 1)>} : tensor<i64>
  // CHECK: "short"
  graph.check_range %least, %greatest, "short" {range = affine_map<()[s0] -> (-s0, s0 - 1)>} : tensor<i64>
  return
}

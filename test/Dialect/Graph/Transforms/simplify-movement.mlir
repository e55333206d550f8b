// RUN: aopt %s --graph-simplify-movement --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @concat
// CHECK-NEXT: %[[C:.*]] = graph.concat %arg0, %arg1, %arg1 {axis = 0 : i64}
// CHECK-NEXT: return %[[C]]
func.func @concat(%x: tensor<2x4xf32>, %y: tensor<3x4xf32>, %none: tensor<0x4xf32>) -> tensor<8x4xf32> {
  %0 = graph.concat %y, %none, %y {axis = 0 : i64} : (tensor<3x4xf32>, tensor<0x4xf32>, tensor<3x4xf32>) -> tensor<6x4xf32>
  %1 = graph.concat %x, %0 {axis = 0 : i64} : (tensor<2x4xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// -----

// Along another dim, or if a part has a dynamic size, nothing is known.
#n = affine_map<()[s0] -> (s0, 4)>
#m = affine_map<()[s0] -> (s0 + 3, 4)>
// CHECK-LABEL: func.func @slices
// CHECK: %[[C:.*]] = graph.concat
// CHECK: graph.slice %arg1 {starts = array<i64: 2, 0>, steps = array<i64: -1, 1>}
// CHECK: graph.slice %[[C]] {starts = array<i64: 1, 0>
// CHECK: %[[D:.*]] = graph.concat
// CHECK: graph.slice %[[D]]
func.func @slices(%x: tensor<2x4xf32>, %y: tensor<3x4xf32>, %u: tensor<?x4xf32, #n>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = graph.concat %x, %y {axis = 0 : i64} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  %1 = graph.slice %0 {starts = array<i64: 4, 0>, steps = array<i64: -1, 1>} : (tensor<5x4xf32>) -> tensor<2x4xf32>
  %2 = graph.slice %0 {starts = array<i64: 1, 0>, steps = array<i64: 1, 1>} : (tensor<5x4xf32>) -> tensor<2x4xf32>
  %3 = graph.concat %u, %y {axis = 0 : i64} : (tensor<?x4xf32, #n>, tensor<3x4xf32>) -> tensor<?x4xf32, #m>
  %4 = graph.slice %3 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<?x4xf32, #m>) -> tensor<2x4xf32>
  return %1, %2, %4 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func.func @pads
// CHECK: graph.pad %arg0 {high = array<i64: 0, 4>, low = array<i64: 1, 1>}
// CHECK: graph.slice %arg0 {starts = array<i64: 1, 0>, steps = array<i64: 1, 1>} : (tensor<4x4xf32>) -> tensor<3x2xf32>
// CHECK: graph.pad
// CHECK: graph.pad
func.func @pads(%x: tensor<4x4xf32>, %v: tensor<f32>) -> (tensor<5x9xf32>, tensor<3x2xf32>, tensor<6x4xf32>) {
  %0 = graph.pad %x {low = array<i64: 0, 1>, high = array<i64: 0, 2>} : (tensor<4x4xf32>) -> tensor<4x7xf32>
  %1 = graph.pad %0 {low = array<i64: 1, 0>, high = array<i64: 0, 2>} : (tensor<4x7xf32>) -> tensor<5x9xf32>
  %2 = graph.pad %x {low = array<i64: -1, 0>, high = array<i64: 0, -2>} : (tensor<4x4xf32>) -> tensor<3x2xf32>
  %3 = graph.pad %x {low = array<i64: 1, 0>, high = array<i64: 0, 0>} : (tensor<4x4xf32>) -> tensor<5x4xf32>
  %4 = graph.pad %3, %v {low = array<i64: 1, 0>, high = array<i64: 0, 0>} : (tensor<5x4xf32>, tensor<f32>) -> tensor<6x4xf32>
  return %1, %2, %4 : tensor<5x9xf32>, tensor<3x2xf32>, tensor<6x4xf32>
}

// -----

// CHECK-LABEL: func.func @repeated
// CHECK-NEXT: %[[B:.*]] = graph.broadcast_to %arg1 : (tensor<8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[S:.*]] = graph.add %arg0, %arg1 : (tensor<4x8xf32>, tensor<8xf32>)
// CHECK-NEXT: %[[T:.*]] = graph.mul %[[B]], %arg1
// CHECK-NEXT: return %[[S]], %[[T]]
func.func @repeated(%x: tensor<4x8xf32>, %y: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = graph.broadcast_to %y : (tensor<8xf32>) -> tensor<1x8xf32>
  %1 = graph.broadcast_to %0 : (tensor<1x8xf32>) -> tensor<4x8xf32>
  %2 = graph.add %x, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = graph.mul %1, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @reversed
// CHECK-NEXT: return %arg0
func.func @reversed(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = graph.reverse %x {axes = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = graph.reverse %0 {axes = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// Evenly spaced indices are a slice; others, and out-of-bounds ones, are not.
#n = affine_map<()[s0] -> (s0, 8)>
#r = affine_map<()[s0] -> (s0)>
// CHECK-LABEL: func.func @lookups
// CHECK: %[[A:.*]] = graph.slice %arg0 {starts = array<i64: 0, 7>, steps = array<i64: 1, 1>}
// CHECK: graph.reshape %[[A]]
// CHECK: %[[B:.*]] = graph.slice %arg1 {starts = array<i64: 0, 6>, steps = array<i64: 1, -2>} : (tensor<4x8xf32>) -> tensor<4x3xf32>
// CHECK-COUNT-2: graph.gather
func.func @lookups(%x: tensor<?x8xf32, #n>, %y: tensor<4x8xf32>) -> (tensor<?xf32, #r>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4xf32>) {
  %last = graph.constant dense<-1> : tensor<i64>
  %even = graph.constant dense<[6, 4, 2]> : tensor<3xi64>
  %odd = graph.constant dense<[6, 4, 3]> : tensor<3xi64>
  %far = graph.constant dense<8> : tensor<i64>
  %0 = graph.gather %x, %last {axis = 1 : i64} : (tensor<?x8xf32, #n>, tensor<i64>) -> tensor<?xf32, #r>
  %1 = graph.gather %y, %even {axis = 1 : i64} : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  %2 = graph.gather %y, %odd {axis = 1 : i64} : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  %3 = graph.gather %y, %far {axis = 1 : i64} : (tensor<4x8xf32>, tensor<i64>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<?xf32, #r>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4xf32>
}

// -----

// Adjacent slices are merged, the whole is the tensor; a gap and another step stay.
// CHECK-LABEL: func.func @side_by_side
// CHECK-DAG: %[[A:.*]] = graph.concat %arg0, %arg1
// CHECK-DAG: %[[S:.*]] = graph.slice %arg0 {starts = array<i64: 0, 1>, steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x5xf32>
// CHECK-DAG: %[[B:.*]] = graph.concat %[[S]], %arg1
// CHECK-DAG: %[[C:.*]] = graph.concat %{{.*}}, %{{.*}}, %{{.*}} {axis = 1
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @side_by_side(%x: tensor<2x8xf32>, %y: tensor<2x4xf32>) -> (tensor<2x12xf32>, tensor<2x9xf32>, tensor<2x7xf32>) {
  %0 = graph.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x3xf32>
  %1 = graph.slice %x {starts = array<i64: 0, 3>, steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x5xf32>
  %2 = graph.concat %0, %1, %y {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x5xf32>, tensor<2x4xf32>) -> tensor<2x12xf32>
  %3 = graph.slice %x {starts = array<i64: 0, 1>, steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x2xf32>
  %4 = graph.slice %x {starts = array<i64: 0, 3>, steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x3xf32>
  %5 = graph.concat %3, %4, %y {axis = 1 : i64} : (tensor<2x2xf32>, tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x9xf32>
  %6 = graph.slice %x {starts = array<i64: 0, 4>, steps = array<i64: 1, 1>} : (tensor<2x8xf32>) -> tensor<2x2xf32>
  %7 = graph.slice %x {starts = array<i64: 0, 6>, steps = array<i64: 1, -2>} : (tensor<2x8xf32>) -> tensor<2x3xf32>
  %8 = graph.concat %3, %6, %7 {axis = 1 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x7xf32>
  return %2, %5, %8 : tensor<2x12xf32>, tensor<2x9xf32>, tensor<2x7xf32>
}

// -----

// A rotation of halves: the concatenation is the last op.
#x = affine_map<()[s0] -> (s0, 8)>
#h = affine_map<()[s0] -> (s0, 4)>
// CHECK-LABEL: func.func @sinks
// CHECK: %[[A:.*]] = graph.add
// CHECK: %[[B:.*]] = graph.add
// CHECK: %[[Y:.*]] = graph.concat %[[A]], %[[B]]
// CHECK: return %[[Y]]
func.func @sinks(%x: tensor<?x8xf32, #x>, %c: tensor<1x8xf32>, %s: tensor<1x8xf32>) -> tensor<?x8xf32, #x> {
  %0 = graph.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<?x8xf32, #x>) -> tensor<?x4xf32, #h>
  %1 = graph.slice %x {starts = array<i64: 0, 4>, steps = array<i64: 1, 1>} : (tensor<?x8xf32, #x>) -> tensor<?x4xf32, #h>
  %2 = graph.neg %1 : (tensor<?x4xf32, #h>) -> tensor<?x4xf32, #h>
  %3 = graph.concat %2, %0 {axis = 1 : i64} : (tensor<?x4xf32, #h>, tensor<?x4xf32, #h>) -> tensor<?x8xf32, #x>
  %4 = graph.mul %x, %c : (tensor<?x8xf32, #x>, tensor<1x8xf32>) -> tensor<?x8xf32, #x>
  %5 = graph.mul %3, %s : (tensor<?x8xf32, #x>, tensor<1x8xf32>) -> tensor<?x8xf32, #x>
  %6 = graph.add %4, %5 : (tensor<?x8xf32, #x>, tensor<?x8xf32, #x>) -> tensor<?x8xf32, #x>
  return %6 : tensor<?x8xf32, #x>
}

// -----

// Not past a product, which could have the sum as its epilogue, and not with another
// user.
// CHECK-LABEL: func.func @stays_above
// CHECK: %[[C:.*]] = graph.concat
// CHECK: graph.add %[[C]], %{{.*}} : (tensor<4x8xf32>
// CHECK: %[[D:.*]] = graph.concat
// CHECK: graph.exp %[[D]]
func.func @stays_above(%x: tensor<4x4xf32>, %w: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = graph.tanh %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = graph.concat %0, %x {axis = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  %2 = graph.matmul %x, %w : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = graph.add %1, %2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = graph.concat %x, %0 {axis = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  %5 = graph.exp %4 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %3, %4, %5 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Packed elements are converted, not moved: the cast stays after the movement.
// CHECK-LABEL: func.func @packed
// CHECK: graph.concat {{.*}} -> tensor<2x8xi8>
// CHECK-NEXT: graph.cast {{.*}} -> tensor<2x8xi4>
func.func @packed(%x: tensor<1x8xi8>, %y: tensor<1x8xi8>) -> tensor<2x8xi4> {
  %0 = graph.concat %x, %y {axis = 0 : i64} : (tensor<1x8xi8>, tensor<1x8xi8>) -> tensor<2x8xi8>
  %1 = graph.cast %0 : (tensor<2x8xi8>) -> tensor<2x8xi4>
  return %1 : tensor<2x8xi4>
}

// -----

#n = affine_map<()[s0] -> (1, s0)>

// If all elements are equal, any index selects the same, also a dynamic one; not if they
// differ.
// CHECK-LABEL: func.func @equal(
// CHECK: %[[C:.*]] = graph.constant dense<7> : tensor<i64>
// CHECK: %[[Y:.*]] = graph.broadcast_to %[[C]] : (tensor<i64>) -> tensor<1x?xi64
// CHECK: %[[Z:.*]] = graph.gather_elements
// CHECK: return %[[Y]], %[[Z]]
func.func @equal(%at: tensor<1x?xi64, #n>) -> (tensor<1x?xi64, #n>, tensor<1x?xi64, #n>) attributes {graph.symbols = ["n"]} {
  %same = graph.constant dense<7> : tensor<1x4xi64>
  %more = graph.constant dense<[[1, 2, 3, 4]]> : tensor<1x4xi64>
  %y = graph.gather_elements %same, %at {axis = 1 : i64} : (tensor<1x4xi64>, tensor<1x?xi64, #n>) -> tensor<1x?xi64, #n>
  %z = graph.gather_elements %more, %at {axis = 1 : i64} : (tensor<1x4xi64>, tensor<1x?xi64, #n>) -> tensor<1x?xi64, #n>
  return %y, %z : tensor<1x?xi64, #n>, tensor<1x?xi64, #n>
}

// -----

// Rotations of dynamic sizes: repeated angles are computed once, and the arithmetic on
// the halves is done on them, so that only the concatenation is stored.
#q = affine_map<()[s0] -> (4, s0, 16)>
#h = affine_map<()[s0] -> (4, s0, 8)>
#f = affine_map<()[s0] -> (s0, 8)>
#e = affine_map<()[s0] -> (s0, 16)>
#t = affine_map<()[s0] -> (s0, 4, 16)>
// CHECK-LABEL: func.func @rotated
// CHECK-DAG: %[[C:.*]] = graph.cos %arg1 : (tensor<?x8xf32
// CHECK-DAG: %[[S:.*]] = graph.sin %arg1 : (tensor<?x8xf32
// CHECK-NOT: graph.concat
// CHECK: %[[A:.*]] = graph.add {{.*}} -> tensor<4x?x8xf32
// CHECK-NEXT: %[[B:.*]] = graph.add {{.*}} -> tensor<4x?x8xf32
// CHECK-NEXT: %[[R:.*]] = graph.concat %[[A]], %[[B]]
// CHECK-NEXT: return %[[R]]
func.func @rotated(%y: tensor<?x4x16xf32, #t>, %f: tensor<?x8xf32, #f>) -> tensor<4x?x16xf32, #q> attributes {graph.symbols = ["n"]} {
  %x = graph.transpose %y {perm = array<i64: 1, 0, 2>} : (tensor<?x4x16xf32, #t>) -> tensor<4x?x16xf32, #q>
  %e = graph.concat %f, %f {axis = 1 : i64} : (tensor<?x8xf32, #f>, tensor<?x8xf32, #f>) -> tensor<?x16xf32, #e>
  %c = graph.cos %e : (tensor<?x16xf32, #e>) -> tensor<?x16xf32, #e>
  %s = graph.sin %e : (tensor<?x16xf32, #e>) -> tensor<?x16xf32, #e>
  %0 = graph.mul %x, %c : (tensor<4x?x16xf32, #q>, tensor<?x16xf32, #e>) -> tensor<4x?x16xf32, #q>
  %1 = graph.slice %x {starts = array<i64: 0, 0, 8>, steps = array<i64: 1, 1, 1>} : (tensor<4x?x16xf32, #q>) -> tensor<4x?x8xf32, #h>
  %2 = graph.neg %1 : (tensor<4x?x8xf32, #h>) -> tensor<4x?x8xf32, #h>
  %3 = graph.slice %x {starts = array<i64: 0, 0, 0>, steps = array<i64: 1, 1, 1>} : (tensor<4x?x16xf32, #q>) -> tensor<4x?x8xf32, #h>
  %4 = graph.concat %2, %3 {axis = 2 : i64} : (tensor<4x?x8xf32, #h>, tensor<4x?x8xf32, #h>) -> tensor<4x?x16xf32, #q>
  %5 = graph.mul %4, %s : (tensor<4x?x16xf32, #q>, tensor<?x16xf32, #e>) -> tensor<4x?x16xf32, #q>
  %6 = graph.add %0, %5 : (tensor<4x?x16xf32, #q>, tensor<4x?x16xf32, #q>) -> tensor<4x?x16xf32, #q>
  return %6 : tensor<4x?x16xf32, #q>
}

// -----

// A concatenation of two values with several users stays: nothing is computed twice.
// CHECK-LABEL: func.func @apart
// CHECK: %[[C:.*]] = graph.concat %arg0, %arg1
// CHECK: graph.cos %[[C]]
// CHECK: graph.sin %[[C]]
func.func @apart(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = graph.concat %x, %y {axis = 1 : i64} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  %1 = graph.cos %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = graph.sin %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Halves of a dynamic size: adjacent slices, and a slice of their result.
#n = affine_map<()[s0] -> (s0)>
#h = affine_map<()[s0] -> (s0 floordiv 2)>
#r = affine_map<()[s0] -> (s0 - s0 floordiv 2)>
// CHECK-LABEL: func.func @halves
// CHECK: %[[N:.*]] = graph.neg %arg1
// CHECK-NEXT: return %arg0, %[[N]]
func.func @halves(%x: tensor<?xf32, #n>, %y: tensor<?xf32, #h>) -> (tensor<?xf32, #n>, tensor<?xf32, #h>) {
  %0 = graph.slice %x {starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<?xf32, #n>) -> tensor<?xf32, #h>
  %1 = graph.slice %x {starts = affine_map<()[s0] -> (s0 floordiv 2)>, steps = array<i64: 1>} : (tensor<?xf32, #n>) -> tensor<?xf32, #r>
  %2 = graph.concat %0, %1 {axis = 0 : i64} : (tensor<?xf32, #h>, tensor<?xf32, #r>) -> tensor<?xf32, #n>
  %3 = graph.concat %x, %y {axis = 0 : i64} : (tensor<?xf32, #n>, tensor<?xf32, #h>) -> tensor<?xf32, affine_map<()[s0] -> (s0 + s0 floordiv 2)>>
  %4 = graph.slice %3 {starts = affine_map<()[s0] -> (s0)>, steps = array<i64: 1>} : (tensor<?xf32, affine_map<()[s0] -> (s0 + s0 floordiv 2)>>) -> tensor<?xf32, #h>
  %5 = graph.neg %4 : (tensor<?xf32, #h>) -> tensor<?xf32, #h>
  return %2, %5 : tensor<?xf32, #n>, tensor<?xf32, #h>
}

// -----

// A slice that may span several operands stays one of the concatenation.
#n = affine_map<()[s0, s1] -> (s0)>
#m = affine_map<()[s0, s1] -> (s1)>
#w = affine_map<()[s0, s1] -> (s0 + s1)>
// CHECK-LABEL: func.func @across
// CHECK: %[[C:.*]] = graph.concat
// CHECK: graph.slice %[[C]]
func.func @across(%x: tensor<?xf32, #n>, %y: tensor<?xf32, #m>) -> tensor<?xf32, #m> {
  %0 = graph.concat %x, %y {axis = 0 : i64} : (tensor<?xf32, #n>, tensor<?xf32, #m>) -> tensor<?xf32, #w>
  %1 = graph.slice %0 {starts = array<i64: 0>, steps = array<i64: 1>} : (tensor<?xf32, #w>) -> tensor<?xf32, #m>
  return %1 : tensor<?xf32, #m>
}

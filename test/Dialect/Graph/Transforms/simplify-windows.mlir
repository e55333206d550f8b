// Windows along a signal in the form of an image of one column.
// RUN: aopt %s --graph-simplify-algebra --canonicalize --split-input-file | FileCheck %s

// Ops between two convolutions lose the column, too.
#x = affine_map<()[s0, s1] -> (s0, 4, s1, 1)>
#y = affine_map<()[s0, s1] -> (s0, 4, s1 - 2, 1)>
#z = affine_map<()[s0, s1] -> (s0, 8, (s1 - 3) floordiv 2 + 1, 1)>
// CHECK-LABEL: func.func @chain
// CHECK: %[[X:.*]] = graph.reshape %arg0 : (tensor<?x4x?x1xf32, #{{.*}}>) -> tensor<?x4x?xf32, #{{.*}}>
// CHECK: %[[V:.*]] = graph.reshape %arg1 : (tensor<4x4x3x1xf32>) -> tensor<4x4x3xf32>
// CHECK: %[[Y:.*]] = graph.conv %[[X]], %[[V]], %arg2 {dilations = array<i64: 1>, pads = array<i64: 0, 0>, strides = array<i64: 1>}
// CHECK: %[[B:.*]] = graph.reshape %arg4 : (tensor<4x1x1xf32>) -> tensor<4x1xf32>
// CHECK: %[[S:.*]] = graph.mul %[[Y]], %[[B]]
// CHECK: %[[R:.*]] = graph.add %[[S]], %arg5
// CHECK: %[[W:.*]] = graph.reshape %arg3 : (tensor<8x1x2x1xf32>) -> tensor<8x1x2xf32>
// CHECK: %[[Z:.*]] = graph.conv %[[R]], %[[W]] {dilations = array<i64: 2>, group = 4 : i64, pads = array<i64: 1, 1>, strides = array<i64: 2>}
// CHECK: %[[E:.*]] = graph.reshape %[[Z]]
// CHECK: return %[[E]]
func.func @chain(%x: tensor<?x4x?x1xf32, #x>, %v: tensor<4x4x3x1xf32>, %b: tensor<4xf32>, %w: tensor<8x1x2x1xf32>, %s: tensor<4x1x1xf32>, %o: tensor<f32>) -> tensor<?x8x?x1xf32, #z> {
  %0 = graph.conv %x, %v, %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<?x4x?x1xf32, #x>, tensor<4x4x3x1xf32>, tensor<4xf32>) -> tensor<?x4x?x1xf32, #y>
  %1 = graph.mul %0, %s : (tensor<?x4x?x1xf32, #y>, tensor<4x1x1xf32>) -> tensor<?x4x?x1xf32, #y>
  %2 = graph.add %1, %o : (tensor<?x4x?x1xf32, #y>, tensor<f32>) -> tensor<?x4x?x1xf32, #y>
  %3 = graph.conv %2, %w {group = 4 : i64, strides = array<i64: 2, 3>, pads = array<i64: 1, 0, 1, 0>, dilations = array<i64: 2, 1>} : (tensor<?x4x?x1xf32, #y>, tensor<8x1x2x1xf32>) -> tensor<?x8x?x1xf32, #z>
  return %3 : tensor<?x8x?x1xf32, #z>
}

// -----

// CHECK-LABEL: func.func @pools
// CHECK: graph.max_pool %{{.*}} {ceil_mode = true, dilations = array<i64: 1>, kernel = array<i64: 3>, pads = array<i64: 1, 1>, strides = array<i64: 2>} : (tensor<2x4x9xf32>) -> tensor<2x4x5xf32>
// CHECK: graph.avg_pool %{{.*}} {count_include_pad = true, dilations = array<i64: 1>, kernel = array<i64: 3>, pads = array<i64: 1, 1>, strides = array<i64: 2>} : (tensor<2x4x9xf32>) -> tensor<2x4x5xf32>
// CHECK: graph.conv_transpose %{{.*}} {dilations = array<i64: 1>, output_padding = array<i64: 1>, pads = array<i64: 0, 0>, strides = array<i64: 2>} : (tensor<2x4x9xf32>, tensor<4x3x2xf32>) -> tensor<2x3x19xf32>
func.func @pools(%x: tensor<2x4x9x1xf32>, %w: tensor<4x3x2x1xf32>) -> (tensor<2x4x5x1xf32>, tensor<2x4x5x1xf32>, tensor<2x3x19x1xf32>) {
  %0 = graph.max_pool %x {kernel = array<i64: 3, 1>, strides = array<i64: 2, 2>, pads = array<i64: 1, 0, 1, 0>, dilations = array<i64: 1, 1>, ceil_mode = true} : (tensor<2x4x9x1xf32>) -> tensor<2x4x5x1xf32>
  %1 = graph.avg_pool %x {kernel = array<i64: 3, 1>, strides = array<i64: 2, 1>, pads = array<i64: 1, 0, 1, 0>, dilations = array<i64: 1, 1>, count_include_pad = true} : (tensor<2x4x9x1xf32>) -> tensor<2x4x5x1xf32>
  %2 = graph.conv_transpose %x, %w {strides = array<i64: 2, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 1, 0>} : (tensor<2x4x9x1xf32>, tensor<4x3x2x1xf32>) -> tensor<2x3x19x1xf32>
  return %0, %1, %2 : tensor<2x4x5x1xf32>, tensor<2x4x5x1xf32>, tensor<2x3x19x1xf32>
}

// -----

// One pixel, a column that may be wider, and windows that exceed it.
#x = affine_map<()[s0] -> (2, 4, 9, s0)>
// CHECK-LABEL: func.func @stays
// CHECK-NOT: graph.reshape
func.func @stays(%p: tensor<2x4x1x1xf32>, %x: tensor<2x4x9x?xf32, #x>, %c: tensor<2x4x9x1xf32>, %w: tensor<4x4x1x1xf32>, %v: tensor<4x4x1x3xf32>) -> (tensor<2x4x1x1xf32>, tensor<2x4x9x?xf32, #x>, tensor<2x4x9x1xf32>) {
  %0 = graph.conv %p, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x4x1x1xf32>, tensor<4x4x1x1xf32>) -> tensor<2x4x1x1xf32>
  %1 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x4x9x?xf32, #x>, tensor<4x4x1x1xf32>) -> tensor<2x4x9x?xf32, #x>
  %2 = graph.conv %c, %v {strides = array<i64: 1, 1>, pads = array<i64: 0, 1, 0, 1>, dilations = array<i64: 1, 1>} : (tensor<2x4x9x1xf32>, tensor<4x4x1x3xf32>) -> tensor<2x4x9x1xf32>
  return %0, %1, %2 : tensor<2x4x1x1xf32>, tensor<2x4x9x?xf32, #x>, tensor<2x4x9x1xf32>
}

// -----

// The other operand has more columns.
// CHECK-LABEL: func.func @wider
// CHECK: %[[Y:.*]] = graph.reshape %{{.*}} : (tensor<2x4x7xf32>) -> tensor<2x4x7x1xf32>
// CHECK: graph.add %[[Y]], %arg2
func.func @wider(%x: tensor<2x4x9x1xf32>, %w: tensor<4x4x3x1xf32>, %z: tensor<7x5xf32>) -> tensor<2x4x7x5xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x4x9x1xf32>, tensor<4x4x3x1xf32>) -> tensor<2x4x7x1xf32>
  %1 = graph.add %0, %z : (tensor<2x4x7x1xf32>, tensor<7x5xf32>) -> tensor<2x4x7x5xf32>
  return %1 : tensor<2x4x7x5xf32>
}

// -----

// Long windows over one channel that overlap little are rows of a product: of
// 455 elements, the last 14 of which are the first of the next step.
#x = affine_map<()[s0, s1] -> (s0, 1, 1, s1)>
#y = affine_map<()[s0, s1] -> (s0, 640, 1, s1 floordiv 441 + 1)>
// CHECK-LABEL: func.func @resample
// CHECK: %[[P:.*]] = graph.pad %{{.*}} {high = array<i64: 0, 875>, low = array<i64: 0, 7>}
// CHECK: %[[F:.*]] = graph.reshape %{{.*}} : (tensor<?x?xf32, #{{.*}}>) -> tensor<?x?x441xf32, #{{.*}}>
// CHECK-DAG: %[[A:.*]] = graph.slice %[[F]]{{.*}}-> tensor<?x?x441xf32
// CHECK-DAG: %[[B:.*]] = graph.slice %[[F]]{{.*}}-> tensor<?x?x14xf32
// CHECK: %[[W:.*]] = graph.concat %[[A]], %[[B]] {axis = 2 : i64}
// CHECK: %[[M:.*]] = graph.matmul %[[W]], %{{.*}} {transpose_b = true} : (tensor<?x?x455xf32, #{{.*}}>, tensor<640x455xf32>)
// CHECK: %[[S:.*]] = graph.add %[[M]], %arg2
// CHECK: graph.transpose %[[S]] {perm = array<i64: 0, 2, 1>}
// CHECK-NOT: graph.conv
func.func @resample(%x: tensor<?x1x1x?xf32, #x>, %w: tensor<640x1x1x455xf32>, %b: tensor<640xf32>) -> tensor<?x640x1x?xf32, #y> {
  %0 = graph.conv %x, %w, %b {strides = array<i64: 1, 441>, pads = array<i64: 0, 7, 0, 448>, dilations = array<i64: 1, 1>} : (tensor<?x1x1x?xf32, #x>, tensor<640x1x1x455xf32>, tensor<640xf32>) -> tensor<?x640x1x?xf32, #y>
  return %0 : tensor<?x640x1x?xf32, #y>
}

// -----

// Patches are a view.
// CHECK-LABEL: func.func @patches
// CHECK-NOT: graph.concat
// CHECK: graph.matmul %{{.*}} : (tensor<2x10x64xf32>, tensor<16x64xf32>)
func.func @patches(%x: tensor<2x1x640xf32>, %w: tensor<16x1x64xf32>) -> tensor<2x16x10xf32> {
  %0 = graph.conv %x, %w {strides = array<i64: 64>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<2x1x640xf32>, tensor<16x1x64xf32>) -> tensor<2x16x10xf32>
  return %0 : tensor<2x16x10xf32>
}

// -----

// With two outputs, a row covers eight windows in steps of 6: 80 + 7 * 6 elements, of
// three steps of 48. Each window has its filter at its offset in the row.
#x = affine_map<()[s0, s1] -> (s0, 1, 1, s1)>
#y = affine_map<()[s0, s1] -> (s0, 2, 1, (s1 + 4) floordiv 6 + 1)>
// CHECK-LABEL: func.func @joined
// CHECK-SAME: %{{.*}}, %[[V:arg1]]: tensor<2x1x1x80xf32>, %[[BIAS:.*]]: tensor<2xf32>
// CHECK: graph.pad %{{.*}} {high = array<i64: 0, 111>, low = array<i64: 0, 37>}
// CHECK: %[[F:.*]] = graph.reshape %{{.*}} -> tensor<?x?x48xf32, #{{.*}}>
// CHECK-COUNT-3: graph.slice %[[F]]
// CHECK: %[[ROWS:.*]] = graph.concat {{.*}} -> tensor<?x?x122xf32, #{{.*}}>
// CHECK: %[[FILTER:.*]] = graph.reshape %[[V]] : (tensor<2x1x1x80xf32>) -> tensor<2x80xf32>
// CHECK: %[[FIRST:.*]] = graph.pad %[[FILTER]] {high = array<i64: 0, 42>, low = array<i64: 0, 0>}
// CHECK: %[[SECOND:.*]] = graph.pad %[[FILTER]] {high = array<i64: 0, 36>, low = array<i64: 0, 6>}
// CHECK: %[[LAST:.*]] = graph.pad %[[FILTER]] {high = array<i64: 0, 0>, low = array<i64: 0, 42>}
// CHECK: %[[COLUMNS:.*]] = graph.concat %[[FIRST]], %[[SECOND]], {{.*}}, %[[LAST]] {axis = 0 : i64} {{.*}} -> tensor<16x122xf32>
// CHECK: %[[M:.*]] = graph.matmul %[[ROWS]], %[[COLUMNS]] {transpose_b = true}
// CHECK: %[[APART:.*]] = graph.reshape %[[M]] {{.*}} -> tensor<?x?x2xf32, #{{.*}}>
// CHECK: %[[EXIST:.*]] = graph.slice %[[APART]]
// CHECK: %[[S:.*]] = graph.add %[[EXIST]], %[[BIAS]]
// CHECK: graph.transpose %[[S]] {perm = array<i64: 0, 2, 1>}
func.func @joined(%x: tensor<?x1x1x?xf32, #x>, %w: tensor<2x1x1x80xf32>, %b: tensor<2xf32>) -> tensor<?x2x1x?xf32, #y> {
  %0 = graph.conv %x, %w, %b {strides = array<i64: 1, 6>, pads = array<i64: 0, 37, 0, 47>, dilations = array<i64: 1, 1>} : (tensor<?x1x1x?xf32, #x>, tensor<2x1x1x80xf32>, tensor<2xf32>) -> tensor<?x2x1x?xf32, #y>
  return %0 : tensor<?x2x1x?xf32, #y>
}

// -----

// Windows of few outputs stay if they are at each element, whose loads have no steps, or
// if a row of joined windows would have more than three times their taps.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-2: graph.conv
func.func @apart(%x: tensor<2x1x640xf32>, %v: tensor<1x1x80xf32>, %w: tensor<1x1x24xf32>) -> (tensor<2x1x561xf32>, tensor<2x1x155xf32>) {
  %0 = graph.conv %x, %v {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<2x1x640xf32>, tensor<1x1x80xf32>) -> tensor<2x1x561xf32>
  %1 = graph.conv %x, %w {strides = array<i64: 4>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<2x1x640xf32>, tensor<1x1x24xf32>) -> tensor<2x1x155xf32>
  return %0, %1 : tensor<2x1x561xf32>, tensor<2x1x155xf32>
}

// -----

// Windows that overlap much, that are short, or of several channels stay.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: graph.conv
func.func @others(%x: tensor<2x1x640xf32>, %v: tensor<16x1x64xf32>, %w: tensor<16x1x8xf32>, %c: tensor<2x4x640xf32>, %u: tensor<16x4x64xf32>) -> (tensor<2x16x73xf32>, tensor<2x16x80xf32>, tensor<2x16x10xf32>) {
  %0 = graph.conv %x, %v {strides = array<i64: 8>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<2x1x640xf32>, tensor<16x1x64xf32>) -> tensor<2x16x73xf32>
  %1 = graph.conv %x, %w {strides = array<i64: 8>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<2x1x640xf32>, tensor<16x1x8xf32>) -> tensor<2x16x80xf32>
  %2 = graph.conv %c, %u {strides = array<i64: 64>, pads = array<i64: 0, 0>, dilations = array<i64: 1>} : (tensor<2x4x640xf32>, tensor<16x4x64xf32>) -> tensor<2x16x10xf32>
  return %0, %1, %2 : tensor<2x16x73xf32>, tensor<2x16x80xf32>, tensor<2x16x10xf32>
}

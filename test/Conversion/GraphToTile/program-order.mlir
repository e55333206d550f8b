// The order of programs: each thread begins with a contiguous part of them, and keeps the
// same rows from kernel to kernel if the first id, which varies fastest, is that of the
// columns.
// RUN: aopt %s --convert-graph-to-tile --split-input-file | FileCheck %s
// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile --split-input-file | FileCheck %s --check-prefix=ANY

// 64 KiB of weights stay in the second-level cache: columns first. If a GPU may run the
// kernel, rows.
// CHECK-LABEL: tile.kernel @small(
// CHECK-DAG: %[[M:.*]] = tile.param "BLOCK_M"
// CHECK-DAG: %[[N:.*]] = tile.param "BLOCK_N"
// CHECK-DAG: %[[ROWS:.*]] = arith.ceildivui %c3136, %[[M]]
// CHECK-DAG: %[[COLUMNS:.*]] = arith.ceildivui %c256, %[[N]]
// CHECK: %[[ID:.*]]:2 = tile.program_id(%[[COLUMNS]], %[[ROWS]])
// CHECK: arith.muli %[[ID]]#1, %[[M]]
// CHECK: arith.muli %[[ID]]#0, %[[N]]
// ANY-LABEL: tile.kernel @small(
// ANY-DAG: %[[ROWS:.*]] = arith.ceildivui %c3136,
// ANY-DAG: %[[COLUMNS:.*]] = arith.ceildivui %c256,
// ANY: tile.program_id(%[[ROWS]], %[[COLUMNS]])
func.func private @small(%x: tensor<1x56x56x64xf32>, %w: tensor<256x64x1x1xf32>) -> tensor<1x56x56x256xf32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x56x56x64xf32>, tensor<256x64x1x1xf32>) -> tensor<1x56x56x256xf32>
  return %0 : tensor<1x56x56x256xf32>
}

// -----

// Each block of rows would read 4 MiB from the last level again: rows first.
// CHECK-LABEL: tile.kernel @large(
// CHECK-DAG: %[[ROWS:.*]] = arith.ceildivui %c3136,
// CHECK-DAG: %[[COLUMNS:.*]] = arith.ceildivui %c1024,
// CHECK: tile.program_id(%[[ROWS]], %[[COLUMNS]])
func.func private @large(%x: tensor<1x56x56x1024xf32>, %w: tensor<1024x1024x1x1xf32>) -> tensor<1x56x56x1024xf32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x56x56x1024xf32>, tensor<1024x1024x1x1xf32>) -> tensor<1x56x56x1024xf32>
  return %0 : tensor<1x56x56x1024xf32>
}

// -----

// Few rows: each thread would read more additional weights than it saves rows.
// CHECK-LABEL: tile.kernel @few(
// CHECK-DAG: %[[ROWS:.*]] = arith.ceildivui %c49,
// CHECK-DAG: %[[COLUMNS:.*]] = arith.ceildivui %c320,
// CHECK: tile.program_id(%[[ROWS]], %[[COLUMNS]])
func.func private @few(%x: tensor<1x7x7x320xf32>, %w: tensor<320x320x1x1xf32>) -> tensor<1x7x7x320xf32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x7x7x320xf32>, tensor<320x320x1x1xf32>) -> tensor<1x7x7x320xf32>
  return %0 : tensor<1x7x7x320xf32>
}

// -----

// Dynamic numbers of rows are assumed to be large.
#x = affine_map<()[s0] -> (s0, 64)>
#y = affine_map<()[s0] -> (s0, 256)>
// CHECK-LABEL: tile.kernel @unknown(
// CHECK-DAG: %[[N:.*]] = tile.param "BLOCK_N"
// CHECK-DAG: %[[COLUMNS:.*]] = arith.ceildivui %c256, %[[N]]
// CHECK: %[[ID:.*]]:2 = tile.program_id(%[[COLUMNS]], %{{.*}})
// CHECK: arith.muli %[[ID]]#0, %[[N]]
func.func @main(%x: tensor<?x64xf32, #x>) -> tensor<?x256xf32, #y> attributes {graph.symbols = ["m"]} {
  %w = graph.constant dense<1.0> : tensor<64x256xf32>
  %0 = host.launch @unknown(%x, %w) : (tensor<?x64xf32, #x>, tensor<64x256xf32>) -> tensor<?x256xf32, #y>
  return %0 : tensor<?x256xf32, #y>
}
func.func private @unknown(%x: tensor<?x64xf32, #x>, %w: tensor<64x256xf32>) -> tensor<?x256xf32, #y> attributes {adze.kernel} {
  %0 = graph.matmul %x, %w : (tensor<?x64xf32, #x>, tensor<64x256xf32>) -> tensor<?x256xf32, #y>
  return %0 : tensor<?x256xf32, #y>
}

// -----

// Windows: blocks of channels of the same pixels.
// CHECK-LABEL: tile.kernel @depthwise(
// CHECK-DAG: %[[CHANNELS:.*]] = arith.ceildivui %c576,
// CHECK: tile.program_id(%[[CHANNELS]], %c14)
// ANY-LABEL: tile.kernel @depthwise(
// ANY-DAG: %[[CHANNELS:.*]] = arith.ceildivui %c576,
// ANY: tile.program_id(%c14, %[[CHANNELS]])
func.func private @depthwise(%x: tensor<1x14x14x576xf32>, %w: tensor<576x1x3x3xf32>) -> tensor<1x14x14x576xf32> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {group = 576 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x14x14x576xf32>, tensor<576x1x3x3xf32>) -> tensor<1x14x14x576xf32>
  return %0 : tensor<1x14x14x576xf32>
}

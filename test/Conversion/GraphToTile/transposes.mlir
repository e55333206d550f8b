// The part of the result that a program computes if an operand is read transposed, and
// the prefetch: the addresses that the next program reads.
// RUN: aopt %s --convert-graph-to-tile --split-input-file | FileCheck %s
// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile --split-input-file | FileCheck %s --check-prefix=ANY

// Long rows, and some lines of columns; the next program has the next columns. Lines that
// are far apart use non-temporal stores earlier than contiguous ones.
// CHECK-LABEL: tile.kernel @matrix(
// CHECK-SAME: tile.params = {BLOCK_M = 256 : i64, BLOCK_N = 64 : i64}, tile.stream_bytes = 8388608 : i64}
// CHECK: tile.load %arg0[%{{.*}}, %{{.*}}] sizes {{.*}} dims [1, 0] {tile.ahead = array<i64: 64, 0>}
// The threads of a GPU read and write whole cache lines.
// ANY-LABEL: tile.kernel @matrix(
// ANY-SAME: tile.params = {BLOCK_M = 64 : i64, BLOCK_N = 64 : i64}
// ANY-NOT: tile.ahead
func.func private @matrix(%x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> attributes {adze.kernel} {
  %0 = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}

// -----

// Rows along the first dim, which is the last one of the source, not along the one before
// the columns: there are only 32 columns, and the next program is the next index of the
// dim before them.
// CHECK-LABEL: tile.kernel @reversed(
// CHECK-SAME: tile.params = {BLOCK_M = 80 : i64}
// CHECK: %[[ID:.*]]:3 = tile.program_id(%c64, %c48, %{{.*}})
// CHECK: %[[ROW:.*]] = arith.muli %[[ID]]#2, %{{.*}}
// CHECK: tile.load %arg0[0, %[[ID]]#0, %[[ID]]#1, %[[ROW]]] sizes [%{{.*}}, 32] dims [3, 0] {tile.ahead = array<i64: 0, 1, 0, 0>}
// ANY-LABEL: tile.kernel @reversed(
// ANY: sizes [%{{.*}}, 32] dims [3, 0] : memref
func.func private @reversed(%x: tensor<32x64x48x80xf32>) -> tensor<80x48x64x32xf32> attributes {adze.kernel} {
  %0 = graph.transpose %x {perm = array<i64: 3, 2, 1, 0>} : (tensor<32x64x48x80xf32>) -> tensor<80x48x64x32xf32>
  return %0 : tensor<80x48x64x32xf32>
}

// -----

// Columns at a distance of 1 MiB would conflict in a cache: a single line.
// CHECK-LABEL: tile.kernel @apart(
// CHECK-SAME: BLOCK_N = 16 : i64
// CHECK: tile.ahead = array<i64: 16, 0, 0>
func.func private @apart(%x: tensor<64x512x512xf32>) -> tensor<512x512x64xf32> attributes {adze.kernel} {
  %0 = graph.transpose %x {perm = array<i64: 2, 1, 0>} : (tensor<64x512x512xf32>) -> tensor<512x512x64xf32>
  return %0 : tensor<512x512x64xf32>
}

// -----

// Three rows are prefetched by the hardware, and pixels of three channels are close
// together.
// CHECK-LABEL: tile.kernel @channels(
// CHECK-NOT: tile.ahead
func.func private @channels(%x: tensor<8x3x224x224xf32>) -> tensor<8x224x224x3xf32> attributes {adze.kernel} {
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<8x3x224x224xf32>) -> tensor<8x224x224x3xf32>
  return %0 : tensor<8x224x224x3xf32>
}
// CHECK-LABEL: tile.kernel @pixels(
// CHECK-NOT: tile.ahead
func.func private @pixels(%x: tensor<8x224x224x3xf32>) -> tensor<8x3x224x224xf32> attributes {adze.kernel} {
  %0 = graph.transpose %x {perm = array<i64: 0, 3, 1, 2>} : (tensor<8x224x224x3xf32>) -> tensor<8x3x224x224xf32>
  return %0 : tensor<8x3x224x224xf32>
}

// -----

// Whole rows moved by non-temporal stores: programs follow the order of the operand, and
// write to the rows of the result. Results that fit the caches are computed in their
// order.
// CHECK-LABEL: tile.kernel @heads(
// CHECK-SAME: tile.params = {BLOCK_M = 12 : i64}, tile.stream_bytes = 16777216 : i64}
// CHECK: %[[ID:.*]]:3 = tile.program_id(%{{.*}}, %c512, %c64)
// CHECK: %[[ROW:.*]] = arith.muli %[[ID]]#0, %{{.*}}
// CHECK: tile.load %arg0[%[[ID]]#2, %[[ID]]#1, %[[ROW]], 0] sizes [%{{.*}}, 64] :
// CHECK: tile.store %{{.*}}, %arg1[%[[ID]]#2, %[[ROW]], %[[ID]]#1, 0] dims [1, 3]
// ANY-LABEL: tile.kernel @heads(
// ANY: %[[ID:.*]]:3 = tile.program_id(%{{.*}}, %c12, %c64)
func.func private @heads(%x: tensor<64x512x12x64xf32>) -> tensor<64x12x512x64xf32> attributes {adze.kernel} {
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 1, 3>} : (tensor<64x512x12x64xf32>) -> tensor<64x12x512x64xf32>
  return %0 : tensor<64x12x512x64xf32>
}
// CHECK-LABEL: tile.kernel @few_heads(
// CHECK: %[[ID:.*]]:3 = tile.program_id(%{{.*}}, %c12, %c8)
// CHECK: tile.load %arg0[%[[ID]]#2, %{{.*}}, %[[ID]]#1, 0] sizes [%{{.*}}, 64] dims [1, 3] :
func.func private @few_heads(%x: tensor<8x128x12x64xf32>) -> tensor<8x12x128x64xf32> attributes {adze.kernel} {
  %0 = graph.transpose %x {perm = array<i64: 0, 2, 1, 3>} : (tensor<8x128x12x64xf32>) -> tensor<8x12x128x64xf32>
  return %0 : tensor<8x12x128x64xf32>
}

// -----

// One of two operands is read transposed; through a slice, the next program's part is
// further by the step.
// CHECK-LABEL: tile.kernel @sum(
// CHECK-SAME: tile.params = {BLOCK_M = 256 : i64, BLOCK_N = 64 : i64}
// CHECK: tile.load {{.*}} {tile.ahead = array<i64: 0, 64>}
// CHECK: tile.load %arg1[{{.*}} dims [1, 0] strides [1, 2] {tile.ahead = array<i64: 128, 0>}
func.func private @sum(%x: tensor<2048x2048xf32>, %y: tensor<4096x2048xf32>) -> tensor<2048x2048xf32> attributes {adze.kernel} {
  %0 = graph.slice %y {starts = array<i64: 0, 0>, steps = array<i64: 2, 1>} : (tensor<4096x2048xf32>) -> tensor<2048x2048xf32>
  %1 = graph.transpose %0 {perm = array<i64: 1, 0>} : (tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %2 = graph.add %x, %1 : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %2 : tensor<2048x2048xf32>
}

// -----

// Without elements: falls back to the reference path.
// CHECK-LABEL: func.func private @empty(
func.func private @empty(%x: tensor<0x64xf32>) -> tensor<64x0xf32> attributes {adze.kernel} {
  %0 = graph.transpose %x {perm = array<i64: 1, 0>} : (tensor<0x64xf32>) -> tensor<64x0xf32>
  return %0 : tensor<64x0xf32>
}

// -----

// Of dynamic size, transposed and by rows.
// CHECK-LABEL: tile.kernel @unknown(
// CHECK-SAME: tile.params = {BLOCK_M = 256 : i64, BLOCK_N = 64 : i64}
// CHECK: tile.load {{.*}} dims [2, 0] {tile.ahead = array<i64: 64, 0, 0>}
// CHECK-LABEL: tile.kernel @unknown_rows(
// CHECK: %[[ID:.*]]:3 = tile.program_id
// CHECK: tile.load %{{.*}}[%[[ID]]#2, %{{.*}}, %{{.*}}] sizes {{.*}} :
#x = affine_map<()[s0, s1, s2] -> (s0, s1, s2)>
#y = affine_map<()[s0, s1, s2] -> (s2, s1, s0)>
#z = affine_map<()[s0, s1, s2] -> (s1, s0, s2)>
func.func @main(%x: tensor<?x?x?xf32, #x>) -> (tensor<?x?x?xf32, #y>, tensor<?x?x?xf32, #z>) attributes {graph.symbols = ["a", "b", "c"]} {
  %0 = host.launch @unknown(%x) : (tensor<?x?x?xf32, #x>) -> tensor<?x?x?xf32, #y>
  %1 = host.launch @unknown_rows(%x) : (tensor<?x?x?xf32, #x>) -> tensor<?x?x?xf32, #z>
  return %0, %1 : tensor<?x?x?xf32, #y>, tensor<?x?x?xf32, #z>
}
func.func private @unknown(%x: tensor<?x?x?xf32, #x>) -> tensor<?x?x?xf32, #y> attributes {adze.kernel} {
  %0 = graph.transpose %x {perm = array<i64: 2, 1, 0>} : (tensor<?x?x?xf32, #x>) -> tensor<?x?x?xf32, #y>
  return %0 : tensor<?x?x?xf32, #y>
}
func.func private @unknown_rows(%x: tensor<?x?x?xf32, #x>) -> tensor<?x?x?xf32, #z> attributes {adze.kernel} {
  %0 = graph.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<?x?x?xf32, #x>) -> tensor<?x?x?xf32, #z>
  return %0 : tensor<?x?x?xf32, #z>
}

// RUN: aopt %s --convert-graph-to-tile -o %t.mlir
// RUN: FileCheck %s <%t.mlir
// RUN: aopt %t.mlir --tile-specialize=target=cuda --convert-tile-to-gpu | FileCheck %s --check-prefix=GPU
// RUN: cuda-emulate %t.mlir --symbols=9 --tolerance=1e-2 | FileCheck %s --check-prefix=EMULATED

// On GPUs, a program has several lines of wide windows, too: all of a thread's elements use what it
// loads. Loads that differ in the place in a line are shared by adjacent elements, so that a thread
// has several: 4 of 32 bits, 8 of 16 bits, 16 of a window of 7x7.
#gpu = #tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448>
module attributes {tile.targets = [#gpu]} {
  // CHECK: tile.kernel @small(
  // CHECK-SAME: tile.params = {LINES = 4 : i64}
  // CHECK-COUNT-9: tile.load %arg0[{{.*}}] sizes [64, 1, %{{.*}}] dims [3, 1, 2]
  // GPU-LABEL: llvm.func @small(
  // GPU-SAME: adze.threads = 64 : i64
  // EMULATED-DAG: small: 64 programs of 64 threads agree
  func.func private @small(%x: tensor<2x8x16x64xf32>, %w: tensor<8x1x3x3xf32>) -> tensor<2x8x16x64xf32> attributes {adze.kernel} {
    %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x8x16x64xf32>) -> tensor<2x16x64x8xf32>
    %1 = graph.conv %0, %w {group = 8 : i64, strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<2x16x64x8xf32>, tensor<8x1x3x3xf32>) -> tensor<2x16x64x8xf32>
    %2 = graph.transpose %1 {perm = array<i64: 0, 3, 1, 2>} : (tensor<2x16x64x8xf32>) -> tensor<2x8x16x64xf32>
    return %2 : tensor<2x8x16x64xf32>
  }
  // CHECK: tile.kernel @wide(
  // CHECK-SAME: tile.params = {LINES = 8 : i64}
  // CHECK-COUNT-49: tile.load %arg0[{{.*}}] sizes [64, 1, %{{.*}}] dims [3, 1, 2]
  // GPU-LABEL: llvm.func @wide(
  // GPU-SAME: adze.threads = 32 : i64
  // EMULATED-DAG: wide: 4 programs of 32 threads agree
  func.func private @wide(%x: tensor<1x2x16x64xf16>, %w: tensor<2x1x7x7xf16>) -> tensor<1x2x16x64xf16> attributes {adze.kernel} {
    %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x2x16x64xf16>) -> tensor<1x16x64x2xf16>
    %1 = graph.conv %0, %w {group = 2 : i64, strides = array<i64: 1, 1>, pads = array<i64: 3, 3, 3, 3>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x16x64x2xf16>, tensor<2x1x7x7xf16>) -> tensor<1x16x64x2xf16>
    %2 = graph.transpose %1 {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x16x64x2xf16>) -> tensor<1x2x16x64xf16>
    return %2 : tensor<1x2x16x64xf16>
  }
  // With a stride, adjacent elements share less.
  // CHECK: tile.kernel @strided(
  // CHECK-NOT: LINES
  // EMULATED-DAG: strided: {{.*}} agree
  func.func private @strided(%x: tensor<1x2x16x64xf16>, %w: tensor<2x1x5x5xf16>) -> tensor<1x2x8x32xf16> attributes {adze.kernel} {
    %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x2x16x64xf16>) -> tensor<1x16x64x2xf16>
    %1 = graph.conv %0, %w {group = 2 : i64, strides = array<i64: 2, 2>, pads = array<i64: 2, 2, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x16x64x2xf16>, tensor<2x1x5x5xf16>) -> tensor<1x8x32x2xf16>
    %2 = graph.transpose %1 {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x8x32x2xf16>) -> tensor<1x2x8x32xf16>
    return %2 : tensor<1x2x8x32xf16>
  }
  // The lines of the result need not be known.
  // CHECK: tile.kernel @dynamic(
  // CHECK-SAME: tile.params = {LINES = 4 : i64}
  // EMULATED-DAG: dynamic: {{.*}} agree
  func.func private @dynamic(%x: tensor<1x2x?x64xf16, affine_map<()[s0] -> (1, 2, s0, 64)>>, %w: tensor<2x1x5x5xf16>) -> tensor<1x2x?x64xf16, affine_map<()[s0] -> (1, 2, s0, 64)>> attributes {adze.kernel} {
    %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x2x?x64xf16, affine_map<()[s0] -> (1, 2, s0, 64)>>) -> tensor<1x?x64x2xf16, affine_map<()[s0] -> (1, s0, 64, 2)>>
    %1 = graph.conv %0, %w {group = 2 : i64, strides = array<i64: 1, 1>, pads = array<i64: 2, 2, 2, 2>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x?x64x2xf16, affine_map<()[s0] -> (1, s0, 64, 2)>>, tensor<2x1x5x5xf16>) -> tensor<1x?x64x2xf16, affine_map<()[s0] -> (1, s0, 64, 2)>>
    %2 = graph.transpose %1 {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x?x64x2xf16, affine_map<()[s0] -> (1, s0, 64, 2)>>) -> tensor<1x2x?x64xf16, affine_map<()[s0] -> (1, 2, s0, 64)>>
    return %2 : tensor<1x2x?x64xf16, affine_map<()[s0] -> (1, 2, s0, 64)>>
  }
}

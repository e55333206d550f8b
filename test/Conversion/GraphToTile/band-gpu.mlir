// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: aopt %t.mlir --tile-choose-schedule -o %t.90.mlir
// RUN: FileCheck %s --check-prefix=SCHEDULE < %t.90.mlir
// RUN: cuda-emulate %t.90.mlir --symbols=2 --tolerance=4e-3 | FileCheck %s --check-prefix=EMULATED
// RUN: aopt %s --tile-attach-targets=cuda=sm_80 --convert-graph-to-tile --tile-choose-schedule | cuda-emulate - --symbols=1 --tolerance=4e-3 | FileCheck %s --check-prefix=EMULATED

module {
func.func @main(%x: tensor<1x3x4x128xf16>, %z: tensor<?x3x5x96xf16, affine_map<()[s0] -> (s0, 3, 5, 96)>>) -> (tensor<1x3x4x128xf16>, tensor<?x3x5x96xf16, affine_map<()[s0] -> (s0, 3, 5, 96)>>) attributes {graph.symbols = ["N"]} {
  %w = graph.constant dense<1.0> : tensor<128x64x1x2xf16>
  %v = graph.constant dense<1.0> : tensor<96x72x2x1xf16>
  %0 = host.launch @whole(%x, %w) : (tensor<1x3x4x128xf16>, tensor<128x64x1x2xf16>) -> tensor<1x3x4x128xf16>
  %1 = host.launch @across(%z, %v) : (tensor<?x3x5x96xf16, affine_map<()[s0] -> (s0, 3, 5, 96)>>, tensor<96x72x2x1xf16>) -> tensor<?x3x5x96xf16, affine_map<()[s0] -> (s0, 3, 5, 96)>>
  return %0, %1 : tensor<1x3x4x128xf16>, tensor<?x3x5x96xf16, affine_map<()[s0] -> (s0, 3, 5, 96)>>
}

// 64 channels of the result are 8 groups, which begin at a channel of the same number: the
// window has this channel first, and the filter all 64.
// CHECK-LABEL: tile.kernel @whole(
// CHECK: tile.param "BLOCK_N" in [64, 32]
// CHECK: %[[CHANNEL:.*]] = arith.muli %{{.*}}#1, %{{.*}} : index
// CHECK: %[[NUMBER:.*]] = arith.divui %[[CHANNEL]], %c64
// CHECK: %[[FIRST:.*]] = arith.muli %[[NUMBER]], %c64
// CHECK: %[[AT:.*]] = arith.addi %[[FIRST]], %{{.*}}
// CHECK: tile.load %arg0[%{{.*}}, %{{.*}}, %{{.*}}, %[[AT]]]
// SCHEDULE-LABEL: tile.kernel @whole(
// SCHEDULE-SAME: unit = "wgmma", dims = [#tile.dim<"m", 64>, #tile.dim<"n", 64>, #tile.dim<"k", 64>
// EMULATED-DAG: whole: {{.*}} agree
func.func private @whole(%x: tensor<1x3x4x128xf16>, %w: tensor<128x64x1x2xf16>) -> tensor<1x3x4x128xf16> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {band = 64 : i64, dilations = array<i64: 1, 1>, group = 16 : i64, layout = #graph.layout<nhwc>, pads = array<i64: 0, 0, 0, 1>, strides = array<i64: 1, 1>} : (tensor<1x3x4x128xf16>, tensor<128x64x1x2xf16>) -> tensor<1x3x4x128xf16>
  return %0 : tensor<1x3x4x128xf16>
}

// Groups of 24 begin within the first 64 channels: the second band begins at channel 48,
// and its last channels are beyond those of the image. The image has a dynamic size.
// CHECK-LABEL: tile.kernel @across(
// CHECK: %[[OF:.*]] = arith.divui %{{.*}}, %c24
// CHECK: arith.muli %[[OF]], %c24
// SCHEDULE-LABEL: tile.kernel @across(
// SCHEDULE-SAME: unit = "wgmma", dims = [#tile.dim<"m", 64>, #tile.dim<"n", 64>, #tile.dim<"k", 64>
// EMULATED-DAG: across: {{.*}} agree
func.func private @across(%x: tensor<?x3x5x96xf16, affine_map<()[s0] -> (s0, 3, 5, 96)>>, %w: tensor<96x72x2x1xf16>) -> tensor<?x3x5x96xf16, affine_map<()[s0] -> (s0, 3, 5, 96)>> attributes {adze.kernel} {
  %0 = graph.conv %x, %w {band = 64 : i64, dilations = array<i64: 1, 1>, group = 4 : i64, layout = #graph.layout<nhwc>, pads = array<i64: 1, 0, 0, 0>, strides = array<i64: 1, 1>} : (tensor<?x3x5x96xf16, affine_map<()[s0] -> (s0, 3, 5, 96)>>, tensor<96x72x2x1xf16>) -> tensor<?x3x5x96xf16, affine_map<()[s0] -> (s0, 3, 5, 96)>>
  return %0 : tensor<?x3x5x96xf16, affine_map<()[s0] -> (s0, 3, 5, 96)>>
}
}

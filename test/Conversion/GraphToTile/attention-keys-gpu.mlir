// RUN: aopt %s --convert-graph-to-tile | FileCheck %s
// RUN: aopt %s --convert-graph-to-tile --tile-choose-schedule -o %t.mlir
// RUN: FileCheck %s --check-prefix=SCHEDULE <%t.mlir
// RUN: sed 's/, features = .tma.//; s/"wgmma", f16 . f16 + f32, .64, 256, 16./"mma", f16 * f16 + f32, [16, 8, 16]/' %s | aopt --convert-graph-to-tile | FileCheck %s --check-prefix=WARPS
// RUN: cuda-emulate %t.mlir --tolerance=1e-3 --symbols=100 | FileCheck %s --check-prefix=EMULATED

// Matrix units multiply blocks of 128 keys. If these do not divide a static number of
// keys, those beyond the last one are masked.
#k = affine_map<()[s0] -> (2, s0, 64)>
module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
    units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>]} {

// CHECK-LABEL: tile.kernel @ragged
// CHECK: %[[BLOCK:.*]] = tile.param "BLOCK_N" : index
// CHECK: scf.for %[[FIRST:.*]] = %{{.*}} to %{{.*}} step %[[BLOCK]]
// CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %[[FIRST]]
// CHECK: %[[LIMIT:.*]] = tile.broadcast %[[LEFT]]
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %{{.*}}, %[[LIMIT]]
// CHECK: arith.select
// Warps hold 64 keys.
// WARPS-LABEL: tile.kernel @ragged
// WARPS-SAME: BLOCK_N = 64
// WARPS: arith.select
// SCHEDULE-LABEL: tile.kernel @ragged
// SCHEDULE-SAME: #tile.dim<"n", 128>
// EMULATED: ragged: 8 programs of 256 threads agree
func.func private @ragged(%q: tensor<2x197x64xf16>, %k: tensor<2x197x64xf16>, %v: tensor<2x197x64xf16>) -> tensor<2x197x64xf16> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<2x197x64xf16>, tensor<2x197x64xf16>, tensor<2x197x64xf16>) -> tensor<2x197x64xf16>
  return %0 : tensor<2x197x64xf16>
}

// A whole number of blocks: other sizes have to divide the keys, too.
// CHECK-LABEL: tile.kernel @whole
// CHECK: tile.param "BLOCK_N" in [1, 2, 4, 8, 16, 32, 64, 128, 256]
// CHECK-NOT: arith.select
// WARPS-LABEL: tile.kernel @whole
// WARPS: tile.param "BLOCK_N" in [1, 2, 4
// SCHEDULE-LABEL: tile.kernel @whole
// SCHEDULE-SAME: #tile.dim<"n", 128>
// EMULATED: whole: 8 programs of 256 threads agree
func.func private @whole(%q: tensor<2x256x64xf16>, %k: tensor<2x256x64xf16>, %v: tensor<2x256x64xf16>) -> tensor<2x256x64xf16> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<2x256x64xf16>, tensor<2x256x64xf16>, tensor<2x256x64xf16>) -> tensor<2x256x64xf16>
  return %0 : tensor<2x256x64xf16>
}

// Few keys are a block of their own.
// CHECK-LABEL: tile.kernel @short
// CHECK: tile.param "BLOCK_N" in [1, 2, 4, 8, 16, 32, 64]
// CHECK-NOT: arith.select
// EMULATED: short: 2 programs of
func.func private @short(%q: tensor<2x40x64xf16>, %k: tensor<2x64x64xf16>, %v: tensor<2x64x64xf16>) -> tensor<2x40x64xf16> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<2x40x64xf16>, tensor<2x64x64xf16>, tensor<2x64x64xf16>) -> tensor<2x40x64xf16>
  return %0 : tensor<2x40x64xf16>
}

// The end of a dynamic number of keys is masked.
// CHECK-LABEL: tile.kernel @dynamic
// CHECK: tile.param "BLOCK_N" : index
// CHECK: arith.select
// EMULATED: dynamic: 8 programs of 256 threads agree
func.func private @dynamic(%q: tensor<2x200x64xf16>, %k: tensor<2x?x64xf16, #k>, %v: tensor<2x?x64xf16, #k>) -> tensor<2x200x64xf16> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<2x200x64xf16>, tensor<2x?x64xf16, #k>, tensor<2x?x64xf16, #k>) -> tensor<2x200x64xf16>
  return %0 : tensor<2x200x64xf16>
}

// Values may have another size than keys.
// SCHEDULE-LABEL: tile.kernel @values
// SCHEDULE-SAME: #tile.dim<"n", 128>, #tile.dim<"k", 96>
// EMULATED: values: 6 programs of 256 threads agree
func.func private @values(%q: tensor<2x130x96xf16>, %k: tensor<2x150x96xf16>, %v: tensor<2x150x40xf16>) -> tensor<2x130x40xf16> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<2x130x96xf16>, tensor<2x150x96xf16>, tensor<2x150x40xf16>) -> tensor<2x130x40xf16>
  return %0 : tensor<2x130x40xf16>
}

// No matrix unit multiplies f32: a block divides the keys.
// CHECK-LABEL: tile.kernel @f32
// CHECK: tile.param "BLOCK_N" in [1, 2, 3, 6, 9, 11, 18, 22, 33, 66, 99, 198]
// CHECK-NOT: arith.select
func.func private @f32(%q: tensor<2x198x64xf32>, %k: tensor<2x198x64xf32>, %v: tensor<2x198x64xf32>) -> tensor<2x198x64xf32> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<2x198x64xf32>, tensor<2x198x64xf32>, tensor<2x198x64xf32>) -> tensor<2x198x64xf32>
  return %0 : tensor<2x198x64xf32>
}
}

// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile --split-input-file | FileCheck %s

// One pass over the keys. Loads and stores split and merge the heads; three heads share a
// group of keys; the queries are the last axis.
#q = affine_map<()[s0, s1] -> (s0, s1, 12, 64)>
#k = affine_map<()[s0, s1] -> (s0, s1, 4, 64)>
#qt = affine_map<()[s0, s1] -> (s0, 12, s1, 64)>
#kt = affine_map<()[s0, s1] -> (s0, 4, s1, 64)>
#m = affine_map<()[s0, s1] -> (s0, 1, 1, s1)>
// CHECK-LABEL: tile.kernel @heads
// CHECK-SAME: tile.params = {BLOCK_M = 32 : i64, BLOCK_N = 64 : i64}
// CHECK-DAG: %[[BM:.*]] = tile.param "BLOCK_M"
// CHECK-DAG: %[[BN:.*]] = tile.param "BLOCK_N"
// CHECK: %[[P:.*]]:3 = tile.program_id
// CHECK: %[[G:.*]] = arith.divui %[[P]]#1, %c3
// CHECK: %[[GV:.*]] = arith.divui %[[P]]#1, %c3
// CHECK: %[[ROW:.*]] = arith.muli %[[P]]#0, %[[BM]]
// CHECK: %[[Q:.*]] = tile.load %arg0[%[[P]]#2, %[[ROW]], %[[P]]#1, 0] sizes [64, %[[BM]]] dims [3, 1]
// CHECK: %[[QS:.*]] = arith.mulf %[[Q]]
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %[[BN]] iter_args(%[[ACC:.*]] = %{{.*}}, %[[MAX:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}}) -> (tensor<64x?xf32>, tensor<?xf32>, tensor<?xf32>)
// CHECK: %[[K:.*]] = tile.load %arg1[%[[P]]#2, %[[J]], %[[G]], 0] sizes [%[[BN]], 64] dims [1, 3]
// CHECK: tile.dot %[[K]], %[[QS]]
// CHECK: tile.load %arg3[%[[P]]#2, 0, 0, %[[J]]] sizes [%[[BN]]]
// CHECK: tile.reduce max
// CHECK: %[[W:.*]] = math.exp {{.*}} : tensor<?x?xf32>
// CHECK: %[[V:.*]] = tile.load %arg2[%[[P]]#2, %[[J]], %[[GV]], 0] sizes [64, %[[BN]]] dims [3, 1]
// CHECK: tile.dot %[[V]], %[[W]]
// CHECK: tile.store %{{.*}}, %arg4[%[[P]]#2, %[[ROW]], %[[P]]#1, 0] dims [3, 1]
func.func private @heads(%q: tensor<?x?x12x64xf32, #q>, %k: tensor<?x?x4x64xf32, #k>, %v: tensor<?x?x4x64xf32, #k>, %m: tensor<?x1x1x?xi1, #m>) -> tensor<?x?x12x64xf32, #q> attributes {adze.kernel} {
  %0 = graph.transpose %q {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x12x64xf32, #q>) -> tensor<?x12x?x64xf32, #qt>
  %1 = graph.transpose %k {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x4x64xf32, #k>) -> tensor<?x4x?x64xf32, #kt>
  %2 = graph.transpose %v {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x4x64xf32, #k>) -> tensor<?x4x?x64xf32, #kt>
  %3 = graph.attention %0, %1, %2 mask %m {scale = 0.125 : f64} : (tensor<?x12x?x64xf32, #qt>, tensor<?x4x?x64xf32, #kt>, tensor<?x4x?x64xf32, #kt>, tensor<?x1x1x?xi1, #m>) -> tensor<?x12x?x64xf32, #qt>
  %4 = graph.transpose %3 {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x12x?x64xf32, #qt>) -> tensor<?x?x12x64xf32, #q>
  return %4 : tensor<?x?x12x64xf32, #q>
}

// -----

// Few queries: the keys are the last axis. f16 operands are multiplied unconverted.
// CHECK-LABEL: tile.kernel @few
// CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<{{[6?]}}x64xf16>, tensor<64x?xf16>, tensor<{{.*}}xf32>
// CHECK: tile.reduce max %{{.*}} dim 1
// Weights are rounded for tensor cores; a CPU may omit that.
// CHECK: arith.truncf %{{.*}} fastmath<contract> : tensor<{{.*}}xf32> to tensor<{{.*}}xf16>
func.func private @few(%q: tensor<8x6x64xf16>, %k: tensor<8x100x64xf16>) -> tensor<8x6x64xf16> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %k {scale = 0.125 : f64} : (tensor<8x6x64xf16>, tensor<8x100x64xf16>, tensor<8x100x64xf16>) -> tensor<8x6x64xf16>
  return %0 : tensor<8x6x64xf16>
}

// -----

// One query: all threads multiply keys and values as they read them, and reduce.
// CHECK-LABEL: tile.kernel @one
// CHECK-NOT: tile.dot
// CHECK: arith.mulf
// CHECK: tile.reduce add
// CHECK: tile.reduce max
// CHECK: tile.load %{{.*}} : memref<8x100x64xf16>
// CHECK: tile.reduce add
func.func private @one(%q: tensor<8x1x64xf16>, %k: tensor<8x100x64xf16>) -> tensor<8x1x64xf16> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %k {scale = 0.125 : f64} : (tensor<8x1x64xf16>, tensor<8x100x64xf16>, tensor<8x100x64xf16>) -> tensor<8x1x64xf16>
  return %0 : tensor<8x1x64xf16>
}

// -----

// Keys beyond the diagonal of a block are not read.
// CHECK-LABEL: tile.kernel @causal
// CHECK: %[[END:.*]] = arith.minsi
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[END]]
// CHECK: tile.iota
// CHECK: arith.cmpi sle
func.func private @causal(%q: tensor<8x256x64xf32>) -> tensor<8x256x64xf32> attributes {adze.kernel} {
  %0 = graph.attention %q, %q, %q {scale = 0.125 : f64, causal = #graph.causal<upper_left>} : (tensor<8x256x64xf32>, tensor<8x256x64xf32>, tensor<8x256x64xf32>) -> tensor<8x256x64xf32>
  return %0 : tensor<8x256x64xf32>
}

// -----

// Heads of dynamic size stay on the reference path.
#h = affine_map<()[s0] -> (8, 100, s0)>
// CHECK-LABEL: func.func private @unknown
func.func private @unknown(%q: tensor<8x100x?xf32, #h>) -> tensor<8x100x?xf32, #h> attributes {adze.kernel} {
  %0 = graph.attention %q, %q, %q {scale = 0.125 : f64} : (tensor<8x100x?xf32, #h>, tensor<8x100x?xf32, #h>, tensor<8x100x?xf32, #h>) -> tensor<8x100x?xf32, #h>
  return %0 : tensor<8x100x?xf32, #h>
}

// -----

// No usual block divides the keys: blocks are equal, so that few positions beyond the
// last key are computed.
// CHECK-LABEL: tile.kernel @uneven
// CHECK-SAME: BLOCK_N = 99
func.func private @uneven(%q: tensor<3x197x64xf32>, %k: tensor<3x197x64xf32>, %v: tensor<3x197x64xf32>) -> tensor<3x197x64xf32> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<3x197x64xf32>, tensor<3x197x64xf32>, tensor<3x197x64xf32>) -> tensor<3x197x64xf32>
  return %0 : tensor<3x197x64xf32>
}

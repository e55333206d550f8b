// RUN: aopt %s --convert-graph-to-tile | FileCheck %s

// The number of queries is dynamic: a single one has separate programs, up to 20 are in
// blocks of four, both with the keys along the vectors; with more, the queries of a block
// are along the vectors.
#q = affine_map<()[s0, s1] -> (8, s0, 64)>
#k = affine_map<()[s0, s1] -> (8, s1, 64)>
// CHECK-LABEL: tile.kernel @unknown
// CHECK: %[[ROWS:.*]] = arith.ceildivui %[[N:.*]], %[[BM:.*]] : index
// CHECK: %[[SINGLE:.*]] = arith.cmpi ult, %[[N]], %c2
// CHECK: %[[FEW:.*]] = arith.cmpi ult, %[[N]], %c21
// CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[N]], %c4
// CHECK: %[[SOME:.*]] = arith.select %[[FEW]], %[[BLOCKS]], %[[ROWS]]
// CHECK: %[[COUNT:.*]] = arith.select %[[SINGLE]], %[[N]], %[[SOME]]
// CHECK: %[[P:.*]]:2 = tile.program_id(%[[COUNT]], %c8
// CHECK: scf.if %[[SINGLE]] {
// CHECK: tile.phase {
// CHECK: %[[LAST:.*]] = arith.subi %[[N]], %c1
// CHECK: %[[LEAST:.*]] = arith.minsi %[[P]]#0, %[[LAST]]
// CHECK: %[[ROW:.*]] = arith.maxsi %[[LEAST]], %c0
// CHECK: tile.load %arg0[%[[P]]#1, %[[ROW]], 0] sizes [1, 64]
// CHECK: tile.load %arg1[%[[P]]#1, %{{.*}}, 0] sizes [64, %{{.*}}] dims [2, 1]
// CHECK: tile.reduce max %{{.*}} dim 1
// CHECK: } else {
// CHECK: scf.if %[[FEW]] {
// CHECK: tile.phase {
// CHECK: %[[ROW4:.*]] = arith.muli %[[P]]#0, %c4
// CHECK: tile.load %arg0[%[[P]]#1, %[[ROW4]], 0] sizes [4, 64]
// CHECK: tile.reduce max %{{.*}} dim 1
// CHECK: } else {
// CHECK: tile.phase {
// CHECK: %[[ROWB:.*]] = arith.muli %[[P]]#0, %[[BM]]
// CHECK: tile.load %arg0[%[[P]]#1, %[[ROWB]], 0] sizes [64, %[[BM]]] dims [2, 1]
// CHECK: tile.reduce max %{{.*}} dim 0
func.func private @unknown(%q: tensor<8x?x64xf32, #q>, %k: tensor<8x?x64xf32, #k>, %v: tensor<8x?x64xf32, #k>) -> tensor<8x?x64xf32, #q> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<8x?x64xf32, #q>, tensor<8x?x64xf32, #k>, tensor<8x?x64xf32, #k>) -> tensor<8x?x64xf32, #q>
  return %0 : tensor<8x?x64xf32, #q>
}

// A static number needs no choice.
// CHECK-LABEL: tile.kernel @known
// CHECK-NOT: scf.if
// CHECK-NOT: tile.phase
func.func private @known(%q: tensor<8x100x64xf32>, %k: tensor<8x?x64xf32, #k>, %v: tensor<8x?x64xf32, #k>) -> tensor<8x100x64xf32> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<8x100x64xf32>, tensor<8x?x64xf32, #k>, tensor<8x?x64xf32, #k>) -> tensor<8x100x64xf32>
  return %0 : tensor<8x100x64xf32>
}

// A single query is processed together with those of the heads that share its keys, and
// the next block of keys and values is prefetched.
#qs = affine_map<()[s0, s1] -> (2, 8, s0, 64)>
#ks = affine_map<()[s0, s1] -> (2, 2, s1, 64)>
// CHECK-LABEL: tile.kernel @shared
// CHECK: %[[SINGLE:.*]] = arith.cmpi ult, %{{.*}}, %c2
// CHECK: %[[HEADS:.*]] = arith.select %[[SINGLE]], %c2{{[_0-9]*}}, %c8
// CHECK: %[[P:.*]]:3 = tile.program_id(%{{.*}}, %[[HEADS]], %c2
// CHECK: scf.if %[[SINGLE]] {
// CHECK: %[[HEAD:.*]] = arith.muli %[[P]]#1, %c4
// CHECK: tile.load %arg0[%[[P]]#2, %{{.*}}, %{{.*}}, 0] sizes [4, 64] dims [1, 3]
// CHECK: tile.load %arg1[{{.*}}] sizes [64, %{{.*}}] dims [3, 2] {tile.ahead = array<i64: 0, 0, 64, 0>}
// CHECK: tile.load %arg2[{{.*}}] sizes [%{{.*}}, 64] {tile.ahead = array<i64: 0, 0, 64, 0>}
// CHECK: tile.store %{{.*}}, %arg3[%[[P]]#2, %{{.*}}, %{{.*}}, 0] dims [1, 3]
func.func private @shared(%q: tensor<2x8x?x64xf32, #qs>, %k: tensor<2x2x?x64xf32, #ks>, %v: tensor<2x2x?x64xf32, #ks>) -> tensor<2x8x?x64xf32, #qs> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<2x8x?x64xf32, #qs>, tensor<2x2x?x64xf32, #ks>, tensor<2x2x?x64xf32, #ks>) -> tensor<2x8x?x64xf32, #qs>
  return %0 : tensor<2x8x?x64xf32, #qs>
}

// A static single query needs no choice. Each head has its own mask.
// CHECK-LABEL: tile.kernel @one
// CHECK: %[[P:.*]]:2 = tile.program_id(%{{.*}}, %c2
// CHECK-NOT: scf.if
// CHECK: tile.load %arg0[{{.*}}] sizes [6, 64] dims [1, 3]
// CHECK: tile.load %arg3[%{{.*}}, 0, 0, %{{.*}}] sizes [6, %{{.*}}] dims [1, 3]
func.func private @one(%q: tensor<2x6x1x64xf32>, %k: tensor<2x1x?x64xf32, affine_map<()[s0] -> (2, 1, s0, 64)>>, %v: tensor<2x1x?x64xf32, affine_map<()[s0] -> (2, 1, s0, 64)>>, %m: tensor<2x6x1x?xi1, affine_map<()[s0] -> (2, 6, 1, s0)>>) -> tensor<2x6x1x64xf32> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v mask %m {scale = 0.125 : f64} : (tensor<2x6x1x64xf32>, tensor<2x1x?x64xf32, affine_map<()[s0] -> (2, 1, s0, 64)>>, tensor<2x1x?x64xf32, affine_map<()[s0] -> (2, 1, s0, 64)>>, tensor<2x6x1x?xi1, affine_map<()[s0] -> (2, 6, 1, s0)>>) -> tensor<2x6x1x64xf32>
  return %0 : tensor<2x6x1x64xf32>
}

// The first query sees the first key only, so heads are separate.
// CHECK-LABEL: tile.kernel @upper_left
// CHECK-NOT: dims [1, 3]
// CHECK: tile.load %arg0[{{.*}}] sizes [%{{.*}}, 64] :
func.func private @upper_left(%q: tensor<2x8x1x64xf32>, %k: tensor<2x2x?x64xf32, affine_map<()[s0] -> (2, 2, s0, 64)>>, %v: tensor<2x2x?x64xf32, affine_map<()[s0] -> (2, 2, s0, 64)>>) -> tensor<2x8x1x64xf32> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64, causal = #graph.causal<upper_left>} : (tensor<2x8x1x64xf32>, tensor<2x2x?x64xf32, affine_map<()[s0] -> (2, 2, s0, 64)>>, tensor<2x2x?x64xf32, affine_map<()[s0] -> (2, 2, s0, 64)>>) -> tensor<2x8x1x64xf32>
  return %0 : tensor<2x8x1x64xf32>
}

// RUN: aopt %s --convert-graph-to-tile=for-cpu=true | FileCheck %s

// How many queries there are only the run knows: few have a program
// each, with the keys along its vectors; of more, blocks have one.
#q = affine_map<()[s0, s1] -> (8, s0, 64)>
#k = affine_map<()[s0, s1] -> (8, s1, 64)>
// CHECK-LABEL: tile.kernel @unknown
// CHECK: %[[ROWS:.*]] = arith.ceildivui %[[N:.*]], %[[BM:.*]] : index
// CHECK: %[[FEW:.*]] = arith.cmpi ult, %[[N]], %c13
// CHECK: %[[COUNT:.*]] = arith.select %[[FEW]], %[[N]], %[[ROWS]]
// CHECK: %[[P:.*]]:2 = tile.program_id(%[[COUNT]], %c8
// CHECK: scf.if %[[FEW]] {
// CHECK: tile.phase {
// CHECK: tile.load %arg0[%[[P]]#1, %[[P]]#0, 0] sizes [1, 64]
// CHECK: tile.load %arg1[%[[P]]#1, %{{.*}}, 0] sizes [64, %{{.*}}] dims [2, 1]
// CHECK: tile.reduce max %{{.*}} dim 1
// CHECK: } else {
// CHECK: tile.phase {
// CHECK: %[[ROW:.*]] = arith.muli %[[P]]#0, %[[BM]]
// CHECK: tile.load %arg0[%[[P]]#1, %[[ROW]], 0] sizes [64, %[[BM]]] dims [2, 1]
// CHECK: tile.reduce max %{{.*}} dim 0
func.func private @unknown(%q: tensor<8x?x64xf32, #q>, %k: tensor<8x?x64xf32, #k>, %v: tensor<8x?x64xf32, #k>) -> tensor<8x?x64xf32, #q> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<8x?x64xf32, #q>, tensor<8x?x64xf32, #k>, tensor<8x?x64xf32, #k>) -> tensor<8x?x64xf32, #q>
  return %0 : tensor<8x?x64xf32, #q>
}

// A known number needs no choice.
// CHECK-LABEL: tile.kernel @known
// CHECK-NOT: scf.if
// CHECK-NOT: tile.phase
func.func private @known(%q: tensor<8x100x64xf32>, %k: tensor<8x?x64xf32, #k>, %v: tensor<8x?x64xf32, #k>) -> tensor<8x100x64xf32> attributes {adze.kernel} {
  %0 = graph.attention %q, %k, %v {scale = 0.125 : f64} : (tensor<8x100x64xf32>, tensor<8x?x64xf32, #k>, tensor<8x?x64xf32, #k>) -> tensor<8x100x64xf32>
  return %0 : tensor<8x100x64xf32>
}

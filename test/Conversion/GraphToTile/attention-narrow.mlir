// Keys and values of few bits: the scale of a row is one factor of its score or of its
// weight, and the elements are widened.
// RUN: aopt %s --convert-graph-to-tile | FileCheck %s
// RUN: aopt %s --convert-graph-to-tile=batch-invariant | FileCheck %s --check-prefix=SAME

#q = affine_map<()[s0, s1] -> (2, 4, s0, 64)>
#k = affine_map<()[s0, s1] -> (2, 4, s1, 64)>
#s = affine_map<()[s0, s1] -> (2, 4, s1)>
#f = affine_map<()[s0, s1] -> (2, 4, s1, 1)>

// CHECK-LABEL: tile.kernel @bytes
// CHECK: scf.for
// CHECK: %[[K:.*]] = tile.load %arg1[{{.*}}] {{.*}}xi8
// CHECK: %[[WIDE:.*]] = arith.sitofp %[[K]]
// CHECK-NOT: arith.mulf
// CHECK: %[[DOT:.*]] = tile.dot %{{.*}}, %[[WIDE]]
// CHECK: %[[SCALES:.*]] = tile.load %arg2[{{.*}}] sizes [%{{.*}}] : memref<2x4x?xf32>
// CHECK: %[[EACH:.*]] = tile.broadcast %[[SCALES]]
// CHECK: arith.mulf %[[DOT]], %[[EACH]]
// CHECK: %[[WEIGHTS:.*]] = math.exp
// CHECK: tile.reduce add %[[WEIGHTS]]
// CHECK: %[[V:.*]] = tile.load %arg3[{{.*}}] {{.*}}xi8
// CHECK: %[[WIDEV:.*]] = arith.sitofp %[[V]]
// CHECK: tile.load %arg4[{{.*}}] sizes [%{{.*}}] : memref<2x4x?xf32>
// CHECK: %[[SCALED:.*]] = arith.mulf %[[WEIGHTS]], %
// CHECK: tile.dot %[[SCALED]], %[[WIDEV]]
func.func private @bytes(%q: tensor<2x4x?x64xf32, #q>, %k: tensor<2x4x?x64xi8, #k>, %ks: tensor<2x4x?xf32, #s>, %v: tensor<2x4x?x64xi8, #k>, %vs: tensor<2x4x?xf32, #s>) -> tensor<2x4x?x64xf32, #q> attributes {adze.kernel} {
  %0 = graph.cast %k : (tensor<2x4x?x64xi8, #k>) -> tensor<2x4x?x64xf32, #k>
  %1 = graph.reshape %ks : (tensor<2x4x?xf32, #s>) -> tensor<2x4x?x1xf32, #f>
  %2 = graph.mul %0, %1 : (tensor<2x4x?x64xf32, #k>, tensor<2x4x?x1xf32, #f>) -> tensor<2x4x?x64xf32, #k>
  %3 = graph.cast %v : (tensor<2x4x?x64xi8, #k>) -> tensor<2x4x?x64xf32, #k>
  %4 = graph.reshape %vs : (tensor<2x4x?xf32, #s>) -> tensor<2x4x?x1xf32, #f>
  %5 = graph.mul %3, %4 : (tensor<2x4x?x64xf32, #k>, tensor<2x4x?x1xf32, #f>) -> tensor<2x4x?x64xf32, #k>
  %6 = graph.attention %q, %2, %5 {scale = 0.125 : f64} : (tensor<2x4x?x64xf32, #q>, tensor<2x4x?x64xf32, #k>, tensor<2x4x?x64xf32, #k>) -> tensor<2x4x?x64xf32, #q>
  return %6 : tensor<2x4x?x64xf32, #q>
}

// With --batch-invariant, any number of queries other than one is tiled in blocks of
// four, whose sums are those of one.
// SAME-LABEL: tile.kernel @bytes
// SAME: %[[SINGLE:.*]] = arith.cmpi ult, %[[N:.*]], %c2
// SAME: %[[BLOCKS:.*]] = arith.ceildivui %[[N]], %c4
// SAME: %[[COUNT:.*]] = arith.select %[[SINGLE]], %[[N]], %[[BLOCKS]]
// SAME: tile.program_id(%[[COUNT]],
// SAME: scf.if %[[SINGLE]]
// SAME: } else {
// SAME-NOT: scf.if
// SAME: sizes [4, 64]

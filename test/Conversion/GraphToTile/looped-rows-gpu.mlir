// Short rows on a GPU whose positions are computed: a program loops over several rows, so
// that the positions along them are computed once.
// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile --split-input-file | FileCheck %s
// RUN: sed -e 's/^\/\/ -----//' %s | aopt --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile | cuda-emulate - --symbols=3 | FileCheck %s --check-prefix=EMULATED

// 17408 rows of 56 elements: two in a program.
// CHECK-LABEL: tile.kernel @mirrored(
// CHECK: %[[ID:.*]]:3 = tile.program_id(%c17, %c8, %c64)
// CHECK: %[[FIRST:.*]] = arith.muli %[[ID]]#0, %c2
// CHECK: scf.for %[[I:.*]] = %c0 to %c2 step %c1 {
// CHECK: arith.addi %[[FIRST]], %[[I]]
// CHECK: tile.gather
// CHECK: tile.store
// EMULATED: mirrored: 8704 programs of {{.*}} agree
func.func private @mirrored(%x: tensor<64x8x30x50xf32>) -> tensor<64x8x34x56xf32> attributes {adze.kernel} {
  %0 = graph.pad %x {low = array<i64: 0, 0, 2, 3>, high = array<i64: 0, 0, 2, 3>, mode = #graph.pad_mode<reflect>} : (tensor<64x8x30x50xf32>) -> tensor<64x8x34x56xf32>
  return %0 : tensor<64x8x34x56xf32>
}

// -----

// Too few rows, and a dynamic number of them: a program has one.
// CHECK-LABEL: tile.kernel @few(
// CHECK-NOT: scf.for
// CHECK-LABEL: tile.kernel @dynamic(
// CHECK-NOT: scf.for
// EMULATED: few: 34 programs of {{.*}} agree
// EMULATED: dynamic: 102 programs of {{.*}} agree
#x = affine_map<()[s0] -> (s0, 30, 50)>
#y = affine_map<()[s0] -> (s0, 34, 56)>
func.func private @few(%x: tensor<1x30x50xf32>) -> tensor<1x34x56xf32> attributes {adze.kernel} {
  %0 = graph.pad %x {low = array<i64: 0, 2, 3>, high = array<i64: 0, 2, 3>, mode = #graph.pad_mode<reflect>} : (tensor<1x30x50xf32>) -> tensor<1x34x56xf32>
  return %0 : tensor<1x34x56xf32>
}
func.func private @dynamic(%x: tensor<?x30x50xf32, #x>) -> tensor<?x34x56xf32, #y> attributes {adze.kernel} {
  %0 = graph.pad %x {low = array<i64: 0, 2, 3>, high = array<i64: 0, 2, 3>, mode = #graph.pad_mode<reflect>} : (tensor<?x30x50xf32, #x>) -> tensor<?x34x56xf32, #y>
  return %0 : tensor<?x34x56xf32, #y>
}

// -----

// Bools that are looked up one by one: a warp computes 32 of them, also at the end of
// the row and of dynamic number.
// CHECK-LABEL: tile.kernel @tuples(
// CHECK: %[[ID:.*]] = tile.program_id(%c16)
// CHECK: %[[FIRST:.*]] = arith.muli %[[ID]], %c32
// CHECK: %[[LEFT:.*]] = arith.subi %c500, %[[FIRST]]
// CHECK: %[[END:.*]] = arith.minsi %[[LEFT]], %c32
// CHECK: scf.for %[[I:.*]] = %c0 to %[[END]] step %c1 {
// CHECK: %[[AT:.*]] = arith.addi %[[FIRST]], %[[I]]
// CHECK: memref.store %{{.*}}, %arg2[%[[AT]]]
// CHECK-LABEL: tile.kernel @some(
// CHECK: arith.ceildivui %{{.*}}, %c32
// EMULATED: tuples: 16 programs of 32 threads agree
// EMULATED: some: 1 programs of 32 threads agree
#i = affine_map<()[s0] -> (s0, 2)>
#z = affine_map<()[s0] -> (s0)>
func.func private @tuples(%x: tensor<300x300xi1>, %i: tensor<500x2xi64>) -> tensor<500xi1> attributes {adze.kernel} {
  %0 = graph.gather_nd %x, %i : (tensor<300x300xi1>, tensor<500x2xi64>) -> tensor<500xi1>
  return %0 : tensor<500xi1>
}
func.func private @some(%x: tensor<300x300xi1>, %i: tensor<?x2xi64, #i>) -> tensor<?xi1, #z> attributes {adze.kernel} {
  %0 = graph.gather_nd %x, %i : (tensor<300x300xi1>, tensor<?x2xi64, #i>) -> tensor<?xi1, #z>
  return %0 : tensor<?xi1, #z>
}

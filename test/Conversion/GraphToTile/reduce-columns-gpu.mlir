// RUN: aopt %s --tile-attach-targets=cuda=sm_90a --convert-graph-to-tile -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: aopt %t.mlir --tile-choose-schedule -o %t.scheduled.mlir
// RUN: FileCheck %s --input-file=%t.scheduled.mlir --check-prefix=SCHEDULED
// RUN: cuda-emulate %t.scheduled.mlir --symbols=777 --tolerance=1e-5 | FileCheck %s --check-prefix=EMULATED

// The rows of 32 columns are distributed over the threads of a cluster: 1009 rows have no
// equal parts. The rest has one more iteration, in which rows past the end do not count.
// CHECK-LABEL: tile.kernel @sum(
// CHECK-SAME: tile.params = {PARTS = 8 : i64, ROWS = 32 : i64}
// CHECK: %[[STEP:.*]] = arith.muli %{{.*}}, %c16
// CHECK: scf.for %{{.*}} step %[[STEP]]
// CHECK: tile.load %arg0[%{{.*}}, %{{.*}}] sizes [%{{.*}}, %[[STEP]]] dims [1, 0]
// CHECK: tile.load %arg0{{.*}} {tile.tail}
// CHECK: arith.select
// CHECK: tile.reduce add
// CHECK-NOT: tile.reduce
// SCHEDULED-LABEL: tile.kernel @sum(
// SCHEDULED-SAME: #tile.dim<"threads", 256>, #tile.dim<"split", 8>
// EMULATED: sum: 3 programs of 2048 threads agree
func.func private @sum(%x: tensor<1009x96xf32>) -> tensor<96xf32> attributes {adze.kernel} {
  %y = graph.reduce_sum %x {axes = array<i64: 0>, keepdims = false} : (tensor<1009x96xf32>) -> tensor<96xf32>
  return %y : tensor<96xf32>
}

// A dynamic number of rows; two reductions share the loads, so each has half of the rows.
// CHECK-LABEL: tile.kernel @extrema(
// CHECK: arith.muli %{{.*}}, %c8
// CHECK-COUNT-2: tile.reduce
// EMULATED: extrema: 2 programs of {{.*}} agree
#rows = affine_map<()[s0] -> (s0, 40)>
func.func private @extrema(%x: tensor<?x40xf32, #rows>) -> (tensor<40xf32>, tensor<40xf32>) attributes {adze.kernel} {
  %y = graph.reduce_max %x {axes = array<i64: 0>, keepdims = false} : (tensor<?x40xf32, #rows>) -> tensor<40xf32>
  %z = graph.reduce_min %x {axes = array<i64: 0>, keepdims = false} : (tensor<?x40xf32, #rows>) -> tensor<40xf32>
  return %y, %z : tensor<40xf32>, tensor<40xf32>
}

// The position of the greatest element of a column.
// EMULATED: position: 1 programs of {{.*}} agree
func.func private @position(%x: tensor<300x24xf32>) -> tensor<24xi64> attributes {adze.kernel} {
  %y = graph.arg_max %x {axis = 0 : i64, keepdims = false} : (tensor<300x24xf32>) -> tensor<24xi64>
  return %y : tensor<24xi64>
}

// A thread has a column of few rows.
// CHECK-LABEL: tile.kernel @few(
// CHECK-SAME: tile.params = {BLOCK_N = 64 : i64}
// EMULATED: few: 2 programs of {{.*}} agree
func.func private @few(%x: tensor<24x128xf32>) -> tensor<128xf32> attributes {adze.kernel} {
  %y = graph.reduce_sum %x {axes = array<i64: 0>, keepdims = false} : (tensor<24x128xf32>) -> tensor<128xf32>
  return %y : tensor<128xf32>
}

// Accumulators of 64 bits, of two reductions, have a quarter of the elements of a row.
// CHECK-LABEL: tile.kernel @wide(
// CHECK-SAME: BLOCK_N = 1024 : i64
// EMULATED: wide: 1 programs of {{.*}} agree
#row = affine_map<()[s0] -> (1, s0)>
func.func private @wide(%x: tensor<1x?xi64, #row>) -> (tensor<1x1xi64>, tensor<1x1xi64>) attributes {adze.kernel} {
  %y = graph.reduce_max %x {axes = array<i64: 1>, keepdims = true} : (tensor<1x?xi64, #row>) -> tensor<1x1xi64>
  %z = graph.reduce_min %x {axes = array<i64: 1>, keepdims = true} : (tensor<1x?xi64, #row>) -> tensor<1x1xi64>
  return %y, %z : tensor<1x1xi64>, tensor<1x1xi64>
}

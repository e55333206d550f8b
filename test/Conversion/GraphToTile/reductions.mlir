// RUN: aopt %s --convert-graph-to-tile --split-input-file | FileCheck %s

// A length that is not a multiple of tiles: each lane of four rows has a separate sum,
// over whole chunks and then under a mask; then the lanes are summed.
// CHECK-LABEL: tile.kernel @unknown
// CHECK-SAME: tile.params = {BLOCK_N = 32 : i64, ROWS = 4 : i64}
// CHECK: %[[CHUNK:.*]] = tile.param "BLOCK_N"
// CHECK: %[[LANES:.*]] = scf.for {{.*}} step %[[CHUNK]]
// CHECK: tile.load %arg0[{{.*}}] sizes [%{{.*}}, %[[CHUNK]]]
// CHECK-NOT: arith.select
// CHECK: tile.reduce add %[[LANES]] dim 1
// CHECK: %[[REST:.*]] = scf.for {{.*}} step %c16
// CHECK: tile.load {{.*}} {tile.tail}
// CHECK: arith.select
// CHECK: tile.reduce add %[[REST]] dim 1
#x = affine_map<()[s0, s1] -> (s0, s1)>
#y = affine_map<()[s0, s1] -> (s0, 1)>
func.func private @unknown(%x: tensor<?x?xf32, #x>) -> tensor<?x1xf32, #y> attributes {adze.kernel} {
  %0 = graph.reduce_sum %x {axes = array<i64: 1>} : (tensor<?x?xf32, #x>) -> tensor<?x1xf32, #y>
  return %0 : tensor<?x1xf32, #y>
}

// -----

// Few long rows: one per program, with wider sums.
// CHECK-LABEL: tile.kernel @few
// CHECK-SAME: tile.params = {BLOCK_N = 64 : i64, ROWS = 1 : i64}
func.func private @few(%x: tensor<4x20011xf32>) -> tensor<4xf32> attributes {adze.kernel} {
  %0 = graph.reduce_max %x {axes = array<i64: 1>, keepdims = false} : (tensor<4x20011xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Two passes over tiles that fill the row.
// CHECK-LABEL: tile.kernel @log_sum_exp
// CHECK: %[[MOST:.*]] = tile.reduce max
// CHECK: math.absf
// CHECK: math.exp
// CHECK: tile.reduce add
// CHECK: math.log
func.func private @log_sum_exp(%x: tensor<5x197xf32>) -> tensor<5xf32> attributes {adze.kernel} {
  %0 = graph.reduce_log_sum_exp %x {axes = array<i64: 1>, keepdims = false} : (tensor<5x197xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// The best element of each lane and its index; the first of the indices of the best
// lanes.
// CHECK-LABEL: tile.kernel @place
// CHECK: %[[BEST:.*]]:2 = scf.for {{.*}} -> (tensor<?x?xf32>, tensor<?x?xi32>)
// CHECK: arith.cmpf ogt
// CHECK: arith.cmpf uno
// CHECK: %[[MOST:.*]] = tile.reduce max %[[BEST]]#0 dim 1
// CHECK: %[[PLACES:.*]] = arith.select %{{.*}}, %[[BEST]]#1
// CHECK: tile.reduce min %[[PLACES]] dim 1
// CHECK: arith.extsi
func.func private @place(%x: tensor<9x1000xf32>) -> tensor<9xi64> attributes {adze.kernel} {
  %0 = graph.arg_max %x {axis = 1 : i64, keepdims = false} : (tensor<9x1000xf32>) -> tensor<9xi64>
  return %0 : tensor<9xi64>
}

// -----

// Along another dim, the lanes are along the kept dim.
// CHECK-LABEL: tile.kernel @inner
// CHECK: scf.for {{.*}} -> (tensor<?xf32>, tensor<?xi32>)
// CHECK: arith.cmpf ole
// CHECK-NOT: tile.reduce
// CHECK: tile.store
func.func private @inner(%x: tensor<9x1000xf32>) -> tensor<1x1000xi64> attributes {adze.kernel} {
  %0 = graph.arg_min %x {axis = 0 : i64, select_last = true} : (tensor<9x1000xf32>) -> tensor<1x1000xi64>
  return %0 : tensor<1x1000xi64>
}

// Decision trees: the lanes hold trees, and a loop over the greatest depth of the block
// descends.
// RUN: aopt %s --convert-graph-to-tile=remarks --split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: tile.kernel @forest
// CHECK: %[[IDS:.*]]:2 = tile.program_id
// CHECK: %[[ROOTS:.*]] = tile.load %arg2
// The greatest depth of two groups of 16 trees.
// CHECK: %[[STEPS:.*]] = arith.maxsi
// CHECK: scf.for {{.*}} to %[[STEPS]] step %c1 iter_args(%[[AT:.*]] = %[[ROOTS]])
// CHECK: %[[ISLEAF:.*]] = arith.cmpi slt, %[[AT]],
// CHECK-COUNT-2: tile.gather %arg1
// CHECK: %[[X:.*]] = tile.gather %arg0[%[[IDS]]#0, 0]
// CHECK: %[[HOLDS:.*]] = arith.cmpf ole, %[[X]],
// CHECK: %[[CHILD:.*]] = arith.trunci
// CHECK: %[[NEXT:.*]] = arith.select %[[ISLEAF]], %[[AT]], %[[CHILD]]
// CHECK: scf.yield %[[NEXT]]
// CHECK: arith.xori
// CHECK: tile.store
#x = affine_map<()[s0] -> (s0, 4)>
#y = affine_map<()[s0] -> (s0, 40)>
func.func private @forest(%x: tensor<?x4xf32, #x>, %n: tensor<600xi64>, %r: tensor<40xi32>, %s: tensor<3xi32>) -> tensor<?x40xi32, #y> attributes {adze.kernel} {
  %0 = graph.tree_leaves %x, %n, %r, %s : (tensor<?x4xf32, #x>, tensor<600xi64>, tensor<40xi32>, tensor<3xi32>) -> tensor<?x40xi32, #y>
  return %0 : tensor<?x40xi32, #y>
}

// -----

// A few trees: a single number of steps.
// CHECK-LABEL: tile.kernel @few
// CHECK-NOT: arith.maxsi {{.*}} : index
// CHECK: scf.for
func.func private @few(%x: tensor<5x4xf64>, %n: tensor<9xi64>, %r: tensor<2xi32>, %s: tensor<1xi32>) -> tensor<5x2xi32> attributes {adze.kernel} {
  %0 = graph.tree_leaves %x, %n, %r, %s : (tensor<5x4xf64>, tensor<9xi64>, tensor<2xi32>, tensor<1xi32>) -> tensor<5x2xi32>
  return %0 : tensor<5x2xi32>
}

// -----

// Trees of equal depth, whose root is one node, need no table of depths.
// CHECK-LABEL: tile.kernel @alike
// CHECK: %[[STEPS:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: scf.for {{.*}} to %{{.*}} step %c1 iter_args
func.func private @alike(%x: tensor<5x4xf32>, %n: tensor<6xi64>) -> tensor<5x20xi32> attributes {adze.kernel} {
  %r = graph.constant dense<0> : tensor<20xi32>
  %s = graph.constant dense<2> : tensor<2xi32>
  %0 = graph.tree_leaves %x, %n, %r, %s : (tensor<5x4xf32>, tensor<6xi64>, tensor<20xi32>, tensor<2xi32>) -> tensor<5x20xi32>
  return %0 : tensor<5x20xi32>
}

// -----

// Trees look up features in memory.
// CHECK-LABEL: func private @computed
// expected-remark @+1 {{falls back to the reference path: features or nodes are not in a plain buffer; trees have a flat tiling only}}
func.func private @computed(%x: tensor<5x4xf32>, %n: tensor<6xi64>, %r: tensor<2xi32>, %s: tensor<1xi32>) -> tensor<5x2xi32> attributes {adze.kernel} {
  %e = graph.exp %x : (tensor<5x4xf32>) -> tensor<5x4xf32>
  %0 = graph.tree_leaves %e, %n, %r, %s : (tensor<5x4xf32>, tensor<6xi64>, tensor<2xi32>, tensor<1xi32>) -> tensor<5x2xi32>
  return %0 : tensor<5x2xi32>
}

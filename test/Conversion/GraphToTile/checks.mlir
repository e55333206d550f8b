// Look-ups that check their indices (graph.fault): positions of a gather are checked
// before they are clamped.
// RUN: aopt %s --convert-graph-to-tile | FileCheck %s
// RUN: aopt %s --convert-graph-to-linalg | FileCheck %s --check-prefix=LINALG

// Elements of a tile beyond loaded indices are 0, which is in range.
// CHECK-LABEL: tile.kernel @loaded
// CHECK-NOT: tile.iota
// CHECK: %[[AT:.*]] = arith.select
// CHECK-NEXT: tile.check %[[AT]] below %{{.*}} fault 0 : tensor<?x70xindex>
// CHECK: %[[IN:.*]] = arith.minui %[[AT]]
// CHECK: tile.gather %arg0{{.*}} at %[[IN]]
func.func private @loaded(%x: tensor<5x100xf32>, %i: tensor<5x70xi64>) -> tensor<5x70xf32> attributes {adze.kernel} {
  %0 = graph.gather_elements %x, %i {axis = 1 : i64, graph.fault = 0 : i64} : (tensor<5x100xf32>, tensor<5x70xi64>) -> tensor<5x70xf32>
  return %0 : tensor<5x70xf32>
}

// Those of computed indices are arbitrary: positions beyond the tensor become 0.
// CHECK-LABEL: tile.kernel @computed
// CHECK: %[[AT:.*]] = arith.select
// CHECK: %[[ROWS:.*]] = arith.select %{{.*}}, %[[AT]],
// CHECK: %[[BOTH:.*]] = arith.select %{{.*}}, %[[ROWS]],
// CHECK: tile.check %[[BOTH]] below %{{.*}} fault 0 : tensor<?x?xindex>
// CHECK: arith.minui %[[AT]]
func.func private @computed(%x: tensor<5x1xf32>, %i: tensor<5x7000xi64>, %j: tensor<5x7000xi64>) -> tensor<5x7000xf32> attributes {adze.kernel} {
  %k = graph.add %i, %j : (tensor<5x7000xi64>, tensor<5x7000xi64>) -> tensor<5x7000xi64>
  %0 = graph.gather_elements %x, %k {axis = 1 : i64, graph.fault = 0 : i64} : (tensor<5x1xf32>, tensor<5x7000xi64>) -> tensor<5x7000xf32>
  return %0 : tensor<5x7000xf32>
}

// A row has one index; its dim is dynamic.
// CHECK-LABEL: tile.kernel @rows
// CHECK: %[[N:.*]] = memref.dim
// CHECK: %[[AT:.*]] = arith.select
// CHECK-NEXT: tile.check %[[AT]] below %[[N]] fault 0 : index
// CHECK: arith.minui %[[AT]]
// LINALG-LABEL: func.func private @rows
// LINALG: %[[N:.*]] = memref.dim
// LINALG: %[[AT:.*]] = arith.select
// LINALG: tile.check %[[AT]] below %[[N]] fault 0 : index
// LINALG: arith.minui %[[AT]]
func.func private @rows(%x: tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>, %i: tensor<9xi32>) -> tensor<9x64xf32> attributes {adze.kernel} {
  %0 = graph.gather %x, %i {graph.fault = 0 : i64} : (tensor<?x64xf32, affine_map<()[s0] -> (s0, 64)>>, tensor<9xi32>) -> tensor<9x64xf32>
  return %0 : tensor<9x64xf32>
}

// Without a fault there is no check.
// CHECK-LABEL: tile.kernel @unchecked
// CHECK-NOT: tile.check
// LINALG-LABEL: func.func private @unchecked
// LINALG-NOT: tile.check
func.func private @unchecked(%x: tensor<5x100xf32>, %i: tensor<5x70xi64>) -> tensor<5x70xf32> attributes {adze.kernel} {
  %0 = graph.gather_elements %x, %i {axis = 1 : i64} : (tensor<5x100xf32>, tensor<5x70xi64>) -> tensor<5x70xf32>
  return %0 : tensor<5x70xf32>
}

// Tuples have a fault per column, and scatters check as well.
// LINALG-LABEL: func.func private @tuples
// LINALG: tile.check %{{.*}} below %{{.*}} fault 3 : index
// LINALG: tile.check %{{.*}} below %{{.*}} fault 4 : index
func.func private @tuples(%x: tensor<5x9xf32>, %i: tensor<7x2xi64>, %u: tensor<7xf32>) -> tensor<5x9xf32> attributes {adze.kernel} {
  %0 = graph.scatter_nd %x, %i, %u {graph.fault = 3 : i64} : (tensor<5x9xf32>, tensor<7x2xi64>, tensor<7xf32>) -> tensor<5x9xf32>
  return %0 : tensor<5x9xf32>
}

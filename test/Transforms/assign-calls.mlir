// Calls of the run time's functions: inputs and sizes, results fetched to their
// destinations.
// RUN: aopt --graph-form-clusters --graph-outline-clusters --assign-destinations --plan-memory %s | FileCheck %s
// RUN: aopt --graph-form-clusters --graph-outline-clusters --assign-destinations --plan-memory --convert-host-to-llvm %s | FileCheck %s --check-prefix=LLVM

// CHECK: #[[DIMS:.*]] = affine_map<()[s0, s1] -> (s0, s1, s1)>
// CHECK-LABEL: func @main
// CHECK-SAME: memref<i64> {adze.dtype = !graph.sequence<tensor<?xf32>>
// CHECK-SAME: %[[Y:.*]]: memref<?xf32>
func.func @main(%x: tensor<?xf32, affine_map<()[s0] -> (s0)>> {graph.name = "x"},
                %s: tensor<!graph.sequence<tensor<?xf32>>> {graph.name = "s"})
    -> (tensor<?xf32, affine_map<()[s0, s1] -> (s1)>> {graph.name = "y"},
        tensor<!graph.sequence<tensor<?xf32>>> {graph.name = "z"})
    attributes {graph.symbols = ["n", ""]} {
  // CHECK: host.call "pick"(%{{.*}}) {dims = #[[DIMS]], ranks = array<i64: 1, 1, 1>, symbols = array<i64: -1, 1, 1>, types = [f32, f32, f32]} : memref<?xf32>
  // Data-dependent results: a box, and an output that the run allocates.
  // CHECK: %[[BOX:.*]] = host.slot {box = 0 : i64
  // CHECK: host.fetch 0 to %[[BOX]]
  // CHECK: %[[OUT:.*]] = host.output %[[Y]]
  // CHECK: host.fetch 1 to %[[OUT]]
  %p:2 = graph.call "pick"(%x) {symbols = array<i64: 1>} : (tensor<?xf32, affine_map<()[s0] -> (s0)>>) -> (tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>, tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>)
  // CHECK: host.call "sequence_insert"({{.*}}, %[[BOX]])
  // CHECK-SAME: types = [!graph.sequence<tensor<?xf32>>, f32, !graph.sequence<tensor<?xf32>>]
  %z = graph.call "sequence_insert"(%s, %p#0) : (tensor<!graph.sequence<tensor<?xf32>>>, tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>) -> tensor<!graph.sequence<tensor<?xf32>>>
  return %p#1, %z : tensor<?xf32, affine_map<()[s0, s1] -> (s1)>>, tensor<!graph.sequence<tensor<?xf32>>>
}

// LLVM-LABEL: llvm.func @adze_run
// An older run time has no such calls: its table is shorter.
// LLVM: llvm.mlir.constant(96 : i32)
// LLVM: llvm.icmp "uge"

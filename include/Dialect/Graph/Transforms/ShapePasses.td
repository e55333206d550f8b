// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes on dynamic shapes.
#ifndef ADZE_DIALECT_GRAPH_TRANSFORMS_SHAPEPASSES
#define ADZE_DIALECT_GRAPH_TRANSFORMS_SHAPEPASSES

include "mlir/Pass/PassBase.td"

def CollectAssumptionsPass
    : Pass<"graph-collect-assumptions", "::mlir::func::FuncOp"> {
  let summary = "Collect the relations of dynamic sizes that ops require";
  let description = [{
    Ops require relations of sizes: equal sizes, sizes that broadcast, slices that
    lie inside of a tensor. Verifiers check static sizes; relations of dynamic
    sizes are checked at run time. For ops that always run, on sizes of the
    inputs, the pass adds the relations to function attributes, which a run checks
    before it begins: `graph.broadcasts` (sizes that are equal or 1),
    `graph.equalities` (equal sizes) and `graph.bounds` (sizes that are not
    negative). Existing attributes are extended.

    For ops in branches, ops in loops that may have no iteration, and
    data-dependent sizes, the pass inserts `graph.assume`, which checks the
    relations when it runs. With `branches`, relations of branches and loops are
    added to the function attributes instead, for callers that choose sizes to run
    with.

    The pass runs before all others at all optimisation levels, so that the
    relations of ops that later passes simplify away are checked, too.

    Before:
    ```mlir
    func.func @main(%x: tensor<?xf32, affine_map<()[s0] -> (s0)>>, %y: tensor<16xf32>) -> tensor<16xf32> attributes {graph.symbols = ["n"]} {
      %0 = graph.add %x, %y : (tensor<?xf32, affine_map<()[s0] -> (s0)>>, tensor<16xf32>) -> tensor<16xf32>
      return %0 : tensor<16xf32>
    }
    ```
    After:
    ```mlir
    func.func @main(%x: tensor<?xf32, affine_map<()[s0] -> (s0)>>, %y: tensor<16xf32>) -> tensor<16xf32> attributes {graph.broadcasts = [affine_map<()[s0] -> (s0, 16)>], graph.symbols = ["n"]} {
      %0 = graph.add %x, %y : (tensor<?xf32, affine_map<()[s0] -> (s0)>>, tensor<16xf32>) -> tensor<16xf32>
      return %0 : tensor<16xf32>
    }
    ```
  }];
  let options = [
    Option<"branches", "branches", "bool", /*default=*/"false",
           "Add relations of branches and loops to the function attributes">,
  ];
  let statistics = [
    Statistic<"collected", "collected", "Relations added">,
  ];
}

def SolveSizesPass : Pass<"graph-solve-sizes", "::mlir::func::FuncOp"> {
  let summary = "Replace sizes that are determined by checked equations";
  let description = [{
    A model that was exported with a constant batch size, but declares a dynamic
    one, has intermediate shapes that require the constant: `batch * 128 = 128`.
    The run checks such equations before it begins (`graph.equalities`, and
    `graph.broadcasts` if no size can be 1). So the pass solves them: here `batch`
    is 1. Solved symbols are replaced by constants, and equal symbols by one of
    them, in all types and maps of the function, so that kernels are those of the
    static model. Arguments and results keep their types, with views
    (graph.reshape) in between, and the equations stay.

    Before:
    ```mlir
    func.func @main(%x: tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>> attributes {graph.equalities = [affine_map<()[s0] -> (s0 * 8, 8)>], graph.symbols = ["batch"]} {
      %0 = graph.relu %x : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
      return %0 : tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
    }
    ```
    After:
    ```mlir
    func.func @main(%x: tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>> attributes {graph.equalities = [affine_map<()[s0] -> (s0 * 8, 8)>], graph.symbols = ["batch"]} {
      %0 = graph.reshape %x : (tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>) -> tensor<1x8xf32>
      %1 = graph.relu %0 : (tensor<1x8xf32>) -> tensor<1x8xf32>
      %2 = graph.reshape %1 : (tensor<1x8xf32>) -> tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
      return %2 : tensor<?x8xf32, affine_map<()[s0] -> (s0, 8)>>
    }
    ```
  }];
  let statistics = [
    Statistic<"solved", "solved", "Symbols replaced by constants or other symbols">,
  ];
}

#endif // ADZE_DIALECT_GRAPH_TRANSFORMS_SHAPEPASSES

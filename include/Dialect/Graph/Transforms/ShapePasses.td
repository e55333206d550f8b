// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes about dynamic sizes.
#ifndef ADZE_DIALECT_GRAPH_TRANSFORMS_SHAPEPASSES
#define ADZE_DIALECT_GRAPH_TRANSFORMS_SHAPEPASSES

include "mlir/Pass/PassBase.td"

def CollectAssumptionsPass
    : Pass<"graph-collect-assumptions", "::mlir::func::FuncOp"> {
  let summary = "Say what ops take for granted of dynamic sizes";
  let description = [{
    Ops are made for sizes that fit each other: equal ones, ones that broadcast,
    parts that lie inside of a whole. Known sizes are verified; of unknown ones
    the run has to find it. Of sizes of the inputs, in ops that run in any case,
    the function says so, in the attributes `graph.broadcasts` (sizes that are
    equal or 1), `graph.equalities` (sizes that are equal) and `graph.bounds`
    (sizes that are not negative): a run checks these before it begins.
    Attributes that are there already get more. What branches take for granted
    is checked when they run (`graph.assume`), and so it is with loops that may
    have no iteration (`branches` says all of it of the function, for who chooses
    sizes to run with) and data-dependent sizes, as soon as they are known.

    It comes before any other pass, at every level: what a pass simplifies away
    has to fit nevertheless.

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
           "Say of the function what branches and loops take for granted">,
  ];
  let statistics = [
    Statistic<"collected", "collected", "Assumptions that are new">,
  ];
}

def SolveSizesPass : Pass<"graph-solve-sizes", "::mlir::func::FuncOp"> {
  let summary = "Sizes that a run is sure to find are known inside";
  let description = [{
    A model that was exported for one batch and is said to take any has shapes
    inside that fit this one alone: `batch * 128 = 128`. The run checks that
    before it begins (`graph.equalities`, and `graph.broadcasts` where no size
    can be 1). So the conditions are solved: `batch` is 1, and of equal sizes one
    stands for the others, in all types and maps of the function. Kernels are
    then those of the static model. What the function takes and gives keeps its
    types, and the conditions stay; views stand in between.

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
    Statistic<"solved", "solved", "Symbols that others or numbers stand for">,
  ];
}

#endif // ADZE_DIALECT_GRAPH_TRANSFORMS_SHAPEPASSES

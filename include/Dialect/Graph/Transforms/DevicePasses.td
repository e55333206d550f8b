// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes of programs for devices.
#ifndef ADZE_DIALECT_GRAPH_TRANSFORMS_DEVICEPASSES
#define ADZE_DIALECT_GRAPH_TRANSFORMS_DEVICEPASSES

include "mlir/Pass/PassBase.td"

def ParallelizePass : Pass<"graph-parallelize", "::mlir::func::FuncOp"> {
  let summary = "Rewrite ops with an inherent order for GPUs";
  let description = [{
    Rewrites ops that a CPU computes one element after the other, so that the
    programs of a GPU compute them in parallel. Other targets keep them.

    Scans of few long rows are split into parts, and the sum of the parts before it
    is added to each; scans from the end are those of reversed rows. Selections
    (`graph.top_k`) from long rows select from their parts first, and many elements
    are sorted after their selection. Scatters add floats as integers: multiples of a
    fraction of the largest update of each element, whose sums do not depend on the
    order. Non-maximum suppression that selects a bounded number of boxes is
    `graph.select_boxes` instead of a call of the host. Data-dependent sizes that do
    not depend on each other are read at once: the host waits for the device once.

    Before (cuda=sm_90a):
    ```mlir
    %0 = graph.cumsum %x {axis = 1 : i64, reverse = true} : (tensor<512x100xf32>) -> tensor<512x100xf32>
    ```
    After:
    ```mlir
    %0 = graph.reverse %x {axes = array<i64: 1>} : (tensor<512x100xf32>) -> tensor<512x100xf32>
    %1 = graph.cumsum %0 {axis = 1 : i64} : (tensor<512x100xf32>) -> tensor<512x100xf32>
    %2 = graph.reverse %1 {axes = array<i64: 1>} : (tensor<512x100xf32>) -> tensor<512x100xf32>
    ```
  }];
  let statistics = [
    Statistic<"scans", "scans", "Scans split">,
    Statistic<"selections", "selections", "Selections split">,
    Statistic<"scatters", "scatters", "Scatters that add integers for floats">,
    Statistic<"suppressions", "suppressions", "Non-maximum suppressions">,
    Statistic<"reads", "reads", "Reads of sizes that are read with others">,
  ];
}

#endif // ADZE_DIALECT_GRAPH_TRANSFORMS_DEVICEPASSES

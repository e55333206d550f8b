// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes over the graph dialect.
#ifndef ADZE_DIALECT_GRAPH_TRANSFORMS_PASSES
#define ADZE_DIALECT_GRAPH_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def FormClustersPass : Pass<"graph-form-clusters", "::mlir::func::FuncOp"> {
  let summary = "Group the ops that run as one kernel";
  let description = [{
    Moves every op that computes or moves data into a `graph.cluster`: one
    cluster becomes one kernel and one launch, and stores no intermediate
    tensor. Constants and `graph.reshape` (a view) stay outside; constants of
    one repeated value are copied into the clusters that use them.

    With `mode=single` each op is its own cluster: the reference path.

    Before:
    ```mlir
    %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %1 = graph.relu %0 : (tensor<4x16xf32>) -> tensor<4x16xf32>
    ```
    After (mode=fuse):
    ```mlir
    %1 = graph.cluster(%a = %x, %b = %w) anchor "matmul" : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32> {
      %2 = graph.matmul %a, %b : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
      %3 = graph.relu %2 : (tensor<4x16xf32>) -> tensor<4x16xf32>
      graph.yield %3 : tensor<4x16xf32>
    }
    ```
  }];
  let options = [
    Option<"mode", "mode", "::adze::graph::ClusterMode",
           "::adze::graph::ClusterMode::Fuse",
           "How ops are grouped", [{::llvm::cl::values(
             clEnumValN(::adze::graph::ClusterMode::Fuse, "fuse",
                        "producers and consumers share kernels"),
             clEnumValN(::adze::graph::ClusterMode::Single, "single",
                        "one op a cluster"))}]>,
  ];
  let statistics = [
    Statistic<"numClusters", "clusters", "Clusters formed">,
    Statistic<"numFused", "fused",
              "Ops that share a cluster with an earlier op">,
  ];
}

def OutlineClustersPass : Pass<"graph-outline-clusters", "::mlir::ModuleOp"> {
  let summary = "Make a kernel function of each cluster";
  let description = [{
    Turns the body of each `graph.cluster` into a private function with the
    attribute `adze.kernel`, and the cluster into a `host.launch` of it.
    Clusters of equal bodies and types share one function. A kernel is named
    after its first ops.

    Before:
    ```mlir
    %0 = graph.cluster(%a = %x) anchor "pointwise" : (tensor<4xf32>) -> tensor<4xf32> {
      %1 = graph.relu %a : (tensor<4xf32>) -> tensor<4xf32>
      graph.yield %1 : tensor<4xf32>
    }
    ```
    After:
    ```mlir
    %0 = host.launch @relu_0(%x) : (tensor<4xf32>) -> tensor<4xf32>

    func.func private @relu_0(%a: tensor<4xf32>) -> tensor<4xf32> attributes {adze.kernel} {
      %1 = graph.relu %a : (tensor<4xf32>) -> tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::adze::host::HostDialect",
                           "::mlir::func::FuncDialect"];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernel functions made">,
    Statistic<"numShared", "shared",
              "Clusters that use the function of an equal one">,
  ];
}

def FoldConstantsPass : Pass<"graph-fold-constants", "::mlir::ModuleOp"> {
  let summary = "Compute what does not depend on the inputs";
  let description = [{
    Replaces ops whose operands are all constants by their results. Data
    movement (transpose, reshape, slice, concat, broadcast) is done on the bytes;
    all other constant subgraphs of the module are run at once by the context's
    ConstantEvaluator, if it has one. Results over 1 KiB become `#graph.blob`.

    Before:
    ```mlir
    %w = graph.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %0 = graph.transpose %w {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
    ```
    After:
    ```mlir
    %0 = graph.constant dense<[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]> : tensor<3x2xf32>
    ```
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "uint64_t", /*default=*/"uint64_t(1) << 32",
           "Results above this size are computed at run time">,
    Option<"maxGrowth", "max-growth", "uint64_t", /*default=*/"2",
           "How many times larger than its operands a result may be">,
    Option<"freeBytes", "free-bytes", "uint64_t", /*default=*/"65536",
           "Growth below this size is not limited">,
    Option<"maxRounds", "max-rounds", "unsigned", /*default=*/"4",
           "Rounds of evaluation">,
  ];
  let statistics = [
    Statistic<"numMoved", "moved", "Ops of data movement folded">,
    Statistic<"numEvaluated", "evaluated", "Values that the evaluator computed">,
  ];
}

#endif // ADZE_DIALECT_GRAPH_TRANSFORMS_PASSES

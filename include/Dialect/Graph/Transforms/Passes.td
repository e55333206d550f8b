// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes over the graph dialect.
#ifndef ADZE_DIALECT_GRAPH_TRANSFORMS_PASSES
#define ADZE_DIALECT_GRAPH_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"
include "Dialect/Graph/Transforms/DevicePasses.td"
include "Dialect/Graph/Transforms/QuantizationPasses.td"
include "Dialect/Graph/Transforms/RecognizePasses.td"
include "Dialect/Graph/Transforms/ShapePasses.td"
include "Dialect/Graph/Transforms/SimplifyPasses.td"
include "Dialect/Graph/Transforms/StatePasses.td"

def ConvertLayoutPass : Pass<"graph-convert-layout", "::mlir::func::FuncOp"> {
  let summary = "Convert convolutions and pooling to channels-last layout";
  let description = [{
    CPU and GPU kernels require the channels innermost. Every convolution of
    layout nchw becomes nhwc between two transposes, and so does every pooling of
    a function with convolutions. The transposes to channels first then sink
    through elementwise ops, concatenation, slices, padding, reductions, resizing
    and normalisation until they cancel with their inverse, become a reshape, or
    reach a result of the model. Filters keep their layout, as packing permutes
    them.

    For CPUs, f32 convolutions with at most four output channels, a kernel larger
    than one element (other than 3x3 after other ops) and no stride along rows
    stay nchw: their vector lanes are pixels.

    Before:
    ```mlir
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x3x8x8xf32>, tensor<4x3x1x1xf32>) -> tensor<1x4x8x8xf32>
    %1 = graph.max_pool %0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
    ```
    After:
    ```mlir
    %0 = graph.transpose %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x3x8x8xf32>) -> tensor<1x8x8x3xf32>
    %1 = graph.conv %0, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x8x8x3xf32>, tensor<4x3x1x1xf32>) -> tensor<1x8x8x4xf32>
    %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x8x8x4xf32>) -> tensor<1x4x4x4xf32>
    %3 = graph.transpose %2 {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
    ```
  }];
  let statistics = [
    Statistic<"converted", "converted", "Ops made channels last">,
    Statistic<"sunk", "sunk", "Steps of a transpose past an op">,
    Statistic<"transposesBefore", "transposes-before",
              "Transposes before the pass">,
    Statistic<"transposesAfter", "transposes-after",
              "Transposes after the pass">,
  ];
}

def EliminateDeadCodePass : Pass<"graph-eliminate-dead-code"> {
  let summary = "Remove ops and values that no result depends on";
  let description = [{
    Removes unused ops without side effects and unused results of clusters,
    branches and loops, and then the ops that only these used. A carried value of
    a loop is used if a result that is read, a condition, a check or a size depends
    on it.

    Before:
    ```mlir
    %r:2 = graph.if %c : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
      %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      %1 = graph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
      graph.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
    } else {
      graph.yield %x, %x : tensor<4xf32>, tensor<4xf32>
    }
    %2 = graph.abs %r#0 : (tensor<4xf32>) -> tensor<4xf32>
    ```
    After:
    ```mlir
    %r = graph.if %c : (tensor<i1>) -> tensor<4xf32> {
      %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      graph.yield %0 : tensor<4xf32>
    } else {
      graph.yield %x : tensor<4xf32>
    }
    %2 = graph.abs %r : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let statistics = [Statistic<"removed", "removed", "Ops removed">,
                    Statistic<"dropped", "dropped", "Results removed">];
}

def FormClustersPass : Pass<"graph-form-clusters", "::mlir::func::FuncOp"> {
  let summary = "Group ops into clusters, one for each kernel";
  let description = [{
    Moves every op that computes or moves data into a `graph.cluster`: one
    cluster becomes one kernel and one launch, and stores no intermediate
    tensor. Constants and `graph.reshape` (a view) stay outside, except for
    reshapes between the result of a kernel and a transpose that determines how
    it is stored. Splat constants are copied into the clusters that use them. A
    cluster has at most `most-ops` ops, as compile time grows superlinearly with
    the size of a kernel.

    On CPUs a depthwise convolution shares a cluster with the dense ones right
    before and after it, if their intermediate tensors exceed `chain-bytes` and
    the recomputation of the halo (ConvChain.h) takes less time than moving these
    bytes to the last-level cache and back (`flops_per_byte` of the target).

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
    Option<"mostOps", "most-ops", "unsigned", "128", "Ops in one cluster">,
    Option<"chainBytes", "chain-bytes", "int64_t", "0",
           "Least size of the tensors around a depthwise convolution that "
           "are fused; 0: two thirds of the target's second-level cache">,
  ];
  let dependentDialects = ["::adze::tile::TileDialect"];
  let statistics = [
    Statistic<"numClusters", "clusters", "Clusters formed">,
    Statistic<"numFused", "fused",
              "Ops that share a cluster with an earlier op">,
  ];
}

def ShareKernelsPass : Pass<"graph-share-kernels", "::mlir::func::FuncOp"> {
  let summary = "Share kernels of clusters that differ in scalar constants";
  let description = [{
    A graph that repeats a few ops thousands of times with different scalars would
    compile a kernel for each repetition. If at least `least-kernels` clusters
    differ only in constants of one element that pointwise ops read, these become
    operands of the then equal clusters. Fewer clusters keep their constants.

    Before:
    ```mlir
    %0 = graph.cluster(%a = %x) anchor "pointwise" : (tensor<4xf32>) -> tensor<4xf32> {
      %c = graph.constant dense<1.0> : tensor<f32>
      %3 = graph.add %a, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      graph.yield %3 : tensor<4xf32>
    }
    %1 = graph.cluster(%b = %x) anchor "pointwise" : (tensor<4xf32>) -> tensor<4xf32> {
      %c = graph.constant dense<2.0> : tensor<f32>
      %3 = graph.add %b, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      graph.yield %3 : tensor<4xf32>
    }
    ```
    After (least-kernels=2):
    ```mlir
    %c = graph.constant dense<1.0> : tensor<f32>
    %0 = graph.cluster(%a = %x, %n = %c) anchor "pointwise" : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32> {
      %3 = graph.add %a, %n : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      graph.yield %3 : tensor<4xf32>
    }
    %d = graph.constant dense<2.0> : tensor<f32>
    %1 = graph.cluster(%b = %x, %m = %d) anchor "pointwise" : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32> {
      %3 = graph.add %b, %m : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
      graph.yield %3 : tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"leastKernels", "least-kernels", "unsigned", "16",
           "Least number of clusters that share a kernel">,
  ];
  let statistics = [
    Statistic<"numSaved", "saved", "Kernels that are not compiled">,
  ];
}

def OutlineClustersPass : Pass<"graph-outline-clusters", "::mlir::ModuleOp"> {
  let summary = "Outline each cluster into a kernel function";
  let description = [{
    Turns the body of each `graph.cluster` into a private function with the
    attribute `adze.kernel`, and the cluster into a `host.launch` of it.
    Clusters of equal bodies and types share one function. A kernel is named
    after its first ops. For GPUs, tensors of which a launch replaces elements are copied
    before it, if they are used elsewhere or their memory is not that of a launch.

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
  let summary = "Evaluate ops on constants at compile time";
  let description = [{
    Replaces ops whose operands are all constants by their results. Data movement
    (transpose, reshape, slice, concat, broadcast) is evaluated on the bytes. The
    ConstantEvaluator of the context, if it has one, evaluates all other constant
    subgraphs of the module together. Results of more than 1 KiB become
    `#graph.blob`.

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
    Option<"maxGrowth", "max-growth", "uint64_t", /*default=*/"4",
           "Limit of the size of a result, as a multiple of the size of its operands">,
    Option<"freeBytes", "free-bytes", "uint64_t", /*default=*/"65536", "Growth below this size is not limited">,
    Option<"freeWeightBytes", "free-weight-bytes", "uint64_t", /*default=*/"uint64_t(1) << 24",
           "The same for weights of products, convolutions and recurrent layers">,
    Option<"maxRounds", "max-rounds", "unsigned", /*default=*/"4", "Rounds of evaluation">,
  ];
  let statistics = [
    Statistic<"numMoved", "moved", "Ops of data movement folded">,
    Statistic<"numEvaluated", "evaluated", "Values that the evaluator computed">,
  ];
}

def MergeHorizontalPass
    : Pass<"graph-merge-horizontal", "::mlir::func::FuncOp"> {
  let summary = "Merge products or convolutions of one input";
  let description = [{
    Matmuls (including `graph.word_matmul`) and convolutions that read the same
    input and whose other operands are constants are merged into one op with
    concatenated constants. Each user reads its columns through a slice, which
    becomes an offset of its loads. Elementwise ops that follow, with constants of
    one element for each column, are merged, too, so that the input is read once,
    by one kernel. An op that only some branches have (a bound, factor, summand or
    slope) is applied to all branches, with the neutral element for the others: a
    relu becomes a lower bound of 0 for its columns and -inf for others.

    A branch is not merged in these cases, which a remark reports:

    - The slice would be a copy: the branch is a result of the model, is the
      operand of a reshape that mixes columns with other dims, is the only one
      that is an operand of a concatenation, or has ops that neither apply to the
      other branches nor have a neutral element.
    - The neutral ops, and the results that are evicted from the second-level
      cache of the target before they are read, cost more than reading the input
      again.

    Before:
    ```mlir
    %wq = graph.constant dense<0.5> : tensor<64x32xf32>
    %wk = graph.constant dense<2.0> : tensor<64x32xf32>
    %0 = graph.matmul %x, %wq : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
    %1 = graph.matmul %x, %wk : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
    %2 = graph.mul %0, %1 : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    ```
    After, where the columns of `%w` are those of `%wq`, then of `%wk`:
    ```mlir
    %0 = graph.matmul %x, %w : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
    %1 = graph.slice %0 {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : (tensor<8x64xf32>) -> tensor<8x32xf32>
    %2 = graph.slice %0 {starts = array<i64: 0, 32>, steps = array<i64: 1, 1>} : (tensor<8x64xf32>) -> tensor<8x32xf32>
    %3 = graph.mul %1, %2 : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    ```
  }];
  let dependentDialects = ["::adze::tile::TileDialect"];
  let statistics = [
    Statistic<"numGroups", "groups", "Merged ops">,
    Statistic<"numMerged", "merged", "Ops that became part of one">,
  ];
}

def PlaceConcatPass : Pass<"graph-place-concat", "::mlir::func::FuncOp"> {
  let summary = "Compute operands of a concat in the memory of its result";
  let description = [{
    An operand that a kernel computes is inserted into the result right after it
    is computed: the kernel stores it at an offset, without a copy. Other users of
    the operand read it there if they can; otherwise it is stored twice. All other
    operands (inputs, constants, repeated operands) are copied by one kernel.
    A concat whose operands are all computed elementwise from memory stays, as it
    is one kernel already, and so does one of data-dependent size, whose memory is
    not allocated before its operands are computed.

    A concat that is an operand of another one, or a prefix of its operands, is
    computed in the memory of that one. So a dense block of a model copies nothing.

    Before:
    ```mlir
    %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %1 = graph.concat %x, %0 {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x16xf32>) -> tensor<4x24xf32>
    ```
    After:
    ```mlir
    %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
    %d = graph.empty : () -> tensor<4x24xf32>
    %1 = graph.insert_slice %0, %d {axis = 1 : i64, offsets = affine_map<() -> (8)>} : (tensor<4x16xf32>, tensor<4x24xf32>) -> tensor<4x24xf32>
    %2 = graph.insert_slice %x, %1 {axis = 1 : i64, offsets = affine_map<() -> (0)>} : (tensor<4x8xf32>, tensor<4x24xf32>) -> tensor<4x24xf32>
    ```
  }];
  let options = [
    Option<"minPlaced", "min-placed", "unsigned", /*default=*/"25",
           "Least percentage of the elements that kernels store in place">,
  ];
  let statistics = [
    Statistic<"numConcats", "concats", "Concats rewritten">,
    Statistic<"numPlaced", "placed", "Operands stored in place">,
    Statistic<"numCopied", "copied", "Operands copied">,
  ];
}

def SplitReductionsPass
    : Pass<"graph-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "Split reductions of many elements into parallel parts";
  let description = [{
    A reduction of many contiguous elements to few is split into equal parts that are
    reduced in parallel; a second one combines their results. The parts depend on sizes
    and target only, not on threads. With dynamic sizes, they are the indices of the
    first reduced dim or, if there is only one, a constant factor of its size. Producers
    with no other user are split, too. A CPU also splits sums of rows whose distance is a
    multiple of a page.

    Before:
    ```mlir
    %0 = graph.reduce_l1 %x {axes = array<i64: 0, 1>, keepdims = false} : (tensor<512x256xf32>) -> tensor<f32>
    ```
    After:
    ```mlir
    %0 = graph.reshape %x : (tensor<512x256xf32>) -> tensor<1x8x16384xf32>
    %1 = graph.reduce_l1 %0 {axes = array<i64: 2>, keepdims = false} : (tensor<1x8x16384xf32>) -> tensor<1x8xf32>
    %2 = graph.reduce_sum %1 {axes = array<i64: 1>, keepdims = false} : (tensor<1x8xf32>) -> tensor<1xf32>
    %3 = graph.reshape %2 : (tensor<1xf32>) -> tensor<f32>
    ```
  }];
  let statistics = [
    Statistic<"split", "split", "Reductions split">,
    Statistic<"kept", "scalars", "Reductions to a scalar that keep a dim">,
  ];
}

#endif // ADZE_DIALECT_GRAPH_TRANSFORMS_PASSES

// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes over the graph dialect.
#ifndef ADZE_DIALECT_GRAPH_TRANSFORMS_PASSES
#define ADZE_DIALECT_GRAPH_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"
include "Dialect/Graph/Transforms/QuantizationPasses.td"
include "Dialect/Graph/Transforms/RecognizePasses.td"
include "Dialect/Graph/Transforms/ShapePasses.td"
include "Dialect/Graph/Transforms/SimplifyPasses.td"
include "Dialect/Graph/Transforms/StatePasses.td"

def ConvertLayoutPass : Pass<"graph-convert-layout", "::mlir::func::FuncOp"> {
  let summary = "Channels last for convolutions and pooling";
  let description = [{
    CPU and GPU kernels want the channels innermost. Every convolution of layout
    nchw becomes nhwc between two transposes, and so does every pooling of a
    function with convolutions; the transposes to channels first then sink
    through elementwise ops, concatenation, slices, padding, reductions, resizing
    and normalisation until they meet their inverse, become a reshape, or reach
    the border of the model. Filters keep their order: they are packed with the
    kernel.

    For CPUs, f32 convolutions of at most four outputs, with a window (not 3x3
    after other ops) and no stride along rows, stay nchw: pixels are lanes.

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
              "Transposes in the model as it came">,
    Statistic<"transposesAfter", "transposes-after",
              "Transposes left when all are sunk">,
  ];
}

def EliminateDeadCodePass : Pass<"graph-eliminate-dead-code"> {
  let summary = "Remove what no result depends on";
  let description = [{
    Ops without effects and results of clusters, branches and loops that nobody
    reads, with all that only they need. A value that a loop carries is needed if
    what is read after it, or a condition, check or size, comes from it.

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
  let summary = "Group the ops that run as one kernel";
  let description = [{
    Moves every op that computes or moves data into a `graph.cluster`: one
    cluster becomes one kernel and one launch, and stores no intermediate
    tensor. Constants and `graph.reshape` (a view) stay outside, but for reshapes
    between a kernel's result and transposes that say where it is stored;
    constants of one repeated value are copied into the clusters that use them. A cluster has
    `most-ops` ops at most: what one kernel costs to compile grows faster than
    its ops.

    On CPUs a depthwise convolution shares a cluster with the dense ones right
    before and after it, if their intermediate tensors exceed `chain-bytes` and
    the recomputed halo (ConvChain.h) takes less time than moving these bytes to
    the last level of cache and back (`flops_per_byte` of the target).

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
           "Convolutions beside a depthwise one share its cluster if more bytes "
           "lie between them; 0: two thirds of the target's second level of cache">,
  ];
  let dependentDialects = ["::adze::tile::TileDialect"];
  let statistics = [
    Statistic<"numClusters", "clusters", "Clusters formed">,
    Statistic<"numFused", "fused",
              "Ops that share a cluster with an earlier op">,
  ];
}

def ShareKernelsPass : Pass<"graph-share-kernels", "::mlir::func::FuncOp"> {
  let summary = "Let one kernel serve clusters that differ in numbers";
  let description = [{
    A graph with the same few ops in thousands of places, each with a number of
    its own, would have a kernel for each to compile. Where `least-kernels` of
    them differ in nothing but constants of one element that pointwise ops read,
    those become operands of the clusters, which are then equal. Fewer keep
    their numbers inside, where they cost nothing to read.

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
           "Kernels that have to differ in numbers alone">,
  ];
  let statistics = [
    Statistic<"numSaved", "saved", "Kernels that there need not be">,
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
    Option<"maxGrowth", "max-growth", "uint64_t", /*default=*/"4",
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

def MergeHorizontalPass
    : Pass<"graph-merge-horizontal", "::mlir::func::FuncOp"> {
  let summary = "Make one of products or convolutions of one input";
  let description = [{
    Matmuls (of words as well) and convolutions that read one input and whose
    other operands are constants become one, with the constants joined; each reader takes its
    columns by a slice, which is an offset of its loads. Elementwise ops that
    follow, with constants of one number a column, are merged along: the input is
    then read once, in one kernel. An op that only some branches have (a bound,
    factor, summand or slope) is done to all, with numbers that change nothing
    for the others: a relu is a bound of 0 beside ones of -inf.

    A branch is left out if a reader could not read at an offset (a result of the
    model, a reshape that mixes columns with other dims), if it alone is a piece
    of a concatenation, or if ops follow that the others can neither do nor be
    left alone by: the slice would be a copy. It is so, too, where the ops that
    are done in vain, and results that leave the target's second level of cache before
    they are read, cost more than reading the input again. Remarks say which.

    Before:
    ```mlir
    %wq = graph.constant dense<0.5> : tensor<64x32xf32>
    %wk = graph.constant dense<2.0> : tensor<64x32xf32>
    %0 = graph.matmul %x, %wq : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
    %1 = graph.matmul %x, %wk : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
    %2 = graph.mul %0, %1 : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    ```
    After, where `%w` is `%wq` beside `%wk`:
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
  let summary = "Store the pieces of a concat at their places in it";
  let description = [{
    A piece that a kernel computes is inserted where it belongs as soon as it is
    there: the kernel stores it at an offset, and nothing is copied. Its other
    readers read it at its place if they can; else it is stored twice. What is
    left (inputs, constants, a piece that occurs twice) is copied by one kernel.
    A concat all of whose pieces are computed element by element from memory is
    one kernel already; one of data-dependent size has no memory so early.

    A concat that another one contains, or that another one begins with, lies in
    the memory of that one: so a dense block copies nothing.

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
           "Percentage of a concat that has to be placed, or it stays">,
  ];
  let statistics = [
    Statistic<"numConcats", "concats", "Concats taken apart">,
    Statistic<"numPlaced", "placed", "Pieces stored at their places">,
    Statistic<"numCopied", "copied", "Pieces copied to their places">,
  ];
}

def SplitReductionsPass
    : Pass<"graph-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "Reductions of many elements to few in parts";
  let description = [{
    A reduction to a scalar keeps dims of 1. One to 8 elements at most, of 32768
    or more that lie next to each other, is taken in equal parts, 64 at most,
    which run in parallel; a second reduction combines them. How many there are
    depends on the sizes alone. Of dynamic sizes the first dim that goes says
    the parts, or the number that the only one is a multiple of. What the elements alone are computed by is cut with them.

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
    Statistic<"split", "split", "Reductions taken in parts">,
    Statistic<"kept", "scalars", "Reductions to a scalar that keep a dim">,
  ];
}

def WinogradPass : Pass<"graph-winograd", "::mlir::func::FuncOp"> {
  let summary = "3x3 convolutions by minimal filtering";
  let description = [{
    A channels-last f32 convolution with 3x3 constant weights, without stride,
    dilation or groups becomes one of transformed patches and transformed
    weights: F(2x2, 3x3) has 2.25 times fewer multiplications, F(4x4, 3x3) 4
    times. Each is taken where a model of their costs says so (WinogradPlan.cpp):
    patches are transformed to and fro, and weights grow 1.8 or 4 times.

    Rounding: with inputs and weights of normal distribution, 256 channels, the
    greatest error is 1e-6 of the range of the results for tiles of 4 and 3e-7
    for tiles of 2, where summing directly has 5e-7.

    Before:
    ```mlir
    %w = graph.constant dense<0.5> : tensor<64x64x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x56x56x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x56x56x64xf32>
    ```
    After, with `%u` made of `%w`:
    ```mlir
    %0 = graph.winograd_conv %x, %u {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x56x56x64xf32>, tensor<36x64x64xf32>) -> tensor<1x56x56x64xf32>
    ```
  }];
  let options = [
    Option<"forced", "tile", "int64_t", /*default=*/"-1",
           "2 or 4: use it wherever it is possible; -1: choose by cost">,
  ];
  let dependentDialects = ["::adze::tile::TileDialect"];
  let statistics = [
    Statistic<"numSmall", "small", "Convolutions by F(2x2, 3x3)">,
    Statistic<"numLarge", "large", "Convolutions by F(4x4, 3x3)">,
  ];
}

#endif // ADZE_DIALECT_GRAPH_TRANSFORMS_PASSES

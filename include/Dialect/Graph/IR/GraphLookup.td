// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Ops that look elements up by index, and scatter them.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHLOOKUP
#define ADZE_DIALECT_GRAPH_IR_GRAPHLOOKUP

include "Dialect/Graph/IR/GraphBase.td"

def Graph_GatherOp : Graph_InferredOp<"gather"> {
  let summary = "Slices along one dim, picked by index";
  let description = [{
    Replaces dim `axis` of the data by the dims of the indices:
    `y[a.., i.., b..] = data[a.., indices[i..], b..]`. A negative index counts
    from the end. The kernel clamps an index that is out of range, so that it
    stays in bounds; graph.check_range reports one that is data-dependent.

    Example:
    ```mlir
    %y = graph.gather %x, %i {axis = 0 : i64} : (tensor<100x8xf32>, tensor<2x3xi64>) -> tensor<2x3x8xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$data, Graph_IndexTensor:$indices,
                       DefaultValuedAttr<I64Attr, "0">:$axis);
  let results = (outs Graph_Tensor:$result);
}

def Graph_GatherElementsOp : Graph_InferredOp<"gather_elements"> {
  let summary = "Elements along one dim, picked by index";
  let description = [{
    `y[i, j] = data[indices[i, j], j]` for axis 0, and so on. Indices as of
    graph.gather.

    Example:
    ```mlir
    %y = graph.gather_elements %x, %i {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x3xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$data, Graph_IndexTensor:$indices,
                       DefaultValuedAttr<I64Attr, "0">:$axis);
  let results = (outs Graph_Tensor:$result);
}

def Graph_GatherNDOp : Graph_InferredOp<"gather_nd"> {
  let summary = "Slices picked by index tuples";
  let description = [{
    The last dim of the indices holds tuples that index the data behind its
    first `batch_dims` dims, which both share.

    Example:
    ```mlir
    %y = graph.gather_nd %x, %i : (tensor<4x8x16xf32>, tensor<5x2xi64>) -> tensor<5x16xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$data, Graph_IndexTensor:$indices,
                       DefaultValuedAttr<I64Attr, "0">:$batch_dims);
  let results = (outs Graph_Tensor:$result);
}

def Graph_TreeLeavesOp : Graph_InferredOp<"tree_leaves"> {
  let summary = "The leaves of decision trees that rows reach";
  let description = [{
    `y[r, t]` is the leaf of tree t that row r of the input [rows, features]
    reaches. A row begins at node `roots[t]`. At a node it goes on to the second
    child if the row's feature of the node is at most the node's threshold, else
    to the first. A negative child, or root, c is the leaf `-1 - c`. A negative
    feature f of a node is feature `-1 - f`, of which NaN goes on to the second
    child as well.

    The words of a node are adjacent in `nodes`, so that a visit reads one
    cache line. For features of f32 they are `feature << 32 | bits of the
    threshold` and `second child << 32 | first child`; for f64 they are the bits
    of the threshold, `feature << 32`, and the children.

    `steps[i]` bounds the nodes on any way through the trees 16 i to 16 i + 15.
    The nodes have to describe trees: every way ends, and every child, root and
    feature is in range. Kernels read them without a check.

    Example:
    ```mlir
    %y = graph.tree_leaves %x, %n, %r, %s : (tensor<5x4xf32>, tensor<6xi64>, tensor<2xi32>, tensor<1xi32>) -> tensor<5x2xi32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32, F64]>:$input, Graph_I64Tensor:$nodes,
                       Graph_I32Tensor:$roots, Graph_I32Tensor:$steps);
  let results = (outs Graph_I32Tensor:$result);
  let extraClassDeclaration = [{
    /// Trees that share an entry of `steps`.
    static constexpr int64_t treesAStep = 16;
    /// Words of a node, and the places of those that hold its feature and its
    /// children.
    static int64_t getNumWords(::mlir::Type type) {
      return type.isF64() ? 3 : 2;
    }
    int64_t getNumWords() {
      return getNumWords(::mlir::getElementTypeOrSelf(getInput()));
    }
    int64_t getFeatureWord() { return getNumWords() - 2; }
    int64_t getChildrenWord() { return getFeatureWord() + 1; }
  }];
}

def Graph_ScatterElementsOp : Graph_InferredOp<"scatter_elements"> {
  let summary = "The data with elements along one dim replaced or reduced";
  let description = [{
    The inverse of graph.gather_elements: starts from the data, then in order
    `y[indices[i, j], j] = updates[i, j]` (axis 0), or combines by `reduction`.

    Example:
    ```mlir
    %y = graph.scatter_elements %x, %i, %u {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$data, Graph_IndexTensor:$indices,
                       Graph_Tensor:$updates,
                       DefaultValuedAttr<I64Attr, "0">:$axis,
                       DefaultValuedAttr<Graph_ScatterReductionAttr,
                                         "ScatterReduction::None">:$reduction);
  let results = (outs Graph_Tensor:$result);
}

def Graph_ScatterNDOp : Graph_InferredOp<"scatter_nd"> {
  let summary = "The data with slices replaced or reduced";
  let description = [{
    The inverse of graph.gather_nd: starts from the data, then in order
    `y[indices[i..]] = updates[i..]`, or combines by `reduction`.

    Example:
    ```mlir
    %y = graph.scatter_nd %x, %i, %u : (tensor<4x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$data, Graph_IndexTensor:$indices,
                       Graph_Tensor:$updates,
                       DefaultValuedAttr<Graph_ScatterReductionAttr,
                                         "ScatterReduction::None">:$reduction);
  let results = (outs Graph_Tensor:$result);
}

def Graph_OneHotOp : Graph_TensorOp<"one_hot"> {
  let summary = "One-hot encoding";
  let description = [{
    Inserts a dim at `axis`, whose size the result type says: `values[1]` where
    the coordinate is the index (negative ones count from the end), `values[0]`
    elsewhere. `depth` holds the size where the symbols cannot say it.

    Example:
    ```mlir
    %y = graph.one_hot %i, %v {axis = 1 : i64} : (tensor<4xi64>, tensor<2xf32>) -> tensor<4x10xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$indices, Graph_Tensor:$values,
                       Optional<Graph_I64Tensor>:$depth, I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
  let hasVerifier = 1;
}

def Graph_NonZeroOp : Graph_TensorOp<"non_zero"> {
  let summary = "Coordinates of the elements that are not 0";
  let description = [{
    A tensor of rank x count, in row-major order. The count is known to the data
    only: the result's second dim is a symbol of its own.

    Example:
    ```mlir
    %y = graph.non_zero %x : (tensor<4x8xf32>) -> tensor<2x?xi64>
    ```
  }];
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_I64Tensor:$result);
  let hasVerifier = 1;
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHLOOKUP

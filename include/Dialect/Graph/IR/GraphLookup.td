// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Ops that look elements up by index, and scatter them.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHLOOKUP
#define ADZE_DIALECT_GRAPH_IR_GRAPHLOOKUP

include "Dialect/Graph/IR/GraphBase.td"

def Graph_GatherOp : Graph_InferredOp<"gather"> {
  let summary = "Slices along one dim, selected by index";
  let description = [{
    Replaces dim `axis` of the data by the dims of the indices:
    `y[a.., i.., b..] = data[a.., indices[i..], b..]`. A negative index counts
    from the end. The kernel clamps an index that is out of range, so that it
    stays in bounds; graph.check_range reports data-dependent indices that are
    out of range. Source: ONNX Gather-13.

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
  let summary = "Elements along one dim, selected by index";
  let description = [{
    `y[i, j] = data[indices[i, j], j]` for axis 0, and so on. Data and indices
    have equal ranks. Negative indices and indices out of range are handled as by
    graph.gather. Source: ONNX GatherElements-13.

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
  let summary = "Slices selected by index tuples";
  let description = [{
    The last dim of the indices holds tuples that index the data after its first
    `batch_dims` dims, which are equal in data and indices. Indices are handled as
    by graph.gather. Source: ONNX GatherND-13.

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
  let summary = "Leaves of decision trees that rows of features reach";
  let description = [{
    `y[r, t]` is the leaf of tree t that row r of the input [rows, features]
    reaches. The walk begins at node `roots[t]`. The next node is the second child
    if the feature of the node is at most its threshold, else the first child. A
    negative child, or root, c is the leaf `-1 - c`. A negative feature f of a
    node means feature `-1 - f`; NaN then selects the second child, too.

    The words of a node are adjacent in `nodes`, so that a visit reads one cache
    line. For features of f32 they are `feature << 32 | bits of the threshold` and
    `second child << 32 | first child`; for f64 they are the bits of the
    threshold, `feature << 32`, and the children.

    `steps[i]` is an upper bound of the nodes on any path through the trees 16 i
    to 16 i + 15. The nodes describe trees: every path ends, and every child, root
    and feature is in range. Kernels read them without a check.

    Source: TreeEnsemble, TreeEnsembleClassifier and TreeEnsembleRegressor of
    ai.onnx.ml; the importer makes the tables.

    Example:
    ```mlir
    %y = graph.tree_leaves %x, %n, %r, %s : (tensor<5x4xf32>, tensor<6xi64>, tensor<2xi32>, tensor<1xi32>) -> tensor<5x2xi32>
    ```
  }];
  let arguments = (ins RankedTensorOf<[F32, F64]>:$input, Graph_I64Tensor:$nodes,
                       Graph_I32Tensor:$roots, Graph_I32Tensor:$steps);
  let results = (outs Graph_I32Tensor:$result);
  let extraClassDeclaration = [{
    /// The number of trees that share an entry of `steps`.
    static constexpr int64_t treesAStep = 16;
    /// Return the number of words of a node, and the indices of the words that
    /// hold its feature and its children.
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
  let summary = "Update of elements along one dim, selected by index";
  let description = [{
    The result is the data with elements replaced, in the order of the updates:
    `y[indices[i, j], j] = updates[i, j]` for axis 0, and so on. With `reduction`,
    the element is combined with the update instead. Data, indices and updates
    have equal ranks; updates have the element type of the data. Indices have the
    shape of the updates, or are broadcast to it along dims of size 1: an index
    then selects the place of a whole row. Without a reduction the updated places
    are distinct. Source: ONNX ScatterElements-18, whose indices are not broadcast.

    Example:
    ```mlir
    %y = graph.scatter_elements %x, %i, %u {axis = 1 : i64} : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
    %z = graph.scatter_elements %x, %r, %u {axis = 1 : i64} : (tensor<4x8xf32>, tensor<1x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$data, Graph_IndexTensor:$indices,
                       Graph_Tensor:$updates,
                       DefaultValuedAttr<I64Attr, "0">:$axis,
                       DefaultValuedAttr<Graph_ScatterReductionAttr,
                                         "ScatterReduction::None">:$reduction);
  let results = (outs Graph_Tensor:$result);
  let extraClassDeclaration = [{
    /// Return true if each index selects the place of a run along the last dim,
    /// which replaces all elements there.
    bool replacesRows();
  }];
}

def Graph_ScatterNDOp : Graph_InferredOp<"scatter_nd"> {
  let summary = "Update of slices selected by index tuples";
  let description = [{
    The result is the data with slices replaced, in the order of the updates:
    `y[indices[i..]] = updates[i..]`. With `reduction`, the elements of the slice
    are combined with the update instead. Source: ONNX ScatterND-18.

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
    Inserts a dim at `axis`, whose size the result type states. An element is
    `values[1]` if its coordinate along the new dim is the index (a negative index
    counts from the end), else `values[0]`. The operand `depth` is present only if
    the size is not an expression of the symbols. Source: ONNX OneHot-28.

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
    The result has the shape [rank, count]: column i holds the coordinates of the
    i-th element, in row-major order. The count is data-dependent, so the second
    dim is a symbol that graph.bind binds. Source: ONNX NonZero-13.

    Example:
    ```mlir
    %y = graph.non_zero %x : (tensor<4x8xf32>) -> tensor<2x?xi64>
    ```
  }];
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_I64Tensor:$result);
  let hasVerifier = 1;
}

def Graph_SelectBoxesOp : Graph_TensorOp<"select_boxes"> {
  let summary = "Non-maximum suppression of a bounded number of boxes";
  let description = [{
    For each batch and class, selects boxes whose scores are greater than `score`:
    the one with the greatest score first, of equal ones the first one. Boxes are
    not selected if they overlap a selected one: the area of the intersection is
    more than `overlap` times that of the union. Rows of `boxes`, which is
    `[batches, 5, boxes]`, are the lower ends along two dims, the upper ends, and
    the areas. Scores are `[batches, classes, boxes]`. The result
    `[batches, classes, count]` has the indices of the boxes as they are selected,
    and -1 after the last one. graph-parallelize creates it. Source: ONNX
    NonMaxSuppression-11, whose result has a data-dependent size.

    Example:
    ```mlir
    %y = graph.select_boxes %b, %s {overlap = 0.5 : f32, score = 0.3 : f32} : (tensor<2x5x100xf32>, tensor<2x3x100xf32>) -> tensor<2x3x10xi64>
    ```
  }];
  let arguments = (ins Graph_Tensor:$boxes, Graph_Tensor:$scores,
                       F32Attr:$overlap, F32Attr:$score);
  let results = (outs Graph_I64Tensor:$result);
  let hasVerifier = 1;
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHLOOKUP

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
    stays in bounds; graph.check_range reports one that only the run knows.

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

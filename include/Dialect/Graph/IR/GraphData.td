// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Constants, and ops that move, pick or look up elements.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHDATA
#define ADZE_DIALECT_GRAPH_IR_GRAPHDATA

include "Dialect/Graph/IR/GraphBase.td"

def Graph_ConstantOp : Graph_Op<"constant", [ConstantLike, Pure,
                                             AllTypesMatch<["value", "result"]>]> {
  let summary = "Constant tensor";
  let description = [{
    A tensor known when the model is compiled. Over 1 KiB it is a `#graph.blob`,
    whose hash is checked here; below, DenseElements. `makeConstant` in Blob.h
    chooses.

    Example:
    ```mlir
    %0 = graph.constant dense<[1, 2]> : tensor<2xi64>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// The same elements in another shape or order
//===----------------------------------------------------------------------===//

def Graph_ReshapeOp : Graph_TensorOp<"reshape"> {
  let summary = "Same elements, another shape";
  let description = [{
    The result type says the shape; the row-major order of the elements is kept.
    The operand `shape` is given only where the dims cannot be expressed by
    symbols: it holds the result's dims, of which one may be -1.

    Example:
    ```mlir
    %y = graph.reshape %x : (tensor<2x12xf32>) -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$input, Optional<Graph_I64Tensor>:$shape);
  let results = (outs Graph_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result,
                                 "::mlir::Value":$input), [{
    build($_builder, $_state, result, input, ::mlir::Value());
  }]>];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Graph_TransposeOp : Graph_InferredOp<"transpose"> {
  let summary = "Permutation of the dims";
  let description = [{
    Dim i of the result is dim `perm[i]` of the input.

    Example:
    ```mlir
    %y = graph.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$perm);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Graph_BroadcastToOp : Graph_TensorOp<"broadcast_to"> {
  let summary = "Repetition along dims of size 1 (ONNX Expand)";
  let description = [{
    The input's dims are aligned to the right with the result's; missing ones
    and ones of size 1 are repeated. `shape` as of graph.reshape, without -1.

    Example:
    ```mlir
    %y = graph.broadcast_to %x : (tensor<3x1xf32>) -> tensor<2x3x4xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$input, Optional<Graph_I64Tensor>:$shape);
  let results = (outs Graph_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result,
                                 "::mlir::Value":$input), [{
    build($_builder, $_state, result, input, ::mlir::Value());
  }]>];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_ConcatOp : Graph_InferredOp<"concat"> {
  let summary = "Concatenation along one dim";
  let description = [{
    The inputs one after the other along dim `axis` (>= 0); all other dims are
    equal.

    Example:
    ```mlir
    %z = graph.concat %x, %y {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
}

def Graph_SliceOp : Graph_TensorOp<"slice"> {
  let summary = "Every n-th element from a start, in each dim";
  let description = [{
    Element i of the result along dim d is element `starts[d] + i * steps[d]` of
    the input; the result type says how many. Starts are >= 0 and clamped
    already, steps are not 0 and may be negative. Starts that are not known when
    the model is compiled come as the operand `begin`, one a dim, clamped too;
    `starts` is then ignored and all 0.

    Example:
    ```mlir
    %y = graph.slice %x {starts = array<i64: 0, 9>, steps = array<i64: 1, -2>} : (tensor<4x10xf32>) -> tensor<4x5xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$input, Optional<Graph_I64Tensor>:$begin,
                       DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$steps);
  let results = (outs Graph_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$input,
                                 "::llvm::ArrayRef<int64_t>":$starts,
                                 "::llvm::ArrayRef<int64_t>":$steps), [{
    build($_builder, $_state, result, input, ::mlir::Value(), starts, steps);
  }]>];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Graph_PadOp : Graph_InferredOp<"pad"> {
  let summary = "Elements added before and after, in each dim";
  let description = [{
    Adds `low[d]` elements before and `high[d]` after along dim d; negative
    numbers remove. `constant` fills with the scalar `value` (0 if not given),
    `edge` with the nearest element, `reflect` with the mirror image without the
    edge, `wrap` with the other end.

    Example:
    ```mlir
    %y = graph.pad %x {low = array<i64: 0, 1>, high = array<i64: 0, 2>} : (tensor<2x3xf32>) -> tensor<2x6xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$input, Optional<Graph_Tensor>:$value,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
                       DefaultValuedAttr<Graph_PadModeAttr,
                                         "PadMode::Constant">:$mode);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
}

def Graph_ReverseOp : Graph_InferredOp<"reverse"> {
  let summary = "Reverse order along dims";
  let description = [{
    Example:
    ```mlir
    %y = graph.reverse %x {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$input, DenseI64ArrayAttr:$axes);
  let results = (outs Graph_Tensor:$result);
}

def Graph_TriluOp : Graph_InferredOp<"trilu"> {
  let summary = "Upper or lower triangle of the last two dims, 0 elsewhere";
  let description = [{
    Keeps element (i, j) where `j - i >= k` (upper) or `j - i <= k` (lower).

    Example:
    ```mlir
    %y = graph.trilu %x {k = 1 : i64, upper = true} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$input,
                       DefaultValuedAttr<BoolAttr, "true">:$upper,
                       DefaultValuedAttr<I64Attr, "0">:$k);
  let results = (outs Graph_Tensor:$result);
}

//===----------------------------------------------------------------------===//
// Look-up
//===----------------------------------------------------------------------===//

def Graph_GatherOp : Graph_InferredOp<"gather"> {
  let summary = "Slices along one dim, picked by index";
  let description = [{
    Replaces dim `axis` of the data by the dims of the indices:
    `y[a.., i.., b..] = data[a.., indices[i..], b..]`. A negative index counts
    from the end; what is out of range then is clamped.

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

//===----------------------------------------------------------------------===//
// Shapes and sequences of numbers
//===----------------------------------------------------------------------===//

def Graph_ShapeOp : Graph_InferredOp<"shape"> {
  let summary = "Dims of a tensor";
  let description = [{
    Example:
    ```mlir
    %y = graph.shape %x : (tensor<4x8xf32>) -> tensor<2xi64>
    ```
  }];
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_I64Tensor:$result);
}

def Graph_RangeOp : Graph_TensorOp<"range"> {
  let summary = "start, start + delta, ...";
  let description = [{
    `max(ceil((limit - start) / delta), 0)` elements; the result type says how
    many where that is known.

    Example:
    ```mlir
    %y = graph.range %a, %b, %d : (tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<10xi64>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$start, Graph_NumberTensor:$limit,
                       Graph_NumberTensor:$delta);
  let results = (outs Graph_NumberTensor:$result);
  let hasVerifier = 1;
}

def Graph_CumsumOp : Graph_InferredOp<"cumsum"> {
  let summary = "Sums of all elements up to a place";
  let description = [{
    Along `axis`; `exclusive` leaves out the element itself, `reverse` sums from
    the end.

    Example:
    ```mlir
    %y = graph.cumsum %x {axis = 1 : i64} : (tensor<2x5xf32>) -> tensor<2x5xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$input, I64Attr:$axis,
                       DefaultValuedAttr<BoolAttr, "false">:$exclusive,
                       DefaultValuedAttr<BoolAttr, "false">:$reverse);
  let results = (outs Graph_NumberTensor:$result);
}

def Graph_TopKOp : Graph_TensorOp<"top_k"> {
  let summary = "The k largest or smallest elements and their indices";
  let description = [{
    Along `axis`, sorted; of equal elements the one with the lower index comes
    first. The result types say k; the operand `k` does where they cannot.

    Example:
    ```mlir
    %v, %i = graph.top_k %x {axis = 1 : i64} : (tensor<2x9xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$input, Optional<Graph_I64Tensor>:$k,
                       I64Attr:$axis,
                       DefaultValuedAttr<BoolAttr, "true">:$largest);
  let results = (outs Graph_NumberTensor:$values, Graph_I64Tensor:$indices);
  let hasVerifier = 1;
}

class Graph_ArgOp<string mnemonic, string word> : Graph_InferredOp<mnemonic> {
  let summary = "Index of the " # word # " element along a dim";
  let description = [{
    Of equal elements the first, or the last with `select_last`; NaN counts as
    the }] # word # [{. `keepdims` leaves the dim as 1.

    Example:
    ```mlir
    %y = graph.}] # mnemonic # [{ %x {axis = 1 : i64, keepdims = false} : (tensor<2x9xf32>) -> tensor<2xi64>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$input, I64Attr:$axis,
                       DefaultValuedAttr<BoolAttr, "true">:$keepdims,
                       DefaultValuedAttr<BoolAttr, "false">:$select_last);
  let results = (outs Graph_I64Tensor:$result);
}
def Graph_ArgMaxOp : Graph_ArgOp<"arg_max", "greatest">;
def Graph_ArgMinOp : Graph_ArgOp<"arg_min", "least">;

def Graph_ResizeOp : Graph_TensorOp<"resize"> {
  let summary = "Sampling at other coordinates (ONNX Resize)";
  let description = [{
    The result type says the sizes; `scales`, one a dim, says the ratios, which
    need not be size / size. A dim of scale 1 and equal size is copied.
    `coordinates`, `nearest_mode`, `cubic_coeff`, `exclude_outside`, `antialias`,
    `extrapolation` and `roi` as in ONNX; `roi` (starts, then ends) goes with
    `tf_crop_and_resize`. Without `scales` they are size / size.

    Example:
    ```mlir
    %y = graph.resize %x {scales = array<f64: 1.0, 1.0, 2.0, 2.0>, coordinates = #graph.coordinates<asymmetric>, nearest_mode = #graph.nearest_mode<floor>} : (tensor<1x3x8x8xf32>) -> tensor<1x3x16x16xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$input,
      OptionalAttr<DenseF64ArrayAttr>:$scales,
      DefaultValuedAttr<Graph_ResizeModeAttr, "ResizeMode::Nearest">:$mode,
      DefaultValuedAttr<Graph_CoordinateModeAttr,
                        "CoordinateMode::HalfPixel">:$coordinates,
      DefaultValuedAttr<Graph_NearestModeAttr,
                        "NearestMode::RoundPreferFloor">:$nearest_mode,
      DefaultValuedAttr<F64Attr, "-0.75">:$cubic_coeff,
      DefaultValuedAttr<BoolAttr, "false">:$exclude_outside,
      DefaultValuedAttr<BoolAttr, "false">:$antialias,
      DefaultValuedAttr<F64Attr, "0.0">:$extrapolation,
      OptionalAttr<DenseF64ArrayAttr>:$roi);
  let results = (outs Graph_NumberTensor:$result);
  let hasVerifier = 1;
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHDATA

// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Constants, and ops that move or select elements.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHDATA
#define ADZE_DIALECT_GRAPH_IR_GRAPHDATA

include "Dialect/Graph/IR/GraphBase.td"

def Graph_ConstantOp : Graph_Op<"constant", [ConstantLike, Pure,
                                             AllTypesMatch<["value", "result"]>]> {
  let summary = "Constant tensor";
  let description = [{
    A tensor whose elements are known at compile time. Constants of more than
    1 KiB have a `#graph.blob` as value, whose hash the verifier checks; smaller
    ones have dense elements. `makeConstant` in Blob.h makes the attribute.
    Source: ONNX Constant-25 and initializers.

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
  let summary = "Change of the shape";
  let description = [{
    The result has the elements of the input in the same row-major order, and as
    many of them. Its type states the shape. The operand `shape` is present only
    if the dims are not expressions of symbols; it holds the dims of the result,
    of which one may be -1 (inferred from the others). Source: ONNX Reshape-25.

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
    Dim i of the result is dim `perm[i]` of the input; `perm` is a permutation.
    Source: ONNX Transpose-25.

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
  let summary = "Repetition along dims of size 1";
  let description = [{
    The dims of the input are aligned to the right with those of the result.
    Missing dims and dims of size 1 are repeated; other dims are equal. `shape` is
    that of graph.reshape, without -1. Source: ONNX Expand-13.

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
    The result holds the inputs one after the other along dim `axis` >= 0. All
    other dims, and the element types, are equal. Source: ONNX Concat-13.

    Example:
    ```mlir
    %z = graph.concat %x, %y {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Graph_EmptyOp : Graph_TensorOp<"empty"> {
  let summary = "A tensor with undefined elements";
  let description = [{
    The initial destination of `graph.insert_slice`. No result of the function
    depends on its elements. Passes make this op.

    Example:
    ```mlir
    %d = graph.empty : () -> tensor<2x8xf32>
    ```
  }];
  let results = (outs Graph_Tensor:$result);
}

def Graph_InsertSliceOp : Graph_InferredOp<"insert_slice"> {
  let summary = "Replacement of slices along one dim";
  let description = [{
    The result is `dest`, in which source i replaces the elements along dim `axis`
    from offset i on. Result i of the map `offsets` is this offset, an expression
    of the symbols. Sources lie inside of `dest` and do not overlap; element types
    and all other dims are those of `dest`.

    The op has value semantics. If no later op reads the replaced elements of
    `dest`, the result is computed in the memory of `dest` (`adze.tied`). Passes
    make this op from graph.concat.

    Example:
    ```mlir
    %1 = graph.insert_slice %x, %d {axis = 1 : i64, offsets = affine_map<() -> (3)>} : (tensor<2x5xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$sources, Graph_Tensor:$dest,
                       I64Attr:$axis, AffineMapAttr:$offsets);
  let results = (outs Graph_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$sources, "::mlir::Value":$dest,
                                 "int64_t":$axis,
                                 "::llvm::ArrayRef<::mlir::AffineExpr>":$offsets)>];
  let extraClassDeclaration = [{
    /// Returns the offset of source i.
    ::mlir::AffineExpr getOffset(unsigned i) { return getOffsets().getResult(i); }
  }];
}

def Graph_SliceOp : Graph_TensorOp<"slice"> {
  let summary = "Strided slice";
  let description = [{
    Element i of the result along dim d is element `starts[d] + i * steps[d]` of
    the input. The result type states the number of elements, all of which lie
    inside of the input. Starts are >= 0 and clamped; steps are not 0 and may be
    negative. Starts that depend on sizes are a map, whose results are
    expressions of the symbols. Data-dependent starts are the operand `begin`,
    with one clamped start for each dim; all `starts` are then 0 and ignored.
    Source: ONNX Slice-13.

    Example:
    ```mlir
    %y = graph.slice %x {starts = array<i64: 0, 9>, steps = array<i64: 1, -2>} : (tensor<4x10xf32>) -> tensor<4x5xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$input, Optional<Graph_I64Tensor>:$begin,
                       AnyAttrOf<[DenseI64ArrayAttr, AffineMapAttr]>:$starts,
                       DenseI64ArrayAttr:$steps);
  let results = (outs Graph_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$input,
                                 "::llvm::ArrayRef<int64_t>":$starts,
                                 "::llvm::ArrayRef<int64_t>":$steps)>,
                  OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$input,
                                 "::llvm::ArrayRef<::mlir::AffineExpr>":$starts,
                                 "::llvm::ArrayRef<int64_t>":$steps)>];
  let extraClassDeclaration = [{
    /// Returns the start in each dim, or null expressions with `begin`.
    ::llvm::SmallVector<::mlir::AffineExpr, 4> getStartExprs();
    /// Returns the starts if all are constants.
    ::std::optional<::llvm::ArrayRef<int64_t>> getConstantStarts();
    /// Returns the attribute of these starts: an array if all are constants.
    static ::mlir::Attribute makeStarts(::mlir::MLIRContext *context,
                                        ::llvm::ArrayRef<::mlir::AffineExpr> starts);
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Graph_PadOp : Graph_InferredOp<"pad"> {
  let summary = "Padding and cropping at both ends of each dim";
  let description = [{
    Adds `low[d]` elements before and `high[d]` elements after those of dim d;
    negative numbers remove elements. The resulting sizes are >= 0. The value of
    an added element depends on `mode`: `constant` is the scalar `value` (0 if
    absent), `edge` the nearest element, `reflect` the mirror image that does not
    repeat the edge, `wrap` the periodic continuation. Source: ONNX Pad-25.

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
  let summary = "Reversal of the elements along dims";
  let description = [{
    Element i of the result along each of the dims `axes` is element
    `size - 1 - i` of the input. Source: slices of negative steps of ONNX.

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
    Keeps element (i, j) of the last two dims if `j - i >= k` (`upper`) or
    `j - i <= k` (lower), and replaces the others by 0. Source: ONNX Trilu-14.

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
// Shapes and sequences of numbers
//===----------------------------------------------------------------------===//

def Graph_ShapeOp : Graph_InferredOp<"shape"> {
  let summary = "Dims of a tensor";
  let description = [{
    The result holds the sizes of all dims of the input, in elements. Source:
    ONNX Shape-25.

    Example:
    ```mlir
    %y = graph.shape %x : (tensor<4x8xf32>) -> tensor<2xi64>
    ```
  }];
  let arguments = (ins Graph_Tensor:$input);
  let results = (outs Graph_I64Tensor:$result);
}

def Graph_RangeOp : Graph_TensorOp<"range"> {
  let summary = "Arithmetic progression: start, start + delta, ...";
  let description = [{
    The result has `max(ceil((limit - start) / delta), 0)` elements. Its type
    states the number if it is known. The operands are scalars of the element
    type of the result. Source: ONNX Range-27.

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

class Graph_ScanOp<string mnemonic, string what, string onnx>
    : Graph_InferredOp<mnemonic> {
  let summary = "Cumulative " # what # " along a dim";
  let description = [{
    Element i of the result along `axis` is the }] # what # [{ of elements 0 to i
    of the input, or 0 to i - 1 with `exclusive`. With `reverse`, the elements
    are taken from the end. Source: ONNX }] # onnx # [{.

    Example:
    ```mlir
    %y = graph.}] # mnemonic # [{ %x {axis = 1 : i64} : (tensor<2x5xf32>) -> tensor<2x5xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$input, I64Attr:$axis,
                       DefaultValuedAttr<BoolAttr, "false">:$exclusive,
                       DefaultValuedAttr<BoolAttr, "false">:$reverse);
  let results = (outs Graph_NumberTensor:$result);
}
def Graph_CumsumOp : Graph_ScanOp<"cumsum", "sum", "CumSum-14">;
def Graph_CumprodOp : Graph_ScanOp<"cumprod", "product", "CumProd-26">;

def Graph_EntropyOp : Graph_Op<"entropy",
    [MemoryEffects<[MemRead, MemWrite]>,
     DeclareOpInterfaceMethods<CostOpInterface>]> {
  let summary = "Random seed that differs in each run";
  let description = [{
    The seed of random operators without the attribute `seed`. It is read when the
    model runs. Its memory effects prevent that the op is folded, merged or moved.

    Example:
    ```mlir
    %seed = graph.entropy : tensor<i64>
    ```
  }];
  let results = (outs 0DTensorOf<[I64]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Graph_TopKOp : Graph_TensorOp<"top_k"> {
  let summary = "The k largest or smallest elements and their indices";
  let description = [{
    The results are sorted along `axis`. Of equal elements, the one with the lower
    index comes first. If not `sorted`, they are in the order of their indices. The
    result types state k, at most the size of `axis`; the operand `k` is present only
    if it is not an expression of the symbols. Source: ONNX TopK-24.

    Example:
    ```mlir
    %v, %i = graph.top_k %x {axis = 1 : i64} : (tensor<2x9xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$input, Optional<Graph_I64Tensor>:$k,
                       I64Attr:$axis, DefaultValuedAttr<BoolAttr, "true">:$largest,
                       DefaultValuedAttr<BoolAttr, "true">:$sorted);
  let results = (outs Graph_NumberTensor:$values, Graph_I64Tensor:$indices);
  let hasVerifier = 1;
}

class Graph_ArgOp<string mnemonic, string word, string onnx>
    : Graph_InferredOp<mnemonic> {
  let summary = "Index of the " # word # " element along a dim";
  let description = [{
    The index, along `axis`, of the first of equal elements, or of the last with
    `select_last`. NaN counts as the }] # word # [{ element. With `keepdims`, the
    reduced dim stays as a dim of size 1. Source: ONNX }] # onnx # [{.

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
def Graph_ArgMaxOp : Graph_ArgOp<"arg_max", "greatest", "ArgMax-13">;
def Graph_ArgMinOp : Graph_ArgOp<"arg_min", "least", "ArgMin-13">;

def Graph_ResizeOp : Graph_TensorOp<"resize"> {
  let summary = "Resampling with interpolation";
  let description = [{
    The result type states the sizes. `scales` has one factor for each dim, which
    may differ from the quotient of the sizes; without `scales`, the factors are
    these quotients. A dim of scale 1 and equal size is copied. `coordinates` is
    ONNX's coordinate_transformation_mode. `mode`, `nearest_mode`, `cubic_coeff`
    (cubic_coeff_a), `exclude_outside`, `antialias`, `extrapolation`
    (extrapolation_value) and `roi` are those of ONNX. `roi` holds the starts,
    then the ends, of all dims, and is present with `tf_crop_and_resize` only.
    Source: ONNX Resize-19.

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

// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Constants, and ops that move or pick elements.
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
  let hasCanonicalizer = 1;
}

def Graph_EmptyOp : Graph_TensorOp<"empty"> {
  let summary = "A tensor whose elements are not said yet";
  let description = [{
    Where `graph.insert_slice` begins: nothing may depend on its elements.

    Example:
    ```mlir
    %d = graph.empty : () -> tensor<2x8xf32>
    ```
  }];
  let results = (outs Graph_Tensor:$result);
}

def Graph_InsertSliceOp : Graph_InferredOp<"insert_slice"> {
  let summary = "A tensor with some parts along one dim replaced";
  let description = [{
    `dest` with source i in the place of its elements from result i of `offsets`
    on along dim `axis`; the other dims are those of `dest`, and no two sources
    overlap. Offsets are expressions of the symbols, as sizes are.
    The result is a value of its own; where nobody reads the replaced elements
    of `dest` any more, it lies in the memory of `dest` (`adze.tied`).

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
    /// Where source i begins.
    ::mlir::AffineExpr getOffset(unsigned i) { return getOffsets().getResult(i); }
  }];
}

def Graph_SliceOp : Graph_TensorOp<"slice"> {
  let summary = "Every n-th element from a start, in each dim";
  let description = [{
    Element i of the result along dim d is element `starts[d] + i * steps[d]` of
    the input; the result type says how many. Starts are >= 0 and clamped
    already, steps are not 0 and may be negative. Starts that sizes determine are
    a map, whose results are expressions of the symbols. Those that the data tell
    come as the operand `begin`, one a dim, clamped too; `starts` is then ignored
    and all 0.

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
    /// Where the slice begins in each dim; of a slice with `begin`, null.
    ::llvm::SmallVector<::mlir::AffineExpr, 4> getStartExprs();
    /// The same where all are numbers.
    ::std::optional<::llvm::ArrayRef<int64_t>> getConstantStarts();
    /// The attribute for these starts: numbers, where all are.
    static ::mlir::Attribute makeStarts(::mlir::MLIRContext *context,
                                        ::llvm::ArrayRef<::mlir::AffineExpr> starts);
  }];
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

class Graph_ScanOp<string mnemonic, string what> : Graph_InferredOp<mnemonic> {
  let summary = what # " of all elements up to a place";
  let description = [{
    Along `axis`; `exclusive` leaves out the element itself, `reverse` begins at
    the end.

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
def Graph_CumsumOp : Graph_ScanOp<"cumsum", "Sums">;
def Graph_CumprodOp : Graph_ScanOp<"cumprod", "Products">;

def Graph_EntropyOp : Graph_Op<"entropy",
    [MemoryEffects<[MemRead, MemWrite]>,
     DeclareOpInterfaceMethods<CostOpInterface>]> {
  let summary = "A number that is another one in each run";
  let description = [{
    The seed of random numbers that the model gives none. It is read when the
    model runs: never folded, merged or moved.

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

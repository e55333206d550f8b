// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What the data decides while the model runs: sizes, errors, branches, loops.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHCONTROL
#define ADZE_DIALECT_GRAPH_IR_GRAPHCONTROL

include "Dialect/Graph/IR/GraphBase.td"

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

def Graph_BindOp : Graph_Op<"bind", [MemoryEffects<[MemWrite]>]> {
  let summary = "Symbols whose values are elements of a tensor";
  let description = [{
    Element i of `input` is read while the model runs and becomes the value of
    symbol `symbols[i]` (-1: of none). Types that mention such a symbol belong to
    ops that come later; a value outside of the symbol's range ends the run with
    an error. It is how every size gets known that only the data can tell.

    Example:
    ```mlir
    graph.bind %count {symbols = array<i64: 3>} : tensor<1xi64>
    %y = graph.non_zero %x : (tensor<4xi1>) -> tensor<1x?xi64, affine_map<()[s0, s1, s2, s3] -> (1, s3)>>
    ```
  }];
  let arguments = (ins Graph_I64Tensor:$input, DenseI64ArrayAttr:$symbols);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Graph_AssignOp : Graph_Op<"assign", [MemoryEffects<[MemWrite]>]> {
  let summary = "Symbols whose values are expressions of others";
  let description = [{
    Result i of the map becomes the value of `symbols[i]`, as soon as the symbols
    that it mentions have theirs: a name for a size that would be a long
    expression wherever it is used.

    Example:
    ```mlir
    graph.assign {symbols = array<i64: 2>, values = affine_map<()[s0, s1] -> (s0 + s1)>}
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$symbols, AffineMapAttr:$values);
  let assemblyFormat = "attr-dict";
  let builders = [OpBuilder<(ins "int64_t":$symbol, "::mlir::AffineExpr":$value)>];
  let hasVerifier = 1;
}

def Graph_CheckOp : Graph_Op<"check", [MemoryEffects<[MemWrite]>]> {
  let summary = "End the run with an error unless a condition holds";
  let description = [{
    Example:
    ```mlir
    graph.check %ok, "expected as many elements as the input has" : tensor<i1>
    ```
  }];
  let arguments = (ins Graph_BoolTensor:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
  let hasVerifier = 1;
}

def Graph_CheckRangeOp : Graph_Op<"check_range", [MemoryEffects<[MemWrite]>, AllTypesMatch<["least", "greatest"]>]> {
  let summary = "End the run with an error unless values are in a range";
  let description = [{
    `range` has two results in terms of the module's symbols: `least` must be at
    least the first one, and `greatest` less than the second one. The operands
    are reductions of the values to check; of no values they are the identities
    of minimum and maximum, which fit every range. In `message`, {0} stands for
    the value that is out of range, {1} and {2} for the bounds. Ops after it may
    run before the run ends, also with values out of range.

    C1: both operands have one element. C2: the map has two results and no dims.

    Example:
    ```mlir
    graph.check_range %least, %greatest, "index {0} is out of range [{1}, {2})" {range = affine_map<()[s0] -> (-s0, s0)>} : tensor<i64>
    ```
  }];
  let arguments = (ins TensorOf<[I32, I64]>:$least, TensorOf<[I32, I64]>:$greatest,
                       StrAttr:$message, AffineMapAttr:$range);
  let assemblyFormat = "$least `,` $greatest `,` $message attr-dict `:` type($least)";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Graph_AssumeOp : Graph_Op<"assume", [MemoryEffects<[MemWrite]>]> {
  let summary = "End the run with an error unless sizes fit each other";
  let description = [{
    What the ops behind it in its block take for granted of sizes, checked when
    the run comes by: in a branch or loop, or of data-dependent sizes. The
    conditions are those of the function's attributes of these names, which the
    run checks before it begins.

    Reads and writes beyond the end of a tensor would follow, so no op that
    relies on it comes before it: it stands right behind the last op of its block
    that gives one of its symbols a value.

    Example:
    ```mlir
    graph.assume {broadcasts = [affine_map<()[s0] -> (s0, 16)>], equalities = [affine_map<()[s0, s1] -> (s0, s1)>], bounds = [affine_map<()[s0] -> (s0 - 3)>]}
    ```
  }];
  let arguments = (ins OptionalAttr<AffineMapArrayAttr>:$broadcasts,
                       OptionalAttr<AffineMapArrayAttr>:$equalities,
                       OptionalAttr<AffineMapArrayAttr>:$bounds);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
  let extraClassDeclaration = [{
    void forEachSize(::llvm::function_ref<void(::mlir::AffineExpr)> visit);
  }];
}

//===----------------------------------------------------------------------===//
// The run time's functions
//===----------------------------------------------------------------------===//

def Graph_CallOp : Graph_Op<"call", [MemoryEffects<[MemWrite]>]> {
  let summary = "A function of the run time";
  let description = [{
    Computes on the host what has no kernel: strings, sequences, and what picks
    elements one after the other. The functions are listed in docs/runtime.md;
    attributes of an operator are operands. Dims of results that only the call can
    tell are the op's `symbols`, which get their values when it is done.

    C1: each of the symbols is a dim of a result. C2: all dims of operands and
    results are known.

    Example:
    ```mlir
    %y = graph.call "unique"(%x, %sorted) {symbols = array<i64: 0>} : (tensor<6xf32>, tensor<i1>) -> tensor<?xf32, affine_map<()[s0] -> (s0)>>
    ```
  }];
  let arguments = (ins StrAttr:$function, Variadic<Graph_Value>:$inputs,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$symbols);
  let results = (outs Variadic<Graph_Value>:$results);
  let assemblyFormat = [{
    $function `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//

def Graph_IfOp : Graph_Op<"if", [RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "One of two regions";
  let description = [{
    The regions use values from outside as they are. A dim in which the branches
    differ is one of the op's `symbols` in the result's type: the branch that
    runs gives it its value, which is an effect.

    Example:
    ```mlir
    %r = graph.if %c : (tensor<i1>) -> tensor<4xf32> {
      graph.yield %x : tensor<4xf32>
    } else {
      graph.yield %y : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Graph_BoolTensor:$condition,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$symbols);
  let results = (outs Variadic<Graph_Value>:$results);
  let regions = (region SizedRegion<1>:$thenRegion, SizedRegion<1>:$elseRegion);
  let assemblyFormat = [{
    operands attr-dict `:` functional-type(operands, results)
    $thenRegion `else` $elseRegion
  }];
  let hasVerifier = 1;
}

def Graph_LoopOp : Graph_Op<"loop", [RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, AttrSizedOperandSegments,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "A region that runs again and again";
  let description = [{
    Runs while the number of the iteration is less than `trip_count` and the
    condition holds (each: if it is there). The region's arguments are the number
    of the iteration (`tensor<i64>`) and the carried values; it yields the next
    condition (with `condition` only), the next carried values, and a slice of
    each result that is collected: these are stacked along a new first dim. The
    results are the last carried values, then the collected ones.

    `symbols` are bound by the loop: a carried argument's dim that is one of them
    has the size that the last iteration gave it, also after the loop; the first
    dim of a collected result has the number of iterations, its other dims the
    size of each slice. `count` is the one that counts the iterations on the way,
    needed to collect results.

    Example:
    ```mlir
    %r = "graph.loop"(%n, %x) <{operandSegmentSizes = array<i32: 1, 0, 1>, symbols = array<i64>}> ({
    ^bb0(%i: tensor<i64>, %a: tensor<4xf32>):
      %b = graph.add %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      graph.yield %b : tensor<4xf32>
    }) : (tensor<i64>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Optional<Graph_I64Tensor>:$trip_count,
                       Optional<Graph_BoolTensor>:$condition,
                       Variadic<Graph_Value>:$inits,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$symbols,
                       OptionalAttr<I64Attr>:$count);
  let results = (outs Variadic<Graph_Value>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    YieldOp getYield();
    /// What the region yields for carried values and collected results.
    ::mlir::ValueRange getYieldedCarried();
    ::mlir::ValueRange getYieldedSlices();
    ::llvm::ArrayRef<::mlir::BlockArgument> getCarriedArguments();
  }];
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHCONTROL

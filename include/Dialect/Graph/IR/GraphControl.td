// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Ops whose effects depend on data: sizes, errors, calls, branches and loops.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHCONTROL
#define ADZE_DIALECT_GRAPH_IR_GRAPHCONTROL

include "Dialect/Graph/IR/GraphBase.td"

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

def Graph_BindOp : Graph_Op<"bind", [MemoryEffects<[MemWrite]>]> {
  let summary = "Bind symbols to elements of a tensor";
  let description = [{
    Element i of the 1-D tensor `input` is read when the model runs, and becomes
    the value of symbol `symbols[i]`. An entry of -1 ignores the element. All ops
    whose types use such a symbol come after this op. A value outside of the range
    of the symbol ends the run with an error. Every data-dependent size is bound
    by this op, or by `symbols` of graph.call, graph.if or graph.loop.

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
  let summary = "Bind symbols to expressions of other symbols";
  let description = [{
    Result i of the map becomes the value of `symbols[i]`, as soon as all symbols
    of the expression are bound. The op gives a name to a size that would be a
    long expression in every type that uses it. The map has one result for each
    symbol, and no dims.

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
    If `condition`, a tensor of one element, is false when the model runs, the run
    fails with `message`.

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
    `range` has two results, which are expressions of the symbols of the function.
    The run fails with `message` if `least` is less than the first one, or if
    `greatest` is not less than the second one. The operands are the minimum and
    the maximum of the values to check; for no values they are the identities of
    minimum and maximum, which are in every range. In `message`, {0} is replaced
    by the value that is out of range, and {1} and {2} by the bounds. Ops after
    this one may still run with values out of range before the run ends.

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
  let summary = "End the run with an error unless relations of sizes hold";
  let description = [{
    States relations of data-dependent sizes, or of sizes in a branch or loop,
    that later ops of the block rely on. They are checked when the op runs. The
    function attributes of the same names are checked before the run begins. The
    sizes of each map in `broadcasts` are equal or 1, those of each map in
    `equalities` are equal, and those in `bounds` are not negative.

    A violated relation would lead to accesses out of bounds. So the op directly
    follows the last op of its block that binds one of its symbols, and no op
    that relies on it comes before it.

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
  let summary = "Call of a function of the run time";
  let description = [{
    Computes on the host what has no kernel: operators on strings and sequences,
    and sequential selection of elements. The functions are listed in
    docs/runtime.md; attributes of an ONNX operator are operands of the call.
    `symbols` are the data-dependent dims of the results; the call binds them.

    C1: each of the symbols is a dim of a result. C2: all dims of operands and
    results are integers or expressions of symbols.

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
  let summary = "Conditional with two regions";
  let description = [{
    Runs the first region if `condition`, a tensor of one element, is true, else
    the second one. The regions have no arguments and may use values from outside.
    They yield values of the result types. If the branches differ in a dim of a
    result, this dim is one of the op's `symbols` in the result type; the branch
    that runs binds it, which is a memory effect. Source: ONNX If-25.

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
  let summary = "Loop with carried values and collected results";
  let description = [{
    Runs while the index of the iteration is less than `trip_count` and the
    condition is true; an absent operand does not limit the loop. The arguments
    of the region are the index of the iteration (`tensor<i64>`) and the carried
    values. The region yields the next condition (only with `condition`), the next
    carried values, and a slice of each collected result. These slices are stacked
    along a new first dim. The results are the last carried values, then the
    collected results.

    The loop binds `symbols`. A dim of a carried argument that is one of them has
    the size that the previous iteration yielded; after the loop it has the size
    of the last iteration. The first dim of a collected result is the number of
    iterations, and the other dims are those of a slice, which are the same in all
    iterations. Symbol `count` counts the iterations while the loop runs; it is
    required for collected results. Source: ONNX Loop-25 and Scan-25.

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
    /// Return the operands of the yield that are carried values and slices.
    ::mlir::ValueRange getYieldedCarried();
    ::mlir::ValueRange getYieldedSlices();
    ::llvm::ArrayRef<::mlir::BlockArgument> getCarriedArguments();
  }];
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHCONTROL

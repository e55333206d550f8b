// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The host dialect: the ops of the host program, which launches kernels.
#ifndef ADZE_HOST_OPS
#define ADZE_HOST_OPS

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Host_Dialect : Dialect {
  let name = "host";
  let cppNamespace = "::adze::host";
  let summary = "The host program: memory and launches of kernels";
  let description = [{
    The host program is the part of a model that is not kernels: the order of
    launches, and the memory of tensors. Values are memrefs that represent
    *places*: the base addresses of dense row-major tensors. Sizes in bytes are
    integers or affine maps `()[s0, ..] -> (expr)` of the symbols of the module.
  }];
}

/// A number of bytes: an integer, or one expression of the symbols.
def Host_Bytes : AnyAttrOf<[I64Attr, AffineMapAttr],
    "integer or affine map of the symbols">;

class Host_Op<string mnemonic, list<Trait> traits = []>
    : Op<Host_Dialect, mnemonic, traits>;

def Host_LaunchOp : Host_Op<"launch", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Run all programs of a kernel";
  let description = [{
    Before `assign-destinations`, operands and results are tensors. Afterwards the
    operands are memrefs, inputs then outputs, and there are no results.
    `num_outputs` is the number of memrefs that are written.

    A kernel whose programs run in order (`tile.program_id .. ordered`) is
    launched in `steps` steps (0 means 1). `groups` states that a step consists of
    this many equal parts, each of which depends only on the same part of earlier
    steps. Threads that own whole groups need no barrier between steps.

    C1: either all operands are tensors, or all are memrefs and there are no
    results. C2: the callee is a function or kernel. C3: it takes the inputs
    and outputs as memrefs, or takes the inputs and returns the outputs as
    tensors. C4: each has the callee's rank, static sizes and element width. C5:
    `steps` and `groups` are integers or maps of the symbols. C6: a launch with
    groups has steps.

    ```mlir
    %y = host.launch @conv_relu_0(%x, %w) : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x8x8x8xf32>
    host.launch @conv_relu_0(%x, %w, %y) : (memref<1x8x8x4xf32>, memref<3x3x4x8xf32>, memref<1x8x8x8xf32>) -> ()
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands,
      DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "1">:$num_outputs,
      OptionalAttr<Host_Bytes>:$steps, OptionalAttr<Host_Bytes>:$groups);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$callee `(` $operands `)` attr-dict `:` functional-type($operands, $results)";
  let builders = [OpBuilder<(ins "::mlir::FlatSymbolRefAttr":$callee,
      "::mlir::TypeRange":$results, "::mlir::ValueRange":$operands), [{
    build($_builder, $_state, results, callee, operands, $_builder.getI64IntegerAttr(results.empty() ? 1 : results.size()), ::mlir::Attribute(), ::mlir::Attribute());
  }]>];
  let hasVerifier = 1;
}

def Host_SlotOp : Host_Op<"slot"> {
  let summary = "Memory for an intermediate tensor";
  let description = [{
    A slot of `size` bytes in the arena. `plan-memory` adds its offset in bytes,
    or the slots that it follows (`after`): it then begins at the greatest of
    their ends, each rounded up to 64 bytes. A slot has the memory effect of an
    allocation, so that slots of equal size are not merged.

    A slot whose size is data-dependent is a *box*: separate memory that the run
    time enlarges to `size` bytes when the op runs, and keeps for later runs. Slots
    with equal box numbers are the same memory; `plan-memory` numbers those without
    a number. The first `keep` bytes of a box keep their contents when it grows.

    C1: a slot has an offset, or slots that it follows, or a box. C2: a slot
    follows slots only.

    ```mlir
    %0 = host.slot {size = affine_map<()[s0] -> (s0 * 3072)>} : memref<?x768xf32>
    %1 = host.slot {offset = 0 : i64, size = 4096 : i64} : memref<1024xf32>
    %2 = host.slot after(%0, %1 : memref<?x768xf32>, memref<1024xf32>) {size = 64 : i64} : memref<16xf32>
    %3 = host.slot {box = 0 : i64, size = affine_map<()[s0, s1] -> (s1 * 4)>} : memref<?xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyMemRef>:$after, Host_Bytes:$size,
      OptionalAttr<Host_Bytes>:$offset, OptionalAttr<I64Attr>:$box,
      OptionalAttr<Host_Bytes>:$keep);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$result);
  let assemblyFormat = "(`after` `(` $after^ `:` type($after) `)`)? attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Type":$result,
      "::mlir::Attribute":$size, CArg<"::mlir::IntegerAttr", "{}">:$box,
      CArg<"::mlir::Attribute", "{}">:$keep), [{
    build($_builder, $_state, result, ::mlir::ValueRange(), size,
          ::mlir::Attribute(), box, keep);
  }]>];
  let hasVerifier = 1;
}

def Host_ConstantOp : Host_Op<"constant", [Pure]> {
  let summary = "Memory of a constant in the weights of the module";
  let description = [{
    Holds the bytes of `value`, packed by `layout`, a map from logical to physical
    indices, if there is one. `plan-memory` adds the offset in bytes; equal
    constants have equal offsets.

    ```mlir
    %w = host.constant #graph.blob<"m.onnx", 80, 1200, "be45..."> : tensor<300xf32> -> memref<300xf32>
    %b = host.constant dense<1.0> : tensor<4xf32> {offset = 64 : i64} -> memref<4xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value, OptionalAttr<AffineMapAttr>:$layout,
      OptionalAttr<I64Attr>:$offset);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$value attr-dict `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the bytes that the packed constant takes in the weights.
    int64_t getStoredBytes();
  }];
}

def Host_TransformOp : Host_Op<"transform", [Pure]> {
  let summary = "Memory of weights that the run time computes";
  let description = [{
    The windows of `filter` `[O, C, kernel..]`, multiplied by `matrix` `[P, K]` of
    f32: the result `[P, C, O]` of graph.transform_filter, packed by `layout`, if
    there is one. Both operands are places of host.constant without a layout.
    `plan-memory` adds the offset in the computed weights in bytes.

    C1: operands are results of host.constant without a layout. C2: the layout is
    `(d0, d1, d2) -> (d2 floordiv P, d0, d1 floordiv G, d2 mod P, d1 mod G)`, where
    the last result and the division by G are absent if G is 1.

    ```mlir
    %u = host.transform %w, %m {offset = 0 : i64} : memref<2x3x1x2xf32>, memref<3x2xf32> -> memref<3x3x2xf32>
    ```
  }];
  let arguments = (ins AnyMemRef:$filter, AnyMemRef:$matrix,
      OptionalAttr<AffineMapAttr>:$layout, OptionalAttr<I64Attr>:$offset);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$filter `,` $matrix attr-dict `:` type($filter) `,` type($matrix) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the bytes of the packed result.
    int64_t getStoredBytes();
    /// Returns the outputs of a panel (all without a layout), and the inputs of
    /// a group.
    std::pair<int64_t, int64_t> getPanelAndGroup();
  }];
}

def Host_ViewOp : Host_Op<"view", [Pure]> {
  let summary = "View of memory, or of a contiguous part of it, with another shape";
  let description = [{
    The result begins `offset` bytes (default 0) after the source.

    ```mlir
    %1 = host.view %0 {offset = 256 : i64} : memref<4x64xf32> -> memref<3x64xf32>
    ```
  }];
  let arguments = (ins AnyMemRef:$source, OptionalAttr<Host_Bytes>:$offset);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

def Host_CopyOp : Host_Op<"copy"> {
  let summary = "Copy bytes from one place to another";
  let description = [{
    Copies `size` bytes. The places do not overlap.

    ```mlir
    host.copy %0 to %1 {size = 64 : i64} : memref<16xf32> to memref<4x4xf32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source,
      Arg<AnyMemRef, "", [MemWrite]>:$target, Host_Bytes:$size);
  let assemblyFormat =
      "$source `to` $target attr-dict `:` type($source) `to` type($target)";
}

def Host_OutputOp : Host_Op<"output", [AllTypesMatch<["argument", "result"]>]> {
  let summary = "Memory of an output of data-dependent size";
  let description = [{
    `argument` is the argument of the host program that represents the output.
    When the op runs, all symbols of its `adze.dims` are bound. The run time
    allocates memory of this size, or checks the size of the caller's memory.

    ```mlir
    %0 = host.output %y : memref<?xf32>
    ```
  }];
  let arguments = (ins AnyMemRef:$argument);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$result);
  let assemblyFormat = "$argument attr-dict `:` type($argument)";
  let builders = [OpBuilder<(ins "::mlir::Value":$argument), [{
    build($_builder, $_state, argument.getType(), argument);
  }]>];
  let hasVerifier = 1;
}

def Host_StateOp : Host_Op<"state"> {
  let summary = "The buffer of a state of the caller";
  let description = [{
    Returns the place that holds the past rows of state `state` and receives the
    new ones. The op binds symbol `pitch` to the distance, in rows, of consecutive
    indices of the dims before the rows. If the argument of the caller is at
    another address, the run time has copied the past rows.

    ```mlir
    %0 = host.state 0 {pitch = 2 : i64} : memref<?x4xf32>
    ```
  }];
  let arguments = (ins I64Attr:$state, I64Attr:$pitch);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$result);
  let assemblyFormat = "$state attr-dict `:` type($result)";
}

def Host_SizeOp : Host_Op<"size", [Pure]> {
  let summary = "Value of an expression of the symbols in a kernel";
  let description = [{
    The value of an expression of the symbols of the module, which every kernel
    receives in addition to its operands. Kernels use it for sizes that are not
    dims of operands or results. A division by 0 is one by 1.

    ```mlir
    %n = host.size {value = affine_map<()[s0, s1] -> (s0 * s1)>}
    ```
  }];
  let arguments = (ins AffineMapAttr:$value);
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// The run time's functions
//===----------------------------------------------------------------------===//

def Host_CallOp : Host_Op<"call", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Call a function of the run time";
  let description = [{
    The attributes describe each input, then each result: `types` has the element
    type of the graph dialect, `ranks` the rank, and the map `dims` as many sizes,
    which the run time compares with those of the results. `symbols` has one entry
    for each size: the symbol that the call binds to it, or -1. The run time keeps
    the results for `host.fetch` until the next call.

    C1: `types` and `ranks` have equal lengths, at least the number of inputs. C2:
    `dims` and `symbols` have as many elements as the sum of the ranks.

    ```mlir
    host.call "unique"(%x, %sorted) {dims = affine_map<()[s0] -> (6, s0)>, ranks = array<i64: 1, 0, 1>, symbols = array<i64: -1, 0>, types = [f32, i1, f32]} : memref<6xf32>, memref<i1>
    ```
  }];
  let arguments = (ins StrAttr:$function, Variadic<AnyMemRef>:$inputs,
      TypeArrayAttr:$types, DenseI64ArrayAttr:$ranks, AffineMapAttr:$dims,
      DenseI64ArrayAttr:$symbols);
  let assemblyFormat =
      "$function `(` $inputs `)` attr-dict `:` type($inputs)";
  let hasVerifier = 1;
}

def Host_FetchOp : Host_Op<"fetch"> {
  let summary = "Copy a result of the last call to a place";
  let description = [{
    Copies `size` bytes of result `index` of the last host.call.

    ```mlir
    host.fetch 0 to %y {size = affine_map<()[s0] -> (s0 * 4)>} : memref<?xf32>
    ```
  }];
  let arguments = (ins I64Attr:$index, Arg<AnyMemRef, "", [MemWrite]>:$target,
      Host_Bytes:$size);
  let assemblyFormat = "$index `to` $target attr-dict `:` type($target)";
}

//===----------------------------------------------------------------------===//
// Data-dependent values of the host program
//===----------------------------------------------------------------------===//

def Host_BindOp : Host_Op<"bind"> {
  let summary = "Bind symbols to elements of a place";
  let description = [{
    Waits until the launches that write `source` have ended. Element i, an i64,
    becomes the value of symbol `symbols[i]`; an entry of -1 ignores the element.
    A value outside of the range of the symbol ends the run with an error.

    ```mlir
    host.bind %count {symbols = array<i64: 3>} : memref<1xi64>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source,
      DenseI64ArrayAttr:$symbols);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

def Host_AssignOp : Host_Op<"assign", [MemoryEffects<[MemWrite]>]> {
  let summary = "Bind symbols to expressions of other symbols";
  let description = [{
    Result i of the map becomes the value of `symbols[i]`. All results are
    computed before the first symbol changes.

    ```mlir
    host.assign {symbols = array<i64: 3>, values = affine_map<()[s0] -> (s0 * 2)>}
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$symbols, AffineMapAttr:$values);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Host_ReadOp : Host_Op<"read"> {
  let summary = "Read the first element of a place, an integer";
  let description = [{
    Waits until the launches that write the place have ended.

    ```mlir
    %0 = host.read %c : memref<i1> -> i1
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source);
  let results = (outs AnyTypeOf<[I1, I64]>:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

def Host_WriteOp : Host_Op<"write"> {
  let summary = "Write an integer to the first element of a place";
  let description = [{
    The place has elements of i64.

    ```mlir
    host.write %i to %place : i64 to memref<i64>
    ```
  }];
  let arguments = (ins I64:$value, Arg<AnyMemRef, "", [MemWrite]>:$target);
  let assemblyFormat =
      "$value `to` $target attr-dict `:` type($value) `to` type($target)";
}

def Host_CheckOp : Host_Op<"check", [MemoryEffects<[MemWrite]>]> {
  let summary = "End the run with an error unless a condition holds";
  let description = [{
    The run fails with `message` if `condition` is false.

    ```mlir
    host.check %ok, "expected as many elements as the input has"
    ```
  }];
  let arguments = (ins I1:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict";
}

def Host_CheckRangeOp : Host_Op<"check_range", [AllTypesMatch<["least", "greatest"]>]> {
  let summary = "End the run with an error unless values are in a range";
  let description = [{
    Raises a fault if the first element of `least` is less than the first result
    of `range`, or that of `greatest` is not less than the second one. The table of
    faults of the module has a row for each of these ops, in their order. On a
    device the run continues, and the fault is reported at its end.

    ```mlir
    host.check_range %least, %greatest, "index {0} is out of range [{1}, {2})" {range = affine_map<()[s0] -> (-s0, s0)>} : memref<i64>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$least,
      Arg<AnyMemRef, "", [MemRead]>:$greatest, StrAttr:$message,
      AffineMapAttr:$range);
  let assemblyFormat =
      "$least `,` $greatest `,` $message attr-dict `:` type($least)";
  let hasVerifier = 1;
}

def Host_HoldsOp : Host_Op<"holds", [MemoryEffects<[MemRead]>]> {
  let summary = "Test of relations of sizes";
  let description = [{
    True if the sizes of each map in `broadcasts` are equal or 1, those of each
    map in `equalities` are equal, and those in `bounds` are not negative.

    ```mlir
    %0 = host.holds {equalities = [affine_map<()[s0, s1] -> (s0, s1)>]} : i1
    ```
  }];
  let arguments = (ins OptionalAttr<AffineMapArrayAttr>:$broadcasts,
                       OptionalAttr<AffineMapArrayAttr>:$equalities,
                       OptionalAttr<AffineMapArrayAttr>:$bounds);
  let results = (outs I1:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

#endif // ADZE_HOST_OPS

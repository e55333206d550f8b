// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The host dialect: the few ops of the host program (launches and places).
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
  let summary = "The host program: launches of kernels on places";
  let description = [{
    What is left of the model beside its kernels: which kernel runs when, and
    where its tensors lie. Values are memrefs that stand for *places*: base
    addresses of dense row-major tensors. Sizes in bytes are integers or
    affine maps `()[s0, ..] -> (expr)` of the module's symbols.
  }];
}

/// A number of bytes: an integer, or one expression of the module's symbols.
def Host_Bytes : AnyAttrOf<[I64Attr, AffineMapAttr],
    "integer or affine map of the symbols">;

class Host_Op<string mnemonic, list<Trait> traits = []>
    : Op<Host_Dialect, mnemonic, traits>;

def Host_LaunchOp : Host_Op<"launch", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Run a kernel over all its programs";
  let description = [{
    Before destinations are assigned operands and results are tensors; after,
    the operands are memrefs, inputs then outputs, and there are no results.
    `num_outputs` says how many of the memrefs are written. A kernel whose
    programs run in order (`tile.program_id .. ordered`) is launched in `steps`,
    of which 0 are one. Where a step is `groups` equal parts, one after the
    other, each of which follows from nothing but its own part of the steps
    before, the launch says so: threads that have groups of their own wait for
    nobody.

    C1: either all operands are tensors, or all are memrefs and there are no
    results. C2: the callee is a function or kernel. C3: it takes the inputs
    and outputs (as memrefs), or takes the inputs and returns the outputs (as
    tensors). C4: each has the callee's rank, static sizes and element width. C5:
    `steps` and `groups` are integers or maps of the symbols. C6: what has groups
    has steps.

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
  let summary = "A place in the arena";
  let description = [{
    `plan-memory` adds the offset, or the slots that this one lies behind: then
    it begins at the greatest of their ends, each rounded up to 64. A slot has
    an effect (a new place), so that two slots of one size are not merged.

    A dynamic size has no offset: such a slot is a *box*,
    memory of its own that the run time makes as large as `size` says when the
    op runs, and keeps for later runs. Slots of one box number are one memory;
    `plan-memory` numbers those that have none. Of what is in the box, the first
    `keep` bytes stay when it grows.

    C1: a slot has an offset, or slots to lie behind, or a box. C2: what it lies
    behind are slots.

    ```mlir
    %0 = host.slot {size = affine_map<()[s0] -> (s0 * 3072)>} : memref<?x768xf32>
    %1 = host.slot {offset = 0 : i64, size = 4096 : i64} : memref<1024xf32>
    %2 = host.slot behind(%0, %1 : memref<?x768xf32>, memref<1024xf32>) {size = 64 : i64} : memref<16xf32>
    %3 = host.slot {box = 0 : i64, size = affine_map<()[s0, s1] -> (s1 * 4)>} : memref<?xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyMemRef>:$behind, Host_Bytes:$size,
      OptionalAttr<Host_Bytes>:$offset, OptionalAttr<I64Attr>:$box,
      OptionalAttr<Host_Bytes>:$keep);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$result);
  let assemblyFormat = "(`behind` `(` $behind^ `:` type($behind) `)`)? attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Type":$result,
      "::mlir::Attribute":$size, CArg<"::mlir::IntegerAttr", "{}">:$box,
      CArg<"::mlir::Attribute", "{}">:$keep), [{
    build($_builder, $_state, result, ::mlir::ValueRange(), size,
          ::mlir::Attribute(), box, keep);
  }]>];
  let hasVerifier = 1;
}

def Host_ConstantOp : Host_Op<"constant", [Pure]> {
  let summary = "A place in the module's weights";
  let description = [{
    The bytes of `value`, packed by `layout` (a map from the logical index to
    the physical one) if that is given. `plan-memory` adds the offset; equal
    constants get equal offsets.

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
    /// The bytes that the constant takes in the weights, packed by its layout.
    int64_t getStoredBytes();
  }];
}

def Host_ViewOp : Host_Op<"view", [Pure]> {
  let summary = "The same bytes, or a contiguous part of them, as another shape";
  let description = [{
    ```mlir
    %1 = host.view %0 {offset = 256 : i64} : memref<4x64xf32> -> memref<3x64xf32>
    ```
  }];
  let arguments = (ins AnyMemRef:$source, OptionalAttr<Host_Bytes>:$offset);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

def Host_CopyOp : Host_Op<"copy"> {
  let summary = "Copy `size` bytes from one place to another";
  let description = [{
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
  let summary = "The place of an output whose size is known now";
  let description = [{
    `argument` is the argument of the host program that stands for the output;
    the run time gives memory of the size that its `adze.dims` say, or checks the
    caller's.

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
    The place that holds the past rows of state `state` and takes the new ones;
    `pitch` gets the number of rows from one index of the dims before the rows to
    the next one. The run time has copied the past rows where the caller's
    argument lies elsewhere.

    ```mlir
    %0 = host.state 0 {pitch = 2 : i64} : memref<?x4xf32>
    ```
  }];
  let arguments = (ins I64Attr:$state, I64Attr:$pitch);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$result);
  let assemblyFormat = "$state attr-dict `:` type($result)";
}

def Host_SizeOp : Host_Op<"size", [Pure]> {
  let summary = "A size, in a kernel";
  let description = [{
    The value of an expression of the module's symbols, which every kernel is
    given beside its operands: for sizes that no operand or result has. A
    quotient by a symbol that is 0 is one by 1.

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
    Of each input, then of each result: the graph's element type in `types`, the
    rank in `ranks`, and that many results of the map `dims`: the sizes, which
    the run time checks those of results against. Where a dim is a symbol in
    `symbols` (one a dim; -1: none) the call gives the symbol its value. The
    run time keeps the results for `host.fetch` until the next call.

    C1: `types` and `ranks` are as long, the inputs among them; C2: `dims` and
    `symbols` are as long as the ranks say.

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
    ```mlir
    host.fetch 0 to %y {size = affine_map<()[s0] -> (s0 * 4)>} : memref<?xf32>
    ```
  }];
  let arguments = (ins I64Attr:$index, Arg<AnyMemRef, "", [MemWrite]>:$target,
      Host_Bytes:$size);
  let assemblyFormat = "$index `to` $target attr-dict `:` type($target)";
}

//===----------------------------------------------------------------------===//
// What the host sees of the data
//===----------------------------------------------------------------------===//

def Host_BindOp : Host_Op<"bind"> {
  let summary = "Symbols whose values are elements of a place";
  let description = [{
    Waits for what writes `source`. Element i (an i64) becomes the value of
    symbol `symbols[i]` (-1: of none). A value outside of the symbol's range ends
    the run with an error.

    ```mlir
    host.bind %count {symbols = array<i64: 3>} : memref<1xi64>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source,
      DenseI64ArrayAttr:$symbols);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

def Host_AssignOp : Host_Op<"assign", [MemoryEffects<[MemWrite]>]> {
  let summary = "Symbols whose values are expressions of others";
  let description = [{
    Result i of the map becomes the value of `symbols[i]`; all are computed
    before the first changes.

    ```mlir
    host.assign {symbols = array<i64: 3>, values = affine_map<()[s0] -> (s0 * 2)>}
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$symbols, AffineMapAttr:$values);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Host_ReadOp : Host_Op<"read"> {
  let summary = "The first element of a place, an integer";
  let description = [{
    Waits for what writes it.

    ```mlir
    %0 = host.read %c : memref<i1> -> i1
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source);
  let results = (outs AnyTypeOf<[I1, I64]>:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
}

def Host_WriteOp : Host_Op<"write"> {
  let summary = "Make an integer the first element of a place";
  let description = [{
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
    of `range`, or that of `greatest` is not less than the second one. The
    module's table of faults has a row for each of these ops, in their order. On
    a device the run goes on, and its end reports the fault.

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
  let summary = "Whether sizes fit each other";
  let description = [{
    Whether those of each map in `broadcasts` are equal or 1, those of each in
    `equalities` are equal and those in `bounds` are not negative.

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

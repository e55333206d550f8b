// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Attributes of the graph dialect: constants that stay in mapped files.

#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHATTRS
#define ADZE_DIALECT_GRAPH_IR_GRAPHATTRS

include "Dialect/Graph/IR/GraphBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

def Graph_BlobElementsAttr
    : AttrDef<Graph_Dialect, "BlobElements", [ElementsAttrInterface]> {
  let mnemonic = "blob";
  let summary = "Constant elements that stay in a mapped file";
  let description = [{
    Elements that are read from `bytes` bytes at `offset` of a file, row-major,
    little-endian; a bool is a byte, types below 8 bits are packed low bits
    first. The identity is the content (xxh3-128 and size) and the type, never
    the place: equal content in any file is one attribute.

    The path is relative to the directory of the text, to a `--blob-dir`, or to
    the current directory. Parsing checks that the file is there and long
    enough; the verifier of `graph.constant` checks the hash, once a content.

    The attribute offers no APInt or APFloat through ElementsAttr, so no
    upstream folder can copy it into the IR. Use `getBytes`.

    Example:
    ```mlir
    %w = graph.constant #graph.blob<"w.bin", 64, 4096, "be45ba46c76a6b6b27031f542c2096b0"> : tensor<32x32xf32>
    ```
  }];
  let parameters = (ins "::adze::graph::Blob *":$blob,
                        AttributeSelfTypeParameter<"", "::mlir::ShapedType">:$type);
  let builders = [AttrBuilderWithInferredContext<
      (ins "::adze::graph::Blob *":$blob, "::mlir::ShapedType":$type), [{
    return $_get(type.getContext(), blob, type);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    // No APInt or APFloat: upstream's folders (constFoldBinaryOp) ask for these
    // and would build the whole result as dense<>; without them they leave the
    // op. getValues<APFloat>() on this class still works.
    using NonContiguousIterableTypesT =
        std::tuple<::mlir::Attribute, bool, uint8_t, uint16_t, uint32_t,
                   uint64_t, int8_t, int16_t, int32_t, int64_t, float, double>;
    /// Reads element i of the mapped bytes.
    template <typename T> struct Reader {
      const char *data;
      ::mlir::Type elementType;
      unsigned bits;
      T operator()(ptrdiff_t i) const;
    };
    template <typename T>
    using Iterator = ::llvm::mapped_iterator<
        decltype(::llvm::seq<ptrdiff_t>(0, 0).begin()), Reader<T>, T>;
    template <typename T>
    ::mlir::FailureOr<Iterator<T>> try_value_begin_impl(OverloadToken<T>) const {
      auto data = getDataFor(::mlir::TypeID::get<T>());
      if (::mlir::failed(data))
        return ::mlir::failure();
      return Iterator<T>(
          ::llvm::seq<ptrdiff_t>(0, 0).begin(),
          Reader<T>{*data, getElementType(),
                    getElementType().getIntOrFloatBitWidth()});
    }
    /// The mapped bytes if elements can be read as the type, else failure. Ends
    /// the process with a message where the bytes cannot be had: callers of
    /// ElementsAttr::getValues do not look.
    ::mlir::FailureOr<const char *> getDataFor(::mlir::TypeID) const;
    bool isSplat() const;
    /// The bytes, checked against the hash; no alignment is promised.
    /// `emitError` may be null.
    ::mlir::FailureOr<::llvm::ArrayRef<char>> getBytes(
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError) const;
  }];
}

def Graph_StateAttr : AttrDef<Graph_Dialect, "State"> {
  let mnemonic = "state";
  let summary = "A result of a function that continues one of its arguments";
  let description = [{
    The caller may pass one buffer for the argument `input` and the result
    `output`, and keep it from call to call. The attribute is an element of the
    list `graph.states` of the function. A wrong one changes no result.

    `rows`: the result is the argument with rows along dim `axis` added or
    replaced, without its first `drop` rows. The function stores the new rows
    only, into a buffer of `rows` rows that begins with those of the argument
    (`graph.open_state`). Symbol `pitch` is the number of rows from one index of
    the dims before `axis` to the next one in this buffer. With `zeroed`, rows
    behind those of the argument are 0 when the function begins.

    `whole`: all elements are replaced. `keep`: the result is the argument.

    Example:
    ```mlir
    func.func @main(%past: tensor<?x4xf32, affine_map<()[s0, s1] -> (s0, 4)>>, %new: tensor<1x4xf32>) attributes {graph.states = [#graph.state<input = 0, output = 0, kind = rows, axis = 0, pitch = 1, rows = affine_map<()[s0, s1] -> (s0 + 1)>, drop = affine_map<()[s0, s1] -> (0)>>]} {
      return
    }
    ```
  }];
  let parameters = (ins "unsigned":$input, "unsigned":$output,
      EnumParameter<Graph_StateKind>:$kind,
      DefaultValuedParameter<"unsigned", "0">:$axis,
      DefaultValuedParameter<"int64_t", "-1">:$pitch,
      OptionalParameter<"::mlir::AffineMapAttr">:$rows,
      OptionalParameter<"::mlir::AffineMapAttr">:$drop,
      DefaultValuedParameter<"bool", "false">:$zeroed);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHATTRS

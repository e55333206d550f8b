// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Attributes of the graph dialect: constants in mapped files, and states.

#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHATTRS
#define ADZE_DIALECT_GRAPH_IR_GRAPHATTRS

include "Dialect/Graph/IR/GraphBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

def Graph_BlobElementsAttr
    : AttrDef<Graph_Dialect, "BlobElements", [ElementsAttrInterface]> {
  let mnemonic = "blob";
  let summary = "Constant elements that are stored in a mapped file";
  let description = [{
    The parameters in the text are a path, an offset and a size in bytes, and the
    xxh3-128 hash of these bytes. The elements are stored in row-major order and
    little-endian; a bool takes a byte, and elements of less than 8 bits are
    packed, the first one in the lowest bits. Two attributes are equal if content
    (hash and size) and type are equal, wherever the content is stored.

    The path is relative to the directory of the text, to a `--blob-dir`, or to
    the current directory. The parser fails if the file does not exist or is too
    short. The verifier of `graph.constant` compares the hash, once for each
    content.

    The attribute does not implement ElementsAttr's access to APInt and APFloat,
    so that no upstream folder copies the elements into the IR. Use `getBytes`.

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
    // APInt and APFloat are left out: upstream folders (constFoldBinaryOp)
    // request these types, and would build the whole result as dense<>. Without
    // them, they do not fold. getValues<APFloat>() on this class still works.
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
    /// Returns the mapped bytes if elements can be read as the type, else
    /// failure. Ends the process with a message if the bytes cannot be mapped,
    /// as callers of ElementsAttr::getValues do not handle that.
    ::mlir::FailureOr<const char *> getDataFor(::mlir::TypeID) const;
    bool isSplat() const;
    /// Returns the bytes after a check against the hash. Their address has no
    /// particular alignment. `emitError` may be null.
    ::mlir::FailureOr<::llvm::ArrayRef<char>> getBytes(
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError) const;
  }];
}

def Graph_StateAttr : AttrDef<Graph_Dialect, "State"> {
  let mnemonic = "state";
  let summary = "A function result that updates the state held by an argument";
  let description = [{
    The function attribute `graph.states` is a list of these attributes. The
    caller may pass one buffer for the argument `input` and the result `output`,
    and reuse it in the next call. The attribute is a permission, not a change of
    semantics: results are the same without it.

    The kind is one of:

    - `rows`: the result is the argument with rows along dim `axis` added or
      replaced, without its first `drop` rows. The function stores only the new
      rows, into a buffer of `rows` rows whose first ones are those of the
      argument (`graph.open_state`). Symbol `pitch` is the distance, in rows, of
      consecutive indices of the dims before `axis` in this buffer. With
      `zeroed`, rows after those of the argument are 0 when the function begins.
    - `whole`: all elements are replaced.
    - `keep`: the result is the argument.

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

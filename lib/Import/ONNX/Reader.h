// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The only interface to the ONNX library and to protobuf. It does not throw.
#ifndef ADZE_LIB_IMPORT_ONNX_READER_H
#define ADZE_LIB_IMPORT_ONNX_READER_H

#include "Model.h"

namespace adze::importer {

/// The input types that a function body may depend on.
struct InputType {
  int elementType = 0; // 0: absent or of unknown type
  std::vector<std::optional<int64_t>> dims;
};

/// A formal parameter of the definition of an operator.
struct Parameter {
  std::string name;
  std::string variable; // "T", or the type itself if it is fixed
  /// The allowed element types, one bit for each TensorProto.DataType: those of
  /// tensors, and those in sequences and optionals.
  uint32_t types = 0;
  std::vector<std::string> maps; // allowed maps, in ONNX syntax
  bool isHomogeneous = true;     // variadic: all have one type
};

/// The types in the definition of an operator. The last parameters may be
/// variadic.
struct Definition {
  std::vector<Parameter> inputs, outputs;
};

/// Returns "bfloat16".
std::string getTypeName(unsigned dataType);

class Reader {
public:
  Reader();
  ~Reader();

  /// Reads the model of a skeleton (Wire.h), after the ONNX checker: its
  /// findings are the `problem`s of the model and of its nodes. Returns null,
  /// with the reason in `error`, if there is no model.
  std::unique_ptr<Model> read(std::string skeleton, std::string &error);

  /// Returns the definition of the operator of the node, or null.
  const Definition *getDefinition(const Node &node);

  /// Returns true if ONNX defines the operator by a function.
  bool hasFunctionBody(const Node &node);

  /// Returns the function that defines the operator, or null if there is none,
  /// or if it cannot be built for these input types.
  std::unique_ptr<Function> getFunctionBody(const Node &node,
                                            llvm::ArrayRef<InputType> types);

  /// Returns the outputs of the node as inferred by ONNX: for known ones, an
  /// element type and possibly dims, whose names are those of the input dims.
  /// `contents` are the elements of known inputs. Returns nothing if ONNX
  /// rejects the node.
  std::vector<ValueInfo>
  inferOutputs(const Node &node, llvm::ArrayRef<ValueInfo> inputs,
               llvm::ArrayRef<std::optional<std::vector<int64_t>>> contents);

private:
  struct Protos;
  std::unique_ptr<Protos> protos;
};

/// A version of an operator of ONNX.
struct OperatorVersion {
  std::string domain, name;
  int sinceVersion;
  bool deprecated, hasFunction;
  Definition definition;
};

/// Returns all versions of all operators that ONNX defines, sorted.
std::vector<OperatorVersion> getAllOperators();

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_READER_H

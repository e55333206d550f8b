// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The only door to the ONNX library and to protobuf. Nothing throws out of it.
#ifndef ADZE_LIB_IMPORT_ONNX_READER_H
#define ADZE_LIB_IMPORT_ONNX_READER_H

#include "Model.h"

namespace adze::importer {

/// What an operator's function body may depend on.
struct InputType {
  int elementType = 0; // 0: the input is not there or its type is not known
  std::vector<std::optional<int64_t>> dims;
};

/// A formal parameter of an operator's definition.
struct Parameter {
  std::string name;
  std::string variable; // "T", or the type itself where there is no choice
  /// The element types that it may have, a bit for each TensorProto.DataType:
  /// of tensors, and of those in sequences and optionals.
  uint32_t types = 0;
  std::vector<std::string> maps; // that it may be, as ONNX writes them
  bool isHomogeneous = true;     // of several values: all are of one type
};

/// What an operator's definition says of types. The last parameters may stand
/// for several values.
struct Definition {
  std::vector<Parameter> inputs, outputs;
};

/// "bfloat16".
std::string getTypeName(unsigned dataType);

class Reader {
public:
  Reader();
  ~Reader();

  /// The model of a skeleton (Wire.h), checked by ONNX's checker: what that
  /// finds stands in the `problem`s of the model and of its nodes. None, with
  /// the reason in `error`, if there is no model.
  std::unique_ptr<Model> read(std::string skeleton, std::string &error);

  /// The definition of the node's operator; null if there is none.
  const Definition *getDefinition(const Node &node);

  /// Whether ONNX defines the node's operator by a function.
  bool hasFunctionBody(const Node &node);

  /// The function that ONNX defines the node's operator by. None if there is
  /// none, or it cannot be made for these input types.
  std::unique_ptr<Function> getFunctionBody(const Node &node,
                                            llvm::ArrayRef<InputType> types);

  /// What ONNX infers of the node's outputs: of those that it can tell, an
  /// element type and perhaps dims, whose names are those of the inputs' dims.
  /// `contents`: the elements of inputs that are known. Empty if ONNX takes the
  /// node for wrong.
  std::vector<ValueInfo>
  inferOutputs(const Node &node, llvm::ArrayRef<ValueInfo> inputs,
               llvm::ArrayRef<std::optional<std::vector<int64_t>>> contents);

private:
  struct Protos;
  std::unique_ptr<Protos> protos;
};

/// An operator as ONNX defines it.
struct OperatorVersion {
  std::string domain, name;
  int sinceVersion;
  bool deprecated, hasFunction;
  Definition definition;
};

/// All versions of all operators that ONNX defines, sorted.
std::vector<OperatorVersion> getAllOperators();

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_READER_H

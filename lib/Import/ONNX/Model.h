// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// A model as plain data, the input of the importer, without protobuf and
// exceptions.
#ifndef ADZE_LIB_IMPORT_ONNX_MODEL_H
#define ADZE_LIB_IMPORT_ONNX_MODEL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace adze::importer {

struct Graph;

/// A TensorProto. Its elements are `bytes` (little-endian, packed as ONNX packs
/// raw_data), or are in the file of the model or in another one.
struct TensorData {
  enum class Storage { Inline, InModel, External };

  std::string name;
  int dataType = 0; // TensorProto.DataType
  std::vector<int64_t> dims;
  Storage storage = Storage::Inline;
  std::string bytes;
  uint64_t offset = 0;
  std::optional<uint64_t> size;     // External: optional
  std::string location;             // External
  std::vector<std::string> strings; // of a string tensor
  /// The number of elements that the model stores, if the tensor is sparse.
  std::optional<uint64_t> stored;
  std::string problem; // why it is unusable, or empty
};

/// A sequence, optional or map, or its contents.
struct TypeInfo {
  enum class Kind { Tensor, Sequence, Optional, Map, Other };

  Kind kind = Kind::Other;
  int elementType = 0;        // of a tensor; of the keys of a map
  std::optional<size_t> rank; // of a tensor, if it is known
  std::shared_ptr<TypeInfo> element;
};

struct Attribute {
  enum class Kind {
    Float,
    Int,
    String,
    Tensor,
    Graph,
    Floats,
    Ints,
    Strings,
    Tensors,
    Graphs,
    Type,
    Other
  };

  std::string name;
  std::string reference; // an attribute of the function, in function bodies
  Kind kind = Kind::Other;
  double f = 0;
  int64_t i = 0;
  std::string s;
  std::vector<double> floats;
  std::vector<int64_t> ints;
  std::vector<std::string> strings;
  std::vector<TensorData> tensors;
  std::vector<std::shared_ptr<Graph>> graphs;
  std::shared_ptr<TypeInfo> type;
};

struct Node {
  std::string name, opType, domain, overload;
  std::vector<std::string> inputs, outputs;
  std::vector<Attribute> attributes;
  /// The version of the definition of the operator, or 0 if ONNX does not
  /// define it.
  int sinceVersion = 0;
  /// The version of the operator set that the model imports, or 0.
  int opsetVersion = 0;
  /// The finding of the ONNX checker, or empty.
  std::string problem;
  const void *proto = nullptr; // owned by the Reader

  const Attribute *find(llvm::StringRef attribute) const {
    auto found = llvm::find_if(
        attributes, [&](const Attribute &a) { return a.name == attribute; });
    return found == attributes.end() ? nullptr : &*found;
  }
};

/// A dim: a size, or the name (possibly empty) of an unknown size.
struct Dim {
  std::optional<int64_t> size;
  std::string name;
};

struct ValueInfo {
  std::string name;
  bool isTensor = true;
  int elementType = 0;
  std::optional<std::vector<Dim>> dims;
  std::shared_ptr<TypeInfo> type; // of values that are not tensors
};

struct Graph {
  std::string name;
  std::vector<ValueInfo> inputs, outputs;
  std::vector<TensorData> initializers;
  std::vector<Node> nodes;
  std::vector<ValueInfo> values;  // declarations of intermediate values
  llvm::StringMap<int64_t> ranks; // of these
};

/// A model-local function, or the function body of an operator.
struct Function {
  std::string name;
  std::vector<std::string> inputs, outputs;
  std::vector<Attribute> defaults;
  std::vector<Node> nodes;
  std::vector<ValueInfo> values; // declarations
};

/// Input that is accepted though ONNX does not allow it.
struct ModelWarning {
  std::string node, op; // "conv1" and "ai.onnx.Conv-22", or empty
  std::string text;
};

struct Model {
  int latestOpset = 0; // of ai.onnx in the ONNX library
  llvm::StringMap<int> opsets;
  Graph graph;
  llvm::StringMap<Function> functions; // by getFunctionKey
  /// Errors outside of nodes.
  std::vector<std::string> problems;
  std::vector<ModelWarning> warnings;
};

/// Returns "ai.onnx.Conv-22".
inline std::string describeOperator(llvm::StringRef domain,
                                    llvm::StringRef opType, int version) {
  std::string text =
      (domain.empty() ? "ai.onnx" : domain).str() + "." + opType.str();
  return version ? text + "-" + std::to_string(version) : text;
}

/// Returns the name of a node, or a name made from its index.
inline std::string getNodeName(llvm::StringRef name, llvm::StringRef opType,
                               unsigned index) {
  return name.empty() ? (opType + "_" + llvm::Twine(index)).str() : name.str();
}

/// Returns "node 'conv1' (ai.onnx.Conv-22)".
inline std::string describeNode(llvm::StringRef name, unsigned index,
                                llvm::StringRef domain, llvm::StringRef opType,
                                int version) {
  return "node '" + getNodeName(name, opType, index) + "' (" +
         describeOperator(domain, opType, version) + ")";
}

inline std::string getFunctionKey(llvm::StringRef domain, llvm::StringRef name,
                                  llvm::StringRef overload) {
  return (domain + "\n" + name + "\n" + overload).str();
}

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_MODEL_H

// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Reads graphs of ONNX Runtime, and writes parts of them as ONNX models.
#ifndef ADZE_EP_GRAPH_H
#define ADZE_EP_GRAPH_H

#include "Api.h"
#include "Model.h"

namespace adze::ep {

using Nodes = std::vector<const OrtNode *>;
using Values = std::vector<const OrtValueInfo *>;

/// Accessors of graphs, nodes and values, over the members of OrtApi.
class GraphReader {
public:
  explicit GraphReader(const Api &api) : api(api) {}

  Nodes getNodes(const OrtGraph *graph) const;
  /// A node's inputs and outputs; an absent optional one is null.
  Values getInputs(const OrtNode *node) const;
  Values getOutputs(const OrtNode *node) const;
  /// Returns the values that a node reads: its inputs, and outer values that
  /// its bodies read. None is null.
  Values getReads(const OrtNode *node) const;
  /// Returns the values that a node writes; none is null.
  Values getWrites(const OrtNode *node) const;

  /// Returns the bodies of control flow, with the names of their attributes.
  std::vector<std::pair<const OrtGraph *, const char *>>
  getBodies(const OrtNode *node) const;

  std::string getName(const OrtGraph *graph) const;
  std::string getName(const OrtNode *node) const;
  std::string getOperator(const OrtNode *node) const;
  std::string getDomain(const OrtNode *node) const;
  /// Returns the execution provider that has claimed the node already, or "".
  std::string getProvider(const OrtNode *node) const;
  std::string getName(const OrtValueInfo *value) const;
  std::vector<std::string> getNames(const Values &values) const;

  bool isGraphOutput(const OrtValueInfo *value) const;
  /// Returns true if the value is an initializer that callers cannot override.
  bool isConstant(const OrtValueInfo *value) const;
  /// Returns the type of a tensor; null for other values.
  const OrtTensorTypeAndShapeInfo *
  getTensorType(const OrtValueInfo *value) const;
  ONNXTensorElementDataType getElementType(const OrtValueInfo *value) const;
  /// Returns the names of a tensor's symbolic dims.
  std::vector<std::string> getSymbols(const OrtValueInfo *value) const;
  /// Returns true if the rank is known. Before API version 24 an unknown rank
  /// appears as that of a scalar, and the result is always true.
  bool hasRank(const OrtValueInfo *value) const;

  /// Returns a text or integer attribute, or the default if the node has none.
  std::string getText(const OrtNode *node, const char *attribute) const;
  int64_t getInteger(const OrtNode *node, const char *attribute,
                     int64_t otherwise) const;
  /// Returns false if ONNX Runtime does not give the type of an attribute, as
  /// of the types that Optional has.
  bool canReadAttributes(const OrtNode *node) const;

  const Api &api;
};

/// How a model represents its initializers.
enum class Weights {
  Whole,
  /// Large tensors of floats and bytes are zeros without memory, which suffices
  /// to check whether nodes are supported.
  Shapes
};

/// A part of a graph: some of its nodes in order, the values that they read
/// from outside (except for constants), and their values that others read.
struct Subgraph {
  Nodes nodes;
  Values inputs, outputs;
};

/// Returns the part of `graph` with these nodes.
Subgraph getSubgraph(const GraphReader &reader, const Nodes &all,
                     const std::vector<size_t> &members);

/// Writes an onnx.ModelProto. Initializers remain in ONNX Runtime's memory,
/// which must outlive the message.
Message writeModel(const GraphReader &reader, const OrtGraph *graph,
                   const Subgraph &part, Weights weights);

} // namespace adze::ep

#endif // ADZE_EP_GRAPH_H

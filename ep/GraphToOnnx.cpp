// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes a part of ONNX Runtime's graph as onnx.ModelProto. Field numbers are
// those of onnx.proto.
#include "Graph.h"
#include <cstring>
#include <set>

namespace adze::ep {

namespace {
/// AttributeProto.AttributeType.
enum AttributeKind {
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8
};

/// Tensors below this size are copied, and never omitted.
constexpr size_t kLargeBytes = 4096;

class ModelWriter {
public:
  ModelWriter(const GraphReader &reader, Weights weights)
      : reader(reader), api(reader.api), ort(reader.api.ort), weights(weights) {
  }

  Message writeModel(const OrtGraph *graph, const Subgraph &part);

private:
  using Known = std::set<std::string>;

  Message writeGraph(const OrtGraph *graph, const Subgraph &part, Known known);
  Message writeNode(const OrtNode *node, const Known &known);
  void writeBodies(const OrtNode *node, const Known &known, Message &result);
  void writeAttribute(const OrtOpAttr *attribute, Message &node);
  int writeAttributeValue(const OrtOpAttr *attribute, OrtOpAttrType type,
                          Message &result);
  Message writeTensor(const OrtValue *value, const std::string &name,
                      bool isBorrowed);
  void writeStrings(const OrtValue *value, size_t count, Message &result);
  Message writeValueInfo(const OrtValueInfo *value);
  Message writeShape(const OrtTensorTypeAndShapeInfo *info);
  template <typename T>
  std::vector<T> readAttribute(const OrtOpAttr *attribute, OrtOpAttrType type);

  const GraphReader &reader;
  const Api &api;
  const OrtFunctions &ort;
  Weights weights;
};
} // namespace

/// TensorProto.DataType of an element type.
static uint64_t getDataType(ONNXTensorElementDataType type) {
  switch (type) {
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0:
    return 24;
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2:
    return 25;
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2:
    return 26;
  default:
    return static_cast<uint64_t>(type);
  }
}

/// Returns true for element types whose values the importer does not read in
/// large tensors.
static bool isWeight(ONNXTensorElementDataType type) {
  switch (type) {
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16:
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
    return true;
  default:
    return false;
  }
}

Message ModelWriter::writeModel(const OrtGraph *graph, const Subgraph &part) {
  int64_t irVersion = 0;
  size_t count = 0;
  check(api, ort.Graph_GetOnnxIRVersion(graph, &irVersion));
  check(api, ort.Graph_GetNumOperatorSets(graph, &count));
  std::vector<const char *> domains(count);
  std::vector<int64_t> versions(count);
  check(api, ort.Graph_GetOperatorSets(graph, domains.data(), versions.data(),
                                       count));
  Message model;
  model.addInteger(1, static_cast<uint64_t>(irVersion));
  model.addText(2, kName); // producer_name
  for (size_t i = 0; i < count; ++i) {
    Message opset;
    opset.addText(1, domains[i]);
    opset.addInteger(2, static_cast<uint64_t>(versions[i]));
    model.addMessage(8, std::move(opset));
  }
  model.addMessage(7, writeGraph(graph, part, {}));
  return model;
}

/// `known` are the values of enclosing graphs.
Message ModelWriter::writeGraph(const OrtGraph *graph, const Subgraph &part,
                                Known known) {
  Message result;
  std::string name = reader.getName(graph);
  result.addText(2, name.empty() ? "graph" : name);
  for (const OrtValueInfo *input : part.inputs) {
    known.insert(reader.getName(input)); // so an overridable initializer
    result.addMessage(11, writeValueInfo(input));
  }
  for (const OrtValueInfo *output : part.outputs)
    result.addMessage(12, writeValueInfo(output));
  Values reads = part.outputs;
  for (const OrtNode *node : part.nodes) {
    for (const OrtValueInfo *value : reader.getWrites(node))
      known.insert(reader.getName(value));
    Values more = reader.getReads(node);
    reads.insert(reads.end(), more.begin(), more.end());
  }
  // All other operands are initializers of this graph or of an enclosing one:
  // Graph_GetInitializers does not list the latter.
  for (const OrtValueInfo *value : reads) {
    std::string valueName = reader.getName(value);
    const OrtValue *tensor = nullptr;
    if (!known.insert(valueName).second)
      continue;
    check(api, ort.ValueInfo_GetInitializerValue(value, &tensor));
    if (tensor)
      result.addMessage(5, writeTensor(tensor, valueName, /*isBorrowed=*/true));
  }
  for (const OrtNode *node : part.nodes)
    result.addMessage(1, writeNode(node, known));
  return result;
}

Message ModelWriter::writeNode(const OrtNode *node, const Known &known) {
  Message result;
  for (const OrtValueInfo *input : reader.getInputs(node))
    result.addText(1, input ? reader.getName(input) : "");
  for (const OrtValueInfo *output : reader.getOutputs(node))
    result.addText(2, output ? reader.getName(output) : "");
  result.addText(3, reader.getName(node));
  result.addText(4, reader.getOperator(node));
  result.addText(7, reader.getDomain(node));
  for (const OrtOpAttr *attribute :
       list(api, node, ort.Node_GetNumAttributes, ort.Node_GetAttributes))
    writeAttribute(attribute, result);
  writeBodies(node, known, result);
  return result;
}

/// Bodies of control flow: attributes that ReadOpAttr does not read.
void ModelWriter::writeBodies(const OrtNode *node, const Known &known,
                              Message &result) {
  for (const auto &[body, name] : reader.getBodies(node)) {
    Subgraph whole = {
        reader.getNodes(body),
        list(api, body, ort.Graph_GetNumInputs, ort.Graph_GetInputs),
        list(api, body, ort.Graph_GetNumOutputs, ort.Graph_GetOutputs)};
    Message attribute;
    attribute.addText(1, name);
    attribute.addMessage(6, writeGraph(body, whole, known));
    attribute.addInteger(20, kGraph);
    result.addMessage(5, std::move(attribute));
  }
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

template <typename T>
std::vector<T> ModelWriter::readAttribute(const OrtOpAttr *attribute,
                                          OrtOpAttrType type) {
  size_t bytes = 0; // also set by a call whose buffer is too small
  if (OrtStatus *status = ort.ReadOpAttr(attribute, type, nullptr, 0, &bytes))
    ort.ReleaseStatus(status);
  std::vector<T> data((bytes + sizeof(T) - 1) / sizeof(T));
  if (bytes)
    check(api, ort.ReadOpAttr(attribute, type, data.data(), bytes, &bytes));
  return data;
}

void ModelWriter::writeAttribute(const OrtOpAttr *attribute, Message &node) {
  OrtOpAttrType type = ORT_OP_ATTR_UNDEFINED;
  const char *name = nullptr;
  check(api, ort.OpAttr_GetType(attribute, &type));
  check(api, ort.OpAttr_GetName(attribute, &name));
  if (type == ORT_OP_ATTR_GRAPH)
    return;
  Message result;
  result.addText(1, name);
  int kind = writeAttributeValue(attribute, type, result);
  if (!kind)
    throw Error(ORT_NOT_IMPLEMENTED,
                std::string("attribute '") + name +
                    "': expected a type that ONNX Runtime's C API can read");
  result.addInteger(20, static_cast<uint64_t>(kind));
  node.addMessage(5, std::move(result));
}

/// Returns AttributeProto.type, or 0.
int ModelWriter::writeAttributeValue(const OrtOpAttr *attribute,
                                     OrtOpAttrType type, Message &result) {
  switch (type) {
  case ORT_OP_ATTR_FLOAT:
    result.addFloat(2, readAttribute<float>(attribute, type).at(0));
    return kFloat;
  case ORT_OP_ATTR_INT:
    result.addInteger(3, static_cast<uint64_t>(
                             readAttribute<int64_t>(attribute, type).at(0)));
    return kInt;
  case ORT_OP_ATTR_STRING: {
    std::vector<char> text = readAttribute<char>(attribute, type);
    result.addText(4, {text.data(), text.size()});
    return kString;
  }
  case ORT_OP_ATTR_FLOATS:
    for (float value : readAttribute<float>(attribute, type))
      result.addFloat(7, value);
    return kFloats;
  case ORT_OP_ATTR_INTS:
    for (int64_t value : readAttribute<int64_t>(attribute, type))
      result.addInteger(8, static_cast<uint64_t>(value));
    return kInts;
  case ORT_OP_ATTR_STRINGS: {
    // Each is null-terminated.
    std::vector<char> texts = readAttribute<char>(attribute, type);
    for (size_t at = 0; at < texts.size(); at += strlen(&texts[at]) + 1)
      result.addText(9, &texts[at]);
    return kStrings;
  }
  case ORT_OP_ATTR_TENSOR: {
    OrtValue *value = nullptr;
    check(api, ort.OpAttr_GetTensorAttributeAsOrtValue(attribute, &value));
    result.addMessage(5, writeTensor(value, "", /*isBorrowed=*/false));
    ort.ReleaseValue(value);
    return kTensor;
  }
  default:
    return 0;
  }
}

//===----------------------------------------------------------------------===//
// Tensors and types
//===----------------------------------------------------------------------===//

void ModelWriter::writeStrings(const OrtValue *value, size_t count,
                               Message &result) {
  for (size_t i = 0; i < count; ++i) {
    size_t length = 0;
    check(api, ort.GetStringTensorElementLength(value, i, &length));
    std::string text(length, '\0');
    check(api, ort.GetStringTensorElement(value, length, i, text.data()));
    result.addText(6, text);
  }
}

/// Borrowed: the message may refer to the tensor's memory.
Message ModelWriter::writeTensor(const OrtValue *value, const std::string &name,
                                 bool isBorrowed) {
  OrtTensorTypeAndShapeInfo *info = nullptr;
  check(api, ort.GetTensorTypeAndShape(value, &info));
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  size_t rank = 0, count = 0;
  check(api, ort.GetTensorElementType(info, &type));
  check(api, ort.GetDimensionsCount(info, &rank));
  check(api, ort.GetTensorShapeElementCount(info, &count));
  std::vector<int64_t> dims(rank);
  check(api, ort.GetDimensions(info, dims.data(), rank));
  ort.ReleaseTensorTypeAndShapeInfo(info);
  Message result;
  for (int64_t dim : dims)
    result.addInteger(1, static_cast<uint64_t>(dim));
  result.addInteger(2, getDataType(type));
  result.addText(8, name);
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
    writeStrings(value, count, result);
    return result;
  }
  const void *data = nullptr;
  size_t bytes = 0;
  check(api, ort.GetTensorData(value, &data));
  check(api, ort.GetTensorSizeInBytes(value, &bytes));
  if (!isBorrowed || bytes < kLargeBytes)
    result.addText(9, {static_cast<const char *>(data), bytes});
  else
    result.addMemory(
        9, weights == Weights::Shapes && isWeight(type) ? nullptr : data,
        bytes);
  return result;
}

Message ModelWriter::writeValueInfo(const OrtValueInfo *value) {
  const OrtTensorTypeAndShapeInfo *info = reader.getTensorType(value);
  Message result;
  result.addText(1, reader.getName(value));
  if (!info) // a sequence, map or optional inside of a body
    return result;
  Message tensor, type;
  tensor.addInteger(1, getDataType(reader.getElementType(value)));
  if (reader.hasRank(value))
    tensor.addMessage(2, writeShape(info));
  type.addMessage(1, std::move(tensor));
  result.addMessage(2, std::move(type));
  return result;
}

Message ModelWriter::writeShape(const OrtTensorTypeAndShapeInfo *info) {
  size_t rank = 0;
  check(api, ort.GetDimensionsCount(info, &rank));
  std::vector<int64_t> dims(rank);
  std::vector<const char *> symbols(rank);
  check(api, ort.GetDimensions(info, dims.data(), rank));
  check(api, ort.GetSymbolicDimensions(info, symbols.data(), rank));
  Message result;
  for (size_t i = 0; i < rank; ++i) {
    Message dim;
    if (dims[i] >= 0)
      dim.addInteger(1, static_cast<uint64_t>(dims[i]));
    else if (symbols[i] && *symbols[i])
      dim.addText(2, symbols[i]);
    result.addMessage(1, std::move(dim));
  }
  return result;
}

Message writeModel(const GraphReader &reader, const OrtGraph *graph,
                   const Subgraph &part, Weights weights) {
  return ModelWriter(reader, weights).writeModel(graph, part);
}

} // namespace adze::ep

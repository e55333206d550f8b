// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Reads nodes, values and attributes of ONNX Runtime's graphs.
#include "Graph.h"
#include <set>

namespace adze::ep {

Nodes GraphReader::getNodes(const OrtGraph *graph) const {
  return list(api, graph, api.ort.Graph_GetNumNodes, api.ort.Graph_GetNodes);
}

Values GraphReader::getInputs(const OrtNode *node) const {
  Values values =
      list(api, node, api.ort.Node_GetNumInputs, api.ort.Node_GetInputs);
  for (const OrtValueInfo *&value : values)
    if (value && getName(value).empty())
      value = nullptr;
  return values;
}

Values GraphReader::getOutputs(const OrtNode *node) const {
  Values values =
      list(api, node, api.ort.Node_GetNumOutputs, api.ort.Node_GetOutputs);
  for (const OrtValueInfo *&value : values)
    if (value && getName(value).empty())
      value = nullptr;
  return values;
}

static Values removeAbsent(const Values &values) {
  Values present;
  for (const OrtValueInfo *value : values)
    if (value)
      present.push_back(value);
  return present;
}

Values GraphReader::getReads(const OrtNode *node) const {
  Values values = getInputs(node);
  Values implicit = list(api, node, api.ort.Node_GetNumImplicitInputs,
                         api.ort.Node_GetImplicitInputs);
  values.insert(values.end(), implicit.begin(), implicit.end());
  return removeAbsent(values);
}

Values GraphReader::getWrites(const OrtNode *node) const {
  return removeAbsent(getOutputs(node));
}

std::vector<std::pair<const OrtGraph *, const char *>>
GraphReader::getBodies(const OrtNode *node) const {
  size_t count = 0;
  check(api, api.ort.Node_GetNumSubgraphs(node, &count));
  std::vector<const OrtGraph *> graphs(count);
  std::vector<const char *> names(count);
  if (count)
    check(api,
          api.ort.Node_GetSubgraphs(node, graphs.data(), count, names.data()));
  std::vector<std::pair<const OrtGraph *, const char *>> bodies;
  for (size_t i = 0; i < count; ++i)
    bodies.emplace_back(graphs[i], names[i]);
  return bodies;
}

/// Returns the text of a getter; "" for NULL.
template <typename Owner>
static std::string getString(const Api &api, const Owner *owner,
                             OrtStatus *(*get)(const Owner *, const char **)) {
  const char *text = nullptr;
  check(api, get(owner, &text));
  return text ? text : "";
}

std::string GraphReader::getName(const OrtGraph *graph) const {
  return getString(api, graph, api.ort.Graph_GetName);
}
std::string GraphReader::getName(const OrtNode *node) const {
  return getString(api, node, api.ort.Node_GetName);
}
std::string GraphReader::getOperator(const OrtNode *node) const {
  return getString(api, node, api.ort.Node_GetOperatorType);
}
std::string GraphReader::getDomain(const OrtNode *node) const {
  return getString(api, node, api.ort.Node_GetDomain);
}
std::string GraphReader::getProvider(const OrtNode *node) const {
  return getString(api, node, api.ort.Node_GetEpName);
}
std::string GraphReader::getName(const OrtValueInfo *value) const {
  return getString(api, value, api.ort.GetValueInfoName);
}

std::vector<std::string> GraphReader::getNames(const Values &values) const {
  std::vector<std::string> names;
  for (const OrtValueInfo *value : values)
    names.push_back(value ? getName(value) : "");
  return names;
}

bool GraphReader::isGraphOutput(const OrtValueInfo *value) const {
  bool result = false;
  check(api, api.ort.ValueInfo_IsGraphOutput(value, &result));
  return result;
}

bool GraphReader::isConstant(const OrtValueInfo *value) const {
  bool result = false;
  check(api, api.ort.ValueInfo_IsConstantInitializer(value, &result));
  return result;
}

const OrtTensorTypeAndShapeInfo *
GraphReader::getTensorType(const OrtValueInfo *value) const {
  const OrtTypeInfo *type = nullptr;
  const OrtTensorTypeAndShapeInfo *info = nullptr;
  check(api, api.ort.GetValueInfoTypeInfo(value, &type));
  if (type)
    check(api, api.ort.CastTypeInfoToTensorInfo(type, &info));
  return info;
}

ONNXTensorElementDataType
GraphReader::getElementType(const OrtValueInfo *value) const {
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  if (const OrtTensorTypeAndShapeInfo *info = getTensorType(value))
    check(api, api.ort.GetTensorElementType(info, &type));
  return type;
}

bool GraphReader::hasRank(const OrtValueInfo *value) const {
  if (!api.ort.TensorTypeAndShape_HasShape)
    return true;
  const OrtTensorTypeAndShapeInfo *info = getTensorType(value);
  return info && api.ort.TensorTypeAndShape_HasShape(info);
}

std::vector<std::string>
GraphReader::getSymbols(const OrtValueInfo *value) const {
  const OrtTensorTypeAndShapeInfo *info = getTensorType(value);
  size_t rank = 0;
  if (info)
    check(api, api.ort.GetDimensionsCount(info, &rank));
  std::vector<const char *> symbols(rank);
  if (rank)
    check(api, api.ort.GetSymbolicDimensions(info, symbols.data(), rank));
  std::vector<std::string> result;
  for (const char *symbol : symbols)
    if (symbol && *symbol)
      result.push_back(symbol);
  return result;
}

/// Finds an attribute; null if the node has none of that name.
static const OrtOpAttr *findAttribute(const Api &api, const OrtNode *node,
                                      const char *name) {
  const OrtOpAttr *found = nullptr;
  if (OrtStatus *status = api.ort.Node_GetAttributeByName(node, name, &found)) {
    api.ort.ReleaseStatus(status);
    return nullptr;
  }
  return found;
}

std::string GraphReader::getText(const OrtNode *node,
                                 const char *attribute) const {
  const OrtOpAttr *found = findAttribute(api, node, attribute);
  if (!found)
    return "";
  size_t size = 0; // also set by a call whose buffer is too small
  if (OrtStatus *status =
          api.ort.ReadOpAttr(found, ORT_OP_ATTR_STRING, nullptr, 0, &size))
    api.ort.ReleaseStatus(status);
  std::string text(size, '\0');
  if (size)
    check(api, api.ort.ReadOpAttr(found, ORT_OP_ATTR_STRING, text.data(), size,
                                  &size));
  return text;
}

int64_t GraphReader::getInteger(const OrtNode *node, const char *attribute,
                                int64_t otherwise) const {
  const OrtOpAttr *found = findAttribute(api, node, attribute);
  size_t size = 0;
  if (found)
    check(api, api.ort.ReadOpAttr(found, ORT_OP_ATTR_INT, &otherwise,
                                  sizeof(otherwise), &size));
  return otherwise;
}

bool GraphReader::canReadAttributes(const OrtNode *node) const {
  for (const OrtOpAttr *attribute :
       list(api, node, api.ort.Node_GetNumAttributes,
            api.ort.Node_GetAttributes)) {
    OrtOpAttrType type = ORT_OP_ATTR_UNDEFINED;
    if (OrtStatus *status = api.ort.OpAttr_GetType(attribute, &type)) {
      api.ort.ReleaseStatus(status);
      return false;
    }
  }
  return true;
}

Subgraph getSubgraph(const GraphReader &reader, const Nodes &all,
                     const std::vector<size_t> &members) {
  Subgraph part;
  std::set<size_t> inside(members.begin(), members.end());
  std::set<std::string> readOutside, known;
  for (size_t i = 0; i < all.size(); ++i)
    if (!inside.count(i))
      for (const OrtValueInfo *value : reader.getReads(all[i]))
        readOutside.insert(reader.getName(value));
  for (size_t i : inside) {
    part.nodes.push_back(all[i]);
    for (const OrtValueInfo *value : reader.getReads(all[i]))
      if (known.insert(reader.getName(value)).second &&
          !reader.isConstant(value))
        part.inputs.push_back(value);
    for (const OrtValueInfo *value : reader.getWrites(all[i])) {
      std::string name = reader.getName(value);
      if (readOutside.count(name) || reader.isGraphOutput(value))
        part.outputs.push_back(value);
      known.insert(std::move(name));
    }
  }
  return part;
}

} // namespace adze::ep

// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Transformations that make a model smaller.
#include "Edits.h"
#include "onnx/checker.h"
#include "onnx/common/file_utils.h"
#include "onnx/shape_inference/implementation.h"
#include <algorithm>
#include <fstream>
#include <functional>
#include <map>

namespace adze::reduce {

using onnx::GraphProto;
using onnx::ModelProto;
using onnx::NodeProto;
using onnx::TensorProto;
using onnx::ValueInfoProto;

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Moves the elements of a tensor in another file into the model.
static void embed(TensorProto &tensor, const std::string &folder) {
  if (tensor.data_location() != TensorProto::EXTERNAL)
    return;
  std::map<std::string, std::string> data;
  for (const auto &entry : tensor.external_data())
    data[entry.key()] = entry.value();
  std::ifstream file(folder + data["location"], std::ios::binary);
  if (data.count("offset"))
    file.seekg(std::stoll(data["offset"]));
  std::string bytes;
  if (data.count("length")) {
    bytes.resize(std::stoull(data["length"]));
    file.read(bytes.data(), std::streamsize(bytes.size()));
  } else {
    bytes.assign(std::istreambuf_iterator<char>(file), {});
  }
  if (!file && !file.eof())
    throw std::runtime_error("expected the data of '" + tensor.name() +
                             "' in '" + data["location"] + "'");
  tensor.set_raw_data(bytes);
  tensor.clear_external_data();
  tensor.clear_data_location();
}

ModelProto load(const std::string &path) {
  ModelProto model;
  onnx::LoadProtoFromPath(path, model);
  size_t slash = path.rfind('/');
  std::string folder =
      slash == std::string::npos ? "" : path.substr(0, slash + 1);
  for (TensorProto &tensor : *model.mutable_graph()->mutable_initializer())
    embed(tensor, folder);
  return model;
}

bool isValid(const ModelProto &model, bool infers) {
  try {
    onnx::checker::check_model(model, infers);
    return true;
  } catch (const std::exception &) {
    return false;
  }
}

//===----------------------------------------------------------------------===//
// What is used
//===----------------------------------------------------------------------===//

/// Adds the names that a node reads, including those in its bodies.
static void addUses(const NodeProto &node, std::set<std::string> &uses) {
  for (const std::string &name : node.input())
    uses.insert(name);
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    auto addBody = [&](const GraphProto &body) {
      for (const NodeProto &inner : body.node())
        addUses(inner, uses);
      for (const ValueInfoProto &output : body.output())
        uses.insert(output.name());
    };
    if (attribute.has_g())
      addBody(attribute.g());
    for (const GraphProto &body : attribute.graphs())
      addBody(body);
  }
}

static std::set<std::string> getUses(const GraphProto &graph) {
  std::set<std::string> uses;
  for (const NodeProto &node : graph.node())
    addUses(node, uses);
  return uses;
}

/// Returns the types of all values that are known.
static std::map<std::string, ValueInfoProto> getTypes(ModelProto model) {
  try {
    onnx::shape_inference::InferShapes(model);
  } catch (const std::exception &) {
    // Without inference, only declared types are known.
  }
  const GraphProto &graph = model.graph();
  std::map<std::string, ValueInfoProto> types;
  for (const auto *list :
       {&graph.value_info(), &graph.output(), &graph.input()})
    for (const ValueInfoProto &value : *list)
      types[value.name()] = value;
  for (const TensorProto &tensor : graph.initializer()) {
    ValueInfoProto &value = types[tensor.name()];
    value.set_name(tensor.name());
    auto *type = value.mutable_type()->mutable_tensor_type();
    type->set_elem_type(tensor.data_type());
    type->mutable_shape()->clear_dim();
    for (int64_t dim : tensor.dims())
      type->mutable_shape()->add_dim()->set_dim_value(dim);
  }
  return types;
}

/// Keeps the elements of a repeated field for which `keep` returns true.
template <typename Field, typename Keep>
static void filter(Field &field, Keep keep) {
  Field kept;
  for (auto &element : field)
    if (keep(element))
      kept.Add()->Swap(&element);
  field.Swap(&kept);
}

/// Removes unused inputs and initializers.
static void dropUnused(GraphProto &graph) {
  std::set<std::string> uses = getUses(graph);
  for (const ValueInfoProto &output : graph.output())
    uses.insert(output.name());
  auto isUsed = [&](const auto &value) { return uses.count(value.name()) > 0; };
  filter(*graph.mutable_initializer(), isUsed);
  filter(*graph.mutable_input(), isUsed);
  filter(*graph.mutable_sparse_initializer(), [&](const auto &value) {
    return uses.count(value.values().name()) > 0;
  });
}

//===----------------------------------------------------------------------===//
// Edits
//===----------------------------------------------------------------------===//

static std::set<size_t> toSet(const std::vector<size_t> &numbers) {
  return {numbers.begin(), numbers.end()};
}

ModelProto keepNodes(const ModelProto &model,
                     const std::vector<size_t> &nodes) {
  std::map<std::string, ValueInfoProto> types = getTypes(model);
  ModelProto result = model;
  GraphProto &graph = *result.mutable_graph();
  std::set<size_t> kept = toSet(nodes);
  size_t number = 0;
  std::set<std::string> known, wasOutput, produced;
  for (const ValueInfoProto &output : graph.output())
    wasOutput.insert(output.name());
  filter(*graph.mutable_node(),
         [&](const NodeProto &) { return kept.count(number++) > 0; });
  std::set<std::string> uses = getUses(graph);
  for (const ValueInfoProto &input : graph.input())
    known.insert(input.name());
  for (const TensorProto &tensor : graph.initializer())
    known.insert(tensor.name());
  graph.clear_output();
  for (const NodeProto &node : graph.node())
    for (const std::string &name : node.output()) {
      produced.insert(name);
      bool isLast = wasOutput.count(name) || !uses.count(name);
      if (isLast && !name.empty() && types.count(name))
        *graph.add_output() = types[name];
    }
  for (const std::string &name : uses)
    if (!name.empty() && !produced.count(name) && !known.count(name) &&
        types.count(name))
      *graph.add_input() = types[name];
  dropUnused(graph);
  return result;
}

ModelProto keepOutputs(const ModelProto &model,
                       const std::vector<size_t> &outputs) {
  ModelProto result = model;
  GraphProto &graph = *result.mutable_graph();
  std::set<size_t> kept = toSet(outputs);
  size_t number = 0;
  filter(*graph.mutable_output(),
         [&](const ValueInfoProto &) { return kept.count(number++) > 0; });
  std::set<std::string> needed;
  for (const ValueInfoProto &output : graph.output())
    needed.insert(output.name());
  std::set<const NodeProto *> live;
  for (int i = graph.node_size(); i-- > 0;) {
    const NodeProto &node = graph.node(i);
    if (std::none_of(node.output().begin(), node.output().end(),
                     [&](const auto &name) { return needed.count(name); }))
      continue;
    live.insert(&node);
    addUses(node, needed);
  }
  filter(*graph.mutable_node(),
         [&](const NodeProto &node) { return live.count(&node) > 0; });
  dropUnused(graph);
  return result;
}

ModelProto keepInitializers(const ModelProto &model,
                            const std::vector<size_t> &initializers) {
  std::map<std::string, ValueInfoProto> types = getTypes(model);
  ModelProto result = model;
  GraphProto &graph = *result.mutable_graph();
  std::set<size_t> kept = toSet(initializers);
  std::set<std::string> inputs;
  for (const ValueInfoProto &input : graph.input())
    inputs.insert(input.name());
  size_t number = 0;
  filter(*graph.mutable_initializer(), [&](const TensorProto &tensor) {
    if (kept.count(number++))
      return true;
    if (!inputs.count(tensor.name()))
      *graph.add_input() = types[tensor.name()];
    return false;
  });
  return result;
}

size_t countAttributes(const ModelProto &model) {
  size_t count = 0;
  for (const NodeProto &node : model.graph().node())
    count += size_t(node.attribute_size());
  return count;
}

ModelProto keepAttributes(const ModelProto &model,
                          const std::vector<size_t> &attributes) {
  ModelProto result = model;
  std::set<size_t> kept = toSet(attributes);
  size_t number = 0;
  for (NodeProto &node : *result.mutable_graph()->mutable_node())
    filter(*node.mutable_attribute(),
           [&](const auto &) { return kept.count(number++) > 0; });
  // The declared shapes of outputs may be wrong after the edit.
  return result;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

std::vector<int64_t> getSizes(const ModelProto &model) {
  std::set<int64_t, std::greater<>> sizes;
  for (const TensorProto &tensor : model.graph().initializer())
    sizes.insert(tensor.dims().begin(), tensor.dims().end());
  for (const ValueInfoProto &input : model.graph().input())
    for (const auto &dim : input.type().tensor_type().shape().dim())
      sizes.insert(dim.dim_value());
  std::vector<int64_t> result;
  for (int64_t size : sizes)
    if (size > 1)
      result.push_back(size);
  return result;
}

/// Returns the bytes of an element in raw_data; 0 for unsupported types.
static size_t getElementBytes(int32_t type) {
  switch (type) {
  case TensorProto::FLOAT:
  case TensorProto::INT32:
  case TensorProto::UINT32:
    return 4;
  case TensorProto::INT64:
  case TensorProto::UINT64:
  case TensorProto::DOUBLE:
    return 8;
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
  case TensorProto::INT16:
  case TensorProto::UINT16:
    return 2;
  case TensorProto::BOOL:
  case TensorProto::INT8:
  case TensorProto::UINT8:
    return 1;
  default:
    return 0;
  }
}

/// Converts elements in typed fields to raw_data.
static void makeRaw(TensorProto &tensor) {
  std::string bytes;
  auto append = [&](auto value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
  };
  for (float value : tensor.float_data())
    append(value);
  for (double value : tensor.double_data())
    append(value);
  for (int64_t value : tensor.int64_data())
    append(value);
  for (int32_t value : tensor.int32_data())
    bytes.append(reinterpret_cast<const char *>(&value),
                 getElementBytes(tensor.data_type()));
  if (bytes.empty())
    return;
  tensor.clear_float_data();
  tensor.clear_double_data();
  tensor.clear_int64_data();
  tensor.clear_int32_data();
  tensor.set_raw_data(bytes);
}

/// Keeps the elements whose indices are below `dims`, in row-major order.
static void truncate(TensorProto &tensor, const std::vector<int64_t> &dims) {
  size_t bytes = getElementBytes(tensor.data_type());
  std::string result;
  std::function<void(size_t, int64_t)> copy = [&](size_t dim, int64_t offset) {
    if (dim == dims.size()) {
      result.append(tensor.raw_data(), size_t(offset) * bytes, bytes);
      return;
    }
    for (int64_t i = 0; i < dims[dim]; ++i)
      copy(dim + 1, offset * tensor.dims(int(dim)) + i);
  };
  copy(0, 0);
  tensor.set_raw_data(result);
  for (size_t dim = 0; dim < dims.size(); ++dim)
    tensor.set_dims(int(dim), dims[dim]);
}

static void resize(TensorProto &tensor, int64_t from, int64_t to) {
  size_t bytes = getElementBytes(tensor.data_type());
  makeRaw(tensor);
  int64_t count = 1;
  std::vector<int64_t> dims;
  for (int64_t dim : tensor.dims()) {
    count *= dim;
    dims.push_back(dim == from ? to : dim);
  }
  if (bytes == 0 || tensor.raw_data().size() != size_t(count) * bytes)
    return;
  // The size of a constant of shapes, axes or pads.
  constexpr int64_t mostNumbers = 16;
  if (tensor.data_type() == TensorProto::INT64 && count <= mostNumbers) {
    std::string raw = tensor.raw_data();
    auto *numbers = reinterpret_cast<int64_t *>(raw.data());
    std::replace(numbers, numbers + count, from, to);
    tensor.set_raw_data(raw);
    return;
  }
  truncate(tensor, dims);
}

static void resize(ValueInfoProto &value, int64_t from, int64_t to) {
  if (!value.type().has_tensor_type() ||
      !value.type().tensor_type().has_shape())
    return;
  auto *shape = value.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (auto &dim : *shape->mutable_dim())
    if (dim.has_dim_value() && dim.dim_value() == from)
      dim.set_dim_value(to);
}

/// Types of values other than inputs and outputs are inferred again.
ModelProto resize(const ModelProto &model, int64_t from, int64_t to) {
  ModelProto result = model;
  GraphProto &graph = *result.mutable_graph();
  graph.clear_value_info();
  for (TensorProto &tensor : *graph.mutable_initializer())
    resize(tensor, from, to);
  for (ValueInfoProto &input : *graph.mutable_input())
    resize(input, from, to);
  for (ValueInfoProto &output : *graph.mutable_output())
    if (output.type().has_tensor_type())
      output.mutable_type()->mutable_tensor_type()->clear_shape();
  std::map<std::string, ValueInfoProto> types = getTypes(result);
  for (ValueInfoProto &output : *graph.mutable_output())
    output = types[output.name()];
  return result;
}

ModelProto strip(const ModelProto &model) {
  ModelProto result = model;
  GraphProto &graph = *result.mutable_graph();
  result.clear_doc_string();
  result.clear_metadata_props();
  graph.clear_doc_string();
  graph.clear_value_info();
  graph.clear_metadata_props();
  std::set<std::pair<std::string, std::string>> called;
  std::function<void(const NodeProto &)> visit = [&](const NodeProto &node) {
    called.insert({node.domain(), node.op_type()});
    for (const onnx::AttributeProto &attribute : node.attribute())
      for (const NodeProto &inner : attribute.g().node())
        visit(inner);
  };
  for (NodeProto &node : *graph.mutable_node()) {
    node.clear_doc_string();
    node.clear_metadata_props();
    visit(node);
  }
  for (const onnx::FunctionProto &function : model.functions())
    for (const NodeProto &node : function.node())
      visit(node);
  filter(*result.mutable_functions(), [&](const auto &function) {
    return called.count({function.domain(), function.name()}) > 0;
  });
  dropUnused(graph);
  return result;
}

} // namespace adze::reduce

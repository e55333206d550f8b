// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Models and test data as protocol buffers.
#include "Model.h"
#include "onnx/defs/schema.h"
#include "onnx/onnx_pb.h"
// After what it relies on.
#include "onnx/onnx-data.pb.h"
#include <fstream>
#include <map>

namespace conformance {

template <typename Proto>
static Error readProto(const std::string &path, Proto &proto) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return path + ": cannot be read";
  if (!proto.ParseFromIstream(&file))
    return path + ": damaged";
  return {};
}

static Error writeProto(const std::string &path,
                        const onnx::ModelProto &proto) {
  std::ofstream file(path, std::ios::binary);
  if (!proto.SerializeToOstream(&file) || !file.flush())
    return path + ": cannot be written";
  return {};
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

namespace {
/// Collects the operators of a model and the versions of their definitions.
struct OperatorWalk {
  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

  std::map<std::string, int> opsets;
  std::set<OperatorVersion> &operators;

  void walk(const Nodes &nodes) {
    for (const onnx::NodeProto &node : nodes) {
      std::string domain = node.domain() == "ai.onnx" ? "" : node.domain();
      const auto *schema = onnx::OpSchemaRegistry::Schema(
          node.op_type(), opsets[domain], domain);
      if (schema)
        operators.insert({domain, node.op_type(), schema->SinceVersion()});
      for (const onnx::AttributeProto &attribute : node.attribute()) {
        if (attribute.has_g())
          walk(attribute.g().node());
        for (const onnx::GraphProto &graph : attribute.graphs())
          walk(graph.node());
      }
    }
  }
};
} // namespace

template <typename Imports>
static std::map<std::string, int> getOpsets(const Imports &imports) {
  std::map<std::string, int> opsets;
  for (const onnx::OperatorSetIdProto &id : imports)
    opsets[id.domain() == "ai.onnx" ? "" : id.domain()] =
        static_cast<int>(id.version());
  return opsets;
}

static std::set<std::string> getConstants(const onnx::GraphProto &graph) {
  std::set<std::string> names;
  for (const onnx::TensorProto &tensor : graph.initializer())
    names.insert(tensor.name());
  return names;
}

Error readSummary(const std::string &path, ModelSummary &summary) {
  onnx::ModelProto model;
  if (Error error = readProto(path, model); !error.empty())
    return error;
  std::set<std::string> constants = getConstants(model.graph());
  for (const onnx::ValueInfoProto &value : model.graph().input())
    if (!constants.count(value.name()))
      summary.inputs.push_back(value.name());
  for (const onnx::ValueInfoProto &value : model.graph().output())
    summary.outputs.push_back(value.name());
  for (const onnx::NodeProto &node : model.graph().node())
    if (summary.firstOperator.empty() || summary.firstOperator == "Constant")
      summary.firstOperator = node.op_type();
  OperatorWalk walk{getOpsets(model.opset_import()), summary.operators};
  walk.walk(model.graph().node());
  for (const onnx::FunctionProto &function : model.functions()) {
    OperatorWalk inside{getOpsets(function.opset_import()), summary.operators};
    inside.walk(function.node());
  }
  return {};
}

static void forgetDims(onnx::TypeProto &type) {
  if (type.has_tensor_type() && type.tensor_type().has_shape())
    for (auto &dim :
         *type.mutable_tensor_type()->mutable_shape()->mutable_dim())
      dim.Clear();
  if (type.has_sequence_type())
    forgetDims(*type.mutable_sequence_type()->mutable_elem_type());
  if (type.has_optional_type())
    forgetDims(*type.mutable_optional_type()->mutable_elem_type());
  if (type.has_map_type())
    forgetDims(*type.mutable_map_type()->mutable_value_type());
}

Error writeDynamicModel(const std::string &from, const std::string &to) {
  onnx::ModelProto model;
  if (Error error = readProto(from, model); !error.empty())
    return error;
  onnx::GraphProto &graph = *model.mutable_graph();
  std::set<std::string> constants = getConstants(graph);
  for (onnx::ValueInfoProto &value : *graph.mutable_input())
    if (!constants.count(value.name()))
      forgetDims(*value.mutable_type());
  for (onnx::ValueInfoProto &value : *graph.mutable_output())
    forgetDims(*value.mutable_type());
  graph.clear_value_info();
  return writeProto(to, model);
}

static void addValue(onnx::ValueInfoProto &value, const char *name) {
  value.set_name(name);
  auto &tensor = *value.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(onnx::TensorProto::FLOAT);
  tensor.mutable_shape()->add_dim()->set_dim_param("n");
  tensor.mutable_shape()->add_dim()->set_dim_value(16);
}

static void addNode(onnx::GraphProto &graph, const char *type,
                    std::initializer_list<const char *> inputs,
                    const char *output) {
  onnx::NodeProto &node = *graph.add_node();
  node.set_op_type(type);
  for (const char *input : inputs)
    node.add_input(input);
  node.add_output(output);
}

Error writeWarmUpModel(const std::string &to) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(18);
  onnx::GraphProto &graph = *model.mutable_graph();
  graph.set_name("warm-up");
  onnx::TensorProto &weight = *graph.add_initializer();
  weight.set_name("w");
  weight.set_data_type(onnx::TensorProto::FLOAT);
  for (int i = 0; i < 2; ++i)
    weight.add_dims(16);
  for (int i = 0; i < 256; ++i)
    weight.add_float_data(static_cast<float>(i));
  addNode(graph, "Exp", {"w"}, "e"); // folded
  addNode(graph, "MatMul", {"x", "e"}, "p");
  addNode(graph, "Softmax", {"p"}, "s");
  addNode(graph, "Sin", {"s"}, "y");
  addValue(*graph.add_input(), "x");
  addValue(*graph.add_output(), "y");
  return writeProto(to, model);
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

struct DataReader::Model {
  onnx::ModelProto proto;
  Error error;
};

DataReader::DataReader(const std::string &modelPath)
    : model(std::make_unique<Model>()) {
  model->error = readProto(modelPath, model->proto);
}

DataReader::~DataReader() = default;

static Error convert(const onnx::TensorProto &proto, Value &value) {
  if (proto.data_type() == onnx::TensorProto::STRING) {
    value.kind = ADZE_STRINGS;
    value.tensor.dims.assign(proto.dims().begin(), proto.dims().end());
    value.strings.assign(proto.string_data().begin(),
                         proto.string_data().end());
    return {};
  }
  std::string text = proto.SerializeAsString(), name;
  return adze::run::readTensorProto(std::vector<char>(text.begin(), text.end()),
                                    value.tensor, name);
}

static Error convert(const onnx::MapProto &proto, Value &value);
static Error convert(const onnx::OptionalProto &proto, Value &value);

static Error convert(const onnx::SequenceProto &proto, Value &value) {
  value.kind = ADZE_SEQUENCE;
  auto add = [&](const auto &elements) -> Error {
    for (const auto &element : elements)
      if (Error error = convert(element, value.elements.emplace_back());
          !error.empty())
        return error;
    return {};
  };
  if (Error error = add(proto.tensor_values()); !error.empty())
    return error;
  if (Error error = add(proto.sequence_values()); !error.empty())
    return error;
  if (Error error = add(proto.map_values()); !error.empty())
    return error;
  return add(proto.optional_values());
}

static Error convert(const onnx::MapProto &proto, Value &value) {
  value.kind = ADZE_MAP;
  Value &keys = value.keys.emplace_back();
  if (proto.key_type() == onnx::TensorProto::STRING) {
    keys.kind = ADZE_STRINGS;
    keys.strings.assign(proto.string_keys().begin(), proto.string_keys().end());
    keys.tensor.dims = {proto.string_keys_size()};
  } else {
    keys.tensor.dtype = {kDLInt, 64, 1};
    keys.tensor.dims = {proto.keys_size()};
    keys.tensor.resize();
    std::copy(proto.keys().begin(), proto.keys().end(),
              reinterpret_cast<int64_t *>(keys.tensor.bytes.data()));
  }
  Value values;
  Error error = convert(proto.values(), values);
  value.elements = std::move(values.elements);
  return error;
}

static Error convert(const onnx::OptionalProto &proto, Value &value) {
  value.kind = ADZE_OPTIONAL;
  switch (proto.elem_type()) {
  case onnx::OptionalProto::UNDEFINED:
    return {};
  case onnx::OptionalProto::TENSOR:
    return convert(proto.tensor_value(), value.elements.emplace_back());
  case onnx::OptionalProto::SEQUENCE:
    return convert(proto.sequence_value(), value.elements.emplace_back());
  case onnx::OptionalProto::MAP:
    return convert(proto.map_value(), value.elements.emplace_back());
  case onnx::OptionalProto::OPTIONAL:
    return convert(proto.optional_value(), value.elements.emplace_back());
  default:
    return "an optional of an unknown kind";
  }
}

template <typename Proto>
static Error readValue(const std::string &path, Value &value) {
  Proto proto;
  if (Error error = readProto(path, proto); !error.empty())
    return error;
  Error error = convert(proto, value);
  return error.empty() ? error : path + ": " + error;
}

Error DataReader::read(const std::string &path, bool isInput,
                       const std::string &name, Value &result) {
  if (!model->error.empty())
    return model->error;
  const onnx::GraphProto &graph = model->proto.graph();
  const auto &list = isInput ? graph.input() : graph.output();
  auto value = llvm::find_if(
      list, [&](const onnx::ValueInfoProto &v) { return v.name() == name; });
  const onnx::TypeProto &type =
      value != list.end() ? value->type() : onnx::TypeProto::default_instance();
  if (type.has_sequence_type())
    return readValue<onnx::SequenceProto>(path, result);
  if (type.has_optional_type())
    return readValue<onnx::OptionalProto>(path, result);
  if (type.has_map_type())
    return readValue<onnx::MapProto>(path, result);
  return readValue<onnx::TensorProto>(path, result);
}

} // namespace conformance

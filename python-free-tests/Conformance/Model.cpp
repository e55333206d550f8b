// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Models and test data as protocol buffers.
#include "Model.h"
#include "Import/ONNX/MicrosoftOperators.h"
#include "onnx/defs/schema.h"
#include "onnx/onnx_pb.h"
#include "onnx/shape_inference/implementation.h"
#include "llvm/ADT/STLExtras.h"
// After the headers that it requires.
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

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Returns the element type as in docs/OpSupport.md, also that of a sequence or
/// an optional; empty if unknown.
static std::string printType(const onnx::TypeProto &type) {
  const onnx::TypeProto *inner = &type;
  while (inner->has_sequence_type() || inner->has_optional_type())
    inner = inner->has_sequence_type() ? &inner->sequence_type().elem_type()
                                       : &inner->optional_type().elem_type();
  std::string text;
  if (inner->has_map_type()) {
    text = *onnx::Utils::DataTypeUtils::ToType(type);
    llvm::erase(text, ' ');
  } else if (inner->has_tensor_type() && inner->tensor_type().elem_type()) {
    text = onnx::Utils::DataTypeUtils::ToDataTypeString(
        inner->tensor_type().elem_type());
  }
  return text;
}

namespace {
/// Collects the types with which the operators of a graph are used.
struct TypeWalk {
  std::map<std::string, int> opsets;
  std::set<OperatorType> &found;
  std::map<std::string, std::string> types; // of values, by name

  void declare(const onnx::GraphProto &graph) {
    for (const auto *values :
         {&graph.input(), &graph.output(), &graph.value_info()})
      for (const onnx::ValueInfoProto &value : *values)
        if (std::string type = printType(value.type()); !type.empty())
          types[value.name()] = type;
    for (const onnx::TensorProto &tensor : graph.initializer())
      types[tensor.name()] =
          onnx::Utils::DataTypeUtils::ToDataTypeString(tensor.data_type());
  }

  template <typename Names>
  void add(const onnx::OpSchema &schema, const Names &names,
           const std::vector<onnx::OpSchema::FormalParameter> &formals) {
    for (int i = 0; i < names.size() && !formals.empty(); ++i) {
      const auto &formal = formals[std::min<size_t>(i, formals.size() - 1)];
      auto type = types.find(names[i]);
      if (type != types.end())
        found.insert({schema.domain(), schema.Name(), formal.GetTypeStr(),
                      type->second});
    }
  }

  void walk(const onnx::GraphProto &graph) {
    declare(graph);
    for (const onnx::NodeProto &node : graph.node()) {
      std::string domain = node.domain() == "ai.onnx" ? "" : node.domain();
      const auto *schema = onnx::OpSchemaRegistry::Schema(
          node.op_type(), opsets[domain], domain);
      if (schema) {
        add(*schema, node.input(), schema->inputs());
        add(*schema, node.output(), schema->outputs());
      }
      for (const onnx::AttributeProto &attribute : node.attribute())
        if (attribute.has_g())
          walk(attribute.g());
    }
  }
};
} // namespace

/// For values whose types the model declares or ONNX infers.
static void collectTypes(onnx::ModelProto &model,
                         std::map<std::string, int> opsets,
                         std::set<OperatorType> &found) {
  try {
    onnx::shape_inference::InferShapes(model);
  } catch (const std::exception &) {
    // Declared types are used in any case.
  }
  try {
    TypeWalk{std::move(opsets), found, {}}.walk(model.graph());
  } catch (const std::exception &) {
    found.clear(); // for types that ONNX does not infer
  }
}

//===----------------------------------------------------------------------===//
// Summary
//===----------------------------------------------------------------------===//

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
  adze::registerMicrosoftOperators();
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
  collectTypes(model, getOpsets(model.opset_import()), summary.types);
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

} // namespace conformance

// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// All calls of the ONNX library; each public function is one try block.
#include "Reader.h"
#include "Check.h"
#include "Guarded.h"
#include "Import/ONNX/MicrosoftOperators.h"
#include "Protobuf.h"
#include "Repair.h"
#include "onnx/defs/function.h"
#include "onnx/defs/schema.h"
#include "onnx/shape_inference/implementation.h"
#include "llvm/ADT/StringExtras.h"
#include <deque>

using namespace adze::importer;
using onnx::AttributeProto;

//===----------------------------------------------------------------------===//
// Reader
//===----------------------------------------------------------------------===//

struct Reader::Protos {
  onnx::ModelProto model;
  Opsets opsets;
  uint64_t denseBytes = 0; // of sparse tensors
  llvm::DenseMap<const onnx::OpSchema *, std::unique_ptr<Definition>>
      definitions;
  std::deque<onnx::FunctionProto> functions;
};

Reader::Reader() : protos(std::make_unique<Protos>()) {
  // Messages of protobuf become our own diagnostics.
  google::protobuf::SetLogHandler(nullptr);
}
Reader::~Reader() = default;

std::unique_ptr<Model> Reader::read(std::string skeleton, std::string &error) {
  auto model = std::make_unique<Model>();
  auto problem = guarded([&] {
    registerMicrosoftOperators();
    onnx::ModelProto &proto = protos->model;
    if (!proto.ParseFromString(skeleton) || !proto.has_graph())
      throw std::runtime_error("expected an ONNX model, but got another file");
    skeleton = std::string();
    const auto &domains =
        onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
    model->latestOpset = domains.at("").second;
    model->opsets = readOpsets(proto.opset_import(), model->problems);
    if (proto.ir_version() < 3 && proto.opset_import().empty())
      model->opsets[""] = 1;
    repairModel(proto, model->opsets, model->warnings);
    protos->opsets = model->opsets;
    Converter(model->opsets, /*marked=*/true, protos->denseBytes)
        .graph(*proto.mutable_graph(), model->graph);
    for (onnx::FunctionProto &function : *proto.mutable_functions()) {
      Opsets opsets = readOpsets(function.opset_import(), model->problems);
      readFunction(
          function, Converter(opsets, /*marked=*/true, protos->denseBytes),
          model->functions[getFunctionKey(function.domain(), function.name(),
                                          function.overload())]);
    }
    checkModel(proto, *model);
  });
  if (!problem)
    return model;
  error = tidy(*problem);
  return nullptr;
}

static const onnx::OpSchema *getSchema(const Node &node) {
  return onnx::OpSchemaRegistry::Schema(node.opType, node.opsetVersion,
                                        node.domain);
}

//===----------------------------------------------------------------------===//
// Definitions
//===----------------------------------------------------------------------===//

std::string adze::importer::getTypeName(unsigned dataType) {
  std::string name;
  (void)guarded([&] {
    name = onnx::TensorProto::DataType_Name(
        static_cast<onnx::TensorProto::DataType>(dataType));
  });
  return llvm::StringRef(name).lower();
}

static void addType(onnx::DataType text, Parameter &parameter) {
  const onnx::TypeProto *type = &onnx::Utils::DataTypeUtils::ToTypeProto(text);
  while (type->has_sequence_type() || type->has_optional_type())
    type = type->has_sequence_type() ? &type->sequence_type().elem_type()
                                     : &type->optional_type().elem_type();
  if (type->has_map_type())
    parameter.maps.push_back(*text);
  else if (type->has_tensor_type())
    parameter.types |= uint32_t(1) << type->tensor_type().elem_type();
}

static std::vector<Parameter>
readParameters(const std::vector<onnx::OpSchema::FormalParameter> &formals) {
  std::vector<Parameter> parameters;
  for (const auto &formal : formals) {
    Parameter &parameter = parameters.emplace_back();
    parameter.name = formal.GetName();
    parameter.variable = formal.GetTypeStr();
    parameter.isHomogeneous = formal.GetIsHomogeneous();
    for (onnx::DataType type : formal.GetTypes())
      addType(type, parameter);
    llvm::sort(parameter.maps);
  }
  return parameters;
}

static Definition readDefinition(const onnx::OpSchema &schema) {
  return {readParameters(schema.inputs()), readParameters(schema.outputs())};
}

const Definition *Reader::getDefinition(const Node &node) {
  const Definition *result = nullptr;
  (void)guarded([&] {
    const onnx::OpSchema *schema = getSchema(node);
    // Exporters write some operators of com.microsoft as operators of ai.onnx.
    if (!schema && node.domain.empty())
      schema = onnx::OpSchemaRegistry::Schema(node.opType, kMicrosoftDomain);
    if (!schema)
      return;
    auto &definition = protos->definitions[schema];
    if (!definition)
      definition = std::make_unique<Definition>(readDefinition(*schema));
    result = definition.get();
  });
  return result;
}

bool Reader::hasFunctionBody(const Node &node) {
  bool found = false;
  (void)guarded([&] {
    const onnx::OpSchema *schema = getSchema(node);
    found = schema &&
            (schema->HasFunction() || schema->HasContextDependentFunction());
  });
  return found;
}

/// Returns the node with the operands and the attribute values of the call of
/// its function.
static onnx::NodeProto makeProto(const Node &node) {
  onnx::NodeProto proto = *static_cast<const onnx::NodeProto *>(node.proto);
  proto.clear_input();
  for (const std::string &input : node.inputs)
    proto.add_input(input);
  for (AttributeProto &out : *proto.mutable_attribute()) {
    if (out.ref_attr_name().empty())
      continue;
    const Attribute *value = node.find(out.name());
    out.clear_ref_attr_name();
    if (!value)
      out.set_name(""); // absent
    else if (value->kind == Attribute::Kind::Float)
      out.set_f(value->f);
    else if (value->kind == Attribute::Kind::Int)
      out.set_i(value->i);
    else if (value->kind == Attribute::Kind::String)
      out.set_s(value->s);
    else
      out.mutable_ints()->Assign(value->ints.begin(), value->ints.end());
  }
  return proto;
}

/// Builds a function body that depends on types and attributes.
static bool buildBody(const onnx::OpSchema &schema, const Node &node,
                      llvm::ArrayRef<InputType> types,
                      onnx::FunctionProto &body) {
  std::vector<onnx::TypeProto> typeProtos;
  for (auto [type, input] : llvm::zip(types, node.inputs)) {
    // Builders access types without checking that they exist.
    if (type.elementType == 0 && !input.empty())
      return false;
    onnx::TypeProto &out = typeProtos.emplace_back();
    if (type.elementType == 0)
      continue;
    out.mutable_tensor_type()->set_elem_type(type.elementType);
    auto *shape = out.mutable_tensor_type()->mutable_shape();
    for (auto dim : type.dims) {
      auto *outDim = shape->add_dim();
      if (dim)
        outDim->set_dim_value(*dim);
    }
  }
  onnx::NodeProto proto = makeProto(node); // the context refers to it
  onnx::FunctionBodyBuildContextImpl context(proto, typeProtos);
  return schema.BuildContextDependentFunction(context, body, node.opsetVersion);
}

std::unique_ptr<Function>
Reader::getFunctionBody(const Node &node, llvm::ArrayRef<InputType> types) {
  auto function = std::make_unique<Function>();
  bool found = false;
  auto problem = guarded([&] {
    const onnx::OpSchema *schema = getSchema(node);
    if (!schema)
      return;
    onnx::FunctionProto body;
    if (const auto *fixed = schema->GetFunction(node.opsetVersion))
      body = *fixed;
    else if (!schema->HasContextDependentFunction() ||
             !buildBody(*schema, node, types, body))
      return;
    protos->functions.push_back(std::move(body));
    onnx::FunctionProto &kept = protos->functions.back();
    Opsets opsets = protos->opsets;
    std::vector<std::string> problems; // function bodies of ONNX have none
    for (const auto &opset : readOpsets(kept.opset_import(), problems))
      opsets[opset.getKey()] = opset.second;
    Converter convert(opsets, /*marked=*/false, protos->denseBytes);
    readFunction(kept, convert, *function);
    for (const auto &[name, attribute] : schema->attributes()) {
      AttributeProto value = attribute.default_value;
      if (value.has_name())
        convert.attribute(value, function->defaults.emplace_back());
    }
    found = true;
  });
  if (problem || !found)
    return nullptr;
  return function;
}

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

/// Returns true if the integers of a node permit to call the inference of ONNX,
/// which uses some as indices or divisors without a check.
static bool hasTameAttributes(const Node &node) {
  constexpr int64_t most = int64_t(1) << 31;
  for (const Attribute &attribute : node.attributes) {
    llvm::StringRef name = attribute.name;
    bool isAxis = name == "axis" || name == "axes" || name == "perm";
    bool isCount = name.contains("stride") || name.contains("dilation") ||
                   name.contains("kernel") || name.contains("group") ||
                   name.contains("num") || name.contains("size");
    int64_t least = isAxis ? -64 : isCount ? 1 : 0;
    auto isTame = [&](int64_t value) { return value >= least && value < most; };
    if (!isTame(attribute.kind == Attribute::Kind::Int ? attribute.i : 1) ||
        attribute.ints.size() > 64 || !llvm::all_of(attribute.ints, isTame))
      return false;
  }
  return true;
}

static void writeType(const ValueInfo &info, onnx::TypeProto &proto) {
  proto.mutable_tensor_type()->set_elem_type(info.elementType);
  if (!info.dims)
    return;
  auto *shape = proto.mutable_tensor_type()->mutable_shape();
  for (const Dim &dim : *info.dims) {
    auto *out = shape->add_dim();
    if (dim.size)
      out->set_dim_value(*dim.size);
    else if (!dim.name.empty())
      out->set_dim_param(dim.name);
  }
}

std::vector<ValueInfo> Reader::inferOutputs(
    const Node &node, llvm::ArrayRef<ValueInfo> inputs,
    llvm::ArrayRef<std::optional<std::vector<int64_t>>> contents) {
  std::vector<ValueInfo> outputs;
  auto problem = guarded([&] {
    const onnx::OpSchema *schema = getSchema(node);
    if (!schema || !node.proto || !hasTameAttributes(node))
      return;
    onnx::NodeProto proto = makeProto(node);
    schema->Verify(proto); // inference relies on it
    std::vector<onnx::TypeProto> types(inputs.size());
    std::vector<onnx::TensorProto> tensors(inputs.size());
    std::unordered_map<std::string, onnx::TypeProto *> typesByName;
    std::unordered_map<std::string, const onnx::TensorProto *> dataByName;
    for (auto [i, info] : llvm::enumerate(inputs)) {
      if (node.inputs[i].empty())
        continue;
      writeType(info, types[i]);
      typesByName[node.inputs[i]] = &types[i];
      if (!contents[i])
        continue;
      tensors[i].set_data_type(onnx::TensorProto::INT64);
      for (const Dim &dim : *info.dims)
        tensors[i].add_dims(dim.size.value_or(contents[i]->size()));
      tensors[i].mutable_int64_data()->Assign(contents[i]->begin(),
                                              contents[i]->end());
      dataByName[node.inputs[i]] = &tensors[i];
    }
    onnx::shape_inference::InferenceContextImpl context(
        proto, typesByName, dataByName, {}, onnx::ShapeInferenceOptions());
    schema->GetTypeAndShapeInferenceFunction()(context);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      onnx::ValueInfoProto info;
      *info.mutable_type() = *context.getOutputType(i);
      readValueInfo(info, outputs.emplace_back());
    }
  });
  if (problem)
    outputs.clear();
  return outputs;
}

std::vector<OperatorVersion> adze::importer::getAllOperators() {
  std::vector<OperatorVersion> operators;
  (void)guarded([&] {
    registerMicrosoftOperators();
    for (const onnx::OpSchema &schema :
         onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
      operators.push_back(
          {schema.domain(), schema.Name(), schema.since_version(),
           schema.Deprecated(),
           schema.HasFunction() || schema.HasContextDependentFunction(),
           readDefinition(schema)});
    }
  });
  llvm::sort(operators, [](const OperatorVersion &a, const OperatorVersion &b) {
    return std::tie(a.domain, a.name, a.sinceVersion) <
           std::tie(b.domain, b.name, b.sinceVersion);
  });
  return operators;
}

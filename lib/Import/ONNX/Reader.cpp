// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// All calls of ONNX, each public function in one try.
#include "Reader.h"
#include "Import/ONNX/MicrosoftOperators.h"
#include "Protobuf.h"
#include "onnx/checker.h"
#include "onnx/defs/function.h"
#include "onnx/defs/schema.h"
#include "onnx/shape_inference/implementation.h"
#include "llvm/ADT/StringExtras.h"
#include <deque>

using namespace adze::importer;
using onnx::AttributeProto;

namespace {

/// Runs `body`; what it throws becomes a message. The only catch.
template <typename Body>
std::optional<std::string> guarded(Body body) {
  try {
    body();
    return std::nullopt;
  } catch (const std::exception &e) {
    return std::string(e.what());
  } catch (...) {
    return std::string("unknown exception");
  }
}

/// A message of ONNX's in our grammar: one line, lower case, no full stop.
std::string tidy(llvm::StringRef message) {
  message = message.split("\n\n==> Context").first;
  std::string result;
  for (char c : message.trim())
    if (c != '\n' && c != '\t')
      result.push_back(c);
    else if (result.empty() || result.back() != ' ')
      result.push_back(' ');
  if (result.size() > 1 && llvm::isUpper(result[0]) && llvm::isLower(result[1]))
    result[0] = llvm::toLower(result[0]);
  while (!result.empty() && (result.back() == '.' || result.back() == ' '))
    result.pop_back();
  return result;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// What onnx::checker::check_graph does for the main graph, node by node, so
/// that each finding has a place. Operators that ONNX does not know are left to
/// the importer.
class Check {
public:
  Check(const onnx::ModelProto &proto, Model &model);
  void run();

private:
  template <typename Body>
  void outside(const std::string &what, Body body) {
    if (auto problem = guarded(body))
      model.problems.push_back(what + tidy(*problem));
  }
  void repeated(const std::string &what, const std::string &name) {
    model.problems.push_back(what + " '" + name +
                             "': expected a name of its own");
  }
  void values();
  void node(const onnx::NodeProto &proto, Node &node);
  void verify(std::vector<Node> &nodes);

  const onnx::ModelProto &proto;
  Model &model;
  onnx::checker::CheckerContext context;
  onnx::checker::LexicalScopeContext names;
  llvm::StringMap<std::string> producers;
};

std::string describe(const onnx::NodeProto &node) {
  return "node '" + (node.name().empty() ? node.op_type() : node.name()) + "'";
}

Check::Check(const onnx::ModelProto &proto, Model &model)
    : proto(proto), model(model) {
  std::unordered_map<std::string, int> opsets;
  for (const auto &entry : model.opsets)
    opsets[entry.getKey().str()] = entry.second;
  for (const auto &opset : proto.opset_import())
    opsets[opset.domain()] = opset.version();
  context.set_opset_imports(opsets);
  context.set_ir_version(static_cast<int>(proto.ir_version()));
  for (const auto &node : proto.graph().node())
    for (const auto &output : node.output())
      producers.try_emplace(output, describe(node));
}

void Check::values() {
  for (const auto &info : proto.graph().input()) {
    outside("input '" + info.name() + "': ",
            [&] { onnx::checker::check_value_info(info, context); });
    if (names.this_graph_has(info.name()))
      repeated("input", info.name());
    names.add(info.name());
  }
  llvm::StringMap<bool> seen;
  for (const auto &tensor : proto.graph().initializer()) {
    outside("initializer '" + tensor.name() + "': ",
            [&] { onnx::checker::check_tensor(tensor, context); });
    if (tensor.name().empty() || !seen.try_emplace(tensor.name(), true).second)
      repeated("initializer", tensor.name());
    names.add(tensor.name());
  }
}

void Check::node(const onnx::NodeProto &proto, Node &node) {
  for (const auto &input : proto.input()) {
    if (input.empty() || names.this_or_ancestor_graph_has(input))
      continue;
    auto producer = producers.find(input);
    node.problem =
        "expected input '" + input + "' to be defined before it is used, but " +
        (producer == producers.end()
             ? "nothing defines it"
             : producer->second +
                   ", which defines it, comes later or depends on it");
  }
  for (const auto &output : proto.output()) {
    if (output.empty())
      continue;
    if (names.this_or_ancestor_graph_has(output))
      node.problem = "expected output '" + output +
                     "' to be defined once, but it is defined before";
    names.add(output);
  }
  if (!node.problem.empty() || node.opsetVersion == 0 || node.sinceVersion == 0)
    return;
  if (auto problem =
          guarded([&] { onnx::checker::check_node(proto, context, names); }))
    node.problem = tidy(*problem);
}

void Check::run() {
  if (proto.ir_version() < 1)
    model.problems.push_back("expected an ir_version from 1 on, but got " +
                             std::to_string(proto.ir_version()));
  if (proto.ir_version() > onnx::Version::IR_VERSION)
    model.problems.push_back("expected an ir_version up to " +
                             std::to_string(onnx::Version::IR_VERSION) +
                             ", but got " + std::to_string(proto.ir_version()));
  if (proto.ir_version() >= 3 && proto.opset_import().empty())
    model.problems.push_back(
        "expected an opset_import, but got a model without any");
  values();
  for (auto [nodeProto, n] : llvm::zip(proto.graph().node(), model.graph.nodes))
    node(nodeProto, n);
  llvm::StringMap<bool> seen;
  for (const auto &info : proto.graph().output()) {
    // What an output's dims are follows from the graph, whatever ONNX's checker
    // wants to be said.
    onnx::ValueInfoProto said = info;
    if (said.type().has_tensor_type())
      said.mutable_type()->mutable_tensor_type()->mutable_shape();
    outside("output '" + info.name() + "': ",
            [&] { onnx::checker::check_value_info(said, context); });
    if (!names.this_graph_has(info.name()))
      model.problems.push_back("output '" + info.name() +
                               "': expected a value of the graph, but nothing "
                               "defines it");
    if (!seen.try_emplace(info.name(), true).second)
      repeated("output", info.name());
  }
  size_t problemsBefore = model.problems.size();
  if (!proto.functions().empty())
    outside("", [&] {
      onnx::checker::check_model_local_functions(proto, context, {});
    });
  // The checker has stopped at the first one, and handlers rely on it.
  if (model.problems.size() != problemsBefore)
    for (auto &entry : model.functions)
      verify(entry.second.nodes);
}

void Check::verify(std::vector<Node> &nodes) {
  for (Node &node : nodes) {
    if (node.sinceVersion == 0)
      continue;
    const onnx::OpSchema *schema = onnx::OpSchemaRegistry::Schema(
        node.opType, node.opsetVersion, node.domain);
    if (auto problem = guarded([&] {
          schema->Verify(*static_cast<const onnx::NodeProto *>(node.proto));
        }))
      node.problem = tidy(*problem);
    for (Attribute &attribute : node.attributes)
      for (auto &graph : attribute.graphs)
        verify(graph->nodes);
  }
}

} // namespace

//===----------------------------------------------------------------------===//
// Reader
//===----------------------------------------------------------------------===//

struct Reader::Protos {
  onnx::ModelProto model;
  Opsets opsets;
  llvm::DenseMap<const onnx::OpSchema *, std::unique_ptr<Definition>>
      definitions;
  std::deque<onnx::FunctionProto> functions;
};

Reader::Reader() : protos(std::make_unique<Protos>()) {
  // What protobuf has to say comes back as our own diagnostic.
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
    model->opsets = readOpsets(proto.opset_import());
    if (proto.ir_version() < 3 && proto.opset_import().empty())
      model->opsets[""] = 1;
    protos->opsets = model->opsets;
    Converter(model->opsets, /*marked=*/true)
        .graph(*proto.mutable_graph(), model->graph);
    for (onnx::FunctionProto &function : *proto.mutable_functions()) {
      Opsets opsets = readOpsets(function.opset_import());
      readFunction(
          function, opsets, /*marked=*/true,
          model->functions[getFunctionKey(function.domain(), function.name(),
                                          function.overload())]);
    }
    Check(proto, *model).run();
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
    // Exporters write some of com.microsoft as operators of ai.onnx.
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

/// The node with what the call of the function around it says: its operands and
/// the values of attributes that were references.
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
      out.set_name(""); // not there: nobody asks for this name
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

/// The body of a function that depends on types and attributes.
static bool buildBody(const onnx::OpSchema &schema, const Node &node,
                      llvm::ArrayRef<InputType> types,
                      onnx::FunctionProto &body) {
  std::vector<onnx::TypeProto> typeProtos;
  for (auto [type, input] : llvm::zip(types, node.inputs)) {
    // Builders look at types without asking whether they are there.
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
    for (const auto &opset : readOpsets(kept.opset_import()))
      opsets[opset.getKey()] = opset.second;
    readFunction(kept, opsets, /*marked=*/false, *function);
    Converter convert(opsets, /*marked=*/false);
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

/// Whether the integers of a node are such that ONNX's inference can be called:
/// it does not check all of them before it indexes by them, or divides.
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

// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Registers the operators of com.microsoft, as ONNX Runtime documents them, in
// the schema registry of the ONNX library, which does not have them. So their
// nodes are checked, and their types listed, like those of ai.onnx.
#include "Import/ONNX/MicrosoftOperators.h"
#include "MicrosoftRows.h"
#include "onnx/defs/parser.h"
#include "onnx/defs/schema.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <mutex>

using llvm::StringRef;
using onnx::AttributeProto;
using onnx::OpSchema;
using Row = adze::importer::MicrosoftRow;

static std::string getTensorType(StringRef element) {
  return ("tensor(" + element + ")").str();
}

static void addVariables(StringRef list, OpSchema &schema) {
  for (StringRef item : llvm::split(list, ' ')) {
    auto [name, types] = item.split(':');
    std::vector<std::string> all;
    for (StringRef type : llvm::split(types, ','))
      all.push_back(getTensorType(type));
    schema.TypeConstraint(name.str(), all, "");
  }
}

/// Calls `add` with index, name, variable or type, and option of each
/// parameter.
template <typename Add>
static void forEachParameter(StringRef list, StringRef variables, Add add) {
  int place = 0;
  for (StringRef item : llvm::split(list, ' ')) {
    auto [name, type] = item.split(':');
    OpSchema::FormalParameterOption option =
        type.consume_back("?")   ? OpSchema::Optional
        : type.consume_back("*") ? OpSchema::Variadic
                                 : OpSchema::Single;
    bool isVariable = false;
    for (StringRef variable : llvm::split(variables, ' '))
      isVariable |= variable.split(':').first == type;
    add(place++, name.str(), isVariable ? type.str() : getTensorType(type),
        option);
  }
}

static void addAttributes(StringRef list, OpSchema &schema) {
  llvm::SmallVector<StringRef> items;
  list.split(items, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef item : items) {
    bool isRequired = item.consume_back("!");
    auto [name, rest] = item.split(':');
    auto [kind, value] = rest.split('=');
    AttributeProto::AttributeType type =
        llvm::StringSwitch<AttributeProto::AttributeType>(kind)
            .Case("i", AttributeProto::INT)
            .Case("f", AttributeProto::FLOAT)
            .Case("s", AttributeProto::STRING)
            .Case("g", AttributeProto::GRAPH)
            .Case("F", AttributeProto::FLOATS)
            .Case("S", AttributeProto::STRINGS)
            .Default(AttributeProto::INTS);
    if (value.empty())
      schema.Attr(name.str(), "", type, isRequired);
    else if (kind == "i")
      schema.Attr(name.str(), "", type, int64_t(std::stoll(value.str())));
    else if (kind == "s")
      schema.Attr(name.str(), "", type, value.str());
    else
      schema.Attr(name.str(), "", type, std::stof(value.str()));
  }
}

/// Returns true if `x`, `a=n` or `a<n`, possibly negated by `!`, holds for the
/// node.
static bool holds(StringRef condition, const OpSchema &schema,
                  const onnx::FunctionBodyBuildContext &node) {
  bool isNegated = condition.consume_front("!");
  size_t sign = condition.find_first_of("=<");
  StringRef name = condition.take_front(sign);
  if (sign == StringRef::npos) {
    int place = 0;
    for (const OpSchema::FormalParameter &input : schema.inputs()) {
      if (input.GetName() == name.str())
        return node.hasInput(place) != isNegated;
      ++place;
    }
    return false;
  }
  auto known = schema.attributes().find(name.str());
  StringRef wanted = condition.drop_front(sign + 1);
  int64_t value = 0, bound = 0;
  if (wanted.getAsInteger(10, bound)) {
    std::string text;
    if (const AttributeProto *given = node.getAttribute(name.str()))
      text = given->s();
    else if (known != schema.attributes().end())
      text = known->second.default_value.s();
    return (wanted == text) != isNegated;
  }
  if (const AttributeProto *given = node.getAttribute(name.str()))
    value = given->i();
  else if (known != schema.attributes().end())
    value = known->second.default_value.i();
  bool isTrue = condition[sign] == '<' ? value < bound : value == bound;
  return isTrue != isNegated;
}

/// Creates the nodes of the body whose conditions hold. Returns false if no
/// node defines one of the outputs.
static bool makeBody(StringRef text, const OpSchema &schema,
                     const onnx::FunctionBodyBuildContext &node,
                     onnx::FunctionProto &body) {
  constexpr int64_t opset = 21;
  std::string nodes = "{\n";
  for (StringRef line : llvm::split(text, '\n')) {
    line = line.trim();
    bool applies = true;
    while (line.consume_front("[")) {
      auto [condition, rest] = line.split(']');
      applies &= holds(condition, schema, node);
      line = rest.trim();
    }
    if (applies)
      nodes += line.str() + "\n";
  }
  nodes += "}";
  onnx::OnnxParser parser(nodes.c_str());
  if (!parser.Parse(*body.mutable_node()).IsOK())
    return false;
  schema.BuildFunction(body);
  body.clear_opset_import();
  for (auto [domain, version] :
       {std::pair("", opset), std::pair(adze::kMicrosoftDomain, int64_t(1))}) {
    onnx::OperatorSetIdProto *import = body.add_opset_import();
    import->set_domain(domain);
    import->set_version(version);
  }
  return llvm::all_of(body.output(), [&](const std::string &output) {
    return llvm::any_of(body.node(), [&](const onnx::NodeProto &made) {
      return llvm::is_contained(made.output(), output);
    });
  });
}

static OpSchema makeSchema(const Row &row) {
  OpSchema schema(row.name.str(), __FILE__, __LINE__);
  schema.SetDomain(adze::kMicrosoftDomain).SinceVersion(1);
  forEachParameter(row.inputs, row.variables,
                   [&](int i, std::string name, std::string type,
                       OpSchema::FormalParameterOption option) {
                     schema.Input(i, name, "", type, option,
                                  /*is_homogeneous=*/option !=
                                      OpSchema::Variadic);
                   });
  forEachParameter(row.outputs, row.variables,
                   [&](int i, std::string name, std::string type,
                       OpSchema::FormalParameterOption option) {
                     schema.Output(i, name, "", type, option);
                   });
  addVariables(row.variables, schema);
  addAttributes(row.attributes, schema);
  if (!row.body.empty())
    schema.SetContextDependentFunctionBodyBuilder(
        [body = row.body](const onnx::FunctionBodyBuildContext &node,
                          const OpSchema &own, onnx::FunctionProto &function) {
          return makeBody(body, own, node, function);
        },
        /*opset_version=*/1);
  return schema;
}

void adze::registerMicrosoftOperators() {
  static std::once_flag once;
  std::call_once(once, [] {
    // The operators of ONNX itself are registered first.
    (void)onnx::OpSchemaRegistry::Schema("Identity");
    onnx::OpSchemaRegistry::DomainToVersionRange::Instance().AddDomainToVersion(
        adze::kMicrosoftDomain, 1, 1);
    for (const Row &row : adze::importer::getMicrosoftRows())
      onnx::RegisterSchema(makeSchema(row));
  });
}

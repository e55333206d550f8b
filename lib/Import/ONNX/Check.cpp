// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Calls the ONNX checker part by part, so that each finding has a location.
#include "Check.h"
#include "Guarded.h"
#include "onnx/checker.h"
#include "onnx/defs/schema.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace adze::importer;

std::string adze::importer::tidy(llvm::StringRef message) {
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

namespace {

/// Implements onnx::checker::check_graph for the main graph, node by node, so
/// that each finding has a location. The importer reports unknown operators.
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
    model.problems.push_back(what + " '" + name + "': expected a unique name");
  }
  void values();
  std::string describeCycle(const onnx::NodeProto &first,
                            const onnx::NodeProto &last);
  void node(const onnx::NodeProto &proto, Node &node);
  void schema(const onnx::NodeProto &proto, Node &node);
  void function(const onnx::FunctionProto &function);
  void verify(Node &node);

  const onnx::ModelProto &proto;
  Model &model;
  onnx::checker::CheckerContext context;
  onnx::checker::LexicalScopeContext names;
  llvm::StringMap<const onnx::NodeProto *> producers;
  bool hasCycle = false; // a search was made
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
      producers.try_emplace(output, &node);
}

/// For the first such node of a model: returns the nodes on a path from a node
/// to one that uses, possibly indirectly, its output, or an empty string.
std::string Check::describeCycle(const onnx::NodeProto &first,
                                 const onnx::NodeProto &last) {
  if (std::exchange(hasCycle, true))
    return ""; // a search for all of them takes too long
  // From each node reached to the user through which it was reached.
  llvm::DenseMap<const onnx::NodeProto *, const onnx::NodeProto *> users;
  std::vector<const onnx::NodeProto *> open = {&last};
  users[&last] = nullptr;
  while (!open.empty() && !users.contains(&first)) {
    const onnx::NodeProto *user = open.back();
    open.pop_back();
    for (const auto &input : user->input()) {
      const onnx::NodeProto *maker = producers.lookup(input);
      if (maker && users.try_emplace(maker, user).second)
        open.push_back(maker);
    }
  }
  if (!users.contains(&first))
    return "";
  std::string text;
  constexpr unsigned most = 10;
  unsigned count = 0;
  for (const auto *node = &first; node; node = users[node], ++count)
    if (count < most)
      text += (count ? ", " : "") + describe(*node).substr(strlen("node "));
  if (count > most)
    text += " and " + std::to_string(count - most) + " more";
  return ": the nodes " + text + " form a cycle";
}

void Check::values() {
  for (const auto &info : proto.graph().input()) {
    // The importer handles undeclared shapes.
    onnx::ValueInfoProto said = info;
    if (said.type().has_tensor_type())
      said.mutable_type()->mutable_tensor_type()->mutable_shape();
    outside("input '" + info.name() + "': ",
            [&] { onnx::checker::check_value_info(said, context); });
    if (names.this_graph_has(info.name()))
      repeated("input", info.name());
    names.add(info.name());
  }
  // The importer compares duplicate initializers.
  for (const auto &tensor : proto.graph().initializer()) {
    outside("initializer '" + tensor.name() + "': ",
            [&] { onnx::checker::check_tensor(tensor, context); });
    names.add(tensor.name());
  }
  for (const auto &tensor : proto.graph().sparse_initializer())
    names.add(tensor.values().name());
}

/// Returns true if graph attributes of the node have operators that ONNX does
/// not define.
static bool hasUnknown(const Node &node) {
  for (const Attribute &attribute : node.attributes)
    for (const auto &graph : attribute.graphs)
      for (const Node &inner : graph->nodes)
        if (inner.sinceVersion == 0 || hasUnknown(inner))
          return true;
  return false;
}

void Check::node(const onnx::NodeProto &proto, Node &node) {
  for (const auto &input : proto.input()) {
    if (input.empty() || names.this_or_ancestor_graph_has(input))
      continue;
    node.problem =
        "expected input '" + input + "' to be defined before it is used, but ";
    auto producer = producers.find(input);
    if (producer == producers.end())
      node.problem += "nothing defines it";
    else
      node.problem += describe(*producer->second) +
                      ", which defines it, comes later or depends on it" +
                      describeCycle(proto, *producer->second);
  }
  llvm::StringSet<> own;
  for (const auto &output : proto.output())
    if (!output.empty() && (names.this_or_ancestor_graph_has(output) ||
                            !own.insert(output).second))
      node.problem = "expected output '" + output +
                     "' to be defined once, but it is defined before";
  if (node.problem.empty() && node.opsetVersion != 0 && node.sinceVersion != 0)
    schema(proto, node);
  // Outputs are added last, as graph attributes of the node may use their
  // names.
  for (const auto &output : proto.output())
    if (!output.empty())
      names.add(output);
}

/// Checks a node of a known operator, with its graphs.
void Check::schema(const onnx::NodeProto &proto, Node &node) {
  // The importer reports operators that it does not know, and supports some
  // that ONNX does not define.
  if (hasUnknown(node))
    return verify(node);
  if (auto problem =
          guarded([&] { onnx::checker::check_node(proto, context, names); }))
    node.problem = tidy(*problem);
}

/// Checks a function by the operator sets that it imports, which may differ
/// from those of the model: its nodes are imported by them.
void Check::function(const onnx::FunctionProto &function) {
  std::unordered_map<std::string, int> opsets = context.get_opset_imports();
  for (const auto &opset : function.opset_import())
    opsets[opset.domain()] = static_cast<int>(opset.version());
  onnx::checker::CheckerContext own = context;
  own.set_opset_imports(opsets);
  auto problem =
      guarded([&] { onnx::checker::check_function(function, own, {}); });
  if (!problem)
    return;
  // The checker stopped at the first error, but handlers rely on all checks.
  // Errors of nodes are reported where the function is called.
  auto &nodes =
      model
          .functions[getFunctionKey(function.domain(), function.name(),
                                    function.overload())]
          .nodes;
  llvm::for_each(nodes, [&](Node &node) { verify(node); });
  if (llvm::all_of(nodes, [](const Node &n) { return n.problem.empty(); }))
    model.problems.push_back("function '" + function.name() +
                             "': " + tidy(*problem));
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
    // The dims of an output are inferred from the graph, although the ONNX
    // checker requires them.
    onnx::ValueInfoProto said = info;
    if (said.type().has_tensor_type())
      said.mutable_type()->mutable_tensor_type()->mutable_shape();
    // The type is inferred, too (addReturn).
    if (said.type().value_case() != onnx::TypeProto::VALUE_NOT_SET)
      outside("output '" + info.name() + "': ",
              [&] { onnx::checker::check_value_info(said, context); });
    if (!names.this_graph_has(info.name()))
      model.problems.push_back("output '" + info.name() +
                               "': expected a value of the graph, but nothing "
                               "defines it");
    if (!seen.try_emplace(info.name(), true).second)
      repeated("output", info.name());
  }
  outside("", [&] { onnx::checker::check_function_call_cycles(proto); });
  for (const auto &function : proto.functions())
    this->function(function);
}

void Check::verify(Node &node) {
  if (node.sinceVersion == 0)
    return;
  const onnx::OpSchema *schema = onnx::OpSchemaRegistry::Schema(
      node.opType, node.opsetVersion, node.domain);
  if (auto problem = guarded([&] {
        schema->Verify(*static_cast<const onnx::NodeProto *>(node.proto));
      }))
    node.problem = tidy(*problem);
  for (Attribute &attribute : node.attributes)
    for (auto &graph : attribute.graphs)
      llvm::for_each(graph->nodes, [&](Node &inner) { verify(inner); });
}

} // namespace

void adze::importer::checkModel(const onnx::ModelProto &proto, Model &model) {
  Check(proto, model).run();
}

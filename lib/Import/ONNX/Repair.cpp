// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Repairs a model before the ONNX checker runs.
#include "Repair.h"
#include "onnx/defs/schema.h"
#include "llvm/ADT/StringSet.h"
#include <queue>

using namespace adze::importer;
using google::protobuf::RepeatedPtrField;

namespace {

using Nodes = RepeatedPtrField<onnx::NodeProto>;

class Repair {
public:
  Repair(onnx::ModelProto &proto, Opsets &opsets,
         std::vector<ModelWarning> &warnings)
      : proto(proto), opsets(opsets), warnings(warnings) {}
  void run();

private:
  /// Adds one warning of each kind.
  void warn(llvm::StringRef kind, std::string text, ModelWarning place = {}) {
    if (!reported.try_emplace(kind, true).second)
      return;
    place.text = std::move(text);
    warnings.push_back(std::move(place));
  }
  /// Returns a warning about the node, without its text.
  ModelWarning describe(const onnx::NodeProto &node, int index) const;
  void spellDomain(onnx::NodeProto &node, int index);
  void addOpset(const onnx::NodeProto &node, int index);
  void sort(Nodes &nodes);
  void nodes(Nodes &nodes, bool isInFunction);
  void initializers(RepeatedPtrField<onnx::TensorProto> &list);
  void complexNumbers(onnx::GraphProto &graph);
  void outputs(RepeatedPtrField<onnx::ValueInfoProto> &list);

  onnx::ModelProto &proto;
  Opsets &opsets;
  std::vector<ModelWarning> &warnings;
  llvm::StringMap<bool> reported;
};

} // namespace

static constexpr const char *kDefaultDomain = "ai.onnx";

ModelWarning Repair::describe(const onnx::NodeProto &node, int index) const {
  int version = opsets.lookup(node.domain());
  const auto *schema =
      onnx::OpSchemaRegistry::Schema(node.op_type(), version, node.domain());
  return {getNodeName(node.name(), node.op_type(), index),
          describeOperator(node.domain(), node.op_type(),
                           schema ? schema->since_version() : version),
          /*text=*/""};
}

//===----------------------------------------------------------------------===//
// Domains
//===----------------------------------------------------------------------===//

/// The ONNX checker compares the spelling of the domain.
void Repair::spellDomain(onnx::NodeProto &node, int index) {
  if (node.domain() != kDefaultDomain)
    return;
  node.clear_domain();
  if (reported.contains("domain"))
    return; // describing all of them takes too long
  warn("domain",
       "the domain 'ai.onnx' is treated as the domain '', here and in other "
       "nodes",
       describe(node, index));
}

static void spellDomains(RepeatedPtrField<onnx::OperatorSetIdProto> &imports) {
  for (auto &import : imports)
    if (import.domain() == kDefaultDomain)
      import.clear_domain();
}

/// Imports the newest operator set of a domain of ONNX that the model uses and
/// does not import. The versions of ai.onnx differ too much.
void Repair::addOpset(const onnx::NodeProto &node, int index) {
  const std::string &domain = node.domain();
  if (!llvm::StringRef(domain).starts_with("ai.onnx.") ||
      opsets.contains(domain))
    return;
  const auto &known =
      onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  auto range = known.find(domain);
  if (range == known.end())
    return;
  ModelWarning place = describe(node, index);
  int version = range->second.second;
  opsets[domain] = version;
  auto *import = proto.add_opset_import();
  import->set_domain(domain);
  import->set_version(version);
  warn("opset " + domain,
       "the model has no opset_import for domain '" + domain + "'; version " +
           std::to_string(version) + " is assumed",
       std::move(place));
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

static void addUses(const onnx::NodeProto &node, llvm::StringSet<> &names);

/// Adds the names that a graph uses and does not define.
static void addUses(const onnx::GraphProto &graph, llvm::StringSet<> &names) {
  llvm::StringSet<> used;
  for (const auto &inner : graph.node())
    addUses(inner, used);
  for (const auto &output : graph.output())
    used.insert(output.name());
  for (const auto &input : graph.input())
    used.erase(input.name());
  for (const auto &tensor : graph.initializer())
    used.erase(tensor.name());
  for (const auto &tensor : graph.sparse_initializer())
    used.erase(tensor.values().name());
  for (const auto &inner : graph.node())
    for (const auto &output : inner.output())
      used.erase(output);
  for (const auto &entry : used)
    names.insert(entry.getKey());
}

/// Adds the names that a node uses, including its graph attributes.
static void addUses(const onnx::NodeProto &node, llvm::StringSet<> &names) {
  for (const auto &input : node.input())
    names.insert(input);
  for (const auto &attribute : node.attribute()) {
    if (attribute.has_g())
      addUses(attribute.g(), names);
    for (const auto &graph : attribute.graphs())
      addUses(graph, names);
  }
}

namespace {
/// The dependences between the nodes of a list.
struct Dependencies {
  std::vector<std::vector<int>> producers, users;
  /// The first node that precedes one of its operands, the node of the operand,
  /// and the value.
  int early = -1, late = -1;
  std::string value;

  explicit Dependencies(const Nodes &nodes);
  std::vector<int> sort() const;
};
} // namespace

Dependencies::Dependencies(const Nodes &nodes)
    : producers(nodes.size()), users(nodes.size()) {
  llvm::StringMap<int> makers;
  for (auto [i, node] : llvm::enumerate(nodes))
    for (const auto &output : node.output())
      if (!output.empty())
        makers.try_emplace(output, int(i));
  for (auto [i, node] : llvm::enumerate(nodes)) {
    llvm::StringSet<> names;
    addUses(node, names);
    auto uses = llvm::to_vector(names.keys());
    llvm::sort(uses);
    for (llvm::StringRef use : uses) {
      auto maker = makers.find(use);
      if (maker == makers.end())
        continue;
      producers[i].push_back(maker->second);
      users[maker->second].push_back(int(i));
      if (early >= 0 || maker->second < int(i))
        continue;
      early = int(i);
      late = maker->second;
      value = use.str();
    }
  }
}

/// Appends the nodes without remaining `sources`, in order of increasing (or,
/// with `backwards`, decreasing) indices.
static void peel(const std::vector<std::vector<int>> &sources,
                 const std::vector<std::vector<int>> &targets, bool backwards,
                 std::vector<bool> &isDone, std::vector<int> &order) {
  int sign = backwards ? 1 : -1; // the queue returns the greatest first
  std::priority_queue<int> ready;
  std::vector<int> left(sources.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    left[i] = llvm::count_if(sources[i], [&](int j) { return !isDone[j]; });
    if (!isDone[i] && left[i] == 0)
      ready.push(sign * int(i));
  }
  while (!ready.empty()) {
    int i = sign * ready.top();
    ready.pop();
    isDone[i] = true;
    order.push_back(i);
    for (int target : targets[i])
      if (--left[target] == 0 && !isDone[target])
        ready.push(sign * target);
  }
}

/// Returns a topological order that otherwise keeps the order of nodes. Nodes
/// of cycles keep their order, after the nodes before all cycles and before
/// those after all cycles.
std::vector<int> Dependencies::sort() const {
  std::vector<bool> isDone(producers.size());
  std::vector<int> order, after;
  peel(producers, users, /*backwards=*/false, isDone, order);
  peel(users, producers, /*backwards=*/true, isDone, after);
  for (size_t i = 0; i < isDone.size(); ++i)
    if (!isDone[i])
      order.push_back(int(i));
  order.insert(order.end(), after.rbegin(), after.rend());
  return order;
}

void Repair::sort(Nodes &list) {
  Dependencies dependencies(list);
  if (dependencies.early < 0)
    return;
  std::vector<int> order = dependencies.sort();
  if (llvm::is_sorted(order))
    return; // there are only cycles
  // Nodes without a name are identified by their index.
  for (auto [i, node] : llvm::enumerate(list))
    if (node.name().empty())
      node.set_name(node.op_type() + "_" + std::to_string(i));
  warn("order",
       "its input '" + dependencies.value + "' is computed by a later node, '" +
           list.Get(dependencies.late).name() +
           "'; nodes that are not in topological order are sorted",
       describe(list.Get(dependencies.early), dependencies.early));
  Nodes sorted;
  sorted.Reserve(list.size());
  for (int i : order)
    sorted.Add()->Swap(list.Mutable(i));
  list.Swap(&sorted);
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

void Repair::nodes(Nodes &list, bool isInFunction) {
  for (auto [i, node] : llvm::enumerate(list)) {
    spellDomain(node, int(i));
    if (!isInFunction)
      addOpset(node, int(i));
    for (auto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g())
        nodes(*attribute.mutable_g()->mutable_node(), isInFunction);
      for (auto &graph : *attribute.mutable_graphs())
        nodes(*graph.mutable_node(), isInFunction);
    }
  }
  sort(list);
}

void Repair::initializers(RepeatedPtrField<onnx::TensorProto> &list) {
  int kept = 0;
  for (int i = 0; i < list.size(); ++i)
    if (!list.Get(i).name().empty())
      list.SwapElements(i, kept++);
  if (kept == list.size())
    return;
  list.DeleteSubrange(kept, list.size() - kept);
  warn("nameless", "an initializer without a name, which nothing can use, is "
                   "left out");
}

/// Returns true for complex numbers, which no operator of ONNX accepts.
static bool isComplex(const onnx::TensorProto &tensor) {
  return tensor.data_type() == onnx::TensorProto::COMPLEX64 ||
         tensor.data_type() == onnx::TensorProto::COMPLEX128;
}

void Repair::complexNumbers(onnx::GraphProto &graph) {
  auto &list = *graph.mutable_initializer();
  if (llvm::none_of(list, isComplex))
    return;
  llvm::StringSet<> used;
  for (const auto &node : graph.node())
    addUses(node, used);
  for (const auto &output : graph.output())
    used.insert(output.name());
  for (int i = list.size() - 1; i >= 0; --i) {
    if (!isComplex(list.Get(i)) || used.contains(list.Get(i).name()))
      continue;
    warn("complex", "initializer '" + list.Get(i).name() +
                        "': complex numbers, which nothing uses, are left out");
    list.DeleteSubrange(i, 1);
  }
}

/// Removes repeated equal declarations of outputs.
void Repair::outputs(RepeatedPtrField<onnx::ValueInfoProto> &list) {
  llvm::StringMap<std::string> known;
  for (int i = 0; i < list.size();) {
    std::string text = list.Get(i).SerializeAsString();
    auto [first, isNew] = known.try_emplace(list.Get(i).name(), text);
    if (isNew || first->second != text) {
      ++i;
      continue;
    }
    warn("output", "output '" + list.Get(i).name() +
                       "': declared twice; the module has it once");
    list.DeleteSubrange(i, 1);
  }
}

void Repair::run() {
  spellDomains(*proto.mutable_opset_import());
  nodes(*proto.mutable_graph()->mutable_node(), /*isInFunction=*/false);
  for (auto &function : *proto.mutable_functions()) {
    spellDomains(*function.mutable_opset_import());
    nodes(*function.mutable_node(), /*isInFunction=*/true);
  }
  initializers(*proto.mutable_graph()->mutable_initializer());
  complexNumbers(*proto.mutable_graph());
  outputs(*proto.mutable_graph()->mutable_output());
}

void adze::importer::repairModel(onnx::ModelProto &proto, Opsets &opsets,
                                 std::vector<ModelWarning> &warnings) {
  Repair(proto, opsets, warnings).run();
}

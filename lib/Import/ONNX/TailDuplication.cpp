// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Imports nodes in order. If the branches of an If differ in rank, and no
// declaration selects one, the nodes that use their results are put into both
// branches, until all values that are used later have one rank.
#include "Importer.h"

using namespace adze;
using namespace adze::importer;

/// The greatest number of nodes that are put into branches.
static constexpr size_t kMaxLength = 64;

/// An If whose branches differ, and the following nodes that are put into both.
struct Importer::SharedTail {
  const Node *node;
  unsigned index;
  std::vector<Node> rest;
  llvm::StringSet<> names; // that all of them define

  void add(const Node &next) {
    rest.push_back(next);
    addNames(next);
  }
  void addNames(const Node &of) {
    for (const std::string &output : of.outputs)
      if (!output.empty())
        names.insert(output);
  }
};

/// Returns true if a node, or a graph attribute of it, uses one of the names.
static bool usesAny(const Node &node, const llvm::StringSet<> &names) {
  auto isOne = [&](llvm::StringRef name) { return names.contains(name); };
  if (llvm::any_of(node.inputs, isOne))
    return true;
  for (const Attribute &attribute : node.attributes)
    for (const auto &graph : attribute.graphs) {
      for (const Node &inner : graph->nodes)
        if (usesAny(inner, names))
          return true;
      for (const ValueInfo &output : graph->outputs)
        if (isOne(output.name))
          return true;
    }
  return false;
}

/// Returns a branch with its outputs under the names of those of the If,
/// followed by `rest`.
static std::shared_ptr<Graph> appendTail(const Graph &branch, const Node &node,
                                         llvm::ArrayRef<Node> rest,
                                         llvm::ArrayRef<std::string> outputs) {
  auto longer = std::make_shared<Graph>(branch);
  for (auto [output, name] : llvm::zip(branch.outputs, node.outputs)) {
    Node &same = longer->nodes.emplace_back();
    same.opType = "Identity";
    same.inputs = {output.name};
    same.outputs = {name};
    same.sinceVersion = 1;
    same.opsetVersion = node.opsetVersion;
  }
  longer->nodes.insert(longer->nodes.end(), rest.begin(), rest.end());
  longer->outputs.clear();
  for (const std::string &name : outputs)
    longer->outputs.emplace_back().name = name;
  return longer;
}

/// Tries to import the If with all nodes that were put into its branches.
/// Returns false if they still differ. `after` are the nodes that follow.
bool Importer::importWithTail(SharedTail &tail, llvm::ArrayRef<Node> after,
                              llvm::ArrayRef<std::string> outputs, Scope &scope,
                              const NodePosition *outer) {
  std::vector<std::string> needed;
  for (const auto &entry : tail.names) {
    llvm::StringSet<> one;
    one.insert(entry.getKey());
    if (llvm::is_contained(outputs, entry.getKey()) ||
        llvm::any_of(after,
                     [&](const Node &node) { return usesAny(node, one); }))
      needed.push_back(entry.getKey().str());
  }
  llvm::sort(needed);
  extendedNodes.push_back(std::make_unique<Node>(*tail.node));
  Node &longer = *extendedNodes.back();
  longer.outputs = needed;
  for (Attribute &attribute : longer.attributes)
    for (auto &graph : attribute.graphs)
      graph = appendTail(*graph, *tail.node, tail.rest, needed);
  node(longer, tail.index, scope, outer);
  return !std::exchange(isRankOpen, false);
}

void Importer::nodes(llvm::ArrayRef<Node> list,
                     llvm::ArrayRef<std::string> outputs, Scope &scope,
                     const NodePosition *outer) {
  std::vector<SharedTail> open;
  for (size_t index = 0; index < list.size(); ++index) {
    const Node &next = list[index];
    auto used = llvm::find_if(open, [&](const SharedTail &tail) {
      return usesAny(next, tail.names);
    });
    if (used == open.end()) {
      node(next, index, scope, outer);
      if (!std::exchange(isRankOpen, false))
        continue;
      SharedTail &tail = open.emplace_back();
      tail.node = &next;
      tail.index = index;
      tail.addNames(next);
      continue;
    }
    used->add(next);
    if (used->rest.size() > kMaxLength)
      break;
    if (importWithTail(*used, list.drop_front(index + 1), outputs, scope,
                       outer))
      open.erase(used);
  }
  for (const SharedTail &tail : open) {
    duplicatesTails = false; // reports the error
    node(*tail.node, tail.index, scope, outer);
  }
}

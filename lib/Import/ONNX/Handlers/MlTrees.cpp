// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tree ensembles, with the attributes of each version of the operators.
#include "../OpTable.h"
#include "Arithmetic.h"
#include "Forest.h"
#include "Ml.h"
#include <cmath>
#include <map>

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;

namespace {

//===----------------------------------------------------------------------===//
// Older versions: nodes by the number of their tree and their own
//===----------------------------------------------------------------------===//

std::vector<int64_t> getIntegers(Binder &b, llvm::StringRef name) {
  auto given = b.getInts(name);
  return given ? std::vector<int64_t>(given->begin(), given->end())
               : std::vector<int64_t>();
}

int parseMode(llvm::StringRef name) {
  return llvm::StringSwitch<int>(name)
      .Case("BRANCH_LEQ", TreeNode::Leq)
      .Case("BRANCH_LT", TreeNode::Lt)
      .Case("BRANCH_GTE", TreeNode::Gte)
      .Case("BRANCH_GT", TreeNode::Gt)
      .Case("BRANCH_EQ", TreeNode::Eq)
      .Case("BRANCH_NEQ", TreeNode::Neq)
      .Case("LEAF", TreeNode::Leaf)
      .Default(-1);
}

/// Returns a branch that is not reachable from a root.
std::optional<size_t> findLost(const Forest &forest) {
  std::vector<bool> isReached(forest.nodes.size(), false);
  std::vector<int64_t> work(forest.roots);
  while (!work.empty()) {
    int64_t at = work.back();
    work.pop_back();
    if (isReached[at])
      continue;
    isReached[at] = true;
    if (forest.nodes[at].mode != TreeNode::Leaf)
      work.insert(work.end(), std::begin(forest.nodes[at].next),
                  std::end(forest.nodes[at].next));
  }
  for (size_t i = 0; i < forest.nodes.size(); ++i)
    if (!isReached[i] && forest.nodes[i].mode != TreeNode::Leaf)
      return i;
  return std::nullopt;
}

/// `prefix` determines whether weights belong to targets or to classes.
LogicalResult readForest(Binder &b, llvm::StringRef prefix, Forest &forest) {
  auto trees = getIntegers(b, "nodes_treeids"),
       ids = getIntegers(b, "nodes_nodeids"),
       features = getIntegers(b, "nodes_featureids"),
       yes = getIntegers(b, "nodes_truenodeids"),
       no = getIntegers(b, "nodes_falsenodeids"),
       missing = getIntegers(b, "nodes_missing_value_tracks_true");
  std::vector<double> values = getNumbers(b, "nodes_values");
  const Attribute *modes = b.node.find("nodes_modes");
  size_t count = ids.size();
  missing.resize(count, 0);
  for (size_t size : {trees.size(), features.size(), yes.size(), no.size(),
                      values.size(), modes ? modes->strings.size() : 0})
    if (size != count || count == 0)
      return b.fail("expected attributes nodes_* of one length");
  std::map<std::pair<int64_t, int64_t>, int64_t> places;
  for (size_t i = 0; i < count; ++i)
    places[{trees[i], ids[i]}] = i;
  std::vector<bool> isInner(count, false);
  for (size_t i = 0; i < count; ++i) {
    TreeNode &node = forest.nodes.emplace_back();
    node.mode = parseMode(modes->strings[i]);
    if (node.mode < 0)
      return b.fail("expected modes of branches or LEAF, but got '" +
                    modes->strings[i] + "'");
    node.feature = features[i];
    node.value = values[i];
    node.missingIsTrue = missing[i] != 0;
    if (node.mode == TreeNode::Leaf)
      continue;
    int64_t sides[2] = {no[i], yes[i]};
    for (int side = 0; side < 2; ++side) {
      auto found = places.find({trees[i], sides[side]});
      if (found == places.end())
        return b.fail("expected node " + llvm::Twine(sides[side]) +
                      " of tree " + llvm::Twine(trees[i]) + " to be present");
      node.next[side] = found->second;
      isInner[found->second] = true;
    }
  }
  for (size_t i = 0; i < count; ++i)
    if (!isInner[i])
      forest.roots.push_back(i);
  if (auto lost = findLost(forest))
    return b.fail("expected node " + llvm::Twine(ids[*lost]) + " of tree " +
                  llvm::Twine(trees[*lost]) +
                  " to be below a root, but it is in a cycle or below one");
  auto weightTrees = getIntegers(b, (prefix + "_treeids").str()),
       weightIds = getIntegers(b, (prefix + "_nodeids").str()),
       targets = getIntegers(b, (prefix + "_ids").str());
  std::vector<double> weights = getNumbers(b, (prefix + "_weights").str());
  if (weightIds.size() != weightTrees.size() ||
      targets.size() != weightIds.size() || weights.size() != targets.size())
    return b.fail("expected attributes " + prefix + "_* of one length");
  for (size_t i = 0; i < weights.size(); ++i) {
    auto found = places.find({weightTrees[i], weightIds[i]});
    if (found == places.end() || targets[i] < 0 || targets[i] >= forest.targets)
      return b.fail("expected weights of existing nodes and targets");
    forest.nodes[found->second].weights.push_back({targets[i], weights[i]});
  }
  return mlir::success();
}

Value addBase(Binder &b, Value scores) {
  std::vector<double> base = getNumbers(b, "base_values");
  if (base.empty() || !scores)
    return scores;
  return Arithmetic(b).add(scores, makeTable(b, b.getElementType(scores), base,
                                             {int64_t(base.size())}));
}

LogicalResult importRegressor(Binder &b) {
  Forest forest;
  forest.targets = b.getInt("n_targets", 1);
  forest.aggregate = b.getString("aggregate_function", "SUM").str();
  if (forest.targets < 1 || forest.targets > 65536 ||
      mlir::failed(readForest(b, "target", forest)))
    return b.fail("expected n_targets of at least 1");
  Value scores = addBase(b, evaluateForest(b, forest, getFloatRows(b)));
  scores = transformScores(b, scores, b.getString("post_transform", "NONE"));
  return b.done(b.cast(scores, b.builder.getF32Type()));
}

/// Scores of two classes may be those of one only.
LogicalResult importClassifier(Binder &b) {
  Arithmetic a(b);
  Forest forest;
  auto labels = getIntegers(b, "classlabels_int64s");
  const Attribute *names = b.node.find("classlabels_strings");
  size_t classes = !labels.empty() ? labels.size()
                   : names         ? names->strings.size()
                                   : 0;
  auto ids = getIntegers(b, "class_ids");
  bool isBinary = classes <= 2 && !ids.empty() &&
                  llvm::all_of(ids, [&](int64_t id) { return id == ids[0]; });
  forest.targets = classes;
  if (classes == 0 || mlir::failed(readForest(b, "class", forest)))
    return b.fail("expected labels of classes");
  llvm::StringRef transform = b.getString("post_transform", "NONE");
  mlir::Type i64 = b.builder.getI64Type(), f32 = b.builder.getF32Type();
  Value index, scores;
  if (isBinary) {
    for (TreeNode &node : forest.nodes)
      for (auto &weight : node.weights)
        weight.first = 0;
    forest.targets = 1;
    std::vector<double> weights = getNumbers(b, "class_weights");
    bool share = llvm::all_of(weights, [](double w) { return w >= 0; });
    scores = addBase(b, evaluateForest(b, forest, getFloatRows(b)));
    index = b.cast(a.greater(a.flatten(scores, 0, 2), share ? 0.5 : 0.0), i64);
    scores = makeBinaryScores(b, scores, share, transform);
  } else {
    scores = addBase(b, evaluateForest(b, forest, getFloatRows(b)));
    index = b.create<graph::ArgMaxOp>(
        scores, {b.attr("axis", int64_t(1)), b.attr("keepdims", false)});
    scores = transformScores(b, scores, transform);
  }
  if (classes > 1)
    index = getLabels(b, index, "classlabels_int64s", "classlabels_strings");
  return b.done({index, b.cast(scores, f32)});
}

//===----------------------------------------------------------------------===//
// Version 5: nodes by their index, leaves in a separate table
//===----------------------------------------------------------------------===//

class TreeEnsemble {
public:
  explicit TreeEnsemble(Binder &b) : b(b) {}
  LogicalResult run();

private:
  LogicalResult readNodes();
  LogicalResult expandMembers();

  Binder &b;
  Forest forest;
};

LogicalResult TreeEnsemble::readNodes() {
  auto features = getIntegers(b, "nodes_featureids"),
       yes = getIntegers(b, "nodes_truenodeids"),
       no = getIntegers(b, "nodes_falsenodeids"),
       yesIsLeaf = getIntegers(b, "nodes_trueleafs"),
       noIsLeaf = getIntegers(b, "nodes_falseleafs"),
       missing = getIntegers(b, "nodes_missing_value_tracks_true"),
       targets = getIntegers(b, "leaf_targetids");
  std::vector<double> splits = getNumbers(b, "nodes_splits"),
                      modes = getNumbers(b, "nodes_modes"),
                      weights = getNumbers(b, "leaf_weights");
  int64_t count = features.size(), leaves = targets.size();
  missing.resize(count, 0);
  for (size_t size : {yes.size(), no.size(), yesIsLeaf.size(), noIsLeaf.size(),
                      splits.size(), modes.size()})
    if (int64_t(size) != count || count == 0)
      return b.fail("expected attributes nodes_* of one length");
  if (int64_t(weights.size()) != leaves)
    return b.fail("expected attributes leaf_* of one length");
  // Leaves follow the nodes.
  forest.nodes.resize(count + leaves);
  for (int64_t i = 0; i < count; ++i) {
    TreeNode &node = forest.nodes[i];
    node.mode = int(modes[i]);
    node.feature = features[i];
    node.value = splits[i];
    node.missingIsTrue = missing[i] != 0;
    int64_t sides[2] = {no[i], yes[i]};
    bool isLeaf[2] = {noIsLeaf[i] != 0, yesIsLeaf[i] != 0};
    if (node.mode < TreeNode::Leq || node.mode > TreeNode::Member)
      return b.fail("expected modes of 0 to 6, but got " +
                    llvm::Twine(node.mode));
    for (int side = 0; side < 2; ++side) {
      if (sides[side] < 0 || sides[side] >= (isLeaf[side] ? leaves : count))
        return b.fail("expected existing nodes and leaves");
      node.next[side] = sides[side] + (isLeaf[side] ? count : 0);
    }
  }
  for (int64_t i = 0; i < leaves; ++i) {
    if (targets[i] < 0 || targets[i] >= forest.targets)
      return b.fail("expected leaf_targetids below n_targets");
    forest.nodes[count + i].weights.push_back({targets[i], weights[i]});
  }
  forest.roots = getIntegers(b, "tree_roots");
  for (int64_t root : forest.roots)
    if (root < 0 || root >= count)
      return b.fail("expected tree_roots that are nodes");
  return mlir::success(!forest.roots.empty());
}

/// Replaces a node that tests membership in a set by one node for each member.
/// Sets are in the order in which trees are walked, each terminated by a NaN.
LogicalResult TreeEnsemble::expandMembers() {
  std::vector<double> members = getNumbers(b, "membership_values");
  size_t at = 0;
  std::vector<int64_t> work(forest.roots.rbegin(), forest.roots.rend());
  std::vector<bool> seen(forest.nodes.size(), false);
  while (!work.empty()) {
    int64_t place = work.back();
    work.pop_back();
    if (size_t(place) < seen.size() && seen[place])
      continue;
    seen[place] = true;
    TreeNode node = forest.nodes[place];
    if (node.mode == TreeNode::Leaf)
      continue;
    work.push_back(node.next[0]);
    work.push_back(node.next[1]);
    if (node.mode != TreeNode::Member)
      continue;
    std::vector<double> set;
    while (at < members.size() && !std::isnan(members[at]))
      set.push_back(members[at++]);
    ++at; // the NaN
    if (set.empty())
      return b.fail("expected membership_values for each node of mode 6");
    node.mode = TreeNode::Eq;
    for (size_t i = 0; i < set.size(); ++i) {
      TreeNode one = node;
      one.value = set[i];
      int64_t where = i == 0 ? place : int64_t(forest.nodes.size());
      if (i + 1 < set.size())
        one.next[0] = int64_t(forest.nodes.size()) + (i == 0 ? 0 : 1);
      if (i == 0)
        forest.nodes[where] = one;
      else
        forest.nodes.push_back(one);
    }
  }
  return mlir::success();
}

LogicalResult TreeEnsemble::run() {
  constexpr const char *aggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  constexpr const char *transforms[] = {"NONE", "SOFTMAX", "LOGISTIC",
                                        "SOFTMAX_ZERO", "PROBIT"};
  int64_t aggregate = b.getInt("aggregate_function", 1),
          transform = b.getInt("post_transform", 0);
  forest.targets = b.getInt("n_targets", 1);
  if (aggregate < 0 || aggregate > 3 || transform < 0 || transform > 4 ||
      forest.targets < 1 || forest.targets > 65536)
    return b.fail("expected aggregate_function of 0 to 3, post_transform of 0 "
                  "to 4 and n_targets of at least 1");
  forest.aggregate = aggregates[aggregate];
  if (mlir::failed(readNodes()) || mlir::failed(expandMembers()))
    return b.fail("expected tree_roots, but got none");
  Value x = b.operand(0);
  mlir::Type type = b.getElementType(x);
  Value scores = evaluateForest(b, forest, getFloatRows(b));
  return b.done(
      b.cast(transformScores(b, scores, transforms[transform]), type));
}

LogicalResult importTreeEnsemble(Binder &b) { return TreeEnsemble(b).run(); }

} // namespace

void adze::importer::addTreeOps(std::vector<OpRow> &rows) {
  constexpr llvm::StringRef domain = "ai.onnx.ml";
  rows.insert(rows.end(), {
                              {"TreeEnsemble", 5, 1, importTreeEnsemble, "",
                               INT32_MAX, domain},
                              {"TreeEnsembleClassifier", 1, 1, importClassifier,
                               "string labels", INT32_MAX, domain},
                              {"TreeEnsembleRegressor", 1, 1, importRegressor,
                               "", INT32_MAX, domain},
                          });
}

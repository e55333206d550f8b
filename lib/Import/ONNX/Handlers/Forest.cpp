// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Decision trees: the leaves that rows reach, and the sums of their weights.
// Branches of all modes become comparisons with <=.
#include "Forest.h"
#include "Arithmetic.h"
#include "Ml.h"
#include <cmath>

using namespace adze;
using namespace adze::importer;
using mlir::Value;

namespace {

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// Returns the greatest number below `value` in the type of the input.
double getBelow(double value, bool isDouble) {
  double infinity = std::numeric_limits<double>::infinity();
  // There is no number below -infinity, and none is at most NaN.
  if (value == -infinity)
    return std::numeric_limits<double>::quiet_NaN();
  return isDouble ? std::nextafter(value, -infinity)
                  : std::nextafter(float(value), -float(infinity));
}

/// Converts all branches to mode Leq, with the same branch for NaN.
void normalize(Forest &forest, bool isDouble) {
  size_t count = forest.nodes.size();
  for (size_t i = 0; i < count; ++i) {
    TreeNode node = forest.nodes[i];
    if (node.mode == TreeNode::Leaf)
      continue;
    if (!isDouble)
      node.value = float(node.value);
    auto [no, yes] = node.next;
    bool hasOrder = !std::isnan(node.value);
    switch (node.mode) {
    case TreeNode::Lt:
      node.value = getBelow(node.value, isDouble);
      break;
    case TreeNode::Gte:
    case TreeNode::Gt:
      if (!hasOrder) // never true, like <=
        break;
      if (node.mode == TreeNode::Gte)
        node.value = getBelow(node.value, isDouble);
      std::swap(node.next[0], node.next[1]);
      node.missingIsTrue = !node.missingIsTrue;
      break;
    case TreeNode::Eq:
    case TreeNode::Neq: {
      // x == v is x <= v and not x <= the number below v.
      bool isEq = node.mode == TreeNode::Eq;
      int64_t equal = isEq ? yes : no, other = isEq ? no : yes;
      int64_t missing = !isEq || node.missingIsTrue ? yes : no;
      TreeNode second = node;
      second.mode = TreeNode::Leq;
      second.value = getBelow(node.value, isDouble);
      second.next[0] = equal;
      second.next[1] = other;
      second.missingIsTrue = missing != equal;
      node.next[0] = other;
      node.next[1] = int64_t(forest.nodes.size());
      node.missingIsTrue = missing != other;
      forest.nodes.push_back(second);
      break;
    }
    default:
      break;
    }
    node.mode = TreeNode::Leq;
    forest.nodes[i] = node;
  }
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

class Evaluator {
public:
  Evaluator(Binder &b, Forest &forest) : b(b), a(b), forest(forest) {}
  /// Returns [N, targets].
  Value run(Value x);

private:
  static constexpr int64_t group = graph::TreeLeavesOp::treesAStep;

  bool checkFeatures(Value x);
  bool findDepths();
  std::optional<int64_t> getTarget(int64_t root);
  bool sortByTarget();
  void sortByDepth(size_t begin, size_t end);
  void number();
  template <typename T>
  Value makeIntegers(llvm::ArrayRef<T> values) {
    auto tensor = mlir::RankedTensorType::get(
        {int64_t(values.size())}, b.builder.getIntegerType(8 * sizeof(T)));
    return b.constant(mlir::DenseIntElementsAttr::get(tensor, values));
  }
  void appendWords(const TreeNode &node, std::vector<int64_t> &words);
  Value findLeaves(Value x);
  Value getWeights(Value leaves);
  Value combine(Value each, int64_t axis);

  /// Returns the neutral element of the aggregation.
  double getNeutral() {
    return forest.aggregate == "MIN" ? double(std::numeric_limits<float>::max())
           : forest.aggregate == "MAX"
               ? double(std::numeric_limits<float>::lowest())
               : 0;
  }
  double add(double x, double y) {
    return forest.aggregate == "MIN"   ? std::min(x, y)
           : forest.aggregate == "MAX" ? std::max(x, y)
                                       : x + y;
  }

  Binder &b;
  Arithmetic a;
  Forest &forest;
  mlir::Type type; // of features, thresholds and weights
  int64_t trees = 0;
  /// For each node, the branches on the longest path to a leaf.
  std::vector<int64_t> depths;
  /// True if trees of one target are adjacent, with equal numbers for all
  /// targets.
  bool isByTarget = false;
  /// Branches and leaves in the order of the tables, and their numbers there;
  /// that of leaf i is -1 - i.
  std::vector<int64_t> branches, leaves;
  std::vector<int32_t> numbers;
};

bool Evaluator::checkFeatures(Value x) {
  int64_t width =
      std::min<int64_t>(graph::getConstant(graph::getDims(x)[1])
                            .value_or(std::numeric_limits<int32_t>::max()),
                        std::numeric_limits<int32_t>::max());
  for (const TreeNode &node : forest.nodes)
    if (node.mode != TreeNode::Leaf &&
        (node.feature < 0 || node.feature >= width)) {
      (void)b.fail("expected features of the input, but got " +
                   llvm::Twine(node.feature));
      return false;
    }
  return true;
}

/// Returns false if there is a cycle.
bool Evaluator::findDepths() {
  enum State : char { New, Open, Done };
  std::vector<State> state(forest.nodes.size(), New);
  depths.assign(forest.nodes.size(), 0);
  std::vector<int64_t> work(forest.roots);
  while (!work.empty()) {
    int64_t at = work.back();
    const TreeNode &node = forest.nodes[at];
    if (state[at] == New && node.mode != TreeNode::Leaf) {
      state[at] = Open;
      for (int64_t next : node.next) {
        if (state[next] == Open)
          return false;
        if (state[next] == New)
          work.push_back(next);
      }
      continue;
    }
    work.pop_back();
    if (state[at] == Done)
      continue;
    state[at] = Done;
    if (node.mode != TreeNode::Leaf)
      depths[at] = 1 + std::max(depths[node.next[0]], depths[node.next[1]]);
  }
  return true;
}

/// Returns the only target of the leaves of a tree, each of which has one
/// weight, or nothing. For a tree without weights it is 0.
std::optional<int64_t> Evaluator::getTarget(int64_t root) {
  std::optional<int64_t> target;
  std::vector<int64_t> work{root};
  llvm::DenseSet<int64_t> seen;
  while (!work.empty()) {
    int64_t at = work.back();
    work.pop_back();
    if (!seen.insert(at).second)
      continue;
    const TreeNode &node = forest.nodes[at];
    if (node.mode != TreeNode::Leaf)
      work.insert(work.end(), std::begin(node.next), std::end(node.next));
    for (auto [of, weight] : node.weights)
      if (node.mode == TreeNode::Leaf && target.value_or(of) != of)
        return std::nullopt;
      else if (node.mode == TreeNode::Leaf)
        target = of;
  }
  return target.value_or(0);
}

/// Sorts trees by depth, so that the trees of a block end together.
void Evaluator::sortByDepth(size_t begin, size_t end) {
  llvm::sort(llvm::MutableArrayRef(forest.roots).slice(begin, end - begin),
             [&](int64_t lhs, int64_t rhs) {
               return std::pair(depths[lhs], lhs) < std::pair(depths[rhs], rhs);
             });
}

/// Makes trees of one target adjacent, if each has one target, and adds trees
/// that are a leaf without weights.
bool Evaluator::sortByTarget() {
  std::vector<std::vector<int64_t>> byTarget(forest.targets);
  for (int64_t root : forest.roots) {
    auto target = getTarget(root);
    if (!target)
      return false;
    byTarget[*target].push_back(root);
  }
  size_t most = 0;
  for (const std::vector<int64_t> &roots : byTarget)
    most = std::max(most, roots.size());
  // Otherwise a table with weights for all targets is faster.
  if (most * byTarget.size() > 2 * forest.roots.size())
    return false;
  std::optional<int64_t> empty;
  std::vector<int64_t> sorted;
  for (std::vector<int64_t> &roots : byTarget) {
    for (int64_t root : roots)
      sorted.push_back(root);
    for (size_t i = roots.size(); i < most; ++i) {
      if (!empty) {
        empty = int64_t(forest.nodes.size());
        forest.nodes.emplace_back();
        depths.push_back(0);
      }
      sorted.push_back(*empty);
    }
  }
  forest.roots = sorted;
  for (size_t i = 0; i < sorted.size(); i += most)
    sortByDepth(i, i + most);
  return true;
}

/// Numbers the nodes reachable from the roots, tree by tree.
void Evaluator::number() {
  constexpr int32_t none = std::numeric_limits<int32_t>::min();
  numbers.assign(forest.nodes.size(), none);
  std::vector<int64_t> work(forest.roots.rbegin(), forest.roots.rend());
  while (!work.empty()) {
    int64_t at = work.back();
    work.pop_back();
    if (numbers[at] != none)
      continue;
    const TreeNode &node = forest.nodes[at];
    if (node.mode == TreeNode::Leaf) {
      leaves.push_back(at);
      numbers[at] = -int32_t(leaves.size());
      continue;
    }
    numbers[at] = int32_t(branches.size());
    branches.push_back(at);
    work.push_back(node.next[0]);
    work.push_back(node.next[1]);
  }
}

/// Appends the words of a branch in the format of graph.tree_leaves.
void Evaluator::appendWords(const TreeNode &node, std::vector<int64_t> &words) {
  auto join = [](int32_t upper, uint32_t lower) {
    return int64_t(uint64_t(uint32_t(upper)) << 32 | lower);
  };
  int32_t feature = int32_t(node.feature);
  if (node.missingIsTrue)
    feature = -1 - feature;
  if (type.isF64()) {
    words.push_back(llvm::bit_cast<int64_t>(node.value));
    words.push_back(join(feature, 0));
  } else {
    words.push_back(join(feature, llvm::bit_cast<uint32_t>(float(node.value))));
  }
  words.push_back(join(numbers[node.next[1]], uint32_t(numbers[node.next[0]])));
}

Value Evaluator::findLeaves(Value x) {
  std::vector<int64_t> words;
  std::vector<int32_t> roots, steps;
  for (int64_t branch : branches)
    appendWords(forest.nodes[branch], words);
  if (branches.empty()) // the table needs a node, which is never read
    words.resize(graph::TreeLeavesOp::getNumWords(type));
  for (auto [i, root] : llvm::enumerate(forest.roots)) {
    roots.push_back(numbers[root]);
    if (i % group == 0)
      steps.push_back(0);
    steps.back() = std::max(steps.back(), int32_t(depths[root]));
  }
  return b.create<graph::TreeLeavesOp>({x, makeIntegers<int64_t>(words),
                                        makeIntegers<int32_t>(roots),
                                        makeIntegers<int32_t>(steps)});
}

/// Returns the weights of the leaves [N, trees]: [N, trees], or [N, trees,
/// targets].
Value Evaluator::getWeights(Value leaf) {
  int64_t targets = isByTarget ? 1 : forest.targets;
  std::vector<double> weights(leaves.size() * targets, getNeutral());
  for (auto [i, at] : llvm::enumerate(leaves))
    for (auto [target, weight] : forest.nodes[at].weights) {
      double &sum = weights[i * targets + (isByTarget ? 0 : target)];
      sum = add(sum, weight);
    }
  llvm::SmallVector<int64_t> shape{int64_t(leaves.size())};
  if (!isByTarget)
    shape.push_back(targets);
  return a.gather(makeTable(b, type, weights, shape), leaf, 0);
}

Value Evaluator::combine(Value each, int64_t axis) {
  if (forest.aggregate == "MIN")
    return a.reduce<graph::ReduceMinOp>(each, {axis});
  if (forest.aggregate == "MAX")
    return a.reduce<graph::ReduceMaxOp>(each, {axis});
  Value sum = a.sum(each, {axis});
  return forest.aggregate == "AVERAGE" ? a.div(sum, double(trees)) : sum;
}

Value Evaluator::run(Value x) {
  if (!x || !checkFeatures(x))
    return {};
  trees = forest.roots.size();
  type = b.getElementType(x);
  normalize(forest, type.isF64());
  if (!findDepths()) {
    (void)b.fail("expected trees whose nodes lead to leaves");
    return {};
  }
  isByTarget = sortByTarget();
  if (!isByTarget)
    sortByDepth(0, forest.roots.size());
  number();
  Value leaf = findLeaves(x);
  if (!leaf)
    return {};
  Value each = getWeights(leaf);
  if (!isByTarget)
    return combine(each, 1);
  // The shape is [N, targets, trees of a target].
  int64_t most = int64_t(forest.roots.size()) / forest.targets;
  each = b.reshape(
      each, {graph::getDims(leaf)[0], b.expr(forest.targets), b.expr(most)});
  return combine(each, 2);
}

} // namespace

Value adze::importer::evaluateForest(Binder &b, Forest &forest, Value x) {
  return Evaluator(b, forest).run(x);
}

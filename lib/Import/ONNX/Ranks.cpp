// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Ranks and sizes that operands do not have but the model implies: declarations
// of values, and requirements of nodes.
#include "Importer.h"
#include "Sizes.h"
#include "llvm/ADT/StringSet.h"

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::Value;

static bool isOneOf(const Node &node, const llvm::StringSet<> &names) {
  return node.domain.empty() && !node.outputs.empty() &&
         names.contains(node.opType);
}

/// Returns true for operators whose first output has the rank of their first
/// input.
static bool keepsRank(const Node &node) {
  static const llvm::StringSet<> names = {
      "Abs",        "Cast",      "CastLike", "Ceil",      "Clip",
      "Cos",        "Elu",       "Erf",      "Exp",       "Floor",
      "Gelu",       "HardSwish", "Identity", "LeakyRelu", "Log",
      "LogSoftmax", "Neg",       "Not",      "Pad",       "Reciprocal",
      "Relu",       "Round",     "Sigmoid",  "Sign",      "Sin",
      "Slice",      "Softmax",   "Softplus", "Sqrt",      "Tanh",
      "Transpose"};
  return isOneOf(node, names) && !node.inputs.empty();
}

/// Returns true for operators whose output has the greatest rank of their
/// inputs.
static bool broadcasts(const Node &node) {
  static const llvm::StringSet<> names = {
      "Add",  "And", "Div",         "Equal", "Greater", "GreaterOrEqual",
      "Less", "Max", "LessOrEqual", "Mean",  "Min",     "Mod",
      "Mul",  "Or",  "Pow",         "Sub",   "Sum",     "Where",
      "Xor"};
  return isOneOf(node, names);
}

/// Returns the rank of the tensor of a Constant.
static std::optional<int64_t> getConstantRank(const Node &node) {
  if (node.opType != "Constant" || !node.domain.empty())
    return std::nullopt;
  if (const Attribute *value = node.find("value"))
    return value->tensors.empty() ? std::nullopt
                                  : std::make_optional<int64_t>(
                                        value->tensors.front().dims.size());
  if (node.find("value_float") || node.find("value_int"))
    return 0;
  return std::nullopt;
}

namespace {
/// Derives ranks of operands from those of results.
class RankPropagation {
public:
  RankPropagation(llvm::ArrayRef<Node> nodes, Scope &scope)
      : nodes(nodes), scope(scope) {
    for (const Node &node : nodes)
      if (auto rank = getConstantRank(node); rank && !node.outputs.empty())
        constants[node.outputs.front()] = *rank;
  }

  void run() {
    for (const Node &node : llvm::reverse(nodes)) {
      auto found = node.outputs.empty()
                       ? scope.ranks.end()
                       : scope.ranks.find(node.outputs.front());
      if (found != scope.ranks.end())
        addOperands(node, found->second);
    }
  }

private:
  void addOperands(const Node &node, int64_t rank) {
    bool isConcat = node.opType == "Concat" && node.domain.empty();
    if (keepsRank(node))
      scope.ranks.try_emplace(node.inputs.front(), rank);
    else if (isConcat || (broadcasts(node) && rank == 0))
      for (const std::string &input : node.inputs)
        scope.ranks.try_emplace(input, rank);
    else if (broadcasts(node))
      addBroadcast(node, rank);
  }

  /// One operand has the rank of the result if all others are known to have
  /// less.
  void addBroadcast(const Node &node, int64_t rank) {
    const std::string *largest = nullptr;
    for (const std::string &input : node.inputs) {
      auto known = getRank(input);
      if (known && *known < rank)
        continue;
      if (largest)
        return;
      largest = &input;
    }
    if (largest)
      scope.ranks.try_emplace(*largest, rank);
  }

  std::optional<int64_t> getRank(llvm::StringRef name) const {
    if (auto found = scope.constants.find(name); found != scope.constants.end())
      return found->second->dims.size();
    if (auto found = constants.find(name); found != constants.end())
      return found->second;
    return std::nullopt;
  }

  llvm::ArrayRef<Node> nodes;
  Scope &scope;
  llvm::StringMap<int64_t> constants; // of Constant nodes
};
} // namespace

void adze::importer::addRanks(llvm::ArrayRef<ValueInfo> outputs,
                              llvm::ArrayRef<Node> nodes, Scope &scope) {
  for (const ValueInfo &output : outputs)
    if (output.dims)
      scope.ranks[output.name] = output.dims->size();
  if (!scope.ranks.empty())
    RankPropagation(nodes, scope).run();
}

std::optional<int64_t> Binder::getDeclaredRank(unsigned output) const {
  const auto &ranks = importer.currentScope->ranks;
  auto found = output < node.outputs.size() ? ranks.find(node.outputs[output])
                                            : ranks.end();
  return found == ranks.end() ? std::nullopt
                              : std::make_optional(found->second);
}

bool Importer::assumeEqual(AffineExpr lhs, AffineExpr rhs) {
  bool isAlways = builder.getInsertionBlock() == &function.front();
  for (AffineExpr expr : {lhs, rhs})
    graph::forEachSymbol(
        expr, [&](unsigned symbol) { isAlways &= symbol < numInputSymbols; });
  if (isAlways)
    equalities.push_back({lhs, rhs});
  return isAlways;
}

/// Refines the type by the known dims, which are checked at run time, if
/// possible before the run begins.
Value Binder::refine(Value value, llvm::ArrayRef<AffineExpr> wanted) {
  if (!value || failed)
    return {};
  Dims dims = graph::getDims(value);
  if (dims.size() != wanted.size()) {
    (void)fail("expected " + llvm::Twine(wanted.size()) + " dims, but got " +
               graph::toString(dims));
    return {};
  }
  Dims old = dims;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (!wanted[i] || graph::areEqual(dim, wanted[i]))
      continue;
    if (graph::areDifferent(dim, wanted[i])) {
      (void)fail("expected a size of " + graph::toString({wanted[i]}) +
                 ", but got " + graph::toString(old));
      return {};
    }
    auto size = graph::getConstant(wanted[i]);
    if (!dim || !importer.assumeEqual(dim, wanted[i])) {
      if (!size)
        continue;
      Sizes sizes(*this);
      check(sizes.equal(sizes.pickScalar(sizes.shape(value), i),
                        sizes.number(*size)),
            "expected a size that fits");
    }
    dim = wanted[i];
  }
  return reshape(value, dims);
}

Value Binder::withDeclaredRank(Value shape) {
  auto rank = getDeclaredRank();
  if (!shape || !rank || getRank(shape) != 1 ||
      graph::getConstant(graph::getDims(shape)[0]))
    return shape;
  return withLength(shape, *rank);
}

Value Binder::withLength(Value vector, int64_t length) {
  if (!vector || getRank(vector) != 1)
    return vector;
  return refine(vector, expr(length));
}

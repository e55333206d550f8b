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

/// Returns true for operators whose first output has the rank of their first
/// input.
static bool keepsRank(const Node &node) {
  static const llvm::StringSet<> names = {
      "Abs",   "Cast",       "CastLike", "Ceil",  "Clip",       "Cos",
      "Elu",   "Erf",        "Exp",      "Floor", "Gelu",       "Identity",
      "Log",   "LogSoftmax", "Neg",      "Not",   "Reciprocal", "Relu",
      "Round", "Sigmoid",    "Sign",     "Sin",   "Softmax",    "Softplus",
      "Sqrt",  "Tanh",       "Transpose"};
  return node.domain.empty() && !node.inputs.empty() && !node.outputs.empty() &&
         names.contains(node.opType);
}

void adze::importer::addRanks(llvm::ArrayRef<ValueInfo> outputs,
                              llvm::ArrayRef<Node> nodes,
                              llvm::StringMap<int64_t> &ranks) {
  for (const ValueInfo &output : outputs)
    if (output.dims)
      ranks[output.name] = output.dims->size();
  for (const Node &node : llvm::reverse(nodes)) {
    if (ranks.empty() || !keepsRank(node))
      continue;
    auto found = ranks.find(node.outputs.front());
    if (found != ranks.end())
      ranks.try_emplace(node.inputs.front(), int64_t(found->second));
  }
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

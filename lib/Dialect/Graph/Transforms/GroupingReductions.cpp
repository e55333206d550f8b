// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Groups reductions of the same elements, which share one loop.
#include "Dialect/Graph/IR/Reduced.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Fusion.h"
#include "Grouping.h"

using namespace mlir;
using namespace adze::graph;

/// Returns the reduction of an op over dims of known size.
static std::optional<Reduced> getKnownReduced(Operation *op) {
  auto reduced = getReduced(op);
  if (!reduced || reduced->axes.empty() ||
      llvm::is_contained(getDims(reduced->input), AffineExpr()))
    return std::nullopt;
  return reduced;
}

bool adze::graph::reduceAlike(Operation *lhs, Operation *rhs) {
  auto one = getKnownReduced(lhs), other = getKnownReduced(rhs);
  return one && other && reducesAlike(*one, *other);
}

/// Returns the values that the elements of a reduction are computed from
/// elementwise, nearest first.
static SmallVector<Value> getSources(const Reduced &reduced) {
  constexpr size_t most = 16;
  Dims dims = getDims(reduced.input);
  SmallVector<Value> sources{reduced.input};
  for (size_t i = 0; i < sources.size(); ++i) {
    Operation *op = sources[i].getDefiningOp();
    if (!op || !isPointwise(op))
      continue;
    for (Value operand : op->getOperands())
      if (sources.size() < most && areEqual(getDims(operand), dims) &&
          !operand.getDefiningOp<ConstantOp>() &&
          !llvm::is_contained(sources, operand))
        sources.push_back(operand);
  }
  return sources;
}

/// Returns true if the group has elements computed from its reductions, which
/// no kernel supports together with the index of the greatest element.
static bool hasElements(const Group &group, const Reduced &reduced) {
  Dims dims = getDims(reduced.input);
  return !areEqual(dims, getDims(reduced.result)) &&
         llvm::any_of(group.ops, [&](Operation *op) {
           return !getReduced(op) && op->getNumResults() == 1 &&
                  areEqual(getDims(op->getResult(0)), dims);
         });
}

/// Returns the groups that reduce alike: the same sources, and values that one
/// kernel computes.
SmallVector<unsigned> Grouping::findReductions(Operation *op,
                                               ValueRange sources) {
  constexpr size_t most = 32; // limits the time
  SmallVector<unsigned> candidates;
  auto consider = [&](Operation *other) {
    auto it = groupOf.find(other);
    if (it == groupOf.end() || it->second == groupOf.lookup(op) ||
        positions.lookup(other) > positions.lookup(op) ||
        candidates.size() >= most || llvm::is_contained(candidates, it->second))
      return;
    const Group &group = groups[it->second];
    if (!hasTranspose(group) && reduceAlike(group.anchor, op) &&
        !(isa<ArgMaxOp, ArgMinOp>(op) && hasElements(group, *getReduced(op))))
      candidates.push_back(it->second);
  };
  for (Value source : sources) {
    if (Operation *producer = source.getDefiningOp())
      consider(producer);
    auto &others = reductions[source];
    for (Operation *other : ArrayRef(others).take_back(most))
      consider(other);
  }
  auto producer = getGroup(sources.front());
  if (!producer || !getReduced(groups[*producer].anchor))
    return candidates;
  size_t seen = 0;
  for (Operation *member : groups[*producer].ops)
    for (Operation *user : member->getUsers())
      if (++seen <= most && getReduced(user))
        consider(user);
  return candidates;
}

/// Adds a reduction to those over the same elements. Ops between it and the
/// result of another one are computed on demand.
bool Grouping::growReduction(Operation *op) {
  auto reduced = getKnownReduced(op);
  if (!reduced)
    return false;
  unsigned self = groupOf.lookup(op);
  SmallVector<Value> sources = getSources(*reduced);
  SmallVector<unsigned> candidates = findReductions(op, sources);
  for (Value source : sources)
    reductions[source].push_back(op);
  for (unsigned candidate : candidates) {
    if (makesCycle(candidate, self))
      for (Value source : sources)
        if (auto between = getGroup(source);
            between && *between != self && *between != candidate)
          joinConsumer(*between);
    if (canMerge(candidate, self) && !makesCycle(self, candidate)) {
      merge(self, candidate);
      joinRows(candidate, candidates);
      return true;
    }
  }
  return false;
}

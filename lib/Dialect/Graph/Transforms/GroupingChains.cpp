// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Chains of convolutions whose intermediate tensors exceed the caches: one
// kernel computes them row by row.
#include "Dialect/Graph/IR/ConvChain.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Fusion.h"
#include "Grouping.h"

using namespace mlir;
using namespace adze::graph;

/// Returns the number of images of the batch, or one if it is unknown.
static int64_t getImages(Value value) {
  return getConstant(getDims(value)[0]).value_or(1);
}

/// Returns the bytes of an image.
static int64_t getBytes(Value value) {
  Dims dims = getDims(value);
  auto elements = getConstant(
      product(value.getContext(), ArrayRef<AffineExpr>(dims).drop_front()));
  int64_t bits = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  return elements ? *elements * bits / 8 : 0;
}

/// Returns the only convolution outside of the group that reads a result of the
/// group, if the result is computed elementwise from the last convolution of
/// the group.
ConvOp Grouping::findNextInChain(unsigned index) const {
  const Group &group = groups[index];
  auto last = dyn_cast_or_null<ConvOp>(group.anchor);
  if (!last || group.isMoved)
    return {};
  ConvOp next;
  DenseSet<Operation *> after{last};
  for (Operation *op : group.ops) {
    bool follows = llvm::any_of(op->getOperands(), [&](Value operand) {
      return after.contains(operand.getDefiningOp());
    });
    if (follows && !isPointwise(op))
      return {};
    if (follows)
      after.insert(op);
    for (OpOperand &use : op->getUses()) {
      auto reader = groupOf.find(use.getOwner());
      if (reader != groupOf.end() && reader->second == index)
        continue;
      auto conv = dyn_cast<ConvOp>(use.getOwner());
      if (next || !conv || reader == groupOf.end() || !after.contains(op) ||
          &use != &conv.getInputMutable())
        return {};
      next = conv;
    }
  }
  return next && canFollow(last, next) ? next : ConvOp();
}

/// Returns the bytes of the rows that a window of the convolution covers, which
/// are kept.
static int64_t getKeptBytes(ConvOp next) {
  int64_t height = *getConstant(getDims(next.getInput())[1]);
  return getBytes(next.getInput()) / height * getReach(next, 0);
}

static SmallVector<ConvOp> getConvs(const Group &group) {
  SmallVector<ConvOp> convs;
  for (Operation *op : group.ops)
    if (auto conv = dyn_cast<ConvOp>(op))
      convs.push_back(conv);
  return convs;
}

/// Returns the operations that a chain costs in addition to separate kernels:
/// recomputation, and shorter blocks of rows of the dense ones.
static double getCost(ArrayRef<ConvOp> chain) {
  constexpr double shorter = .05;
  if (chain.size() < 2)
    return 0;
  ChainPlan plan = planChain(chain);
  return plan.again + shorter * plan.flops;
}

/// A depthwise convolution has few operations for each element that it reads or
/// writes, so it is bandwidth-bound. More than one in a chain would recompute
/// many rows.
static bool paysOff(ArrayRef<ConvOp> first, ArrayRef<ConvOp> second,
                    double gain) {
  auto isDepthwise = [](ConvOp op) { return op.getGroup() > 1; };
  auto chain = llvm::to_vector(llvm::concat<const ConvOp>(first, second));
  return llvm::count_if(chain, isDepthwise) == 1 &&
         getCost(chain) - getCost(first) - getCost(second) <= gain;
}

/// Joins the largest tensors first.
void Grouping::joinChains(int64_t leastBytes, int64_t flopsPerByte) {
  SmallVector<std::pair<int64_t, ConvOp>> candidates;
  for (unsigned index = 0; index < groups.size(); ++index)
    if (ConvOp next = findNextInChain(index))
      if (int64_t bytes = getBytes(next.getInput());
          bytes * getImages(next.getInput()) > leastBytes &&
          getKeptBytes(next) < leastBytes)
        candidates.push_back({bytes, next});
  llvm::sort(candidates, [&](const auto &lhs, const auto &rhs) {
    return std::pair(-lhs.first, positions.lookup(lhs.second)) <
           std::pair(-rhs.first, positions.lookup(rhs.second));
  });
  for (auto &[bytes, next] : candidates) {
    unsigned from = *getGroup(next.getInput()), to = groupOf.lookup(next);
    if (paysOff(getConvs(groups[from]), getConvs(groups[to]),
                flopsPerByte * bytes) &&
        canMerge(from, to))
      merge(from, to);
  }
}

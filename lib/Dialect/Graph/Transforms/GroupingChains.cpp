// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Convolutions whose results no cache holds and the next convolution reads: one
// kernel makes both, row by row.
#include "Dialect/Graph/IR/ConvChain.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Fusion.h"
#include "Grouping.h"

using namespace mlir;
using namespace adze::graph;

/// Bytes of a tensor; of one image where their number is not known.
static int64_t getBytes(Value value) {
  Dims dims = getDims(value);
  int64_t images = getConstant(dims[0]).value_or(1);
  auto elements = getConstant(
      product(value.getContext(), ArrayRef<AffineExpr>(dims).drop_front()));
  int64_t bits = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  return elements ? images * *elements * bits / 8 : 0;
}

/// The only convolution outside of the group that reads what the group makes,
/// place by place, of its own last convolution.
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

/// Both groups' convolutions, in order.
static SmallVector<ConvOp> getConvs(const Group &from, const Group &to) {
  SmallVector<ConvOp> convs;
  for (const Group *group : {&from, &to})
    for (Operation *op : group->ops)
      if (auto conv = dyn_cast<ConvOp>(op))
        convs.push_back(conv);
  return convs;
}

/// Of a depthwise convolution each element is read and made by few operations:
/// what is beside one waits for memory. More than one in a chain would make
/// many rows twice. What is made twice has to take less time than `bytes` to
/// and from the next cache.
static bool paysOff(ArrayRef<ConvOp> chain, int64_t bytes) {
  constexpr double flopsAByte = 8, most = .16;
  auto isDepthwise = [](ConvOp op) { return op.getGroup() > 1; };
  if (llvm::count_if(chain, isDepthwise) != 1)
    return false;
  ChainPlan plan = planChain(chain);
  return plan.again <= std::min(flopsAByte * bytes, most * plan.flops);
}

/// The largest tensors first.
void Grouping::joinChains(int64_t leastBytes) {
  SmallVector<std::pair<int64_t, ConvOp>> candidates;
  for (unsigned index = 0; index < groups.size(); ++index)
    if (ConvOp next = findNextInChain(index))
      if (int64_t bytes = getBytes(next.getInput()); bytes > leastBytes)
        candidates.push_back({bytes, next});
  llvm::sort(candidates, [&](const auto &lhs, const auto &rhs) {
    return std::pair(-lhs.first, positions.lookup(lhs.second)) <
           std::pair(-rhs.first, positions.lookup(rhs.second));
  });
  for (auto &[bytes, next] : candidates) {
    unsigned from = *getGroup(next.getInput()), to = groupOf.lookup(next);
    if (paysOff(getConvs(groups[from], groups[to]), bytes) &&
        canMerge(from, to))
      merge(from, to);
  }
}

// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Duplicates conversions from narrower types into the kernels that use them.
#include "Dialect/Tile/IR/Targets.h"
#include "Fusion.h"
#include "Grouping.h"
#include "Matching.h"

using namespace mlir;
using namespace adze::graph;

/// Returns the ops that compute the result of `op` from 8-bit integers and
/// constants only, from the cast on, or the cast from a 16-bit float type that
/// `op` is, or none.
static SmallVector<Operation *> getConversion(Operation *op) {
  constexpr unsigned most = 4;
  SmallVector<Operation *> chain;
  while (isa_and_nonnull<CastOp, AddOp, SubOp, MulOp>(op) &&
         chain.size() < most && getElement(op->getResult(0)).isF32()) {
    chain.push_back(op);
    Value input = op->getOperand(0);
    if (isa<CastOp>(op)) {
      Type from = getElement(input);
      bool isHalf = chain.size() == 1 && (from.isF16() || from.isBF16());
      return from.isInteger(8) || isHalf
                 ? llvm::to_vector(llvm::reverse(chain))
                 : SmallVector<Operation *>();
    }
    if (op->getResult(0).getType() != input.getType() ||
        !op->getOperand(1).getDefiningOp<ConstantOp>())
      return {};
    op = input.getDefiningOp();
  }
  return {};
}

/// Adds the ops that convert to each group that reads the result of `op`.
void Grouping::recomputeConversion(Operation *op) {
  SmallVector<Operation *> chain = getConversion(op);
  if (chain.empty())
    return;
  unsigned self = groupOf.lookup(op);
  Group alone;
  alone.ops = chain;
  llvm::SmallDenseMap<unsigned, Value> copies;
  for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
    Operation *user = use.getOwner();
    auto reader = groupOf.find(user);
    if (reader == groupOf.end() || reader->second == self)
      continue;
    Group &group = groups[reader->second];
    if (group.ops.size() + chain.size() > mostOps ||
        (!isPointwise(user) && !acceptsPrologue(alone, group)))
      continue;
    Value &copy = copies[reader->second];
    if (!copy) {
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfter(op);
      IRMapping mapping;
      SmallVector<Operation *> clones;
      for (Operation *part : chain) {
        clones.push_back(builder.clone(*part, mapping));
        positions[clones.back()] = positions.lookup(op);
        groupOf[clones.back()] = reader->second;
      }
      group.ops.insert(group.ops.begin(), clones.begin(), clones.end());
      copy = clones.back()->getResult(0);
    }
    use.set(copy);
  }
  if (copies.empty())
    return;
  for (Operation *part : llvm::reverse(chain)) {
    auto group = groupOf.find(part);
    if (!part->use_empty() || group == groupOf.end())
      return;
    llvm::erase(groups[group->second].ops, part);
    groupOf.erase(part);
    part->erase();
  }
}

void Grouping::recomputeConversions() {
  SmallVector<Operation *> order;
  for (Group &group : groups)
    order.append(group.ops);
  // Operands of an op are moved with it, so ops are processed in reverse order.
  llvm::sort(order, [&](Operation *lhs, Operation *rhs) {
    return positions.lookup(lhs) < positions.lookup(rhs);
  });
  for (Operation *op : order)
    recomputeConversion(op);
}

bool adze::graph::widensOperand(const Group &producer, AttentionOp attention) {
  auto isNarrow = [](Value value) {
    return getElementTypeOrSelf(value).getIntOrFloatBitWidth() <= 16;
  };
  auto suits = [&](Operation *op) {
    if (auto cast = dyn_cast<CastOp>(op))
      return isNarrow(cast.getInput()) && !isNarrow(cast.getResult());
    // There may be a scale for each row.
    auto scaled = dyn_cast<MulOp>(op);
    Dims scales = scaled ? getDims(scaled.getRhs()) : Dims();
    return isMovement(op) ||
           (!scales.empty() && getConstant(scales.back()) == 1);
  };
  auto function = attention->getParentOfType<func::FuncOp>();
  if (!function || adze::tile::findCudaTarget(function))
    return false;
  return llvm::all_of(producer.ops, suits) &&
         llvm::any_of(producer.ops, llvm::IsaPred<CastOp>) &&
         llvm::any_of(producer.ops, [&](Operation *op) {
           return llvm::is_contained(
               ValueRange{attention.getKey(), attention.getValue()},
               op->getResult(0));
         });
}

// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Explains in the report why ops are not in one kernel.
#include "Dialect/Graph/IR/Shape.h"
#include "Fusion.h"
#include "Grouping.h"
#include "Refusals.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace adze::graph;

/// Returns the reason why a result of `from`, or a view of it, is stored in any
/// case, or an empty string if it has no other use.
StringRef Grouping::whyStored(unsigned from, unsigned to) const {
  SmallVector<Operation *> work(groups[from].ops);
  while (!work.empty())
    for (Operation *user : work.pop_back_val()->getUsers()) {
      auto it = groupOf.find(user);
      if (it == groupOf.end() && isa<ReshapeOp>(user))
        work.push_back(user);
      else if (it == groupOf.end())
        return "it is also used outside of kernels";
      else if (it->second != from && it->second != to)
        return "several kernels read it";
    }
  return "";
}

/// Returns the reason for two groups that could be one by their ops.
StringRef Grouping::whyNotMerged(unsigned from, unsigned to) {
  if (!isSmall(from, to))
    return "the kernel would be too large";
  if (makesCycle(from, to))
    return "the kernels would depend on each other";
  return "the consumer is already part of another kernel";
}

/// Returns the reason why the user of a value is not in the kernel that
/// computes it; `source` is the value before views.
StringRef Grouping::whyApart(OpOperand &use, Value source, unsigned from,
                             unsigned to) {
  const Group &producer = groups[from], &consumer = groups[to];
  Operation *reader = use.getOwner();
  if (isStore(source.getDefiningOp()))
    return "it stores a slice of the consumer's operand";
  bool isView = source != use.get();
  constexpr StringLiteral otherDims =
      "the consumer reads a reshaped view of it";
  if (!producer.anchor) {
    StringRef stored = whyStored(from, to);
    if (!stored.empty())
      return stored;
    StringRef reason = whyNoPrologue(producer, consumer);
    return isView           ? StringRef(otherDims)
           : reason.empty() ? whyNotMerged(from, to)
                            : reason;
  }
  if (consumer.anchor)
    return "both are anchor ops, and a kernel has one";
  bool isTranspose = isa<TransposeOp>(reader);
  if (!hasEpilogue(producer.anchor) &&
      (isTranspose || !isSampling(producer.anchor)))
    return "the producer has no epilogue";
  if (isView)
    return otherDims;
  if (isTranspose && !source.hasOneUse())
    return "it has uses besides the transpose";
  if (isTranspose && usesWholeRows(producer))
    return "its kernel computes whole rows";
  if (!isTranspose && !areEqual(getDims(source), getDims(reader->getResult(0))))
    return "the results have different dims";
  if (isa<TransposeOp>(source.getDefiningOp()) && !source.hasOneUse())
    return "the transposed result has other uses";
  if (!followsMove(reader, from))
    return "the consumer broadcasts an operand along transposed dims";
  return whyNotMerged(from, to);
}

void Grouping::reportEdges(unsigned index) {
  DenseSet<std::pair<Operation *, Operation *>> told;
  for (Operation *op : groups[index].ops)
    for (OpOperand &use : op->getOpOperands()) {
      Value source = use.get();
      while (auto view = source.getDefiningOp<ReshapeOp>()) {
        if (getGroup(source)) // it is part of a kernel
          break;
        source = view.getInput();
      }
      auto from = getGroup(source);
      auto insert = dyn_cast<InsertSliceOp>(op);
      bool isMemory = insert && &use == &insert.getDestMutable();
      if (!from || *from == index || isMemory ||
          !told.insert({op, source.getDefiningOp()}).second)
        continue;
      refuseFusion(source.getDefiningOp(), op,
                   whyApart(use, source, *from, index));
    }
}

void Grouping::reportRefusals() {
  if (groups.empty() ||
      !positions.begin()->first->getContext()->getRemarkEngine())
    return;
  for (unsigned index = 0; index < groups.size(); ++index)
    reportEdges(index);
}

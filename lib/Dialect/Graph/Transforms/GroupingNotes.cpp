// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Why ops are not in one kernel, for the report.
#include "Dialect/Graph/IR/Shape.h"
#include "Fusion.h"
#include "Grouping.h"

using namespace mlir;
using namespace adze::graph;

/// "matmul 'node'"
static std::string describe(Operation *op) {
  std::string text = op->getName().stripDialect().str();
  op->getLoc()->walk([&](Location part) {
    auto name = dyn_cast<NameLoc>(part);
    if (!name)
      return WalkResult::advance();
    text += " '" + name.getName().str() + "'";
    return WalkResult::interrupt();
  });
  return text;
}

/// Why the reader of a value is not in the kernel that computes it; `source` is
/// what the value is a view of.
StringRef Grouping::whyApart(OpOperand &use, Value source, unsigned from,
                             unsigned to) {
  const Group &producer = groups[from], &consumer = groups[to];
  Operation *reader = use.getOwner();
  auto hasOtherReaders = [&] {
    return llvm::any_of(producer.ops, [&](Operation *op) {
      return llvm::any_of(op->getUsers(), [&](Operation *user) {
        auto it = groupOf.find(user);
        return it == groupOf.end() || (it->second != from && it->second != to);
      });
    });
  };
  if (isStore(source.getDefiningOp()))
    return "it stores a part of what is read";
  if (producer.anchor && consumer.anchor)
    return "both decide how their kernel is cut";
  if (producer.anchor && !hasEpilogue(producer.anchor))
    return "its elements are not at hand where they are computed";
  if (producer.anchor && source != use.get())
    return "the reader sees other dims of it";
  if (producer.anchor &&
      !areEqual(getDims(source), getDims(reader->getResult(0))))
    return "the results have other dims";
  if (!producer.anchor && hasOtherReaders())
    return "several kernels read it";
  if (!producer.anchor && source != use.get())
    return "the reader sees other dims of it";
  if (!producer.anchor && !acceptsPrologue(producer, consumer))
    return "the reader takes no operand that is computed on the way";
  if (!isSmall(from, to))
    return "the kernel would be too large";
  return "the kernels would wait for each other";
}

/// One line for each value that another kernel computes, however many there
/// are.
SmallVector<std::string> Grouping::getNotes(unsigned index) {
  SmallVector<std::string> notes;
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
      notes.push_back(describe(op) + " is not in the kernel of " +
                      describe(source.getDefiningOp()) + ": " +
                      whyApart(use, source, *from, index).str());
    }
  return notes;
}

// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Live ranges of the slots of a program, and boxes for slots of data-dependent
// size.
#include "SlotLives.h"
#include "Dialect/Graph/IR/Shape.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace mlir;

namespace adze {

namespace {
/// Finds the slots and their live ranges. A slot that a region uses is live
/// until the end of the op of the region, as a loop repeats its body.
class SlotCollector {
public:
  SmallVector<Slot> collect(func::FuncOp program) {
    visit(program.front());
    for (Slot &slot : slots)
      slot.begin = std::min(slot.begin, slot.end); // without a use
    return std::move(slots);
  }

private:
  struct Enclosing {
    unsigned begin;
    llvm::SetVector<unsigned> used; // slots from outside
  };

  void visit(Block &block) {
    for (Operation &op : block) {
      if (auto slot = dyn_cast<host::SlotOp>(op)) {
        slotOf[slot.getResult()] = slots.size();
        AffineExpr bytes = host::getBytesExpr(slot.getSize(), op.getContext());
        slots.push_back({slot, bytes, UINT_MAX, 0});
        depths.push_back(enclosing.size());
        continue;
      }
      if (auto view = dyn_cast<host::ViewOp>(op)) {
        if (auto source = slotOf.find(view.getSource()); source != slotOf.end())
          slotOf[view.getResult()] = source->second;
        continue;
      }
      ++step;
      for (Value operand : op.getOperands())
        if (auto slot = slotOf.find(operand); slot != slotOf.end())
          use(slot->second);
      if (op.getNumRegions() == 0)
        continue;
      enclosing.push_back({step, {}});
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          visit(inner);
      ++step;
      for (unsigned slot : enclosing.pop_back_val().used)
        extend(slot, step);
    }
  }

  void use(unsigned slot) {
    extend(slot, step);
    if (depths[slot] == enclosing.size())
      return;
    Enclosing &outermost = enclosing[depths[slot]];
    extend(slot, outermost.begin);
    outermost.used.insert(slot);
  }

  void extend(unsigned slot, unsigned at) {
    slots[slot].begin = std::min(slots[slot].begin, at);
    slots[slot].end = std::max(slots[slot].end, at);
  }

  llvm::DenseMap<Value, unsigned> slotOf; // of slots and views of them
  SmallVector<Slot> slots;
  SmallVector<unsigned> depths; // nesting depth of each slot
  SmallVector<Enclosing> enclosing;
  unsigned step = 0;
};
} // namespace

SmallVector<Slot> collectSlots(func::FuncOp program) {
  return SlotCollector().collect(program);
}

/// Returns the symbols that are bound while the program runs.
static llvm::DenseSet<int64_t> getBoundSymbols(func::FuncOp program) {
  llvm::DenseSet<int64_t> bound;
  program.walk([&](Operation *op) {
    if (auto bind = dyn_cast<host::BindOp>(op))
      bound.insert_range(bind.getSymbols());
    else if (auto call = dyn_cast<host::CallOp>(op))
      bound.insert_range(call.getSymbols());
    else if (auto assign = dyn_cast<host::AssignOp>(op))
      bound.insert_range(assign.getSymbols());
  });
  return bound;
}

void numberBoxes(func::FuncOp program, SmallVectorImpl<Slot> &slots) {
  llvm::DenseSet<int64_t> bound = getBoundSymbols(program);
  auto given = program->getAttrOfType<IntegerAttr>(host::numBoxesAttr);
  int64_t count = given ? given.getInt() : 0;
  Builder builder(program.getContext());
  std::multimap<unsigned, int64_t> busy; // by the last step of its slot
  SmallVector<int64_t> free;
  // Sizes that a region assumes are checked when it runs, so before that a size
  // may be negative, and must not be part of the arena.
  auto isBox = [&](Slot &slot) {
    bool ofData =
        slot.op.getBox().has_value() || (slot.op->getParentOp() != program &&
                                         !graph::isNonNegative(slot.bytes));
    graph::forEachSymbol(
        slot.bytes, [&](unsigned symbol) { ofData |= bound.contains(symbol); });
    return ofData;
  };
  // In the order of the beginnings of their live ranges.
  std::multimap<unsigned, Slot> boxes;
  for (Slot &slot : slots)
    if (isBox(slot) && !slot.op.getBox())
      boxes.emplace(slot.begin, slot);
  llvm::erase_if(slots, isBox);
  for (auto &[begin, slot] : boxes) {
    while (!busy.empty() && busy.begin()->first < begin) {
      free.push_back(busy.begin()->second);
      busy.erase(busy.begin());
    }
    int64_t box = free.empty() ? count++ : free.pop_back_val();
    slot.op.setBoxAttr(builder.getI64IntegerAttr(box));
    busy.emplace(slot.end, box);
  }
  if (count)
    program->setAttr(host::numBoxesAttr, builder.getI64IntegerAttr(count));
}

} // namespace adze

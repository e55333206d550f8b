// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What comes before what in a block.
#include "BlockOrder.h"
#include <queue>

using namespace mlir;
using namespace adze::graph;

/// The sizes that an op needs beside those of its operands and results.
static ArrayRef<AffineExpr> getSizes(Operation *op) {
  if (auto insert = dyn_cast<InsertSliceOp>(op))
    return insert.getOffsets().getResults();
  if (auto assign = dyn_cast<AssignOp>(op))
    return assign.getValues().getResults();
  return {};
}

/// The symbols that an op by itself gives values.
static ArrayRef<int64_t> getBoundSymbols(Operation *op) {
  if (auto bind = dyn_cast<BindOp>(op))
    return bind.getSymbols();
  if (auto assign = dyn_cast<AssignOp>(op))
    return assign.getSymbols();
  if (auto call = dyn_cast<CallOp>(op))
    return call.getSymbols();
  if (auto branch = dyn_cast<IfOp>(op))
    return branch.getSymbols();
  if (auto loop = dyn_cast<LoopOp>(op))
    return loop.getSymbols();
  return {};
}

Predecessors::Predecessors(Block &block) : block(block) {
  for (Operation &op : block)
    op.walk([&](Operation *inner) {
      for (int64_t symbol : getBoundSymbols(inner)) {
        if (symbol < 0)
          continue;
        auto &ops = binders[unsigned(symbol)];
        if (ops.empty() || ops.back() != &op)
          ops.push_back(&op);
      }
    });
}

template <typename T>
void Predecessors::addSymbols(
    Operation *op, T sizes, llvm::function_ref<void(Operation *)> visit) const {
  forEachSymbol(sizes, [&](unsigned symbol) {
    auto found = binders.find(symbol);
    if (found == binders.end())
      return;
    for (Operation *binder : found->second)
      if (binder != op)
        visit(binder);
  });
}

void Predecessors::forEach(Operation *op,
                           llvm::function_ref<void(Operation *)> visit) const {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      // Of what is inside of the op nothing has to be waited for.
      if (producer && producer->getBlock() == &block && producer != op)
        visit(producer);
      if (!binders.empty())
        addSymbols(op, operand.getType(), visit);
    }
    if (binders.empty())
      return;
    for (Type type : inner->getResultTypes())
      addSymbols(op, type, visit);
    for (AffineExpr size : getSizes(inner))
      addSymbols(op, size, visit);
  });
}

void adze::graph::sortBlock(Block &block) {
  Predecessors predecessors(block);
  DenseMap<Operation *, unsigned> positions, waiting;
  DenseMap<Operation *, SmallVector<Operation *, 2>> followers;
  SmallVector<Operation *> ops;
  for (Operation &op : block) {
    positions[&op] = ops.size();
    ops.push_back(&op);
  }
  // Effects keep their order.
  Operation *lastEffect = nullptr;
  for (Operation *op : ops) {
    DenseSet<Operation *> before;
    predecessors.forEach(op, [&](Operation *other) { before.insert(other); });
    if (op->hasTrait<OpTrait::IsTerminator>())
      for (Operation *other : ArrayRef(ops).drop_back())
        before.insert(other);
    if (!isMemoryEffectFree(op)) {
      if (lastEffect)
        before.insert(lastEffect);
      lastEffect = op;
    }
    waiting[op] = before.size();
    for (Operation *other : before)
      followers[other].push_back(op);
  }
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<unsigned>>
      ready;
  for (Operation *op : ops)
    if (waiting.lookup(op) == 0)
      ready.push(positions.lookup(op));
  while (!ready.empty()) {
    Operation *op = ops[ready.top()];
    ready.pop();
    op->moveBefore(&block, block.end());
    for (Operation *follower : followers.lookup(op))
      if (--waiting[follower] == 0)
        ready.push(positions.lookup(follower));
  }
}

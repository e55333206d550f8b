// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Dependences between the ops of a block.
#include "BlockOrder.h"
#include <queue>

using namespace mlir;
using namespace adze::graph;

/// Visits the sizes that an op uses in addition to those of its operands and
/// results.
static void forEachSize(Operation *op,
                        llvm::function_ref<void(AffineExpr)> visit) {
  if (auto insert = dyn_cast<InsertSliceOp>(op))
    llvm::for_each(insert.getOffsets().getResults(), visit);
  else if (auto slice = dyn_cast<SliceOp>(op))
    llvm::for_each(slice.getStartExprs(), visit);
  else if (auto assign = dyn_cast<AssignOp>(op))
    llvm::for_each(assign.getValues().getResults(), visit);
  else if (auto check = dyn_cast<CheckRangeOp>(op))
    llvm::for_each(check.getRange().getResults(), visit);
  else if (auto assume = dyn_cast<AssumeOp>(op))
    assume.forEachSize(visit);
}

/// Returns the symbols that an op itself binds.
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

Predecessors::Predecessors(Block &block, bool withChecks) : block(block) {
  Operation *lastEffect = nullptr;
  for (Operation &op : block) {
    bool isTerminator = op.hasTrait<OpTrait::IsTerminator>();
    if (!isTerminator && !isMemoryEffectFree(&op) && !isa<AssumeOp>(op)) {
      if (lastEffect)
        effects[&op] = lastEffect;
      lastEffect = &op;
    }
    if (auto assume = dyn_cast<AssumeOp>(op); assume && withChecks)
      assume.forEachSize([&](AffineExpr size) {
        forEachSymbol(size, [&](unsigned symbol) {
          Ops &ops = checks[symbol];
          if (ops.empty() || ops.back() != &op)
            ops.push_back(&op);
        });
      });
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
}

/// Adds the last check before the op, which depends on the earlier ones.
void Predecessors::addCheck(Operation *op, unsigned symbol,
                            llvm::function_ref<void(Operation *)> visit) const {
  auto found = checks.find(symbol);
  if (found == checks.end())
    return;
  auto next = llvm::partition_point(found->second, [&](Operation *check) {
    return check->isBeforeInBlock(op);
  });
  if (next != found->second.begin())
    visit(*std::prev(next));
}

template <typename T>
void Predecessors::addSymbols(
    Operation *op, T sizes, llvm::function_ref<void(Operation *)> visit) const {
  forEachSymbol(sizes, [&](unsigned symbol) {
    addCheck(op, symbol, visit);
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
  bool hasSymbols = !binders.empty() || !checks.empty();
  if (Operation *effect = effects.lookup(op))
    visit(effect);
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      // Values defined inside of the op are no dependences.
      if (producer && producer->getBlock() == &block && producer != op)
        visit(producer);
      if (hasSymbols)
        addSymbols(op, operand.getType(), visit);
    }
    if (!hasSymbols)
      return;
    for (Type type : inner->getResultTypes())
      addSymbols(op, type, visit);
    forEachSize(inner, [&](AffineExpr size) { addSymbols(op, size, visit); });
  });
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

namespace {
/// The ops of a block with their dependences.
struct Order {
  explicit Order(Block &block);
  void promoteChecks();

  SmallVector<Operation *> ops;
  DenseMap<Operation *, unsigned> keys; // priority of ready ops
  DenseMap<Operation *, SmallVector<Operation *, 4>> before;
};
} // namespace

Order::Order(Block &block) {
  Predecessors predecessors(block);
  for (Operation &op : block) {
    keys[&op] = ops.size();
    ops.push_back(&op);
  }
  for (Operation *op : ops) {
    llvm::SmallSetVector<Operation *, 8> found;
    predecessors.forEach(op, [&](Operation *other) { found.insert(other); });
    if (op->hasTrait<OpTrait::IsTerminator>())
      found.insert(ops.begin(), std::prev(ops.end()));
    before[op].assign(found.begin(), found.end());
  }
}

/// Moves the dependences of a check before all ops that follow the check,
/// including a kernel that was placed after it for its other ops.
void Order::promoteChecks() {
  for (Operation *check : ops) {
    if (!isa<AssumeOp>(check))
      continue;
    unsigned key = keys.lookup(check);
    SmallVector<Operation *> work{check};
    while (!work.empty())
      for (Operation *other : before.lookup(work.pop_back_val()))
        if (keys.lookup(other) > key) {
          keys[other] = key;
          work.push_back(other);
        }
  }
}

void adze::graph::sortBlock(Block &block) {
  Order order(block);
  order.promoteChecks();
  DenseMap<Operation *, unsigned> waiting;
  DenseMap<Operation *, SmallVector<Operation *, 2>> followers;
  for (Operation *op : order.ops) {
    waiting[op] = order.before[op].size();
    for (Operation *other : order.before[op])
      followers[other].push_back(op);
  }
  // The key and then the position, as keys need not be unique.
  using Entry = std::pair<unsigned, unsigned>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> ready;
  DenseMap<Operation *, unsigned> places;
  for (auto [place, op] : llvm::enumerate(order.ops)) {
    places[op] = place;
    if (waiting.lookup(op) == 0)
      ready.push({order.keys.lookup(op), place});
  }
  while (!ready.empty()) {
    Operation *op = order.ops[ready.top().second];
    ready.pop();
    op->moveBefore(&block, block.end());
    for (Operation *follower : followers.lookup(op))
      if (--waiting[follower] == 0)
        ready.push({order.keys.lookup(follower), places.lookup(follower)});
  }
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

/// Returns true if `read` and what it depends on may be moved to `first`: they
/// do not depend on it, nor on other effects than those of `last`, the previous
/// read there.
static bool isFreeOf(const Order &order, Operation *read, Operation *first,
                     Operation *last) {
  unsigned key = order.keys.lookup(first);
  llvm::SmallSetVector<Operation *, 8> needed;
  needed.insert(read);
  for (unsigned i = 0; i < needed.size(); ++i)
    for (Operation *other : order.before.lookup(needed[i])) {
      bool isOrderOnly = needed[i] == read && other == last;
      if (isOrderOnly || order.keys.lookup(other) < key)
        continue;
      if (!isMemoryEffectFree(other))
        return false;
      needed.insert(other);
    }
  return true;
}

unsigned adze::graph::mergeReads(Block &block) {
  if (llvm::range_size(block.getOps<BindOp>()) < 2)
    return 0;
  Order order(block);
  SmallVector<SmallVector<BindOp>> sets;
  for (Operation *op : order.ops)
    if (auto read = dyn_cast<BindOp>(op)) {
      if (sets.empty() ||
          !isFreeOf(order, read, sets.back().front(), sets.back().back()))
        sets.emplace_back();
      sets.back().push_back(read);
    }
  unsigned merged = 0;
  for (SmallVector<BindOp> &set : sets) {
    if (set.size() == 1)
      continue;
    SmallVector<Value> inputs;
    SmallVector<int64_t> symbols;
    for (BindOp read : set) {
      inputs.push_back(read.getInput());
      llvm::append_range(symbols, read.getSymbols());
    }
    OpBuilder b(set.front());
    Location loc = set.front().getLoc();
    Value all = ConcatOp::create(b, loc, inputs, /*axis=*/0);
    BindOp::create(b, loc, all, symbols);
    for (BindOp read : set)
      read.erase();
    merged += set.size();
  }
  if (merged)
    sortBlock(block);
  return merged;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

void adze::graph::hoistChecks(Operation *function) {
  DenseMap<Block *, SmallVector<AssumeOp>> checks;
  function->walk([&](AssumeOp op) { checks[op->getBlock()].push_back(op); });
  for (auto &[block, ops] : checks) {
    Predecessors predecessors(*block);
    for (AssumeOp op : llvm::reverse(ops)) {
      Operation *last = nullptr;
      predecessors.forEach(op, [&](Operation *binder) {
        if (!last || last->isBeforeInBlock(binder))
          last = binder;
      });
      if (last)
        op->moveAfter(last);
      else
        op->moveBefore(block, block->begin());
    }
  }
}

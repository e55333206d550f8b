// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-eliminate-dead-code: removes ops and values that no result depends on.
// Ops are visited from the last to the first, and from outside to inside: all
// users of a value are visited before its definition, so one walk suffices.
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/RegionUtils.h"

namespace adze::graph {
#define GEN_PASS_DEF_ELIMINATEDEADCODEPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

/// The number of uses of each symbol in sizes.
using Mentions = DenseMap<int64_t, int64_t>;

void addMentions(AffineExpr expr, Mentions &mentions) {
  forEachSymbol(expr, [&](unsigned symbol) { ++mentions[symbol]; });
}

void addMentions(Type type, Mentions &mentions) {
  forEachSymbol(type, [&](unsigned symbol) { ++mentions[symbol]; });
}

void addMentions(Attribute attr, Mentions &mentions) {
  attr.walk([&](AffineMapAttr map) {
    for (AffineExpr expr : map.getValue().getResults())
      addMentions(expr, mentions);
  });
}

/// Adds the uses of one op itself, and of the arguments of its regions.
void addOwnMentions(Operation *op, Mentions &mentions) {
  for (Type type : op->getResultTypes())
    addMentions(type, mentions);
  for (Region &region : op->getRegions())
    for (Value argument : region.getArguments())
      addMentions(argument.getType(), mentions);
  addMentions(op->getAttrDictionary(), mentions);
}

Mentions countMentions(Operation *root) {
  Mentions mentions;
  root->walk([&](Operation *op) { addOwnMentions(op, mentions); });
  return mentions;
}

bool mentionsAny(Type type, const DenseSet<int64_t> &symbols) {
  Mentions own;
  addMentions(type, own);
  return llvm::any_of(
      own, [&](auto &entry) { return symbols.contains(entry.first); });
}

/// Returns those of `symbols` that sizes outside of the op use.
DenseSet<int64_t> findOutside(Operation *op, ArrayRef<int64_t> symbols,
                              const Mentions &everywhere) {
  DenseSet<int64_t> found;
  if (symbols.empty())
    return found;
  Mentions inside = countMentions(op);
  for (int64_t symbol : symbols)
    if (everywhere.lookup(symbol) > inside.lookup(symbol))
      found.insert(symbol);
  return found;
}

SmallVector<int64_t> keepOnly(ArrayRef<int64_t> symbols,
                              const DenseSet<int64_t> &needed) {
  SmallVector<int64_t> kept;
  llvm::copy_if(symbols, std::back_inserter(kept),
                [&](int64_t symbol) { return needed.contains(symbol); });
  return kept;
}

//===----------------------------------------------------------------------===//
// Clusters and branches
//===----------------------------------------------------------------------===//

template <typename RangeT>
SmallVector<Value> select(RangeT &&values, const llvm::BitVector &kept) {
  SmallVector<Value> result;
  for (auto [i, value] : llvm::enumerate(values))
    if (kept.test(i))
      result.push_back(value);
  return result;
}

llvm::BitVector findRead(ResultRange results) {
  llvm::BitVector read(results.size());
  for (OpResult result : results)
    if (!result.use_empty())
      read.set(result.getResultNumber());
  return read;
}

/// Replaces the kept results of an op by those of another one.
void replace(Operation *op, Operation *by, const llvm::BitVector &kept,
             IRRewriter &rewriter) {
  by->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  for (auto [before, after] :
       llvm::zip_equal(select(op->getResults(), kept), by->getResults()))
    rewriter.replaceAllUsesWith(before, after);
  rewriter.eraseOp(op);
}

Operation *dropResults(ClusterOp op, IRRewriter &rewriter) {
  llvm::BitVector kept = findRead(op.getResults());
  if (kept.all())
    return op;
  SmallVector<Value> yielded = select(op.getYield().getOperands(), kept);
  rewriter.setInsertionPoint(op);
  auto smaller =
      ClusterOp::create(rewriter, op.getLoc(), ValueRange(yielded).getTypes(),
                        op.getInputs(), op.getAnchor().value_or(StringRef()));
  smaller.getBody().takeBody(op.getBody());
  smaller.getYield()->setOperands(yielded);
  replace(op, smaller, kept, rewriter);
  return smaller;
}

Operation *dropResults(IfOp op, const Mentions &everywhere,
                       IRRewriter &rewriter) {
  llvm::BitVector kept = findRead(op.getResults());
  if (kept.all())
    return op;
  DenseSet<int64_t> needed = findOutside(op, op.getSymbols(), everywhere);
  // A result that is used needs all of its sizes.
  for (OpResult result : op.getResults())
    if (kept.test(result.getResultNumber()))
      for (int64_t symbol : op.getSymbols())
        if (mentionsAny(result.getType(), {symbol}))
          needed.insert(symbol);
  for (OpResult result : op.getResults())
    if (mentionsAny(result.getType(), needed))
      kept.set(result.getResultNumber());
  if (kept.all())
    return op;
  rewriter.setInsertionPoint(op);
  auto smaller =
      IfOp::create(rewriter, op.getLoc(),
                   ValueRange(select(op.getResults(), kept)).getTypes(),
                   op.getCondition(), keepOnly(op.getSymbols(), needed));
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), smaller->getRegions())) {
    to.takeBody(from);
    Operation *yield = to.front().getTerminator();
    yield->setOperands(select(yield->getOperands(), kept));
  }
  replace(op, smaller, kept, rewriter);
  return smaller;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Liveness in a loop: a carried value is live if its result is used, or if a
/// live value depends on it in this or a later iteration.
class LoopLiveness {
public:
  LoopLiveness(LoopOp op, const Mentions &everywhere)
      : op(op), body(op.getBody().front()), results(findRead(op.getResults())),
        symbols(findOutside(op, op.getSymbols(), everywhere)) {
    own.insert_range(op.getSymbols());
  }

  /// Returns true if all of it is live.
  bool run();
  Operation *shrink(IRRewriter &rewriter);

private:
  void need(Value value);
  void need(Operation *inside);
  /// `sizes` is a type or an expression.
  template <typename T>
  void needSymbols(T sizes);
  void needResult(unsigned index);
  void finishWork();

  LoopOp op;
  Block &body;
  llvm::BitVector results;
  DenseSet<int64_t> symbols, own;
  DenseSet<Operation *> ops; // of the block of the body
  SmallVector<Value> work;
};

} // namespace

template <typename T>
void LoopLiveness::needSymbols(T sizes) {
  Mentions mentions;
  addMentions(sizes, mentions);
  for (auto &[symbol, count] : mentions)
    if (own.contains(symbol))
      symbols.insert(symbol);
}

/// Marks a result as live and, if it is carried, the value of the next
/// iteration.
void LoopLiveness::needResult(unsigned index) {
  results.set(index);
  needSymbols(op.getResult(index).getType());
  unsigned condition = op.getCondition() ? 1 : 0;
  work.push_back(op.getYield().getOperand(condition + index));
  if (index < op.getInits().size())
    needSymbols(op.getCarriedArguments()[index].getType());
}

void LoopLiveness::need(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    unsigned number = argument.getArgNumber();
    if (argument.getOwner() == &body && number > 0 && !results.test(number - 1))
      needResult(number - 1);
    return;
  }
  if (Operation *inside = body.findAncestorOpInBlock(*value.getDefiningOp()))
    need(inside);
}

void LoopLiveness::need(Operation *inside) {
  if (!ops.insert(inside).second)
    return;
  inside->walk([&](Operation *inner) {
    llvm::append_range(work, inner->getOperands());
    for (Type type : inner->getResultTypes())
      needSymbols(type);
    if (auto assume = dyn_cast<AssumeOp>(inner))
      assume.forEachSize([&](AffineExpr size) { needSymbols(size); });
    if (auto check = dyn_cast<CheckRangeOp>(inner))
      for (AffineExpr bound : check.getRange().getResults())
        needSymbols(bound);
  });
}

void LoopLiveness::finishWork() {
  while (!work.empty())
    need(work.pop_back_val());
}

bool LoopLiveness::run() {
  if (op.getCondition())
    work.push_back(op.getYield().getOperand(0));
  for (Operation &inside : body.without_terminator())
    if (!isMemoryEffectFree(&inside))
      need(&inside);
  for (unsigned index : results.set_bits())
    needResult(index);
  // Live sizes make the values with these sizes live, which may make more sizes
  // live.
  for (size_t before = ~size_t(0); before != symbols.size();) {
    before = symbols.size();
    finishWork();
    DenseSet<int64_t> sizes(symbols);
    if (op.getCount()) // the loop itself binds it
      sizes.erase(*op.getCount());
    for (OpResult result : op.getResults()) {
      unsigned index = result.getResultNumber();
      bool carried = index < op.getInits().size();
      if (!results.test(index) &&
          (mentionsAny(result.getType(), sizes) ||
           (carried &&
            mentionsAny(op.getCarriedArguments()[index].getType(), sizes))))
        needResult(index);
    }
    finishWork();
  }
  return results.all();
}

Operation *LoopLiveness::shrink(IRRewriter &rewriter) {
  size_t numCarried = op.getInits().size();
  llvm::BitVector arguments(numCarried + 1), carried(numCarried);
  for (size_t i = 0; i < numCarried; ++i) {
    arguments[i + 1] = !results.test(i);
    carried[i] = results.test(i);
  }
  SmallVector<Value> yielded;
  ValueRange all = op.getYield().getOperands();
  if (op.getCondition()) {
    yielded.push_back(all.front());
    all = all.drop_front();
  }
  llvm::append_range(yielded, select(all, results));
  op.getYield()->setOperands(yielded);
  for (Operation &inside : llvm::make_early_inc_range(llvm::reverse(body)))
    if (&inside != op.getYield() && !ops.contains(&inside))
      rewriter.eraseOp(&inside);
  body.eraseArguments(arguments);
  bool counts = op.getCount() && (symbols.contains(*op.getCount()) ||
                                  results.count() > carried.count());
  if (counts)
    symbols.insert(*op.getCount());
  rewriter.setInsertionPoint(op);
  auto smaller = LoopOp::create(
      rewriter, op.getLoc(),
      ValueRange(select(op.getResults(), results)).getTypes(),
      op.getTripCount(), op.getCondition(), select(op.getInits(), carried),
      keepOnly(op.getSymbols(), symbols),
      counts ? op.getCountAttr() : IntegerAttr());
  smaller.getBody().takeBody(op.getBody());
  replace(op, smaller, results, rewriter);
  return smaller;
}

namespace {

class EliminateDeadCodePass final
    : public adze::graph::impl::EliminateDeadCodePassBase<
          EliminateDeadCodePass> {
public:
  using EliminateDeadCodePassBase::EliminateDeadCodePassBase;

  void runOnOperation() override {
    Operation *root = getOperation();
    IRRewriter rewriter(&getContext());
    int64_t before = countOps(root);
    root->walk([&](func::FuncOp function) {
      mentions.clear();
      // Most functions have no branches whose sizes matter.
      bool branches = false;
      function->walk([&](Operation *op) { branches |= isa<IfOp, LoopOp>(op); });
      if (branches)
        mentions = countMentions(function);
      for (Block &block : function.getBody())
        visit(block, rewriter);
    });
    (void)runRegionDCE(rewriter, root->getRegions());
    removed = before - countOps(root);
  }

private:
  static int64_t countOps(Operation *root) {
    int64_t count = 0;
    root->walk([&](Operation *) { ++count; });
    return count;
  }

  /// Returns true for ops with effects that may be erased: an unused random
  /// number is not read, and calls that make sequences cannot fail, unlike
  /// others.
  static bool isDead(Operation *op) {
    auto call = dyn_cast<CallOp>(op);
    bool isLeft = isa<EntropyOp>(op) ||
                  (call && call.getFunction() == "sequence_construct");
    return isOpTriviallyDead(op) || (isLeft && op->use_empty());
  }

  void visit(Block &block, IRRewriter &rewriter) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      if (isDead(&op)) {
        rewriter.eraseOp(&op);
        continue;
      }
      Operation *left = shrink(&op, rewriter);
      for (Region &region : left->getRegions())
        for (Block &inner : region)
          visit(inner, rewriter);
    }
  }

  Operation *shrink(Operation *op, IRRewriter &rewriter) {
    size_t results = op->getNumResults();
    if (auto cluster = dyn_cast<ClusterOp>(op))
      op = dropResults(cluster, rewriter);
    else if (auto branch = dyn_cast<IfOp>(op))
      op = dropResults(branch, mentions, rewriter);
    else if (auto loop = dyn_cast<LoopOp>(op)) {
      LoopLiveness liveness(loop, mentions);
      if (!liveness.run())
        op = liveness.shrink(rewriter);
    }
    dropped += results - op->getNumResults();
    return op;
  }

  Mentions mentions;
};

} // namespace

// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// pipeline-rows: stores a row while the next one is computed.
#include "Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_PIPELINEROWS
#include "Transforms/Passes.h.inc"

namespace {
/// The memory that ops read and write, without views.
struct Accesses {
  DenseSet<Value> reads, writes;
};

/// A load or store of an element or a vector.
struct Access {
  OperandRange indices;
  int64_t length; // along the last index
};

/// A loop over rows and its parts.
class Pipeline {
public:
  explicit Pipeline(scf::ForOp rows) : rows(rows) {}
  bool find();
  void build();

private:
  bool findDrain();
  bool findFill();
  bool isScratch(Value memory, const Accesses &drained);
  bool isApart(const Accesses &drained);
  bool findCarried();
  void carry();
  void splitFill();

  SmallVector<scf::ForOp> nest; // `rows`, after the loops that contain it only
  scf::ForOp rows;
  scf::ForOp drain;              // stores a row from scratch memory
  scf::ForOp fill;               // writes the row to it
  SmallVector<Operation *> rest; // remainder loops after `drain`
  SmallVector<Value> carried;    // values of the row that these use
  SmallVector<Value> previous;   // the same values of the previous row
  Value hasPrevious;
};

struct PipelineRowsPass final : impl::PipelineRowsBase<PipelineRowsPass> {
  void runOnOperation() override;
};
} // namespace

//===--- Memory -----------------------------------------------------------===//

/// Collects the accesses of `root`. Returns false if its effects are unknown.
static bool collect(Operation *root, Accesses &accesses) {
  WalkResult result = root->walk([&](Operation *op) {
    if (isa<memref::PrefetchOp>(op) || isMemoryEffectFree(op) ||
        op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return WalkResult::advance();
    auto interface = dyn_cast<MemoryEffectOpInterface>(op);
    if (!interface)
      return WalkResult::interrupt();
    SmallVector<MemoryEffects::EffectInstance> effects;
    interface.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      auto memory = dyn_cast_if_present<MemrefValue>(effect.getValue());
      bool reads = isa<MemoryEffects::Read>(effect.getEffect());
      if (!memory || !(reads || isa<MemoryEffects::Write>(effect.getEffect())))
        return WalkResult::interrupt();
      (reads ? accesses.reads : accesses.writes)
          .insert(memref::skipViewLikeOps(memory));
    }
    return WalkResult::advance();
  });
  return !result.wasInterrupted();
}

static std::optional<Access> accessOf(Operation *op, Value memref) {
  std::optional<Access> result;
  auto set = [&](Value base, OperandRange indices, int64_t length) {
    if (base == memref)
      result = Access{indices, length};
  };
  if (auto load = dyn_cast<vector::LoadOp>(op))
    set(load.getBase(), load.getIndices(),
        load.getVectorType().getNumElements());
  else if (auto store = dyn_cast<vector::StoreOp>(op))
    set(store.getBase(), store.getIndices(),
        store.getVectorType().getNumElements());
  else if (auto load = dyn_cast<memref::LoadOp>(op))
    set(load.getMemRef(), load.getIndices(), 1);
  else if (auto store = dyn_cast<memref::StoreOp>(op))
    set(store.getMemRef(), store.getIndices(), 1);
  return result;
}

/// Returns true if each access of `root` to this memory is in [from, to) along
/// the last index, relative to `counter` if there is one.
static bool liesWithin(Operation *root, Value memory, Value counter,
                       int64_t from, int64_t to) {
  auto isInside = [&](const Access &access) {
    if (access.indices.empty())
      return false;
    Value last = access.indices.back();
    std::optional<int64_t> at = getConstantIntValue(last);
    if (counter) {
      auto sum = last.getDefiningOp<arith::AddIOp>();
      at = std::nullopt;
      if (last == counter)
        at = 0;
      else if (sum && sum.getLhs() == counter)
        at = getConstantIntValue(sum.getRhs());
    }
    return at && *at >= from && access.length <= to - *at;
  };
  WalkResult result = root->walk([&](Operation *op) {
    if (!llvm::is_contained(op->getOperands(), memory))
      return WalkResult::advance();
    std::optional<Access> access = accessOf(op, memory);
    return access && isInside(*access) ? WalkResult::advance()
                                       : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

//===--- The parts --------------------------------------------------------===//

/// Finds the last loop of a row, and the ops after it.
bool Pipeline::findDrain() {
  for (Operation &op : llvm::reverse(rows.getBody()->without_terminator())) {
    drain = dyn_cast<scf::ForOp>(op);
    if (drain)
      return drain.getInitArgs().empty();
    rest.insert(rest.begin(), &op);
  }
  return false;
}

/// Returns true for memory of this function that holds a row: each step of
/// `fill` writes its own part, `drain` reads this part in the same step, and
/// `rest` reads the elements after all steps.
bool Pipeline::isScratch(Value memory, const Accesses &drained) {
  if (!memory.getDefiningOp<memref::AllocaOp>() ||
      drained.writes.contains(memory))
    return false;
  std::optional<int64_t> step = getConstantIntValue(drain.getStep());
  std::optional<int64_t> end = getConstantIntValue(drain.getUpperBound());
  constexpr int64_t none = std::numeric_limits<int64_t>::max();
  if (!step || !liesWithin(fill, memory, fill.getInductionVar(), 0, *step) ||
      !liesWithin(drain, memory, drain.getInductionVar(), 0, *step))
    return false;
  for (Operation *op : rest)
    if (!liesWithin(op, memory, {}, end.value_or(none), none))
      return false;
  bool isBefore = true;
  for (Operation &op : *rows.getBody()) {
    Accesses accesses;
    if (&op == fill)
      isBefore = false;
    else if (!collect(&op, accesses) ||
             (isBefore && (accesses.reads.contains(memory) ||
                           accesses.writes.contains(memory))))
      return false;
  }
  return true;
}

/// Finds the loop with the same steps that writes the memory that `drain` reads
/// and a row writes.
bool Pipeline::findFill() {
  Accesses drained, filled;
  for (Operation *op : rest)
    if (!collect(op, drained))
      return false;
  if (!collect(drain, drained) || drained.writes.empty())
    return false;
  for (auto loop : rows.getBody()->getOps<scf::ForOp>()) {
    Accesses accesses;
    if (loop == drain || loop.getLowerBound() != drain.getLowerBound() ||
        loop.getUpperBound() != drain.getUpperBound() ||
        loop.getStep() != drain.getStep() || !collect(loop, accesses) ||
        !llvm::any_of(accesses.writes,
                      [&](Value m) { return drained.reads.contains(m); }))
      continue;
    fill = loop;
    return isApart(drained);
  }
  return false;
}

/// Returns true if `drain` and `rest` may be delayed to the `fill` of the next
/// row.
bool Pipeline::isApart(const Accesses &drained) {
  Accesses others;
  for (Operation &op : rows.getBody()->without_terminator())
    if (&op != drain && !llvm::is_contained(rest, &op) && !collect(&op, others))
      return false;
  for (Value memory : drained.writes)
    if (others.reads.contains(memory) || others.writes.contains(memory) ||
        drained.reads.contains(memory))
      return false;
  return llvm::all_of(drained.reads, [&](Value memory) {
    return !others.writes.contains(memory) || isScratch(memory, drained);
  });
}

/// Finds the values of their row, and of loops that contain only the rows, that
/// `drain` and `rest` use.
bool Pipeline::findCarried() {
  nest = {rows};
  while (auto outer = dyn_cast<scf::ForOp>(nest.front()->getParentOp())) {
    bool isAlone =
        outer.getInitArgs().empty() &&
        llvm::all_of(outer.getBody()->without_terminator(), [&](Operation &op) {
          return &op == nest.front() || isPure(&op);
        });
    if (!isAlone)
      break;
    nest.insert(nest.begin(), outer);
  }
  Operation *outermost = nest.front();
  auto isOwn = [&](Operation *op) {
    return drain->isAncestor(op) || llvm::any_of(rest, [&](Operation *other) {
             return other->isAncestor(op);
           });
  };
  SetVector<Value> used;
  auto add = [&](Operation *op) {
    for (Value value : op->getOperands()) {
      Operation *source = value.getDefiningOp();
      if (!source)
        source = value.getParentBlock()->getParentOp();
      if (outermost->isAncestor(source) && !isOwn(source))
        used.insert(value);
    }
  };
  drain->walk(add);
  for (Operation *op : rest)
    op->walk(add);
  carried = used.takeVector();
  return llvm::all_of(carried, [](Value value) {
    return isa<IndexType, IntegerType, FloatType, VectorType>(value.getType());
  });
}

bool Pipeline::find() {
  return rows.getInitArgs().empty() && findDrain() && findFill() &&
         findCarried();
}

//===--- The rewriting ----------------------------------------------------===//

/// Adds carried values to the loops of the nest: whether there was a previous
/// row, and its `carried` values.
void Pipeline::carry() {
  IRRewriter rewriter(rows->getContext());
  rewriter.setInsertionPoint(nest.front());
  Location loc = rows.getLoc();
  SmallVector<Value> inits{
      arith::ConstantIntOp::create(rewriter, loc, /*value=*/0, /*width=*/1)};
  for (Value value : carried)
    inits.push_back(arith::ConstantOp::create(
        rewriter, loc, rewriter.getZeroAttr(value.getType())));
  SmallVector<Value> yields{
      arith::ConstantIntOp::create(rewriter, loc, /*value=*/1, /*width=*/1)};
  llvm::append_range(yields, carried);
  // Counters of the old loops are replaced by those of the new ones.
  scf::ForOp outer;
  for (scf::ForOp &loop : nest) {
    rewriter.setInsertionPoint(loop);
    auto fresh =
        scf::ForOp::create(rewriter, loop.getLoc(), loop.getLowerBound(),
                           loop.getUpperBound(), loop.getStep(), inits);
    for (Value &value : yields)
      if (value == loop.getInductionVar())
        value = fresh.getInductionVar();
    Operation *end = loop.getBody()->getTerminator();
    rewriter.eraseOp(end);
    rewriter.mergeBlocks(loop.getBody(), fresh.getBody(),
                         fresh.getInductionVar());
    if (outer) {
      rewriter.setInsertionPointToEnd(outer.getBody());
      scf::YieldOp::create(rewriter, loc, fresh.getResults());
    }
    rewriter.eraseOp(loop);
    loop = outer = fresh;
    inits.assign(fresh.getRegionIterArgs().begin(),
                 fresh.getRegionIterArgs().end());
  }
  rows = nest.back();
  rewriter.setInsertionPointToEnd(rows.getBody());
  scf::YieldOp::create(rewriter, loc, yields);
  carried.assign(yields.begin() + 1, yields.end());
  hasPrevious = inits.front();
  previous.assign(inits.begin() + 1, inits.end());
}

/// Clones one step of a loop, for the row whose values are in `map`.
static void cloneStep(OpBuilder &b, scf::ForOp loop, Value counter,
                      IRMapping &map) {
  map.map(loop.getInductionVar(), counter);
  for (Operation &op : loop.getBody()->without_terminator())
    b.clone(op, map);
}

/// Fuses `fill` of a row with `drain` of the previous one, if there is one.
void Pipeline::splitFill() {
  IRMapping before;
  before.map(carried, previous);
  OpBuilder b(fill);
  auto yield = [](OpBuilder &b, Location loc, scf::ForOp loop) {
    scf::YieldOp::create(b, loc, loop.getResults());
  };
  auto runBeside = [&](OpBuilder &b, Location loc) {
    auto beside = cast<scf::ForOp>(b.clone(*fill));
    b.setInsertionPointToStart(beside.getBody());
    cloneStep(b, drain, beside.getInductionVar(), before);
    b.setInsertionPointAfter(beside);
    for (Operation *op : rest)
      b.clone(*op, before);
    yield(b, loc, beside);
  };
  auto runAlone = [&](OpBuilder &b, Location loc) {
    yield(b, loc, cast<scf::ForOp>(b.clone(*fill)));
  };
  auto branch =
      scf::IfOp::create(b, fill.getLoc(), hasPrevious, runBeside, runAlone);
  for (auto [own, result] : llvm::zip(fill.getResults(), branch.getResults())) {
    own.replaceAllUsesWith(result);
    llvm::replace(carried, own, result);
  }
  fill->erase();
}

void Pipeline::build() {
  carry();
  splitFill();
  scf::ForOp outermost = nest.front();
  OpBuilder b(outermost->getContext());
  b.setInsertionPointAfter(outermost);
  Location loc = drain.getLoc();
  auto last = scf::IfOp::create(b, loc, outermost.getResult(0), false);
  b.setInsertionPointToStart(last.thenBlock());
  IRMapping map;
  map.map(carried, outermost.getResults().drop_front());
  b.clone(*drain, map);
  for (Operation *op : rest)
    b.clone(*op, map);
  for (Operation *op : llvm::reverse(rest))
    op->erase();
  drain->erase();
}

/// Pipelines one loop of the function, which replaces the loops around it.
static bool pipelineOne(func::FuncOp function) {
  return function
      .walk([](scf::ForOp loop) {
        Pipeline pipeline(loop);
        if (!pipeline.find())
          return WalkResult::advance();
        pipeline.build();
        return WalkResult::interrupt();
      })
      .wasInterrupted();
}

void PipelineRowsPass::runOnOperation() {
  while (pipelineOne(getOperation()))
    ++numPipelined;
}

} // namespace adze

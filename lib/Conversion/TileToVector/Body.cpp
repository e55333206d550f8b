// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Lowers the body of a kernel in program order, and decides where tiles are
// computed.
#include "Dialect/Tile/IR/Faults.h"
#include "MatrixDots.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace adze::tile;

//===--- What to keep -----------------------------------------------------===//

/// Returns true if recomputing the op is expensive.
static bool isHeavy(Operation *op) {
  return isa_and_nonnull<math::MathDialect>(op->getDialect()) &&
         !isa<math::FmaOp, math::AbsFOp, math::AbsIOp, math::CopySignOp,
              math::SqrtOp, math::FloorOp, math::CeilOp, math::RoundEvenOp,
              math::TruncOp, math::IsNaNOp, math::IsInfOp>(op);
}

/// Returns true if the current slices of a tile fit into registers during its
/// live range: the tile is small, and no inner loop iterates over it.
bool KernelLowering::fitsRegisters(Value tile) {
  for (int c : classes.of(tile)) {
    if (classes.isSplit(c) || context.contains(c))
      continue;
    bool walked = classes.isContracted(c) && classes.size(c) > 1;
    if (classes.isLooped(c) || walked)
      return false;
  }
  return layoutOf(tile).total() <= getAccumulators(target) + 8;
}

/// Returns true if only stores, and more than one, depend on this tile, so that
/// it is computed once at its position and not once for each store.
bool KernelLowering::isShared(Operation *op) {
  return !inOrder && classes.onlyStores() && !op->hasOneUse() &&
         (isa<LoadOp>(op) || op->hasTrait<OpTrait::Elementwise>()) &&
         fitsRegisters(op->getResult(0));
}

/// Finds the expensive tiles that two roots use. The root that computes such a
/// tile first also writes it to scratch memory.
void KernelLowering::findWanted() {
  DenseMap<Value, int> users;
  root->walk([&](Operation *op) {
    if (!isa<CheckOp, ReduceOp, DotOp, StoreOp>(op))
      return;
    DenseSet<Value> seen;
    SmallVector<Value> work(op->getOperands());
    while (!work.empty()) {
      Value value = work.pop_back_val();
      Operation *source = value.getDefiningOp();
      if (!isTile(value) || !source || !seen.insert(value).second ||
          isa<ReduceOp, DotOp, scf::ForOp, scf::IfOp>(source))
        continue;
      ++users[value];
      llvm::append_range(
          work, llvm::make_filter_range(source->getOperands(), isTile));
    }
  });
  // Returns true if the elements of the window are transposed or gathered.
  auto isScattered = [&](Value tile) {
    auto load = tile.getDefiningOp<LoadOp>();
    Layout layout = layoutOf(tile);
    return load && layout.lanes > 1 && !isContiguous(window(load), layout);
  };
  for (auto [value, count] : users)
    if (count > 1 && (isHeavy(value.getDefiningOp()) || isScattered(value)))
      wanted.insert(value);
  root->walk([&](DotOp dot) {
    if (classes.runsAlongDepth(dot))
      return;
    for (Value operand : {dot.getLhs(), dot.getRhs()})
      if (Operation *source = operand.getDefiningOp();
          source && source->getBlock() != dot->getBlock())
        invariant[operand] |= operand == dot.getRhs();
  });
}

/// Makes the tiles available that the last root wrote to scratch memory.
void KernelLowering::afterRoot() {
  for (Value tile : pending)
    scopes.back()[tile].push_back(scratchFor(tile));
  pending.clear();
}

//===--- Roots ------------------------------------------------------------===//

/// Computes the tile of a root at its op: in registers if it fits, else in
/// scratch memory.
void KernelLowering::anchor(Value tile) {
  if (classes.isMatrixSum(tile)) {
    MatrixDots(*this).lower(tile.getDefiningOp<DotOp>());
  } else if (auto dot = tile.getDefiningOp<DotOp>();
             dot && classes.isMatrixBlock(dot)) {
    MatrixDots(*this).lowerBlock(dot);
  } else if (fitsRegisters(tile)) {
    emit(tile);
  } else {
    if (auto op = tile.getDefiningOp<DotOp>())
      prepareOperands(op);
    materialise(tile);
  }
  afterRoot();
}

void KernelLowering::store(StoreOp op) {
  Value tile = op.getValue();
  if (classes.isMatrixSum(tile) && !scratchOf(tile)) {
    MatrixDots(*this).store(op);
    return afterRoot();
  }
  Window target = window(op);
  bool hasOthers = !wanted.empty(); // kept tiles live until the end
  forAllChunks(
      loopedClasses(tile),
      [&] {
        forParts(tile, [&] {
          scopes.emplace_back();
          Registers registers = emit(tile);
          loc = op.getLoc();
          write(target, registers);
          scopes.pop_back();
        });
      },
      hasOthers ? nullptr : &target);
  afterRoot();
}

//===--- Control flow -----------------------------------------------------===//

namespace {
/// Returns true if the op and its regions compute on scalars only.
bool isScalar(Operation *op) {
  return !op->walk([](Operation *nested) {
              bool tiles = llvm::any_of(nested->getOperands(), isTile) ||
                           llvm::any_of(nested->getResults(), isTile);
              return tiles ? WalkResult::interrupt() : WalkResult::advance();
            }).wasInterrupted();
}
} // namespace

/// Forgets the scalars of a block, so that the next emission clones them again.
void KernelLowering::forget(Block &block) {
  block.walk([&](Operation *op) {
    if (hoisted.contains(op) || op == depthLoop)
      return;
    for (Value result : op->getResults())
      map.erase(result);
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        map.erase(argument);
  });
}

void KernelLowering::bodyOp(Operation *op) {
  if (hoisted.contains(op))
    return;
  loc = op->getLoc();
  if (auto view = dyn_cast<ViewOp>(op))
    return map.map(view.getResult(), mapped(view.getSource()));
  if (auto check = dyn_cast<CheckOp>(op);
      check && isTile(check.getPositions())) {
    // Positions that no inner loop iterates over stay available for later ops.
    Value tile = check.getPositions();
    SmallVector<int> looped = loopedClasses(tile);
    forAllChunks(looped, [&] {
      scopes.resize(scopes.size() + !looped.empty());
      Registers positions = emit(tile);
      loc = op->getLoc();
      Value greatest = positions.values.front();
      for (Value position : llvm::drop_begin(positions.values))
        greatest = arith::MaxUIOp::create(b, loc, greatest, position);
      CheckOp::create(b, loc, greatest, mapped(check.getExtent()),
                      check.getFault(), check.getAbsolute());
      scopes.resize(scopes.size() - !looped.empty());
    });
    return afterRoot();
  }
  if (isScalar(op)) {
    b.clone(*op, map);
    return;
  }
  if (op->getNumResults() == 1)
    if (auto stage = stages.find(op->getResult(0)); stage != stages.end()) {
      scopes.back()[stage->first].push_back(panelOf(stage->second));
      return;
    }
  if (auto storeOp = dyn_cast<StoreOp>(op))
    return store(storeOp);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return forOp(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return ifOp(branch);
  if (Value root = getRootTile(op))
    return anchor(root);
  if (isa<LoadOp, GatherOp>(op) && inOrder) {
    materialise(op->getResult(0));
    return;
  }
  if (op->getNumRegions()) {
    fail(op, "expected scf.for or scf.if as the only control flow over tiles");
    return;
  }
  if (!op->getNumResults()) {
    fail(op, "expected tile.store or tile.check as the only ops over tiles "
             "without a result");
    return;
  }
  Value tile = op->getResult(0);
  if (!isTile(tile)) {
    fail(op, "expected a tile as the result of an op over tiles");
    return;
  }
  if (auto it = invariant.find(tile); it != invariant.end())
    return prepareOperand(tile, it->second);
  if (isShared(op)) {
    emit(tile);
    return;
  }
  if (!isHeavy(op))
    return;
  bool repeated = llvm::any_of(op->getUsers(), llvm::IsaPred<BroadcastOp>);
  if (fitsRegisters(tile))
    emit(tile);
  else if (repeated)
    materialise(tile);
}

void KernelLowering::body(Block &block) {
  Block::iterator end = block.without_terminator().end();
  for (auto it = block.begin(); it != end && !failed; ++it) {
    if (depthLoop && &*it == depthLoop)
      return depthStep(std::next(it), end);
    bodyOp(&*it);
  }
}

/// Computes the values that a loop or branch carries (inits or yields) into
/// registers or, if they are large, into their buffers.
Carried KernelLowering::handOver(ValueRange values, Handover &to) {
  Carried flat;
  SmallVector<std::pair<Value, Kept>, 0> copies;
  for (auto [value, layout, buffer, matrices] :
       llvm::zip_equal(values, to.layouts, to.buffers, to.matrices)) {
    if (!isTile(value)) {
      flat.push_back(mapped(value));
      continue;
    }
    if (!matrices.empty()) {
      llvm::append_range(flat, MatrixDots(*this).take(value));
      continue;
    }
    if (!buffer.scratch) {
      llvm::append_range(flat, emit(value, layout.lanes == 1).values);
      continue;
    }
    // All values are computed before any buffer changes, as they may read the
    // old contents.
    std::optional<Kept> have = scratchOf(value);
    if (have && have->scratch == buffer.scratch)
      continue;
    bool shared = have && llvm::any_of(to.buffers, [&](const Kept &other) {
                    return other.scratch == have->scratch;
                  });
    if (shared) { // another value is about to overwrite it
      Kept aside = makeBuffer(value);
      copyTo(value, aside);
      scopes.back()[value].push_back(aside);
    } else if (!have && to.inLoop) {
      materialise(value);
    }
    copies.push_back({value, buffer});
  }
  for (auto &[value, buffer] : copies)
    copyTo(value, buffer);
  return flat;
}

/// Makes the carried values available; `results` is the flat list of them.
void KernelLowering::receive(ValueRange values, ValueRange flat,
                             const Handover &from) {
  size_t next = 0;
  for (auto [value, layout, buffer, matrices] :
       llvm::zip_equal(values, from.layouts, from.buffers, from.matrices)) {
    if (!isTile(value)) {
      map.map(value, flat[next++]);
      continue;
    }
    if (!matrices.empty()) {
      ValueRange own = flat.slice(next, matrices.size());
      MatrixDots(*this).keep(value, Carried(own));
      next += matrices.size();
      continue;
    }
    if (buffer.scratch) {
      scopes.back()[value].push_back(buffer);
      continue;
    }
    Registers registers{layout, {}};
    for (int64_t i = 0, e = layout.total(); i < e; ++i)
      registers.values.push_back(flat[next++]);
    remember(value, registers);
  }
}

Handover KernelLowering::planHandover(ValueRange values) {
  Handover plan;
  for (Value value : values) {
    plan.layouts.emplace_back();
    plan.buffers.emplace_back();
    plan.matrices.emplace_back();
    if (!isTile(value))
      continue;
    if (classes.isMatrixSum(value))
      plan.matrices.back() = MatrixDots(*this).getTypes(value);
    else if (fitsRegisters(value))
      plan.layouts.back() = layoutOf(value);
    else
      plan.buffers.back() = scratchFor(value);
  }
  return plan;
}

void KernelLowering::forOp(scf::ForOp op) {
  Handover plan = planHandover(op.getResults());
  Carried init = handOver(op.getInitArgs(), plan);
  plan.inLoop = true;
  auto loop = scf::ForOp::create(b, loc, mapped(op.getLowerBound()),
                                 mapped(op.getUpperBound()),
                                 mapped(op.getStep()), init);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    scopes.emplace_back();
    map.map(op.getInductionVar(), loop.getInductionVar());
    receive(op.getRegionIterArgs(), loop.getRegionIterArgs(), plan);
    body(*op.getBody());
    Carried next = handOver(op.getYieldedValues(), plan);
    if (!init.empty())
      scf::YieldOp::create(b, loc, next);
    scopes.pop_back();
    forget(*op.getBody());
    for (Value argument : op.getBody()->getArguments())
      map.erase(argument);
  }
  receive(op.getResults(), loop.getResults(), plan);
}

void KernelLowering::ifOp(scf::IfOp op) {
  Handover plan = planHandover(op.getResults());
  SmallVector<Type> types;
  for (auto [value, layout, buffer, matrices] : llvm::zip_equal(
           op.getResults(), plan.layouts, plan.buffers, plan.matrices)) {
    if (!isTile(value))
      types.push_back(value.getType());
    else if (!matrices.empty())
      llvm::append_range(types, matrices);
    else if (!buffer.scratch)
      types.append(layout.total(), registerType(value, layout));
  }
  bool hasElse = !op.getElseRegion().empty();
  auto branch =
      scf::IfOp::create(b, loc, types, mapped(op.getCondition()), hasElse);
  for (bool isThen : {true, false}) {
    if (!isThen && !hasElse)
      continue;
    Block *target = isThen ? branch.thenBlock() : branch.elseBlock();
    Block *source = isThen ? op.thenBlock() : op.elseBlock();
    OpBuilder::InsertionGuard guard(b);
    if (target->mightHaveTerminator())
      target->getTerminator()->erase();
    b.setInsertionPointToEnd(target);
    scopes.emplace_back();
    body(*source);
    Carried values = handOver(source->getTerminator()->getOperands(), plan);
    scf::YieldOp::create(b, loc, values);
    scopes.pop_back();
    forget(*source);
  }
  receive(op.getResults(), branch.getResults(), plan);
}

// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Which accesses to global memory of a kernel keep their order.
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "Dialect/Tile/IR/Faults.h"
#include "KernelPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace adze::togpu {

/// Returns true if `index` is the induction variable, or a sum or difference of
/// it and a value that is constant in the loop.
static bool movesWith(Value index, scf::ForOp loop) {
  Value iv = loop.getInductionVar();
  if (index == iv)
    return true;
  Operation *op = index.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op))
    return false;
  auto isOutside = [&](Value v) {
    return !loop->isAncestor(v.getParentRegion()->getParentOp());
  };
  Value x = op->getOperand(0), y = op->getOperand(1);
  return (isOutside(x) && movesWith(y, loop)) ||
         (isOutside(y) && movesWith(x, loop));
}

/// Returns true if each iteration of the loop stores to other elements.
static bool storesApart(tile::StoreOp store, scf::ForOp loop) {
  auto step = getConstantIntValue(loop.getStep());
  SmallVector<int64_t> dims = store.getMemDims(), steps = store.getSteps();
  for (auto [d, offset] : llvm::enumerate(store.getMixedOffsets())) {
    auto index = dyn_cast<Value>(offset);
    if (!step || !index || !movesWith(index, loop))
      continue;
    auto *axis = llvm::find(dims, int64_t(d));
    int64_t i = axis - dims.begin(),
            extent = axis == dims.end()
                         ? 1
                         : store.getValue().getType().getDimSize(i) * steps[i];
    if (*step >= extent)
      return true;
  }
  return false;
}

/// Returns the loop whose induction variable is the index, if it starts at 0.
static scf::ForOp getLoopFromZero(Value index) {
  auto argument = dyn_cast<BlockArgument>(index);
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  return loop && loop.getInductionVar() == index &&
                 getConstantIntValue(loop.getLowerBound()) == 0
             ? loop
             : scf::ForOp();
}

/// Returns true if a store in a loop ends along a dim where the other store
/// begins: that of whole chunks and that of the remainder.
static bool endsBefore(tile::StoreOp store, tile::StoreOp other) {
  SmallVector<int64_t> dims = store.getMemDims(), steps = store.getSteps();
  SmallVector<OpFoldResult> begins = other.getMixedOffsets();
  for (auto [d, offset] : llvm::enumerate(store.getMixedOffsets())) {
    auto index = dyn_cast<Value>(offset), begin = dyn_cast<Value>(begins[d]);
    auto *axis = llvm::find(dims, int64_t(d));
    scf::ForOp loop = index ? getLoopFromZero(index) : scf::ForOp();
    auto sum = begin ? begin.getDefiningOp<arith::AddIOp>() : arith::AddIOp();
    if (!loop || !sum || axis == dims.end())
      continue;
    // The end of the loop is a multiple of its step.
    auto step = getConstantIntValue(loop.getStep());
    int64_t i = axis - dims.begin();
    bool isWhole = step && steps[i] == 1 &&
                   *step == store.getValue().getType().getDimSize(i) &&
                   tile::getKnownDivisor(loop.getUpperBound()) % *step == 0;
    if (isWhole && sum.getLhs() == loop.getUpperBound() &&
        getLoopFromZero(sum.getRhs()))
      return true;
  }
  return false;
}

/// Returns true if no two stores of the list access the same elements.
static bool areApart(ArrayRef<Operation *> stores) {
  for (auto [i, store] : llvm::enumerate(stores))
    for (Operation *other : stores.drop_front(i + 1)) {
      auto first = dyn_cast<tile::StoreOp>(store),
           second = dyn_cast<tile::StoreOp>(other);
      if (!first || !second || first.getMemref() != second.getMemref() ||
          !endsBefore(first, second))
        return false;
    }
  return true;
}

/// Returns true if each iteration of the loop stores to the same elements, and
/// so a thread to its own.
static bool storesInPlace(tile::StoreOp store, scf::ForOp loop) {
  return llvm::all_of(store.getOffsets(), [&](Value offset) {
    return loop.isDefinedOutsideOfLoop(offset);
  });
}

/// Returns true if threads may store to the elements of others in iterations of
/// a loop around the store.
static bool storesAgain(Operation *store) {
  auto tileStore = dyn_cast<tile::StoreOp>(store);
  for (auto loop = store->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    if (!tileStore ||
        !(storesApart(tileStore, loop) || storesInPlace(tileStore, loop)))
      return true;
  return false;
}

/// Returns true if a product reads the tile, or one that is computed from it.
static bool isMultiplied(Value tile) {
  llvm::SmallSetVector<Value, 16> work;
  work.insert(tile);
  for (unsigned i = 0; i < work.size(); ++i)
    for (OpOperand &use : work[i].getUses()) {
      if (isa<tile::DotOp>(use.getOwner()) && use.getOperandNumber() < 2)
        return true;
      if (!isa<tile::DotOp>(use.getOwner()))
        work.insert_range(
            llvm::make_filter_range(use.getOwner()->getResults(), isTile));
    }
  return false;
}

/// Tiles are computed on demand, so a load may run later than its position in
/// the IR. If the kernel also stores to the same memory, the load is pinned to
/// its position, unless no program of its step stores to the loaded elements. A
/// store synchronizes all threads if another access, or the
/// store in another iteration, may access the same elements from other threads.
/// In a loop over steps, loads that no product reads are pinned, too: products
/// overlap with those before them.
void KernelPlan::orderMemory() {
  llvm::DenseMap<Value, SmallVector<Operation *>> stores;
  llvm::DenseSet<Value> loaded;
  kernel.walk([&](Operation *op) {
    if (isa<tile::StoreOp, tile::ScatterOp, memref::StoreOp>(op))
      stores[argumentOf(op->getOperand(1))].push_back(op);
    else if (isa<tile::LoadOp, tile::GatherOp, memref::LoadOp>(op) &&
             !op->hasAttr(tile::kEarlierAttribute))
      loaded.insert(argumentOf(op->getOperand(0)));
  });
  for (auto &[memory, list] : stores) {
    bool mayConflict = loaded.contains(memory) || !areApart(list);
    for (Operation *store : list)
      if (mayConflict || storesAgain(store))
        ordered.insert(store);
  }
  kernel.walk([&](Operation *op) {
    if (!isa<tile::LoadOp, tile::GatherOp>(op))
      return;
    bool isStored = !op->hasAttr(tile::kEarlierAttribute) &&
                    stores.contains(argumentOf(op->getOperand(0)));
    auto loop = op->getParentOfType<scf::ForOp>();
    bool isEarly =
        loop && isLoopOverSteps(loop) && !isMultiplied(op->getResult(0));
    if (!isStored && !isEarly)
      return;
    pinned.insert(op->getResult(0));
    held.insert_range(classesOf(op->getResult(0)));
  });
  kernel.walk([&](scf::ForOp loop) {
    if (isParallel(loop))
      parallel.insert(loop);
  });
}

/// Returns true if iterations of scalar code store to distinct elements and
/// load none of them: threads may run different iterations. Each checks its own
/// positions. All threads run a short loop around such a loop.
bool KernelPlan::isParallel(scf::ForOp loop) {
  if (loop.getNumResults())
    return false;
  llvm::DenseSet<Value> stored, loaded;
  bool inner = false;
  WalkResult result = loop.getBody()->walk([&](Operation *op) {
    if (auto store = dyn_cast<memref::StoreOp>(op)) {
      stored.insert(argumentOf(store.getMemRef()));
      if (llvm::none_of(store.getIndices(),
                        [&](Value index) { return movesWith(index, loop); }))
        return WalkResult::interrupt();
    } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
      loaded.insert(argumentOf(load.getMemRef()));
    } else if (auto nested = dyn_cast<scf::ForOp>(op)) {
      inner |= isParallel(nested);
    } else if (!isa<tile::CheckOp>(op) &&
               (op->getDialect() == kernel->getDialect() ||
                (op->getNumRegions() && !isa<scf::IfOp>(op)))) {
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  auto trips = loop.getStaticTripCount();
  bool isShort = trips && trips->getZExtValue() < 32;
  return !result.wasInterrupted() && !stored.empty() && !(isShort && inner) &&
         llvm::none_of(stored, [&](Value v) { return loaded.contains(v); });
}

} // namespace adze::togpu

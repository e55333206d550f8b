// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits the loops over split classes around the body of a kernel or phase, and
// its two versions (all in bounds, and border).
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace adze::tile;

/// Returns true if the kernel or phase stores to memory that it also loads with
/// other indices, so that loads must not be delayed past stores.
static bool needsProgramOrder(Operation *root);

KernelLowering::KernelLowering(Operation *root, CpuTargetAttr target,
                               const KernelFrame &frame, OpBuilder b)
    : root(root), target(target),
      classes(root, target, needsProgramOrder(root), frame.largeResults), b(b),
      loc(root->getLoc()), map(frame.map), entry(frame.entry),
      inOrder(needsProgramOrder(root)), hoisted(frame.hoisted) {}

//===--- Helpers ----------------------------------------------------------===//

void KernelLowering::fail(Operation *op, StringRef why) {
  if (!failed)
    failure = {op, why.str()};
  failed = true;
}

/// Constants are created once, at the top of the function.
Value KernelLowering::index(int64_t value) {
  Value &constant = constants[value];
  if (!constant) {
    OpBuilder atEntry = OpBuilder::atBlockBegin(entry);
    constant = arith::ConstantIndexOp::create(atEntry, root->getLoc(), value);
  }
  return constant;
}

Value KernelLowering::add(Value x, Value y) {
  return b.createOrFold<arith::AddIOp>(loc, x, y);
}

Value KernelLowering::mapped(OpFoldResult value) {
  auto self = dyn_cast<Value>(value);
  if (!self || self.getType().isIndex())
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      return index(*constant);
  return map.lookup(self);
}

//===--- Program order ----------------------------------------------------===//

Value adze::tile::argumentOf(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

static bool isSameWindow(LoadOp load, StoreOp store) {
  return load.getMemref() == store.getMemref() &&
         load->getBlock() == store->getBlock() &&
         load.getMixedOffsets() == store.getMixedOffsets() &&
         load.getMemDims() == store.getMemDims() &&
         load.getSteps() == store.getSteps() &&
         load.getType() == store.getValue().getType();
}

/// Returns true if `store` alone, in the same block, stores all values computed
/// from this tile.
static bool feedsOnly(Value tile, StoreOp store) {
  return llvm::all_of(tile.getUsers(), [&](Operation *user) {
    if (user == store)
      return true;
    return user->getBlock() == store->getBlock() &&
           user->hasTrait<OpTrait::Elementwise>() &&
           feedsOnly(user->getResult(0), store);
  });
}

/// Returns true if one part of the kernel writes this memory of a result, and a
/// later one reads it and writes a function of each element to its position.
static bool isRewritten(LoadOp load, ArrayRef<StoreOp> stores,
                        Operation *root) {
  Block &body = root->getRegion(0).front();
  auto isBefore = [&](Operation *x, Operation *y) {
    Operation *first = body.findAncestorOpInBlock(*x),
              *second = body.findAncestorOpInBlock(*y);
    return first != second && first->isBeforeInBlock(second);
  };
  auto last = llvm::find_if(
      stores, [&](StoreOp store) { return isSameWindow(load, store); });
  return last != stores.end() && feedsOnly(load.getResult(), *last) &&
         llvm::all_of(stores, [&](StoreOp store) {
           return store == *last ||
                  (store.getMemref() == load.getMemref() &&
                   (isBefore(store, load) || isBefore(*last, store)));
         });
}

static bool needsProgramOrder(Operation *root) {
  DenseMap<Value, SmallVector<StoreOp>> stores;
  root->walk([&](StoreOp store) {
    stores[argumentOf(store.getMemref())].push_back(store);
  });
  WalkResult walk = root->walk([&](Operation *op) {
    Value memref;
    if (isa<memref::StoreOp>(op)) // must not run again for each slice
      return WalkResult::interrupt();
    if (auto load = dyn_cast<LoadOp>(op))
      memref = load.getMemref();
    else if (auto gather = dyn_cast<GatherOp>(op))
      memref = gather.getMemref();
    else if (auto scalar = dyn_cast<memref::LoadOp>(op))
      memref = scalar.getMemRef();
    else
      return WalkResult::advance();
    auto it = stores.find(argumentOf(memref));
    if (it == stores.end())
      return WalkResult::advance();
    auto load = dyn_cast<LoadOp>(op);
    bool same = load && it->second.size() == 1 &&
                isSameWindow(load, it->second.front());
    bool isFree = same || (load && isRewritten(load, it->second, root));
    return isFree ? WalkResult::advance() : WalkResult::interrupt();
  });
  return walk.wasInterrupted();
}

//===--- Split classes and versions ---------------------------------------===//

/// Returns the dimension of a store at whose end all stores along a class end,
/// or nothing if they do not end alike.
std::optional<std::pair<Window, int64_t>> KernelLowering::commonEnd(int c) {
  std::optional<std::pair<Window, int64_t>> target;
  auto endsThere = [&](const Window &store) {
    for (int64_t dim = 0, e = store.offsets.size(); dim < e; ++dim) {
      if (classAlong(store, dim) != c)
        continue;
      if (!target)
        target = {store, dim};
      return store.endsAlike(dim, target->first, target->second);
    }
    return false;
  };
  WalkResult walk = root->walk([&](StoreOp store) {
    return endsThere(window(store)) ? WalkResult::advance()
                                    : WalkResult::interrupt();
  });
  return walk.wasInterrupted() ? std::nullopt : target;
}

/// Returns the end of the register blocks that are not wholly out of the bounds
/// of the stores. `bounded` receives the accesses that then need no checks.
Value KernelLowering::splitEnd(int c, int64_t full,
                               SmallVector<Settled> &bounded) {
  Value end = index(full);
  auto common = commonEnd(c);
  if (!common)
    return end;
  auto &[target, dim] = *common;
  Value offset = runtimeBound(target.offsets[dim], /*upper=*/false);
  if (!offset || !map.contains(target.memref) ||
      proof(target, dim) != Proof::none)
    return end;
  bounded = boundedWith(target, dim, c);
  Value left =
      b.createOrFold<arith::SubIOp>(loc, extent(target.memref, dim), offset);
  return b.createOrFold<arith::MinSIOp>(loc, end, left);
}

void KernelLowering::splitLoops(size_t depth) {
  if (depth == classes.splitOrder().size())
    return versions();
  int c = classes.splitOrder()[depth];
  int64_t size = classes.size(c), step = classes.step(c);
  int64_t full = size / step * step;
  splitLoop(depth, full);
  if (full < size) {
    int64_t rest = size - full;
    if (step % classes.lanes(c) == 0)
      rest = llvm::alignTo(rest, classes.lanes(c));
    splitAt(depth, {Value(), full, rest});
  }
}

void KernelLowering::splitAt(size_t depth, const Slice &self) {
  context[classes.splitOrder()[depth]] = self;
  splitLoops(depth + 1);
}

/// Emits the steps of a split class up to a dynamic bound: a loop over the
/// whole steps, which need no checks for the bound, and the remainder. A
/// remainder of at most half a step runs as half a step, so that the cost of
/// few rows is proportional. A class of one step begins at a constant position.
void KernelLowering::splitToEnd(size_t depth, int64_t full, Value end,
                                SettledRef bounded) {
  int c = classes.splitOrder()[depth];
  int64_t step = classes.step(c);
  OpBuilder::InsertionGuard guard(b);
  auto onlyIf = [&](arith::CmpIPredicate predicate, Value x, Value y,
                    bool hasElse = false) {
    Value condition = arith::CmpIOp::create(b, loc, predicate, x, y);
    auto branch = scf::IfOp::create(b, loc, condition, hasElse);
    b.setInsertionPointToStart(branch.thenBlock());
    return branch;
  };
  Value rest = end, whole, at;
  ends[c] = end;
  if (full > step || checksInLoops()) {
    Operation *all;
    rest = arith::RemSIOp::create(b, loc, end, index(step));
    if (full == step) {
      all = onlyIf(arith::CmpIPredicate::eq, end, index(full));
    } else {
      whole = arith::SubIOp::create(b, loc, end, rest);
      auto loop = scf::ForOp::create(b, loc, index(0), whole, index(step));
      b.setInsertionPointToStart(loop.getBody());
      at = loop.getInductionVar();
      all = loop;
    }
    auto outer = settled;
    settled.insert_range(bounded);
    splitAt(depth, {at, 0, step});
    settled = outer;
    b.setInsertionPointAfter(all);
  }
  onlyIf(arith::CmpIPredicate::sgt, rest, index(0));
  bool wasAtEnd = std::exchange(atEnd, true);
  if (int64_t half = step / 2; step % 2 == 0 && classes.mayHalve(c)) {
    auto more = onlyIf(arith::CmpIPredicate::sgt, rest, index(half), true);
    b.setInsertionPointToStart(more.elseBlock());
    splitAt(depth, {whole, 0, half});
    b.setInsertionPointToStart(more.thenBlock());
  }
  splitAt(depth, {whole, 0, step});
  atEnd = wasAtEnd;
  ends.erase(c);
}

/// Emits the steps of a split class around an interior that is computed at run
/// time. Steps inside of it need no checks. In all others, positions out of
/// bounds are pads, and positions beyond the end are not stored. A remainder of
/// at most half a step runs as half a step.
void KernelLowering::splitAround(size_t depth, const RunInterior &in, Value end,
                                 SettledRef bounded) {
  int c = classes.splitOrder()[depth];
  int64_t step = classes.step(c), half = step / 2;
  OpBuilder::InsertionGuard guard(b);
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(loc, predicate, x, y);
  };
  Value rest = b.createOrFold<arith::RemSIOp>(loc, end, index(step));
  Value whole = b.createOrFold<arith::SubIOp>(loc, end, rest);
  bool mayHalve = classes.mayHalve(c);
  Value isFew =
      compare(arith::CmpIPredicate::sle, rest, index(mayHalve ? half : 0));
  Value to = b.createOrFold<arith::SelectOp>(loc, isFew, whole, end);
  auto loop = scf::ForOp::create(b, loc, index(0), to, index(step));
  b.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  Value begins = compare(arith::CmpIPredicate::sge, at, in.begin);
  Value ends = compare(arith::CmpIPredicate::sle, add(at, step), in.end);
  Value isInside = arith::AndIOp::create(b, loc, begins, ends);
  auto branch = scf::IfOp::create(b, loc, isInside, /*withElse=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  auto outer = settled;
  settled.insert_range(bounded);
  settled.insert_range(in.bounded);
  splitAt(depth, {at, 0, step});
  settled = outer;
  bool wasAtEnd = std::exchange(atEnd, true);
  int wasOver = std::exchange(overBorder, c);
  b.setInsertionPointToStart(branch.elseBlock());
  splitAt(depth, {at, 0, step});
  b.setInsertionPointAfter(loop);
  if (mayHalve) {
    Value isLeft = compare(arith::CmpIPredicate::slt, whole, end);
    isLeft = arith::AndIOp::create(b, loc, isLeft, isFew);
    auto tail = scf::IfOp::create(b, loc, isLeft, /*withElse=*/false);
    b.setInsertionPointToStart(tail.thenBlock());
    splitAt(depth, {whole, 0, half});
  }
  overBorder = wasOver;
  atEnd = wasAtEnd;
}

/// Emits the full steps of a split class: a loop, and the border steps of
/// constant positions one by one, so that their loads need no run-time
/// conditions.
void KernelLowering::splitLoop(size_t depth, int64_t full) {
  int c = classes.splitOrder()[depth];
  int64_t step = classes.step(c);
  SmallVector<Settled> bounded;
  Value end = splitEnd(c, full, bounded);
  Interior in = interior(c, full);
  if (getConstantIntValue(end) != full) {
    if (step > 1 && endsWith(c, bounded))
      return splitToEnd(depth, full, end, bounded);
    if (auto found = step > 1 ? runInterior(c, end, bounded)
                              : std::optional<RunInterior>())
      return splitAround(depth, *found, end, bounded);
    in = {0, full, step > 1 ? SmallVector<Settled>() : bounded};
  }
  if (getConstantIntValue(end) == full && picksByStep(c))
    in = {full, full, {}};
  for (int64_t at = 0; at < in.begin; at += step)
    splitAt(depth, {Value(), at, step});
  if (in.end - in.begin == step) {
    splitAt(depth, {Value(), in.begin, step});
  } else if (in.end > in.begin) {
    auto loop =
        scf::ForOp::create(b, loc, index(in.begin),
                           in.end == full ? end : index(in.end), index(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    auto outer = settled;
    settled.insert_range(in.bounded);
    splitAt(depth, {loop.getInductionVar(), 0, step});
    settled = outer;
  }
  for (int64_t at = in.end; at < full; at += step)
    splitAt(depth, {Value(), at, step});
}

void KernelLowering::version(bool isFast) {
  fast = isFast;
  scopes.emplace_back();
  body(rootBlock());
  scopes.pop_back();
  forget(rootBlock());
}

void KernelLowering::versions() {
  Value condition;
  bool known = true, needed = false;
  forEachWindow([&](const Window &window) {
    if (!known || !hasUnproven(window))
      return;
    needed = true;
    Value holds = inBounds(window);
    known &= holds != nullptr;
    if (holds)
      condition =
          condition
              ? arith::AndIOp::create(b, loc, condition, holds).getResult()
              : holds;
  });
  if (!needed)
    return version(/*isFast=*/true);
  if (!known || atEnd || !checksInLoops())
    return version(/*isFast=*/false);
  auto branch = scf::IfOp::create(b, loc, condition, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  version(/*isFast=*/true);
  b.setInsertionPointToStart(branch.elseBlock());
  version(/*isFast=*/false);
}

void KernelLowering::forEachWindow(llvm::function_ref<void(const Window &)> f) {
  root->walk([&](Operation *op) {
    // A load that only reshapes use is read as the window of the reshape.
    bool throughReshape = isa<LoadOp>(op) && !op->use_empty() &&
                          llvm::all_of(op->getUsers(), [&](Operation *user) {
                            SmallVector<int64_t> dims;
                            auto reshape = dyn_cast<ReshapeOp>(user);
                            return reshape && !isUnitReshape(reshape, dims);
                          });
    if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      SmallVector<int64_t> dims;
      if (isUnitReshape(reshape, dims))
        return;
    }
    if (throughReshape || isStagedOnly(op))
      return;
    if (std::optional<Window> window = windowOf(op))
      f(*window);
  });
}

/// Finds the classes that inner loops iterate over in several steps and whose
/// end in memory is not proven: whole steps up to the end run unchecked, and
/// the remainder checked.
void KernelLowering::findLimits() {
  forEachWindow([&](const Window &window) {
    SmallVector<int> dims = classes.of(window.tile);
    for (auto [i, digits] : llvm::enumerate(window.dims)) {
      if (digits.size() != 1)
        continue;
      int64_t dim = digits.front().dim;
      std::optional<IndexRange> range = getIndexRange(window.offsets[dim]);
      if (classes.isLooped(dims[i]) && proof(window, dim) == Proof::none &&
          dim != contractedDim(window) && range && range->min >= 0)
        limits[dims[i]].push_back({window, dim});
    }
  });
}

//===--- The whole --------------------------------------------------------===//

LogicalResult KernelLowering::run() {
  if (Value tile = classes.conflict()) {
    Operation *op = tile.getDefiningOp();
    fail(op ? op : root, "expected no tile with two dimensions that run "
                         "together");
    return mlir::failure();
  }
  findWanted();
  findStages();
  findLimits();
  scopes.emplace_back();
  openDepthLoop();
  copyStages();
  splitLoops(0);
  return success(!failed);
}

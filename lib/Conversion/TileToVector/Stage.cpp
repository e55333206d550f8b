// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Packs right operands of dots that many register blocks read into panels in
// scratch memory, before the loops over blocks. Panels are dense and in the
// order of the steps of the dot, whatever the source is: strided, transposed,
// masked at the end, or computed.
//
// If the whole contracted dimension exceeds the cache, the loop over its parts
// is moved outside of the loops over blocks, and accumulators are kept in
// scratch memory between two parts.
#include "KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace adze::tile;

//===--- What is staged ---------------------------------------------------===//

/// Rows of the operand at most this distance apart are in a few pages and cache
/// sets, so reading them in place is as fast as from a copy.
static bool isDenseInMemory(LoadOp load) {
  auto type = cast<MemRefType>(load.getMemref().getType());
  SmallVector<int64_t> dims = load.getMemDims(), steps = load.getSteps();
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  constexpr int64_t nearBytes = 256;
  if (steps[0] != 1 || steps[1] != 1)
    return false;
  if (type.getLayout().isIdentity()) {
    int64_t pitch = bytes;
    for (int64_t dim = dims[0] + 1; dim < type.getRank(); ++dim) {
      if (type.isDynamicDim(dim))
        return false;
      pitch *= type.getDimSize(dim);
    }
    return dims[1] == type.getRank() - 1 && pitch <= nearBytes;
  }
  // In a packed layout, the columns of a panel are last, after the rows.
  if (isa<StridedLayoutAttr>(type.getLayout()))
    return false;
  ArrayRef<AffineExpr> results = type.getLayout().getAffineMap().getResults();
  return results.size() >= 2 && results.back().isFunctionOfDim(dims[1]) &&
         results[results.size() - 2] ==
             getAffineDimExpr(dims[0], type.getContext());
}

/// Collects the ops in the body that `value` is computed from, in order. Fails
/// if a value changes between blocks of rows, or cannot be computed in advance.
LogicalResult KernelLowering::findSources(Value value, Staged &result,
                                          int rows) {
  if (map.contains(value))
    return success();
  Operation *op = value.getDefiningOp();
  if (!op) {
    auto isCounter = [&](scf::ForOp loop) {
      return loop && loop.getInductionVar() == value;
    };
    return success(isCounter(depthLoop) ||
                   llvm::any_of(result.loops, isCounter));
  }
  if (llvm::is_contained(result.sources, op))
    return success();
  if (op->getNumRegions() || isa<DotOp, ReduceOp, ReshapeOp>(op) ||
      op->getNumResults() != 1 || wanted.contains(value))
    return mlir::failure();
  if (isTile(value) && llvm::is_contained(classes.of(value), rows))
    return mlir::failure();
  if (!isTile(value) && !isMemoryEffectFree(op) && !isa<memref::LoadOp>(op))
    return mlir::failure();
  for (Value operand : op->getOperands())
    if (mlir::failed(findSources(operand, result, rows)))
      return mlir::failure();
  result.sources.push_back(op);
  return success();
}

/// Returns true if the right operand of this dot can be staged, and staging is
/// profitable.
bool KernelLowering::isWorthStaging(DotOp dot) {
  Value tile = dot.getRhs();
  Operation *op = tile.getDefiningOp();
  SmallVector<int> own = classes.of(tile);
  int rows = classes.of(dot.getResult())[0];
  if (!op || inOrder || classes.multipliesGroups(dot) ||
      !classes.isSplit(rows) || !classes.isSplit(own[1]) ||
      classes.isSplit(own[0]) || own[0] == rows || own[1] == rows ||
      own[0] == own[1] || classes.lanes(own[1]) == 1)
    return false;
  if (classes.size(rows) < 2 * classes.step(rows))
    return false; // one block of rows: nothing is read twice
  if (isa<BroadcastOp>(op) && !isTile(op->getOperand(0)))
    return false;
  auto load = dyn_cast<LoadOp>(op);
  return !load || !isDenseInMemory(load) || hasUnproven(window(load));
}

/// Plans a panel for each iteration of the loops around the dot except
/// `depthLoop`. Fails if that is not possible.
LogicalResult KernelLowering::planStage(DotOp dot) {
  Staged stage;
  stage.dot = dot;
  Value tile = dot.getRhs();
  SmallVector<int> own = classes.of(tile);
  SmallVector<int64_t> shape;
  for (Operation *parent = tile.getDefiningOp()->getParentOp(); parent != root;
       parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (loop && loop == depthLoop)
      break;
    std::optional<APInt> trips =
        loop ? loop.getStaticTripCount() : std::optional<APInt>();
    if (!trips || !getConstantIntValue(loop.getLowerBound()) ||
        !getConstantIntValue(loop.getStep()))
      return mlir::failure();
    stage.loops.insert(stage.loops.begin(), loop);
    shape.insert(shape.begin(), trips->getSExtValue());
  }
  if (mlir::failed(findSources(tile, stage, classes.of(dot.getResult())[0])))
    return mlir::failure();
  int64_t step = classes.step(own[1]);
  shape.append({(int64_t)llvm::divideCeil(classes.size(own[1]), step),
                classes.padded(own[0]), step});
  Type element = tileType(tile).getElementType();
  if (element.isInteger(1))
    element = b.getI8Type();
  int64_t bytes =
      element.isIndex() ? 8 : (element.getIntOrFloatBitWidth() + 7) / 8;
  auto type = MemRefType::get(shape, element);
  if (type.getNumElements() * bytes > getStageBytes(target))
    return mlir::failure();
  OpBuilder atEntry = OpBuilder::atBlockBegin(entry);
  stage.scratch =
      memref::AllocaOp::create(atEntry, loc, type, b.getI64IntegerAttr(64));
  stages[tile] = stage;
  return success();
}

/// Returns the loop around a dot that may be moved outside of the loops over
/// blocks: its accumulators for a block are in registers, only ops that are
/// computed on demand precede it, and it is not inside of another loop.
scf::ForOp KernelLowering::findDepthLoop(DotOp dot) {
  auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
  while (loop && loop->getParentOp() != root)
    loop = dyn_cast<scf::ForOp>(loop->getParentOp());
  if (!loop || loop.getInitArgs().empty())
    return {};
  for (Value bound :
       {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
    if (!map.contains(bound) && !getConstantIntValue(bound))
      return {};
  for (Value init : loop.getInitArgs())
    if (!isTile(init) || !llvm::all_of(classes.of(init), [&](int c) {
          return classes.isSplit(c);
        }))
      return {};
  for (Operation &op : rootBlock()) {
    if (&op == loop)
      return loop;
    bool onDemand = op.getNumRegions() == 0 &&
                    !isa<DotOp, ReduceOp, StoreOp, memref::StoreOp>(op);
    if (!onDemand)
      return {};
  }
  return {};
}

/// Chooses the operands to stage, and whether to move the loop over the
/// contracted dimension.
void KernelLowering::findStages() {
  root->walk([&](DotOp dot) {
    if (stages.contains(dot.getRhs()) || !isWorthStaging(dot) ||
        mlir::succeeded(planStage(dot)) || depthLoop)
      return;
    depthLoop = findDepthLoop(dot);
    if (!depthLoop || mlir::succeeded(planStage(dot)))
      return;
    depthLoop = {};
  });
}

/// Returns true if this op is emitted only where a panel is copied.
bool KernelLowering::isStagedOnly(Operation *op) {
  auto isSource = [&](Operation *other) {
    return llvm::any_of(stages, [&](auto &entry) {
      return llvm::is_contained(entry.second.sources, other);
    });
  };
  return isSource(op) && llvm::all_of(op->getUses(), [&](OpOperand &use) {
           auto dot = dyn_cast<DotOp>(use.getOwner());
           return dot ? use.getOperandNumber() == 1 : isSource(use.getOwner());
         });
}

//===--- Copying ----------------------------------------------------------===//

/// Returns the panel of the current columns, in the current iteration of the
/// loops around the dot.
Kept KernelLowering::panelOf(const Staged &stage) {
  Kept kept;
  kept.scratch = stage.scratch;
  kept.scratchOrder = {0, 1};
  for (scf::ForOp loop : stage.loops) {
    Value from = b.createOrFold<arith::SubIOp>(
        loc, map.lookup(loop.getInductionVar()), mapped(loop.getLowerBound()));
    kept.prefix.push_back(
        b.createOrFold<arith::DivUIOp>(loc, from, mapped(loop.getStep())));
  }
  int columns = classes.of(stage.dot.getRhs())[1];
  Slice self = slice(columns);
  int64_t step = classes.step(columns);
  kept.prefix.push_back(
      self.start ? b.createOrFold<arith::DivUIOp>(loc, self.start, index(step))
                 : index(self.at / step));
  return kept;
}

/// Clones the scalars of a block that the staged tile is computed from.
void KernelLowering::cloneSources(const Staged &stage, Block *block) {
  for (Operation *op : stage.sources)
    if (op->getBlock() == block && !isTile(op->getResult(0)) &&
        !map.contains(op->getResult(0)))
      b.clone(*op, map);
}

/// Returns true if all memory that a staged tile is read from is contiguous
/// along its columns.
bool KernelLowering::isReadByRows(const Staged &stage) {
  int columns = classes.of(stage.dot.getRhs())[1];
  return llvm::all_of(stage.sources, [&](Operation *op) {
    std::optional<Window> source = windowOf(op);
    if (!source)
      return true;
    SmallVector<int> own = classes.of(source->tile);
    auto it = llvm::find(own, columns);
    if (it == own.end())
      return true;
    Layout layout = layoutOf(source->tile);
    return layout.laneDim == it - own.begin() && isContiguous(*source, layout);
  });
}

/// Copies all panels of one iteration, in memory order if all of the memory is
/// in bounds.
void KernelLowering::copyPanels(const Staged &stage) {
  Value tile = stage.dot.getRhs();
  SmallVector<int> own = classes.of(tile);
  int k = own[0], columns = own[1];
  bool byRows = isReadByRows(stage);
  auto copy = [&](ArrayRef<Value>) -> Carried {
    scopes.emplace_back();
    if (byRows)
      prefetchCopied(stage);
    spill(panelOf(stage), emit(tile));
    scopes.pop_back();
    return {};
  };
  bool outer = staging;
  if (byRows) {
    // The dot does not read past the end of the memory.
    Value end = contractedEnd(stage.dot, {tile});
    if (!end)
      end = index(classes.size(k));
    staging = false;
    int64_t step = classes.step(columns);
    if (fast)
      forChunks(
          k, 1, {},
          [&](ArrayRef<Value>) { return forChunks(columns, step, {}, copy); },
          end);
    else // masks are equal for all rows of a panel
      forChunks(columns, step, {}, [&](ArrayRef<Value>) {
        return forChunks(k, 1, {}, copy, end);
      });
  } else {
    staging = windowOf(tile.getDefiningOp()).has_value();
    forChunks(columns, classes.step(columns), {}, [&](ArrayRef<Value>) {
      return forChunks(k, classes.step(k), {}, copy);
    });
  }
  staging = outer;
}

void KernelLowering::copyLoops(const Staged &stage, size_t depth) {
  if (depth == stage.loops.size())
    return copyPanels(stage);
  scf::ForOp loop = stage.loops[depth];
  auto copy =
      scf::ForOp::create(b, loc, mapped(loop.getLowerBound()),
                         mapped(loop.getUpperBound()), mapped(loop.getStep()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(copy.getBody());
  map.map(loop.getInductionVar(), copy.getInductionVar());
  cloneSources(stage, loop.getBody());
  copyLoops(stage, depth + 1);
  // Clones belong to this loop, as copies at a border have their own.
  for (Operation *op : stage.sources)
    if (op->getBlock() == loop.getBody())
      map.erase(op->getResult(0));
}

/// Returns the condition that the windows of a staged tile are in bounds: null
/// if this is proven, nothing if it cannot be computed.
std::optional<Value> KernelLowering::stageInside(const Staged &stage) {
  Value condition;
  for (Operation *op : stage.sources) {
    std::optional<Window> source = windowOf(op);
    if (!source || !hasUnproven(*source))
      continue;
    Value holds = inBounds(*source);
    if (!holds)
      return std::nullopt;
    condition =
        condition ? arith::AndIOp::create(b, loc, condition, holds).getResult()
                  : holds;
  }
  return condition;
}

/// Copies staged operands: once for each program, and in each iteration of the
/// loop over the contracted dimension.
void KernelLowering::copyStages() {
  OpBuilder::InsertionGuard outside(b);
  if (depthRuns && !stages.empty())
    b.setInsertionPointToStart(
        scf::IfOp::create(b, loc, depthRuns, /*withElse=*/false).thenBlock());
  for (auto &entry : stages) {
    const Staged &stage = entry.second;
    loc = entry.first.getLoc();
    scopes.emplace_back();
    cloneSources(stage, &rootBlock());
    if (depthLoop)
      cloneSources(stage, depthLoop.getBody());
    std::optional<Value> inside = stageInside(stage);
    auto copy = [&](bool isFast) {
      fast = isFast;
      copyLoops(stage, 0);
    };
    if (!inside || !*inside) {
      copy(inside.has_value());
    } else {
      auto branch = scf::IfOp::create(b, loc, *inside, /*withElse=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      copy(true);
      b.setInsertionPointToStart(branch.elseBlock());
      copy(false);
    }
    scopes.pop_back();
    forget(rootBlock());
  }
}

//===--- The loop over depth ----------------------------------------------===//

/// Opens the loop over parts of the contracted dimension, outside of all
/// blocks. It has at least one iteration, as it contains the ops that
/// initialize and use the accumulators.
void KernelLowering::openDepthLoop() {
  if (!depthLoop)
    return;
  loc = depthLoop.getLoc();
  Value from = mapped(depthLoop.getLowerBound());
  Value to = mapped(depthLoop.getUpperBound());
  std::optional<APInt> trips = depthLoop.getStaticTripCount();
  bool mayBeEmpty = !trips || trips->isZero();
  Value end = mayBeEmpty
                  ? b.createOrFold<arith::MaxSIOp>(loc, to, add(from, index(1)))
                  : to;
  auto loop =
      scf::ForOp::create(b, loc, from, end, mapped(depthLoop.getStep()));
  b.setInsertionPointToStart(loop.getBody());
  map.map(depthLoop.getInductionVar(), loop.getInductionVar());
  if (mayBeEmpty)
    depthRuns = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                      loop.getInductionVar(), to);
  for (Value result : depthLoop.getResults())
    buffers[result] = makeWaiting(result);
}

/// Allocates the memory that holds the accumulators of all blocks between
/// parts.
Kept KernelLowering::makeWaiting(Value tile) {
  Kept kept;
  SmallVector<int64_t> shape;
  for (auto [dim, c] : llvm::enumerate(classes.of(tile))) {
    kept.scratchOrder.push_back(dim);
    shape.push_back(classes.padded(c));
  }
  auto type = MemRefType::get(shape, tileType(tile).getElementType());
  OpBuilder atEntry = OpBuilder::atBlockBegin(entry);
  kept.scratch =
      memref::AllocaOp::create(atEntry, loc, type, b.getI64IntegerAttr(64));
  kept.isWhole = true;
  return kept;
}

/// Emits the body of the loop for one part of the contracted dimension and the
/// current block, if the part exists.
Carried KernelLowering::depthBody(ValueRange accumulators, Handover &plan) {
  scf::ForOp op = depthLoop;
  auto run = [&]() -> Carried {
    receive(op.getRegionIterArgs(), accumulators, plan);
    body(*op.getBody());
    return handOver(op.getYieldedValues(), plan);
  };
  if (!depthRuns)
    return run();
  auto branch = scf::IfOp::create(b, loc, accumulators.getTypes(), depthRuns,
                                  /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, loc, accumulators);
  b.setInsertionPointToEnd(branch.thenBlock());
  scopes.emplace_back();
  scf::YieldOp::create(b, loc, run());
  scopes.pop_back();
  forget(*op.getBody());
  return Carried(branch.getResults());
}

/// Emits one part of the contracted dimension for the current block:
/// accumulators are initialized as those of the loop, or loaded. After the last
/// part, the ops after the loop follow.
void KernelLowering::depthStep(Block::iterator rest, Block::iterator end) {
  scf::ForOp op = depthLoop;
  Handover plan = planHandover(op.getRegionIterArgs());
  Value at = mapped(op.getInductionVar());
  Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, at,
                                        mapped(op.getLowerBound()));
  SmallVector<Type> types;
  for (auto [value, layout] : llvm::zip(op.getResults(), plan.layouts))
    types.append(layout.total(), registerType(value, layout));
  auto begin = scf::IfOp::create(b, loc, types, isFirst, /*withElse=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(begin.thenBlock());
    scopes.emplace_back();
    scf::YieldOp::create(b, loc, handOver(op.getInitArgs(), plan));
    scopes.pop_back();
    b.setInsertionPointToEnd(begin.elseBlock());
    Carried waiting;
    for (auto [value, layout] : llvm::zip(op.getResults(), plan.layouts))
      llvm::append_range(waiting, reload(buffers[value], value, layout).values);
    scf::YieldOp::create(b, loc, waiting);
  }
  Carried next = depthBody(begin.getResults(), plan);
  Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                       add(at, mapped(op.getStep())),
                                       mapped(op.getUpperBound()));
  auto branch = scf::IfOp::create(b, loc, isLast, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.elseBlock());
  receive(op.getResults(), next, plan);
  for (Value value : op.getResults())
    spill(buffers[value], emit(value));
  b.setInsertionPointToStart(branch.thenBlock());
  scopes.emplace_back();
  for (; rest != end && !failed; ++rest)
    bodyOp(&*rest);
  scopes.pop_back();
}

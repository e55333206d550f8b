// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Lowers control flow and scalars of the body of a kernel.
#include "Conversion/HostToLLVM/FaultRecords.h"
#include "DeviceBuilder.h"
#include "Dialect/Host/IR/Host.h"
#include "LoopRing.h"
#include "LoopStream.h"
#include "Scans.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace adze::togpu {

int64_t countElements(const Axes &axes, unsigned first) {
  int64_t count = 1;
  for (unsigned dim = first; dim < axes.size(); ++dim)
    count *= axes[dim]->regs();
  return count;
}

void forEachElement(const Axes &axes,
                    llvm::function_ref<void(Registers, int64_t)> f) {
  SmallVector<int64_t> regs(axes.size(), 0);
  for (int64_t linear = 0;; ++linear) {
    f(regs, linear);
    int64_t i = axes.size() - 1;
    for (; i >= 0 && ++regs[i] == axes[i]->regs(); --i)
      regs[i] = 0;
    if (i < 0)
      return;
  }
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value KernelLowering::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value KernelLowering::scalar(OpFoldResult value) {
  if (auto c = getConstantIntValue(value))
    return constant(*c);
  Value v = cast<Value>(value);
  return map.lookupOrDefault(v);
}

Value KernelLowering::add(Value x, Value y) {
  return !x ? y : !y ? x : b.createOrFold<arith::AddIOp>(loc, x, y);
}

Value KernelLowering::multiplyBy(Value x, int64_t factor) {
  return !x || factor == 1
             ? x
             : b.createOrFold<arith::MulIOp>(loc, x, constant(factor));
}

Value KernelLowering::both(Value x, Value y) {
  return !x ? y : !y ? x : b.createOrFold<arith::AndIOp>(loc, x, y);
}

Value KernelLowering::toI64(Value index) {
  return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
}

/// Converts to the type of the accumulator: floats are extended or truncated,
/// integers are sign-extended.
Value KernelLowering::convert(Value v, Type type) {
  Type from = v.getType();
  if (from == type)
    return v;
  if (isa<FloatType>(from) && isa<FloatType>(type)) {
    unsigned a = from.getIntOrFloatBitWidth(), c = type.getIntOrFloatBitWidth();
    if (a == c) // f16 and bf16: through f32
      return convert(convert(v, b.getF32Type()), type);
    if (a < c)
      return arith::ExtFOp::create(b, loc, type, v);
    return arith::TruncFOp::create(b, loc, type, v);
  }
  if (from.isIntOrIndex() && type.isIntOrIndex() &&
      (from.isIndex() || type.isIndex()))
    return arith::IndexCastOp::create(b, loc, type, v);
  if (from.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return arith::ExtSIOp::create(b, loc, type, v);
  return arith::TruncIOp::create(b, loc, type, v);
}

void KernelLowering::fail(Operation *op, const Twine &why) {
  if (reason.empty())
    reason = (Twine("'") + op->getName().getStringRef() + "': " + why).str();
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

void KernelLowering::lowerProgramId(tile::ProgramIdOp op) {
  Value left = frame.programId;
  unsigned rank = op.getIds().size();
  for (unsigned i = 0; i < rank; ++i) {
    if (i + 1 == rank) {
      map.map(op.getIds()[i], left);
      break;
    }
    Value extent = map.lookup(op.getGrid()[i]);
    map.map(op.getIds()[i],
            Value(arith::RemUIOp::create(b, loc, left, extent)));
    left = arith::DivUIOp::create(b, loc, left, extent);
  }
}

void KernelLowering::lowerScalar(Operation &op) {
  if (auto ids = dyn_cast<tile::ProgramIdOp>(op))
    return lowerProgramId(ids);
  if (isa<host::SizeOp>(op)) // provided by the frame
    return;
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    auto it = frame.views.find(dim.getSource());
    auto number = dim.getConstantIndex();
    if (it == frame.views.end() || !number)
      return fail(&op, "expected a constant dimension of a kernel argument");
    return map.map(dim.getResult(), scalar(it->second.sizes[*number]));
  }
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    auto it = frame.views.find(load.getMemRef());
    if (it == frame.views.end())
      return fail(&op, "expected memory that is a kernel argument");
    SmallVector<Value> indices;
    for (Value index : load.getIndices())
      indices.push_back(map.lookup(index));
    return map.map(load.getResult(), loadGuarded(it->second, indices, {}));
  }
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return storeScalar(store);
  if (llvm::any_of(op.getResultTypes(), llvm::IsaPred<MemRefType>))
    return lowerView(op);
  if (op.getNumRegions() || !isMemoryEffectFree(&op))
    return fail(&op, "no rule for this operation");
  b.clone(op, map);
}

void KernelLowering::lowerOp(Operation &op) {
  loc = op.getLoc();
  if (auto store = dyn_cast<tile::StoreOp>(op))
    return storeTile(store);
  if (auto scatter = dyn_cast<tile::ScatterOp>(op))
    return scatterTile(scatter);
  if (auto reduce = dyn_cast<tile::ReduceOp>(op))
    return lowerReduce(reduce);
  if (auto scan = dyn_cast<tile::ScanOp>(op))
    return ScanLowering(*this, scan).run();
  if (auto dot = dyn_cast<tile::DotOp>(op))
    return lowerDot(dot);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return lowerFor(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return lowerIf(branch);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    if (extract.getTensor().getType().getRank() != 0)
      return fail(extract, "expected a tile without dims");
    // All threads hold its element.
    return map.map(extract.getResult(), emit(extract.getTensor(), {}).front());
  }
  if (auto check = dyn_cast<tile::CheckOp>(op))
    return lowerCheck(check);
  if (auto wait = dyn_cast<tile::BarrierOp>(op))
    return wait.getPrograms() > 1 ? clusterBarrier() : barrier();
  if (isa<tile::LoadOp, tile::GatherOp>(op)) {
    if (Value tile = op.getResult(0); plan.isPinned(tile))
      emit(tile, axesFor(tile));
    return;
  }
  bool done = op.getNumResults() && (map.contains(op.getResult(0)) ||
                                     frame.views.contains(op.getResult(0)));
  if (!done && !llvm::any_of(op.getResults(), isTile))
    return lowerScalar(op);
}

void KernelLowering::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (!reason.empty())
      return;
    lowerOp(op);
  }
}

/// Clones the scalars of a block again if the block is lowered again.
void KernelLowering::forget(Block &block) {
  block.walk([&](Operation *op) {
    for (Value result : op->getResults())
      map.erase(result);
  });
}

/// Emits the terminator of the block under construction, with its tiles at
/// their homes, and then the stage of the loop, if it has stages.
void KernelLowering::yieldTiles(Block &from, Value stage) {
  SmallVector<Value> values;
  for (Value v : from.getTerminator()->getOperands()) {
    if (isTile(v))
      llvm::append_range(values, emit(v, axesFor(v)));
    else
      values.push_back(map.lookupOrDefault(v));
  }
  if (stage)
    values.push_back(stage);
  scf::YieldOp::create(b, loc, values);
}

/// Distributes the iterations over the threads; no iteration synchronizes.
void KernelLowering::lowerSharedFor(scf::ForOp loop) {
  bool waits = false;
  loop.walk([&](memref::StoreOp op) { waits |= plan.isOrdered(op); });
  if (waits)
    barrier();
  Value step = map.lookup(loop.getStep());
  Value first = arith::AddIOp::create(
      b, loc, map.lookup(loop.getLowerBound()),
      arith::MulIOp::create(b, loc, frame.threadId, step));
  auto made =
      scf::ForOp::create(b, loc, first, map.lookup(loop.getUpperBound()),
                         multiplyBy(step, plan.getProgramThreads()));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(made.getBody()->getTerminator());
    map.map(loop.getInductionVar(), made.getInductionVar());
    ++sharedLoops;
    lowerBlock(*loop.getBody());
    --sharedLoops;
    forget(*loop.getBody());
  }
  if (waits)
    barrier();
}

/// One thread writes, unless the iterations are distributed over the threads.
void KernelLowering::storeScalar(memref::StoreOp op) {
  auto it = frame.views.find(op.getMemRef());
  if (it == frame.views.end())
    return fail(op, "expected memory that is a kernel argument");
  SmallVector<Value> indices;
  for (Value index : op.getIndices())
    indices.push_back(map.lookup(index));
  Value pointer = scalarPointer(it->second, indices);
  Value value = toMemory(map.lookup(op.getValueToStore()));
  if (sharedLoops)
    return storeVector({value}, pointer);
  bool waits = plan.isOrdered(op);
  if (waits)
    barrier();
  Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                      frame.threadId, constant(0));
  {
    OpBuilder::InsertionGuard guard(b);
    auto branch = scf::IfOp::create(b, loc, first, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    storeVector({value}, pointer);
  }
  if (waits)
    barrier();
}

void KernelLowering::lowerFor(scf::ForOp loop) {
  if (!sharedLoops && plan.isShared(loop))
    return lowerSharedFor(loop);
  if (lowerRing(loop))
    return;
  if (isLoopOverSteps(loop))
    stageBefore(loop);
  SmallVector<Value> inits;
  for (Value v : loop.getInitArgs()) {
    if (isTile(v))
      llvm::append_range(inits, emit(v, axesFor(v)));
    else
      inits.push_back(map.lookup(v));
  }
  LoopStream stream(*this, loop);
  LoopRing operands(*this, loop);
  if (!stream.isEmpty()) {
    inits.push_back(stream.begin());
  } else if (!operands.isEmpty()) {
    operands.begin();
    inits.push_back(DeviceBuilder(b, loc).i32(0));
  }
  llvm::SaveAndRestore inLoop(ring, &operands);
  auto made = scf::ForOp::create(b, loc, map.lookup(loop.getLowerBound()),
                                 map.lookup(loop.getUpperBound()),
                                 map.lookup(loop.getStep()), inits);
  // Binds the tiles and scalars of `from` to consecutive values of `to`.
  auto bind = [&](ValueRange from, ValueRange to) {
    for (Value v : from) {
      if (!isTile(v)) {
        map.map(v, to.front());
        to = to.drop_front();
        continue;
      }
      Axes axes = axesFor(v);
      int64_t count = countElements(axes);
      remember(v, axes, Fragment(to.take_front(count)));
      to = to.drop_front(count);
    }
  };
  if (inits.empty())
    made.getBody()->getTerminator()->erase();
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(made.getBody());
    scopes.emplace_back();
    map.map(loop.getInductionVar(), made.getInductionVar());
    bind(loop.getRegionIterArgs(), made.getRegionIterArgs());
    Value at = made.getInductionVar(), next;
    if (!stream.isEmpty()) {
      next = stream.enter(at, made.getRegionIterArgs().back());
    } else if (!operands.isEmpty()) {
      operands.enter(at, made.getRegionIterArgs().back());
      next = operands.getNextStage();
    }
    lowerBlock(*loop.getBody());
    if (reason.empty())
      yieldTiles(*loop.getBody(), next);
    scopes.pop_back();
    forget(*loop.getBody());
  }
  if (reason.empty())
    bind(loop.getResults(), made.getResults());
}

void KernelLowering::lowerIf(scf::IfOp branch) {
  SmallVector<Type> types;
  SmallVector<Axes> axes;
  for (Value v : branch.getResults()) {
    axes.emplace_back();
    int64_t count = 1;
    if (isTile(v)) {
      axes.back() = axesFor(v);
      count = countElements(axes.back());
    }
    types.append(count, getElementTypeOrSelf(v.getType()));
  }
  auto made =
      scf::IfOp::create(b, loc, types, map.lookup(branch.getCondition()),
                        /*addThenBlock=*/true, !branch.getElseRegion().empty());
  for (auto [from, to] : llvm::zip(branch->getRegions(), made->getRegions())) {
    if (from.empty() || !reason.empty())
      continue;
    OpBuilder::InsertionGuard guard(b);
    Block *block = &to.front();
    block->clear();
    b.setInsertionPointToEnd(block);
    scopes.emplace_back();
    lowerBlock(from.front());
    if (reason.empty())
      yieldTiles(from.front());
    scopes.pop_back();
    forget(from.front());
  }
  ValueRange results = made.getResults();
  for (auto [v, a] : llvm::zip_equal(branch.getResults(), axes)) {
    if (!isTile(v)) {
      map.map(v, results.front());
      results = results.drop_front();
      continue;
    }
    int64_t count = countElements(a);
    remember(v, a, Fragment(results.take_front(count)));
    results = results.drop_front(count);
  }
}

/// Each thread checks the greatest of its positions inside of the tile.
void KernelLowering::lowerCheck(tile::CheckOp check) {
  Value positions = check.getPositions(),
        extent = map.lookup(check.getExtent());
  if (!isTile(positions))
    return raiseOutside(b, check, map.lookup(positions), extent, frame.faults);
  forChunks(positions, [&] {
    Axes axes = axesFor(positions);
    Fragment own = emit(positions, axes);
    Value greatest;
    forEachElement(axes, [&](Registers regs, int64_t linear) {
      Value position = own[linear], isInside;
      for (auto [axis, reg] : llvm::zip_equal(axes, regs))
        isInside = both(isInside, axis->valid[reg]);
      if (isInside)
        position =
            arith::SelectOp::create(b, loc, isInside, position, constant(0));
      greatest = greatest ? arith::MaxUIOp::create(b, loc, greatest, position)
                          : position;
    });
    raiseOutside(b, check, greatest, extent, frame.faults);
  });
}

void KernelLowering::lowerPrologue(OpBuilder &builder) {
  b.setInsertionPoint(builder.getInsertionBlock(), builder.getInsertionPoint());
  auto known = [&](Value v) {
    return map.contains(v) || frame.views.contains(v);
  };
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    loc = op.getLoc();
    bool scalars = op.getNumResults() && !op.getNumRegions() &&
                   isMemoryEffectFree(&op) &&
                   !llvm::any_of(op.getResults(), isTile) &&
                   !llvm::any_of(op.getOperands(), isTile);
    if (scalars && llvm::all_of(op.getOperands(), known))
      lowerScalar(op);
  }
  frame.map = map;
}

LogicalResult KernelLowering::run(Block *block) {
  b.setInsertionPointToEnd(block);
  entry = block;
  scopes.emplace_back();
  lowerBlock(kernel.getBody().front());
  scopes.pop_back();
  // A block must not exit before its shared memory has been read.
  if (plan.getBlocks() > 1)
    clusterBarrier();
  return success(reason.empty());
}

} // namespace adze::togpu

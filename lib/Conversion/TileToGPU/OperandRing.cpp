// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Products of operands that are copied to rings of chunks in shared memory (PTX
// ISA, cp.async): while one chunk is multiplied, the next ones arrive.
#include "DeviceBuilder.h"
#include "Dialect/Tile/IR/Units.h"
#include "LoopRing.h"
#include "UnitProduct.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace adze::togpu {

tile::LoadOp getLoad(Value tile) {
  if (auto reshape = tile.getDefiningOp<tile::ReshapeOp>())
    tile = reshape.getSource();
  return tile.getDefiningOp<tile::LoadOp>();
}

/// Calls `body` for parts of a chunk that begins at `start`: with the positions
/// in the window that is loaded, and in shared memory.
void KernelLowering::forCopies(
    const Operand &operand, Value start,
    llvm::function_ref<void(const Axes &, const Axes &)> body) {
  Axes to = getStaging(operand), from = getPositions(operand, to, start);
  auto reshape = operand.tile.getDefiningOp<tile::ReshapeOp>();
  if (!reshape)
    return body(from, to);
  forParts(
      reshape, from, [&](const Axes &at, const Axes &kept, Registers first) {
        Axes part;
        for (auto [i, axis] : llvm::enumerate(kept))
          part.push_back(
              axis == from[i] ? to[i] : partOf(to[i], first[i], axis->regs()));
        body(at, part);
      });
}

/// Returns true if an operand is a window of memory whose elements are
/// multiplied as they are, and threads can copy accesses.
bool KernelLowering::mayCopy(Operand operand) {
  tile::LoadOp load = getLoad(operand.tile);
  if (!load || operand.isWhole() || plan.isPinned(load.getResult()) ||
      (plan.getBlocks() > 1 && !plan.sharesDepth()) ||
      !frame.views.contains(load.getMemref()) ||
      isa<FloatTF32Type>(operand.type))
    return false;
  Type type = tileType(operand.tile).getElementType();
  auto pad = load.getPad();
  if (type != operand.shared.elementType || !type.isIntOrFloat() ||
      (pad && *pad != b.getZeroAttr(type)))
    return false;
  operand.stages = 2; // which the distribution depends on
  bool mayCopy = true;
  forCopies(operand, constant(0), [&](const Axes &from, const Axes &) {
    mayCopy = mayCopy && getAccessBytes(load, from) >= tile::kLeastCopyBytes;
  });
  return mayCopy;
}

/// Returns the number of chunks in shared memory: as many as fit if a
/// multiprocessor has two blocks of threads, each with the tiles that are read
/// at other positions before the last product. With few blocks, the latency of
/// copies limits a product.
int64_t KernelLowering::countStages(const Operands &operands) {
  constexpr int64_t least = 2, mostOfUnits = 6, mostOfThreads = 4;
  int64_t most = operands[0].isUnits ? mostOfUnits : mostOfThreads;
  int64_t left = plan.getSharedBytes() / 2, stage = 0;
  kernel.walk([&](tile::ReshapeOp op) {
    RankedTensorType type = tileType(op.getSource());
    if (plan.dependsOnRoot(op.getSource()) && !plan.keepsThreads(op) &&
        !followsProducts(op))
      left -= type.getNumElements() * bytesOf(type.getElementType());
  });
  for (const Operand &operand : operands)
    stage += operand.chunk *
             tileType(operand.tile).getDimSize(1 - operand.kDim) *
             bytesOf(operand.shared.elementType);
  return std::clamp(left / stage, least, most);
}

//===--- Loops ------------------------------------------------------------===//

bool isScalar(Operation &op) {
  return !op.getNumRegions() && isMemoryEffectFree(&op) &&
         llvm::none_of(op.getResultTypes(),
                       llvm::IsaPred<RankedTensorType, MemRefType>);
}

/// Adds perfectly nested loops whose only sums are those of one dot, outermost
/// first, and returns the dot; null if they are not.
static tile::DotOp findDot(scf::ForOp loop, SmallVector<scf::ForOp> &loops) {
  auto isKnown = [&](Value bound) {
    return loops.empty() ||
           !loops.front()->isAncestor(bound.getParentBlock()->getParentOp());
  };
  if (loop.getNumRegionIterArgs() != 1 || !isKnown(loop.getLowerBound()) ||
      !isKnown(loop.getUpperBound()) || !isKnown(loop.getStep()))
    return {};
  loops.push_back(loop);
  Operation *inner = nullptr;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isa<scf::ForOp, tile::DotOp>(op)) {
      if (std::exchange(inner, &op))
        return {};
    } else if (!isa<tile::LoadOp, tile::ReshapeOp>(op) && !isScalar(op)) {
      return {};
    }
  }
  BlockArgument sums = loop.getRegionIterArg(0);
  auto dot = dyn_cast_or_null<tile::DotOp>(inner);
  auto next = dyn_cast_or_null<scf::ForOp>(inner);
  bool adds = inner && sums.hasOneUse() && inner->getResult(0).hasOneUse() &&
              inner->getNumResults() == 1 &&
              loop.getYieldedValues()[0] == inner->getResult(0) &&
              (dot ? dot.getAcc() : Value(next.getInitArgs()[0])) == sums;
  if (!adds)
    return {};
  return dot ? dot : findDot(next, loops);
}

/// Computes the scalars of nested loops, of which the induction variables have
/// these values.
void KernelLowering::lowerScalars(ArrayRef<scf::ForOp> loops,
                                  ValueRange values) {
  for (auto [around, value] : llvm::zip_equal(loops, values)) {
    scf::ForOp loop = around;
    forget(*loop.getBody());
    map.map(loop.getInductionVar(), value);
    for (Operation &op : loop.getBody()->without_terminator())
      if (isScalar(op))
        lowerScalar(op);
  }
}

bool KernelLowering::lowerRing(scf::ForOp outermost) {
  SmallVector<scf::ForOp> loops;
  tile::DotOp dot = findDot(outermost, loops);
  if (!dot || dot.getWordElements() > 1)
    return false;
  SmallVector<Value> first;
  for (scf::ForOp loop : loops)
    first.push_back(map.lookup(loop.getLowerBound()));
  lowerScalars(loops, first);
  Operands operands =
      getOperands(dot, /*repeats=*/!llvm::all_of(loops, runsOnce));
  bool isRing = operands[0].stages > 1;
  if (isRing) {
    Axes out = axesFor(dot.getResult());
    Fragment acc = emit(outermost.getInitArgs()[0], out);
    remember(outermost.getResult(0), out,
             multiplyRing(dot, operands, loops, acc, out));
  }
  forget(*outermost.getBody());
  return isRing;
}

namespace {
/// The place of a chunk: its first position along k, and the values of the
/// induction variables of the loops around the dot, outermost first.
struct Place {
  Value start;
  SmallVector<Value> values;
};

/// Steps through the chunks of all iterations. Counters have 32 bits, as each
/// instruction for one of 64 is two on a GPU.
class ChunkCounter {
public:
  ChunkCounter(OpBuilder &b, Location loc, int64_t k, int64_t chunk)
      : d(b, loc), k(k), chunk(chunk) {
    total = d.i32(llvm::divideCeil(k, chunk));
  }

  /// Adds a loop inside of those added before, with bounds of type index.
  void addLoop(Value lower, Value upper, Value step, bool runsOnce) {
    Value count = narrow(d.countTrips(lower, upper, step));
    total = d.fold<arith::MulIOp>(total, count);
    // Numbers of chunks are divided by the trips even if there is none.
    loops.push_back({narrow(lower), narrow(upper), narrow(step),
                     d.fold<arith::MaxUIOp>(count, d.i32(1)), runsOnce});
    isNested |= !runsOnce;
  }

  Value getTotal() const { return total; }
  Place getFirst() {
    Place place{d.i32(0), {}};
    for (const Loop &loop : loops)
      place.values.push_back(loop.lower);
    return place;
  }
  Place getNext(const Place &from) {
    Place next = from;
    next.start = d.add(from.start, chunk);
    if (!isNested)
      return next;
    Value wraps = compare(arith::CmpIPredicate::uge, next.start, d.i32(k));
    next.start = d.select(wraps, d.i32(0), next.start);
    for (auto [loop, value] :
         llvm::reverse(llvm::zip_equal(loops, next.values))) {
      if (loop.runsOnce)
        continue;
      Value moved = d.add(value, loop.step),
            ends = compare(arith::CmpIPredicate::sge, moved, loop.upper);
      value = d.select(wraps, d.select(ends, loop.lower, moved), value);
      wraps = d.fold<arith::AndIOp>(wraps, ends);
    }
    return next;
  }
  /// Returns the place of the chunk of this number.
  Place getPlace(Value number) {
    Value perLoop = d.i32(llvm::divideCeil(k, chunk));
    Place place = getFirst();
    place.start = d.mul(d.fold<arith::RemUIOp>(number, perLoop), chunk);
    Value left = d.fold<arith::DivUIOp>(number, perLoop);
    for (auto [loop, value] :
         llvm::reverse(llvm::zip_equal(loops, place.values))) {
      if (loop.runsOnce)
        continue;
      Value trip = d.fold<arith::RemUIOp>(left, loop.trips);
      value = d.add(loop.lower, d.fold<arith::MulIOp>(trip, loop.step));
      left = d.fold<arith::DivUIOp>(left, loop.trips);
    }
    return place;
  }
  /// Returns the values of the place that differ between chunks.
  SmallVector<Value> toCarried(const Place &place) {
    SmallVector<Value> carried{place.start};
    for (auto [loop, value] : llvm::zip_equal(loops, place.values))
      if (!loop.runsOnce)
        carried.push_back(value);
    return carried;
  }
  Place fromCarried(ValueRange carried) {
    Place place = getFirst();
    place.start = carried.front();
    carried = carried.drop_front();
    for (auto [loop, value] : llvm::zip_equal(loops, place.values))
      if (!loop.runsOnce) {
        value = carried.front();
        carried = carried.drop_front();
      }
    return place;
  }
  Value widen(Value counter) {
    return d.b.createOrFold<arith::IndexCastOp>(d.loc, d.b.getIndexType(),
                                                counter);
  }

private:
  struct Loop {
    Value lower, upper, step, trips;
    bool runsOnce;
  };

  Value narrow(Value index) {
    return d.b.createOrFold<arith::IndexCastOp>(d.loc, d.b.getI32Type(), index);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return d.b.createOrFold<arith::CmpIOp>(d.loc, predicate, x, y);
  }

  DeviceBuilder d;
  int64_t k, chunk;
  Value total;
  SmallVector<Loop> loops;
  bool isNested = false;
};
} // namespace

/// Adds the sums that the blocks of the cluster have, in the order of their
/// numbers: each adds a share of them, and reads the others. They are exchanged
/// where the ring of the operands was.
Fragment KernelLowering::addBlocks(const Fragment &sums,
                                   const Operands &operands) {
  int64_t count = sums.size(), blocks = plan.getBlocks(),
          share = llvm::divideCeil(count, blocks);
  Type type = sums[0].getType();
  int64_t others = sharedBytes;
  if (operands[1].getEnd() == sharedBytes)
    sharedBytes = operands[0].shared.offset;
  SharedTile shared =
      allocateShared(type, {share * blocks, plan.getBlockThreads()});
  sharedBytes = std::max(sharedBytes, others);
  const Axis *thread = positionAxis(getThreadInBlock());
  auto pointer = [&](Value first, int64_t offset) {
    return sharedPointer(shared, {positionAxis(first, offset), thread}, {0, 0});
  };
  auto load = [&](Value own, int64_t block) {
    Value rank = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(block));
    return loadFromBlock(type, own, rank);
  };
  barrier(); // other threads may still read chunks
  for (int64_t i = 0; i < count; ++i)
    storeVector({sums[i]}, pointer(constant(0), i));
  clusterBarrier();
  Value first = multiplyBy(getRank(), share);
  for (int64_t i = 0; i < share; ++i) {
    Value own = pointer(first, i);
    Fragment total;
    for (int64_t block = 0; block < blocks; ++block)
      combine(tile::ReduceKind::add, total, {load(own, block)});
    storeVector(total, own);
  }
  clusterBarrier();
  Fragment all;
  for (int64_t i = 0; i < count; ++i)
    all.push_back(load(pointer(constant(0), i), i / share));
  return all;
}

/// Adds the product of a chunk. The registers of a step are loaded before the
/// step before it is multiplied; returns those of the first step of the chunk
/// `next`, which is awaited for that. Copies are started after loads, which
/// they would delay.
static SmallVector<Value> multiplySteps(UnitProduct &product, UnitProduct &next,
                                        SmallVector<Value> registers,
                                        function_ref<void()> startCopies,
                                        function_ref<void()> awaitNext,
                                        Fragment &sums) {
  int64_t last = product.countSteps() - 1;
  if (last == 0)
    startCopies();
  for (int64_t step = 0; step <= last; ++step) {
    if (step == last)
      awaitNext();
    SmallVector<Value> loaded =
        step == last ? next.load(0) : product.load(step + 1);
    if (step == 0 && last > 0)
      startCopies();
    product.multiply(step, registers, sums);
    registers = loaded;
  }
  return registers;
}

/// Multiplies chunk by chunk, in all iterations of the loops around the dot. A
/// chunk is copied to where the one before was, which all threads have
/// multiplied at the barrier. Blocks that share the depth each have a part of
/// the chunks.
Fragment KernelLowering::multiplyRing(tile::DotOp dot, const Operands &operands,
                                      ArrayRef<scf::ForOp> loops, Fragment acc,
                                      const Axes &out) {
  int64_t k = tileType(dot.getLhs()).getShape()[1], chunk = operands[0].chunk,
          stages = operands[0].stages;
  ChunkCounter counter(b, loc, k, chunk);
  for (scf::ForOp loop : loops)
    counter.addLoop(map.lookup(loop.getLowerBound()),
                    map.lookup(loop.getUpperBound()),
                    map.lookup(loop.getStep()), runsOnce(loop));
  DeviceBuilder d(b, loc);
  auto inStage = [&](Value stage) {
    Operands moved = operands;
    for (Operand &operand : moved)
      operand.shared.start = operand.staged.start =
          multiplyBy(stage, operand.stageElements);
    return moved;
  };
  Value begin = d.i32(0), end = counter.getTotal();
  // Copies chunk `number`, if there is one.
  auto copyChunk = [&](Value number, const Place &from, Value stage) {
    Value exists = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult,
                                                 number, end);
    {
      OpBuilder::InsertionGuard guard(b);
      if (!matchPattern(exists, m_One()))
        b.setInsertionPointToStart(
            scf::IfOp::create(b, loc, exists, /*withElseRegion=*/false)
                .thenBlock());
      SmallVector<Value> values = llvm::map_to_vector(
          from.values, [&](Value value) { return counter.widen(value); });
      lowerScalars(loops, values);
      for (const Operand &operand : inStage(counter.widen(stage)))
        forCopies(operand, counter.widen(from.start),
                  [&](const Axes &at, const Axes &to) {
                    copyTile(getLoad(operand.tile), at, operand.staged, to);
                  });
    }
    NVVM::CpAsyncCommitGroupOp::create(b, loc);
  };
  // Other threads may still read what another product or, in a loop, the last
  // iteration left there.
  if (b.getInsertionBlock() != entry || operands[0].isReused)
    plan.sharesDepth() ? clusterBarrier() : barrier();
  Place place = counter.getFirst();
  if (plan.sharesDepth()) {
    Value rank = d.toI32(getRank()), isFirst = d.equal(rank, 0);
    Value each = d.fold<arith::CeilDivUIOp>(end, d.i32(plan.getBlocks()));
    begin = d.fold<arith::MulIOp>(rank, each);
    end = d.fold<arith::MinUIOp>(end, d.fold<arith::AddIOp>(begin, each));
    place = counter.getPlace(begin);
    Value zero = arith::ConstantOp::create(
        b, loc, cast<TypedAttr>(b.getZeroAttr(acc[0].getType())));
    for (Value &sum : acc)
      sum = d.select(isFirst, sum, zero);
  }
  for (int64_t i = 0; i + 1 < stages; ++i) {
    copyChunk(d.add(begin, i), place, d.i32(i));
    place = counter.getNext(place);
  }
  auto awaitChunk = [&] {
    NVVM::CpAsyncWaitGroupOp::create(b, loc, stages - 2);
    barrier();
  };
  auto getProduct = [&](Value stage) {
    return UnitProduct(*this, dot, inStage(counter.widen(stage)), {}, out);
  };
  bool isUnits = bool(plan.getUnit(dot));
  SmallVector<Value> loaded; // for the first step of a chunk
  if (isUnits) {
    awaitChunk();
    loaded = getProduct(d.i32(0)).load(0);
  }
  SmallVector<Value> carried(acc);
  llvm::append_range(carried, counter.toCarried(place));
  carried.push_back(d.i32(0));
  llvm::append_range(carried, loaded);
  auto loop = scf::ForOp::create(b, loc, begin, end, d.i32(1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  ValueRange arguments = loop.getRegionIterArgs();
  auto take = [&](unsigned count) {
    ValueRange taken = arguments.take_front(count);
    arguments = arguments.drop_front(count);
    return taken;
  };
  Fragment sums(take(acc.size()));
  place = counter.fromCarried(take(counter.toCarried(place).size()));
  Value stage = take(1).front(), next = d.getNext(stage, stages);
  auto copyNext = [&] {
    copyChunk(d.add(loop.getInductionVar(), stages - 1), place,
              d.getPrevious(stage, stages));
  };
  if (isUnits) {
    UnitProduct product = getProduct(stage), follows = getProduct(next);
    loaded = multiplySteps(product, follows, SmallVector<Value>(arguments),
                           copyNext, awaitChunk, sums);
  } else {
    awaitChunk();
    copyNext();
    sums = multiply(dot, inStage(counter.widen(stage)), constant(0), sums, out);
  }
  llvm::append_range(sums, counter.toCarried(counter.getNext(place)));
  sums.push_back(next);
  llvm::append_range(sums, loaded);
  scf::YieldOp::create(b, loc, sums);
  b.setInsertionPointAfter(loop);
  Fragment results(loop.getResults().take_front(acc.size()));
  return plan.sharesDepth() ? addBlocks(results, operands) : results;
}

} // namespace adze::togpu

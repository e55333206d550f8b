// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Lowers reductions: within a thread, a warp, a block, and a cluster of blocks.
#include "Dialect/Tile/IR/Reduction.h"
#include "KernelLowering.h"
#include "Scans.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace adze::togpu {

/// Returns the number in the given bits of the thread.
Value KernelLowering::getDigits(Value thread, uint64_t mask) {
  Value number = constant(0);
  for (int64_t place = 0; mask; ++place, mask &= mask - 1) {
    int64_t bit = llvm::countr_zero(mask);
    Value moved = thread;
    if (bit > place)
      moved = arith::ShRUIOp::create(b, loc, thread, constant(bit - place));
    Value digit =
        arith::AndIOp::create(b, loc, moved, constant(int64_t(1) << place));
    number = b.createOrFold<arith::OrIOp>(loc, number, digit);
  }
  return number;
}

/// Calls f with the submasks of `mask`, in ascending order.
static void forEachSubmask(uint64_t mask, function_ref<void(uint64_t)> f) {
  for (uint64_t digit = 0;; digit = (digit - mask) & mask) {
    f(digit);
    if (digit == mask)
      return;
  }
}

/// Combines the values of `other` with those of `sums`, which may be empty.
void KernelLowering::combine(tile::ReduceKind kind, Fragment &sums,
                             const Fragment &other) {
  if (sums.empty())
    sums = other;
  else
    for (auto [sum, v] : llvm::zip_equal(sums, other))
      sum = tile::createCombine(b, loc, kind, sum, v);
}

/// Returns `count` positions: `first`, and others in steps.
const Axis *KernelLowering::stepAxis(Value first, int64_t step, int64_t count) {
  auto axis = std::make_unique<Axis>();
  axis->base.assign(count, first);
  axis->valid.assign(count, Value());
  for (int64_t i = 0; i < count; ++i)
    axis->offset.push_back(i * step);
  axisPool.push_back(std::move(axis));
  return axisPool.back().get();
}

/// Returns the sums of the share of the thread, over the threads of its block
/// that differ from it in the bits of `mask`.
Fragment KernelLowering::combineWarps(tile::ReduceKind kind,
                                      const Fragment &values,
                                      const Share &share, uint64_t mask) {
  Type type = values[0].getType();
  auto count = int64_t(values.size());
  auto &[exchange, capacity] = exchanges[type];
  if (capacity < count) {
    capacity = count;
    exchange = allocateShared(type, {capacity, plan.getBlockThreads()});
  }
  SharedTile shared = exchange;
  gpu::BarrierOp::create(b, loc);
  writeShared(
      shared,
      {stepAxis(constant(0), 1, count), positionAxis(getThreadInBlock())},
      values);
  gpu::BarrierOp::create(b, loc);
  Fragment sums;
  forEachSubmask(mask, [&](uint64_t digit) {
    combine(kind, sums,
            readShared(shared, {share.own, positionAxis(share.group, digit)}));
  });
  return sums;
}

/// Returns the number of the block in its cluster.
Value KernelLowering::getRank() {
  return arith::ShRUIOp::create(
      b, loc, frame.threadId, constant(llvm::Log2_64(plan.getBlockThreads())));
}

/// Loads an element of the shared memory of a block of the cluster; `own` is
/// its address in this block.
Value KernelLowering::loadFromBlock(Type type, Value own, Value rank) {
  auto remote = LLVM::LLVMPointerType::get(b.getContext(), 7);
  return loadVector(type, NVVM::MapaOp::create(b, loc, remote, own, rank),
                    /*width=*/1);
}

/// Combines the sums of the share of the thread over the blocks of the cluster
/// that differ in the bits of `mask`, in the order of their ranks.
void KernelLowering::combineBlocks(tile::ReduceKind kind, Fragment &sums,
                                   const Share &share, uint64_t mask) {
  Type type = sums[0].getType();
  SharedTile shared = allocateShared(type, {share.count, share.groups});
  Axes axes = {share.own, positionAxis(share.group)};
  // In a loop, the other blocks may still read the sums of the last iteration.
  if (b.getInsertionBlock() != entry)
    barrier();
  writeShared(shared, axes, sums);
  barrier();
  Value others = arith::AndIOp::create(
      b, loc, getRank(), constant((plan.getBlocks() - 1) & ~mask));
  for (auto [i, sum] : llvm::enumerate(sums)) {
    Value own = sharedPointer(shared, axes, {int64_t(i), 0});
    Type stored = toMemory(sum).getType();
    Fragment total;
    forEachSubmask(mask, [&](uint64_t digit) {
      Value other = arith::IndexCastOp::create(
          b, loc, b.getI32Type(),
          arith::OrIOp::create(b, loc, others, constant(digit)));
      combine(kind, total,
              {fromMemory(loadFromBlock(stored, own, other), type)});
    });
    sum = total[0];
  }
}

/// Combines the values of the threads of the program that differ from a thread
/// in the bits of `mask`, in a fixed order, through shared memory. A thread
/// combines a share of the values, and reads the others.
void KernelLowering::combineThroughShared(tile::ReduceKind kind,
                                          Fragment &values, uint64_t mask) {
  uint64_t own = plan.getBlockThreads() - 1, inBlock = mask & own,
           ranks = mask / plan.getBlockThreads();
  Value thread = getThreadInBlock();
  Share share;
  share.count = int64_t(values.size());
  share.group = arith::AndIOp::create(b, loc, thread, constant(own & ~inBlock));
  share.groups = int64_t(own & ~inBlock) + 1;
  int64_t shares = std::min(share.count & -share.count,
                            int64_t(1) << llvm::popcount(inBlock));
  // The highest bits, so that the threads of a warp have the same share.
  uint64_t digits = inBlock;
  while ((int64_t(1) << llvm::popcount(digits)) > shares)
    digits &= digits - 1;
  share.own = stepAxis(getDigits(thread, digits), shares, share.count / shares);
  Fragment sums = inBlock ? combineWarps(kind, values, share, inBlock) : values;
  if (ranks)
    combineBlocks(kind, sums, share, ranks);
  if (shares == 1) {
    values = sums;
    return;
  }
  SharedTile shared =
      allocateShared(values[0].getType(), {share.count, share.groups});
  const Axis *group = positionAxis(share.group);
  writeShared(shared, {share.own, group}, sums);
  gpu::BarrierOp::create(b, loc);
  values = readShared(shared, {stepAxis(constant(0), 1, share.count), group});
}

Value shuffle(OpBuilder &b, Location loc, Value v, int64_t distance) {
  constexpr unsigned width = 32;
  Type type = v.getType(), word = b.getI32Type();
  if (isa<IndexType>(type)) {
    Value wide = arith::IndexCastOp::create(b, loc, b.getI64Type(), v);
    return arith::IndexCastOp::create(b, loc, type,
                                      shuffle(b, loc, wide, distance));
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits == width)
    return gpu::ShuffleOp::create(
               b, loc, v, arith::ConstantIntOp::create(b, loc, word, distance),
               arith::ConstantIntOp::create(b, loc, word, kWarp),
               gpu::ShuffleMode::XOR)
        .getShuffleResult();
  Type integer = b.getIntegerType(bits);
  if (isa<FloatType>(type)) {
    Value same = arith::BitcastOp::create(b, loc, integer, v);
    return arith::BitcastOp::create(b, loc, type,
                                    shuffle(b, loc, same, distance));
  }
  if (bits < width) {
    Value wide = arith::ExtUIOp::create(b, loc, word, v);
    return arith::TruncIOp::create(b, loc, type,
                                   shuffle(b, loc, wide, distance));
  }
  Value half = arith::ConstantIntOp::create(b, loc, type, width);
  Value low = arith::TruncIOp::create(b, loc, word, v);
  Value high = arith::TruncIOp::create(b, loc, word,
                                       arith::ShRUIOp::create(b, loc, v, half));
  low = arith::ExtUIOp::create(b, loc, type, shuffle(b, loc, low, distance));
  high = arith::ExtUIOp::create(b, loc, type, shuffle(b, loc, high, distance));
  return arith::OrIOp::create(b, loc, low,
                              arith::ShLIOp::create(b, loc, high, half));
}

void KernelLowering::combineThreads(tile::ReduceKind kind, Fragment &values,
                                    uint64_t mask) {
  for (int64_t bit = 1; bit < kWarp && bit < plan.getBlockThreads(); bit *= 2) {
    if (!(mask & bit))
      continue;
    for (Value &v : values)
      v = tile::createCombine(b, loc, kind, v, shuffle(b, loc, v, bit));
    mask &= ~uint64_t(bit);
  }
  if (mask)
    combineThroughShared(kind, values, mask);
}

/// Returns true for a reduction that the next one computes, too: it reduces
/// both dims at once, so that threads exchange their values once.
bool KernelLowering::joinsNext(tile::ReduceOp reduce) {
  auto isWhole = [&](tile::ReduceOp op) {
    return plan.spreadOf(plan.classesOf(op.getSource())[op.getDim()]).chunks ==
           1;
  };
  tile::ReduceOp next = getNext(reduce);
  return next && isWhole(reduce) && isWhole(next);
}

/// Adds the elements of the source in this thread to `sums`. Returns the bits
/// of the threads that have other elements.
uint64_t KernelLowering::accumulate(tile::ReduceKind kind,
                                    const Reduced &reduced, Value neutral,
                                    Fragment &sums) {
  Axes axes = axesFor(reduced.source);
  auto isReduced = [&](unsigned dim) {
    return llvm::is_contained(reduced.dims, dim);
  };
  Fragment f = emit(reduced.source, axes);
  forEachElement(axes, [&](Registers regs, int64_t i) {
    int64_t at = 0;
    Value valid, v = f[i];
    for (auto [d, axis] : llvm::enumerate(axes))
      if (isReduced(d))
        valid = both(valid, axis->valid[regs[d]]);
      else
        at = at * axis->regs() + regs[d];
    if (valid)
      v = arith::SelectOp::create(b, loc, valid, v, neutral);
    if (sums[at] != neutral)
      v = tile::createCombine(b, loc, kind, sums[at], v);
    // A product that permits it is added without being rounded.
    if (auto add = v.getDefiningOp<arith::AddFOp>();
        add && add.getLhs() == sums[at])
      add.setFastmath(arith::FastMathFlags::contract);
    sums[at] = v;
  });
  uint64_t mask = 0;
  for (unsigned dim : reduced.dims)
    mask |= axes[dim]->spread.mask();
  return mask;
}

void KernelLowering::lowerReduce(tile::ReduceOp reduce) {
  if (joinsNext(reduce))
    return;
  Reduced reduced = getReduced(
      reduce, [&](tile::ReduceOp before) { return joinsNext(before); });
  Value source = reduced.source;
  tile::ReduceKind kind = reduce.getKind();
  Value zero =
      tile::createNeutral(b, loc, kind, tileType(source).getElementType());
  Axes out;
  int64_t count = 1;
  const Contraction *contraction = plan.getContraction(reduce);
  for (auto [i, axis] :
       llvm::enumerate(contraction ? getClassAxes(source) : axesFor(source)))
    if (!llvm::is_contained(reduced.dims, i)) {
      out.push_back(axis);
      count *= axis->regs();
    }
  if (contraction)
    return rememberReduced(reduce, out, multiplyByUnit(*contraction));
  int cls = plan.classesOf(source)[reduced.dims[0]];
  const Spread &spread = plan.spreadOf(cls);
  Fragment sums(count, zero);
  uint64_t mask = 0;
  if (spread.chunks == 1 || chunkAxes.contains(cls)) {
    mask = accumulate(kind, reduced, zero, sums);
  } else {
    auto loop = scf::ForOp::create(b, loc, constant(0), constant(spread.chunks),
                                   constant(1), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    chunkAxes[cls] = makeAxis(spread, multiplyBy(loop.getInductionVar(),
                                                 spread.threads * spread.regs));
    scopes.emplace_back();
    sums = Fragment(loop.getRegionIterArgs());
    mask = accumulate(kind, reduced, zero, sums);
    scf::YieldOp::create(b, loc, sums);
    scopes.pop_back();
    chunkAxes.erase(cls);
    sums = Fragment(loop.getResults());
  }
  combineThreads(kind, sums, mask);
  rememberReduced(reduce, out, sums);
}

/// If source and result have different distributions, the result is moved
/// through shared memory.
void KernelLowering::rememberReduced(tile::ReduceOp reduce, const Axes &out,
                                     const Fragment &sums) {
  Value result = reduce.getResult();
  Axes home = axesFor(result);
  if (home == out)
    return remember(result, home, sums);
  SmallVector<int64_t> sizes;
  for (const Axis *axis : out)
    sizes.push_back(axis->spread.threads * axis->spread.regs);
  auto [it, fresh] = moved.try_emplace(result);
  if (fresh)
    it->second = allocateShared(tileType(result).getElementType(), sizes);
  SharedTile shared = it->second;
  barrier();
  writeShared(shared, out, sums);
  barrier();
  remember(result, home, readShared(shared, home));
}

} // namespace adze::togpu

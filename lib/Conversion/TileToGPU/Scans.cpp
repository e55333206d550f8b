// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Scans: within a thread, a warp and a block (G. Blelloch, "Prefix sums and
// their applications", 1990).
#include "Scans.h"
#include "Dialect/Tile/IR/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace adze::togpu {

Value ScanLowering::combine(Value earlier, Value later) {
  return tile::createCombine(b, loc, kind, earlier, later);
}

/// Combines the totals of the threads of a warp that differ in the bits of
/// `mask`, and returns for each thread those of the threads before it. The
/// order of the threads is that of their numbers.
Fragment ScanLowering::scanWarp(Fragment &totals, uint64_t mask) {
  Fragment before(totals.size(), neutral);
  for (int64_t bit = 1; bit < kWarp; bit *= 2) {
    if (!(mask & bit))
      continue;
    Value digit =
        arith::AndIOp::create(b, loc, k.frame.threadId, k.constant(bit));
    Value isUpper = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                                          digit, k.constant(0));
    for (auto [total, earlier] : llvm::zip_equal(totals, before)) {
      Value other = shuffle(b, loc, total, bit);
      earlier = arith::SelectOp::create(b, loc, isUpper,
                                        combine(other, earlier), earlier);
      total = combine(total, other);
    }
  }
  return before;
}

/// Combines the totals of the warps that differ in the bits of `mask`, through
/// shared memory, and adds those of the warps before a thread to `earlier`.
void ScanLowering::scanWarps(Fragment &totals, Fragment &earlier,
                             uint64_t mask) {
  uint64_t all = axis->spread.mask(),
           others = (k.plan.getProgramThreads() - 1) & ~all;
  Value thread = k.frame.threadId, warp = k.getDigits(thread, mask);
  int64_t warps = int64_t(1) << llvm::popcount(mask);
  auto count = int64_t(totals.size());
  SharedTile shared = k.allocateShared(
      neutral.getType(), {count, warps, int64_t(1) << llvm::popcount(others)});
  const Axis *values = k.stepAxis(k.constant(0), 1, count),
             *group = k.positionAxis(k.getDigits(thread, others));
  k.barrier();
  {
    Value lane = arith::AndIOp::create(b, loc, thread, k.constant(all & ~mask));
    Value isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                          lane, k.constant(0));
    auto branch = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPointToStart(branch.thenBlock());
    k.writeShared(shared, {values, k.positionAxis(warp), group}, totals);
  }
  k.barrier();
  Fragment before(count, neutral);
  totals.assign(count, neutral);
  for (int64_t i = 0; i < warps; ++i) {
    Fragment other =
        k.readShared(shared, {values, k.positionAxis(k.constant(i)), group});
    Value isEarlier = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                            k.constant(i), warp);
    for (int64_t j = 0; j < count; ++j) {
      totals[j] = combine(totals[j], other[j]);
      before[j] = arith::SelectOp::create(
          b, loc, isEarlier, combine(before[j], other[j]), before[j]);
    }
  }
  for (auto [value, warps] : llvm::zip_equal(earlier, before))
    value = combine(warps, value);
}

/// Returns what comes before each group of adjacent registers, for the element
/// at its end: `groups` are these elements, `totals` those of all threads, and
/// `earlier` those of the threads before this one.
Fragment ScanLowering::carryTotals(ArrayRef<int64_t> groups,
                                   const Fragment &totals,
                                   const Fragment &earlier) {
  int64_t regs = axis->regs(), inner = countElements(axes, scan.getDim() + 1);
  Fragment starts(countElements(axes)), carried(starts.size());
  for (auto [i, total, value] : llvm::zip_equal(groups, totals, earlier)) {
    Value carry = carried[i];
    starts[i] = carry ? combine(carry, value) : value;
    if (i / inner % regs + axis->vec < regs)
      carried[i + axis->vec * inner] = carry ? combine(carry, total) : total;
  }
  return starts;
}

void ScanLowering::run() {
  uint64_t mask = axis->spread.mask(), lanes = mask & (kWarp - 1);
  if (k.plan.getBlocks() > 1 || axis->spread.parts > 1)
    return k.fail(scan, "expected a scan within a block of threads");
  neutral = tile::createNeutral(b, loc, kind,
                                tileType(scan.getSource()).getElementType());
  Fragment sums = k.emit(scan.getSource(), axes), before(sums.size()), totals;
  unsigned dim = scan.getDim();
  int64_t vec = axis->vec, inner = countElements(axes, dim + 1);
  SmallVector<int64_t> groups; // the last elements of these
  forEachElement(axes, [&](Registers regs, int64_t i) {
    int64_t place = regs[dim] % vec;
    if (Value valid = axis->valid[regs[dim]])
      sums[i] = arith::SelectOp::create(b, loc, valid, sums[i], neutral);
    before[i] = place ? sums[i - inner] : neutral;
    if (place)
      sums[i] = combine(sums[i - inner], sums[i]);
    if (place == vec - 1) {
      groups.push_back(i);
      totals.push_back(sums[i]);
    }
  });
  Fragment earlier = scanWarp(totals, lanes);
  if (uint64_t warps = mask & ~lanes)
    scanWarps(totals, earlier, warps);
  Fragment starts = carryTotals(groups, totals, earlier), results;
  forEachElement(axes, [&](Registers regs, int64_t i) {
    Value start = starts[i + (vec - 1 - regs[dim] % vec) * inner];
    results.push_back(
        combine(start, scan.getExclusive() ? before[i] : sums[i]));
  });
  k.remember(scan.getResult(), axes, results);
}

} // namespace adze::togpu

// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Ranges and divisors of tile-level indices.
#include "IndexFacts.h"
#include "Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <numeric>

using namespace mlir;

namespace adze::togpu {

/// Index expressions are shallow; the limit keeps the recursion bounded.
static constexpr unsigned kMaxDepth = 24;

static std::optional<IndexRange> rangeOfInduction(BlockArgument arg,
                                                  unsigned depth) {
  auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
  if (!loop || arg != loop.getInductionVar())
    return std::nullopt;
  auto low = getRange(loop.getLowerBound(), depth),
       high = getRange(loop.getUpperBound(), depth);
  auto step = getConstantIntValue(loop.getStep());
  if (!low)
    return std::nullopt;
  if (!high || high->high >= kUnbounded)
    return IndexRange{low->low, kUnbounded};
  int64_t last = high->high - 1;
  if (step && low->low == low->high && last > low->low)
    last = low->low + (last - low->low) / *step * *step;
  return IndexRange{low->low, std::max(last, low->low)};
}

static std::optional<IndexRange> rangeOfBinary(Operation *op, IndexRange x,
                                               IndexRange y) {
  bool open = x.high >= kUnbounded || y.high >= kUnbounded;
  if (isa<arith::AddIOp>(op))
    return IndexRange{x.low + y.low, open ? kUnbounded : x.high + y.high};
  if (isa<arith::SubIOp>(op)) {
    if (y.high >= kUnbounded)
      return std::nullopt;
    return IndexRange{x.low - y.high, open ? kUnbounded : x.high - y.low};
  }
  if (isa<arith::MinSIOp>(op))
    return IndexRange{std::min(x.low, y.low), std::min(x.high, y.high)};
  if (isa<arith::MaxSIOp>(op))
    return IndexRange{std::max(x.low, y.low), std::max(x.high, y.high)};
  if (x.low < 0 || y.low < 0)
    return std::nullopt;
  if (isa<arith::MulIOp>(op))
    return IndexRange{x.low * y.low,
                      open ? kUnbounded
                           : std::min(kUnbounded, x.high * y.high)};
  if (y.low < 1)
    return std::nullopt;
  if (isa<arith::DivUIOp, arith::DivSIOp>(op))
    return IndexRange{x.low / y.high,
                      x.high >= kUnbounded ? kUnbounded : x.high / y.low};
  if (isa<arith::RemUIOp, arith::RemSIOp>(op))
    return IndexRange{
        0, std::min(x.high, y.high >= kUnbounded ? kUnbounded : y.high - 1)};
  return std::nullopt;
}

std::optional<IndexRange> getRange(OpFoldResult index, unsigned depth) {
  if (auto constant = getConstantIntValue(index))
    return IndexRange{*constant, *constant};
  auto value = dyn_cast<Value>(index);
  if (!value || depth > kMaxDepth)
    return std::nullopt;
  if (auto arg = dyn_cast<BlockArgument>(value))
    return rangeOfInduction(arg, depth + 1);
  Operation *op = value.getDefiningOp();
  if (auto ids = dyn_cast<tile::ProgramIdOp>(op)) {
    auto grid = getConstantIntValue(
        ids.getGrid()[cast<OpResult>(value).getResultNumber()]);
    return IndexRange{0, grid ? *grid - 1 : kUnbounded};
  }
  if (op->getNumOperands() != 2)
    return std::nullopt;
  auto x = getRange(op->getOperand(0), depth + 1),
       y = getRange(op->getOperand(1), depth + 1);
  if (!x || !y)
    return std::nullopt;
  return rangeOfBinary(op, *x, *y);
}

int64_t getDivisor(OpFoldResult index, unsigned depth) {
  if (auto constant = getConstantIntValue(index))
    return std::abs(*constant);
  auto value = dyn_cast<Value>(index);
  if (!value || depth > kMaxDepth)
    return 1;
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    if (!loop || arg != loop.getInductionVar())
      return 1;
    return std::gcd(getDivisor(loop.getLowerBound(), depth + 1),
                    getDivisor(loop.getStep(), depth + 1));
  }
  Operation *op = value.getDefiningOp();
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp,
           arith::MaxSIOp>(op))
    return 1;
  int64_t x = getDivisor(op->getOperand(0), depth + 1),
          y = getDivisor(op->getOperand(1), depth + 1);
  return isa<arith::MulIOp>(op) ? x * y : std::gcd(x, y);
}

} // namespace adze::togpu

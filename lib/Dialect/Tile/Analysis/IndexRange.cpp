// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Ranges and divisors of tile-level indices.
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace adze::tile;

namespace {
using OptionalRange = std::optional<IndexRange>;
constexpr int64_t unbounded = IndexRange::unbounded;

/// Deeper expressions are treated as unknown, to bound the recursion.
constexpr int maxDepth = 32;

OptionalRange rangeOf(OpFoldResult index, int depth);
int64_t divisorOf(OpFoldResult index, int depth);

/// Returns the loop whose variable `value` is, or null.
scf::ForOp loopOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return {};
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  return loop && argument == loop.getInductionVar() ? loop : scf::ForOp();
}

OptionalRange loopRange(scf::ForOp loop, int depth) {
  OptionalRange lower = rangeOf(loop.getLowerBound(), depth);
  if (!lower)
    return {};
  OptionalRange upper = rangeOf(loop.getUpperBound(), depth);
  if (!upper || !upper->isBounded() || upper->max <= lower->min)
    return IndexRange{lower->min, unbounded};
  int64_t last = upper->max - 1;
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (step && *step > 0 && lower->min == lower->max)
    last = lower->min + (last - lower->min) / *step * *step;
  return IndexRange{lower->min, last};
}

OptionalRange addRanges(IndexRange x, IndexRange y) {
  bool bounded = x.isBounded() && y.isBounded();
  return IndexRange{x.min + y.min, bounded ? x.max + y.max : unbounded};
}

OptionalRange subRanges(IndexRange x, IndexRange y) {
  if (!y.isBounded())
    return {};
  return IndexRange{x.min - y.max, x.isBounded() ? x.max - y.min : unbounded};
}

OptionalRange mulRanges(IndexRange x, IndexRange y) {
  if (x.min < 0 || y.min < 0)
    return {};
  bool bounded = x.isBounded() && y.isBounded();
  return IndexRange{x.min * y.min, bounded ? x.max * y.max : unbounded};
}

OptionalRange divRanges(IndexRange x, IndexRange y, bool up) {
  if (x.min < 0 || y.min < 1)
    return {};
  auto divide = [&](int64_t n, int64_t d) {
    return up ? (n + d - 1) / d : n / d;
  };
  int64_t min = y.isBounded() ? divide(x.min, y.max) : 0;
  return IndexRange{min, x.isBounded() ? divide(x.max, y.min) : unbounded};
}

/// Remainders are multiples of `divisor`, which divides x and y.
OptionalRange remRanges(OptionalRange x, IndexRange y, int64_t divisor) {
  if (!x || x->min < 0 || y.min < 1)
    return {};
  int64_t max = std::min(x->max, y.isBounded() ? y.max - divisor : unbounded);
  return IndexRange{0, max};
}

OptionalRange binaryRange(Operation *op, int depth) {
  OptionalRange x = rangeOf(op->getOperand(0), depth);
  OptionalRange y = rangeOf(op->getOperand(1), depth);
  if (isa<arith::MaxSIOp>(op) && bool(x) != bool(y))
    return IndexRange{x ? x->min : y->min, unbounded};
  if (!y)
    return {};
  if (isa<arith::RemUIOp, arith::RemSIOp>(op))
    return remRanges(x, *y,
                     std::gcd(divisorOf(op->getOperand(0), depth),
                              divisorOf(op->getOperand(1), depth)));
  // Negative values count as large ones.
  if (isa<arith::MinUIOp>(op) && y->min >= 0)
    return IndexRange{x && x->min >= 0 ? std::min(x->min, y->min) : 0, y->max};
  if (!x)
    return {};
  return llvm::TypeSwitch<Operation *, OptionalRange>(op)
      .Case([&](arith::AddIOp) { return addRanges(*x, *y); })
      .Case([&](arith::SubIOp) { return subRanges(*x, *y); })
      .Case([&](arith::MulIOp) { return mulRanges(*x, *y); })
      .Case<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(
          [&](auto) { return divRanges(*x, *y, /*up=*/false); })
      .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>(
          [&](auto) { return divRanges(*x, *y, /*up=*/true); })
      .Case([&](arith::MinSIOp) {
        return IndexRange{std::min(x->min, y->min), std::min(x->max, y->max)};
      })
      .Case([&](arith::MaxSIOp) {
        return IndexRange{std::max(x->min, y->min), std::max(x->max, y->max)};
      })
      .Default([](Operation *) { return OptionalRange(); });
}

OptionalRange dimRange(memref::DimOp dim) {
  auto type = dyn_cast<MemRefType>(dim.getSource().getType());
  std::optional<int64_t> index = dim.getConstantIndex();
  if (type && index && *index < type.getRank() && !type.isDynamicDim(*index))
    return IndexRange{type.getDimSize(*index), type.getDimSize(*index)};
  return IndexRange{0, unbounded};
}

OptionalRange rangeOf(OpFoldResult index, int depth) {
  if (depth == 0)
    return {};
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return IndexRange{*constant, *constant};
  Value value = cast<Value>(index);
  if (scf::ForOp loop = loopOf(value))
    return loopRange(loop, depth - 1);
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (auto range = op->getAttrOfType<DenseI64ArrayAttr>(kRangeAttribute))
    return IndexRange{range[0], range[1]};
  if (auto ids = dyn_cast<ProgramIdOp>(op)) {
    unsigned i = cast<OpResult>(value).getResultNumber();
    OptionalRange grid = rangeOf(ids.getGrid()[i], depth - 1);
    bool known = grid && grid->isBounded() && grid->max > 0;
    return IndexRange{0, known ? grid->max - 1 : unbounded};
  }
  if (auto dim = dyn_cast<memref::DimOp>(op))
    return dimRange(dim);
  if (op->getNumOperands() == 2 && op->getNumResults() == 1)
    return binaryRange(op, depth - 1);
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return rangeOf(op->getOperand(0), depth - 1);
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    OptionalRange x = rangeOf(select.getTrueValue(), depth - 1);
    OptionalRange y = rangeOf(select.getFalseValue(), depth - 1);
    if (x && y)
      return IndexRange{std::min(x->min, y->min), std::max(x->max, y->max)};
  }
  return {};
}

int64_t divisorOf(OpFoldResult index, int depth) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return std::abs(*constant);
  if (depth == 0)
    return 1;
  Value value = cast<Value>(index);
  if (scf::ForOp loop = loopOf(value))
    return std::gcd(divisorOf(loop.getLowerBound(), depth - 1),
                    divisorOf(loop.getStep(), depth - 1));
  Operation *op = value.getDefiningOp();
  if (auto range =
          op ? op->getAttrOfType<DenseI64ArrayAttr>(kRangeAttribute) : nullptr)
    return range[2];
  if (!op || op->getNumOperands() != 2)
    return 1;
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinSIOp,
           arith::MaxSIOp, arith::DivUIOp, arith::RemUIOp>(op))
    return 1;
  int64_t x = divisorOf(op->getOperand(0), depth - 1);
  int64_t y = divisorOf(op->getOperand(1), depth - 1);
  if (isa<arith::DivUIOp>(op)) {
    auto by = getConstantIntValue(op->getOperand(1));
    return by && *by > 0 && x % *by == 0 ? x / *by : 1;
  }
  if (isa<arith::MulIOp>(op)) // one factor suffices if the product is huge
    return x != 0 && y > (int64_t(1) << 30) / x ? x : x * y;
  return std::gcd(x, y);
}
} // namespace

std::optional<IndexRange> adze::tile::getIndexRange(OpFoldResult index) {
  return rangeOf(index, maxDepth);
}

int64_t adze::tile::getKnownDivisor(OpFoldResult index) {
  return divisorOf(index, maxDepth);
}

AffineExpr adze::tile::getSizeExpr(Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return getAffineConstantExpr(type.getDimSize(dim), memref.getContext());
  if (auto collapse = memref.getDefiningOp<memref::CollapseShapeOp>()) {
    AffineExpr size = getAffineConstantExpr(1, memref.getContext());
    ReassociationIndices group = collapse.getReassociationIndices()[dim];
    for (int64_t part : group) {
      AffineExpr next = getSizeExpr(collapse.getSrc(), part);
      if (!next)
        return {};
      size = size * next;
    }
    return size;
  }
  if (auto view = memref.getDefiningOp<memref::SubViewOp>();
      view && view.getDroppedDims().none()) {
    auto size = dyn_cast<Value>(view.getMixedSizes()[dim]);
    auto whole = size ? size.getDefiningOp<memref::DimOp>() : memref::DimOp();
    std::optional<int64_t> which =
        whole ? whole.getConstantIndex() : std::nullopt;
    return which ? getSizeExpr(whole.getSource(), *which) : AffineExpr();
  }
  auto argument = dyn_cast<BlockArgument>(memref);
  auto kernel = argument
                    ? dyn_cast<KernelOp>(argument.getOwner()->getParentOp())
                    : KernelOp();
  if (!kernel)
    return {};
  auto dims = kernel.getArgAttrOfType<AffineMapAttr>(argument.getArgNumber(),
                                                     "adze.dims");
  return dims ? dims.getValue().getResult(dim) : AffineExpr();
}

bool adze::tile::haveOneSize(Value x, int64_t xDim, Value y, int64_t yDim) {
  if (x == y && xDim == yDim)
    return true;
  // Views whose size is the same value have equal sizes.
  auto sizeOfView = [](Value memref, int64_t dim) {
    if (auto view = memref.getDefiningOp<ViewOp>())
      return view.getMixedSizes()[dim];
    auto view = memref.getDefiningOp<memref::SubViewOp>();
    return view && view.getDroppedDims().none() ? view.getMixedSizes()[dim]
                                                : OpFoldResult();
  };
  if (OpFoldResult size = sizeOfView(x, xDim);
      size && size == sizeOfView(y, yDim))
    return true;
  AffineExpr size = getSizeExpr(x, xDim);
  return size && size == getSizeExpr(y, yDim);
}

/// Returns true if `size` is the size of a dimension of memory.
static bool isSizeOf(Value size, Value memref, int64_t dim) {
  auto op = size.getDefiningOp<memref::DimOp>();
  std::optional<int64_t> which = op ? op.getConstantIndex() : std::nullopt;
  return which && haveOneSize(op.getSource(), *which, memref, dim);
}

/// Returns the number of programs along `value`, if it is a program id.
static Value getPrograms(Value value) {
  auto ids = value.getDefiningOp<ProgramIdOp>();
  return ids ? ids.getGrid()[cast<OpResult>(value).getResultNumber()] : Value();
}

int64_t adze::tile::getWholeStep(OpFoldResult index, Value memref,
                                 int64_t dim) {
  auto value = dyn_cast<Value>(index);
  if (!value)
    return 0;
  if (Value programs = getPrograms(value))
    return isSizeOf(programs, memref, dim) ? 1 : 0;
  scf::ForOp loop = loopOf(value);
  std::optional<int64_t> step =
      loop ? getConstantIntValue(loop.getStep()) : std::nullopt;
  if (!step || *step < 1 || getConstantIntValue(loop.getLowerBound()) != 0)
    return 0;
  if (step == 1 && isSizeOf(loop.getUpperBound(), memref, dim))
    return 1;
  auto product = loop.getUpperBound().getDefiningOp<arith::MulIOp>();
  auto quotient =
      product ? product.getLhs().getDefiningOp<arith::DivUIOp>() : nullptr;
  if (!quotient || getConstantIntValue(product.getRhs()) != step ||
      getConstantIntValue(quotient.getRhs()) != step)
    return 0;
  return isSizeOf(quotient.getLhs(), memref, dim) ? *step : 0;
}

bool adze::tile::isClampedTo(OpFoldResult index, Value memref, int64_t dim) {
  auto value = dyn_cast<Value>(index);
  auto most = value ? value.getDefiningOp<arith::MaxSIOp>() : arith::MaxSIOp();
  Value last;
  if (auto least =
          value ? value.getDefiningOp<arith::MinUIOp>() : arith::MinUIOp())
    last = least.getRhs();
  else if (auto least = most && getConstantIntValue(most.getRhs()) == 0
                            ? most.getLhs().getDefiningOp<arith::MinSIOp>()
                            : arith::MinSIOp())
    last = least.getRhs();
  auto before = last ? last.getDefiningOp<arith::SubIOp>() : arith::SubIOp();
  if (!before || getConstantIntValue(before.getRhs()) != 1)
    return false;
  // An empty dim counts as one element, which is never read.
  auto size = before.getLhs().getDefiningOp<arith::MaxSIOp>();
  return isSizeOf(size && getConstantIntValue(size.getRhs()) == 1
                      ? size.getLhs()
                      : before.getLhs(),
                  memref, dim);
}

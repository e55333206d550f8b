// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Checks of indices and divisors, which are made before the run if they are
// known.
#include "IndexRange.h"
#include "Sizes.h"

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::Value;

namespace {
/// The checks of one tensor of indices.
class IndexRange {
public:
  IndexRange(Binder &b, Value indices, llvm::ArrayRef<AffineExpr> sizes,
             NegativeIndex negative, llvm::StringRef noun = "indices")
      : b(b), indices(indices), sizes(sizes), negative(negative), noun(noun) {}
  LogicalResult run();

private:
  AffineExpr getLow(unsigned column) const;
  LogicalResult checkConstants(mlir::DenseIntElementsAttr elements);
  LogicalResult checkKnown(unsigned column, AffineExpr index);
  void checkInRun();
  void checkColumn(unsigned column, Value least, Value greatest);

  Binder &b;
  Value indices;
  llvm::ArrayRef<AffineExpr> sizes;
  NegativeIndex negative;
  llvm::StringRef noun;
  bool needsRun = false;
};
} // namespace

AffineExpr IndexRange::getLow(unsigned column) const {
  return negative == NegativeIndex::FromEnd
             ? graph::subExprs(b.expr(0), sizes[column])
             : b.expr(0);
}

/// Fails if an index is known to be out of range. An index that depends on
/// shapes of inputs becomes a condition on them; others are checked at run
/// time.
LogicalResult IndexRange::checkKnown(unsigned column, AffineExpr index) {
  AffineExpr size = sizes[column], low = getLow(column);
  if (!size || !low)
    return mlir::success();
  AffineExpr above = graph::subExprs(index, low),
             below = graph::subExprs(graph::subExprs(size, b.expr(1)), index);
  if (above && below && graph::isNonNegative(above) &&
      graph::isNonNegative(below))
    return mlir::success();
  bool isConstant = graph::getConstant(index) && graph::getConstant(size);
  if (!isConstant && !(graph::getConstant(index) && b.isKnownBeforeRun(size))) {
    needsRun = true;
    return mlir::success();
  }
  if (b.assumeNonNegative(above) && b.assumeNonNegative(below))
    return mlir::failure(b.hasFailed());
  auto text = [](AffineExpr expr) {
    std::string list = graph::toString(expr); // in brackets
    return list.substr(1, list.size() - 2);
  };
  return b.fail("expected " + noun + " in [" + text(low) + ", " + text(size) +
                "), but got " + text(index));
}

/// Only the least and the greatest index of a column matter.
LogicalResult IndexRange::checkConstants(mlir::DenseIntElementsAttr elements) {
  bool isUnsigned = elements.getElementType().isUnsignedInteger();
  llvm::SmallVector<std::optional<std::pair<int64_t, int64_t>>> found(
      sizes.size());
  for (auto [i, value] : llvm::enumerate(elements.getValues<llvm::APInt>())) {
    int64_t index =
        isUnsigned ? int64_t(value.getZExtValue()) : value.getSExtValue();
    auto &range = found[i % sizes.size()];
    range = range ? std::pair(std::min(range->first, index),
                              std::max(range->second, index))
                  : std::pair(index, index);
    if (elements.isSplat() && i + 1 >= sizes.size())
      break;
  }
  for (auto [column, range] : llvm::enumerate(found))
    if (range && (mlir::failed(checkKnown(column, b.expr(range->first))) ||
                  mlir::failed(checkKnown(column, b.expr(range->second)))))
      return mlir::failure();
  return mlir::success();
}

void IndexRange::checkColumn(unsigned column, Value least, Value greatest) {
  AffineExpr low = getLow(column), high = sizes[column];
  if (!least || !greatest || !low || !high)
    return;
  AffineExpr bounds[] = {low, high};
  auto range = mlir::AffineMap::get(0, graph::countSymbols(bounds), bounds,
                                    b.builder.getContext());
  std::string message =
      ("expected " + noun + " in [{1}, {2}), but got {0}").str();
  graph::CheckRangeOp::create(b.builder, b.loc, least, greatest, message,
                              range);
}

template <typename OpT>
static Value reduce(Binder &b, Value x, int64_t numAxes) {
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, numAxes));
  return b.create<OpT>(x, {b.attr("axes", axes), b.attr("keepdims", false)});
}

/// Returns the columns of tuples that are a concatenation of columns, or none.
static mlir::ValueRange getColumns(Value tuples, size_t count) {
  auto concat = tuples.getDefiningOp<graph::ConcatOp>();
  auto isColumn = [](Value piece) {
    return graph::getConstant(graph::getDims(piece).back()) == 1;
  };
  bool isJoined = concat && concat->getNumOperands() == count &&
                  int64_t(concat.getAxis()) == Binder::getRank(tuples) - 1 &&
                  llvm::all_of(concat->getOperands(), isColumn);
  return isJoined ? concat->getOperands() : mlir::ValueRange();
}

void IndexRange::checkInRun() {
  bool hasColumns = sizes.size() > 1;
  if (mlir::ValueRange columns = getColumns(indices, sizes.size());
      hasColumns && !columns.empty()) {
    // Columns are checked separately, as some may be known to be in range.
    for (auto [column, size] : llvm::zip_equal(columns, sizes))
      (void)IndexRange(b, column, size, negative, noun).run();
    return;
  }
  mlir::Type type = b.getElementType(indices), i64 = b.builder.getI64Type();
  Value values = type.isSignlessInteger(32) ? indices : b.cast(indices, i64);
  if (!values)
    return;
  // Tuples keep their last dim: one column for each element.
  int64_t numAxes = Binder::getRank(values) - hasColumns;
  Value least = reduce<graph::ReduceMinOp>(b, values, numAxes),
        greatest = reduce<graph::ReduceMaxOp>(b, values, numAxes);
  for (unsigned column = 0; column < sizes.size(); ++column)
    if (hasColumns)
      checkColumn(column, b.slice(least, 0, column, b.expr(1)),
                  b.slice(greatest, 0, column, b.expr(1)));
    else
      checkColumn(column, least, greatest);
}

LogicalResult IndexRange::run() {
  if (b.hasFailed() || !indices || sizes.empty())
    return mlir::failure(b.hasFailed());
  mlir::DenseIntElementsAttr elements;
  if (matchPattern(indices, mlir::m_Constant(&elements))) {
    if (mlir::failed(checkConstants(elements)))
      return mlir::failure();
  } else if (auto known = graph::getElements(indices)) {
    for (auto [i, index] : llvm::enumerate(*known)) {
      needsRun |= !index;
      if (index && mlir::failed(checkKnown(i % sizes.size(), index)))
        return mlir::failure();
    }
  } else {
    needsRun = true;
  }
  if (needsRun)
    checkInRun();
  return mlir::failure(b.hasFailed());
}

LogicalResult adze::importer::checkIndices(Binder &b, Value indices,
                                           llvm::ArrayRef<AffineExpr> sizes,
                                           NegativeIndex negative) {
  return IndexRange(b, indices, sizes, negative).run();
}

LogicalResult adze::importer::checkLengths(Binder &b, Value lengths,
                                           AffineExpr size) {
  AffineExpr end = graph::addExprs(size, b.expr(1));
  return IndexRange(b, lengths, end, NegativeIndex::OutOfRange, "lengths")
      .run();
}

LogicalResult adze::importer::checkAxes(Binder &b, Value axes, int64_t rank) {
  return IndexRange(b, axes, b.expr(rank), NegativeIndex::FromEnd, "axes")
      .run();
}

LogicalResult adze::importer::checkDivisors(Binder &b, Value divisors) {
  if (b.hasFailed() || !divisors)
    return mlir::failure();
  mlir::DenseIntElementsAttr elements;
  if (matchPattern(divisors, mlir::m_Constant(&elements))) {
    auto values = elements.getValues<llvm::APInt>();
    if (llvm::any_of(values, [](const llvm::APInt &x) { return x.isZero(); }))
      return b.fail("expected divisors other than 0");
    return mlir::success();
  }
  if (graph::getElements(divisors))
    return mlir::success();
  // The least unsigned element takes one instruction for each vector.
  auto element = mlir::cast<mlir::IntegerType>(b.getElementType(divisors));
  unsigned width = element.getWidth();
  auto natural = b.builder.getIntegerType(width, /*isSigned=*/false);
  Value numbers = divisors;
  if (element != natural)
    numbers = graph::BitcastOp::create(
        b.builder, b.loc,
        mlir::cast<mlir::RankedTensorType>(divisors.getType()).clone(natural),
        divisors);
  Value least =
      reduce<graph::ReduceMinOp>(b, numbers, Binder::getRank(divisors));
  if (!least)
    return mlir::failure();
  AffineExpr bounds[] = {b.expr(1), b.expr(int64_t(1) << std::min(width, 32u))};
  if (width > 32) { // i64 does not hold such numbers
    least = b.create<graph::EqualOp>({least, b.scalar(natural, 0.0)});
    bounds[0] = b.expr(0), bounds[1] = b.expr(1);
  }
  least = b.cast(least, b.builder.getI64Type());
  graph::CheckRangeOp::create(
      b.builder, b.loc, least, least, "expected divisors other than 0",
      mlir::AffineMap::get(0, 0, bounds, b.builder.getContext()));
  return mlir::success();
}

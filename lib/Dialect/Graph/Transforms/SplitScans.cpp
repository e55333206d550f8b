// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Scans along few long rows for GPUs, in parts: the sum of the parts before it
// is added to each (G. Blelloch, "Prefix sums and their applications", 1990).
// Selections from long rows select from those of their parts.
#include "Dialect/Graph/IR/Reduced.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Tile/IR/Targets.h"
#include "Matching.h"
#include "Parallelize.h"
#include <cmath>

using namespace mlir;
using namespace adze::graph;

namespace {

/// Returns the elements of the row along the last dim, or nothing for other
/// axes and dynamic sizes.
std::optional<int64_t> getRowLength(Value input, uint64_t axis) {
  Dims dims = getDims(input);
  if (axis + 1 != dims.size() || llvm::is_contained(dims, AffineExpr()))
    return std::nullopt;
  return getConstant(dims.back());
}

/// Returns the divisor of `length` from `least` to its half that is nearest to
/// `wanted` by ratio, or 1 if there is none.
int64_t chooseEach(int64_t length, int64_t wanted, int64_t least) {
  int64_t best = 1;
  auto distance = [&](int64_t n) {
    return double(std::max(n, wanted)) / double(std::min(n, wanted));
  };
  for (int64_t n = least; n * 2 <= length; ++n)
    if (length % n == 0 && (best == 1 || distance(n) < distance(best)))
      best = n;
  return best;
}

/// Returns a scan of `x` along its last dim.
template <typename ScanOp>
Value scan(OpBuilder &b, ScanOp op, Value x, bool exclusive) {
  return ScanOp::create(b, op.getLoc(), x.getType(), x, getRank(x) - 1,
                        exclusive, /*reverse=*/false);
}

/// Returns the result of a scan from the end of rows: that of the reversed
/// rows, reversed.
template <typename ScanOp>
Value reverseScan(OpBuilder &b, ScanOp op) {
  int64_t axis = op.getAxis();
  Value x = ReverseOp::create(b, op.getLoc(), op.getInput(), axis);
  return ReverseOp::create(b, op.getLoc(), scan(b, op, x, op.getExclusive()),
                           axis);
}

/// Returns the number of rows with these outer dims, or 1 if it is dynamic.
int64_t countRows(MLIRContext *context, const Dims &outer) {
  return std::max<int64_t>(getConstant(product(context, outer)).value_or(1), 1);
}

/// Returns the elements of each of the parts of `rows` rows, which programs
/// scan, or 1 if there are enough rows.
int64_t chooseScanned(int64_t length, int64_t rows) {
  constexpr int64_t enough = 64, chunk = 4096, leastEach = 512;
  return rows >= enough || length <= 2 * chunk
             ? 1
             : chooseEach(length, chunk, leastEach);
}

/// Returns the result of a scan along contiguous elements, or null for others
/// and for scans that a program computes row by row.
template <typename ScanOp, typename ReduceOp, typename CombineOp>
Value splitScan(ScanOp op) {
  Dims dims = getDims(op.getInput());
  OpBuilder b(op);
  Location loc = op.getLoc();
  if (op.getAxis() + 1 != dims.size())
    return {};
  if (op.getReverse())
    return reverseScan(b, op);
  auto length = getRowLength(op.getInput(), op.getAxis());
  if (!length)
    return {};
  Dims outer(dims);
  outer.pop_back();
  int64_t each = chooseScanned(*length, countRows(op.getContext(), outer));
  if (each == 1)
    return {};
  Dims parts(outer), ones(outer);
  llvm::append_range(parts, makeDims(op.getContext(), {*length / each, each}));
  llvm::append_range(ones, makeDims(op.getContext(), {*length / each, 1}));
  Value x = createReshape(b, loc, op.getInput(), parts);
  // Sums of parts in fewer bits would be rounded once more.
  Type element = getElementTypeOrSelf(x);
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    x = createCast(b, loc, x, b.getF32Type());
  Value own = scan(b, op, x, op.getExclusive());
  Value sums = ReduceOp::create(b, loc, x, getRank(x) - 1, /*keepdims=*/false);
  Value before =
      createReshape(b, loc, scan(b, op, sums, /*exclusive=*/true), ones);
  Value all = CombineOp::create(b, loc, own.getType(), own, before);
  return createReshape(b, loc, createCast(b, loc, all, element), dims);
}

/// Estimates the microseconds in which `programs` programs at a time select
/// elements of `rows` rows by their least key.
double estimateSelected(double programs, double rows, double length) {
  constexpr double launch = 5, perMicrosecond = 1000;
  // Longer rows are loaded for each bit.
  double elements = length > longestSelectedRow ? 2 * length : length;
  return std::ceil(rows / programs) * (launch + elements / perMicrosecond);
}

/// Estimates the microseconds in which all elements are ranked, as measured on
/// an H200.
double estimateRanked(double rows, double length) {
  constexpr double launch = 4, comparisonsPerMicrosecond = 3.5e6;
  return launch + rows * length * length / comparisonsPerMicrosecond;
}

/// Returns the elements of each of the parts from which many elements are
/// selected before these are sorted, all for one part, or nothing if all
/// elements of the rows are ranked in less time.
std::optional<int64_t> chooseSelected(int64_t length, int64_t count,
                                      int64_t rows, int64_t programs) {
  constexpr double further = 7; // launches, which add and gather indices
  double fewest = estimateRanked(rows, length);
  std::optional<int64_t> best;
  for (int64_t parts = 1; parts <= std::max(length / (2 * count), 1L);
       ++parts) {
    if (length % parts != 0)
      continue;
    double selected = parts * count;
    double all = further +
                 estimateSelected(programs, rows * parts, length / parts) +
                 std::min(estimateRanked(rows, selected),
                          further + estimateSelected(programs, rows, selected) +
                              estimateRanked(rows, count));
    if (all < fewest)
      fewest = all, best = length / parts;
  }
  return best;
}

/// Returns the elements of each of the parts of a row from which elements are
/// selected first, or nothing if they are selected from whole rows at once.
std::optional<int64_t> chooseParts(TopKOp op, int64_t length, int64_t count) {
  Dims outer = getDims(op.getInput());
  outer.pop_back();
  if (count > mostSelected)
    return chooseSelected(length, count, countRows(op.getContext(), outer),
                          adze::tile::findCudaTarget(op).getMultiprocessors());
  int64_t each = length > getLongestTileRow(op)
                     ? chooseEach(length, longestSelectedRow, 2 * count)
                     : 1;
  return each == 1 ? std::nullopt : std::optional(each);
}

/// Selects elements from the parts of rows, and then from these. Of many
/// elements, only the last selection sorts. Equal elements stay in the order of
/// their indices. Returns the selection from all parts, or null.
TopKOp splitTopK(TopKOp op) {
  auto length = getRowLength(op.getInput(), op.getAxis());
  int64_t count = getConstant(getDims(op.getValues()).back()).value_or(0);
  if (!length || op.getK() || count < 1)
    return {};
  std::optional<int64_t> chosenEach = chooseParts(op, *length, count);
  if (!chosenEach)
    return {};
  int64_t each = *chosenEach;
  OpBuilder b(op);
  Location loc = op.getLoc();
  Dims outer = getDims(op.getInput());
  outer.pop_back();
  int64_t last = outer.size(), parts = *length / each;
  auto with = [&](ArrayRef<int64_t> sizes) {
    Dims dims(outer);
    llvm::append_range(dims, makeDims(op.getContext(), sizes));
    return dims;
  };
  Type element = getElementTypeOrSelf(op.getInput()), index = b.getI64Type();
  auto select = [&](Value from, const Dims &dims, bool sorted) {
    return TopKOp::create(b, loc, makeType(element, dims),
                          makeType(index, dims), from, /*k=*/Value(),
                          int64_t(dims.size()) - 1, op.getLargest(), sorted);
  };
  TopKOp own = select(createReshape(b, loc, op.getInput(), with({parts, each})),
                      with({parts, count}), /*sorted=*/count <= mostSelected);
  Value places = own.getIndices();
  if (parts > 1) {
    SmallVector<int64_t> starts;
    for (int64_t part = 0; part < parts; ++part)
      starts.push_back(part * each);
    auto type = RankedTensorType::get({parts, 1}, index);
    Value start = ConstantOp::create(
        b, loc, DenseElementsAttr::get(type, ArrayRef<int64_t>(starts)));
    places = AddOp::create(b, loc, places.getType(), places, start);
  }
  Dims flat = with({parts * count}), wantedDims = with({count});
  TopKOp all = select(createReshape(b, loc, own.getValues(), flat), wantedDims,
                      op.getSorted());
  Value chosen = GatherElementsOp::create(b, loc, makeType(index, wantedDims),
                                          createReshape(b, loc, places, flat),
                                          all.getIndices(), last);
  op->replaceAllUsesWith(ValueRange{all.getValues(), chosen});
  op->erase();
  return all;
}

/// Returns a selection from the elements as wider integers with a sign, if
/// selections have no keys of these elements, else the selection itself.
TopKOp widenKeys(TopKOp op) {
  auto element = dyn_cast<IntegerType>(getElement(op.getInput()));
  unsigned width = element ? element.getWidth() : 64;
  if (width > 32 || (width == 32 && !element.isUnsigned()))
    return op;
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value wide = createCast(b, loc, op.getInput(),
                          b.getIntegerType(width == 32 ? 64 : 32));
  auto selection = TopKOp::create(
      b, loc, makeType(getElement(wide), getDims(op.getValues())),
      op.getIndices().getType(), wide, op.getK(), op.getAxis(), op.getLargest(),
      op.getSorted());
  op.getValues().replaceAllUsesWith(
      createCast(b, loc, selection.getValues(), element));
  op.getIndices().replaceAllUsesWith(selection.getIndices());
  op->erase();
  return selection;
}

} // namespace

unsigned adze::graph::splitSelections(func::FuncOp function) {
  SmallVector<TopKOp> ops;
  function.walk([&](TopKOp op) { ops.push_back(op); });
  unsigned count = 0;
  while (!ops.empty())
    if (TopKOp all = splitTopK(widenKeys(ops.pop_back_val()))) {
      ops.push_back(all);
      ++count;
    }
  return count;
}

unsigned adze::graph::splitScans(func::FuncOp function) {
  unsigned count = 0;
  SmallVector<Operation *> work;
  auto find = [&](Operation *op) {
    if (isa<CumsumOp, CumprodOp>(op))
      work.push_back(op);
  };
  function.walk(find);
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    Operation *before = op->getPrevNode();
    auto sum = dyn_cast<CumsumOp>(op);
    Value result =
        sum ? splitScan<CumsumOp, ReduceSumOp, AddOp>(sum)
            : splitScan<CumprodOp, ReduceProdOp, MulOp>(cast<CumprodOp>(op));
    if (!result)
      continue;
    ++count;
    // The sums of the parts are rows, too.
    Block *block = op->getBlock();
    auto made = before ? std::next(before->getIterator()) : block->begin();
    for (; &*made != op; ++made)
      find(&*made);
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
  return count;
}

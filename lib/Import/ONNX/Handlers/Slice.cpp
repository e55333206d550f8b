// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Slice, whose ends may be symbolic.
#include "../DataShapes.h"
#include "../OpTable.h"
#include "Dialect/Graph/IR/Clamp.h"
#include "Dialect/Graph/IR/Elements.h"
#include "llvm/ADT/DenseSet.h"

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::Value;

namespace {

/// One dim of a slice, in the form of the node and in that of graph.slice.
struct Range {
  AffineExpr start, end;
  int64_t step = 1;
  // The results.
  AffineExpr first, size;
};

/// Exporters write a huge number as the end of the dim.
constexpr int64_t kHuge = INT32_MAX;

/// Resolves constant start, end and dim by the rules of ONNX.
void resolveStatic(Binder &b, int64_t dim, Range &range) {
  int64_t start = *graph::getConstant(range.start);
  int64_t end = *graph::getConstant(range.end), step = range.step;
  if (start < 0)
    start += dim;
  if (end < 0)
    end += dim;
  int64_t size = 0;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, dim);
    end = std::clamp<int64_t>(end, 0, dim);
    if (end > start)
      size = (end - start - 1) / step + 1;
  } else {
    // -1 in an empty dim
    start = std::min(std::max<int64_t>(start, 0), dim - 1);
    end = std::clamp<int64_t>(end, -1, dim - 1);
    // INT64_MIN has no negation; such a step selects one element only.
    int64_t distance = step == INT64_MIN ? INT64_MAX : -step;
    if (start > end)
      size = (start - end - 1) / distance + 1;
  }
  range.first = b.expr(size ? start : 0);
  range.size = b.expr(size);
}

/// Returns the distance of an element from the front, within [0, dim], where a
/// negative `place` counts from the back. Returns null if it is not an
/// expression.
AffineExpr resolvePlace(Binder &b, AffineExpr dim, AffineExpr place) {
  auto constant = graph::getConstant(place);
  if (constant && *constant >= kHuge)
    return dim;
  if (constant && *constant < -kHuge)
    return b.expr(0);
  if (graph::isNonNegative(place))
    return graph::minExprs(place, dim);
  AffineExpr fromBack = graph::clampExpr(graph::addExprs(place, dim));
  AffineExpr above = graph::clampExpr(place),
             next = graph::clampExpr(graph::addExprs(place, b.expr(1)));
  // This is 1 if it counts from the back, else 0.
  AffineExpr isBack = graph::addExprs(graph::subExprs(above, next), b.expr(1));
  // This is min(above, dim), or 0 if it counts from the back.
  AffineExpr fromFront =
      graph::subExprs(above, graph::clampExpr(graph::subExprs(place, dim)));
  return graph::addExprs(fromFront, graph::mulExprs(isBack, fromBack));
}

/// Returns the same for negative steps, after the element: in [1, dim] for a
/// start and in [0, dim] for an end.
AffineExpr resolveReversed(Binder &b, AffineExpr dim, AffineExpr place,
                           bool isStart) {
  AffineExpr one = b.expr(1);
  auto constant = graph::getConstant(place);
  if (constant && *constant >= kHuge)
    return dim;
  if (constant && *constant < -kHuge)
    return isStart ? graph::minExprs(one, dim) : b.expr(0);
  AffineExpr after = graph::addExprs(place, one);
  if (graph::isNonNegative(place))
    return graph::minExprs(after, dim);
  if (!graph::isNonNegative(graph::subExprs(b.expr(-1), place)))
    return {};
  if (!isStart)
    return graph::clampExpr(graph::addExprs(after, dim));
  AffineExpr first = graph::clampExpr(graph::addExprs(place, dim));
  return graph::minExprs(graph::addExprs(first, one), dim);
}

/// Returns true if types would be longer than computing the size at run time
/// warrants.
bool isLong(AffineExpr expr) {
  constexpr unsigned most = 6000;
  unsigned parts = 0;
  expr.walk([&](AffineExpr) { ++parts; });
  return parts > most;
}

LogicalResult resolve(Binder &b, AffineExpr dim, Range &range) {
  auto size = dim ? graph::getConstant(dim) : std::nullopt;
  if (range.step == 0)
    return b.fail("expected steps other than 0");
  if (size && graph::getConstant(range.start) &&
      graph::getConstant(range.end)) {
    resolveStatic(b, *size, range);
    return mlir::success();
  }
  bool forwards = range.step > 0;
  AffineExpr from, to;
  if (dim && forwards) {
    from = resolvePlace(b, dim, range.start);
    to = resolvePlace(b, dim, range.end);
  } else if (dim) {
    from = resolveReversed(b, dim, range.end, /*isStart=*/false);
    to = resolveReversed(b, dim, range.start, /*isStart=*/true);
  }
  AffineExpr distance = graph::subExprs(to, from);
  // Both are within the dim.
  if (to != dim && graph::getConstant(from) != 0)
    distance = graph::clampExpr(distance);
  int64_t step = range.step == INT64_MIN ? INT64_MAX : std::abs(range.step);
  range.size = graph::floorDivExprs(graph::addExprs(distance, b.expr(step - 1)),
                                    b.expr(step));
  range.first = forwards ? from : graph::subExprs(to, b.expr(1));
  if (!range.size || !range.first || isLong(range.size) || isLong(range.first))
    return b.unsupported("expected starts and ends that the symbolic dims "
                         "determine");
  if (graph::getConstant(range.size) == 0)
    range.first = b.expr(0);
  return mlir::success();
}

/// Returns true if the slice reverses the whole dim, which needs no numbers.
bool isReverse(const Range &range) {
  auto start = graph::getConstant(range.start);
  auto end = graph::getConstant(range.end);
  return range.step == -1 && start && (*start == -1 || *start >= kHuge) &&
         end && *end < -kHuge;
}

/// Returns the elements of an operand as expressions.
std::optional<Dims> getExprs(Binder &b, unsigned i) {
  auto elements = graph::getCutElements(b.operand(i));
  if (!elements) {
    (void)b.unsupported("expected operand " + llvm::Twine(i) + " ('" +
                        b.node.inputs[i] +
                        "') to be determined by the symbolic dims");
    return std::nullopt;
  }
  return Dims(elements->begin(), elements->end());
}

Dims toExprs(Binder &b, llvm::ArrayRef<int64_t> values) {
  Dims result;
  for (int64_t value : values)
    result.push_back(b.expr(value));
  return result;
}

/// Reads starts, ends, axes and steps, which are attributes before version 10,
/// and operands since.
LogicalResult getRanges(Binder &b, int64_t rank, Dims &starts, Dims &ends,
                        llvm::SmallVector<int64_t> &axes,
                        llvm::SmallVector<int64_t> &steps) {
  std::optional<llvm::SmallVector<int64_t>> axesGiven, stepsGiven;
  if (b.version() < 10) {
    auto startsGiven = b.getInts("starts"), endsGiven = b.getInts("ends");
    if (!startsGiven || !endsGiven)
      return b.fail("expected attributes 'starts' and 'ends'");
    starts = toExprs(b, *startsGiven);
    ends = toExprs(b, *endsGiven);
    axesGiven = b.getInts("axes");
  } else {
    if (!b.operand(1) || !b.operand(2))
      return b.fail("expected operands 1 and 2 to be present");
    auto startsGiven = getExprs(b, 1), endsGiven = getExprs(b, 2);
    if (!startsGiven || !endsGiven)
      return mlir::failure();
    starts = *startsGiven;
    ends = *endsGiven;
    if (b.operand(3))
      axesGiven = b.getConstantInts(3);
    if (b.operand(4))
      stepsGiven = b.getConstantInts(4);
  }
  axes =
      axesGiven.value_or(llvm::to_vector(llvm::seq<int64_t>(0, starts.size())));
  steps = stepsGiven.value_or(llvm::SmallVector<int64_t>(starts.size(), 1));
  if (b.hasFailed())
    return mlir::failure();
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size())
    return b.fail("expected as many ends, axes and steps as starts, but got " +
                  llvm::Twine(ends.size()) + ", " + llvm::Twine(axes.size()) +
                  " and " + llvm::Twine(steps.size()) + " for " +
                  llvm::Twine(starts.size()));
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t &axis : axes) {
    axis = b.normalizeAxis(axis, rank);
    if (!b.hasFailed() && !seen.insert(axis).second)
      return b.fail("expected each axis once, but got " + llvm::Twine(axis) +
                    " twice");
  }
  return mlir::failure(b.hasFailed());
}

/// Returns true if the symbolic dims determine the slice.
bool isDetermined(Binder &b) {
  if (b.version() < 10)
    return true;
  for (unsigned i = 1; i < b.getNumOperands(); ++i) {
    Value operand = b.operand(i);
    if (operand && !(i < 3 ? graph::getCutElements(operand).has_value()
                           : graph::getConstantElements(operand).has_value()))
      return false;
  }
  return true;
}

LogicalResult importSlice(Binder &b) {
  Value x = b.operand(0);
  if (b.version() >= 10 && (!b.operand(1) || !b.operand(2)))
    return b.fail("expected operands 1 and 2 to be present");
  if (!isDetermined(b))
    return b.done(sliceByData(b, x, b.operand(1), b.operand(2), b.operand(3),
                              b.operand(4)));
  Dims dims = graph::getDims(x), starts, ends, firsts;
  llvm::SmallVector<int64_t> axes, steps, reversed;
  if (mlir::failed(getRanges(b, dims.size(), starts, ends, axes, steps))) {
    if (b.version() < 10 || !b.forgive())
      return mlir::failure();
    return b.done(sliceByData(b, x, b.operand(1), b.operand(2), b.operand(3),
                              b.operand(4)));
  }
  firsts.assign(dims.size(), b.expr(0));
  llvm::SmallVector<int64_t> allSteps(dims.size(), 1);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    Range range{starts[i], ends[i], steps[i], {}, {}};
    if (isReverse(range)) {
      reversed.push_back(axis);
      continue;
    }
    if (mlir::failed(resolve(b, dims[axis], range))) {
      if (b.version() < 10 || !b.forgive())
        return mlir::failure();
      return b.done(sliceByData(b, x, b.operand(1), b.operand(2), b.operand(3),
                                b.operand(4)));
    }
    firsts[axis] = range.first;
    dims[axis] = range.size;
    allSteps[axis] = range.step;
  }
  if (!reversed.empty()) {
    llvm::sort(reversed);
    x = b.create<graph::ReverseOp>(x, b.attr("axes", reversed));
  }
  if (!x)
    return mlir::failure();
  mlir::Type type = graph::makeType(b.getElementType(x), dims);
  bool isWhole =
      type == x.getType() &&
      llvm::all_of(firsts,
                   [](AffineExpr e) { return graph::getConstant(e) == 0; }) &&
      llvm::all_of(allSteps, [](int64_t n) { return n == 1; });
  if (isWhole)
    return b.done(x);
  mlir::Attribute begin =
      graph::SliceOp::makeStarts(b.builder.getContext(), firsts);
  return b.done(b.createAs<graph::SliceOp>(
      type, x, {b.attr("starts", begin), b.attr("steps", allSteps)}));
}

} // namespace

void adze::importer::addSliceOps(std::vector<OpRow> &rows) {
  rows.push_back({"Slice", 1, 1, importSlice});
}

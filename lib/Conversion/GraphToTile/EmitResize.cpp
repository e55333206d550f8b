// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Resize: taps and their weights, dim by dim. They are scalars along a dim of
// which the program has one position; along the lanes they are tiles, and
// elements are gathered.
#include "Dialect/Graph/IR/ResizeMath.h"
#include "Families.h"
#include "Lookups.h"
#include "TileElementBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

class Interpolation {
public:
  Interpolation(KernelEmitter &e, ResizeOp op, DimRanges ranges)
      : e(e), op(op), ranges(std::move(ranges)),
        type(getAccumulatorType(
            getSignlessType(getElementTypeOrSelf(op.getResult())))) {}

  FailureOr<Emitted> run();

private:
  LogicalResult setTaps(unsigned dim);
  LogicalResult setAxes();
  FailureOr<Value> sum(unsigned dim);
  FailureOr<Value> read();
  FailureOr<Emitted> gather();
  FailureOr<Value> weigh(unsigned dim, Value x, Value weight);

  KernelEmitter &e;
  ResizeOp op;
  DimRanges ranges; // of the result; of the input while taps are read
  Type type;        // of sums
  Axes axes;        // of all tiles
  SmallVector<SmallVector<ResizeTap>> taps; // empty: the dim is copied
  size_t neighbours = 1;                    // taps of all dims
  int along = -1;                           // the gathered dim
  Value gathered;                           // its positions, on its axis
};

} // namespace

/// Computes the taps along one dim.
LogicalResult Interpolation::setTaps(unsigned dim) {
  const DimRange &range = ranges[dim];
  bool isLanes = range.axis >= 0;
  if (isLanes && dim + 1 != ranges.size())
    return e.fail("a tile axis runs along an interpolated dim");
  if (isLanes && !isa<BlockArgument>(op.getInput()))
    return e.fail("gathered elements are computed in the kernel");
  Value in = e.size(op.getInput(), dim), out = e.size(op.getResult(), dim);
  if (!in || !out)
    return failure();
  Axes own;
  Value position = range.offset;
  if (isLanes) {
    along = dim;
    own = {range.axis};
    if (range.stride != 1)
      return e.fail("interpolated elements have a stride");
    Emitted steps = e.emitPositions(range.axis, e.builder().getIndexType());
    position = arith::AddIOp::create(e.builder(), e.loc(), steps.value,
                                     e.broadcast({position, {}}, own));
    in = e.broadcast({in, {}}, own);
    out = e.broadcast({out, {}}, own);
  }
  TileElementBuilder builder(e, own);
  ResizeMath math(op, dim, builder, in, out);
  taps[dim] = math.getTaps(math.getCoordinate(position));
  constexpr size_t most = 16; // all of them are unrolled
  neighbours *= taps[dim].size();
  if (taps[dim].empty() || neighbours > most)
    return e.fail("the windows are too large or have a dynamic size");
  return success();
}

LogicalResult Interpolation::setAxes() {
  for (const DimRange &range : ranges)
    if (range.axis >= 0)
      axes.push_back(range.axis);
  llvm::sort(axes);
  return success(llvm::adjacent_find(axes) == axes.end());
}

/// Emits elements at positions that the lanes hold.
FailureOr<Emitted> Interpolation::gather() {
  DimRanges from = ranges;
  from[along].offset = e.index(0); // included in the positions
  return emitGathered(e, e.getMemory(op.getInput()), from, along,
                      {gathered, {ranges[along].axis}}, axes);
}

FailureOr<Value> Interpolation::read() {
  auto tile = along >= 0 ? gather() : e.emit(op.getInput(), ranges);
  if (failed(tile))
    return failure();
  return e.broadcast(e.convert(*tile, type), axes);
}

/// If it is dynamic whether a dim is resized at all, taps of weight 0 are
/// ignored, so that infinities next to a copied element do not affect it.
FailureOr<Value> Interpolation::weigh(unsigned dim, Value x, Value weight) {
  OpBuilder &b = e.builder();
  Axes own;
  if (int(dim) == along)
    own = {ranges[dim].axis};
  Value wide = e.broadcast(e.convert({weight, own}, type), axes);
  Value product = arith::MulFOp::create(b, e.loc(), x, wide);
  if (getStaticScale(op, dim))
    return product;
  Value none = e.constant(b.getFloatAttr(type, 0.0), axes);
  Value isNone =
      arith::CmpFOp::create(b, e.loc(), arith::CmpFPredicate::OEQ, wide, none);
  return Value(arith::SelectOp::create(b, e.loc(), isNone, none, product));
}

/// Emits the weighted sum over the taps of all dims from `dim` on.
FailureOr<Value> Interpolation::sum(unsigned dim) {
  if (dim == taps.size())
    return read();
  if (taps[dim].empty())
    return sum(dim + 1);
  Value result;
  for (const ResizeTap &tap : taps[dim]) {
    DimRange before = ranges[dim];
    if (int(dim) == along)
      gathered = tap.position;
    else
      ranges[dim].offset = tap.position;
    auto x = sum(dim + 1);
    ranges[dim] = before;
    if (succeeded(x) && tap.weight)
      x = weigh(dim, *x, tap.weight);
    if (failed(x))
      return failure();
    result = result ? arith::AddFOp::create(e.builder(), e.loc(), result, *x)
                          .getResult()
                    : *x;
  }
  return result;
}

FailureOr<Emitted> Interpolation::run() {
  if (failed(setAxes()))
    return e.fail("a tile axis runs along two dims of a resized value");
  taps.resize(ranges.size());
  for (unsigned dim = 0; dim < ranges.size(); ++dim)
    if (!isCopied(op, dim) && failed(setTaps(dim)))
      return failure();
  auto result = sum(0);
  if (failed(result))
    return failure();
  return e.convert({*result, axes},
                   getSignlessType(getElementTypeOrSelf(op.getResult())));
}

/// Divides positions along an axis by the factor: `range` becomes that of the
/// first position, and the tile holds the distances of the others.
static Value emitRepeated(KernelEmitter &e, DimRange &range, int64_t factor) {
  OpBuilder &b = e.builder();
  Axes own = {range.axis};
  auto all = [&](Value scalar) { return e.broadcast({scalar, {}}, own); };
  Value by = e.index(factor);
  Value steps = e.emitPositions(range.axis, b.getIndexType()).value;
  Value first = e.rem(range.offset, by);
  range.offset = e.div(range.offset, by);
  return arith::DivUIOp::create(
      b, e.loc(), arith::AddIOp::create(b, e.loc(), steps, all(first)),
      all(by));
}

/// Maps ranges to those of the input, if the op only repeats each element an
/// integral number of times. Along the lanes, elements are gathered at the
/// returned tile of positions.
FailureOr<bool> KernelEmitter::isRepeat(ResizeOp op, DimRanges &ranges,
                                        Value &positions) {
  DimRanges result = ranges;
  for (auto [dim, range] : llvm::enumerate(result)) {
    if (isCopied(op, dim))
      continue;
    auto factor = getRepeats(op, dim);
    if (!factor)
      return false;
    if (range.axis < 0) {
      range.offset = div(range.offset, index(*factor));
      continue;
    }
    if (dim + 1 != result.size() || range.stride != 1 ||
        !isa<BlockArgument>(op.getInput()) ||
        getElementTypeOrSelf(op.getResult()).isInteger(1))
      return false;
    positions = emitRepeated(*this, range, *factor);
  }
  ranges = result;
  return true;
}

/// Emits elements of the input at last positions that the lanes hold.
static FailureOr<Emitted> gatherAlongLast(KernelEmitter &e, Value input,
                                          ArrayRef<DimRange> ranges,
                                          Value positions) {
  Axes axes;
  for (const DimRange &range : ranges)
    if (range.axis >= 0)
      axes.push_back(range.axis);
  llvm::sort(axes);
  if (llvm::adjacent_find(axes) != axes.end())
    return e.fail("a tile axis runs along two dims of a resized value");
  return emitGathered(e, e.getMemory(input), ranges, ranges.size() - 1,
                      {positions, {ranges.back().axis}}, axes);
}

FailureOr<Emitted> KernelEmitter::emitResize(ResizeOp op,
                                             ArrayRef<DimRange> ranges) {
  if (op.getCoordinates() == CoordinateMode::TfCropAndResize)
    return fail("tf_crop_and_resize has no tile form");
  auto split = splitRanges(ranges, op.getResult());
  if (failed(split))
    return failure();
  Value positions;
  auto repeats = isRepeat(op, *split, positions);
  if (failed(repeats))
    return failure();
  if (*repeats && !positions)
    return emit(op.getInput(), *split);
  if (*repeats)
    return gatherAlongLast(*this, op.getInput(), *split, positions);
  bool sums = op.getMode() != ResizeMode::Nearest;
  if (sums && !isa<FloatType>(getElementTypeOrSelf(op.getResult())))
    return fail("interpolation of integers has no tile form");
  return Interpolation(*this, op, *split).run();
}

// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Windows without a product: pooling, and normalisation over adjacent channels.
// The window is a loop that carries a tile.
#include "Families.h"
#include "TileElementBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {
enum Axis { Line = 0, Pixel = 1, Channel = 2 };

/// A pooling op of either kind.
struct Pool {
  Value input, result;
  ArrayRef<int64_t> kernel, strides, pads, dilations;
  bool nhwc, isMax, includePad;
  Dims in, out;
  unsigned spatial, firstSpatial;

  static std::optional<Pool> get(Operation *op) {
    auto make = [](auto op, bool isMax, bool includePad) {
      Pool pool{op.getInput(),
                op.getResult(),
                op.getKernel(),
                op.getStrides(),
                op.getPads(),
                op.getDilations(),
                op.getLayout() == Layout::NHWC,
                isMax,
                includePad,
                getDims(op.getInput()),
                getDims(op.getResult()),
                0,
                0};
      pool.spatial = pool.in.size() - 2;
      pool.firstSpatial = pool.nhwc ? 1 : 2;
      return pool;
    };
    if (auto max = dyn_cast<MaxPoolOp>(op))
      return make(max, true, false);
    if (auto average = dyn_cast<AvgPoolOp>(op))
      return make(average, false, average.getCountIncludePad());
    return std::nullopt;
  }

  unsigned channelDim() const { return nhwc ? in.size() - 1 : 1; }

  /// Returns true if every window along dim d is inside of the input (or of the
  /// padding, if it counts): all windows then have equal numbers of elements.
  bool isFull(unsigned d) const {
    int64_t size = getKnown(in[firstSpatial + d]);
    int64_t windows = getKnown(out[firstSpatial + d]);
    int64_t low = pads[d], high = pads[d + spatial];
    if (size < 0 || windows < 0)
      return false;
    int64_t end =
        (windows - 1) * strides[d] + (kernel[d] - 1) * dilations[d] + 1;
    return includePad ? end <= size + low + high : low == 0 && end <= size;
  }
};
} // namespace

/// Returns the starts of windows along dim d: of a tile, one for each element.
static Emitted startWindows(KernelEmitter &e, const Pool &pool, unsigned d,
                            const DimRange &range) {
  OpBuilder &b = e.builder();
  Value first = e.sub(e.mul(range.offset, e.index(pool.strides[d])),
                      e.index(pool.pads[d]));
  if (range.axis < 0)
    return {first, {}};
  Axes axes{range.axis};
  auto all = [&](Value scalar) { return e.broadcast({scalar, {}}, axes); };
  Value steps = arith::MulIOp::create(
      b, e.loc(), e.emitPositions(range.axis, b.getIndexType()).value,
      all(e.index(pool.strides[d])));
  return {arith::AddIOp::create(b, e.loc(), all(first), steps), axes};
}

/// Returns the number of elements of the windows that count along dim d.
static Emitted countElements(KernelEmitter &e, const Pool &pool, unsigned d,
                             const DimRange &range) {
  OpBuilder &b = e.builder();
  Emitted start = startWindows(e, pool, d, range);
  auto all = [&](Value scalar) {
    return e.broadcast({scalar, {}}, start.axes);
  };
  auto number = [&](int64_t value) { return all(e.index(value)); };
  int64_t low = pool.includePad ? -pool.pads[d] : 0;
  Value high = e.size(pool.in[pool.firstSpatial + d]);
  if (pool.includePad)
    high = e.add(high, e.index(pool.pads[d + pool.spatial]));
  // Taps [first, last) are in [low, high).
  Value first = arith::MaxSIOp::create(
      b, e.loc(), number(0),
      arith::SubIOp::create(b, e.loc(), number(low), start.value));
  Value last = arith::SubIOp::create(b, e.loc(), all(high), start.value);
  if (pool.dilations[d] != 1) {
    Value step = number(pool.dilations[d]);
    first = arith::CeilDivSIOp::create(b, e.loc(), first, step);
    last = arith::CeilDivSIOp::create(b, e.loc(), last, step);
  }
  last = arith::MinSIOp::create(b, e.loc(), number(pool.kernel[d]), last);
  return {arith::SubIOp::create(b, e.loc(), last, first), start.axes};
}

namespace {
/// Emits the loops of a pooling kernel over the windows of a tile.
class PoolEmitter {
public:
  using Carried = KernelEmitter::Carried;

  PoolEmitter(KernelEmitter &e, const Pool &pool)
      : e(e), pool(pool), graphType(getElementTypeOrSelf(pool.result)),
        element(getSignlessType(graphType)),
        accType(pool.isMax ? element : getAccumulatorType(element)),
        combined(pool.isMax ? graphType : accType),
        combiner(pool.isMax ? Combiner::Max : Combiner::Add) {}

  LogicalResult run();

private:
  void chooseAxes();
  void setAxis(unsigned dim, int axis, Value block);
  FailureOr<DimRanges> makeRanges();
  bool unrolls(unsigned d) const;
  /// Combines the elements of the window from dim d on with the carried value,
  /// which is null at first.
  FailureOr<Value> combineWindow(unsigned d, DimRanges ranges, Value carried);
  Value combine(Value x, Value y);
  Value divideByCount(Value sum, ArrayRef<DimRange> ranges);

  KernelEmitter &e;
  const Pool &pool;
  Type graphType, element, accType, combined;
  Combiner combiner;
  Axes axes;
  RowBlock row{1, false};
  SmallVector<Value> blocks;
  SmallVector<int> axisOf;
};
} // namespace

void PoolEmitter::setAxis(unsigned dim, int axis, Value block) {
  axisOf[dim] = axis;
  blocks[dim] = block;
  e.setAxis(axis, block);
  axes.push_back(axis);
}

/// With channels last, blocks have pixels of a row, and channels. Otherwise
/// pixels are along the lanes, and lines whose windows overlap are processed
/// together, so that common elements are loaded and combined once.
void PoolEmitter::chooseAxes() {
  constexpr int64_t mostLines = 64, mostTaps = 25;
  unsigned rank = pool.out.size(), last = pool.firstSpatial + pool.spatial - 1;
  blocks.assign(rank, e.index(1));
  axisOf.assign(rank, -1);
  if (pool.nhwc) {
    bool full = true;
    for (unsigned d = 0; d < pool.spatial; ++d)
      full &= pool.isFull(d);
    if (pool.isMax || full) { // otherwise the count is a scalar of the program
      bool finds = !e.gpu && getKnown(pool.out[last]) < 0;
      row = chooseRowBlock(pool.out[last], finds ? unknownRun : 8);
      row.finds = finds;
      setAxis(last, Pixel, getSize(e, row));
    }
    setAxis(rank - 1, Channel,
            e.param("BLOCK_N", chooseLanes(getKnown(pool.out[rank - 1]), 256)));
    return;
  }
  int64_t taps = 1;
  for (int64_t size : pool.kernel)
    taps *= size;
  // A tile may not leave a dim of size 1.
  bool hasLines = pool.spatial > 1 && pool.kernel[pool.spatial - 2] > 1 &&
                  getKnown(pool.in[last - 1]) != 1;
  if (hasLines && taps <= mostTaps)
    setAxis(
        last - 1, Line,
        e.param("LINES", chooseBlock(getKnown(pool.out[last - 1]), mostLines)));
  setAxis(last, Pixel,
          e.param("BLOCK_P", chooseBlock(getKnown(pool.out[last]), 256)));
}

/// Returns true if the taps along dim d are unrolled.
bool PoolEmitter::unrolls(unsigned d) const {
  constexpr int64_t mostTaps = 16;
  int axis = axisOf[pool.firstSpatial + d];
  return axis >= 0 && (pool.nhwc ? unrollsTaps(row, pool.kernel[d])
                                 : pool.kernel[d] <= mostTaps);
}

FailureOr<DimRanges> PoolEmitter::makeRanges() {
  SmallVector<Value> counts;
  for (unsigned dim = pool.out.size(); dim-- > 0;) {
    Value count = e.size(pool.out[dim]);
    if (!count)
      return failure();
    counts.push_back(e.ceilDiv(count, blocks[dim]));
  }
  SmallVector<Value> ids = e.programIds(counts);
  std::reverse(ids.begin(), ids.end());
  DimRanges ranges;
  for (unsigned dim = 0; dim < pool.out.size(); ++dim)
    ranges.push_back({e.mul(ids[dim], blocks[dim]), axisOf[dim], 1, 1});
  return ranges;
}

Value PoolEmitter::combine(Value x, Value y) {
  TileElementBuilder builder(e, axes);
  return x ? buildCombine(builder, combiner, combined, x, y) : y;
}

FailureOr<Value> PoolEmitter::combineWindow(unsigned d, DimRanges ranges,
                                            Value carried) {
  if (d == pool.spatial) {
    auto x = e.emit(pool.input, ranges);
    if (failed(x))
      return failure();
    return combine(carried, e.broadcast(e.convert(*x, accType), axes));
  }
  unsigned dim = pool.firstSpatial + d;
  DimRange &range = ranges[dim];
  WindowDim window;
  window.start = e.sub(e.mul(range.offset, e.index(pool.strides[d])),
                       e.index(pool.pads[d]));
  window.extent = e.size(pool.in[dim]);
  if (!window.extent)
    return failure();
  window.taps = pool.kernel[d];
  window.dilation = pool.dilations[d];
  window.inside =
      areWindowsInside(pool.in[dim], pool.out[dim], pool.kernel[d],
                       pool.strides[d], pool.pads[d], pool.dilations[d]);
  bool isTile = range.axis >= 0, isUnrolled = unrolls(d);
  if (isTile && !window.inside && getKnown(pool.in[dim]) == 1)
    return e.fail("a window exceeds rows of one pixel");
  // Lines share the combined value of each row of their windows.
  bool byRows = isUnrolled && range.axis == Line;
  bool isFirst = true;
  auto inner = [&](Value tap, Value position,
                   ValueRange before) -> FailureOr<Carried> {
    range.offset = position;
    range.stride = isTile ? pool.strides[d] : 1;
    Value start =
        byRows || (isUnrolled && isFirst && !carried) ? Value() : before[0];
    auto next = combineWindow(d + 1, ranges, start);
    if (failed(next))
      return failure();
    Value sum = byRows
                    ? combine(isFirst && !carried ? Value() : before[0], *next)
                    : *next;
    isFirst = false;
    return Carried{sum};
  };
  Value init =
      carried ? carried : e.constant(getNeutral(combiner, combined), axes);
  auto result = isTile ? loopAllTaps(e, window, isUnrolled, init, inner)
                       : loopTaps(e, window, init, inner);
  if (failed(result))
    return failure();
  return (*result)[0];
}

/// Computes the mean from the sum, if windows at the border have fewer
/// elements.
Value PoolEmitter::divideByCount(Value sum, ArrayRef<DimRange> ranges) {
  OpBuilder &b = e.builder();
  Emitted count{e.index(1), {}};
  for (unsigned d = 0; d < pool.spatial; ++d) {
    Emitted own{e.index(pool.kernel[d]), {}};
    if (!pool.isFull(d))
      own = countElements(e, pool, d, ranges[pool.firstSpatial + d]);
    Axes both(count.axes);
    llvm::append_range(both, own.axes); // ascending, as the dims are
    count = {both.empty()
                 ? e.mul(count.value, own.value)
                 : arith::MulIOp::create(b, e.loc(), e.broadcast(count, both),
                                         e.broadcast(own, both))
                       .getResult(),
             both};
  }
  auto typed = [&](Type type) -> Type {
    return count.axes.empty() ? type : e.tileType(count.axes, type);
  };
  Value integer = arith::IndexCastOp::create(b, e.loc(), typed(b.getI32Type()),
                                             count.value);
  Value number = arith::SIToFPOp::create(b, e.loc(), typed(accType), integer);
  return arith::DivFOp::create(b, e.loc(), sum,
                               e.broadcast({number, count.axes}, axes));
}

LogicalResult PoolEmitter::run() {
  chooseAxes();
  auto ranges = makeRanges();
  if (failed(ranges))
    return failure();
  e.setPad(pool.isMax ? getNeutral(combiner, graphType) : TypedAttr());
  auto result = combineWindow(0, *ranges, {});
  e.setPad({});
  if (failed(result))
    return failure();
  if (!pool.isMax)
    result = divideByCount(*result, *ranges);
  e.define(pool.result, *ranges, e.convert({*result, axes}, element));
  return e.storeOutputs(pool.result, *ranges);
}

LogicalResult adze::emitPool(KernelEmitter &e, Operation *op, Tiling tiling) {
  if (tiling != Tiling::Dims)
    return e.fail("pooling has a tiling by dims only");
  return PoolEmitter(e, *Pool::get(op)).run();
}

/// Emits the sum of squares of adjacent elements along one dim, as shifted
/// loads.
LogicalResult adze::emitLRN(KernelEmitter &e, LRNOp op, Tiling tiling) {
  if (tiling != Tiling::Dims)
    return e.fail("LRN has a tiling by dims only");
  Dims dims = getDims(op.getResult());
  unsigned rank = dims.size(), axis = op.getAxis();
  Type element = getSignlessType(getElementTypeOrSelf(op.getResult()));
  Type accType = getAccumulatorType(element);
  Value block = e.param("BLOCK_N", chooseLanes(getKnown(dims.back()), 256));
  e.setAxis(Channel, block);
  Axes axes{Channel};
  SmallVector<Value> counts;
  for (unsigned dim = rank; dim-- > 0;) {
    Value count = e.size(dims[dim]);
    if (!count)
      return failure();
    counts.push_back(dim + 1 == rank ? e.ceilDiv(count, block) : count);
  }
  SmallVector<Value> ids = e.programIds(counts);
  std::reverse(ids.begin(), ids.end());
  DimRanges ranges;
  for (unsigned dim = 0; dim < rank; ++dim)
    ranges.push_back(dim + 1 == rank
                         ? DimRange{e.mul(ids[dim], block), Channel, 1, 1}
                         : DimRange{ids[dim], -1, 1, 1});
  OpBuilder &b = e.builder();
  Location loc = e.loc();
  Value sum = e.constant(b.getFloatAttr(accType, 0.0), axes);
  int64_t before = (op.getSize() - 1) / 2;
  auto total = e.loop(
      e.index(op.getSize()), e.index(1), sum,
      [&](Value tap, ValueRange carried) -> FailureOr<KernelEmitter::Carried> {
        DimRanges where = ranges;
        where[axis].offset =
            e.add(e.sub(where[axis].offset, e.index(before)), tap);
        auto x = e.emit(op.getInput(), where);
        if (failed(x))
          return failure();
        Value wide = e.broadcast(e.convert(*x, accType), axes);
        return KernelEmitter::Carried{
            math::FmaOp::create(b, loc, wide, wide, carried[0])};
      });
  if (failed(total))
    return failure();
  auto x = e.emit(op.getInput(), ranges);
  if (failed(x))
    return failure();
  auto number = [&](double value) {
    return e.constant(b.getFloatAttr(accType, value), axes);
  };
  double alpha = op.getAlpha().convertToDouble() / double(op.getSize());
  Value base = math::FmaOp::create(b, loc, (*total)[0], number(alpha),
                                   number(op.getBias().convertToDouble()));
  // The base is positive for all sensible biases, so base^-beta is computed by
  // logarithm and exponential.
  Value log = math::LogOp::create(b, loc, base);
  Value power = arith::MulFOp::create(b, loc, log,
                                      number(-op.getBeta().convertToDouble()));
  Value scale = math::ExpOp::create(b, loc, power);
  Value wide = e.broadcast(e.convert(*x, accType), axes);
  Value result = arith::MulFOp::create(b, loc, wide, scale);
  e.define(op.getResult(), ranges, e.convert({result, axes}, element));
  return e.storeOutputs(op.getResult(), ranges);
}

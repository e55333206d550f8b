// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Windows without a product: pooling, and normalisation over channels next to
// each other. The window is a loop that carries a tile.
#include "Families.h"
#include "TileElementBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {
enum Axis { Pixel = 0, Channel = 1 };

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

  /// Whether every window of dim d lies inside the input (or the padding, if
  /// that counts): then all windows have the same number of elements.
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

/// How many elements of the window at `start` along dim d count.
static Value countElements(KernelEmitter &e, const Pool &pool, unsigned d,
                           Value start) {
  OpBuilder &b = e.builder();
  int64_t low = pool.includePad ? -pool.pads[d] : 0;
  Value high = e.size(pool.in[pool.firstSpatial + d]);
  if (pool.includePad)
    high = e.add(high, e.index(pool.pads[d + pool.spatial]));
  Value step = e.index(pool.dilations[d]);
  // Taps [first, last) lie in [low, high).
  Value before = e.max(e.index(0), e.sub(e.index(low), start));
  Value first = before, last = e.sub(high, start);
  if (pool.dilations[d] != 1) {
    first = arith::CeilDivSIOp::create(b, e.loc(), before, step);
    last = arith::CeilDivSIOp::create(b, e.loc(), last, step);
  }
  last = e.min(e.index(pool.kernel[d]), last);
  return e.sub(last, first);
}

/// `body` for each element of the window at `places`, which become its places.
static FailureOr<KernelEmitter::Carried> loopWindow(
    KernelEmitter &e, const Pool &pool, const RowBlock &row, unsigned d,
    Places places, ValueRange carried,
    function_ref<FailureOr<KernelEmitter::Carried>(ArrayRef<Place>, ValueRange)>
        body) {
  if (d == pool.spatial)
    return body(places, carried);
  unsigned dim = pool.firstSpatial + d;
  Place &place = places[dim];
  WindowDim window;
  window.start = e.sub(e.mul(place.offset, e.index(pool.strides[d])),
                       e.index(pool.pads[d]));
  window.extent = e.size(pool.in[dim]);
  if (!window.extent)
    return failure();
  window.taps = pool.kernel[d];
  window.dilation = pool.dilations[d];
  window.inside =
      areWindowsInside(pool.in[dim], pool.out[dim], pool.kernel[d],
                       pool.strides[d], pool.pads[d], pool.dilations[d]);
  bool isRow = place.axis >= 0;
  if (isRow && !window.inside && getKnown(pool.in[dim]) == 1)
    return e.fail("a window that looks beyond rows of one pixel");
  auto inner = [&](Value tap, Value position, ValueRange carried) {
    place.offset = position;
    place.stride = isRow ? pool.strides[d] : 1;
    return loopWindow(e, pool, row, d + 1, places, carried, body);
  };
  return isRow ? loopAllTaps(e, window, unrollsTaps(row, window.taps), carried,
                             inner)
               : loopTaps(e, window, carried, inner);
}

/// The mean from the sum, where windows at the border hold fewer elements.
static Value divideByCount(KernelEmitter &e, const Pool &pool, Value sum,
                           ArrayRef<int> axes, ArrayRef<Value> starts,
                           Type accType) {
  OpBuilder &b = e.builder();
  Value count = e.index(1);
  for (unsigned d = 0; d < pool.spatial; ++d)
    count = e.mul(count, pool.isFull(d) ? e.index(pool.kernel[d])
                                        : countElements(e, pool, d, starts[d]));
  Value integer = arith::IndexCastOp::create(b, e.loc(), b.getI64Type(), count);
  Value number = arith::SIToFPOp::create(b, e.loc(), accType, integer);
  return arith::DivFOp::create(b, e.loc(), sum,
                               e.broadcast({number, {}}, axes));
}

/// Blocks of pixels of a row, and of channels where these are the last dim.
LogicalResult adze::emitPool(KernelEmitter &e, Operation *op, Cut cut) {
  if (cut != Cut::Dims)
    return e.fail("windows keep their dims");
  Pool pool = *Pool::get(op);
  bool full = true;
  for (unsigned d = 0; d < pool.spatial; ++d)
    full &= pool.isFull(d);
  bool pixelAxis = pool.isMax || full; // else the count is one a program
  Type graphType = getElementTypeOrSelf(pool.result);
  Type element = getSignlessType(graphType);
  Type accType = pool.isMax ? element : getAccumulatorType(element);
  unsigned rank = pool.out.size(),
           lastSpatial = pool.firstSpatial + pool.spatial - 1;
  Axes axes;
  SmallVector<Value> counts, blocks(rank, e.index(1));
  SmallVector<int> axisOf(rank, -1);
  RowBlock row{1, false};
  if (pixelAxis) {
    axisOf[lastSpatial] = Pixel;
    row = chooseRowBlock(pool.out[lastSpatial], pool.nhwc ? 8 : 256);
    row.whole &= pool.nhwc; // else it is along lanes, and cut as any row
    blocks[lastSpatial] = getSize(e, row);
    e.setAxis(Pixel, blocks[lastSpatial]);
    axes.push_back(Pixel);
  }
  if (pool.nhwc) {
    axisOf[rank - 1] = Channel;
    blocks[rank - 1] =
        e.param("BLOCK_N", chooseLanes(getKnown(pool.out[rank - 1]), 256));
    e.setAxis(Channel, blocks[rank - 1]);
    axes.push_back(Channel);
  }
  for (unsigned dim = rank; dim-- > 0;) {
    Value count = e.size(pool.out[dim]);
    if (!count)
      return failure();
    counts.push_back(e.ceilDiv(count, blocks[dim]));
  }
  SmallVector<Value> ids = e.programIds(counts);
  std::reverse(ids.begin(), ids.end());
  Places places;
  for (unsigned dim = 0; dim < rank; ++dim)
    places.push_back({e.mul(ids[dim], blocks[dim]), axisOf[dim], 1, 1});
  SmallVector<Value> starts;
  for (unsigned d = 0; d < pool.spatial; ++d)
    starts.push_back(e.sub(
        e.mul(places[pool.firstSpatial + d].offset, e.index(pool.strides[d])),
        e.index(pool.pads[d])));
  Combiner combiner = pool.isMax ? Combiner::Max : Combiner::Add;
  TypedAttr neutral = getNeutral(combiner, pool.isMax ? graphType : accType);
  Value init = e.constant(neutral, axes);
  e.setPad(pool.isMax ? neutral : TypedAttr());
  auto acc =
      loopWindow(e, pool, row, 0, places, init,
                 [&](ArrayRef<Place> where,
                     ValueRange carried) -> FailureOr<KernelEmitter::Carried> {
                   auto x = e.emit(pool.input, where);
                   if (failed(x))
                     return failure();
                   TileElementBuilder builder(e, axes);
                   Value wide = e.broadcast(e.convert(*x, accType), axes);
                   return KernelEmitter::Carried{buildCombine(
                       builder, combiner, pool.isMax ? graphType : accType,
                       carried[0], wide)};
                 });
  e.setPad({});
  if (failed(acc))
    return failure();
  Value result = (*acc)[0];
  if (!pool.isMax) {
    result = divideByCount(e, pool, result, axes, starts, accType);
  }
  e.define(pool.result, places, e.convert({result, axes}, element));
  return e.storeOutputs(pool.result, places);
}

/// The sum of squares of neighbours along one dim, as shifted loads.
LogicalResult adze::emitLRN(KernelEmitter &e, LRNOp op, Cut cut) {
  if (cut != Cut::Dims)
    return e.fail("neighbours keep their dims");
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
  Places places;
  for (unsigned dim = 0; dim < rank; ++dim)
    places.push_back(dim + 1 == rank
                         ? Place{e.mul(ids[dim], block), Channel, 1, 1}
                         : Place{ids[dim], -1, 1, 1});
  OpBuilder &b = e.builder();
  Location loc = e.loc();
  Value sum = e.constant(b.getFloatAttr(accType, 0.0), axes);
  int64_t before = (op.getSize() - 1) / 2;
  auto total = e.loop(
      e.index(op.getSize()), e.index(1), sum,
      [&](Value tap, ValueRange carried) -> FailureOr<KernelEmitter::Carried> {
        Places where = places;
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
  auto x = e.emit(op.getInput(), places);
  if (failed(x))
    return failure();
  auto number = [&](double value) {
    return e.constant(b.getFloatAttr(accType, value), axes);
  };
  double alpha = op.getAlpha().convertToDouble() / double(op.getSize());
  Value base = math::FmaOp::create(b, loc, (*total)[0], number(alpha),
                                   number(op.getBias().convertToDouble()));
  // base > 0 for every sensible bias: base^-beta by logarithm and exponential.
  Value log = math::LogOp::create(b, loc, base);
  Value power = arith::MulFOp::create(b, loc, log,
                                      number(-op.getBeta().convertToDouble()));
  Value scale = math::ExpOp::create(b, loc, power);
  Value wide = e.broadcast(e.convert(*x, accType), axes);
  Value result = arith::MulFOp::create(b, loc, wide, scale);
  e.define(op.getResult(), places, e.convert({result, axes}, element));
  return e.storeOutputs(op.getResult(), places);
}

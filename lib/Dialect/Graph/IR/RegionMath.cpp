// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Arithmetic of graph.roi_align and graph.select_boxes.
#include "Dialect/Graph/IR/RegionMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace adze::graph;

namespace {

/// Creates arithmetic on floats of the type of a value.
struct Floats {
  Floats(ElementBuilder &b, Value like)
      : b(b), type(getElementTypeOrSelf(like)) {}

  template <typename OpT>
  Value make(Value x, Value y) {
    return OpT::create(b.builder, b.loc, x, y);
  }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b.builder, b.loc, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b.builder, b.loc, condition, x, y);
  }
  Value number(double value) { return b.number(type, value); }

  ElementBuilder &b;
  Type type;
};

using Predicate = arith::CmpFPredicate;

} // namespace

// A comparison selects the greater of two coordinates, so that NaN is treated
// as the run time treats it.
Value adze::graph::buildOverlap(ElementBuilder &b, const Box &x, const Box &y,
                                double threshold) {
  Floats f(b, x[0]);
  auto isBelow = [&](Value lhs, Value rhs) {
    return f.compare(Predicate::OLT, lhs, rhs);
  };
  Value zero = f.number(0), common;
  for (unsigned dim : {0u, 1u}) {
    Value low = f.select(isBelow(y[dim], x[dim]), x[dim], y[dim]);
    Value high =
        f.select(isBelow(x[dim + 2], y[dim + 2]), x[dim + 2], y[dim + 2]);
    Value length =
        f.select(isBelow(low, high), f.make<arith::SubFOp>(high, low), zero);
    common = common ? f.make<arith::MulFOp>(common, length) : length;
  }
  Value all = f.make<arith::SubFOp>(f.make<arith::AddFOp>(x[4], y[4]), common);
  Value isMore =
      isBelow(f.number(threshold), f.make<arith::DivFOp>(common, all));
  for (Value area : {x[4], y[4], all})
    isMore = f.make<arith::AndIOp>(isMore, isBelow(zero, area));
  return isMore;
}

RegionExtent adze::graph::buildExtent(ElementBuilder &b, RoiAlignOp op,
                                      Value from, Value to, Value bins) {
  Floats f(b, from);
  Value scale = f.number(op.getScale().convertToDouble()),
        offset = f.number(op.getHalfPixel() ? 0.5 : 0.0);
  auto scaled = [&](Value x) {
    return f.make<arith::SubFOp>(f.make<arith::MulFOp>(x, scale), offset);
  };
  Value start = scaled(from);
  Value length = f.make<arith::SubFOp>(scaled(to), start);
  if (!op.getHalfPixel())
    length = f.make<arith::MaximumFOp>(length, f.number(1));
  return {start, f.make<arith::DivFOp>(length, bins)};
}

Value adze::graph::buildSampleCount(ElementBuilder &b,
                                    const RegionExtent &extent) {
  constexpr double most = 1 << 20; // floats beyond all integers have no integer
  Floats f(b, extent.bin);
  Value count = math::CeilOp::create(b.builder, b.loc, extent.bin);
  return f.make<arith::MinimumFOp>(
      f.make<arith::MaximumFOp>(count, f.number(0)), f.number(most));
}

Value adze::graph::buildPosition(ElementBuilder &b, const RegionExtent &extent,
                                 Value bin, Value i, Value samples) {
  Floats f(b, bin);
  Value within =
      f.make<arith::DivFOp>(f.make<arith::AddFOp>(i, f.number(0.5)), samples);
  return f.make<arith::AddFOp>(
      extent.start,
      f.make<arith::MulFOp>(f.make<arith::AddFOp>(bin, within), extent.bin));
}

RegionSample adze::graph::buildSample(ElementBuilder &b, Value position,
                                      Value size) {
  Floats f(b, position);
  RegionSample s;
  s.inside =
      f.make<arith::AndIOp>(f.compare(Predicate::OGE, position, f.number(-1)),
                            f.compare(Predicate::OLE, position, size));
  Value last = f.make<arith::SubFOp>(size, f.number(1));
  Value bounded = f.make<arith::MinimumFOp>(
      f.make<arith::MaximumFOp>(position, f.number(0)), last);
  s.low = math::FloorOp::create(b.builder, b.loc, bounded);
  s.highWeight = f.make<arith::SubFOp>(bounded, s.low);
  s.lowWeight = f.make<arith::SubFOp>(f.number(1), s.highWeight);
  return s;
}

Value adze::graph::buildInterpolation(ElementBuilder &b, RoiAlignOp op,
                                      const RegionSample &y,
                                      const RegionSample &x,
                                      const std::array<Value, 4> &pixels) {
  Floats f(b, pixels[0]);
  std::array<Value, 4> weighted;
  for (unsigned i = 0; i < 4; ++i) {
    Value weight = f.make<arith::MulFOp>(i < 2 ? y.lowWeight : y.highWeight,
                                         i % 2 ? x.highWeight : x.lowWeight);
    weighted[i] = f.make<arith::MulFOp>(weight, pixels[i]);
  }
  auto [p, q, r, s] = weighted;
  Value value = op.getMax()
                    ? f.make<arith::MaximumFOp>(f.make<arith::MaximumFOp>(p, q),
                                                f.make<arith::MaximumFOp>(r, s))
                    : f.make<arith::AddFOp>(f.make<arith::AddFOp>(p, q),
                                            f.make<arith::AddFOp>(r, s));
  return f.select(f.make<arith::AndIOp>(y.inside, x.inside), value,
                  f.number(0));
}

Value adze::graph::buildNoSamples(ElementBuilder &b, RoiAlignOp op, Type type) {
  return b.number(type, op.getMax() ? -INFINITY : 0);
}

Value adze::graph::buildFold(ElementBuilder &b, RoiAlignOp op, Value folded,
                             Value sample) {
  Floats f(b, sample);
  return op.getMax() ? f.make<arith::MaximumFOp>(folded, sample)
                     : f.make<arith::AddFOp>(folded, sample);
}

Value adze::graph::buildBin(ElementBuilder &b, RoiAlignOp op, Value folded,
                            Value count) {
  Floats f(b, folded);
  Value isEmpty = f.compare(Predicate::OEQ, count, f.number(0));
  if (!op.getMax())
    folded = f.make<arith::DivFOp>(
        folded, f.make<arith::MaximumFOp>(count, f.number(1)));
  return f.select(isEmpty, f.number(0), folded);
}

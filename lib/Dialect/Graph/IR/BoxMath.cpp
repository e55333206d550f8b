// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Arithmetic on boxes. A comparison selects the greater of two coordinates, so
// that NaN is treated as the run time treats it.
#include "Dialect/Graph/IR/BoxMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace adze::graph;

namespace {

/// Creates arithmetic on floats.
struct Floats {
  ElementBuilder &b;

  template <typename OpT>
  Value make(Value x, Value y) {
    return OpT::create(b.builder, b.loc, x, y);
  }
  Value isBelow(Value x, Value y) {
    return arith::CmpFOp::create(b.builder, b.loc, arith::CmpFPredicate::OLT, x,
                                 y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b.builder, b.loc, condition, x, y);
  }
  Value number(double value) { return b.number(b.builder.getF32Type(), value); }
};

} // namespace

Value adze::graph::buildOverlap(ElementBuilder &b, const Box &x, const Box &y,
                                double threshold) {
  Floats f{b};
  Value zero = f.number(0), common;
  for (unsigned dim : {0u, 1u}) {
    Value low = f.select(f.isBelow(y[dim], x[dim]), x[dim], y[dim]);
    Value high =
        f.select(f.isBelow(x[dim + 2], y[dim + 2]), x[dim + 2], y[dim + 2]);
    Value length =
        f.select(f.isBelow(low, high), f.make<arith::SubFOp>(high, low), zero);
    common = common ? f.make<arith::MulFOp>(common, length) : length;
  }
  Value all = f.make<arith::SubFOp>(f.make<arith::AddFOp>(x[4], y[4]), common);
  Value isMore =
      f.isBelow(f.number(threshold), f.make<arith::DivFOp>(common, all));
  for (Value area : {x[4], y[4], all})
    isMore = f.make<arith::AndIOp>(isMore, f.isBelow(zero, area));
  return isMore;
}

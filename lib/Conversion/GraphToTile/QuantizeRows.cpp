// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Quantizes rows of floats to bytes, with a scale and a zero point for each
// row.
#include "Convolution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

QuantizedRows adze::quantizeRows(KernelEmitter &e, const Emitted &rows) {
  constexpr double steps = 255;
  OpBuilder &b = e.builder();
  Location loc = e.loc();
  Type type = getElementTypeOrSelf(rows.value.getType());
  auto ofRow = [&](double value) {
    return e.constant(b.getFloatAttr(type, value), {M});
  };
  auto wide = [&](Value tile) { return e.broadcast({tile, {M}}, {M, K}); };
  auto limit = [&](Value x, Value low, Value high) -> Value {
    x = arith::MaximumFOp::create(b, loc, x, low);
    return arith::MinimumFOp::create(b, loc, x, high);
  };
  auto toInteger = [&](Value x, ArrayRef<int> axes) -> Value {
    return arith::FPToSIOp::create(b, loc, e.tileType(axes, b.getI32Type()), x);
  };
  Value none = ofRow(0), most = ofRow(steps);
  Value low = arith::MinimumFOp::create(
      b, loc, e.reduce(Combiner::Min, type, rows, K).value, none);
  Value high = arith::MaximumFOp::create(
      b, loc, e.reduce(Combiner::Max, type, rows, K).value, none);
  Value range = arith::SubFOp::create(b, loc, high, low);
  Value isZero =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, range, none);
  Value scale = arith::SelectOp::create(
      b, loc, isZero, ofRow(1), arith::DivFOp::create(b, loc, range, most));
  Value zero = arith::SubFOp::create(b, loc, none,
                                     arith::DivFOp::create(b, loc, low, scale));
  zero = math::RoundEvenOp::create(b, loc, limit(zero, none, most));
  Value x = arith::DivFOp::create(b, loc, rows.value, wide(scale));
  x = arith::AddFOp::create(b, loc, math::RoundEvenOp::create(b, loc, x),
                            wide(zero));
  x = toInteger(limit(x, wide(none), wide(most)), {M, K});
  Value bytes =
      arith::TruncIOp::create(b, loc, e.tileType({M, K}, b.getI8Type()), x);
  return {{bytes, {M, K}}, {scale, {M}}, {toInteger(zero, {M}), {M}}};
}

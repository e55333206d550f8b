// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Expands functions of integers.
#include "IntegerMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace adze::cuda {

static void expandAbs(math::AbsIOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value x = op.getOperand();
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(x.getType()));
  Value minus = arith::SubIOp::create(b, loc, zero, x);
  op.replaceAllUsesWith(arith::MaxSIOp::create(b, loc, x, minus).getResult());
  op.erase();
}

/// A power with a negative exponent is 0, unless the base is 1 or -1. Others
/// are computed by repeated squaring.
static void expandPower(math::IPowIOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Type type = op.getType();
  Value base = op.getLhs(), exponent = op.getRhs();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  };
  Value zero = number(0), one = number(1), minusOne = number(-1);
  auto is = [&](arith::CmpIPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  };
  auto select = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(b, loc, condition, x, y);
  };
  auto isOdd = [&](Value x) {
    return is(arith::CmpIPredicate::ne, arith::AndIOp::create(b, loc, x, one),
              zero);
  };
  auto loop = scf::WhileOp::create(
      b, loc, TypeRange{type, type, type}, ValueRange{one, base, exponent},
      [&](OpBuilder &, Location, ValueRange values) {
        Value goesOn = is(arith::CmpIPredicate::sgt, values[2], zero);
        scf::ConditionOp::create(b, loc, goesOn, values);
      },
      [&](OpBuilder &, Location, ValueRange values) {
        Value product = arith::MulIOp::create(b, loc, values[0], values[1]);
        Value next = select(isOdd(values[2]), product, values[0]);
        Value square = arith::MulIOp::create(b, loc, values[1], values[1]);
        Value half = arith::ShRUIOp::create(b, loc, values[2], one);
        scf::YieldOp::create(b, loc, ValueRange{next, square, half});
      });
  b.setInsertionPointAfter(loop);
  Value sign = select(isOdd(exponent), minusOne, one);
  Value inverse =
      select(is(arith::CmpIPredicate::eq, base, minusOne), sign, zero);
  inverse = select(is(arith::CmpIPredicate::eq, base, one), one, inverse);
  Value isNegative = is(arith::CmpIPredicate::slt, exponent, zero);
  op.replaceAllUsesWith(select(isNegative, inverse, loop.getResult(0)));
  op.erase();
}

void expandIntegerMath(Operation *root) {
  root->walk([](Operation *op) {
    if (auto abs = dyn_cast<math::AbsIOp>(op))
      expandAbs(abs);
    else if (auto power = dyn_cast<math::IPowIOp>(op))
      expandPower(power);
  });
}

} // namespace adze::cuda

// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The arithmetic of all elementwise ops, on scalars and on tiles.
#include "Dialect/Graph/IR/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace adze::graph;
using arith::CmpFPredicate, arith::CmpIPredicate;

static bool isNarrowFloat(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
}

Value ElementwiseOpInterface::buildBody(ElementBuilder &b,
                                        ValueRange operands) {
  // Conversions and selections are exact without widening.
  bool exact = isa<CastOp, BitcastOp, SelectOp>(getOperation());
  if (exact || llvm::none_of(operands.getTypes(), isNarrowFloat))
    return buildArith(b, operands);
  Type f32 = b.builder.getF32Type();
  SmallVector<Value> wide(operands);
  for (Value &operand : wide)
    if (isNarrowFloat(operand.getType()))
      operand = arith::ExtFOp::create(b.builder, b.loc,
                                      b.typeLike(f32, operand), operand);
  Value result = buildArith(b, wide);
  Type element = getElementTypeOrSelf(getOperation()->getResult(0).getType());
  if (!isNarrowFloat(element))
    return result;
  return arith::TruncFOp::create(b.builder, b.loc, b.typeLike(element, result),
                                 result);
}

namespace {

/// Emits arithmetic on values of one element type, float or integer.
class Emitter {
public:
  /// `like` determines the type of numbers, `op` the signedness of integers.
  Emitter(ElementBuilder &b, Operation *op, Value like)
      : b(b), type(getElementTypeOrSelf(like)), isFloat(isa<FloatType>(type)) {
    Type declared =
        getElementTypeOrSelf(op->getOperand(op->getNumOperands() - 1));
    isUnsigned = declared.isUnsignedInteger() || declared.isInteger(1);
  }

  template <typename OpT, typename... Args>
  Value make(Args... args) {
    return OpT::create(b.builder, b.loc, args...);
  }
  Value num(double value) { return b.number(type, value); }
  Value add(Value x, Value y) {
    return isFloat ? make<arith::AddFOp>(x, y) : make<arith::AddIOp>(x, y);
  }
  Value sub(Value x, Value y) {
    return isFloat ? make<arith::SubFOp>(x, y) : make<arith::SubIOp>(x, y);
  }
  Value mul(Value x, Value y) {
    return isFloat ? make<arith::MulFOp>(x, y) : make<arith::MulIOp>(x, y);
  }
  Value div(Value x, Value y) {
    if (isFloat)
      return make<arith::DivFOp>(x, y);
    return isUnsigned ? make<arith::DivUIOp>(x, nonZero(y))
                      : signedDiv(x, y, /*remainder=*/false);
  }
  /// Returns the remainder with the sign of the dividend.
  Value rem(Value x, Value y) {
    if (isFloat)
      return make<arith::RemFOp>(x, y);
    return isUnsigned ? make<arith::RemUIOp>(x, nonZero(y))
                      : signedDiv(x, y, /*remainder=*/true);
  }
  Value max(Value x, Value y) { return combine(Combiner::Max, x, y); }
  Value min(Value x, Value y) { return combine(Combiner::Min, x, y); }
  Value select(Value condition, Value x, Value y) {
    return make<arith::SelectOp>(condition, x, y);
  }
  Value compare(CmpFPredicate floating, CmpIPredicate asSigned,
                CmpIPredicate asUnsigned, Value x, Value y) {
    if (isFloat)
      return make<arith::CmpFOp>(floating, x, y);
    return make<arith::CmpIOp>(isUnsigned ? asUnsigned : asSigned, x, y);
  }
  Value less(Value x, Value y) {
    return compare(CmpFPredicate::OLT, CmpIPredicate::slt, CmpIPredicate::ult,
                   x, y);
  }
  Value greater(Value x, Value y) { return less(y, x); }
  Value equal(Value x, Value y) {
    return compare(CmpFPredicate::OEQ, CmpIPredicate::eq, CmpIPredicate::eq, x,
                   y);
  }

  ElementBuilder &b;
  Type type;
  bool isFloat, isUnsigned;

private:
  Value combine(Combiner combiner, Value x, Value y) {
    Type declared =
        isFloat || !isUnsigned
            ? type
            : IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth(),
                               IntegerType::Unsigned);
    return buildCombine(b, combiner, declared, x, y);
  }
  /// Division by zero must not trap; its result is unspecified.
  Value nonZero(Value y) {
    return select(equal(y, num(0)), b.integer(type, 1), y);
  }
  /// The division of the least integer by -1 must not trap either: it results
  /// in -x, with remainder 0.
  Value signedDiv(Value x, Value y, bool remainder) {
    Value minusOne = equal(y, b.integer(type, -1));
    Value safe = select(minusOne, b.integer(type, 1), nonZero(y));
    if (remainder)
      return make<arith::RemSIOp>(x, safe);
    return select(minusOne, sub(num(0), x), make<arith::DivSIOp>(x, safe));
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// One math op
//===----------------------------------------------------------------------===//

#define ADZE_MATH_BODY(OP, MATH)                                               \
  Value OP::buildArith(ElementBuilder &b, ValueRange x) {                      \
    return math::MATH::create(b.builder, b.loc, x[0]);                         \
  }
ADZE_MATH_BODY(ExpOp, ExpOp)
ADZE_MATH_BODY(LogOp, LogOp)
ADZE_MATH_BODY(SqrtOp, SqrtOp)
ADZE_MATH_BODY(FloorOp, FloorOp)
ADZE_MATH_BODY(CeilOp, CeilOp)
ADZE_MATH_BODY(RoundOp, RoundEvenOp)
ADZE_MATH_BODY(SinOp, SinOp)
ADZE_MATH_BODY(CosOp, CosOp)
ADZE_MATH_BODY(TanOp, TanOp)
ADZE_MATH_BODY(AsinOp, AsinOp)
ADZE_MATH_BODY(AcosOp, AcosOp)
ADZE_MATH_BODY(AtanOp, AtanOp)
ADZE_MATH_BODY(SinhOp, SinhOp)
ADZE_MATH_BODY(CoshOp, CoshOp)
ADZE_MATH_BODY(TanhOp, TanhOp)
ADZE_MATH_BODY(AsinhOp, AsinhOp)
ADZE_MATH_BODY(AcoshOp, AcoshOp)
ADZE_MATH_BODY(AtanhOp, AtanhOp)
ADZE_MATH_BODY(ErfOp, ErfOp)
#undef ADZE_MATH_BODY

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

#define ADZE_BODY(OP)                                                          \
  static Value build##OP(OP op, Emitter e, ValueRange x);                      \
  Value OP::buildArith(ElementBuilder &b, ValueRange x) {                      \
    return build##OP(*this, Emitter(b, *this, x.back()), x);                   \
  }                                                                            \
  static Value build##OP(OP op, Emitter e, ValueRange x)

ADZE_BODY(AbsOp) {
  if (e.isFloat)
    return e.make<math::AbsFOp>(x[0]);
  return e.isUnsigned ? x[0] : e.make<math::AbsIOp>(x[0]);
}

ADZE_BODY(NegOp) {
  return e.isFloat ? e.make<arith::NegFOp>(x[0]) : e.sub(e.num(0), x[0]);
}

ADZE_BODY(SignOp) {
  Value zero = e.num(0);
  Value negative =
      e.isUnsigned ? x[0] : e.select(e.less(x[0], zero), e.num(-1), x[0]);
  return e.select(e.greater(x[0], zero), e.num(1), negative);
}

ADZE_BODY(ReciprocalOp) { return e.div(e.num(1), x[0]); }

ADZE_BODY(ReluOp) { return e.max(x[0], e.num(0)); }

/// Returns y / (1 + e^-x).
static Value divideByLogistic(Emitter &e, Value y, Value x) {
  Value exp = e.make<math::ExpOp>(e.make<arith::NegFOp>(x), tinyIsZero);
  return e.div(y, e.add(e.num(1), exp));
}

ADZE_BODY(SigmoidOp) { return divideByLogistic(e, e.num(1), x[0]); }

// There is one division: the sigmoid of -88 is subnormal, but its product with
// x is not.
ADZE_BODY(SiluOp) { return divideByLogistic(e, x[0], x[0]); }

/// Returns max(x, 0) + ln(1 + e^-|x|).
static Value softplus(Emitter &e, Value x) {
  Value exp =
      e.make<math::ExpOp>(e.make<arith::NegFOp>(e.make<math::AbsFOp>(x)));
  return e.add(e.max(x, e.num(0)), e.make<math::Log1pOp>(exp));
}

ADZE_BODY(SoftplusOp) { return softplus(e, x[0]); }

ADZE_BODY(MishOp) {
  return e.mul(x[0], e.make<math::TanhOp>(softplus(e, x[0])));
}

ADZE_BODY(SoftsignOp) {
  return e.div(x[0], e.add(e.num(1), e.make<math::AbsFOp>(x[0])));
}

ADZE_BODY(GeluOp) {
  if (op.getApproximate() == GeluMode::Tanh) {
    // x (1 + tanh u) / 2 = x / (1 + e^-2u), which has no cancellation below 0,
    // with u = sqrt(2 / pi) (x + 0.044715 x^3) and e^-2u = 2^(x (c + 0.044715 c
    // x^2)).
    Value slope = e.add(e.num(-2.30220819814432520),
                        e.mul(e.num(-0.10294323958002349), e.mul(x[0], x[0])));
    Value exp = e.make<math::Exp2Op>(e.mul(x[0], slope), tinyIsZero);
    return e.div(x[0], e.add(e.num(1), exp));
  }
  Value inner = e.make<math::ErfOp>(e.mul(x[0], e.num(0.70710678118654752440)));
  return e.mul(e.mul(x[0], e.num(0.5)), e.add(inner, e.num(1)));
}

/// Returns max(0, min(1, alpha * x + beta)).
static Value hardSigmoid(Emitter &e, Value x, double alpha, double beta) {
  Value line = e.add(e.mul(x, e.num(alpha)), e.num(beta));
  return e.max(e.min(line, e.num(1)), e.num(0));
}

ADZE_BODY(HardSigmoidOp) {
  return hardSigmoid(e, x[0], op.getAlpha().convertToDouble(),
                     op.getBeta().convertToDouble());
}

ADZE_BODY(HardSwishOp) {
  return e.mul(x[0], hardSigmoid(e, x[0], 1.0 / 6.0, 0.5));
}

ADZE_BODY(LeakyReluOp) {
  Value scaled = e.mul(x[0], e.num(op.getAlpha().convertToDouble()));
  return e.select(e.less(x[0], e.num(0)), scaled, x[0]);
}

/// Returns x for x > 0, else alpha * (e^x - 1).
static Value elu(Emitter &e, Value x, double alpha) {
  Value curve = e.mul(e.num(alpha), e.make<math::ExpM1Op>(x));
  return e.select(e.greater(x, e.num(0)), x, curve);
}

ADZE_BODY(EluOp) { return elu(e, x[0], op.getAlpha().convertToDouble()); }

ADZE_BODY(SeluOp) {
  return e.mul(e.num(op.getGamma().convertToDouble()),
               elu(e, x[0], op.getAlpha().convertToDouble()));
}

ADZE_BODY(CeluOp) {
  Value alpha = e.num(op.getAlpha().convertToDouble());
  Value curve = e.mul(alpha, e.make<math::ExpM1Op>(e.div(x[0], alpha)));
  return e.add(e.max(x[0], e.num(0)), e.min(curve, e.num(0)));
}

ADZE_BODY(ThresholdedReluOp) {
  Value alpha = e.num(op.getAlpha().convertToDouble());
  return e.select(e.greater(x[0], alpha), x[0], e.num(0));
}

ADZE_BODY(NotOp) {
  return e.make<arith::XOrIOp>(x[0], e.b.integer(e.type, -1));
}

ADZE_BODY(BitwiseNotOp) {
  return e.make<arith::XOrIOp>(x[0], e.b.integer(e.type, -1));
}

ADZE_BODY(IsNanOp) {
  return e.make<arith::CmpFOp>(CmpFPredicate::UNO, x[0], x[0]);
}

ADZE_BODY(IsInfOp) {
  auto infinity = [&](bool negative) {
    auto type = cast<FloatType>(e.type);
    return e.b.constant(FloatAttr::get(
        type, APFloat::getInf(type.getFloatSemantics(), negative)));
  };
  Value result = e.b.integer(e.b.builder.getI1Type(), 0);
  if (op.getDetectPositive())
    result = e.equal(x[0], infinity(false));
  if (op.getDetectNegative()) {
    Value negative = e.equal(x[0], infinity(true));
    result = op.getDetectPositive() ? e.make<arith::OrIOp>(result, negative)
                                    : negative;
  }
  return result;
}

Value CastOp::buildArith(ElementBuilder &b, ValueRange x) {
  return buildCast(b, x[0], getElementTypeOrSelf(getInput()),
                   getElementTypeOrSelf(getResult()),
                   {getSaturate(), getRound()});
}

Value ByteLookupOp::buildArith(ElementBuilder &b, ValueRange x) {
  auto table = cast<DenseElementsAttr>(getTable());
  return b.lookUp(x[0], table.bitcast(b.builder.getI8Type()));
}

Value BitcastOp::buildArith(ElementBuilder &b, ValueRange x) {
  Type to = getSignlessType(getElementTypeOrSelf(getResult()));
  if (getElementTypeOrSelf(x[0]) == to)
    return x[0];
  return arith::BitcastOp::create(b.builder, b.loc, b.typeLike(to, x[0]), x[0]);
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

ADZE_BODY(AddOp) { return e.add(x[0], x[1]); }
ADZE_BODY(SubOp) { return e.sub(x[0], x[1]); }
ADZE_BODY(MulOp) { return e.mul(x[0], x[1]); }
ADZE_BODY(DivOp) { return e.div(x[0], x[1]); }
ADZE_BODY(MinimumOp) { return e.min(x[0], x[1]); }
ADZE_BODY(MaximumOp) { return e.max(x[0], x[1]); }
ADZE_BODY(FmodOp) { return e.rem(x[0], x[1]); }

ADZE_BODY(ModOp) {
  Value rest = e.rem(x[0], x[1]);
  if (e.isUnsigned)
    return rest;
  // If the signs differ, the divisor is added.
  Value zero = e.num(0);
  Value differ = e.make<arith::XOrIOp>(e.less(rest, zero), e.less(x[1], zero));
  Value nonZero = e.make<arith::XOrIOp>(
      e.equal(rest, zero), e.b.integer(e.b.builder.getI1Type(), -1));
  Value adjust = e.make<arith::AndIOp>(differ, nonZero);
  return e.select(adjust, e.add(rest, x[1]), rest);
}

ADZE_BODY(PowOp) {
  return e.isFloat ? e.make<math::PowFOp>(x[0], x[1])
                   : e.make<math::IPowIOp>(x[0], x[1]);
}

ADZE_BODY(PreluOp) {
  if (e.isUnsigned)
    return x[0];
  return e.select(e.less(x[0], e.num(0)), e.mul(x[0], x[1]), x[0]);
}

ADZE_BODY(AndOp) { return e.make<arith::AndIOp>(x[0], x[1]); }
ADZE_BODY(OrOp) { return e.make<arith::OrIOp>(x[0], x[1]); }
ADZE_BODY(XorOp) { return e.make<arith::XOrIOp>(x[0], x[1]); }
ADZE_BODY(BitwiseAndOp) { return e.make<arith::AndIOp>(x[0], x[1]); }
ADZE_BODY(BitwiseOrOp) { return e.make<arith::OrIOp>(x[0], x[1]); }
ADZE_BODY(BitwiseXorOp) { return e.make<arith::XOrIOp>(x[0], x[1]); }

ADZE_BODY(ShiftLeftOp) {
  Value width = e.b.integer(e.type, e.type.getIntOrFloatBitWidth());
  Value inRange = e.make<arith::CmpIOp>(CmpIPredicate::ult, x[1], width);
  Value shift = e.select(inRange, x[1], e.num(0));
  return e.select(inRange, e.make<arith::ShLIOp>(x[0], shift), e.num(0));
}

ADZE_BODY(ShiftRightOp) {
  int64_t bits = e.type.getIntOrFloatBitWidth();
  Value inRange = e.make<arith::CmpIOp>(CmpIPredicate::ult, x[1],
                                        e.b.integer(e.type, bits));
  Value most = e.b.integer(e.type, bits - 1);
  Value shift = e.select(inRange, x[1], most);
  if (!e.isUnsigned)
    return e.make<arith::ShRSIOp>(x[0], shift);
  return e.select(inRange, e.make<arith::ShRUIOp>(x[0], shift), e.num(0));
}

ADZE_BODY(EqualOp) { return e.equal(x[0], x[1]); }
ADZE_BODY(LessOp) { return e.less(x[0], x[1]); }
ADZE_BODY(GreaterOp) { return e.less(x[1], x[0]); }
ADZE_BODY(LessEqualOp) {
  return e.compare(CmpFPredicate::OLE, CmpIPredicate::sle, CmpIPredicate::ule,
                   x[0], x[1]);
}
ADZE_BODY(GreaterEqualOp) {
  return e.compare(CmpFPredicate::OGE, CmpIPredicate::sge, CmpIPredicate::uge,
                   x[0], x[1]);
}

ADZE_BODY(SelectOp) { return e.select(x[0], x[1], x[2]); }
#undef ADZE_BODY

// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Conversions between f32 and floats of at most 8 bits, whose bits are integers
// in memory and arithmetic, by the parameters of their format.
#include "SmallFloats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;
using namespace adze::graph;

bool adze::graph::isSmallFloat(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() <= 8;
}

bool adze::graph::isPacked(Type type) {
  return type.isIntOrFloat() && !type.isInteger(1) &&
         type.getIntOrFloatBitWidth() < 8;
}

namespace {

/// A format: sign, exponent and mantissa.
struct Format {
  explicit Format(FloatType type) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    bits = type.getWidth();
    mantissa = APFloat::semanticsPrecision(semantics) - 1;
    bias = 1 - APFloat::semanticsMinExponent(semantics);
    magnitudeMask = (1u << (bits - 1)) - 1;
    greatest = getBits(APFloat::getLargest(semantics)) & magnitudeMask;
    hasInf = APFloat::semanticsHasInf(semantics);
    hasNaN = APFloat::semanticsHasNaN(semantics);
    if (hasInf)
      infinity = getBits(APFloat::getInf(semantics));
    if (hasNaN)
      nan = getBits(APFloat::getNaN(semantics));
    // In some formats, the pattern of -0 is the only NaN.
    nanIsNegativeZero = hasNaN && nan == 1u << (bits - 1);
  }
  static unsigned getBits(const APFloat &value) {
    return unsigned(value.bitcastToAPInt().getZExtValue());
  }

  unsigned bits, mantissa, magnitudeMask, greatest, infinity = 0, nan = 0;
  int bias;
  bool hasInf, hasNaN, nanIsNegativeZero = false;
};

/// Arithmetic on i32 and f32.
class Bits {
public:
  Bits(ElementBuilder &b, Value like)
      : b(b), i32(b.typeLike(b.builder.getI32Type(), like)),
        f32(b.typeLike(b.builder.getF32Type(), like)) {}

  template <typename OpT, typename... Args>
  Value make(Args... args) {
    return OpT::create(b.builder, b.loc, args...);
  }
  Value num(int64_t value) {
    return b.integer(b.builder.getI32Type(), int32_t(uint32_t(value)));
  }
  Value real(double value) { return b.number(b.builder.getF32Type(), value); }
  Value andOf(Value x, int64_t mask) {
    return make<arith::AndIOp>(x, num(mask));
  }
  Value orOf(Value x, Value y) { return make<arith::OrIOp>(x, y); }
  Value add(Value x, Value y) { return make<arith::AddIOp>(x, y); }
  Value left(Value x, int64_t by) { return make<arith::ShLIOp>(x, num(by)); }
  Value right(Value x, int64_t by) { return make<arith::ShRUIOp>(x, num(by)); }
  Value compare(arith::CmpIPredicate predicate, Value x, int64_t y) {
    return make<arith::CmpIOp>(predicate, x, num(y));
  }
  Value select(Value condition, Value x, Value y) {
    return make<arith::SelectOp>(condition, x, y);
  }
  Value toFloat(Value x) { return make<arith::BitcastOp>(f32, x); }
  Value toBits(Value x) { return make<arith::BitcastOp>(i32, x); }

  ElementBuilder &b;
  Type i32, f32;
};

using P = arith::CmpIPredicate;

/// Decodes powers of two from 2^-127 on, and NaN.
Value decodePower(Bits &e, Value bits) {
  // 2^-127 is subnormal in f32.
  Value shifted =
      e.select(e.compare(P::eq, bits, 0), e.num(0x00400000), e.left(bits, 23));
  Value isNaN = e.compare(P::eq, bits, 255);
  return e.toFloat(e.select(isNaN, e.num(0x7fc00000), shifted));
}

Value encodePower(Bits &e, Value x, CastRules rules) {
  bool saturate = rules.saturate;
  Value bits = e.toBits(x);
  Value magnitude = e.andOf(bits, 0x7fffffff);
  // Subnormal f32 numbers become 2^-127 with rounding down, and 2^-126 or
  // 2^-127 otherwise.
  Value exponent = e.right(magnitude, 23);
  Value rest = e.andOf(magnitude, 0x7fffff);
  Value isSubnormal = e.compare(P::eq, exponent, 0);
  Value up;
  switch (rules.round) {
  case Rounding::Down:
    up = e.compare(P::ne, e.num(0), 0);
    break;
  case Rounding::Up:
    up = e.select(isSubnormal, e.compare(P::ugt, rest, 0x400000),
                  e.compare(P::ne, rest, 0));
    break;
  case Rounding::Nearest:
    up = e.select(isSubnormal, e.compare(P::ugt, rest, 0x600000),
                  e.compare(P::uge, rest, 0x400000));
    break;
  }
  Value power = e.add(exponent, e.make<arith::ExtUIOp>(e.i32, up));
  Value beyond = e.compare(P::ugt, power, 254);
  power = e.select(beyond, e.num(saturate ? 254 : 255), power);
  if (!saturate) // below all powers
    power = e.select(e.compare(P::ult, magnitude, 0x400000), e.num(255), power);
  // NaN, and numbers without a logarithm.
  Value isNaN = e.compare(P::ugt, magnitude, 0x7f800000);
  Value isNegative = e.make<arith::AndIOp>(e.compare(P::slt, bits, 0),
                                           e.compare(P::ne, magnitude, 0));
  power = e.select(isNegative, e.num(saturate ? 0 : 255), power);
  return e.select(isNaN, e.num(255), power);
}

Value decode(Bits &e, Value bits, const Format &f) {
  Value magnitude = e.andOf(bits, f.magnitudeMask);
  // As f32, the value is too small by a power of two, including subnormal
  // numbers.
  Value value = e.toFloat(e.left(magnitude, 23 - f.mantissa));
  value = e.make<arith::MulFOp>(value, e.real(std::ldexp(1.0, 127 - f.bias)));
  Value result = e.toBits(value);
  if (f.hasInf)
    result = e.select(e.compare(P::eq, magnitude, f.infinity),
                      e.num(0x7f800000), result);
  if (f.hasNaN && !f.nanIsNegativeZero)
    result = e.select(
        e.compare(P::ugt, magnitude, f.hasInf ? f.infinity : f.greatest),
        e.num(0x7fc00000), result);
  Value sign = e.left(e.andOf(bits, int64_t(1) << (f.bits - 1)), 32 - f.bits);
  result = e.orOf(result, sign);
  if (f.nanIsNegativeZero)
    result = e.select(e.compare(P::eq, bits, f.nan), e.num(0x7fc00000), result);
  return e.toFloat(result);
}

/// Encodes with rounding to nearest, ties to even.
Value encode(Bits &e, Value x, const Format &f, bool saturate) {
  Value bits = e.toBits(x);
  Value magnitude = e.andOf(bits, 0x7fffffff);
  unsigned dropped = 23 - f.mantissa;
  // Normal numbers: half of the last place is added, minus one bit if it is
  // even.
  Value odd = e.andOf(e.right(magnitude, dropped), 1);
  Value normal = e.add(magnitude, e.add(odd, e.num((1 << (dropped - 1)) - 1)));
  normal = e.add(e.right(normal, dropped),
                 e.num(-(int64_t(127 - f.bias) << f.mantissa)));
  // Subnormal numbers: the addition of a number with the same last place rounds
  // the sum.
  Value base = e.num(int64_t(127 + 1 - f.bias - int(f.mantissa) + 23) << 23);
  Value sum = e.make<arith::AddFOp>(e.toFloat(magnitude), e.toFloat(base));
  Value subnormal = e.make<arith::SubIOp>(e.toBits(sum), base);
  Value isNormal =
      e.compare(P::uge, magnitude, int64_t(127 + 1 - f.bias) << 23);
  Value result = e.select(isNormal, normal, subnormal);
  unsigned beyond = saturate || (!f.hasInf && !f.hasNaN) ? f.greatest
                    : f.hasInf                           ? f.infinity
                                                         : f.nan;
  result =
      e.select(e.compare(P::ugt, result, f.greatest), e.num(beyond), result);
  Value sign = e.andOf(e.right(bits, 32 - f.bits), int64_t(1) << (f.bits - 1));
  Value isNaN = e.compare(P::ugt, magnitude, 0x7f800000);
  if (!f.nanIsNegativeZero) {
    if (f.hasNaN)
      result = e.select(isNaN, e.num(f.nan & f.magnitudeMask), result);
    result = e.orOf(result, sign);
    // In a format without NaN and infinity, -0 represents NaN.
    return f.hasNaN || f.hasInf
               ? result
               : e.select(isNaN, e.num(int64_t(1) << (f.bits - 1)), result);
  }
  // There is no -0, and NaN has no sign.
  Value keeps = e.compare(P::eq, result, 0);
  keeps = e.orOf(keeps, e.compare(P::eq, result, f.nan));
  result = e.select(keeps, result, e.orOf(result, sign));
  return e.select(isNaN, e.num(f.nan), result);
}

} // namespace

Value adze::graph::decodeSmallFloat(ElementBuilder &b, Value value,
                                    FloatType from) {
  Bits e(b, value);
  Value bits = e.make<arith::ExtUIOp>(e.i32, value);
  if (isa<Float8E8M0FNUType>(from))
    return decodePower(e, bits);
  return decode(e, bits, Format(from));
}

Value adze::graph::encodeSmallFloat(ElementBuilder &b, Value value,
                                    FloatType to, CastRules rules) {
  Bits e(b, value);
  Value bits = isa<Float8E8M0FNUType>(to)
                   ? encodePower(e, value, rules)
                   : encode(e, value, Format(to), rules.saturate);
  return e.make<arith::TruncIOp>(b.typeLike(getSignlessType(to), value), bits);
}

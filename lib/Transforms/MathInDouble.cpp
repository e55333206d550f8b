// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// f32 functions whose short f32 forms have errors above 2 ulp: computed by
// power series in f64, and rounded once.
#include "MathArithmetic.h"
#include <cmath>

using namespace mlir;
using namespace adze;
using P = arith::CmpFPredicate;

static constexpr double ln2 = 0.69314718055994530942,
                        halfPi = 1.57079632679489661923;

//===--- exponential and logarithm ----------------------------------------===//

/// Computes 2^x, clamped to 2^200 and 2^-200, which are out of the range of
/// f32.
static Value powerOfTwo(const Arithmetic &d, Value x) {
  x = d.clamp(x, -200, 200);
  Value magic = d.real(6755399441055744.0); // 1.5 * 2^52
  Value shifted = d.add(x, magic);
  Value r = d.mul(d.sub(x, d.sub(shifted, magic)), d.real(ln2));
  Value p = d.polynomial(r, {1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120,
                             1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0});
  return d.asReal(d.addI(d.asBits(p), d.shl(d.asBits(shifted), 52)));
}

/// Computes ln x of a value that was an f32, or is computed from one, including
/// special values. With m in [sqrt(1/2), sqrt(2)), it is 2 atanh((m - 1) / (m +
/// 1)) + e ln2.
static Value logarithm(const Arithmetic &d, Value x) {
  Value end = d.bits(0x3FE6A09E667F3BCD); // sqrt(1/2)
  Value shifted = d.subI(d.asBits(x), end);
  // The conversion goes through 32 bits, which every target supports.
  auto i32 = d.withElement(d.b.getI32Type());
  Value exponent = arith::TruncIOp::create(d.b, d.loc, i32, d.sar(shifted, 52));
  Value e = arith::SIToFPOp::create(d.b, d.loc, d.shape, exponent);
  Value m =
      d.asReal(d.addI(d.both(shifted, d.bits((uint64_t(1) << 52) - 1)), end));
  Value one = d.real(1), s = d.div(d.sub(m, one), d.add(m, one));
  Value p = d.polynomial(d.mul(s, s), {2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9,
                                       2.0 / 7, 2.0 / 5, 2.0 / 3, 2.0});
  Value result = d.fma(e, d.real(ln2), d.mul(p, s));
  Value infinity = d.real(INFINITY), zero = d.real(0);
  result = d.select(d.is(P::OEQ, x, infinity), infinity, result);
  result = d.select(d.is(P::OEQ, x, zero), d.real(-INFINITY), result);
  return d.select(d.is(P::ULT, x, zero), d.real(NAN), result);
}

//===--- trigonometry -----------------------------------------------------===//

/// Computes atan(y / x) for y >= 0 and x >= 0, not both 0. The angle is rotated
/// by -pi/4 or -pi/2, so that its tangent is at most tan(pi/8).
static Value angle(const Arithmetic &d, Value y, Value x) {
  constexpr double eighth = 0.41421356237309504880; // tan(pi/8)
  Value isSteep = d.is(P::OGT, y, d.mul(x, d.real(1 / eighth)));
  Value isMiddle = d.is(P::OGT, y, d.mul(x, d.real(eighth)));
  Value zero = d.real(0);
  Value over =
      d.select(isSteep, d.sub(zero, x), d.select(isMiddle, d.sub(y, x), y));
  Value under = d.select(isSteep, y, d.select(isMiddle, d.add(y, x), x));
  Value base = d.select(isSteep, d.real(halfPi),
                        d.select(isMiddle, d.real(halfPi / 2), zero));
  Value t = d.div(over, under);
  SmallVector<double> series;
  for (int n = 10; n >= 0; --n)
    series.push_back((n % 2 ? -1.0 : 1.0) / (2 * n + 1));
  return d.fma(d.polynomial(d.mul(t, t), series), t, base);
}

Value adze::approximateAtan(const Arithmetic &a, Value x) {
  Arithmetic d = a.inDouble();
  Value size = angle(d, d.abs(a.widen(x)), d.real(1));
  return a.withSign(a.narrow(size), x);
}

/// Computes the cosine of the angle whose sine is x: sqrt((1 - x) (1 + x)).
static Value otherSide(const Arithmetic &d, Value x) {
  Value one = d.real(1);
  return math::SqrtOp::create(d.b, d.loc, d.mul(d.sub(one, x), d.add(one, x)));
}

Value adze::approximateAsin(const Arithmetic &a, Value x) {
  Arithmetic d = a.inDouble();
  Value size = d.abs(a.widen(x));
  return a.withSign(a.narrow(angle(d, size, otherSide(d, size))), x);
}

Value adze::approximateAcos(const Arithmetic &a, Value x) {
  Arithmetic d = a.inDouble();
  Value w = a.widen(x), size = d.abs(w);
  Value near = angle(d, otherSide(d, size), size); // acos |x|
  Value isNegative = d.is(P::OLT, w, d.real(0));
  return a.narrow(d.select(isNegative, d.sub(d.real(2 * halfPi), near), near));
}

/// Subtracts n = round(x / (pi/2)) quarter turns; after an odd number, the
/// tangent is that of the complementary angle.
Value adze::approximateTanOfDouble(const Arithmetic &a, Value w) {
  Arithmetic d = a.inDouble();
  Value magic = d.real(6755399441055744.0);
  Value shifted = d.fma(w, d.real(1 / halfPi), magic);
  Value n = d.sub(shifted, magic);
  Value r = d.fma(n, d.real(-halfPi), w);
  r = d.fma(n, d.real(-6.12323399573676603587e-17), r);
  Value square = d.mul(r, r);
  Value sine = d.polynomial(square, {-1.0 / 39916800, 1.0 / 362880, -1.0 / 5040,
                                     1.0 / 120, -1.0 / 6, 1.0});
  sine = d.mul(sine, r);
  Value cosine =
      d.polynomial(square, {1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320,
                            -1.0 / 720, 1.0 / 24, -0.5, 1.0});
  Value half = d.mul(n, d.real(0.5));
  Value isOdd = d.is(P::ONE, math::FloorOp::create(d.b, d.loc, half), half);
  Value over = d.select(isOdd, d.sub(d.real(0), cosine), sine);
  return a.narrow(d.div(over, d.select(isOdd, sine, cosine)));
}

Value adze::approximateTan(const Arithmetic &a, Value x) {
  Value result = approximateTanOfDouble(a, a.widen(x));
  Value isZero = a.is(P::OEQ, x, a.real(0));
  return a.select(isZero, x, result); // -0 stays
}

//===--- hyperbolic functions ---------------------------------------------===//

/// Computes sinh: below 1 by its series, where the powers cancel.
Value adze::approximateSinh(const Arithmetic &a, Value x) {
  Arithmetic d = a.inDouble();
  Value size = d.abs(a.widen(x)), square = d.mul(size, size);
  Value low = d.polynomial(square, {1.0 / 39916800, 1.0 / 362880, 1.0 / 5040,
                                    1.0 / 120, 1.0 / 6, 1.0});
  low = d.mul(low, size);
  Value power = powerOfTwo(d, d.mul(size, d.real(1 / ln2)));
  Value half = d.real(0.5);
  Value high = d.mul(half, d.sub(power, d.div(d.real(1), power)));
  Value isLow = d.is(P::OLT, size, d.real(1));
  return a.withSign(a.narrow(d.select(isLow, low, high)), x);
}

Value adze::approximateCosh(const Arithmetic &a, Value x) {
  Arithmetic d = a.inDouble();
  Value size = d.abs(a.widen(x));
  Value power = powerOfTwo(d, d.mul(size, d.real(1 / ln2)));
  return a.narrow(d.mul(d.real(0.5), d.add(power, d.div(d.real(1), power))));
}

/// Computes asinh as ln(x + sqrt(x^2 + 1)), and by its series where that is
/// close to ln 1.
Value adze::approximateAsinh(const Arithmetic &a, Value x) {
  Arithmetic d = a.inDouble();
  Value size = d.abs(a.widen(x)), square = d.mul(size, size);
  Value root = math::SqrtOp::create(d.b, d.loc, d.add(square, d.real(1)));
  Value low = d.mul(d.fma(square, d.real(-1.0 / 6), d.real(1)), size);
  Value isLow = d.is(P::OLT, size, d.real(0x1p-10));
  Value result = d.select(isLow, low, logarithm(d, d.add(size, root)));
  return a.withSign(a.narrow(result), x);
}

Value adze::approximateAcosh(const Arithmetic &a, Value x) {
  Arithmetic d = a.inDouble();
  Value w = a.widen(x), one = d.real(1);
  Value root =
      math::SqrtOp::create(d.b, d.loc, d.mul(d.sub(w, one), d.add(w, one)));
  Value result = logarithm(d, d.add(w, root));
  return a.narrow(d.select(d.is(P::ULT, w, one), d.real(NAN), result));
}

Value adze::approximateAtanh(const Arithmetic &a, Value x) {
  Arithmetic d = a.inDouble();
  Value size = d.abs(a.widen(x)), square = d.mul(size, size);
  Value one = d.real(1);
  Value ratio = d.div(d.add(one, size), d.sub(one, size));
  Value low = d.mul(d.fma(square, d.real(1.0 / 3), one), size);
  Value isLow = d.is(P::OLT, size, d.real(0x1p-10));
  Value result = d.select(isLow, low, d.mul(d.real(0.5), logarithm(d, ratio)));
  return a.withSign(a.narrow(result), x);
}

//===--- power ------------------------------------------------------------===//

/// Computes 2^(y log2 |x|), with the sign of x if y is odd, and IEEE 754
/// special cases.
Value adze::approximatePow(const Arithmetic &a, Value x, Value y) {
  Arithmetic d = a.inDouble();
  Value zero = a.real(0), one = a.real(1), nan = a.real(NAN);
  Value size = a.abs(x);
  Value log = d.mul(logarithm(d, a.widen(size)), d.real(1 / ln2));
  Value power = a.narrow(powerOfTwo(d, d.mul(a.widen(y), log)));
  // 1 to any power is 1, also if the logarithm is 0 and y infinite.
  power = a.select(a.is(P::OEQ, size, one), one, power);
  auto floor = [&](Value v) {
    return math::FloorOp::create(a.b, a.loc, v).getResult();
  };
  auto isWhole = [&](Value v) { return a.is(P::OEQ, floor(v), v); };
  Value whole = isWhole(y), even = isWhole(a.mul(y, a.real(0.5)));
  auto both = [&](Value p, Value q) {
    return arith::AndIOp::create(a.b, a.loc, p, q).getResult();
  };
  auto no = [&](Value p) {
    Value yes = a.is(P::OEQ, one, one);
    return arith::XOrIOp::create(a.b, a.loc, p, yes).getResult();
  };
  power = a.select(both(whole, no(even)), a.withSign(power, x), power);
  Value isNegative =
      both(a.is(P::OLT, x, zero), a.is(P::OGT, x, a.real(-INFINITY)));
  power = a.select(both(isNegative, no(whole)), nan, power);
  power = a.select(a.is(P::UNO, x, y), nan, power);
  power = a.select(a.is(P::OEQ, x, one), one, power);
  return a.select(a.is(P::OEQ, y, zero), one, power);
}

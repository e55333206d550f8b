// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Powers of e and of 2 in f32.
#include "MathArithmetic.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace mlir;
using namespace adze;
using Size = adze::PowerSize;

namespace {
/// The result is 0 for arguments below.
constexpr float leastExp = -104.0f;
/// For arguments below, e^x is less than 2^-126, the least normal number. On
/// x86, operations with a subnormal operand or result take 150 cycles or more.
constexpr float leastNormalExp = -87.33f;

/// Returns 2^(i/16) as bits, minus the bits that i, in multiples of `unit`,
/// adds to them later.
SmallVector<int32_t> getRoots(int32_t unit) {
  SmallVector<int32_t> roots;
  for (int32_t i = 0; i < 16; ++i)
    roots.push_back(llvm::bit_cast<int32_t>(float(std::exp2(i / 16.0))) -
                    i * unit);
  return roots;
}

/// A number rounded to sixteenths: the low bits of `shifted` are 16 times the
/// number.
struct Sixteenths {
  static constexpr float magic = 786432.0f; // 1.5 * 2^19
  Sixteenths(const Arithmetic &a, Value shifted)
      : bits(a.asBits(shifted)), number(a.sub(shifted, a.real(magic))) {}
  Value bits, number;
};

/// Computes 2^n (1 + rise) for AVX-512, and 0 outside of `kept`. Small terms
/// are combined by additions, which run on other execution units than the
/// multiplications.
Value scaleRoot(const Arithmetic &a, const Sixteenths &n, Value rise,
                Value kept, Size size) {
  if (size == Size::any) {
    Value root = a.asReal(a.choose(getRoots(/*unit=*/0), n.bits));
    return a.scale(a.fma(root, rise, root), n.number, kept);
  }
  constexpr int shift = 19; // position of sixteenths of an exponent
  Value power =
      a.addI(a.choose(getRoots(1 << shift), n.bits), a.shl(n.bits, shift));
  if (kept) // no instruction then has a subnormal operand
    power = a.select(kept, power, a.bits(0));
  power = a.asReal(power);
  Value result = a.fma(power, rise, power);
  return kept ? a.select(kept, result, a.real(0.0f)) : result;
}

/// Computes e^x for AVX-512, and 0 outside of `kept`, with an error of less
/// than 1 ulp. r is at most ln2 / 32, where the error of e^r is 2^-29.
Value scaleExp(const Arithmetic &a, Value x, Value kept, Size size) {
  Sixteenths n(a, a.fma(x, a.real(1.44269504f), a.real(Sixteenths::magic)));
  Value r = a.fma(n.number, a.real(-0.693359375f), x);
  r = a.fma(n.number, a.real(2.12194440e-4f), r);
  Value rise =
      a.polynomial(r, {0.16667060554027557f, 0.5000162720680237f, 1.0f});
  return scaleRoot(a, n, a.mul(rise, r), kept, size);
}
} // namespace

/// Computes exp of values that are at most 89, with results of at least 2^-150,
/// as (2^n)^2 p(r) with x = 2 n ln2 + r; the error is less than 2 ulp. With two
/// equal factors, results below 2^-126 are no special case. p has a relative
/// error of 2^-26.
Value adze::expInRange(const Arithmetic &a, Value x, Size size) {
  if (a.hasScale())
    return scaleExp(a, x, {}, size);
  // Adding 1.5 * 2^23 + 127 leaves the exponent of 2^n in the low bits. Unlike
  // a conversion, this is defined for NaN.
  Value magic = a.real(12583039.0f);
  Value shifted = a.fma(x, a.real(0.72134752044f), magic);
  Value n = a.sub(shifted, magic);
  Value power = a.asReal(a.shl(a.asBits(shifted), 23));
  Value r = a.fma(n, a.real(-1.38671875f), x);
  r = a.fma(n, a.real(4.2438888e-4f), r);
  Value p = a.polynomial(r, {1.9611230527516454e-4f, 1.410477445460856e-3f,
                             8.336111903190613e-3f, 4.1661255061626434e-2f,
                             1.6666613519191742e-1f, 5.000003576278687e-1f,
                             1.0f, 1.0f});
  return a.mul(a.mul(p, power), power);
}

/// Computes exp: 0 below its least result, infinity from 89 on, with an error
/// of less than 2 ulp. No instruction computes a value that would round to 0.
Value adze::approximateExp(const Arithmetic &a, Value x, bool tinyIsZero,
                           Size size) {
  Value end = a.real(tinyIsZero ? leastNormalExp : leastExp);
  if (a.hasScale()) { // UGE is true for NaN
    Value kept = a.is(arith::CmpFPredicate::UGE, x, end);
    return scaleExp(a, size == Size::any ? a.atMost(x, 89.0f) : x, kept, size);
  }
  Value zero = a.real(0.0f);
  Value isLess = a.is(arith::CmpFPredicate::OLT, x, end);
  Value result = expInRange(a, a.atMost(a.select(isLess, zero, x), 89.0f));
  return a.select(isLess, zero, result);
}

/// Computes exp2 likewise; the reduction to r is exact.
Value adze::approximateExp2(const Arithmetic &a, Value x, bool tinyIsZero) {
  Value end = a.real(tinyIsZero ? -126.0f : -150.0f);
  if (a.hasScale()) {
    Value kept = a.is(arith::CmpFPredicate::UGE, x, end);
    Value c = a.atMost(x, 128.0f);
    Sixteenths n(a, a.add(c, a.real(Sixteenths::magic)));
    Value r = a.sub(c, n.number);
    Value rise = a.polynomial(r, {0.05550346150994301f, 0.24023427069187164f,
                                  6.9314718246459961e-1f});
    return scaleRoot(a, n, a.mul(rise, r), kept, Size::any);
  }
  Value zero = a.real(0.0f), magic = a.real(12583039.0f);
  Value isLess = a.is(arith::CmpFPredicate::OLT, x, end);
  Value c = a.atMost(a.select(isLess, zero, x), 128.0f);
  Value shifted = a.fma(c, a.real(0.5f), magic);
  Value power = a.asReal(a.shl(a.asBits(shifted), 23));
  Value r = a.fma(a.sub(shifted, magic), a.real(-2.0f), c);
  Value p = a.polynomial(r, {1.5030573194962926e-05f, 0.0001565366255817935f,
                             0.0013339490396901965f, 0.00961671955883503f,
                             0.05550379678606987f, 0.24022673070430756f,
                             0.6931472420692444f, 1.0f});
  return a.select(isLess, zero, a.mul(a.mul(p, power), power));
}

// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Decides whether two results of one computation are equivalent: the error
// relative to f64 is at most a few times that of the reference path.
#include "Judge.h"
#include <algorithm>
#include <cmath>

namespace property {

namespace {
/// Properties of a float type.
struct Format {
  int mantissa;
  double greatest;
};
} // namespace

static Format getFormat(DLDataType type) {
  if (type.code == kDLBfloat)
    return {7, 3.38e38};
  switch (type.bits) {
  case 16:
    return {10, 65504};
  case 32:
    return {23, 3.4e38};
  default:
    return {52, 1.79e308};
  }
}

static double getUlp(double range, DLDataType type) {
  // For subnormal numbers it does not decrease.
  bool isHalf = type.bits == 16 && type.code == kDLFloat;
  return std::max(std::ldexp(range, -getFormat(type).mantissa),
                  std::ldexp(1, isHalf ? -24 : -133));
}

static std::string at(int64_t index, double reference, double other) {
  return "element " + std::to_string(index) + ": expected " +
         std::to_string(reference) + ", but got " + std::to_string(other);
}

/// One is infinite, and the other nearly so: sums in different orders.
static bool areBothNearOverflow(double a, double b, const Format &format) {
  if (std::isnan(a) || std::isnan(b))
    return false;
  return std::signbit(a) == std::signbit(b) &&
         std::fabs(a) > 0.9 * format.greatest &&
         std::fabs(b) > 0.9 * format.greatest;
}

/// Sums x1 + .. + xn of numbers that are finite in f64, with |x1| + .. + |xn|
/// beyond the range of the type. The order determines which partial sums are
/// infinite, and with which sign; if both signs occur, their sum is NaN. So any
/// two of infinities, NaN and numbers just below infinity are results of one
/// sum. The exponents of f64 represent every sum of products of narrower
/// numbers: without infinities and NaN among the inputs, `truth` is finite. A
/// single result that is not finite shows no overflow, and is a fault.
static bool areBothOverflown(double a, double b, double truth,
                             const Format &format) {
  auto isOverflown = [&](double x) {
    return !(std::fabs(x) <= 0.9 * format.greatest); // also NaN
  };
  return std::isfinite(truth) && isOverflown(a) && isOverflown(b);
}

static Error compareFloats(const Tensor &reference, const Tensor &other,
                           const Tensor &exact, Distance &distance) {
  Format format = getFormat(reference.dtype);
  double range = 0;
  Distance run;
  for (int64_t i = 0, end = reference.elements(); i < end; ++i) {
    double a = *reference.number(i), b = *other.number(i);
    double truth = *exact.number(i);
    if (!std::isfinite(a) || !std::isfinite(b)) {
      bool same = std::isnan(a) ? std::isnan(b) : a == b;
      if (!same && !areBothNearOverflow(a, b, format) &&
          !areBothOverflown(a, b, truth, format))
        return at(i, a, b);
      continue;
    }
    if (!std::isfinite(truth))
      continue;
    range = std::max(range, std::fabs(truth));
    run.reference = std::max(run.reference, std::fabs(a - truth));
    run.other = std::max(run.other, std::fabs(b - truth));
  }
  run.ulp = getUlp(range, reference.dtype);
  distance.add(run);
  return {};
}

Error compareResults(const Tensor &reference, const Tensor &other,
                     const Tensor &exact, Distance &distance) {
  if (reference.dtype.code != other.dtype.code ||
      reference.dtype.bits != other.dtype.bits)
    return "expected type " + adze::run::typeName(reference.dtype) +
           ", but got " + adze::run::typeName(other.dtype);
  if (reference.dims != other.dims || reference.dims != exact.dims)
    return "expected shape " + adze::run::shapeText(reference.dims) +
           ", but got " + adze::run::shapeText(other.dims);
  if (reference.isFloat())
    return compareFloats(reference, other, exact, distance);
  for (int64_t i = 0, end = reference.elements(); i < end; ++i)
    if (reference.element(i) != other.element(i))
      return "element " + std::to_string(i) + ": expected " +
             reference.element(i) + ", but got " + other.element(i);
  return {};
}

double getDifference(const Tensor &lhs, const Tensor &rhs) {
  double furthest = 0;
  if (!lhs.isFloat() || lhs.dims != rhs.dims)
    return furthest;
  for (int64_t i = 0, end = lhs.elements(); i < end; ++i) {
    double difference = std::fabs(*lhs.number(i) - *rhs.number(i));
    if (std::isfinite(difference))
      furthest = std::max(furthest, difference);
  }
  return furthest;
}

double getNoise(double withNoise, double withSixteenth) {
  double expected = 16 * withSixteenth;
  bool isInProportion = withNoise <= 2 * expected && expected <= 2 * withNoise;
  return isInProportion ? withNoise : 0;
}

static bool isNear(const Tensor &reference, const Tensor &other) {
  if (reference.dtype.code != other.dtype.code ||
      reference.dtype.bits != other.dtype.bits || reference.dims != other.dims)
    return false;
  if (reference.bytes == other.bytes)
    return true;
  if (!reference.isFloat())
    return false;
  double range = 0, furthest = 0;
  for (int64_t i = 0, end = reference.elements(); i < end; ++i) {
    double a = *reference.number(i), b = *other.number(i);
    if (!std::isfinite(a) || !std::isfinite(b)) {
      if (std::isnan(a) ? !std::isnan(b) : a != b)
        return false;
      continue;
    }
    range = std::max(range, std::fabs(a));
    furthest = std::max(furthest, std::fabs(a - b));
  }
  return furthest <= 4 * getUlp(range, reference.dtype);
}

bool areNear(const std::vector<Tensor> &reference,
             const std::vector<Tensor> &other) {
  return std::equal(reference.begin(), reference.end(), other.begin(),
                    other.end(), isNear);
}

} // namespace property

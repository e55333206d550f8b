// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compares an output with the expected tensor.

#include "Tensor.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace adze::run {

namespace {
/// The element with the largest difference, by some measure.
struct Worst {
  double error = -1;
  int64_t index = 0;

  void see(double value, int64_t at) {
    if (value > error) {
      error = value;
      index = at;
    }
  }
};

struct Differences {
  int64_t count = 0, special = 0;
  int64_t firstSpecial = -1;
  Worst absolute, relative;
};
} // namespace

static std::string place(const Tensor &tensor, int64_t index) {
  std::string text;
  for (size_t d = tensor.dims.size(); d-- > 0;) {
    text = std::to_string(index % tensor.dims[d]) + (text.empty() ? "" : ", ") +
           text;
    index /= tensor.dims[d];
  }
  return "[" + text + "]";
}

static std::string pairAt(const Tensor &got, const Tensor &expected,
                          int64_t index) {
  return "at " + place(expected, index) + ": expected " +
         expected.element(index) + ", but got " + got.element(index);
}

static std::string format(const char *text, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), text, value);
  return buffer;
}

/// Returns max - min of the finite numbers.
static double rangeOf(const Tensor &tensor) {
  double least = INFINITY, greatest = -INFINITY;
  for (int64_t i = 0, end = tensor.elements(); i < end; ++i) {
    double value = *tensor.number(i);
    if (std::isfinite(value)) {
      least = std::fmin(least, value);
      greatest = std::fmax(greatest, value);
    }
  }
  return greatest > least ? greatest - least : 0;
}

static Differences floatDifferences(const Tensor &got, const Tensor &expected,
                                    const Tolerance &tolerance, double range) {
  Differences found;
  for (int64_t i = 0, end = expected.elements(); i < end; ++i) {
    double a = *got.number(i), b = *expected.number(i);
    if (!std::isfinite(a) || !std::isfinite(b)) {
      bool same = std::isnan(a) ? std::isnan(b) : a == b;
      if (!same && found.special++ == 0)
        found.firstSpecial = i;
      continue;
    }
    double error = std::fabs(a - b);
    double bound = tolerance.ofRange
                       ? *tolerance.ofRange * range
                       : tolerance.absolute + tolerance.relative * std::fabs(b);
    found.count += error > bound;
    found.absolute.see(error, i);
    if (b != 0)
      found.relative.see(error / std::fabs(b), i);
  }
  return found;
}

static Error compareFloats(const Tensor &got, const Tensor &expected,
                           const Tolerance &tolerance, std::string &summary) {
  double range = rangeOf(expected);
  Differences found = floatDifferences(got, expected, tolerance, range);
  double greatest = found.absolute.error > 0 ? found.absolute.error : 0;
  summary = format("max error %.3g", greatest);
  if (range > 0)
    summary += format(" (%.3g of the range)", greatest / range);
  if (!found.count && !found.special)
    return {};
  std::string text = std::to_string(found.count + found.special) + " of " +
                     std::to_string(expected.elements()) +
                     " elements differ by more than is allowed";
  if (found.special)
    text += "\n  " + std::to_string(found.special) +
            " in the place of a NaN or infinity, the first " +
            pairAt(got, expected, found.firstSpecial);
  if (found.absolute.error > 0)
    text += "\n  greatest absolute error " +
            format("%.6g ", found.absolute.error) +
            pairAt(got, expected, found.absolute.index);
  if (found.relative.error > 0)
    text += "\n  greatest relative error " +
            format("%.6g ", found.relative.error) +
            pairAt(got, expected, found.relative.index);
  return text + format("\n  the expected range is %.6g", range);
}

static Error compareBits(const Tensor &got, const Tensor &expected,
                         std::string &summary) {
  summary = "equal";
  if (got.bytes == expected.bytes)
    return {};
  int64_t count = 0, first = -1;
  for (int64_t i = 0, end = expected.elements(); i < end; ++i)
    if (got.element(i) != expected.element(i) && count++ == 0)
      first = i;
  if (!count)
    return {}; // only padding bits differ
  summary = "differ";
  return std::to_string(count) + " of " + std::to_string(expected.elements()) +
         " elements differ\n  the first " + pairAt(got, expected, first);
}

Error compare(const Tensor &got, const Tensor &expected,
              const Tolerance &tolerance, std::string &summary) {
  summary = "differ";
  if (expected.unshaped && expected.bytes.size() != got.bytes.size())
    return "expected " + std::to_string(expected.bytes.size()) +
           " bytes, but got " + std::to_string(got.bytes.size());
  bool sameType = expected.unshaped ||
                  (got.dtype.bits == expected.dtype.bits &&
                   (expected.untyped || got.dtype.code == expected.dtype.code));
  if (!sameType)
    return "expected type " + typeName(expected.dtype) + ", but got " +
           typeName(got.dtype);
  if (!expected.unshaped && got.dims != expected.dims)
    return "expected shape " + shapeText(expected.dims) + ", but got " +
           shapeText(got.dims);
  Tensor typed = expected;
  typed.dtype = got.dtype;
  typed.dims = got.dims;
  return got.isFloat() ? compareFloats(got, typed, tolerance, summary)
                       : compareBits(got, typed, summary);
}

} // namespace adze::run

// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Decides whether two results of one computation are equivalent.
#ifndef ADZE_TESTS_PROPERTY_JUDGE_H
#define ADZE_TESTS_PROPERTY_JUDGE_H

#include "Tensor.h"
#include <vector>

namespace property {

using adze::run::Error;
using adze::run::Tensor;

/// The distances of two results of one tensor from f64 arithmetic, over one or
/// more runs.
struct Distance {
  double reference = 0; // of the reference path
  double other = 0;
  double ulp = 0;   // of the range
  double noise = 0; // the effect of a rounding after each op (docs/accuracy.md)

  /// Returns true if the error is at most 4 times the reference path's own, or
  /// its expected one, plus 4 ulp of the range.
  bool isWithin() const { return other <= 4 * (reference + noise) + 4 * ulp; }
  void add(const Distance &run) {
    reference += run.reference;
    other += run.other;
    ulp += run.ulp;
    noise += run.noise;
  }
};

/// Compares types, shapes, integers, bools and the indices of NaNs and
/// infinities, all of which must be equal; a difference is returned. `exact` is
/// the result in f64 (for floats only). Adds to `distance`, which decides about
/// finite numbers.
Error compareResults(const Tensor &reference, const Tensor &other,
                     const Tensor &exact, Distance &distance);

/// Returns the greatest difference of two results, and its expected value by
/// rounding: the errors of results with noise of one size and of a 16th of it.
/// If one is not 16 times the other, results are not proportional to the noise
/// (a number was rounded to an integer, or compared), and 0 is returned.
double getDifference(const Tensor &lhs, const Tensor &rhs);
double getNoise(double withNoise, double withSixteenth);

/// Returns true if results differ by at most 4 ulp of the range of each: then
/// their distances are acceptable for any result of f64 arithmetic.
bool areNear(const std::vector<Tensor> &reference,
             const std::vector<Tensor> &other);

} // namespace property

#endif // ADZE_TESTS_PROPERTY_JUDGE_H
